"""autograd.Function: operations that users write.  Values and messages are those that PyTorch 2.13 gives."""

import collections
import copy
import gc
import pickle
import threading
import warnings
import weakref

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.autograd import forward_ad
from autodiff_kernel.autograd.function import BackwardCFunction, FunctionCtx, once_differentiable
from autodiff_kernel.core import modes, running
from autodiff_kernel.views import graph


class Power(torch.autograd.Function):
    """xᵏ, with everything written out."""

    @staticmethod
    def forward(ctx, x, k=2):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**k

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.k * x ** (ctx.k - 1), None


class Exp(torch.autograd.Function):
    """eˣ, from its own result."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y

    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return tangent * y


class Doubled(torch.autograd.Function):
    """x doubled in place."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def function(forward, backward=lambda ctx, *grads: grads[0], **others):
    """A Function of two lambdas."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    methods |= {name: staticmethod(f) if callable(f) else f for name, f in others.items()}
    return type("Q", (torch.autograd.Function,), methods)


def vector(*values):
    return torch.tensor([float(v) for v in values], requires_grad=True)


@pytest.fixture
def a():
    return vector(1, 2)


@pytest.fixture
def b():
    return vector(3, 4)


# ------------------------------------------------------------------------------------------------ the usual case
def test_forward_backward_and_the_names_on_the_way(a):
    y = Power.apply(a, 3)
    assert str(y) == "tensor([1., 8.], grad_fn=<PowerBackward>)"
    node = y.grad_fn
    assert isinstance(node, BackwardCFunction) and isinstance(node, FunctionCtx)
    assert isinstance(node, torch.autograd.graph.Node)
    assert type(node).__name__ == node.name() == "PowerBackward"
    assert node.next_functions[0][0].variable is a and node.next_functions[0][1] == 0
    assert node.saved_tensors[0] is a and node.k == 3 and node.needs_input_grad == (True, False)
    y.sum().backward()
    assert a.grad.tolist() == [3.0, 12.0]
    assert y.grad_fn is node


def test_an_attribute_of_ctx_may_have_any_name(a):
    names = "a b c x y p op seq left right notes edges leaf sx sy title node free".split()
    seen = []

    def forward(ctx, x):
        for name in names:
            setattr(ctx, name, name)
        return x * 2

    def backward(ctx, grad):
        seen.extend(getattr(ctx, name) for name in names)
        return grad * 2

    function(forward, backward).apply(a).sum().backward()
    assert seen == names and a.grad.tolist() == [2.0, 2.0]


def test_setup_context_sees_all_arguments_and_the_output(a, b):
    seen = []

    def setup(ctx, inputs, output):
        seen.append((len(inputs), inputs[2], output.tolist(), torch.is_grad_enabled(), ctx.needs_input_grad))
        ctx.save_for_backward(*inputs[:2])

    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * 2, grad * x * 2, None

    Q = function(lambda x, y, k=2: x * y * k, backward, setup_context=setup)
    assert [g.tolist() for g in torch.autograd.grad(Q.apply(a, y=b).sum(), [a, b])] == [[6, 8], [2, 4]]
    assert seen == [(3, 2, [6.0, 16.0], False, (True, True, False))]
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        Q.apply(a)
    only = function(lambda x, *, z=1: x * z, setup_context=lambda ctx, inputs, output: None)
    with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'z'"):
        only.apply(a)


@pytest.mark.parametrize(
    "args, kwargs, message",
    [
        ((), {"zz": 3}, "forward() got an unexpected keyword argument 'zz'"),
        ((), {"x": 3}, "forward() got multiple values for argument 'x'"),
        ((), {"k": 3}, "forward() missing required argument: 'y' (position 1)"),
        ((1, 2, 3, 4), {}, "takes from 2 to 4 positional arguments but 6 were given"),
    ],
)
def test_keywords_take_their_places_among_the_arguments(a, args, kwargs, message):
    Q = function(lambda ctx, x, y=1, k=2: x * y * k, lambda ctx, g: (g, None, None))
    assert Q.apply(a, y=5).tolist() == [10.0, 20.0] and Q.apply(x=a).tolist() == [2.0, 4.0]
    with pytest.raises(TypeError) as caught:
        Q.apply(a, *args, **kwargs)
    assert message in str(caught.value)


def test_errors_of_use(a):
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"), \
            warnings.catch_warnings():  # fmt: skip
        warnings.simplefilter("ignore")
        Power()(a)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        Power()
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        type("Empty", (torch.autograd.Function,), {}).apply(a)
    half = type("Half", (torch.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
        half.apply(a).sum().backward()
    vjp = type("V", (torch.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2),
                                                 "vjp": staticmethod(lambda ctx, g: g * 2)})  # fmt: skip
    assert torch.autograd.grad(vjp.apply(a).sum(), a)[0].tolist() == [2.0, 2.0]
    both = type("B", (vjp,), {"backward": staticmethod(lambda ctx, g: g)})
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(a).sum().backward()


# ------------------------------------------------------------------------------------------------ what backward returns
@pytest.mark.parametrize(
    "made, expected",
    [
        (lambda g: (g, g), [[1, 1], [1, 1]]),
        (lambda g: (g, g, None), [[1, 1], [1, 1]]),  # too many are fine, as long as they are None
        (lambda g: (None, g), [None, [1, 1]]),
        (lambda g: (torch.ones(5, 2), g), [[5, 5], [1, 1]]),  # broadcast: summed back
        (lambda g: (g.double(), g.int()), [[1, 1], [1, 1]]),
        (lambda g: (g > 0, g), [[1, 1], [1, 1]]),
    ],
)
def test_gradients_that_fit(a, b, made, expected):
    Q = function(lambda ctx, x, y: x + y, lambda ctx, g: made(g))
    grads = torch.autograd.grad(Q.apply(a, b).sum(), [a, b], allow_unused=True)
    assert [None if g is None else g.tolist() for g in grads] == expected
    assert all(g is None or g.dtype == torch.float32 for g in grads)


@pytest.mark.parametrize(
    "made, message",
    [
        (lambda g: g, "function QBackward returned an incorrect number of gradients (expected 2, got 1)"),
        (lambda g: (g, g, g), "function QBackward returned an incorrect number of gradients (expected 2, got 3)"),
        (lambda g: [g, g], "function QBackward returned an incorrect number of gradients (expected 2, got 1)"),
        (lambda g: (g, [g]), "expected Variable or None (got list)"),
        (lambda g: (g, 1.0), "expected Variable or None (got float)"),
        (lambda g: (g.numpy(), g), "expected Variable or None (got numpy.ndarray)"),
        (lambda g: (g, torch.ones(3)),
         "Function QBackward returned an invalid gradient at index 1 - got [3] but expected shape compatible with [2]"),
        (lambda g: (g.sum(), g),
         "Function QBackward returned an invalid gradient at index 0 - got [] but expected shape compatible with [2]"),
        (lambda g: (g + 0j, g), "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex)"),
    ],
)  # fmt: skip
def test_gradients_that_do_not_fit(a, b, made, message):
    Q = function(lambda ctx, x, y: x + y, lambda ctx, g: made(g))
    with pytest.raises(RuntimeError) as caught:
        Q.apply(a, b).sum().backward()
    assert message in str(caught.value) and a.grad is None


def test_an_argument_that_is_no_tensor_has_no_gradient(a):
    Q = function(lambda ctx, x, k: x * k, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="returned a gradient different than None at position 2"):
        Q.apply(a, 3).sum().backward()
    assert Q.apply(a, torch.ones(2)).sum().backward() is None  # a tensor without requires_grad may get any
    assert Q.apply([a], 3) == [a, a, a]  # tensors in lists take no part


def test_a_gradient_is_nobody_elses_memory(a):
    Q = function(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda ctx, g: ctx.saved_tensors[0])
    Q.apply(a).sum().backward()
    assert a.grad.tolist() == [1.0, 2.0] and a.grad.data_ptr() != a.data_ptr()


# ------------------------------------------------------------------------------------------------ outputs
def test_outputs_of_all_kinds(a):
    seen = []
    Q = function(lambda ctx, x, f: f(x), lambda ctx, *g: (seen.append(g), (g[0], None))[1])
    assert Q.apply(a, lambda x: None) is None and Q.apply(a, lambda x: 5.0) == 5.0
    assert Q.apply(a, lambda x: ()) == ()
    listed = Q.apply(a, lambda x: [x * 2, x * 3])  # a list is no tensor
    assert isinstance(listed, list) and not listed[0].requires_grad
    (one,) = Q.apply(a, lambda x: (x * 2,))
    assert one.grad_fn.name() == "QBackward"
    pair = Q.apply(a, lambda x: collections.namedtuple("Pair", "p q")(x * 2, x * 3))
    assert type(pair) is tuple and len(pair) == 2
    t, five, whole, word, u = Q.apply(a, lambda x: (x * 2, 5, torch.tensor([1, 2]), "s", x * 3))
    assert (five, word, whole.requires_grad) == (5, "s", False)
    assert (t.output_nr, u.output_nr, t.grad_fn is u.grad_fn) == (0, 4, True)
    t.sum().backward()
    g = seen[0]
    assert [x if x is None else x.tolist() for x in g] == [[1, 1], None, [0, 0], None, [0, 0]]


def test_materialized_gradients(a):
    seen = []

    def forward(ctx, x, flag):
        ctx.set_materialize_grads(flag)
        return x * 2, x * 3

    def backward(ctx, g, h):
        seen.append([None if t is None else t.tolist() for t in (g, h)])
        return h, None

    Q = function(forward, backward)
    Q.apply(a, True)[1].sum().backward()
    Q.apply(a, False)[1].sum().backward()
    assert seen == [[[0, 0], [1, 1]], [None, [1, 1]]]


def test_outputs_without_a_derivative(a):
    seen = []

    def forward(ctx, x):
        t, u = x * 2, x * 3
        ctx.mark_non_differentiable(u)
        return t, u

    Q = function(forward, lambda ctx, g, h: (seen.append(h.tolist()), g)[1])
    t, u = Q.apply(a)
    assert t.requires_grad and not u.requires_grad
    t.sum().backward()
    assert seen == [[0.0, 0.0]]
    as_it_is = function(lambda ctx, x: (ctx.mark_non_differentiable(x), x)[1]).apply(a)
    assert not as_it_is.requires_grad and as_it_is is not a and a.requires_grad
    with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts variable arguments"):
        function(lambda ctx, x: (ctx.mark_non_differentiable(5), x * 1)[1]).apply(a)


CUSTOM_VIEW = "This view was created inside a custom Function"


@pytest.mark.parametrize("forward", [lambda ctx, x: x, lambda ctx, x: x[:2], lambda ctx, x: (x * 2).view(2)])
def test_an_input_as_it_is_and_views_must_not_be_changed_in_place(a, forward):
    y = function(forward).apply(a)
    assert y is not a and y._is_view() and y.grad_fn.name() == "QBackward"
    with pytest.raises(
        RuntimeError, match="Output 0 of Q is a view and is being modified inplace. " + CUSTOM_VIEW
    ):
        y.mul_(2)
    with pytest.raises(
        RuntimeError, match="Output 0 of .* is a view and is being modified inplace. " + CUSTOM_VIEW
    ):
        y[0].mul_(2)


def test_views_whose_base_changes(a):
    h = a * 1
    y = function(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(h)
    h.mul_(2)
    assert y.tolist() == [[2.0], [4.0]]
    with pytest.raises(
        RuntimeError, match="Output 0 of Q is a view and its base or another view of its base"
    ):
        y.sum().backward()
    p, q = function(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h])).apply(a)
    with pytest.raises(
        RuntimeError, match="Output 0 of Q is a view.*output of a function that returns multiple views"
    ):
        p.mul_(2)
    assert torch.autograd.grad((p * 3 + q * 5).sum(), a)[0].tolist() == [3.0, 5.0]


def test_without_gradients(a):
    Q = function(lambda ctx, x: x)
    with torch.no_grad():
        y = Q.apply(a)
    assert y is not a and not y.requires_grad and a.requires_grad and not y._is_view()
    c = torch.ones(2)
    y = Q.apply(c)
    assert y is not c and y._is_view() and y.data_ptr() == c.data_ptr()
    seen = []
    look = function(lambda ctx, x: (seen.append((ctx.needs_input_grad, torch.is_grad_enabled())), x * 1)[1])
    with torch.no_grad():
        look.apply(a)
    look.apply(c)
    assert seen == [((True,), False), ((False,), False)]
    fresh = function(lambda ctx, x: torch.ones(2, requires_grad=True))
    assert not fresh.apply(c).requires_grad and fresh.apply(a).grad_fn.name() == "QBackward"


# ------------------------------------------------------------------------------------------------ what is saved
def test_saved_tensors_are_guarded_and_freed(a):
    h = a * 1
    y = Power.apply(h)
    h.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor \[2\]\], which is "
                                           r"output 0 of MulBackward0, is at version 1"):  # fmt: skip
        y.sum().backward()
    y = Exp.apply(a)
    y.add_(1)
    with pytest.raises(RuntimeError, match="which is output 0 of ExpBackward, is at version 1"):
        y.sum().backward()
    y = Power.apply(a).sum()
    node = y.grad_fn.next_functions[0][0]
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    with pytest.raises(
        RuntimeError, match="directly access saved tensors after they have already been freed"
    ):
        node.saved_tensors  # noqa: B018
    plain = function(lambda ctx, x: x * 3, lambda ctx, g: g * 3).apply(a).sum()
    plain.backward()
    plain.backward()  # nothing was saved, so nothing is missed


def test_the_error_names_both_lines(a):
    with modes.recording():
        h = a * 1
        y = Power.apply(h)
        h.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "saved by Power in test_function.py" in text and ": y = Power.apply(h)" in text
    assert "changed in test_function.py" in text and ": h.add_(1)" in text


def test_what_can_be_saved(a):
    def saving(*what):
        return function(lambda ctx, x: (ctx.save_for_backward(*what), x * 2)[1],
                        lambda ctx, g: (seen.append(ctx.saved_tensors), g)[1])  # fmt: skip

    seen = []
    inner = torch.ones(2)
    saving(inner, None).apply(a).sum().backward()
    assert seen[0][0] is inner and seen[0][1] is None
    with pytest.raises(
        TypeError, match="save_for_backward can only save variables, but argument 1 is of type int"
    ):
        saving(inner, 5).apply(a)
    with pytest.raises(TypeError, match="argument 0 is of type list"):
        saving([inner]).apply(a)
    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        function(lambda ctx, x: ctx.save_for_forward(5)).apply(a)
    twice = function(lambda ctx, x: (ctx.save_for_backward(x), ctx.save_for_backward(x * 2), x * 2)[2],
                     lambda ctx, g: (seen.append(ctx.saved_tensors[0].tolist()), g)[1])  # fmt: skip
    twice.apply(a).sum().backward()
    assert seen[-1] == [2.0, 4.0]  # the last call counts
    detached = a * 1
    y = Power.apply(detached)
    detached.detach_()
    assert torch.autograd.grad(y.sum(), a)[0].tolist() == [2.0, 4.0]


def test_an_input_as_it_is_cannot_be_saved_by_setup_context(a):
    for i in (0, 1):
        Q = function(lambda x: x, setup_context=lambda ctx, xs, y, i=i: ctx.save_for_backward((xs[0], y)[i]))
        with pytest.raises(
            RuntimeError, match="An input that has been returned as-is as output is being saved"
        ):
            Q.apply(a)


def test_saved_tensors_may_be_fetched_once_only(a):
    Q = function(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
                 lambda ctx, g: 2 * g * ctx.saved_tensors[0], clear_saved_tensors_on_access=True)  # fmt: skip
    y = Q.apply(a).sum()
    y.backward(retain_graph=True)
    assert a.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="saved_tensors can only be accessed once"):
        y.backward()
    boxed = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, grads: grads.pop() * 3 + grads.pop() * 2,
                     boxed_grads_call=True)  # fmt: skip
    assert torch.autograd.grad(sum(boxed.apply(a)).sum(), a)[0].tolist() == [5.0, 5.0]


# ------------------------------------------------------------------------------------------------ in place
def test_changing_an_input_in_place(a):
    h = a * 1
    before = h._version
    y = Doubled.apply(h)
    assert y is h and y.grad_fn.name() == "DoubledBackward" and h._version == before + 2
    assert torch.autograd.grad(y.sum(), a)[0].tolist() == [2.0, 2.0]
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"
    ):
        Doubled.apply(vector(1, 2))
    c = torch.ones(2)
    assert Doubled.apply(c) is c and c.tolist() == [2.0, 2.0]
    with torch.no_grad():
        y = Doubled.apply(a)
    assert y is not a and y.tolist() == [2.0, 4.0] and not y.requires_grad


def test_changing_a_view_in_place(a):
    h = a * 1
    v = h[:1]
    squared = v * v
    y = Doubled.apply(v)
    assert y is v and h.tolist() == [2.0, 2.0] and h.grad_fn.title == "CopySlices"
    assert torch.autograd.grad(h.sum(), a)[0].tolist() == [2.0, 1.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squared.sum().backward()
    with pytest.raises(
        RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"
    ):
        Doubled.apply(vector(1, 2)[:1])
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and is being modified inplace"):
        Doubled.apply((a * 1).unbind(0)[0])
    h = a * 1
    with torch.no_grad():
        v = h[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        Doubled.apply(v)


def test_what_was_marked_must_fit(a):
    h = a * 1
    with pytest.raises(
        RuntimeError, match="Some elements marked as dirty during the forward method were not returned"
    ):
        function(lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1]).apply(h)
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables"):
        function(lambda ctx, x: (ctx.mark_dirty(5), x * 1)[1]).apply(h)

    def not_an_input(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        assert function(not_an_input).apply(h).grad_fn.name() == "QBackward"

    def two(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 3

    Q = function(two, lambda ctx, g, k: g * 2 + k * 6)
    h = a * 1
    p, q = Q.apply(h)
    assert p is h and torch.autograd.grad(h.sum() + q.sum(), a)[0].tolist() == [8.0, 8.0]
    with pytest.raises(RuntimeError, match="If your Function modifies inplace an input that is a view"):
        Q.apply((a * 1)[:1])
    assert [t.tolist() for t in Q.apply(torch.ones(3)[:1])] == [[2.0], [6.0]]


def test_a_plain_tensor_takes_the_history_of_what_was_written_into_it(b):
    def forward(ctx, x, w):
        x.mul_(w)
        ctx.mark_dirty(x)
        ctx.save_for_backward(w)
        return x

    Q = function(forward, lambda ctx, g: (g * ctx.saved_tensors[0], g))
    buffer = torch.ones(2)
    assert Q.apply(buffer, b) is buffer and not buffer.is_leaf
    assert torch.autograd.grad(buffer.sum(), b)[0].tolist() == [1.0, 1.0]
    buffer = torch.ones(3)
    Q.apply(buffer[:2], b)
    assert buffer.tolist() == [3.0, 4.0, 1.0]
    assert torch.autograd.grad(buffer.sum(), b)[0].tolist() == [1.0, 1.0]


def test_memory_changed_behind_autograds_back(a):
    def forward(ctx, x):
        x.detach().numpy()[...] *= 2
        ctx.mark_dirty(x)
        return x

    h = a * 1
    saved = h * h
    function(forward).apply(h)
    assert h.tolist() == [2.0, 4.0] and h._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_a_saved_result_that_was_changed_in_place(a):
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    Q = function(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    h = a * 1
    y = Q.apply(h)
    assert torch.autograd.grad(y.sum(), a)[0].tolist() == pytest.approx([2.718282, 7.389056], rel=1e-6)
    y = Q.apply(a * 1)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    h = a * 1
    v = h[:1]
    Q.apply(v)  # the view's new node is reached through its base's
    assert torch.autograd.grad(h.sum(), a)[0].tolist() == pytest.approx([2.718282, 1.0], rel=1e-6)


# ------------------------------------------------------------------------------------------------ higher order
def test_backward_of_backward(a):
    (g,) = torch.autograd.grad(Power.apply(a, 3).sum(), a, create_graph=True)
    assert g.tolist() == [3.0, 12.0]
    assert torch.autograd.grad(g.sum(), a)[0].tolist() == [6.0, 12.0]
    (g,) = torch.autograd.grad(Exp.apply(a).sum(), a, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), a, create_graph=True)
    assert torch.autograd.grad(h.sum(), a)[0].tolist() == pytest.approx([2.718282, 7.389056], rel=1e-6)


def test_functions_within_functions(a):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return Power.apply(x, 3)

        @staticmethod
        def backward(ctx, grad):
            return CubeBackwardStep.apply(grad, *ctx.saved_tensors)

    class CubeBackwardStep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, grad, x):
            ctx.save_for_backward(grad, x)
            return 3 * grad * x * x

        @staticmethod
        def backward(ctx, grad2):
            grad, x = ctx.saved_tensors
            return 3 * grad2 * x * x, 6 * grad2 * grad * x

    (g,) = torch.autograd.grad(Cube.apply(a).sum(), a, create_graph=True)
    assert g.grad_fn.name() == "CubeBackwardStepBackward"
    assert torch.autograd.grad(g.sum(), a)[0].tolist() == [6.0, 12.0]


def test_once_differentiable(a, b):
    Q = function(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
                 once_differentiable(lambda ctx, g: 2 * g * ctx.saved_tensors[0]))  # fmt: skip
    assert torch.autograd.grad(Q.apply(a).sum(), a)[0].tolist() == [2.0, 4.0]
    (g,) = torch.autograd.grad(Q.apply(a).sum(), a, create_graph=True)
    assert not g.requires_grad  # the incoming gradient is constant
    (g,) = torch.autograd.grad((Q.apply(a) * b).sum(), a, create_graph=True)
    assert g.tolist() == [6.0, 16.0] and g.grad_fn.name() == "torch::autograd::Error"
    assert str(g) == "tensor([ 6., 16.], grad_fn=<Error>)"
    with pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"
    ):
        g.sum().backward()


def test_backward_within_forward_and_within_backward(a):
    def forward(ctx, x):
        with torch.enable_grad():
            own = x.detach().requires_grad_()
            y = (own * 2).exp()
            (first,) = torch.autograd.grad(y.sum(), own, retain_graph=True)
        ctx.own, ctx.y = own, y
        ctx.first = first
        return y.detach()

    def backward(ctx, grad):
        with torch.enable_grad():
            ctx.y.backward(grad)
        return ctx.own.grad

    Q = function(forward, backward)
    y = Q.apply(a)
    assert y.grad_fn.first.tolist() == pytest.approx([14.778112, 109.1963], rel=1e-6)
    assert torch.autograd.grad((y * 3).sum(), a)[0].tolist() == pytest.approx([44.334336, 327.5889], rel=1e-6)
    kept = function(
        lambda ctx, x: enabled(x), lambda ctx, g: g * 7
    )  # a result with a history of its own loses it
    assert torch.autograd.grad(kept.apply(a).sum(), a)[0].tolist() == [7.0, 7.0]


def enabled(x):
    with torch.enable_grad():
        return (x * 2).exp()


# ------------------------------------------------------------------------------------------------ forward mode
def forward_pass(Q, *args, moving=(0,)):
    """Value and tangent of each output, for a tangent (1, 10)."""
    with forward_ad.dual_level():
        xs = [
            forward_ad.make_dual(x, torch.tensor([1.0, 10.0])) if i in moving else x
            for i, x in enumerate(args)
        ]
        y = Q.apply(*xs)
        parts = [
            forward_ad.unpack_dual(t)
            for t in (y if isinstance(y, tuple) else (y,))
            if isinstance(t, torch.Tensor)
        ]
        return [(p.tolist(), None if t is None else t.tolist()) for p, t in parts]


def test_jvp(a, b):
    seen = []

    def forward(ctx, x, y, k):
        ctx.save_for_forward(x, y)
        ctx.k = k
        return x * y * k

    def jvp(ctx, tx, ty, tk):
        x, y = ctx.saved_tensors
        seen.append((ty.tolist(), tk))
        return (tx * y + x * ty) * ctx.k

    Q = function(forward, jvp=jvp)
    assert forward_pass(Q, a, b, 2) == [([6.0, 16.0], [6.0, 80.0])]
    assert forward_pass(Q, a.detach(), b.detach(), 2, moving=(0, 1)) == [([6.0, 16.0], [8.0, 120.0])]
    assert seen[0] == ([0.0, 0.0], None)
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        forward_pass(Power, a)


def test_jvp_of_a_result_can_be_differentiated(a):
    with forward_ad.dual_level():
        y = Exp.apply(forward_ad.make_dual(a, torch.tensor([1.0, 10.0])))
        tangent = forward_ad.unpack_dual(y).tangent
        (g,) = torch.autograd.grad(tangent.sum(), a)
    assert g.tolist() == pytest.approx([2.718282, 73.89056], rel=1e-6)


@pytest.mark.parametrize(
    "forward, jvp, message",
    [
        (lambda c, x: (x * 2, x * 3), lambda c, t: t, "invalid number of forward gradients (expected 2 but got 1)"),
        (lambda c, x: x * 2, lambda c, t: (t, t), "invalid number of forward gradients (expected 1 but got 2)"),
        (lambda c, x: (x * 2, x * 3), lambda c, t: [t, t], "expected Variable or None (got list) for grad output 0."),
        (lambda c, x: x * 2, lambda c, t: 1.0, "expected Variable or None (got float) for grad output 0."),
        (lambda c, x: x * 2, lambda c, t: torch.ones(3), "Tensor is of size [2] while the given forward gradient is of "
                                                         "size [3]"),
        (lambda c, x: (x * 2, torch.tensor(1)), lambda c, t: (t, t), "returned a gradient at position 1"),
        (lambda c, x: x, lambda c, t: t, "is returning a view (or an input as-is) but the jvp is not returning a view"),
        (lambda c, x: x[:1], lambda c, t: t[:1] * 1, "is returning a view (or an input as-is) but the jvp is not"),
    ],
)  # fmt: skip
def test_tangents_that_do_not_fit(a, forward, jvp, message):
    with pytest.raises(RuntimeError) as caught:
        forward_pass(function(forward, jvp=jvp), a)
    assert message in str(caught.value)


def test_tangents_of_views_of_flat_outputs_and_in_place(a):
    assert forward_pass(function(lambda c, x: x[:1], jvp=lambda c, t: t[:1]), a) == [([1.0], [1.0])]

    def flat(ctx, x):
        y = x * 3
        ctx.mark_non_differentiable(y)
        return x * 2, y, 5

    Q = function(flat, jvp=lambda c, t: (t * 2, None, None))
    assert forward_pass(Q, a) == [([2.0, 4.0], [2.0, 20.0]), ([3.0, 6.0], None)]
    Q = function(Doubled.forward, jvp=lambda c, t: t.mul_(2))
    assert forward_pass(Q, a.detach() * 1) == [([2.0, 4.0], [2.0, 20.0])]
    with pytest.raises(RuntimeError, match="is not modifying the forward mode gradients inplace"):
        forward_pass(function(Doubled.forward, jvp=lambda c, t: t * 2), a.detach() * 1)


def test_nested_forward_mode_needs_setup_context(a):
    def second(f, x):
        t = torch.ones(2)
        return torch.func.jvp(lambda x: torch.func.jvp(f, (x,), (t,))[1], (x,), (t,))[1]

    assert second(Exp.apply, a.detach()).tolist() == pytest.approx([2.718282, 7.389056], rel=1e-6)
    combined = function(lambda ctx, x: x * 2, jvp=lambda ctx, t: t * 2)
    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        second(combined.apply, a.detach())


# ------------------------------------------------------------------------------------------------ func
class Scaled(torch.autograd.Function):
    """x·y·k, with gradients ten times and tangents a hundred times too large, so that one sees whose they are."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, k):
        return x * y * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.save_for_forward(*inputs[:2])
        ctx.k = inputs[2]

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * ctx.k * 10, grad * x * ctx.k * 10, None

    @staticmethod
    def jvp(ctx, tx, ty, tk):
        x, y = ctx.saved_tensors
        return (tx * y + ty * x) * ctx.k * 100


def test_transformations_of_functions(a):
    assert torch.func.grad(lambda x: Exp.apply(x).sum())(a.detach()).tolist() == pytest.approx(
        [2.718282, 7.389056]
    )
    assert torch.func.grad(lambda x: torch.func.grad(lambda x: Exp.apply(x).sum())(x).sum())(
        a.detach()
    ).tolist() == pytest.approx([2.718282, 7.389056])
    y = torch.tensor([1.0, 2.0])
    assert torch.func.jacfwd(lambda r: Scaled.apply(r, y, 3))(y).tolist() == [[300.0, 0.0], [0.0, 600.0]]
    assert torch.func.jacrev(lambda r: Scaled.apply(r, y, 3))(y).tolist() == [[30.0, 0.0], [0.0, 60.0]]


def test_a_generated_rule_for_vmap():
    x, y = torch.arange(6.0).view(3, 2), torch.tensor([1.0, 2.0])
    assert torch.vmap(lambda r: Scaled.apply(r, y, 3))(x).tolist() == [[0, 6], [6, 18], [12, 30]]
    assert torch.vmap(lambda r, s: Scaled.apply(r, s, 3))(x, x).tolist() == [[0, 3], [12, 27], [48, 75]]
    assert torch.vmap(lambda r: Scaled.apply(r, torch.ones(3), 3), in_dims=1)(x).tolist() == [
        [0, 6, 12],
        [3, 9, 15],
    ]
    xs, ys = x.clone().requires_grad_(), y.clone().requires_grad_()
    out = torch.vmap(lambda r: Scaled.apply(r, ys, 3))(xs)
    assert out.grad_fn.name() == "VmappedScaledBackward"
    gx, gy = torch.autograd.grad(out.sum(), [xs, ys])
    assert gx.tolist() == [[30, 60]] * 3 and gy.tolist() == [180, 270]
    each = torch.vmap(
        torch.func.grad(lambda r, s: Scaled.apply(r, s, 3).sum(), argnums=(0, 1)), in_dims=(0, None)
    )
    gx, gy = each(x, y)
    assert gx.tolist() == [[30, 60]] * 3 and gy.tolist() == [[0, 30], [60, 90], [120, 150]]
    moved = torch.vmap(lambda r: torch.func.jvp(lambda r: Scaled.apply(r, y, 3), (r,), (torch.ones(2),))[1])(
        x
    )
    assert moved.tolist() == [[300, 600]] * 3
    twice = torch.vmap(torch.vmap(lambda r: Scaled.apply(r, torch.tensor(2.0), 3)))(x)
    assert twice.tolist() == [[0, 6], [12, 18], [24, 30]]


def test_a_rule_of_its_own_for_vmap():
    x, y = torch.arange(6.0).view(3, 2), torch.tensor([1.0, 2.0])
    seen = []

    def rule(info, in_dims, r, s, k):
        seen.append((info.batch_size, info.randomness, in_dims, tuple(r.shape), tuple(s.shape)))
        return Scaled.apply(r, s, k) * 1000, 0

    Own = type("Own", (Scaled,), {"vmap": staticmethod(rule), "generate_vmap_rule": False})
    assert torch.vmap(lambda r: Own.apply(r, y, 3))(x).tolist() == [[0, 6000], [6000, 18000], [12000, 30000]]
    assert seen == [(3, "error", (0, None, None), (3, 2), (2,))]

    def of(answer, **more):
        return type("Own", (Scaled,), {"vmap": staticmethod(lambda i, d, r, s, k: answer(r, s)),
                                       "generate_vmap_rule": False} | more)  # fmt: skip

    assert torch.vmap(lambda r: of(lambda r, s: ((r * s).T, 1)).apply(r, y, 3))(x).tolist() == [
        [0, 2],
        [2, 6],
        [4, 10],
    ]
    p, q = torch.vmap(lambda r: of(lambda r, s: ((r * s, r), 0)).apply(r, y, 3))(x)
    assert p.tolist() == [[0, 2], [2, 6], [4, 10]] and q.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="Expected the vmap staticmethod to have two returns"):
        torch.vmap(lambda r: of(lambda r, s: r).apply(r, y, 3))(x)
    with pytest.raises(RuntimeError, match="has both generate_vmap_rule=True and an overridden vmap"):
        torch.vmap(lambda r: of(lambda r, s: (r, 0), generate_vmap_rule=True).apply(r, y, 3))(x)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        torch.vmap(Exp.apply)(x)
    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        torch.vmap(function(lambda ctx, x: x * 2, generate_vmap_rule=True).apply)(x)


# ------------------------------------------------------------------------------------------------ the graph around it
def test_hooks_and_retained_gradients(a):
    p, q = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3).apply(a)
    p.retain_grad()
    q.register_hook(lambda g: g * 10)
    (p + q).sum().backward()
    assert p.grad.tolist() == [1.0, 1.0] and a.grad.tolist() == [32.0, 32.0]
    p.grad_fn.metadata["note"] = 1
    assert q.grad_fn.metadata == {"note": 1}


def test_backward_to_some_inputs_only(a, b):
    seen = []
    Q = function(lambda ctx, x, y: x * y, lambda ctx, g: (seen.append(ctx.needs_input_grad), (g, g))[1])
    h = a * 1
    y = Q.apply(h, b).sum()
    y.backward(inputs=[b], retain_graph=True)
    assert (a.grad, b.grad.tolist()) == (None, [1.0, 1.0])
    assert torch.autograd.grad(y, h)[0].tolist() == [1.0, 1.0]
    assert seen == [(True, True)] * 2


def test_a_hundred_thousand_functions_without_recursion():
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = Same.apply(y)
    y.backward(retain_graph=True)
    assert x.grad.item() == 1
    del y  # freeing is no recursion either


def test_reference_counting_alone_frees_what_a_function_keeps():
    def nodes_of(y):
        return [weakref.ref(y.grad_fn), weakref.ref(y.node)]

    gc.collect()
    gc.disable()
    try:
        x = vector(1, 2)
        refs = nodes_of(Exp.apply(x)) + nodes_of(Power.apply(x)) + nodes_of(Doubled.apply(x * 1))
        two = function(lambda ctx, x: (ctx.save_for_backward(t := x * 2), (t, x * 3))[1])
        p, _ = two.apply(x)
        refs += nodes_of(p)
        del p, _
        alive = [r() for r in refs if r() is not None]
        assert alive == []
    finally:
        gc.enable()


@pytest.mark.parametrize("where", ["forward", "setup", "backward"])
def test_an_exception_leaves_no_trace(a, where):
    def at(place, value):
        if where == place:
            raise ValueError("boom")
        return value

    Q = function(
        lambda x: at("forward", x * 2),
        lambda ctx, g: at("backward", g),
        setup_context=lambda ctx, inputs, output: at("setup", None),
    )
    with pytest.raises(ValueError, match="boom"):
        Q.apply(a).sum().backward()
    assert torch.is_grad_enabled() and running.task() == 0 and not modes.special[0]
    assert a.grad is None and torch.autograd.grad((a * 2).sum(), a)[0].tolist() == [2.0, 2.0]


def test_threads_have_walks_of_their_own():
    results = [None] * 4

    def work(i):
        x = vector(i, i + 1)
        for _ in range(50):
            x.grad = None
            y = Power.apply(Exp.apply(x), 2)
            y.sum().backward()
        results[i] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, found in enumerate(results):
        assert found == pytest.approx([2 * np.exp(2 * i), 2 * np.exp(2 * i + 2)], rel=1e-5)


def test_copies_and_pickles(a):
    assert copy.deepcopy(Power) is Power and copy.deepcopy(Power.apply)(a, 2).tolist() == [1.0, 4.0]
    assert pickle.loads(pickle.dumps(Power)) is Power
    assert pickle.loads(pickle.dumps(Power.apply))(a, 2).tolist() == [1.0, 4.0]
    for make in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle 'PowerBackward' object"):
            make(Power.apply(a).grad_fn)


def test_pictures_show_a_function(a):
    with modes.recording():
        x = torch.tensor(2.0, requires_grad=True)
        y = Power.apply(x, 3)
        p, number, q = function(lambda ctx, x: (x * 2, 5, x * 3), lambda ctx, g, _, h: g * 2 + h * 3).apply(y)
        z = p * q
    picture = graph(z, saved=True, namespace={"x": x, "y": y, "p": p, "q": q, "z": z})
    text = str(picture)
    assert "y = Power(x)" in text and "p, q = Q(y)" in text and "saved 1: x · 4 bytes" in text
    assert "16; 5; 24" in text and number == 5
    z.backward()
    text = str(graph(z, namespace={"x": x, "y": y, "p": p, "q": q, "z": z}))
    assert "24; none; 16" in text and "1152" in text
    assert "Power" in str(graph(y.grad_fn)) and "Power" in str(graph(y))
    from autodiff_kernel.views.trace import trace

    assert "12" in str(trace(lambda x: Power.apply(x, 3), 2.0)).splitlines()[-1]
