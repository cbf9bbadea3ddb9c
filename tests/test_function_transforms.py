"""autograd.Function differentiated again, in forward mode, under func's transformations; and the graph around it."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from functions import Doubled, Exp, Power, function, vector

import autodiff_kernel as torch
from autodiff_kernel.autograd import forward_ad
from autodiff_kernel.autograd.function import once_differentiable
from autodiff_kernel.core import modes, running
from autodiff_kernel.views import graph


@pytest.fixture
def a():
    return vector(1, 2)


@pytest.fixture
def b():
    return vector(3, 4)


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


def test_hooks_on_the_node_of_a_function(a, b):
    Q = function(lambda ctx, x, k, y: (x * y, x + y), lambda ctx, g, h: (g * 2 + h, None, g * 3 + h))
    p, q = Q.apply(a, 3, b)
    seen = []

    def values(gradients):
        return [None if g is None else g.tolist() for g in gradients]

    before = p.grad_fn.register_prehook(lambda gs: seen.append(("before", values(gs))))
    after = q.grad_fn.register_hook(lambda inner, outer: seen.append(("after", values(inner), values(outer))))
    (p.sum() * 2).backward(retain_graph=True)
    assert seen == [("before", [[2, 2], None]), ("after", [[4, 4], [6, 6]], [[2, 2], None])]
    before.remove()
    after.remove()
    p.grad_fn.register_hook(lambda inner, outer: tuple(g * 10 for g in inner))
    (ga, gb) = torch.autograd.grad((p + q).sum(), [a, b])
    assert (ga.tolist(), gb.tolist()) == ([30.0, 30.0], [40.0, 40.0])


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
