"""Box-Muller in single precision, operation by operation as PyTorch's vectorised loops do it.

From sixteen or more uniform numbers PyTorch makes normal ones with the logarithm, sine and cosine of the Cephes
library (S. Moshier), a polynomial each, where the compiler fused every multiplication with the addition after it.
Doing the same here, step by step, gives the same bits.  Values are float32 held in float64.

A fused step is a product, which is exact in float64, a sum, and a rounding to float32.  Two roundings in the place of
one go wrong about twice in a million, where the sum lies half-way between two float32; `fused32` looks after that.
Steps whose product has so few bits that the sum is exact need no care.  Few numbers are computed the short way first,
and those with a sum in doubt once more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .rounding import fused32

Array = np.ndarray[Any, Any]


def _single(*numbers: float) -> tuple[float, ...]:
    return tuple(float(np.float32(number)) for number in numbers)


_LOG = _single(
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LN2_HIGH, _LN2_LOW = _single(0.693359375, -2.12194440e-4)
_SQRT_HALF, _FOUR_OVER_PI, _TWO_PI = _single(0.707106781186547524, 1.27323954473516, 2 * np.pi)
_QUARTER_PI = _single(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_COS = _single(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = _single(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS_AND_SIN = np.array([_COS, _SIN]).T[:, :, None]
_CHUNK = 1 << 13  # pairs at a time: the intermediate arrays stay in the processor's cache
_FEW = 1000  # pairs up to which the number of array operations counts, not their size
_LAST_29 = np.uint64((1 << 29) - 1)  # the bits of a float64 that a float32 has no room for
_HALF = np.uint64(1 << 28)
Fused = Callable[[Any, Any, Any], Any]  # a * b + c, rounded to float32


def normal_pairs(first: Array, second: Array) -> tuple[Array, Array]:
    """Return r cos t and r sin t for r = sqrt(-2 log(1 - first)), t = 2 pi second; float32 arrays of one shape (N,)."""
    pairs = np.empty((2, first.size), np.float32)
    if first.size <= _FEW:
        sums: list[Array] = []
        pairs[:] = _pairs(first, second, partial(_short, sums))
        (doubtful,) = np.nonzero(_half_way(sums, first.size))
        if doubtful.size:
            pairs[:, doubtful] = _pairs(first[doubtful], second[doubtful], fused32)
    else:
        for start in range(0, first.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            pairs[:, part] = _pairs(first[part], second[part], fused32)
    return pairs[0], pairs[1]


def _short(sums: list[Array], a: Any, b: Any, c: Any) -> Any:
    """a * b + c rounded twice; the sum is kept to look for doubt later."""
    total = a * b
    total += c
    sums.append(total)
    return total.astype(np.float32).astype(np.float64)


def _half_way(sums: list[Array], count: int) -> Any:
    """Which of `count` numbers had a sum half-way between two float32."""
    bits = np.concatenate(sums, axis=None).view(np.uint64).reshape(-1, count)
    bits &= _LAST_29
    return (bits == _HALF).any(axis=0)


def _pairs(first: Array, second: Array, fused: Fused) -> Array:
    """The pairs, float64 of shape (2, N)."""
    radius = _rounded(np.sqrt(_rounded(-2.0 * _log(1.0 - first.astype(np.float64), fused))))
    return radius * _cosine_and_sine(_rounded(_TWO_PI * second.astype(np.float64)), fused)


def _rounded(x: Array) -> Array:
    return x.astype(np.float32).astype(np.float64)


def _polynomial(coefficients: Any, x: Array, fused: Fused) -> Array:
    y: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        y = fused(y, x, coefficient)
    return y


def _log(x: Array, fused: Fused) -> Array:
    """log(x) for x in (0, 1]: x = m 2^e with m in [sqrt(1/2), sqrt(2)), a polynomial in m - 1."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < _SQRT_HALF
    e = (exponent - small).astype(np.float64)
    m = np.where(small, mantissa + mantissa, mantissa) - 1.0
    z = _rounded(m * m)
    y = _rounded(_polynomial(_LOG, m, fused) * m)
    y = fused(y, z, _rounded(e * _LN2_LOW))
    y = _rounded(z * -0.5 + y)  # exact sums, as in the last step
    return _rounded(e * _LN2_HIGH + _rounded(m + y))


def _cosine_and_sine(x: Array, fused: Fused) -> Array:
    """Cosine and sine of x in [0, 2 pi], (2, N): subtract the nearest even multiple of pi/4, choose among two polynomials."""
    octant = _rounded(x * _FOUR_OVER_PI).astype(np.int64)
    octant = (octant + 1) & ~1
    multiple = octant.astype(np.float64)
    for part in _QUARTER_PI:
        x = _rounded(multiple * part + x)  # exact sums
    z = _rounded(x * x)
    both = _rounded(_polynomial(_COS_AND_SIN, z, fused) * z)
    both = fused(both, np.stack([z, x]), np.stack([-0.5 * z, x]))
    both[0] = _rounded(both[0] + 1.0)
    turned = np.where((octant & 2) != 0, both[::-1], both)
    turned[0] *= np.where((octant + 2) & 4, -1.0, 1.0)
    turned[1] *= np.where(octant & 4, -1.0, 1.0)
    return turned
