"""The middle and the most frequent element: median, nanmedian, mode."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, public
from ..op import Op
from ..return_types import return_type
from ..storage import in_order
from ..tensor import Tensor
from .cumulative import running_max
from .dims import wrap_dim
from .extremes import check_nonempty, pair, picked_back, picked_tangent, share_back, share_tangent
from .reductions import check_keepdim


def middle(a: Any, dim: int, skip_nan: bool) -> Any:
    """The index of the median along a dimension, which is kept; of two middle ones the lower."""
    size = a.shape[dim]
    order = np.argsort(a, axis=dim, kind="stable")
    unknown = np.isnan(a) if a.dtype.kind == "f" else None
    if unknown is None:
        return order[(*[slice(None)] * dim, slice((size - 1) // 2, (size - 1) // 2 + 1))]
    missing = unknown.sum(axis=dim, keepdims=True, dtype=np.int64)
    if skip_nan:  # nan is sorted behind the numbers
        return np.take_along_axis(order, np.maximum((size - 1 - missing) // 2, 0), dim)
    index = order[(*[slice(None)] * dim, slice((size - 1) // 2, (size - 1) // 2 + 1))]
    return np.where(missing > 0, unknown.argmax(axis=dim, keepdims=True), index)


def _along(skip_nan: bool) -> Any:
    def fwd(a: Any, p: Any) -> Any:
        dim, keep = p
        if not a.ndim:
            return a.copy(), devices.zeros((), np.int64, like=a)
        index = middle(a, dim, skip_nan)
        values = np.take_along_axis(a, index, dim)
        return (values, index) if keep else (values.squeeze(dim), index.squeeze(dim))

    return fwd


def _of_all(skip_nan: bool) -> Any:
    def fwd(a: Any, p: Any) -> Any:
        if not a.size:
            return devices.full((), np.nan if a.dtype.kind == "f" else np.iinfo(a.dtype).min, a.dtype, like=a)
        flat = a.reshape(-1)
        return flat[middle(flat, 0, skip_nan)].reshape(())

    return fwd


SHARE = ("1 at the median, shared by equal ones",)
median_row = Op("median", _of_all(False), a=share_back(True), reads=("ay",), jvp=share_tangent(True), params=True,
                partials=SHARE, doc="The middle element; of two the lower.")  # fmt: skip
nanmedian_row = Op("nanmedian", _of_all(True), a=share_back(True), reads=("ay",), jvp=share_tangent(True), params=True,
                   partials=SHARE, doc="The middle element of those that are not nan.")  # fmt: skip
median_dim_row = Op(
    "median_dim", in_order(_along(False)), a=picked_back, reads=("y",), jvp=picked_tangent, params=True, outputs=True,
    node="MedianBackward1", symbol="median", partials=("1 at the index, else 0",), batch="along",
    doc="The middle along a dimension.",
)  # fmt: skip
nanmedian_dim_row = Op(
    "nanmedian_dim", in_order(_along(True)), a=picked_back, reads=("y",), jvp=picked_tangent, params=True, outputs=True,
    node="NanmedianBackward1", symbol="nanmedian", partials=("1 at the index, else 0",),
    batch="along", doc="The middle along a dimension of those that are not nan.",
)  # fmt: skip


def _mode(a: Any, p: Any) -> Any:
    """Sorted, equal elements are runs; the longest run wins, and of equally long ones the least value."""
    dim, keep = p
    if not a.ndim:
        return a.copy(), devices.zeros((), np.int64, like=a)
    size = a.shape[dim]
    ranked = np.moveaxis(np.sort(a, axis=dim), dim, -1)
    place = devices.arange(size, dtype=np.int64, like=a)
    starts = np.where(ranked[..., 1:] != ranked[..., :-1], place[1:], 0)
    first = devices.zeros(ranked.shape, np.int64, like=a)
    first[..., 1:] = starts
    longest = (place - running_max(first, a.ndim - 1)).argmax(axis=-1, keepdims=True)
    values = np.moveaxis(np.take_along_axis(ranked, longest, -1), -1, dim)
    hit = np.flip((a == values) | (a != a) & (values != values), dim)
    index = size - 1 - hit.argmax(axis=dim, keepdims=True)
    return (values, index) if keep else (values.squeeze(dim), index.squeeze(dim))


mode_row = Op(
    "mode", in_order(_mode), a=picked_back, reads=("y",), jvp=picked_tangent, params=True, outputs=True,
    partials=("1 at the index, else 0",), batch="along", doc="The most frequent element along a dimension.",
)  # fmt: skip
_median_type, _mode_type = return_type("median", "values indices"), return_type("mode", "values indices")
_nanmedian_type = return_type("nanmedian", "values indices")


def _median(name: str, whole: Op, row: Op, kind: Any, x: Tensor, dim: Any, keepdim: Any, out: Any) -> Any:
    check_tensor(name, x)
    if x.raw.dtype.kind in "bc":
        raise NotImplementedError(f"\"median_cpu\" not implemented for '{x.dtype.scalar_type}'")
    if dim is None:
        return whole(x, p=(None, False))
    check_keepdim(name, keepdim)
    d = wrap_dim(dim, x.raw.ndim, name)
    check_nonempty("median", x, (d,))
    return pair(kind, row(x, p=(d, keepdim)), out)


@public()
def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The middle element (of two the lower): of all, or along `dim` as the pair (values, indices). nan wins.

    >>> import autodiff_kernel as torch
    >>> torch.median(torch.tensor([3., 1., 2., 4.]))
    tensor(2.)
    """
    return _median("median", median_row, median_dim_row, _median_type, input, dim, keepdim, out)


@public()
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The middle element of those that are not nan: of all, or along `dim` as the pair (values, indices).

    >>> import autodiff_kernel as torch
    >>> torch.nanmedian(torch.tensor([3., float('nan'), 2.]))
    tensor(2.)
    """
    return _median("nanmedian", nanmedian_row, nanmedian_dim_row, _nanmedian_type, input, dim, keepdim, out)


@public()
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent element along `dim` (of equally frequent ones the least), and the last place where it is.

    >>> import autodiff_kernel as torch
    >>> torch.mode(torch.tensor([1, 2, 2, 1, 3])).values
    tensor(1)
    """
    check_tensor("mode", input)
    if input.raw.dtype.kind == "c":
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{input.dtype.scalar_type}'")
    check_keepdim("mode", keepdim)
    d = wrap_dim(dim, input.raw.ndim, "mode")
    check_nonempty("mode", input, (d,))
    return pair(_mode_type, mode_row(input, p=(d, keepdim)), out)
