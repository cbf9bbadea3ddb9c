"""Pooling: the greatest element or the mean of each window; elements taken from places in a plane and put back there."""

from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..op import Op
from .forms import refuse
from .image_columns import inner, windows
from .resampling import spans

Sizes = tuple[int, ...]


class Windows(NamedTuple):
    """How the windows lie in the last dimensions, whose sizes are `input`; all dimensions before them stay."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    output: Sizes
    input: Sizes

    def reach(self) -> Sizes:
        """How far the windows reach, from the first element of the border on."""
        return tuple(
            max(s * (n - 1) + d * (k - 1) + 1, m + 2 * q)
            for k, s, q, d, n, m in zip(
                self.kernel, self.stride, self.padding, self.dilation, self.output, self.input
            )
        )

    def apart(self) -> bool:
        """Does no element lie in two windows?"""
        return all(s >= d * (k - 1) + 1 for k, s, d in zip(self.kernel, self.stride, self.dilation))

    def places(self) -> tuple[tuple[slice, ...], ...]:
        return windows(self.kernel, self.stride, self.dilation, self.output)


def bordered(x: Any, p: Windows, fill: Any) -> Any:
    """x with a border of one number, as far as the windows reach."""
    sizes = p.reach()
    if sizes == p.input:
        return x
    wide = devices.full((*x.shape[: -len(sizes)], *sizes), fill, x.dtype, like=x)
    wide[inner(p.padding, p.input)] = x
    return wide


# ------------------------------------------------------------------------------------------------ the greatest
def _greatest(x: Any, p: Windows) -> tuple[Any, Any]:
    """The greatest elements, and where in its plane each was; of equal ones the first."""
    if x.dtype.kind == "b":
        refuse(f"max_pool{len(p.kernel)}d", x)
    low = -inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    wide = bordered(x, p, low)
    parts = [wide[(..., *place)] for place in p.places()]
    best = parts[0].copy()
    on_gpu = not isinstance(best, np.ndarray)  # there a question would wait for the answer
    for part in parts[1:]:
        np.maximum(best, part, out=best)
    step = devices.zeros(best.shape, np.uint8 if len(parts) < 256 else np.int64, like=x)
    inside = None  # where a border could pass for an element
    if wide is not x and (on_gpu or (best == low).any()):
        mask = bordered(devices.ones(x.shape, np.bool_, like=x), p, False)
        inside = [mask[(..., *place)] for place in p.places()]
    for k in range(len(parts) - 1, -1, -1):
        found = parts[k] == best
        np.copyto(step, k, where=found & inside[k] if inside else found)
    if x.dtype.kind == "f" and (on_gpu or (best != best).any()):  # of several nan the last, as in PyTorch
        for k, part in enumerate(parts):
            np.copyto(step, k, where=part != part)
    return best, _in_plane(step, p)


def _in_plane(step: Any, p: Windows) -> Any:
    """From the place inside each window to the place in the input's plane."""
    table: Any = 0  # from the window's first element
    first: Any = 0
    for i, (k, d, n, s, q) in enumerate(zip(p.kernel, p.dilation, p.output, p.stride, p.padding)):
        row, last = prod(p.input[i + 1 :]), [1] * (len(p.kernel) - 1 - i)
        table = table + (devices.arange(k, dtype=np.int64, like=step) * (d * row)).reshape(-1, *last)
        first = first + ((devices.arange(n, dtype=np.int64, like=step) * s - q) * row).reshape(-1, *last)
    return table.reshape(-1)[step] + first


# p is (how many dimensions a plane has, their sizes, whether each place occurs at most once)
def _taken(a: Any, i: Any, p: Any) -> Any:
    dims = p[0]
    flat = a.reshape(*a.shape[: a.ndim - dims], prod(a.shape[a.ndim - dims :]))
    at = i.reshape(*i.shape[: i.ndim - dims], prod(i.shape[i.ndim - dims :]))
    return np.take_along_axis(flat, at, -1).reshape(i.shape)


def _placed(g: Any, i: Any, p: Any) -> Any:
    dims, sizes, once = p
    lead, plane = g.shape[: g.ndim - dims], prod(sizes)
    many = prod(lead)
    start = devices.arange(many, dtype=np.int64, like=i)[:, None] * plane
    at = (i.reshape(many, prod(i.shape[i.ndim - dims :])) + start).reshape(-1)
    if not once and at.size and isinstance(g, np.ndarray) and g.dtype.kind == "f":
        flat = np.bincount(at, g.reshape(-1), many * plane).astype(g.dtype)
    else:
        flat = devices.zeros((many * plane,), g.dtype, like=g)
        if once:
            flat[at] = g.reshape(-1)
        else:
            devices.add_at(flat, at, g.reshape(-1))
    return flat.reshape(*lead, *sizes)


def _spots(p: Windows) -> Any:
    return len(p.kernel), p.input, p.apart()


def places_of(g: Any, n: Any) -> Any:
    """The cotangent of the greatest elements, at their places."""
    return places_back(g[0], n.y[1], p=_spots(n.p))


max_pool_row: Op = Op(
    "max_pool", _greatest, a=places_of, reads=("y",),
    jvp=lambda ts, n: (places_taken(ts[0], n.y[1], p=_spots(n.p)), None), params=True, outputs=True,
    node=lambda p: f"MaxPool{len(p.kernel)}DWithIndicesBackward0", symbol="maxpool",
    partials=("1 at the greatest of a window, else 0",), latex=r"\max_{{window}} {a}", batch="leading",
    doc="The greatest element of each window, and where it is.",
)  # fmt: skip
places_taken: Op = Op(
    "places_taken", _taken, a=lambda g, n: places_back(g, n.b, p=n.p), reads=("b",),
    jvp=lambda ts, n: places_taken(ts[0], n.b, p=n.p), params=True, node="GatherBackward0", symbol="[ ]",
    partials=("1 at the places, else 0",), latex="{a}_{{{b}}}", batch="together",
    doc="The elements at places in each plane.",
)  # fmt: skip
places_back: Op = Op(
    "places_back", _placed, a=lambda g, n: places_taken(g, n.b, p=n.p), reads=("b",),
    jvp=lambda ts, n: places_back(ts[0], n.b, p=n.p), params=True,
    node=lambda p: f"MaxUnpool{max(p[0], 2)}DBackward0", symbol="[ ]ᵀ", partials=("1",), latex="{a}_{{{b}}}^T",
    batch="together", doc="Elements at their places in planes of zeros; where several meet, their sum.",
)  # fmt: skip


def _unpooled(a: Any, i: Any, p: Any) -> Any:
    dims, sizes = p[:2]
    if i.size and not 0 <= int(i.min()) <= int(i.max()) < prod(sizes):
        worst = int(i.min()) if int(i.min()) < 0 else int(i.max())
        raise RuntimeError(
            f"Found an invalid max index: {worst} (output volumes are of size {'x'.join(map(str, sizes))})"
        )
    return _placed(a, i, (dims, sizes, True))


# p is (how many dimensions a plane has, their sizes)
max_unpool_row: Op = Op(
    "max_unpool", _unpooled, a=lambda g, n: places_taken(g, n.b, p=(*n.p, True)), reads=("b",),
    jvp=lambda ts, n: max_unpool_row(ts[0], n.b, p=n.p), params=True,
    node=lambda p: f"MaxUnpool{max(p[0], 2)}DBackward0", symbol="unpool", partials=("1",),
    latex=r"\text{{unpool}}({a})", batch="together",
    doc="Elements at their places in planes of zeros; where several meet, one of them.",
)  # fmt: skip


def _adaptive(x: Any, p: Any) -> tuple[Any, Any]:
    """The greatest element of windows that cover the plane, and where it was."""
    sizes, wanted = p
    dims = len(sizes)
    if x.dtype.kind in "iub":
        refuse(f"adaptive_max_pool{max(dims, 2)}d", x)
    lead = x.shape[: x.ndim - dims]
    best = devices.empty((*lead, *wanted), x.dtype, like=x)
    where = devices.empty((*lead, *wanted), np.int64, like=x)
    bounds = [spans(n, m) for n, m in zip(sizes, wanted)]
    for spot in np.ndindex(*wanted):
        part = [bounds[i][k] for i, k in enumerate(spot)]
        window = x[(..., *[slice(a, b) for a, b in part])]
        flat = window.reshape(*lead, prod(b - a for a, b in part))
        at = flat.argmax(-1)
        best[(..., *spot)] = np.take_along_axis(flat, at[..., None], -1)[..., 0]
        total: Any = 0
        for i, (a, b) in enumerate(part):
            row = prod(hi - lo for lo, hi in part[i + 1 :])
            total = total * sizes[i] + (at // row % (b - a) + a)
        where[(..., *spot)] = total
    return best, where


def _planes(p: Any) -> Any:
    return len(p[0]), p[0], False


# p is (the plane's sizes, those of the result)
adaptive_max_row: Op = Op(
    "adaptive_max_pool", _adaptive, a=lambda g, n: places_back(g[0], n.y[1], p=_planes(n.p)), reads=("y",),
    jvp=lambda ts, n: (places_taken(ts[0], n.y[1], p=_planes(n.p)), None), params=True, outputs=True,
    node=lambda p: f"AdaptiveMaxPool{max(len(p[0]), 2)}DBackward0", symbol="maxpool",
    partials=("1 at the greatest of a window, else 0",), latex=r"\max_{{window}} {a}", batch="leading",
    doc="The greatest element of each of so many windows that cover the plane, and where it is.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ means
def divisors(p: Any, like: Any) -> Any:
    """By how much each window's sum is divided."""
    place, include, divisor = p
    if divisor:
        return like.dtype.type(divisor)
    total: Any = None
    for i, (k, s, q, n, m) in enumerate(
        zip(place.kernel, place.stride, place.padding, place.output, place.input)
    ):
        first = np.arange(n) * s - q
        last = np.minimum(first + k, m + q)
        size = (last - first) if include else np.minimum(last, m) - np.maximum(first, 0)
        size = size.reshape(-1, *[1] * (len(place.kernel) - 1 - i))
        total = size if total is None else total * size
    if (total == total.flat[0]).all():
        return like.dtype.type(total.flat[0])
    return devices.asarray(np.asarray(total, like.dtype), like.dtype, devices.device_of(like))


def _mean(x: Any, p: Any) -> Any:
    place: Windows = p[0]
    kind = x.dtype.kind
    if kind == "b":
        refuse(f"avg_pool{len(place.kernel)}d", x)
    wide = bordered(x.astype(np.float32) if x.dtype == np.float16 else x, place, 0)
    total: Any = None
    for window in place.places():
        part = wide[(..., *window)]
        total = part.copy() if total is None else np.add(total, part, out=total)
    by = divisors(p, total)
    if kind in "iu":  # towards zero
        return np.sign(total) * np.sign(by) * (abs(total) // abs(by))
    total /= by
    return total.astype(x.dtype, copy=False)


def _spread(g: Any, p: Any) -> Any:
    place: Windows = p[0]
    part = g / divisors(p, g)
    wide = devices.zeros((*g.shape[: g.ndim - len(place.kernel)], *place.reach()), g.dtype, like=g)
    for window in place.places():
        wide[(..., *window)] += part
    return wide[inner(place.padding, place.input)].copy()


# p is (the windows, whether the border counts, a divisor of its own)
avg_pool_row: Op = Op(
    "avg_pool", _mean, a=lambda g, n: avg_pool_back(g, p=n.p), mode="linear", params=True,
    node=lambda p: f"AvgPool{len(p[0].kernel)}DBackward0", symbol="avgpool", partials=("1/k for each of k elements",),
    latex=r"\text{{mean}}_{{window}} {a}", batch="leading", doc="The mean of each window.",
)  # fmt: skip
avg_pool_back: Op = Op(
    "avg_pool_backward", _spread, a=lambda g, n: avg_pool_row(g, p=n.p), mode="linear", params=True,
    node=lambda p: f"AvgPool{len(p[0].kernel)}DBackwardBackward0", symbol="avgpoolᵀ", partials=("1/k",),
    latex=r"\text{{mean}}^T {a}", batch="leading", doc="Each element spread evenly over its window.",
)  # fmt: skip
