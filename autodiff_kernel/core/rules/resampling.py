"""Images in another size: every pixel of the result is a weighted mean of the input's, one dimension after the other."""

from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op


# ------------------------------------------------------------------------------------------------ weights
def sources(size: int, out: int, scale: float | None, align: bool) -> Any:
    """Where in the input each output lies.  align: the corners' centres lie on each other, else their outer edges."""
    k = np.arange(out, dtype=np.float64)
    if align:
        return k * ((size - 1) / (out - 1) if out > 1 else 0.0)
    return (k + 0.5) * (1 / scale if scale else size / out) - 0.5


def _linear(size: int, out: int, scale: float | None, align: bool) -> Any:
    at = np.maximum(sources(size, out, scale, align), 0)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    part = at - low
    rows = np.arange(out)
    made = np.zeros((out, size))
    np.add.at(made, (rows, low), 1 - part)
    np.add.at(made, (rows, np.minimum(low + 1, size - 1)), part)
    return made


def _cubic(size: int, out: int, scale: float | None, align: bool) -> Any:
    """Keys' cubic convolution with a = −0.75."""
    at = sources(size, out, scale, align)
    low = np.floor(at).astype(int)
    t, a = at - low, -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    rows = np.arange(out)
    made = np.zeros((out, size))
    for shift, weight in ((-1, far(t + 1)), (0, near(t)), (1, near(1 - t)), (2, far(2 - t))):
        np.add.at(made, (rows, (low + shift).clip(0, size - 1)), weight)
    return made


def spans(size: int, out: int) -> list[tuple[int, int]]:
    """Where each of `out` windows that cover a dimension begins and ends."""
    return [(k * size // out, ceil((k + 1) * size / out)) for k in range(out)]


def _area(size: int, out: int, scale: float | None, align: bool) -> Any:
    made = np.zeros((out, size))
    for row, (start, stop) in zip(made, spans(size, out)):
        row[start:stop] = 1 / (stop - start)
    return made


KINDS = {"linear": _linear, "cubic": _cubic, "area": _area}


@lru_cache(256)
def weights(kind: str, size: int, out: int, scale: float | None, align: bool, dtype: Any) -> Any:
    """The matrix (out, size) that makes `out` pixels of a row of `size`."""
    made = KINDS[kind](size, out, scale, align).astype(dtype)
    made.flags.writeable = False
    return made


# ------------------------------------------------------------------------------------------------ the row
def _resampled(x: Any, p: Any) -> Any:
    _, turned, plan = p
    dtype = x.dtype
    if dtype.itemsize == 2:
        x = x.astype(np.float32)
    home = devices.device_of(x)
    for axis, *how in reversed(plan) if turned else plan:
        matrix = weights(*how, x.dtype)
        matrix = devices.asarray(matrix if turned else matrix.T, x.dtype, home)
        if axis == -1:
            x = np.matmul(x, matrix)
        else:
            x = np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), matrix), -1, axis)
    return np.copy(x, order="C").astype(dtype, copy=False)


# p is (PyTorch's name of the node, whether the matrices are transposed, (dimension from the end, kind, size, out, scale,
# align) …)
resample_row: Op = Op(
    "resample", _resampled, a=lambda g, n: resample_row(g, p=(n.p[0], not n.p[1], n.p[2])), mode="linear", params=True,
    node=lambda p: p[0], symbol="resample", partials=("the pixel's weight",), latex=r"W {a}", batch="leading",
    doc="Every pixel a weighted mean of the input's, one dimension after the other.",
)  # fmt: skip
