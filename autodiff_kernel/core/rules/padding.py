"""Borders around a tensor (of one number, or of its own elements), and other copies of elements along dimensions."""

from functools import lru_cache
from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op


def _inside(shape: Any, pads: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Which part of the input is kept, and where it lies in the output (a negative border cuts off)."""
    source: list[Any] = [...]
    target: list[Any] = [...]
    for n, (before, after) in zip(shape[len(shape) - len(pads) :], pads):
        source.append(slice(max(-before, 0), n - max(-after, 0)))
        target.append(slice(max(before, 0), max(before, 0) + n - max(-before, 0) - max(-after, 0)))
    return tuple(source), tuple(target)


def _padded(a: Any, p: Any) -> Any:
    pads, value = p
    cut = a.ndim - len(pads)
    sizes = [n + b + e for n, (b, e) in zip(a.shape[cut:], pads)]
    out = devices.full((*a.shape[:cut], *sizes), value, a.dtype, like=a)
    source, target = _inside(a.shape, pads)
    out[target] = a[source]
    return out


def _cut(p: Any) -> Any:
    return tuple((-b, -e) for b, e in p[0]), 0


# p is ((before, after) for each of the last dimensions, the number)
constant_pad_row: Op = Op(
    "constant_pad_nd", _padded, a=lambda g, n: constant_pad_row(g, p=_cut(n.p)),
    jvp=lambda ts, n: constant_pad_row(ts[0], p=(n.p[0], 0)), params=True, symbol="pad",
    partials=("1 inside, 0 in the border",), latex=r"\text{{pad}}({a})", batch="leading",
    doc="The input with a border of one number.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ copies by place
@lru_cache(256)
def places(kind: str, size: int, first: Any, second: Any) -> Any:
    """Which elements stand along a dimension of this size: a border of (first, second), or `first` nearest ones."""
    if kind in ("nearest", "nearest-exact"):
        step = np.float32(1 / second if second else size / first)
        shift = np.float32(0.5 if kind == "nearest-exact" else 0)
        at = np.floor((np.arange(first, dtype=np.float32) + shift) * step).astype(np.int64)
        return np.minimum(at, size - 1)
    at = np.arange(-first, size + second)
    if kind == "reflect":
        at = abs(at)
        return np.where(at >= size, 2 * (size - 1) - at, at)
    return at.clip(0, size - 1) if kind == "replicate" else at % size


def _copied(a: Any, p: Any) -> Any:
    home = devices.device_of(a)
    for axis, *how in p[1]:
        index = places(*how)
        a = np.take(a, devices.asarray(index, index.dtype, home), axis)
    return a


def _added(g: Any, p: Any) -> Any:
    home = devices.device_of(g)
    for axis, kind, size, *rest in reversed(p[1]):
        index = places(kind, size, *rest)
        turned = np.moveaxis(g, axis, 0)
        out = devices.zeros((size, *turned.shape[1:]), g.dtype, like=g)
        devices.add_at(out, devices.asarray(index, index.dtype, home), turned)
        g = np.moveaxis(out, 0, axis)
    return g.copy()


# p is (PyTorch's name of the node, (dimension from the end, kind, size, and what `places` takes) …)
copies_row: Op = Op(
    "copied_places", _copied, a=lambda g, n: copies_back(g, p=n.p), mode="linear", params=True, node=lambda p: p[0],
    symbol="copy", partials=("1 for each copy",), latex=r"\text{{copy}}({a})", batch="leading",
    doc="Elements by their places along dimensions: borders of own elements, the nearest pixels of another size.",
)  # fmt: skip
copies_back: Op = Op(
    "copied_places_backward", _added, a=lambda g, n: copies_row(g, p=n.p), mode="linear", params=True,
    node=lambda p: p[0], symbol="copyᵀ", partials=("1",), latex=r"\text{{copy}}^T({a})", batch="leading",
    doc="Elements added up at their places along dimensions.",
)  # fmt: skip
