"""Resizing as two products with matrices: each new row is a weighted mean of old ones, and then each new column."""

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap


def _triangle(x: Any) -> Any:
    return np.maximum(0, 1 - abs(x))


def _cubic(a: float) -> Any:
    """Keys' kernel, with the slope a at 1."""

    def kernel(x: Any) -> Any:
        x = abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = (((x - 5) * x + 8) * x - 4) * a
        return np.where(x < 1, near, np.where(x < 2, far, 0))

    return kernel


def weights(n: int, m: int, mode: str, antialias: bool) -> Any:
    """The matrix (m, n) that resizes a line of n values to m.

    A new value's centre lies at (i + 0.5) n / m of the old ones; with antialias the kernel is as wide as what a new
    value covers.  Values beyond the ends count as the last ones, or with antialias not at all.
    """
    scale = n / m
    if mode == "nearest":
        return np.eye(n)[np.minimum((np.arange(m) * scale).astype(int), n - 1)]
    kernel, reach = (_triangle, 1.0) if mode == "bilinear" else (_cubic(-0.5 if antialias else -0.75), 2.0)
    wide = max(scale, 1.0) if antialias else 1.0
    matrix = np.zeros((m, n))
    for i in range(m):
        centre = (i + 0.5) * scale
        if antialias:
            first, last = max(int(centre - reach * wide + 0.5), 0), min(int(centre + reach * wide + 0.5), n)
            places = np.arange(first, last)
            values = kernel((places + 0.5 - centre) / wide)
            matrix[i, places] = values / values.sum()
            continue
        centre = max(centre - 0.5, 0.0) if mode == "bilinear" else centre - 0.5
        places = np.arange(int(np.floor(centre - reach)), int(np.ceil(centre + reach)) + 1)
        np.add.at(matrix[i], places.clip(0, n - 1), kernel(places - centre))
    return matrix


def resized(image: Tensor, size: tuple[int, int], mode: str, antialias: bool) -> Tensor:
    """A tensor (…, H, W) in another size; whole numbers are rounded and kept in their range."""
    kind = image.dtype
    real = image if image.is_floating_point() else image.float()
    rows, columns = (
        wrap(weights(n, m, mode, antialias)).to(dtype=real.dtype, device=image.device)
        for n, m in zip(image.shape[-2:], size)
    )
    out = rows @ real @ columns.t()
    if kind is real.dtype:
        return out
    return out.round().clamp(0, 255).to(kind) if str(kind) == "torch.uint8" else out.round().to(kind)
