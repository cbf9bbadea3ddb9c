"""Where values are among others: searchsorted, bucketize, isin, unique."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..errors import explain
from ..meeting import NUMBERS
from ..op import Op
from ..tensor import Tensor, fresh, wrap
from .dims import wrap_dim

ndarray = np.ndarray


# ------------------------------------------------------------------------------------------------ searchsorted
def _search(a: Any, b: Any, p: Any) -> Any:
    right, dtype = p
    side: Any = "right" if right else "left"
    if a.ndim == 1:
        return np.searchsorted(a, b, side=side).astype(dtype)
    out = devices.zeros(b.shape, dtype, like=b)
    if a.__class__ is ndarray:
        for row in np.ndindex(*a.shape[:-1]):
            out[row] = np.searchsorted(a[row], b[row], side=side)
        return out
    # how many boundaries are not above; nan is above all
    a, b = a.reshape((*a.shape[:-1], 1, a.shape[-1])), b.reshape((*b.shape, 1))
    below = ~(a > b) if right else ~(a >= b)
    return below.sum(-1).astype(dtype)


search_row: Op = Op(
    "searchsorted",
    _search,
    params=True,
    symbol="bin",
    batch="search",
    doc="Where values would go into sorted ones.",
)


def _side(name: str, right: bool, side: Any) -> bool:
    if side is None:
        return bool(right)
    if side not in ("left", "right"):
        raise RuntimeError(f"torch.{name}(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"torch.{name}(): side and right can't be set to opposites, got side of left while right was True"
        )
    return bool(side == "right")


def as_value(value: Any, like: Tensor, name: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, NUMBERS):
        check_tensor(name, value, "input", 2)
    return wrap(devices.asarray(value, None, like=like.raw))


@public(method=False)
def searchsorted(sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
                 sorter: Any = None, out: Any = None) -> Tensor:  # fmt: skip
    """Where each value of `input` would go into a sorted sequence (along the last dimension), as int64 indices.

    A value that occurs goes before its equals, or behind them with `right`.  `sorter` gives the order of a sequence
    that is not sorted.

    >>> import autodiff_kernel as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([2, 3]))
    tensor([1, 1])
    """
    check_tensor("searchsorted", sorted_sequence, "sorted_sequence")
    behind = _side("searchsorted", right, side)
    value = as_value(input, sorted_sequence, "searchsorted")
    a, b = sorted_sequence.raw, value.raw
    if not a.ndim or a.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise explain(
            RuntimeError,
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(a.shape)} and "
            "input value tensor "
            f"{list(b.shape)}",
        )
    if sorter is not None:
        if sorter.raw.shape != a.shape:
            raise RuntimeError(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                f"{list(a.shape)} and got sorter tensor {list(sorter.raw.shape)}"
            )
        if sorter.raw.dtype != np.int64:
            raise RuntimeError(
                f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar_type}"
            )
        sorted_sequence = wrap(np.take_along_axis(a, sorter.raw, -1))
    dtype = np.dtype(np.int32 if out_int32 else np.int64)
    return into(out, search_row(sorted_sequence, value, p=(behind, dtype)))


@public()
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Any = None
) -> Tensor:
    """The number of the interval between sorted `boundaries` (1-D) in which each element lies.

    Element x is in interval i if boundaries[i-1] < x <= boundaries[i]; with `right`, if
    boundaries[i-1] <= x < boundaries[i].

    >>> import autodiff_kernel as torch
    >>> torch.bucketize(torch.tensor([0.5, 1., 9.]), torch.tensor([1., 2., 3.]))
    tensor([0, 0, 3])
    """
    check_tensor("bucketize", boundaries, "boundaries", 2)
    if boundaries.raw.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.raw.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


# ------------------------------------------------------------------------------------------------ isin
def _isin(a: Any, b: Any, p: bool) -> Any:
    found = np.isin(a, b)
    return ~found if p else found


isin_row: Op = Op("isin", _isin, params=True, symbol="∈", doc="Whether each element is one of the others.")


@public(method=False)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each of `elements` is among `test_elements` (or is not, with `invert`); one of them may be a number.

    >>> import autodiff_kernel as torch
    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    like = elements if isinstance(elements, Tensor) else test_elements
    if not isinstance(like, Tensor):
        raise TypeError(
            f"isin() received an invalid combination of arguments - got ({type(elements).__name__}, "
            f"{type(test_elements).__name__}), but expected at least one Tensor"
        )
    return isin_row(as_value(elements, like, "isin"), as_value(test_elements, like, "isin"), p=bool(invert))


# ------------------------------------------------------------------------------------------------ unique
@public()
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Any:  # fmt: skip
    """The different elements in order (or the different parts along `dim`).

    With `return_inverse` and `return_counts` a tuple: also for each element the index of its equal among them, and
    how often each occurs.

    >>> import autodiff_kernel as torch
    >>> torch.unique(torch.tensor([2, 1, 2]), return_counts=True)
    (tensor([1, 2]), tensor([1, 2]))
    """
    check_tensor("unique", input)
    raw = input.raw
    axis = None if dim is None else wrap_dim(dim, raw.ndim, "unique")
    values, inverse, counts = np.unique(
        raw, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    inverse = inverse.reshape(raw.shape if axis is None else (-1,))
    return chosen((values, inverse, counts), return_inverse, return_counts)


def chosen(results: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = (fresh(r if r.ndim else r[()]) for r in results)
    more = (*[inverse] * bool(return_inverse), *[counts] * bool(return_counts))
    return (values, *more) if more else values


@public()
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Any:  # fmt: skip
    """The elements (or parts along `dim`) without repetitions of neighbours.

    >>> import autodiff_kernel as torch
    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    check_tensor("unique_consecutive", input)
    raw = input.raw
    lines = (
        raw.reshape(-1) if dim is None else np.moveaxis(raw, wrap_dim(dim, raw.ndim, "unique_consecutive"), 0)
    )
    count = lines.shape[0]
    flat = lines.reshape((count, -1)) if count else lines
    first = devices.ones((count,), np.bool_, like=raw)
    if count > 1:
        first[1:] = (flat[1:] != flat[:-1]).any(1)
    starts = np.nonzero(first)[0]
    ends = np.concatenate([starts[1:], devices.full((min(count, 1),), count, np.int64, like=raw)])
    inverse = first.astype(np.int64).cumsum() - 1
    values = lines[starts] if dim is None else np.moveaxis(lines[starts], 0, dim)
    inverse = inverse.reshape(raw.shape) if dim is None else inverse
    return chosen((values, inverse, ends - starts), return_inverse, return_counts)
