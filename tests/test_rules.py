"""Every row of the table: value, reverse mode, forward mode, second order, dtypes, honesty, and a simulated GPU.

The cases are in `rule_cases/` (see the head of its `__init__.py` for their format); a differentiable row without a
case fails here by name.  Each case is tried in every style of shape and layout (`rule_cases.STYLES`), and hypothesis
adds rows, styles and seeds of its own choice; a failure names the style and the seed, `Draw(style, seed)`.

The checks, in float64, with a random cotangent w and a random direction d:
  value      the forward against the case's NumPy reference
  vjp        <vjp(w), d> against the central difference of <w, f> along d
  jvp        <w, jvp(d)> against the same
  second     the derivative of the gradient along d: by reverse over reverse, reverse over forward and forward over
             reverse, against the central difference of the gradient
and then: float32 stays float32; the rules read what the row declares (it decides what a node keeps and what the
in-place check guards), change nothing, and give nothing away that shares memory with a saved value; and a simulated
GPU gives the CPU's numbers without a copy between devices.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_cases import STYLES, Case, Draw, all_cases

import autodiff_kernel  # noqa: F401  (fills the table)
from autodiff_kernel.core import backward, device, dual, hot
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.core.tensor import Tensor, wrap

CASES = all_cases()
EXEMPT = {
    "linalg_eig": "the phase of its vectors is free; tested with what does not depend on it",
    "floor_divide": "its rule is PyTorch's refusal",
    "heaviside": "its rule is PyTorch's refusal",
    "pick": "takes one output of a node with several; every row with several outputs goes through it",
    "stale_view": "its rule is an error message",
    "copy_slices": "its parameters are views of a live tensor; tested with in-place operations",
}
STEP = 1e-6


def everywhere(check: Callable[..., None], case: Case, *more: Any) -> None:
    """Run a check on an example of every style."""
    for style in STYLES:
        d = Draw(style, 0)
        try:
            check(case, d, *more)
        except Exception as error:
            error.add_note(f"The example was {d}.")
            raise


each_case = pytest.mark.parametrize("case", CASES, ids=str)


# ------------------------------------------------------------------------------------------------ helpers
class Trial:
    """One example of a case: its inputs, which of them are differentiated, cotangents and directions."""

    def __init__(self, case: Case, d: Draw, dtype: Any = np.float64) -> None:
        # a Draw is used up by drawing: a fresh one gives the same example to every check
        d = Draw(d.style, d.seed)
        self.case, self.op = case, TABLE[case.row]
        xs, self.p = case.example(d)
        self.xs = [cast(x, dtype) for x in xs]
        op = self.op
        ruled = [True] * len(xs) if op.each is not None else [r is not None for r in (op.a, op.b, op.c)]
        self.moving = [i for i, x in enumerate(self.xs) if moves(x) and ruled[i]]
        self.ds = {i: self.direction(i, d.rng) for i in self.moving}
        ys = self.values()
        self.ws = [random_like(y, d.rng) if moves(y) else None for y in ys]
        if sum(w is not None for w in self.ws) > 1 and d.flag():  # outputs that nobody used
            used = d.choice([k for k, w in enumerate(self.ws) if w is not None])
            self.ws = [w if k == used else None for k, w in enumerate(self.ws)]

    def direction(self, i: int, rng: np.random.Generator) -> Any:
        """A random direction in which input i may move."""
        r = random_like(self.xs[i], rng)
        return (r + r.swapaxes(-2, -1)) / 2 if self.case.symmetric else r

    def shifted(self, h: float) -> list[Any]:
        return [x + h * self.ds[i] if i in self.ds else x for i, x in enumerate(self.xs)]

    def values(self, xs: Any = None) -> list[Any]:
        """The outputs as NumPy arrays."""
        out = self.op(*tensors(self.xs if xs is None else xs), p=self.p)
        return [numpy(y) for y in (out if self.op.outputs else (out,))]

    def numeric(self) -> float:
        """The central difference of <w, f(x)> along d."""
        up, down = (
            sum(
                inner(w, y)
                for w, y in zip(self.ws, self.values(self.shifted(h)), strict=True)
                if w is not None
            )
            for h in (STEP, -STEP)
        )
        return (up - down) / (2 * STEP)

    def gradients(
        self, xs: Any = None, create_graph: bool = False, where: Any = None
    ) -> tuple[Any, Any, Any]:
        """Leaves, cotangents and gradients of the moving inputs, as Tensors."""
        leaves = tensors(self.xs if xs is None else xs, self.moving, where)
        out = self.op(*leaves, p=self.p)
        ys = list(out) if self.op.outputs else [out]
        ws = [None if w is None else tensors([w], [0], where)[0] for w in self.ws]
        pairs = [(y, w) for y, w in zip(ys, ws, strict=True) if w is not None]
        gs = backward.grad(
            [y for y, _ in pairs], [leaves[i] for i in self.moving], [w for _, w in pairs],
            create_graph=create_graph, allow_unused=True,
        )  # fmt: skip
        return leaves, [w for _, w in pairs], dict(zip(self.moving, gs, strict=True))

    def jvp(self, moving: Any = None, where: Any = None) -> list[Any]:
        """The tangents of the outputs for the directions of the moving inputs, as Tensors."""
        moving = self.moving if moving is None else moving
        xs, ds = tensors(self.xs, where=where), {i: tensors([self.ds[i]], where=where)[0] for i in moving}
        with dual.level() as k:
            out = self.op(*[dual.make(x, ds[i], k) if i in ds else x for i, x in enumerate(xs)], p=self.p)
            return [dual.parts(y, k)[1] for y in (out if self.op.outputs else (out,))]

    def useful(self) -> bool:
        return bool(self.moving) and any(w is not None for w in self.ws)


def cast(x: Any, dtype: Any) -> Any:
    return x.astype(dtype) if getattr(x, "dtype", None) == np.float64 and dtype != np.float64 else x


def moves(x: Any) -> bool:
    return getattr(x, "dtype", None) is not None and x.dtype.kind in "fc"


def random_like(x: Any, rng: np.random.Generator) -> Any:
    r = rng.normal(size=x.shape)
    return np.asarray(r + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else r).astype(x.dtype)


def inner(a: Any, b: Any) -> float:
    """The real inner product."""
    return float(np.real(np.vdot(np.asarray(a), np.asarray(b))))


def tensors(xs: Any, moving: Any = (), where: Any = None) -> list[Any]:
    """Tensors of the arrays among xs; those at the places `moving` require grad."""
    out = []
    for i, x in enumerate(xs):
        if isinstance(x, (np.ndarray, np.generic)):
            x = (
                wrap(x[()] if x.ndim == 0 else x)
                if where is None
                else wrap(device.asarray(x, x.dtype, where))
            )
            if i in moving:
                x.requires_grad_()
        out.append(x)
    return out


def numpy(x: Any) -> Any:
    return np.asarray(device.to_numpy(x.raw if isinstance(x, Tensor) else x))


def close(a: Any, b: Any, tolerance: float, scale: float = 1.0) -> None:
    assert abs(a - b) <= tolerance * (scale + abs(a) + abs(b)), f"{a} and {b} differ"


# ------------------------------------------------------------------------------------------------ the checks
def test_every_differentiable_row_has_a_case() -> None:
    have = {case.row for case in CASES} | EXEMPT.keys()
    assert sorted(name for name, op in TABLE.items() if op.differentiable and name not in have) == []


def test_every_case_names_a_row() -> None:
    assert sorted({case.row for case in CASES} - TABLE.keys()) == []


def value(case: Case, d: Draw) -> None:
    t = Trial(case, d)
    out = t.op(*tensors(t.xs), p=t.p)
    for y in out if t.op.outputs else (out,):
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
    if case.ref is None:
        return
    expected = case.ref(*t.xs) if t.p is None else case.ref(*t.xs, t.p)
    for y, e in zip(t.values(), expected if t.op.outputs else (expected,), strict=True):
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


def inner_all(ws: Any, ts: Any) -> float:
    return sum(inner(w, numpy(tangent)) for w, tangent in zip(ws, ts, strict=True) if w is not None)


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
    np.testing.assert_array_equal(numpy(y), t.values()[0])
    fast = backward.grad([y], [leaves[i] for i in t.moving], tensors(t.ws), allow_unused=True)
    for f, g in zip(fast, gs.values(), strict=True):
        if g is not None:
            np.testing.assert_array_equal(numpy(f), numpy(g))
    with dual.level() as k:
        duals = [dual.make(x, wrap(t.ds[i]), k) if i in t.ds else x for i, x in enumerate(tensors(t.xs))]
        tangent = dual.parts(method(*duals), k)[1]
    np.testing.assert_array_equal(numpy(tangent), numpy(t.jvp()[0]))


def second_order(case: Case, d: Draw) -> None:
    t = Trial(case, d)
    if not t.useful():
        return
    rng = np.random.default_rng(7)
    vs = {i: t.direction(i, rng) for i in t.moving}  # a direction for the gradient to be measured in

    def slope(xs: Any) -> float:
        return sum(inner(vs[i], numpy(g)) for i, g in t.gradients(xs)[2].items() if g is not None)

    expected = (slope(t.shifted(STEP)) - slope(t.shifted(-STEP))) / (2 * STEP)
    tolerance, scale = (
        10 * case.tolerance,
        1 + abs(slope(t.xs)) + sum(float(np.abs(v).sum()) for v in vs.values()),
    )

    leaves, ws, gs = t.gradients(create_graph=True)
    used = {i: g for i, g in gs.items() if g is not None}
    got = 0.0
    if any(g.node is not None for g in used.values()):
        live = {i: g for i, g in used.items() if g.node is not None}
        wanted = [leaves[i] for i in t.moving]
        hs = backward.grad(
            list(live.values()),
            [*wanted, *ws],
            [wrap(vs[i]) for i in live],
            allow_unused=True,
            create_graph=True,
        )
        got = sum(inner(numpy(h), t.ds[i]) for i, h in zip(t.moving, hs, strict=False) if h is not None)
        # the gradient is linear in the cotangent
        linear = sum(
            inner(numpy(h), numpy(w)) for h, w in zip(hs[len(wanted) :], ws, strict=True) if h is not None
        )
        close(linear, sum(inner(vs[i], numpy(g)) for i, g in used.items()), 1e-9, scale)
    close(got, expected, tolerance, scale)
    close(reverse_over_forward(t, vs), expected, tolerance, scale)
    if not t.op.outputs:
        close(forward_over_reverse(t, vs), expected, tolerance, scale)


def reverse_over_forward(t: Trial, vs: Any) -> float:
    """<v, d/dx <w, jvp(x; d)>>, which is the same number because second derivatives commute."""
    leaves = tensors(t.xs, t.moving)
    with dual.level() as k:
        xs = [dual.make(x, wrap(t.ds[i]), k) if i in t.ds else x for i, x in enumerate(leaves)]
        out = t.op(*xs, p=t.p)
        ts = [dual.parts(y, k)[1] for y in (out if t.op.outputs else (out,))]
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
        xs = [dual.make(x, wrap(t.ds[i]), k) if i in t.ds else x for i, x in enumerate(tensors(t.xs))]
        n = dual.values(op, xs, op(*xs, p=t.p), t.p)
        for i in t.moving:
            w = tensors(t.ws)[0]
            g = op.each(w, n, i) if op.each is not None else (op.a, op.b, op.c)[i](w, n)
            if g is not None:
                tangent = numpy(dual.parts(g, k)[1])
                total += inner(
                    np.broadcast_to(vs[i], np.broadcast_shapes(vs[i].shape, tangent.shape)), tangent
                )
    return total


def single_precision(case: Case, d: Draw) -> None:
    wide, t = Trial(case, d), Trial(case, d, np.float32)
    small = {np.dtype(np.float64): np.dtype(np.float32)}
    assert [y.dtype for y in t.values()] == [small.get(y.dtype, y.dtype) for y in wide.values()]
    if not t.useful():
        return
    for i, g in t.gradients()[2].items():
        assert g is None or g.raw.dtype == t.xs[i].dtype, f"the gradient of input {i}"
    for y, tangent in zip(t.values(), t.jvp(), strict=True):
        assert not moves(y) or tangent.raw.dtype == y.dtype


@each_case
def test_value(case: Case) -> None:
    everywhere(value, case)


@each_case
def test_vjp_and_jvp(case: Case) -> None:
    everywhere(first_order, case)


@pytest.mark.parametrize("case", [c for c in CASES if c.second], ids=str)
def test_second_order(case: Case) -> None:
    everywhere(second_order, case)


@pytest.mark.parametrize("case", [c for c in CASES if c.float32], ids=str)
def test_float32_stays_float32(case: Case) -> None:
    everywhere(single_precision, case)


@given(case=st.sampled_from(CASES), d=st.builds(Draw, st.sampled_from(STYLES), st.integers(1, 2**31)))
@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_row_on_any_example(case: Case, d: Draw) -> None:
    value(case, d)
    first_order(case, d)
    if case.second:
        second_order(case, d)
    if case.float32:
        single_precision(case, d)


# ------------------------------------------------------------------------------------------------ honesty
class Probe:
    """Saved values that note who reads them. Shapes may be read freely."""

    def __init__(self, n: Any, read: set[str]) -> None:
        self._n, self._read = n, read

    def __getattr__(self, name: str) -> Any:
        if name in ("a", "b", "c", "y", "x", "p"):
            self._read.add(name)
        return getattr(self._n, name)


def holds_arrays(p: Any) -> bool:
    if isinstance(p, (tuple, list)):
        return any(holds_arrays(x) for x in p)
    return (
        isinstance(p, dict) and holds_arrays(list(p.values())) or hasattr(p, "dtype") and hasattr(p, "shape")
    )


@pytest.mark.parametrize("row", sorted({case.row for case in CASES}))
def test_rules_read_what_is_declared_and_touch_nothing(row: str) -> None:
    observed: dict[int, set[str]] = {}
    for case in (c for c in CASES if c.row == row):
        for style in STYLES:
            for seed in range(3):
                observe(Trial(case, Draw(style, seed)), observed)
    op = TABLE[row]
    for i, read in sorted(observed.items()):
        declared = set(op.reads[0 if op.each is not None else i])
        assert read == declared, (
            f"rule {'each' if op.each else 'abc'[i]} reads {read or {}} and declares {declared or {}}"
        )


def observe(t: Trial, observed: dict[int, set[str]]) -> None:
    """Apply each rule once to raw values, note what it reads, and look whether it left everything as it was."""
    op = t.op
    if not t.useful():
        return
    raws = [x[()] if isinstance(x, np.ndarray) and not x.ndim and not op.view else x for x in t.xs]
    y = op.run(raws, t.p)
    n = dual.values(op, raws, tuple(y) if op.outputs else y, t.p)
    for i in t.moving:
        gs = [w if w is None or w.ndim else w[()] for w in t.ws]
        g: Any = gs if op.outputs else gs[0]
        saved = [v for v in (*raws, *(y if op.outputs else (y,)), *t.ws) if isinstance(v, np.ndarray)]
        before = [v.copy() for v in saved]
        read = observed.setdefault(0 if op.each is not None else i, set())
        probe = Probe(n, seen := set())
        x = op.each(g, probe, i) if op.each is not None else (op.a, op.b, op.c)[i](g, probe)
        if not holds_arrays(t.p):
            seen.discard("p")
        read |= seen
        for v, b in zip(saved, before, strict=True):
            np.testing.assert_array_equal(v, b, "the rule changed a value")
        if isinstance(x, np.ndarray) and x.size:
            for v in saved[: len(saved) - sum(w is not None and w.ndim > 0 for w in t.ws)]:
                assert not np.shares_memory(x, v), "the rule gave a saved value away"


# ------------------------------------------------------------------------------------------------ on a simulated GPU
@pytest.fixture(scope="module")
def gpu() -> Iterator[Any]:
    device.simulate(1)
    yield device.device("cuda:0")
    device.simulate(0)


def on_gpu(case: Case, d: Draw, gpu: Any) -> None:
    t = Trial(case, d)
    xs = tensors(t.xs, where=gpu)
    before = device.transfer_count()
    out = t.op(*xs, p=t.p)
    assert case.syncs or device.transfer_count() == before, "the forward copies values between devices"
    for y, on_cpu in zip(out if t.op.outputs else (out,), t.values(), strict=True):
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


@pytest.mark.parametrize("case", [c for c in CASES if c.gpu], ids=str)
def test_simulated_gpu(case: Case, gpu: Any) -> None:
    everywhere(on_gpu, case, gpu)


def same(x: Tensor, on_cpu: Any, gpu: Any) -> None:
    assert x.device == gpu
    assert (x.raw.shape, x.raw.dtype) == (on_cpu.shape, on_cpu.dtype)
    np.testing.assert_allclose(numpy(x), on_cpu, rtol=1e-12, atol=1e-14)
