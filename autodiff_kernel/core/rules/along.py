"""One element per slice along a dimension, chosen by index: what max(dim), median and cummax need for gradients."""

from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op


def spots(index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy's index for "along dim at `index`, elsewhere at the same place"."""
    out: list[Any] = []
    for i, n in enumerate(index.shape):
        if i == dim:
            out.append(index)
        else:
            shape = [1] * index.ndim
            shape[i] = n
            out.append(devices.arange(n, dtype=np.int64, like=index).reshape(shape))
    return tuple(out)


def _take(a: Any, b: Any, p: Any) -> Any:
    return np.take_along_axis(a, b, p) if a.ndim else a.copy()


def _add(a: Any, b: Any, p: Any) -> Any:
    dim, shape = p
    if not a.ndim:
        return a.copy()
    out = devices.zeros(shape, a.dtype, like=a)
    if a.size:
        devices.add_at(out, spots(b, dim), a)
    return out


# the second input is an index tensor of the result's shape; p is the dimension
take_along: Op = Op(
    "take_along", _take, a=lambda g, n: add_along(g, n.b, p=(n.p, n.sa)), reads=("b",), mode="linear", params=True,
    symbol="[ ]", partials=("1 where chosen, else 0",), batch="gather",
    doc="The elements that an index names along a dimension.",
)  # fmt: skip
# p is (dimension, shape of the result)
add_along: Op = Op(
    "add_along", _add, a=lambda g, n: take_along(g, n.b, p=n.p[0]), reads=("b",), mode="linear", params=True,
    symbol="[ ]ᵀ", partials=("1",),
    batch="gather_back", doc="Zeros, with elements added where an index names their place along a dimension.",
)  # fmt: skip
