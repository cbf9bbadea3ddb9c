"""Fractional max pooling (Graham 2014): windows at random steps, so that sizes shrink by any factor."""

from math import prod
from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op
from .pooling import places_back, places_taken


def starts(u: Any, size: int, out: int, kernel: int) -> Any:
    """Where the windows of each plane begin, (N, C, out), from one random number u (N, C) for each plane."""
    if out == 1:
        return devices.full((*u.shape, 1), size - kernel, np.int64, like=u)
    alpha = (size - kernel) / (out - 1)
    u = u[..., None]
    steps = devices.arange(out, dtype=u.dtype, like=u)
    at = ((steps + u) * alpha).astype(np.int64) - (u * alpha).astype(np.int64)
    at[..., -1] = size - kernel
    return at


def _fractional(x: Any, samples: Any, p: Any) -> tuple[Any, Any]:
    kernel, sizes, out = p
    dims = len(kernel)
    flat: Any = 0
    for i, (k, n, m) in enumerate(zip(kernel, sizes, out)):
        u = samples[..., dims - 1 - i if dims == 2 else i]  # for images the first number is the width's
        first = starts(u, n, m, k).reshape(*u.shape, *[m if j == i else 1 for j in range(dims)], *[1] * dims)
        inside = devices.arange(k, dtype=np.int64, like=x).reshape([k if j == i else 1 for j in range(dims)])
        flat = flat * n + (first + inside)
    lead = x.shape[: x.ndim - dims]
    flat = flat.reshape(*lead, prod(out), prod(kernel))
    values = np.take_along_axis(
        x.reshape(*lead, prod(sizes)), flat.reshape(*lead, prod(out) * prod(kernel)), -1
    ).reshape(flat.shape)
    best = values.argmax(-1)[..., None]
    y, where = (np.take_along_axis(v, best, -1).reshape(*lead, *out) for v in (values, flat))
    return y, where


def _planes(p: Any) -> Any:
    return len(p[0]), p[1], False


# p is (kernel, the plane's sizes, those of the result); the second input holds random numbers, (N, C, dimensions)
fractional_row: Op = Op(
    "fractional_max_pool", _fractional, a=lambda g, n: places_back(g[0], n.y[1], p=_planes(n.p)), reads=("y",),
    jvp=lambda ts, n: (places_taken(ts[0], n.y[1], p=_planes(n.p)), None), params=True, outputs=True,
    node=lambda p: f"FractionalMaxPool{len(p[0])}DBackward0", symbol="maxpool",
    partials=("1 at the greatest of a window, else 0",), latex=r"\max_{{window}} {a}", batch="together",
    doc="The greatest element of each of so many windows at random steps, and where it is.",
)  # fmt: skip
