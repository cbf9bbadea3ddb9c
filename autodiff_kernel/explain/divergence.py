"""Updates that ran away: each step of a training made the parameter larger, until it overflowed."""

import ast
from typing import Any, NamedTuple

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event

from . import rewrite
from .related import Whole, tensors_of
from .words import Names, label, number

NEAR = 60  # events between an update and the overflow


class Runaway(NamedTuple):
    """The update at fault, its rounds that are known, and the largest values before and after them."""

    update: Event
    rounds: int
    first: float
    last: float


def runaway(e: Event) -> Runaway | None:
    """Did the values that met in e come from an update in place that made them larger with every round?"""
    update = _update_before(e)
    if update is None:
        return None
    known = [
        _size(w) for w in journal.LOG.of_kind("write") if w.result is update.result and w.spot == update.spot
    ]
    sizes = [s for s in known if s is not None and np.isfinite(s)]
    if (
        len(sizes) < 4
        or not all(a < b for a, b in zip(sizes[-4:], sizes[-3:]))
        or sizes[-1] < 100 * min(sizes)
    ):
        return None
    start = max(i for i in range(len(sizes)) if i == 0 or sizes[i] < sizes[i - 1])
    return Runaway(update, len(sizes) - start, sizes[start], sizes[-1])


def _update_before(e: Event) -> Event | None:
    """The nearest write in place of something that requires grad, among what led to e."""
    whole, waiting, seen = Whole(), [e], 0
    while waiting and seen < NEAR:
        e = whole(waiting.pop(0))
        seen += 1
        if e.kind == "write" and e.off is not None or e.kind == "write" and e.tracked:
            return e
        waiting += tensors_of(e)
    return None


def _size(w: Event) -> float | None:
    return None if w.value is None else float(np.max(np.abs(w.value), initial=0.0))


def told(r: Runaway, names: Names) -> str:
    """The finding as a part of a sentence."""
    return (
        f"the updates ran away: {r.rounds} rounds of {r.update.place.text if r.update.place else 'the update'} took "
        f"{label(r.update, names)} from {number(float(f'{r.first:.3g}'))} to {number(float(f'{r.last:.3g}'))}"
    )


def smaller_step(r: Runaway, names: Names) -> str:
    """The update with a tenth of the step."""
    source = rewrite.Source(r.update.place)
    line = source.statement
    factors: list[Any] = [n for n in ast.walk(line) if isinstance(n, ast.BinOp)] if line is not None else []
    for product in factors:
        for side in (product.left, product.right):
            if isinstance(side, ast.Constant) and isinstance(side.value, float):
                return f"{source.with_part(side, number(side.value / 10))}  # a smaller step"
            value = (names or {}).get(side.id) if isinstance(side, ast.Name) else None
            if isinstance(side, ast.Name) and isinstance(value, float):
                return f"{side.id} = {number(value / 10)}  # a smaller step"
    return ""
