"""Sliding windows: where they lie, the windows of images as columns (im2col), and columns added up again (col2im)."""

from functools import lru_cache
from itertools import product as every
from math import prod
from typing import Any

from .. import device as devices
from ..op import Op


@lru_cache(4096)
def windows(kernel: Any, stride: Any, dilation: Any, out: Any) -> tuple[tuple[slice, ...], ...]:
    """For each place in the window, where in the padded input it lies for all outputs."""
    return tuple(
        tuple(
            slice(k * d, k * d + s * (n - 1) + 1 if n else 0, s)
            for k, d, s, n in zip(place, dilation, stride, out)
        )
        for place in every(*[range(k) for k in kernel])
    )


def inner(padding: Any, sizes: Any) -> tuple[Any, ...]:
    """The part of a padded input that is the input."""
    return (..., *[slice(q, q + n) for q, n in zip(padding, sizes)])


def _unfold(x: Any, p: Any) -> Any:
    kernel, stride, padding, dilation, out, sizes = p
    lead, c = x.shape[:-3], x.shape[-3]
    wide = devices.zeros((*lead, c, *[m + 2 * q for m, q in zip(sizes, padding)]), x.dtype, like=x)
    wide[inner(padding, sizes)] = x
    made = devices.empty((*lead, c, prod(kernel), *out), x.dtype, like=x)
    for k, window in enumerate(windows(kernel, stride, dilation, out)):
        made[..., k, :, :] = wide[(..., *window)]
    return made.reshape(*lead, c * prod(kernel), prod(out))


def _fold(columns: Any, p: Any) -> Any:
    kernel, stride, padding, dilation, out, sizes = p
    lead, c = columns.shape[:-2], columns.shape[-2] // prod(kernel)
    parts = columns.reshape(*lead, c, prod(kernel), *out)
    wide = devices.zeros(
        (*lead, c, *[m + 2 * q for m, q in zip(sizes, padding)]), columns.dtype, like=columns
    )
    for k, window in enumerate(windows(kernel, stride, dilation, out)):
        wide[(..., *window)] += parts[..., k, :, :]
    return wide[inner(padding, sizes)].copy()


# p is (kernel, stride, padding, dilation, outputs, sizes of the images)
im2col_row: Op = Op(
    "im2col", _unfold, lambda g, n: col2im_row(g, p=n.p), mode="linear", params=True, node="Im2ColBackward0",
    symbol="unfold", partials=("1 in every window",), latex=r"\text{{unfold}}({a})", batch="leading",
    doc="The windows of images, as columns.",
)  # fmt: skip
col2im_row: Op = Op(
    "col2im", _fold, lambda g, n: im2col_row(g, p=n.p), mode="linear", params=True, node="Col2ImBackward0",
    symbol="fold", partials=("1",), latex=r"\text{{fold}}({a})", batch="leading",
    doc="Columns added up at their windows' places.",
)  # fmt: skip
