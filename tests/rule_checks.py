"""What must hold for every row of the table on every example. Each check takes a case and a Draw.

With a random cotangent w and random directions d and v, in float64:
  value             the forward against NumPy, and the same for inputs that lie otherwise in memory
  first_order       <vjp(w), d> against the central difference of <w, f> along d, and <w, jvp(d)> the same number
  second_order      the derivative of <v, vjp(w)> along d by reverse over reverse, reverse over forward and forward over
                    reverse: against the central difference of the gradient, and the three against each other
  single_precision  float32 stays float32
  ownership         gradients have their inputs' shape and dtype, can be written, and share no memory with anything
  undeclared        what no rule declares is not kept, and may be overwritten before the walk
  on_gpu            a simulated GPU gives the CPU's numbers without a copy between devices
"""

from typing import Any

import numpy as np
from rule_cases import Case, Draw
from rule_trial import STEP, Trial, close, inner, inner_all, moves, numpy, tensors

from autodiff_kernel.core import backward, device, dual, hot
from autodiff_kernel.core.graph import edges_of
from autodiff_kernel.core.tensor import Tensor, wrap


def value(case: Case, d: Draw) -> None:
    t = Trial(case, d)
    for y in t.call(tensors(t.xs)):
        raw = y.raw
        assert raw.ndim or isinstance(raw, np.generic) or t.op.view, (
            "a 0-d value on the CPU is a NumPy scalar"
        )
        if not t.op.view and raw.size:
            for x in t.xs:
                if isinstance(x, np.ndarray) and isinstance(raw, np.ndarray):
                    assert not np.shares_memory(raw, x), (
                        "the result of a row that is no view shares its input's memory"
                    )
    if not case.storage:
        plain = [np.array(x, order="C") if isinstance(x, np.ndarray) else x for x in t.xs]
        for y, same in zip(t.ys, t.values(plain), strict=True):
            assert (y.shape, y.dtype) == (same.shape, same.dtype)
            np.testing.assert_allclose(
                y, same, rtol=1e-11, atol=1e-12, err_msg="the layout of the inputs shows"
            )
    if case.ref is None:
        return
    expected = case.ref(*t.xs) if t.p is None else case.ref(*t.xs, t.p)
    for y, e in zip(t.ys, expected if t.op.outputs else (expected,), strict=True):
        assert y.shape == np.shape(e)
        np.testing.assert_allclose(y, e, rtol=1e-9, atol=1e-12)


def first_order(case: Case, d: Draw) -> None:
    t = Trial(case, d)
    if not t.useful():
        return
    expected = t.numeric()
    scale = sum(float(np.abs(w).sum()) for w in t.ws if w is not None)
    leaves, _, gs = t.gradients()
    reverse = 0.0
    for i, g in gs.items():
        if g is not None:
            assert g.shape == leaves[i].shape, f"the gradient of input {i} has another shape"
            reverse += inner(numpy(g), t.ds[i])
    close(reverse, expected, case.tolerance, scale)
    forward = inner_all(t.ws, t.jvp())
    close(forward, reverse, 1e-9, scale)
    if len(t.moving) > 1:  # an input that does not move has no tangent
        parts = [inner_all(t.ws, t.jvp([i])) for i in t.moving]
        close(sum(parts), reverse, 1e-9, scale)
    hot_path(t, gs)


def hot_path(t: Trial, gs: Any) -> None:
    """The handwritten methods of rows with one or two inputs give what the row gives."""
    op = t.op
    if op.params or op.view or op.each is not None or op.outputs or op.c is not None or len(t.xs) > 2:
        return
    if len(t.xs) == 2 and not (op.spreads and isinstance(t.xs[0], np.ndarray)):
        return
    method = hot.unary(op) if len(t.xs) == 1 else hot.binary(op)
    leaves = tensors(t.xs, t.moving)
    y = method(*leaves)
    np.testing.assert_array_equal(numpy(y), t.ys[0])
    fast = backward.grad([y], [leaves[i] for i in t.moving], tensors(t.ws), allow_unused=True)
    for f, g in zip(fast, gs.values(), strict=True):
        if g is not None:
            np.testing.assert_array_equal(numpy(f), numpy(g))
    with dual.level() as k:
        tangent = dual.parts(method(*t.duals(tensors(t.xs), k)), k)[1]
    np.testing.assert_array_equal(numpy(tangent), numpy(t.jvp()[0]))


# ------------------------------------------------------------------------------------------------ second order
def second_order(case: Case, d: Draw) -> None:
    t = Trial(case, d)
    if not t.useful():
        return
    rng = np.random.default_rng(7)
    vs = {i: t.direction(i, rng) for i in t.moving}  # a direction for the gradient to be measured in

    def slope(xs: Any) -> float:
        return sum(inner(vs[i], numpy(g)) for i, g in t.gradients(xs)[2].items() if g is not None)

    expected = (slope(t.shifted(STEP)) - slope(t.shifted(-STEP))) / (2 * STEP)
    scale = 1 + abs(slope(t.xs)) + sum(float(np.abs(v).sum()) for v in vs.values())
    got = reverse_over_reverse(t, vs, scale)
    close(got, expected, 10 * case.tolerance, scale)
    close(reverse_over_forward(t, vs), got, 1e-8, scale)
    close(forward_over_reverse(t, vs), got, 1e-8, scale)


def reverse_over_reverse(t: Trial, vs: Any, scale: float) -> float:
    """<d, d/dx <v, vjp(x; w)>>, by the gradient of the gradient."""
    leaves, ws, gs = t.gradients(create_graph=True)
    used = {i: g for i, g in gs.items() if g is not None}
    live = {i: g for i, g in used.items() if g.node is not None}
    if not live:
        return 0.0
    wanted = [leaves[i] for i in t.moving]
    hs = backward.grad(
        list(live.values()), [*wanted, *ws], [wrap(vs[i]) for i in live], allow_unused=True, create_graph=True
    )
    # the gradient is linear in the cotangent
    linear = sum(
        inner(numpy(h), numpy(w)) for h, w in zip(hs[len(wanted) :], ws, strict=True) if h is not None
    )
    close(linear, sum(inner(vs[i], numpy(g)) for i, g in used.items()), 1e-9, scale)
    return sum(inner(numpy(h), t.ds[i]) for i, h in zip(t.moving, hs, strict=False) if h is not None)


def reverse_over_forward(t: Trial, vs: Any) -> float:
    """<v, d/dx <w, jvp(x; d)>>, which is the same number because second derivatives commute."""
    leaves = tensors(t.xs, t.moving)
    with dual.level() as k:
        ts = [dual.parts(y, k)[1] for y in t.call(t.duals(leaves, k))]
    pairs = [(y, w) for y, w in zip(ts, t.ws, strict=True) if w is not None and y.node is not None]
    if not pairs:
        return 0.0
    hs = backward.grad(
        [y for y, _ in pairs], [leaves[i] for i in t.moving], [wrap(w) for _, w in pairs], allow_unused=True
    )
    return sum(inner(vs[i], numpy(h)) for i, h in zip(t.moving, hs, strict=True) if h is not None)


def forward_over_reverse(t: Trial, vs: Any) -> float:
    """The tangent of the gradient: the rules themselves on dual numbers."""
    op, total = t.op, 0.0
    with dual.level() as k:
        xs = t.duals(tensors(t.xs), k)
        n = dual.values(op, xs, op(*xs, p=t.p), t.p)
        if op.mode == "elementwise" and op.name != "sgn" and t.ys[0].dtype.kind == "c":
            op = op.conjugated()  # as the graph has it
        g: Any = [None if w is None else tensors([w])[0] for w in t.ws]
        g = g if op.outputs else g[0]
        for i in t.moving:
            x = op.each(g, n, i) if op.each is not None else (op.a, op.b, op.c)[i](g, n)
            if x is not None:
                tangent = numpy(dual.parts(x, k)[1])
                total += inner(
                    np.broadcast_to(vs[i], np.broadcast_shapes(vs[i].shape, tangent.shape)), tangent
                )
    return total


# ------------------------------------------------------------------------------------------------ dtypes and memory
def single_precision(case: Case, d: Draw) -> None:
    wide, t = Trial(case, d), Trial(case, d, np.float32)
    small = {np.dtype(np.float64): np.dtype(np.float32)}
    assert [y.dtype for y in t.ys] == [small.get(y.dtype, y.dtype) for y in wide.ys]
    if not t.useful():
        return
    for i, g in t.gradients()[2].items():
        assert g is None or g.raw.dtype == t.xs[i].dtype, f"the gradient of input {i}"
    for y, tangent in zip(t.ys, t.jvp(), strict=True):
        assert not moves(y) or tangent.raw.dtype == y.dtype


def ownership(case: Case, d: Draw) -> None:
    """Gradients are new arrays of the user's own: of grad(), and what backward() leaves in .grad."""
    t = Trial(case, d)
    if not t.useful():
        return
    leaves, ws, gs = t.gradients()
    others = [x.raw for x in leaves if isinstance(x, Tensor)] + [w.raw for w in ws]
    own(gs, leaves, others)
    pairs = [(y, w.detach()) for y, w in zip([y for y, w in zip(t.call(leaves), t.ws, strict=True) if w is not None],
                                             ws, strict=True)]  # fmt: skip
    backward.backward([y for y, _ in pairs], [w for _, w in pairs])
    own({i: leaves[i].grad for i in t.moving}, leaves, others)


def own(gs: dict[int, Any], leaves: list[Any], others: list[Any]) -> None:
    seen = [x for x in others if isinstance(x, np.ndarray)]
    for i, g in gs.items():
        if g is None:
            continue
        raw, x = g.raw, leaves[i]
        assert (raw.shape, raw.dtype) == (x.raw.shape, x.raw.dtype), f"the gradient of input {i}"
        if not isinstance(raw, np.ndarray) or not raw.size:
            continue
        assert raw.flags.writeable, f"the gradient of input {i} cannot be written"
        assert all(s or n < 2 for s, n in zip(raw.strides, raw.shape, strict=True)), (
            f"elements of the gradient of input {i} share memory"
        )
        for other in seen:
            assert not np.shares_memory(raw, other), f"the gradient of input {i} shares memory"
        seen.append(raw)


def undeclared(case: Case, d: Draw) -> None:
    """The node keeps what `reads` declares and nothing else; what it does not keep may change before the walk."""
    t = Trial(case, d)
    if not t.useful():
        return
    expected = t.gradients()[2]
    xs = [private(x) for x in t.xs]
    leaves = tensors(xs, t.moving)
    ys = t.call(leaves)
    row = t.op.reads[0] if t.op.each is not None else "".join(t.op.reads[i] for i in t.moving)
    node = next(y.node for y in ys if y.node is not None)
    node = edges_of(node)[0] if node.op.picks else node
    for letter in "abcxy":
        if letter not in row:
            assert getattr(node, letter, None) is None, (
                f"the node keeps {letter}, which no rule declares to read"
            )
    if not t.op.view or "y" not in row:
        for letter, x in zip("x" * len(xs) if t.op.each is not None else "abc", leaves, strict=False):
            if letter not in row and isinstance(x, Tensor):
                spoil(x.raw)
    if "y" not in row and not (t.op.view and set(row) & set("abcx")):
        for y in ys:
            spoil(y.raw)
    pairs = [(y, w) for y, w in zip(ys, t.ws, strict=True) if w is not None]
    gs = backward.grad(
        [y for y, _ in pairs], [leaves[i] for i in t.moving], tensors([w for _, w in pairs]), allow_unused=True
    )  # fmt: skip
    for g, e in zip(gs, expected.values(), strict=True):
        assert (g is None) == (e is None)
        if g is not None:
            np.testing.assert_allclose(
                numpy(g), numpy(e), 1e-11, 1e-13, err_msg="a gradient depends on a value that is not declared"
            )


def private(x: Any) -> Any:
    """A copy that can be spoilt, in the same order of memory."""
    return x.copy(order="K") if isinstance(x, np.ndarray) else x


def spoil(raw: Any) -> None:
    if isinstance(raw, np.ndarray) and raw.flags.writeable:
        raw[...] = np.nan if raw.dtype.kind in "fc" else ~raw if raw.dtype.kind == "b" else raw * 0


# ------------------------------------------------------------------------------------------------ on a simulated GPU
def on_gpu(case: Case, d: Draw, gpu: Any) -> None:
    t = Trial(case, d)
    xs = tensors(t.xs, where=gpu)
    before = device.transfer_count()
    ys = t.call(xs)
    assert case.syncs or device.transfer_count() == before, "the forward copies values between devices"
    for y, on_cpu in zip(ys, t.ys, strict=True):
        same(y, on_cpu, gpu)
    if not t.useful():
        return
    for g, on_cpu in zip(t.gradients(where=gpu)[2].values(), t.gradients()[2].values(), strict=True):
        assert (g is None) == (on_cpu is None)
        if g is not None:
            same(g, numpy(on_cpu), gpu)
    for y, w, on_cpu in zip(t.jvp(where=gpu), t.ws, t.jvp(), strict=True):
        if w is not None:
            same(y, numpy(on_cpu), gpu)


def same(x: Tensor, on_cpu: Any, gpu: Any) -> None:
    assert x.device == gpu
    assert (x.raw.shape, x.raw.dtype) == (on_cpu.shape, on_cpu.dtype)
    np.testing.assert_allclose(numpy(x), on_cpu, rtol=1e-12, atol=1e-14)
