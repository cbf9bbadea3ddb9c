"""Box-Muller in single precision, operation by operation as PyTorch's vectorised loops do it.

From sixteen or more uniform numbers PyTorch makes normal ones with the logarithm, sine and cosine of the Cephes
library (S. Moshier), a polynomial each, where the compiler fused every multiplication with the addition after it.
Doing the same here, step by step, gives the same bits.  Values are float32 held in float64.
"""

from __future__ import annotations

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
_SIN = _single(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _single(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_CHUNK = 1 << 15  # pairs at a time: the intermediate arrays stay in the processor's cache


def normal_pairs(first: Array, second: Array) -> tuple[Array, Array]:
    """Return r cos t and r sin t for r = sqrt(-2 log(1 - first)), t = 2 pi second; float32 arrays of one shape (N,)."""
    cosines, sines = np.empty_like(first), np.empty_like(first)
    for start in range(0, first.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        radius = _rounded(np.sqrt(_rounded(-2.0 * _log(1.0 - first[part].astype(np.float64)))))
        sine, cosine = _sincos(_rounded(_TWO_PI * second[part].astype(np.float64)))
        cosines[part] = radius * cosine
        sines[part] = radius * sine
    return cosines, sines


def _rounded(x: Array) -> Array:
    return x.astype(np.float32).astype(np.float64)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    y: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        y = fused32(y, x, coefficient)
    return y


def _log(x: Array) -> Array:
    """log(x) for x in (0, 1]: x = m 2^e with m in [sqrt(1/2), sqrt(2)), a polynomial in m - 1."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < _SQRT_HALF
    e = (exponent - small).astype(np.float64)
    m = np.where(small, mantissa + mantissa, mantissa) - 1.0
    z = _rounded(m * m)
    y = _rounded(_polynomial(_LOG, m) * m)
    y = fused32(y, z, _rounded(e * _LN2_LOW))
    y = fused32(z, -0.5, y)
    return fused32(e, _LN2_HIGH, _rounded(m + y))


def _sincos(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of x in [0, 2 pi]: subtract the nearest even multiple of pi/4, choose among two polynomials."""
    octant = _rounded(x * _FOUR_OVER_PI).astype(np.int64)
    octant = (octant + 1) & ~1
    multiple = octant.astype(np.float64)
    for part in _QUARTER_PI:
        x = fused32(multiple, part, x)
    z = _rounded(x * x)
    cosine = _rounded(_polynomial(_COS, z) * z)
    cosine = _rounded(fused32(cosine, z, -0.5 * z) + 1.0)
    sine = fused32(_rounded(_polynomial(_SIN, z) * z), x, x)
    swap = (octant & 2) != 0
    sign_of_sine = np.where(octant & 4, -1.0, 1.0)
    sign_of_cosine = np.where((octant + 2) & 4, -1.0, 1.0)
    return np.where(swap, cosine, sine) * sign_of_sine, np.where(swap, sine, cosine) * sign_of_cosine
