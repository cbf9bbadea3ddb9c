"""Forward mode exists for every row of the table with a derivative and for every public name, and is right.

A tangent must equal the central difference, and the result of reverse mode applied twice: J v is the gradient for u of
<v, Jᵀ u>, because Jᵀ u is linear in u. Reverse mode itself is held to PyTorch's answers (data/forward.json, written by
record_forward.py), for real arguments and, where PyTorch differentiates them, for complex ones.
"""

import json
import pathlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import forward_cases
import numpy as np
import pytest
from forward_cases import (
    array,
    as_function,
    as_in_place,
    as_method,
    constants,
    direction,
    evaluate,
    items,
    slope,
    used,
    variables,
    weights,
)
from rule_cases import Case, Draw, all_cases
from rule_trial import STEP, Trial, moves, numpy, tensors

import autodiff_kernel as torch
from autodiff_kernel.core import backward
from autodiff_kernel.core.api import FUNCTIONS, METHODS
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.core.tensor import wrap

REFUSED = {"floor_divide", "heaviside", "stale_view"}  # their rule is an error message


# ------------------------------------------------------------------------------------------------ the table
def test_every_row_has_a_forward_mode() -> None:
    rows = {name: op for name, op in TABLE.items() if op.differentiable}
    assert len(rows) > 240
    assert [name for name, op in rows.items()
            if op.jvp is None and op.mode not in ("elementwise", "linear", "joint")] == []  # fmt: skip


@pytest.mark.parametrize("case", [c for c in all_cases() if TABLE[c.row].differentiable], ids=str)
def test_rows(case: Case) -> None:
    for style in ("plain", "0-d", "broadcast", "transposed"):
        check_row(Trial(case, Draw(style, 5)))


def check_row(t: Trial) -> None:
    if not t.moving:
        return
    tangents = [numpy(x) for x in t.jvp()]
    up, down = (t.values(t.shifted(h)) for h in (STEP, -STEP))
    for y, tangent, a, b in zip(t.ys, tangents, up, down, strict=True):
        if moves(y):
            assert (tangent.shape, tangent.dtype) == (y.shape, y.dtype)
            agree(tangent, (a - b) / (2 * STEP), 10 * t.case.tolerance)
    for tangent, again in zip(tangents, twice_reverse(t.call, t.xs, t.moving, t.ds), strict=True):
        if again is not None:
            agree(tangent, again, 1e-9)


def agree(a: Any, b: Any, tolerance: float) -> None:
    scale = 1 + max(np.abs(a).max(initial=0), np.abs(b).max(initial=0))
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale)


def twice_reverse(f: Callable[[list[Any]], list[Any]], xs: Any, moving: Any, ds: Any) -> list[Any]:
    """J d for each output, from the gradient of a gradient; None for one without a graph."""
    leaves = tensors(xs, moving)
    ys = f(leaves)
    us = [tensors([np.ones(y.shape, y.raw.dtype)], [0])[0] if y.node is not None else None for y in ys]
    pairs = [(y, u) for y, u in zip(ys, us, strict=True) if u is not None]
    gs = backward.grad([y for y, _ in pairs], [leaves[i] for i in moving], [u for _, u in pairs],
                       create_graph=True, allow_unused=True)  # fmt: skip
    linear = [(g, wrap(np.asarray(ds[i])[()])) for i, g in zip(moving, gs, strict=True)
              if g is not None and g.node is not None]  # fmt: skip
    if not linear:
        return [None if u is None else np.zeros(u.shape, u.raw.dtype) for u in us]
    out = iter(
        backward.grad(
            [g for g, _ in linear], [u for _, u in pairs], [d for _, d in linear], allow_unused=True
        )
    )
    found = [None if u is None else next(out) for u in us]
    return [
        None if u is None else np.zeros(u.shape, u.raw.dtype) if g is None else numpy(g)
        for u, g in zip(us, found, strict=True)
    ]


@pytest.mark.parametrize("row", [n for n, op in TABLE.items() if op.types and op.b is not None])
def test_tangents_follow_promotion(row: str) -> None:
    """Inputs of different dtypes are cast first, and so are their tangents."""
    for case in (c for c in all_cases() if c.row == row):
        t = Trial(case, Draw("plain", 5))
        if len(t.moving) < 2:
            continue
        for narrow in t.moving:
            mixed = Trial(case, Draw("plain", 5))
            if mixed.xs[narrow].dtype != np.float64:
                continue
            mixed.xs[narrow] = mixed.xs[narrow].astype(np.float32)
            mixed.ds[narrow] = mixed.ds[narrow].astype(np.float32)
            for a, b in zip(mixed.jvp(), t.jvp(), strict=True):
                assert a.raw.dtype == b.raw.dtype
                agree(numpy(a), numpy(b), 1e-5)
            for i, g in mixed.gradients()[2].items():
                assert g is None or g.raw.dtype == mixed.xs[i].dtype


# ------------------------------------------------------------------------------------------------ the public names
def test_every_public_name_is_listed() -> None:
    """A new name needs a line in CALLS or a reason in WITHOUT (forward_cases.py)."""
    listed = {name for names, _, _ in items() for name in names}
    without = {name for names in forward_cases.WITHOUT.values() for name in names.split()}
    assert listed & without == set()
    expressions = " ".join(text for names, _, text in items() if not names)
    known = listed | without | OPERATORS
    assert [name for name in public_names()
            if not {name, name.removesuffix("_")} & known and f".{name}(" not in expressions] == []  # fmt: skip


OPERATORS = {f"__{name}__" for name in """abs add getitem iadd imatmul imod imul ipow isub itruediv matmul mod mul neg pos
    pow radd rmatmul rmod rmul rpow rsub rtruediv rdiv setitem sub truediv""".split()}  # fmt: skip


def public_names() -> list[str]:
    torch.Tensor  # noqa: B018  (loads the names)
    functional = [f"F.{name}" for name in torch.nn.functional.__all__]
    linalg = [f"linalg.{name}" for name in torch.linalg.__all__ if name != "LinAlgError"]
    fft = [f"fft.{name}" for name in torch.fft.__all__]
    return sorted({*FUNCTIONS, *METHODS, *functional, *linalg, *fft})


@cache
def recorded() -> dict[str, Any]:
    return dict(
        json.loads((pathlib.Path(__file__).parent / "data" / "forward.json").read_text(encoding="utf-8"))
    )


def test_every_call_was_recorded() -> None:
    assert list(recorded()) == [call.text for call in forward_cases.functions()]


def differentiated() -> list[tuple[str, bool]]:
    return [
        (call.text, complex_too)
        for call in forward_cases.functions()
        for complex_too in (False, True)
        if not complex_too or isinstance(recorded()[call.text][True], float)
    ]


@pytest.mark.parametrize(
    ("text", "complex_too"), differentiated(), ids=lambda v: {True: "complex", False: "real"}.get(v, v)
)
def test_public_names(text: str, complex_too: bool) -> None:
    arrays = {k: v for k, v in variables(complex_too).items() if k in used(text)}
    ds = {k: direction(k, v) for k, v in arrays.items()}
    tolerance = (
        1e-2 if "half" in text else 2e-5 if "float()" in text or "32" in text or "cfloat" in text else 1e-8
    )
    f = function(text)

    expected = recorded()[text][complex_too]
    backwards = slope(text, torch, complex_too)
    if isinstance(expected, float):
        assert backwards == pytest.approx(expected, rel=tolerance, abs=tolerance)

    primals, tangents = (tuple(map(torch.from_numpy, part.values())) for part in (copied(arrays), copied(ds)))
    ys, ts = torch.func.jvp(lambda *xs: tuple(f(list(xs))), primals, tangents)
    ws = weights([array(y) for y in ys])
    forwards = sum(forward_cases.inner(w, array(t)) for w, t in zip(ws, ts, strict=True))
    assert forwards == pytest.approx(backwards, rel=10 * tolerance, abs=10 * tolerance)

    names = list(arrays)
    with_steps = [[torch.from_numpy(np.asarray(arrays[k] + h * ds[k])) for k in names] for h in (STEP, -STEP)]
    if tolerance == 1e-8:  # single precision is too coarse for differences
        for t, a, b in zip(ts, *(f(xs) for xs in with_steps), strict=True):
            agree(array(t), (array(a) - array(b)) / (2 * STEP), 2e-5)
    again = twice_reverse(f, list(arrays.values()), range(len(names)), list(ds.values()))
    for t, g in zip(ts, again, strict=True):
        if g is not None:
            agree(array(t), g, 10 * tolerance)


@pytest.mark.parametrize(
    ("text", "complex_too"), differentiated(), ids=lambda v: {True: "complex", False: "real"}.get(v, v)
)
def test_second_derivatives_of_public_names(text: str, complex_too: bool) -> None:
    """The gradient's derivative along the directions: reverse over reverse and forward over reverse."""
    if re.search("half|float|32", text):
        return  # too coarse for differences
    arrays = {k: v for k, v in variables(complex_too).items() if k in used(text)}
    ds = [torch.from_numpy(np.array(direction(k, v))) for k, v in arrays.items()]
    leaves = [torch.from_numpy(np.array(v)).requires_grad_() for v in arrays.values()]
    f = function(text)
    ws = [torch.from_numpy(np.array(w)) for w in weights([array(y) for y in f(leaves)])]

    def scalar(*xs: Any) -> Any:
        parts = [(y * w.to(y.dtype).conj()) for y, w in zip(f(list(xs)), ws, strict=True)]
        return torch.stack([p.real.sum().to(torch.float64) for p in parts]).sum()

    def moved(h: float) -> list[Any]:
        return [torch.from_numpy(np.asarray(v + h * direction(k, v))) for k, v in arrays.items()]

    gradient = torch.func.grad(scalar, tuple(range(len(leaves))))
    up, down = gradient(*moved(STEP)), gradient(*moved(-STEP))
    expected = [(array(a) - array(b)) / (2 * STEP) for a, b in zip(up, down, strict=True)]
    forwards = torch.func.jvp(gradient, tuple(x.detach() for x in leaves), tuple(ds))[1]
    for a, b in zip(forwards, expected, strict=True):
        agree(array(a), b, 1e-4)
    value = scalar(*leaves)
    if not value.requires_grad:
        return
    gs = torch.autograd.grad(value, leaves, create_graph=True, allow_unused=True, materialize_grads=True)
    if not any(g.requires_grad for g in gs):
        assert all(np.abs(b).max(initial=0) < 1e-4 for b in expected)
        return
    # <v, H d> for a random v is <H v, d>: H is symmetric
    vs = [
        torch.from_numpy(np.array(forward_cases.random_like(v, 300 + i)))
        for i, v in enumerate(arrays.values())
    ]
    live = [(g, v) for g, v in zip(gs, vs, strict=True) if g.requires_grad]
    hs = torch.autograd.grad([g for g, _ in live], leaves, [v for _, v in live], allow_unused=True)
    backwards = sum(
        forward_cases.inner(array(h), array(d)) for h, d in zip(hs, ds, strict=True) if h is not None
    )
    forwards = sum(forward_cases.inner(array(a), array(v)) for a, v in zip(forwards, vs, strict=True))
    assert backwards == pytest.approx(forwards, rel=1e-7, abs=1e-7)


def copied(arrays: dict[str, Any]) -> dict[str, Any]:
    return {k: np.array(v) for k, v in arrays.items()}


def function(text: str) -> Callable[[list[Any]], list[Any]]:
    """The call as a function of the list of its variables."""
    names = used(text)
    return lambda xs: evaluate(text, torch, {**constants(torch), **dict(zip(names, xs, strict=True))})


def other_forms() -> list[tuple[str, str]]:
    """(form, call) for the methods and in-place forms that exist besides the functions."""
    out = []
    for names, form, arguments in items():
        for name in names:
            if name in forward_cases.METHODS_ONLY or form in ("function", "method", "property"):
                continue
            if name in METHODS:
                out.append((as_method(name, arguments), as_function(name, arguments)))
            if name + "_" in METHODS and form != "new":
                out.append((as_in_place(name, arguments), as_function(name, arguments)))
    return out


@pytest.mark.parametrize(("form", "call"), other_forms(), ids=lambda v: v)
def test_methods_and_forms_in_place(form: str, call: str) -> None:
    """They have the function's tangent, and its gradient."""
    arrays = {k: v for k, v in variables().items() if k in used(call)}
    ds = {k: direction(k, v) for k, v in arrays.items()}
    tangents = []
    for text in (call, form):
        f = function(text)
        xs, vs = (tuple(map(torch.from_numpy, part.values())) for part in (copied(arrays), copied(ds)))
        tangents.append(torch.func.jvp(lambda *xs, f=f: tuple(f(list(xs))), xs, vs)[1])
    for a, b in zip(*tangents, strict=True):
        agree(array(a), array(b), 1e-12)
    assert slope(form, torch, False) == pytest.approx(slope(call, torch, False), rel=1e-9, abs=1e-12)
