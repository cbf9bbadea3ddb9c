"""Fused multiply-add, a * b + c with one rounding, which NumPy lacks and PyTorch's compiled loops use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_LAST_29 = np.uint64((1 << 29) - 1)  # the bits of a float64 that a float32 has no room for
_HALF = np.uint64(1 << 28)


def fused32(a: Any, b: Any, c: Any) -> Array:
    """a * b + c rounded once to float32.  All are float64 arrays or numbers that hold float32 values; so is the result.

    The product of two float32 is exact in float64, so only the sum rounds before the result does.  Rounding twice
    goes wrong only where the float64 sum lies half-way between two float32 without being exact: about twice in a
    million, those are corrected.  Results below 1e-38 may be wrong in the last bit; `affine32` minds them.
    """
    product = a * b
    total = product + c
    half_way = (total.view(np.uint64) & _LAST_29) == _HALF
    if half_way.any():
        total[half_way] = _rounded_to_odd(product, c, total, half_way)
    return total.astype(np.float32).astype(np.float64)


def _rounded_to_odd(a: Array, b: Any, total: Array, where: Array) -> Array:
    """a + b `where` true, with an odd last bit unless exact: then rounding once more rounds as if only once."""
    a, total = a[where], total[where]
    b = np.broadcast_to(b, where.shape)[where]
    return _make_odd(total, _sum_error(a, b, total))


def _sum_error(a: Array, b: Array, total: Array) -> Array:
    """The exact a + b - total, where total is the rounded sum (Knuth's two-sum)."""
    part = total - a
    return (a - (total - part)) + (b - part)


def _make_odd(total: Array, error: Array) -> Array:
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    return np.where((error != 0) & even, np.nextafter(total, np.copysign(np.inf, error)), total)


def affine(x: Array, scale: float, offset: float) -> Array:
    """x * scale + offset, fused, in the precision of `x` (float32 or float64 of any shape); scale and offset too."""
    if x.dtype == np.float32:
        return _affine32(x, float(np.float32(scale)), float(np.float32(offset)))
    return _affine64(x, float(scale), float(offset))


def _affine32(x: Array, scale: float, offset: float) -> Array:
    if scale == 1 and offset == 0:
        return x + np.float32(0)
    product = x.astype(np.float64) * scale
    total = product + offset
    doubtful = ((total.view(np.uint64) & _LAST_29) == _HALF) | (np.abs(total) < 2.0**-126)
    if doubtful.any():
        total[doubtful] = _rounded_to_odd(product, offset, total, doubtful)
    return total.astype(np.float32)


def _affine64(x: Array, scale: float, offset: float) -> Array:
    if offset == 0:
        return x * scale + 0.0
    # Powers of two keep the error-free products below from overflowing.
    exponent = math.frexp(max(abs(scale), abs(offset)))[1]
    scale, offset = math.ldexp(scale, -exponent), math.ldexp(offset, -exponent)
    high, low = _product(x, scale)
    # Boldo and Melquiond (2008): the two roundings of high + (low + offset) act as one if the inner one is to odd.
    sum1 = low + offset
    error1 = _sum_error(low, np.asarray(offset), sum1)
    sum2 = high + sum1
    error2 = _sum_error(high, sum1, sum2)
    tail = error1 + error2
    tail = _make_odd(tail, _sum_error(error1, error2, tail))
    return np.ldexp(sum2 + tail, exponent)


def _product(a: Array, b: float) -> tuple[Array, Array]:
    """a * b as an exact sum of two float64 (Dekker's product with Veltkamp's split)."""
    high = a * b
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    return high, a2 * b2 - (((high - a1 * b1) - a2 * b1) - a1 * b2)


def _split(a: Any) -> tuple[Any, Any]:
    shifted = a * 134217729.0  # 2^27 + 1
    upper = shifted - (shifted - a)
    return upper, a - upper
