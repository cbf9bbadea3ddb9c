"""Kinks: where a function has no one slope, and which one backward took.

At a kink every slope between the left and the right one is a subgradient, and libraries choose by convention.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.core.trail import Passed

from .answer import LESSONS, Answer, lines
from .history import fact
from .values import Array, Backwards, Values
from .words import Names, expression, label, number, operation, owner_of

# Of each operation with a kink: the slopes to the left and to the right of it, in words.
SLOPES = {
    "relu": "0 on the left and 1 on the right", "abs": "-1 on the left and 1 on the right",
    "maximum": "1 for the greater operand and 0 for the other", "minimum": "1 for the smaller operand and 0 for the other",
    "fmax": "1 for the greater operand and 0 for the other", "fmin": "1 for the smaller operand and 0 for the other",
    "clamp": "0 outside the limits and 1 between them", "clamp_one_sided": "0 outside the limit and 1 inside",
    "hardtanh": "0 outside the limits and 1 between them", "leaky_relu": "different ones on the two sides",
    "max": "1 for the greatest element and 0 for the others", "min": "1 for the smallest element and 0 for the others",
    "amax": "1 for the greatest element and 0 for the others", "amin": "1 for the smallest element and 0 for the others",
    "max_dim": "1 for the greatest element and 0 for the others",
    "min_dim": "1 for the smallest element and 0 for the others",
    "clamp_min_tensor": "0 below the limit and 1 above", "clamp_max_tensor": "1 below the limit and 0 above",
    "sign": "0 on both sides", "threshold": "0 below the threshold and 1 above",
}  # fmt: skip
NEAR = 3  # operations away: a kink further on says little about x
_RELATIVES = ("max", "min", "amax", "amin", "max_dim", "min_dim", "maximum", "minimum", "fmax", "fmin")


def kinks(x: Any, names: Names) -> Iterator[Answer]:
    """Where the newest backward to x went exactly through a kink, and which slope it took there."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    backs = Backwards(values)
    e, walk = _whose(x, names)
    if e is None:
        return
    for step in _on_the_way(e, backs, walk):
        found = tie(step, values)
        if found is not None:
            slope = _slope(step, found, backs)
            if slope is not None:
                yield _told(step, found, slope, values, names)


def _whose(x: Tensor, names: Names) -> tuple[Event | None, int | None]:
    """The tensor whose gradient is asked for, and in which walk."""
    e = fact(x)
    if e is not None and e.kind == "made" and e.op in ("grad", "autograd.grad") and e.inputs:
        return e.inputs[0], e.p if e.op == "grad" else None
    owner = owner_of(x, names)
    return getattr(x if owner is None else owner, "fact", None), None


def _on_the_way(e: Event, backs: Backwards, walk: int | None) -> list[Passed]:
    """The steps of the walk shortly before e that belong to operations with a kink."""
    steps = backs.into(e, walk)
    found: dict[int, Passed] = {}
    for _ in range(NEAR):
        found |= {id(s): s for s in steps if getattr(s.event.op, "name", "") in SLOPES}
        steps = [above for s in steps for above in backs.onto(s)][:100]
    return list(found.values())


def tie(step: Passed, values: Values) -> tuple[int, ...] | None:
    """The first element that lies exactly at the kink; None if there is none."""
    e, row = step.event, step.event.op.name
    xs = values.inputs(e)
    if xs is None or not xs:
        return None
    a = xs[0]
    if row in ("relu", "abs", "leaky_relu", "sign"):
        marks = a == 0
    elif row in ("maximum", "minimum", "fmax", "fmin", "clamp_min_tensor", "clamp_max_tensor"):
        marks = np.equal(*np.broadcast_arrays(xs[0], xs[1]))
    elif row in ("clamp", "clamp_one_sided", "hardtanh", "threshold"):
        limits = [
            v
            for v in (e.p if isinstance(e.p, tuple) else (e.p,))
            if isinstance(v, (int, float)) and v is not True
        ]
        marks = np.zeros(a.shape, bool)
        for v in limits:
            marks = marks | (a == v)
    else:
        marks = _shared_extremes(e, a)
        if marks is None:
            return None
    return (tuple(int(i) for i in np.argwhere(marks)[0]) if marks.ndim else ()) if marks.any() else None


def _shared_extremes(e: Event, a: Array) -> Array | None:
    """Where an extreme is reached more than once."""
    axis = e.p[0] if isinstance(e.p, tuple) else e.p
    pick = np.max if e.op.name.endswith(("max", "max_dim")) else np.min
    try:
        marks = a == pick(a, axis=axis, keepdims=True)
    except (TypeError, ValueError):
        return None
    return marks & (marks.sum(axis=axis, keepdims=True) > 1)


def _slope(step: Passed, index: tuple[int, ...], backs: Backwards) -> float | None:
    """The slope that backward took: what came out over what went in."""
    x, g = backs.gradient(step), backs.cotangent(step)
    if x is None:
        return None
    if step.event.op.name in ("max_dim", "min_dim") or g is None:
        g = np.asarray(x.sum()) if x.any() else None
    if g is None:
        return None
    if g.shape == x.shape and len(index) == x.ndim:
        over, out = g[index], x[index]
    else:
        over, out = (g.ravel()[0] if g.size == 1 else None), (x[index] if len(index) == x.ndim else None)
    return None if over is None or out is None or over == 0 else float(out / over)


def _told(step: Passed, index: tuple[int, ...], slope: float, values: Values, names: Names) -> Answer:
    e, row = step.event, step.event.op.name
    xs = values.inputs(e) or []
    source, what = expression(e.place), operation(e).removesuffix("_one_sided").removesuffix("_dim")
    source = (source if what in source else f"{what} (in {source})") if source else what
    v = number(xs[0][index] if len(index) == xs[0].ndim and xs[0].ndim else xs[0].ravel()[0])
    if row in ("maximum", "minimum", "fmax", "fmin"):
        at_ = f"both operands are {v}"
    elif row in _RELATIVES:
        at_ = f"several elements are {v}, the extreme"
    else:
        at_ = f"{label(e.inputs[0], names) if e.inputs[0].__class__ is Event else 'the input'} is {v}"
    return Answer(
        "kink",
        f"{source} was differentiated exactly at its kink: {at_}, and there the slopes are {SLOPES[row]}; backward took "
        f"{number(slope)}, which is a convention.",
        lines(("computed in", e)), "", LESSONS["derivatives"],
        (
            "at 0: relu takes 0, abs 0, clamp(min=0) 1, torch.maximum(x, 0) 1/2",
            "equal extremes: max() and amax() share the slope between them, max(dim) gives it to one",
        ),
    )  # fmt: skip
