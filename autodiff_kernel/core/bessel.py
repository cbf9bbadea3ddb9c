"""Bessel and Airy functions on raw arrays, to double precision.

Each is a product of a smooth part, which is a Chebyshev series (bessel_series.py), and what M. Abramowitz and I. A.
Stegun, Handbook of Mathematical Functions, take out of it: the logarithm and the pole at 0 (9.1.13, 9.6.13), e^±x/√x far
away (9.7.1, 9.7.2), and the oscillation of Bessel's functions there (9.2.5, 9.2.6) and of Airy's (10.4.59, 10.4.60).
"""

from collections.abc import Sequence
from math import pi, sqrt
from typing import Any

import numpy as np

from . import bessel_series as series
from .special import in_double, where


def clenshaw(t: Any, coefficients: Sequence[float]) -> Any:
    """The Chebyshev series with these coefficients at t, by Clenshaw's recurrence."""
    twice, last, before = 2 * t, 0.0 * t, 0.0 * t
    for c in coefficients[:0:-1]:
        last, before = twice * last - before + c, last
    return t * last - before + coefficients[0]


# ------------------------------------------------------------------------------------------------ I
def _scaled_i(x: Any, near: Any, far: Any, odd: bool) -> Any:
    """exp(−|x|)·I(x)."""
    z = abs(x)
    inside = clenshaw(np.minimum(z, 8.0) / 4 - 1, near)
    outside = clenshaw(16 / np.maximum(z, 8.0) - 1, far) / np.sqrt(np.maximum(z, 8.0))
    y = where(z < 8, inside * z if odd else inside, outside)
    return where(x < 0, -y, y) if odd else y


@in_double
def i0e(x: Any) -> Any:
    """exp(−|x|)·I₀(x)."""
    return _scaled_i(x, series.I0_NEAR, series.I0_FAR, False)


@in_double
def i1e(x: Any) -> Any:
    """exp(−|x|)·I₁(x)."""
    return _scaled_i(x, series.I1_NEAR, series.I1_FAR, True)


@in_double
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 0."""
    return _grown(i0e(x), x)


@in_double
def i1(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 1."""
    return _grown(i1e(x), x)


def _grown(y: Any, x: Any) -> Any:
    """y·exp(|x|), in two steps because exp(|x|) overflows earlier."""
    half = np.exp(abs(x) / 2)
    return y * half * half


# ------------------------------------------------------------------------------------------------ K
def _scaled_k(x: Any, near: Any, far: Any, order: int) -> Any:
    """exp(x)·K(x); ∞ at 0, nan below."""
    z = where((x > 0) & (x < 2), x, 2.0)
    small = clenshaw(z * z / 2 - 1, near)
    small = (small / z + np.log(z / 2) * i1(z)) if order else (small - np.log(z / 2) * i0(z))
    w = np.maximum(x, 2.0)
    y = where(x < 2, small * np.exp(z), clenshaw(4 / w - 1, far) / np.sqrt(w))
    return where(x > 0, y, where(x == 0, np.inf, np.nan))


@in_double
def k0e(x: Any) -> Any:
    """exp(x)·K₀(x)."""
    return _scaled_k(x, series.K0_NEAR, series.K0_FAR, 0)


@in_double
def k1e(x: Any) -> Any:
    """exp(x)·K₁(x)."""
    return _scaled_k(x, series.K1_NEAR, series.K1_FAR, 1)


@in_double
def k0(x: Any) -> Any:
    """The modified Bessel function of the second kind of order 0."""
    return k0e(x) * np.exp(-x)


@in_double
def k1(x: Any) -> Any:
    """The modified Bessel function of the second kind of order 1."""
    return k1e(x) * np.exp(-x)


# ------------------------------------------------------------------------------------------------ J and Y
def _oscillation(z: Any, p: Any, q: Any, order: int) -> tuple[Any, Any]:
    """(J, Y) for z ≥ 8: an amplitude that falls as 1/√z, and a phase that falls behind by order/2 + 1/4 half turns."""
    t = 128 / (z * z) - 1
    chi = z - (order / 2 + 0.25) * pi
    size, along, across = np.sqrt(2 / (pi * z)), clenshaw(t, p), clenshaw(t, q) / z
    c, s = np.cos(chi), np.sin(chi)
    return size * (along * c - across * s), size * (along * s + across * c)


def _near(z: Any) -> Any:
    return z * z / 32 - 1


@in_double
def j0(x: Any) -> Any:
    """The Bessel function of the first kind of order 0."""
    z = abs(x)
    far = _oscillation(np.maximum(z, 8.0), series.P0, series.Q0, 0)[0]
    return where(z < 8, clenshaw(_near(np.minimum(z, 8.0)), series.J0_NEAR), far)


@in_double
def j1(x: Any) -> Any:
    """The Bessel function of the first kind of order 1."""
    z = abs(x)
    far = _oscillation(np.maximum(z, 8.0), series.P1, series.Q1, 1)[0]
    y = where(z < 8, z * clenshaw(_near(np.minimum(z, 8.0)), series.J1_NEAR), far)
    return where(x < 0, -y, y)


@in_double
def y0(x: Any) -> Any:
    """The Bessel function of the second kind of order 0; −∞ at 0, nan below."""
    z = where((x > 0) & (x < 8), x, 8.0)
    near = clenshaw(_near(z), series.Y0_NEAR) + 2 / pi * np.log(z) * j0(z)
    far = _oscillation(np.maximum(x, 8.0), series.P0, series.Q0, 0)[1]
    return where(x > 0, where(x < 8, near, far), where(x == 0, -np.inf, np.nan))


@in_double
def y1(x: Any) -> Any:
    """The Bessel function of the second kind of order 1; −∞ at 0, nan below."""
    z = where((x > 0) & (x < 8), x, 8.0)
    near = z * clenshaw(_near(z), series.Y1_NEAR) + 2 / pi * (np.log(z) * j1(z) - 1 / z)
    far = _oscillation(np.maximum(x, 8.0), series.P1, series.Q1, 1)[1]
    return where(x > 0, where(x < 8, near, far), where(x == 0, -np.inf, np.nan))


@in_double
def spherical_j0(x: Any) -> Any:
    """sin(x)/x, and 1 at 0."""
    square = x * x
    small = abs(x) < 0.5
    near = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
    return where(small, near, where(abs(x) == np.inf, 0.0, np.sin(x) / where(small, 1.0, x)))


# ------------------------------------------------------------------------------------------------ Airy
@in_double
def airy_ai(x: Any) -> Any:
    """Airy's function Ai."""
    middle = clenshaw((np.minimum(np.maximum(x, -6.0), 2.0) + 2) / 4, series.AIRY_MIDDLE)
    w = np.maximum(x, 2.0)
    zeta = 2 / 3 * w * np.sqrt(w)
    edge = 2 / 3 * 2 * sqrt(2)
    falling = np.exp(-zeta) * clenshaw(2 * edge / zeta - 1, series.AIRY_FAR) / np.sqrt(np.sqrt(w))
    w = np.maximum(-x, 6.0)
    zeta = 2 / 3 * w * np.sqrt(w)
    edge = 2 / 3 * 6 * sqrt(6)
    t = 2 * (edge / zeta) ** 2 - 1
    chi = zeta - pi / 4
    wave = clenshaw(t, series.AIRY_P) * np.cos(chi) + clenshaw(t, series.AIRY_Q) / zeta * np.sin(chi)
    wave = wave / (np.sqrt(np.sqrt(w)) * sqrt(pi))
    return where(x > 2, falling, where(x < -6, wave, middle))
