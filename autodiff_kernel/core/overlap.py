"""May an operation write into this memory?  Not where elements share a place, or where it reads what it writes."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import explain
from .tensor import Tensor

ndarray, generic, may_share_memory = np.ndarray, np.generic, np.may_share_memory


def check_overlap(t: Tensor) -> None:
    """An expanded tensor has several elements in one place of memory: writing it would be ambiguous."""
    raw = t.raw
    if raw.__class__ is generic or not raw.ndim:
        return
    if 0 in raw.strides and raw.size and any(s == 0 and n > 1 for s, n in zip(raw.strides, raw.shape)):
        raise explain(
            RuntimeError,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation.",
            f"The tensor was stretched without a copy (expand): its strides {list(raw.strides)} step over nothing in some "
            "dimension, so a write would go to several elements at once.",
            "x = x.clone() first.",
            tensor=t,
            topic="write to expanded",
        )


def check_partial_overlap(a: Any, b: Any) -> None:
    """Reading and writing memory that overlaps in part would depend on the order: an error, where it is easy to see."""
    if a.__class__ is not ndarray or b.__class__ is not ndarray or a.base is None and b.base is None:
        return
    if not may_share_memory(a, b):
        return
    if not (a.flags.forc and b.flags.forc and a.size and b.size):
        return
    start, other = a.__array_interface__["data"][0], b.__array_interface__["data"][0]
    if start < other + b.nbytes and other < start + a.nbytes:
        if start != other or a.shape != b.shape or steps(a) != steps(b):
            raise overlap("What is read and what is written overlap in part, so")


# operations that go from place to place, and so would read some elements before and some after they were written
BY_INDEX = frozenset(
    "index_add index_copy index_fill index_put index_reduce put scatter scatter_add scatter_reduce".split()
)


def check_no_overlap(t: Tensor, others: Iterable[Any]) -> None:
    """An operation that goes by an index reads no memory that it writes, not even the tensor itself."""
    a = t.raw
    for x in others:
        if x is t:
            raise overlap("The tensor is read at one place and written at another, so")
        if shares(a, getattr(x, "raw", None)):
            raise overlap("What is read and what is written overlap, so")


def shares(a: Any, b: Any) -> bool:
    """Do two raw arrays without gaps share memory?"""
    if (
        b.__class__ is not ndarray
        or a.__class__ is not ndarray
        or b.base is None
        and a.base is None
        and a is not b
    ):
        return False
    return may_share_memory(a, b) and bool(a.size and b.size and a.flags.forc and b.flags.forc)


def overlap(why: str) -> RuntimeError:
    return explain(
        RuntimeError,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation.",
        f"{why} the result would depend on the order of the elements.",
        "compute aside and assign (x[1:] = x[1:] + x[:-1]), or clone() what is read.",
    )


def steps(a: Any) -> list[int]:
    """The strides that are ever taken: a dimension of size 1 has any."""
    return [s for s, n in zip(a.strides, a.shape) if n != 1]
