"""Sorting: sort, argsort, msort, topk, kthvalue.  nan counts as the largest number, as in PyTorch."""

from typing import Any

import numpy as np

from .. import device as devices
from .. import formats
from ..api import check_tensor, into, into_another, public
from ..errors import explain
from ..op import TABLE, Op
from ..return_types import return_type
from ..tensor import Tensor
from .along import add_along, take_along
from .dims import wrap_dim

Sorted = return_type("sort", "values indices")
Top = return_type("topk", "values indices")
Kth = return_type("kthvalue", "values indices")
FEW = 1000  # up to this many elements, sorting all is as fast as choosing the top ones


# ------------------------------------------------------------------------------------------------ on raw arrays
def ranking(a: Any, dim: int, descending: bool) -> Any:
    """The indices that sort a along a dimension; equal elements keep their order."""
    if not descending:
        return np.argsort(a, axis=dim, kind="stable")
    # backwards twice: equal elements keep their order in descending sorts too
    order = np.argsort(np.flip(a, dim), axis=dim, kind="stable")
    return a.shape[dim] - 1 - np.flip(order, dim)


def refuse_complex(a: Any) -> None:
    if a.dtype.kind == "c":
        raise RuntimeError("Sort does not support complex dtypes on CPU")


def single(a: Any) -> tuple[Any, Any]:
    """The answer for a tensor of 0 dimensions: itself, at 0."""
    return a.copy(), devices.zeros((), np.int64, like=a)


def _sort(a: Any, p: Any) -> Any:
    refuse_complex(a)
    if not a.ndim:
        return single(a)
    order = ranking(a, *p)
    both = np.take_along_axis(a, order, p[0]), order
    return both if a.flags.c_contiguous else tuple([formats.laid_as(a, y) for y in both])


def _top(a: Any, p: Any) -> Any:
    dim, k, largest, in_order = p
    if not a.ndim:
        return single(a)
    if a.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    refuse_complex(a)
    n = a.shape[dim]
    if n <= FEW or k == n or not k:
        order = ranking(a, dim, largest)[(*[slice(None)] * dim, slice(k))]
    else:
        cut = slice(n - k, None) if largest else slice(k)
        chosen = np.argpartition(a, n - k if largest else k - 1, axis=dim)[(*[slice(None)] * dim, cut)]
        within = ranking(np.take_along_axis(a, chosen, dim), dim, largest)
        order = np.take_along_axis(chosen, within, dim) if in_order else chosen
    return np.take_along_axis(a, order, dim), order


def _kth(a: Any, p: Any) -> Any:
    dim, k, keep = p
    if not a.ndim:
        return single(a)
    order = ranking(a, dim, False)[(*[slice(None)] * dim, slice(k - 1, k))]
    values = np.take_along_axis(a, order, dim)
    return (values, order) if keep else (values.squeeze(dim), order.squeeze(dim))


# ------------------------------------------------------------------------------------------------ rows
def _back(g: Any, n: Any) -> Any:
    return add_along(g[0], n.y[1], p=(n.p[0], n.sa)) if n.sa else g[0]


def _tangent(ts: Any, n: Any) -> Any:
    return take_along(ts[0], n.y[1], p=n.p[0]) if n.sa else ts[0], None


def _kept(n: Any) -> tuple[int, ...]:
    return (*n.sa[: n.p[0]], 1, *n.sa[n.p[0] + 1 :])


def _kth_back(g: Any, n: Any) -> Any:
    if not n.sa:
        return g[0]
    reshape = TABLE["reshape"]
    return add_along(reshape(g[0], p=_kept(n)), reshape(n.y[1], p=_kept(n)), p=(n.p[0], n.sa))


def _kth_tangent(ts: Any, n: Any) -> Any:
    if not n.sa:
        return ts[0], None
    reshape = TABLE["reshape"]
    t = take_along(ts[0], reshape(n.y[1], p=_kept(n)), p=n.p[0])
    return reshape(t, p=tuple(n.sy[0])), None


# p begins with the dimension
sort_row: Op = Op(
    "sort", _sort, a=_back, reads=("y",), jvp=_tangent, params=True, outputs=True, symbol="sort",
    partials=("1 at the index it came from",), latex=r"\mathrm{{sort}}({a})",
    batch="along", doc="The elements in order along a dimension, and the indices they had.",
)  # fmt: skip
topk_row: Op = Op(
    "topk", _top, a=_back, reads=("y",), jvp=_tangent, params=True, outputs=True, symbol="topk",
    partials=("1 at the index it came from",), latex=r"\mathrm{{topk}}({a})",
    batch="along", doc="The k largest (or smallest) elements along a dimension, and their indices.",
)  # fmt: skip
kthvalue_row: Op = Op(
    "kthvalue", _kth, a=_kth_back, reads=("y",), jvp=_kth_tangent, params=True, outputs=True, symbol="kthvalue",
    partials=("1 at the index it came from",), latex=r"{a}_{{(k)}}",
    batch="along", doc="The k-th smallest element along a dimension, and its index.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ public forms
def named(kind: Any, results: Any, out: Any) -> Any:
    """The results as PyTorch's named tuple, written into `out` if that is given."""
    if out is not None:
        results = [into(o, r) for o, r in zip(out, results, strict=True)]
    return kind(results)


@public()
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False, out: Any = None
) -> Any:
    """The elements in ascending (or descending) order along `dim`, and their former indices: (values, indices).

    Equal elements keep their order, whether `stable` is asked for or not.

    >>> import autodiff_kernel as torch
    >>> torch.sort(torch.tensor([3., 1., 2.]))
    torch.return_types.sort(
    values=tensor([1., 2., 3.]),
    indices=tensor([1, 2, 0]))
    """
    check_tensor("sort", input)
    d = wrap_dim(dim, input.raw.ndim, "sort")
    return named(Sorted, sort_row(input, p=(d, bool(descending))), out)


@public()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices that sort the tensor along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.argsort(torch.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
    """
    indices: Tensor = sort(input, dim, descending, stable=stable)[1]
    return indices


@public()
def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """The elements in ascending order along the first dimension.

    >>> import autodiff_kernel as torch
    >>> torch.msort(torch.tensor([[3., 1.], [2., 4.]]))
    tensor([[2., 1.],
            [3., 4.]])
    """
    return into(out, sort(input, 0)[0])


@public()
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None
) -> Any:
    """The `k` largest (or smallest) elements along `dim` in order, and their indices: (values, indices).

    Raises RuntimeError unless 0 <= k <= size.

    >>> import autodiff_kernel as torch
    >>> torch.topk(torch.tensor([1., 4., 2., 3.]), 2)
    torch.return_types.topk(
    values=tensor([4., 3.]),
    indices=tensor([1, 3]))
    """
    check_tensor("topk", input)
    shape = input.raw.shape
    d = wrap_dim(dim, len(shape), "topk")
    size = shape[d] if shape else 1
    k = int(k)
    if not 0 <= k <= size:
        raise explain(
            RuntimeError, "selected index k out of range", f"k is {k}, and dimension {d} has {size} elements."
        )
    return named(Top, topk_row(input, p=(d, k, bool(largest), bool(sorted))), out)


@public()
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The `k`-th smallest element along `dim` (1 is the smallest), and its index: (values, indices).

    >>> import autodiff_kernel as torch
    >>> torch.kthvalue(torch.tensor([3., 1., 2.]), 2).values
    tensor(2.)
    """
    check_tensor("kthvalue", input)
    shape = input.raw.shape
    d = wrap_dim(dim, len(shape), "kthvalue")
    if shape and not shape[d]:
        raise IndexError(f"kthvalue(): Expected reduction dim {d} to have non-zero size.")
    if not 1 <= k <= (shape[d] if shape else 1):
        raise explain(
            RuntimeError,
            f"kthvalue(): selected number k out of range for dimension {d}",
            f"k is {k}, and the dimension has {shape[d] if shape else 1} elements, counted from 1.",
        )
    results = kthvalue_row(input, p=(d, int(k), bool(keepdim)))
    if out is not None:
        into_another(out[0], results[0], input)
    return named(Kth, results, out)
