"""Indexing with tensors: places that occur twice, and whole numbers where a mask was meant."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, lines
from .related import around, operations_around, tensors_of
from .values import Values, once
from .words import Names, atom, expression, label


def counted_once(x: Any, names: Names) -> Iterator[Answer]:
    """x[i] += v where a place occurs in i more than once: it gets v only once."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in once("counted once", around(x)):
        if e.kind != "write" or e.op != "setitem" or len(tensors_of(e)) < 2:
            continue
        change = tensors_of(e)[1]  # x[i] + v, computed aside
        picked = tensors_of(change)[0] if change.kind == "write" and tensors_of(change) else None
        if picked is None or picked.name != "index" or picked.place is None or len(tensors_of(picked)) < 2:
            continue
        if (
            e.place is None
            or picked.place.line != e.place.line
            or tensors_of(picked)[0].result is not e.result
        ):
            continue
        index = values.of(tensors_of(picked)[1])
        if (
            index is None
            or index.ndim != 1
            or index.dtype.kind not in "iu"
            or len(set(index.tolist())) == index.size
        ):
            continue
        yield _once(e, change, picked, index, names)


def _once(e: Event, change: Event, picked: Event, index: Any, names: Names) -> Answer:
    twice = next(int(v) for v in index.tolist() if index.tolist().count(v) > 1)
    x, i = label(e, names), label(tensors_of(picked)[1], names)
    other = change.inputs[1] if len(change.inputs) > 1 else None
    value = label(other, names) if other.__class__ is Event else f"torch.full(({index.size},), {float(other)})" if (
        isinstance(other, (int, float))
    ) else "…"  # fmt: skip
    added = change.name in ("add", "sub")
    return Answer(
        "counted once",
        f"{e.place.text if e.place is not None else 'The line'} changed place {twice} of {x} only once, though {i} names it "
        f"{index.tolist().count(twice)} times: the places are read first, and then written.",
        lines(("written in", e)),
        f"{atom(x)}.index_add_(0, {i}, {value}{', alpha=-1' if change.name == 'sub' else ''})  # adds for each time"
        if added else "", LESSONS["in-place"], about=tuple(t for t in (e.tensor(),) if t is not None),
    )  # fmt: skip


def mask_of_numbers(x: Any, names: Names) -> Iterator[Answer]:
    """x[m] with a tensor of zeros and ones that is not bool: it picks the elements 0 and 1, and masks nothing."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in operations_around(x, "index"):
        given = tensors_of(e)
        if len(given) < 2 or not isinstance(given[0].shape, tuple) or not given[0].shape:
            continue
        index = values.of(given[1])
        if (
            index is None
            or index.dtype.kind not in "iu"
            or index.shape != given[0].shape[:1]
            or index.size < 3
        ):
            continue
        if set(index.tolist()) != {0, 1} or all(
            t is not x for t in (e.tensor(), *[i.tensor() for i in given])
        ):
            continue
        m, source = label(given[1], names), expression(e.place) or "the index"
        yield Answer(
            "numbers as a mask",
            f"{source} picks the elements 0 and 1, again and again: {m} holds whole numbers, which are places; only a bool "
            "tensor is a mask.",
            lines(("indexed in", e)), f"{label(given[0], names)}[{atom(m)}.bool()]", LESSONS["tensors"], about=(x,),
            certain=False,
        )  # fmt: skip


def flipped(x: Any, names: Names) -> Iterator[Answer]:
    """~ of a tensor of zeros and ones that is not bool: it flips bits, ~1 is -2."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in operations_around(x, "bitwise_not"):
        a = values.of(tensors_of(e)[0])
        if a is None or a.dtype.kind not in "iu" or not a.size or not np.isin(a, (0, 1)).all():
            continue
        one = (
            "254" if a.dtype == np.uint8 else "-2" if a.dtype.kind == "i" else str(np.invert(a.dtype.type(1)))
        )
        m = label(tensors_of(e)[0], names)
        yield Answer(
            "bits flipped",
            f"{expression(e.place) or '~'} flips the bits of whole numbers ({a.dtype.name}): ~1 is {one}, not 0. Only ~ of a "
            "bool tensor means 'not'.",
            lines(("flipped in", e)), f"~{atom(m)}.bool()", LESSONS["tensors"], about=(x,),
        )  # fmt: skip
