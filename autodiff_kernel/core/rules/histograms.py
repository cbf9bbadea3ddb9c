"""Histograms with weights, densities and several dimensions: histogram, histogramdd."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..op import Op
from ..return_types import return_type
from ..tensor import Tensor, wrap
from .forms import refuse
from .shapes import reshaped

_Histogram = return_type("histogram", "hist bin_edges")
_HistogramDD = return_type("histogramdd", "hist bin_edges")


def _count(a: Any, b: Any, p: Any) -> Any:
    """Points (n, d) and their weights (n) or None; p is (edges of each dimension, density)."""
    edges, density = p
    flat: Any = 0
    inside: Any = True
    for i, edge in enumerate(edges):
        x = a[:, i]
        place = np.searchsorted(edge, x, side="right") - 1
        bins = edge.shape[0] - 1
        place = np.where(x == edge[-1], bins - 1, place)  # the last bin holds its right edge too
        inside = inside & (x >= edge[0]) & (x <= edge[-1])
        flat = flat * bins + place
    shape = tuple(edge.shape[0] - 1 for edge in edges)
    weights = None if b is None else b[inside]
    counts = np.bincount(flat[inside], weights, int(np.prod(shape))).astype(a.dtype).reshape(shape)
    if density:
        counts = counts / counts.sum()
        for i, edge in enumerate(edges):
            counts = counts / (edge[1:] - edge[:-1]).reshape(-1, *[1] * (len(edges) - 1 - i))
    return counts


histogram_row = Op(
    "histogramdd", _count, params=True, doc="How many points, or what weight, lies in each cell."
)


def _edges(x: Any, bins: Any, range: Any, i: int, name: str) -> Any:
    """The edges of one dimension's bins."""
    if isinstance(bins, Tensor):
        if bins.raw.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {bins.raw.ndim} dimensions in the bins "
                f"tensor for dimension {i}"
            )
        if bins.raw.dtype != x.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{wrap(x).dtype} and bins for dimension {i} with dtype {bins.dtype}"
            )
        return bins.raw
    if bins <= 0:
        raise RuntimeError(f"{name}: bins must be > 0, but got {bins} for dimension {i}")
    if range is not None:
        low, high = float(range[2 * i]), float(range[2 * i + 1])
    elif x.shape[0]:
        low, high = devices.item(x[:, i].min()), devices.item(x[:, i].max())
    else:
        low, high = 0.0, 1.0
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {i}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {i}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return devices.asarray(np.linspace(low, high, bins + 1, dtype=x.dtype), x.dtype, devices.device_of(x))


def _histogram(x: Tensor, bins: Sequence[Any], range: Any, weight: Any, density: bool, name: str) -> Any:
    """(hist, edges) of points in the rows of x."""
    if x.raw.dtype.kind != "f" or x.raw.dtype.itemsize < 4:
        refuse("histogramdd", x.raw)
    lead, d = x.raw.shape[:-1], x.raw.shape[-1]
    if len(bins) != d:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    if weight is not None and weight.raw.shape != lead:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
            f"its innermost dimension, but got input with shape {list(x.raw.shape)} and weight with shape "
            f"{list(weight.raw.shape)}"
        )
    if range is not None and len(range) != 2 * d:
        raise RuntimeError(
            f"torch.histogramdd: for a {d}-dimensional histogram range should have {2 * d} elements, but got {len(range)}"
        )
    points = reshaped(x.detach(), (int(np.prod(lead)), d))
    edges = tuple(_edges(points.raw, b, range, i, name) for i, b in enumerate(bins))
    weights = None if weight is None else reshaped(weight.detach(), (-1,))
    hist = histogram_row(points, weights, p=(edges, bool(density)))
    return hist, tuple(b if isinstance(b, Tensor) else wrap(e) for b, e in zip(bins, edges, strict=True))


@public()
def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """How many elements lie in each bin: the pair (hist, bin_edges).

    bins: how many of equal width, from the least to the largest element or over `range` (low, high), or a tensor of
    edges.  weight: what each element counts, 1 by default.  density: the histogram's integral is 1.

    >>> import autodiff_kernel as torch
    >>> torch.histogram(torch.tensor([1., 2., 1.]), bins=4, range=(0., 3.)).hist
    tensor([0., 2., 1., 0.])
    """
    check_tensor("histogram", input)
    column = reshaped(input, (-1, 1))
    flat = None if weight is None else reshaped(weight, (-1,))
    if weight is not None and weight.raw.shape != input.raw.shape:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
            f"its innermost dimension, but got input with shape {list(column.raw.shape)} and weight with shape "
            f"{list(weight.raw.shape)}"
        )
    hist, edges = _histogram(column, [bins], range, flat, density, "torch.histogram()")
    if out is not None:
        return _Histogram([into(out[0], hist), into(out[1], edges[0])])
    return _Histogram([hist, edges[0]])


@public(method=False)
def histogramdd(
    input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """How many points lie in each cell of a grid: the pair (hist, bin_edges).

    input: points in its rows, shape (…, d).  bins: one number for all dimensions, or one number or tensor of edges for
    each.  range: (low, high) of each dimension, one after the other.  weight, density: see `histogram`.

    >>> import autodiff_kernel as torch
    >>> torch.histogramdd(torch.tensor([[0., 1.], [2., 3.], [1., 1.]]), [2, 2]).hist
    tensor([[1., 0.],
            [1., 1.]])
    """
    check_tensor("histogramdd", input)
    if input.raw.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    given = [bins] * input.raw.shape[-1] if isinstance(bins, int) else list(bins)
    hist, edges = _histogram(input, given, range, weight, density, "torch.histogramdd()")
    return _HistogramDD([hist, edges])
