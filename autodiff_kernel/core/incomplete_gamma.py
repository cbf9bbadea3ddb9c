"""The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 − P(a, x) on raw arrays, to double precision.

Three ways, each where it converges: the series of DLMF 8.7.1 left of x = a + 1, the continued fraction of DLMF 8.9.2
right of it, and for large a, where both take √a steps and more, a quadrature of the integrand's bulge (as in W. H. Press
et al., Numerical Recipes, 3rd ed., 6.2.1, with nodes of our own).
"""

from functools import cache
from math import pi, sqrt
from typing import Any

import numpy as np

from . import device as devices
from .special import lgamma, stirling, where

LARGE = 100.0  # a from which the quadrature is used
TINY = 1e-300


def _prefactor(a: Any, x: Any) -> Any:
    """x^a·exp(−x)/Γ(a + 1), with the digits that the difference of large logarithms would lose."""
    big = np.maximum(a, 10.0)
    d = (x - big) / big
    near = abs(d) < 0.4
    # log1p(d) − d, from its series where both terms nearly cancel
    drift = where(near, _log1p_less(where(near, d, 0.0)), np.log(x / big) - d)
    uniform = np.exp(big * drift - stirling(big)) / np.sqrt(2 * pi * big)
    direct = np.exp(a * np.log(x) - x - lgamma(a + 1))
    return where(a < 10, direct, uniform)


def _log1p_less(d: Any) -> Any:
    """log(1 + d) − d for |d| < 0.4: 2 artanh(s) − d in powers of s = d/(2 + d)."""
    s = d / (2 + d)
    square = s * s
    total = 0.0 * s
    for k in range(29, 2, -2):
        total = (total + 1 / k) * square
    return 2 * s * total - s * d


def _series(a: Any, x: Any) -> Any:
    """P(a, x)/prefactor = Σ xᵏ/((a + 1)…(a + k))."""
    term = total = 0.0 * x + 1.0
    k = 1
    while k < 10_000:
        term = term * (x / (a + k))
        total = total + term
        k += 1
        if not (k % 8 or _any(term > 1e-17 * total)):
            break
    return total


def _fraction(a: Any, x: Any) -> Any:
    """Q(a, x)/(prefactor·a): the continued fraction 1/(x + 1 − a − 1(1 − a)/(x + 3 − a − …)), by Lentz's method."""
    b = x + 1 - a
    c = 0.0 * x + 1 / TINY
    d = 1 / where(b == 0, TINY, b)
    h = d
    k = 1
    while k < 10_000:
        step = -k * (k - a)
        b = b + 2
        d = step * d + b
        d = 1 / where(abs(d) < TINY, TINY, d)
        c = b + step / c
        c = where(abs(c) < TINY, TINY, c)
        h = h * (d * c)
        k += 1
        if not (k % 8 or _any(abs(d * c - 1) > 1e-15)):
            break
    return h


def _any(condition: Any) -> bool:
    return bool(devices.item(condition.any()))


@cache
def _nodes() -> tuple[Any, Any]:
    x, w = np.polynomial.legendre.leggauss(48)
    return (x + 1) / 2, w / 2


def _quadrature(a: Any, x: Any) -> tuple[Any, Any]:
    """(P, Q) for large a, by the integral over the part of the bulge of t^(a−1)·e^(−t) that lies beyond x."""
    a1 = a - 1
    width = np.sqrt(a1)
    right = x > a1
    above = np.maximum(a1 + 11.5 * width, x + 6 * width)
    below = np.maximum(0.0, np.minimum(a1 - 7.5 * width, x - 5 * width))
    end = where(right, above, below)
    total = 0.0 * x
    for node, weight in zip(*(v.tolist() for v in _nodes()), strict=True):
        d = (x + (end - x) * node - a1) / a1
        near = abs(d) < 0.4
        drift = where(near, _log1p_less(where(near, d, 0.0)), np.log1p(d) - d)
        total = total + weight * np.exp(a1 * drift)
    part = total * (end - x) * np.exp(-stirling(a1)) / (sqrt(2 * pi) * width)
    return where(right, 1 - part, -part), where(right, part, 1 + part)


# Each way, and arguments at which it is done at once: those stand where another way is chosen.
_WAYS = {
    "series": (lambda a, x: _complement(_prefactor(a, x) * _series(a, x), False), 1.0, 0.5),
    "fraction": (lambda a, x: _complement(_prefactor(a, x) * a * _fraction(a, x), True), 1.0, 5.0),
    "quadrature": (_quadrature, 200.0, 200.0),
}


def _complement(y: Any, upper: bool) -> tuple[Any, Any]:
    return (1 - y, y) if upper else (y, 1 - y)


def both(a: Any, x: Any) -> tuple[Any, Any]:
    """(P(a, x), Q(a, x)); nan for negative arguments and at a = x = 0."""
    dtype = np.result_type(a, x)
    a, x = (np.float64(v) if v.__class__ in (int, float) else v.astype(np.float64) for v in (a, x))
    good = (a > 0) & (x > 0) & (a < np.inf) & (x < np.inf)
    large = good & (a >= LARGE)
    left = good & ~large & (x < a + 1)
    chosen = {"series": left, "fraction": good & ~large & ~left, "quadrature": large}
    one = ((a == 0) & (x > 0)) | ((a > 0) & (a < np.inf) & (x == np.inf))  # all the mass lies below x
    none = ((a > 0) & (x == 0)) | ((a == np.inf) & (x >= 0) & (x < np.inf))
    p = where(one, 1.0, where(none, 0.0, np.nan))
    q = 1 - p
    for name, (way, easy_a, easy_x) in _WAYS.items():
        here = chosen[name]
        if _any(here):
            lower, upper = way(where(here, a, easy_a), where(here, x, easy_x))
            p, q = where(here, lower, p), where(here, upper, q)
    return p.astype(dtype), q.astype(dtype)


def igamma(a: Any, x: Any) -> Any:
    """P(a, x): how much of Γ(a)'s integral lies below x."""
    return both(a, x)[0]


def igammac(a: Any, x: Any) -> Any:
    """Q(a, x): how much of Γ(a)'s integral lies above x."""
    return both(a, x)[1]
