"""Batching of what layers and losses are made of."""

import math
from typing import Any

from ..batched import one_by_one
from ..op import TABLE, Op
from .elementwise import everywhere, word


@word("compared")
def compared(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """A loss of two tensors of one shape: element by element, then each sample's own mean or sum."""
    reduction, number = p
    y = op(*everywhere(xs, batched, size), p=("none", number))
    if reduction == "none":
        return y
    shape = y.raw.shape[1:]
    total = TABLE["sum"](y, p=(tuple(range(1, 1 + len(shape))), False)) if shape else y
    if reduction == "sum":
        return total
    count = math.prod(shape)
    return total / count if count else total * math.nan


@word("standardize")
def standardize(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The mean and the deviation are those of one sample: all dimensions move on by one."""
    dims, eps = p
    return op(xs[0], p=(tuple(d + (d >= 0) for d in dims), eps))


@word("rows")
def rows(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Rows of one matrix for all samples' numbers; not if each has its matrix, or counts how often a number occurs."""
    return one_by_one(op, xs, batched, p, size) if batched[0] or p[2] else op(*xs, p=p)
