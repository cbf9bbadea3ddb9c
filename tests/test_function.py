"""autograd.Function: operations that users write.  Values and messages are those that PyTorch 2.13 gives."""

import collections
import warnings

import pytest
from functions import Doubled, Exp, Power, function, vector

import autodiff_kernel as torch
from autodiff_kernel.autograd.function import BackwardCFunction, FunctionCtx
from autodiff_kernel.core import modes


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
