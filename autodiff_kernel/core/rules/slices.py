"""The rows behind x[...] with ints, slices, None and ...: a part of a tensor as a view, and the way back."""

from functools import lru_cache
from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op

ndarray, float32, float64 = np.ndarray, np.float32, np.float64
WHOLE = slice(None)


@lru_cache(4096)
def decode(p: tuple[Any, ...]) -> tuple[Any, ...]:
    """NumPy's index for the parameters of `getitem`.

    Each item is an int, None, a triple (start, stop, step), or () for a dimension that is taken whole.  The ... at
    the end makes a view of a single element too (a[0] alone would copy it out).
    """
    return (*[i if i is None or i.__class__ is int else slice(*i) if i else WHOLE for i in p], ...)


def last_step(p: tuple[Any, ...]) -> str:
    """PyTorch takes an index apart into steps, each with a node; ours has one node, named as the last of them."""
    for item in reversed(p):
        if item is None:
            return "UnsqueezeBackward0"
        if item.__class__ is int:
            return "SelectBackward0"
        if item:
            return "SliceBackward0"
    return "AliasBackward0"


def _back(g: Any, n: Any) -> Any:
    if g.__class__ is ndarray or g.__class__ is np.float32:  # getitem_back, written out
        out = np.zeros(n.sa, g.dtype)
        out[decode(n.p)] = g
        return out
    return getitem_back(g, p=(n.p, n.sa))


def _add_part(sum_: Any, g: Any, p: Any) -> None:
    """Add a part's cotangent to the sum of the whole, in place: no zeros for the rest."""
    if g.__class__ is float32 or g.__class__ is float64:  # a single element: a third of the time of a view
        sum_[p] += g
        return
    part = sum_[decode(p)]
    np.add(part, g, part)


def _put_back(g: Any, p: Any) -> Any:
    index, shape = p
    if not shape:
        return g.reshape(())[()] if g.__class__ is ndarray else g.reshape(())
    host = g.__class__ is ndarray or isinstance(g, np.generic)
    out = np.zeros(shape, g.dtype) if host else devices.zeros(shape, g.dtype, like=g)
    out[decode(index)] = g
    return out


getitem: Op = Op(
    "getitem", lambda a, p: a[decode(p)], a=lambda g, n: _back(g, n), mode="linear", params=True,
    view=True, node=last_step, symbol="[ ]", partials=("1 in the part, else 0",), latex="{a}_{{[\\,]}}",
    batch="part", doc="A part of a tensor, as a view.",
)  # fmt: skip
getitem.adds = _add_part
getitem_back: Op = Op(
    "getitem_back", _put_back, a=lambda g, n: getitem(g, p=n.p[0]), mode="linear", params=True,
    node=lambda p: last_step(p[0]).replace("Backward0", "BackwardBackward0"), symbol="[ ]ᵀ", partials=("1",),
    batch="part_back", doc="Zeros with the input in one part.",
)  # fmt: skip
