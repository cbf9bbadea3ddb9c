"""Many elements to one: sum, mean, extremes, norms."""

from typing import Any

import numpy as np

from ..api import public
from ..op import TABLE, Op
from ..tensor import Tensor
from .casting import to_dtype
from .. import dtype as dtypes


def axes(dim: Any, ndim: int, name: str = "") -> Any:
    """PyTorch's `dim` as NumPy's `axis`: None, or a tuple of non-negative numbers."""
    if dim is None or dim == () or dim == []:
        return None
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    out = []
    size = max(ndim, 1)
    for d in dims:
        d = int(d)
        if not -size <= d < size:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {d})"
            )
        d %= size
        if d in out:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        out.append(d)
    return tuple(out) if ndim else None


def restretch(g: Any, shape: tuple[int, ...], p: Any) -> Any:
    """A reduced array repeated along the reduced dimensions."""
    axis, keep = p
    if axis is not None and not keep:
        g = TABLE["reshape"](g, p=tuple(1 if i in axis else n for i, n in enumerate(shape)))
    return TABLE["expand"](g, p=shape)


def _sum(a: Any, p: Any) -> Any:
    if a.__class__ is not np.ndarray:  # a NumPy scalar, or an array of a GPU: CuPy has no ufunc.reduce
        return a if isinstance(a, np.generic) else a.sum(p[0], keepdims=p[1])
    return np.add.reduce(a, p[0] if a.ndim else None, None, None, p[1]) if a.ndim else a


sum_row = Op("sum", _sum, a=lambda g, n: restretch(g, n.sa, n.p), mode="linear", params=True,
             node=lambda p: "SumBackward0" if p[0] is None else "SumBackward1", symbol="Σ", partials=("1",),
             latex=r"\sum {a}", doc="The sum of the elements, of all or along dimensions.")  # fmt: skip


@public()
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of all elements, or along `dim` (an int or a tuple of ints).

    Bool and integer tensors are summed as int64.

    >>> import autodiff_kernel as torch
    >>> torch.sum(torch.ones(2, 3), 0)
    tensor([2., 2., 2.])
    """
    if dtype is not None:
        input = to_dtype(input, dtype)
    elif input.raw.dtype.kind in "biu":
        input = to_dtype(input, dtypes.int64)
    return sum_row(input, p=(axes(dim, input.raw.ndim), keepdim))
