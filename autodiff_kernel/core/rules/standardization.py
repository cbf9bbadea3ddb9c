"""Standardizing: values minus their mean, divided by their standard deviation (layer, batch, group and instance norm)."""

from typing import Any

import numpy as np

from ..op import TABLE, Op


def mean(x: Any, dims: tuple[int, ...]) -> Any:
    """The mean along dimensions, which stay with size 1."""
    count = 1
    for d in dims:
        count *= x.shape[d]
    return TABLE["sum"](x, p=(dims, True)) / max(count, 1)


def _standardized(x: Any, p: Any) -> tuple[Any, Any]:
    dims, eps = p
    small = x.dtype.itemsize == 2
    a = x.astype(np.float32) if small else x
    centred = a - a.mean(dims, keepdims=True, dtype=a.dtype)
    variance = (centred * centred).mean(dims, keepdims=True, dtype=a.dtype)
    r = 1 / np.sqrt(variance + a.dtype.type(eps))
    r = r.astype(a.dtype, copy=False)
    y = centred * r
    return (y.astype(x.dtype), r.astype(x.dtype)) if small else (y, r)


def _back(g: Any, n: Any) -> Any:
    """Both what comes to y and what comes to the factor r = 1/std, of which ∂r/∂x = -r² y / count."""
    y, r = n.y
    gy, gr = g
    dims = n.p[0]
    out: Any = None
    if gy is not None:
        out = (gy - mean(gy, dims) - y * mean(gy * y, dims)) * r
    if gr is not None:
        count = 1
        for d in dims:
            count *= n.sa[d]
        term = y * (gr * r * r * (-1.0 / max(count, 1)))
        out = term if out is None else out + term
    return out


def _tangent(ts: Any, n: Any) -> Any:
    y, r = n.y
    t, dims = ts[0], n.p[0]
    ty = (t - mean(t, dims) - y * mean(t * y, dims)) * r
    return ty, -(mean(t * y, dims) * r * r)


# p is (dimensions, eps)
standardize_row: Op = Op(
    "standardize", _standardized, a=_back, reads=("y",), jvp=_tangent, params=True, outputs=True, batch="standardize",
    node="NativeBatchNormBackward0", symbol="(x−μ)/σ", partials=("(g − mean g − y mean gy)/σ",),
    latex=r"\frac{{{a} - \mu}}{{\sigma}}",
    doc="The input minus its mean, divided by its standard deviation; and one over that.",
)  # fmt: skip
