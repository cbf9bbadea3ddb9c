"""Cases of Fourier transforms."""

from typing import Any

import numpy as np

from . import Case, Draw, real
from .complexes import plane


def many(d: Draw) -> Any:
    """p is (dimensions, factor, forward)."""
    a = d.array(d.shape(1, empty=False), plane)
    dims = tuple(sorted({d.integer(0, a.ndim - 1), d.integer(0, a.ndim - 1)}))
    return [a], (dims, d.choice([1.0, 0.25]), d.flag())


def there(d: Draw) -> Any:
    """p is (dimension, factor, length)."""
    a = d.array(d.shape(1, empty=False), real)
    dim = d.integer(0, a.ndim - 1)
    return [a], (dim, d.choice([1.0, 0.25]), a.shape[dim])


def back(d: Draw) -> Any:
    a = d.array(d.shape(1, empty=False), plane)
    dim = d.integer(0, a.ndim - 1)
    half = a.shape[dim]
    return [a], (dim, d.choice([1.0, 0.25]), d.choice([2 * half - 1, max(2 * half - 2, 1)]))


def c2c(a: Any, p: Any) -> Any:
    dims, scale, forward = p
    for dim in dims:  # by the definition
        n = a.shape[dim]
        turn = np.exp((-2j if forward else 2j) * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
        a = np.moveaxis(np.tensordot(turn, a, (1, dim)), 0, dim)
    return a * scale


def r2c(a: Any, p: Any) -> Any:
    dim, scale, n = p
    return np.take(c2c(a, ((dim,), scale, True)), range(n // 2 + 1), dim)


def c2r(a: Any, p: Any) -> Any:
    dim, scale, n = p
    a = np.moveaxis(a, dim, -1)[..., : n // 2 + 1]
    mirror = np.conj(a[..., 1 : (n + 1) // 2])[..., ::-1]
    whole = np.concatenate([a, mirror], -1)
    whole[..., 0] = whole[..., 0].real
    if n % 2 == 0:
        whole[..., n // 2] = whole[..., n // 2].real
    return np.moveaxis(c2c(whole, ((whole.ndim - 1,), scale, False)).real, -1, dim)


# float32=False: the test expects float64 to become float32, and complex values to stay
CASES = [
    Case("fft_c2c", many, ref=c2c, float32=False),
    Case("fft_r2c", there, ref=r2c, float32=False),
    Case("fft_c2r", back, ref=c2r, float32=False),
]
