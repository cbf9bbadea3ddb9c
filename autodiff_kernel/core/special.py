"""erf, lgamma, digamma and their relatives on raw arrays, to double precision, in plain array arithmetic.

Sources: J. L. Schonfelder and M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1+2x)exp(x²)erfc x in
0 ≤ x < ∞", Math. Comp. 36 (1981) for the form of erfc (the coefficients were computed anew, to 50 digits); M. J.
Wichura, "Algorithm AS 241", Applied Statistics 37 (1988) for erfinv; Stirling's series, the Euler-Maclaurin formula
and the reflection formulas as in the NIST Digital Library of Mathematical Functions, chapters 5 and 25.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, wraps
from math import comb, factorial, log, pi, sqrt
from typing import Any

import numpy as np

from .formats import nesting

ndarray, generic = np.ndarray, np.generic


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial with these coefficients, constant first."""
    y = x * coefficients[-1]
    for c in coefficients[-2:0:-1]:
        y += c  # in place where y is an array
        y *= x
    y += coefficients[0]
    return y


def where(condition: Any, a: Any, b: Any) -> Any:
    y = np.where(condition, a, b)
    return y[()] if y.__class__ is ndarray and not y.ndim else y


def at_least_single(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compute half precision in single."""

    @wraps(f)
    def wide(x: Any) -> Any:
        return f(x) if x.dtype.itemsize > 2 else f(x.astype(np.float32)).astype(x.dtype)

    return wide


def in_double(f: Callable[..., Any]) -> Callable[..., Any]:
    """Compute in double precision, whatever the input's."""

    @wraps(f)
    def wide(*xs: Any) -> Any:
        x = xs[-1]
        if x.dtype.itemsize == 8:
            return f(*xs)
        return f(*xs[:-1], x.astype(np.float64)).astype(x.dtype)

    return wide


# ------------------------------------------------------------------------------------------------ erf
# erfc(x)·exp(x²)·(1 + 2x) as a polynomial in t = (x − 3.75)/(x + 3.75), and erf(x)/x in x² for |x| ≤ 1
_TAIL = (
    1.23751263083782753, -0.140240598585546962, 0.00358541548547902564, 0.0822767384901452077,
    -0.108803930142444613, 0.0923043211603774778, -0.0586933985766493384, 0.0283622774189564043,
    -0.00974657968326526223, 0.00175562585289529536, 0.00029371437804495803, -0.000290154080540841711,
    0.0000516465297417741613, 0.0000223842391550822298, -0.0000114380480333468936, -9.73559896736774934e-7,
    1.74198215862248159e-6, -5.72182306032240875e-8, -2.48571262480167429e-7, 2.32635087088591237e-8,
    3.19792667166680429e-8, -3.74421008096201864e-9, -2.62310734713347576e-9, 3.1114333809799252e-10,
)  # fmt: skip
_TAIL_SINGLE = (
    1.23751261926769989, -0.140243065825501827, 0.00358627039402461811, 0.0823265700657787823, -0.108814270149050695,
    0.0920211291303772151, -0.0586468587355461429, 0.0290255734176736986, -0.00984449485967495096,
    0.0010595911644346906, 0.000396307612989362722,
)  # fmt: skip
_MIDDLE = (
    1.12837916709551257, -0.376126389031835435, 0.112837916709451297, -0.0268661706432569943,
    0.00522397760726994529, -0.000854832598254322506, 0.000120552951126670011, -0.000014924740785377575,
    1.64474711905946181e-6, -1.62088298568102008e-7, 1.37215204063510944e-8, -7.7985438505499469e-10,
)  # fmt: skip
_MIDDLE_SINGLE = (
    1.12837916588150263, -0.376126269035804383, 0.112835974634880531, -0.0268543287960672443, 0.00518931194268661768,
    -0.000801885499278638696, 0.0000788249711008666357,
)  # fmt: skip


def _scaled_tail(z: Any) -> Any:
    """exp(z²)·erfc(z) for z ≥ 0."""
    t = 1 - 7.5 / (z + 3.75)  # the quotient above, in a form that infinity survives
    y = horner(t, _TAIL if z.dtype.itemsize == 8 else _TAIL_SINGLE)
    y /= 2 * z + 1
    return y


FEW = 800  # elements up to which Python's own function, one by one, is faster than 60 array operations


def in_its_order(f: Callable[[Any], Any], x: Any) -> Any:
    """f of each element, for an array that is not row-major: the result's dimensions lie in memory as x's."""
    order = nesting(x)
    return f(x.transpose(order).copy()).transpose(np.argsort(order))


def one_by_one(scalar: Callable[[float], float]) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Use the standard library's function for small arrays on the CPU (0-d: 0.2 instead of 60 µs)."""

    def decorate(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @wraps(f)
        def chosen(x: Any) -> Any:
            if isinstance(x, generic):
                return x.dtype.type(scalar(float(x)))
            if x.__class__ is ndarray and x.size <= FEW:
                if not x.flags.c_contiguous:
                    return in_its_order(chosen, x)
                return np.array([scalar(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)
            return f(x)

        return chosen

    return decorate


@one_by_one(math.erf)
@at_least_single
def erf(x: Any) -> Any:
    """The error function 2/√π · ∫₀ˣ exp(−t²) dt."""
    z = abs(x)
    square = z * z
    outside = 1 - _scaled_tail(z) * np.exp(-square)
    inside = horner(square, _MIDDLE if x.dtype.itemsize == 8 else _MIDDLE_SINGLE) * x
    return where(z < 1, inside, np.copysign(outside, x))


@one_by_one(math.erfc)
@in_double
def erfc(x: Any) -> Any:
    """1 − erf(x), without loss of digits where it is small."""
    z = np.minimum(abs(x), 100.0)
    head = z.astype(np.float32).astype(np.float64)  # its square is exact, so that exp(−z²) keeps its digits
    tail = _scaled_tail(z) * (np.exp(-head * head) * np.exp((head - z) * (head + z)))
    return where(x < 0, 2 - tail, tail)


_CENTRAL = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_NEAR = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


def _ratio(x: Any, coefficients: Any) -> Any:
    return horner(x, coefficients[0]) / horner(x, coefficients[1])


def _quantile(q: Any, tail: Any) -> Any:
    """The normal distribution's quantile at q + 1/2; tail is its distance from 0 or 1, the nearer one."""
    r = np.sqrt(-np.log(tail))
    outside = where(r <= 5, _ratio(r - 1.6, _NEAR), _ratio(r - 5, _FAR))
    outside = np.copysign(where(tail == 0, np.inf, outside), q)
    return where(abs(q) <= 0.425, _ratio(0.180625 - q * q, _CENTRAL) * q, outside)


@in_double
def erfinv(x: Any) -> Any:
    """The inverse of erf on (−1, 1); ±∞ at ±1, nan outside."""
    return _quantile(x / 2, (1 - abs(x)) / 2) * sqrt(0.5)


@in_double
def ndtri(x: Any) -> Any:
    """The inverse of the normal distribution's function on (0, 1); ±∞ at its ends, nan outside."""
    return _quantile(x - 0.5, np.minimum(x, 1 - x))


@in_double
def erfcx(x: Any) -> Any:
    """exp(x²)·erfc(x), which falls as 1/x where erfc underflows."""
    z = abs(x)
    tail = _scaled_tail(z)
    return where(x < 0, 2 * np.exp(x * x) - tail, tail)


@in_double
def ndtr(x: Any) -> Any:
    """The normal distribution's function, exact in its left tail too."""
    return 0.5 * erfc(x * -sqrt(0.5))


@in_double
def log_ndtr(x: Any) -> Any:
    """The logarithm of `ndtr`, which does not underflow."""
    left = x < -1
    low, high = where(left, x, -1.0), where(left, -1.0, x)
    tail = np.log(erfcx(low * -sqrt(0.5)) / 2) - low * low / 2
    return where(left, tail, np.log1p(-0.5 * erfc(high * sqrt(0.5))))


# ------------------------------------------------------------------------------------------------ gamma
@cache
def bernoulli(n: int) -> float:
    """The Bernoulli number B(n)."""
    if n == 0:
        return 1.0
    return -sum(comb(n + 1, k) * bernoulli(k) for k in range(n)) / (n + 1)


SHIFT = 8  # the series for large x are used from here on; smaller x are moved up by the recurrence
_STIRLING = tuple(bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 10))
_DIGAMMA = tuple(bernoulli(2 * k) / (2 * k) for k in range(1, 10))


def _raised(x: Any) -> tuple[Any, Any]:
    """Is x small, and x moved up if it is."""
    small = x < SHIFT
    return small, where(small, x + SHIFT, x)


def _from_whole(x: Any) -> Any:
    """How far x is from the nearest whole number: sin and tan of πx keep their digits."""
    return x - np.rint(x)


def stirling(x: Any) -> Any:
    """What log Γ(x + 1) is more than log(√(2πx)·(x/e)ˣ), for x ≥ 8."""
    return horner(1 / (x * x), _STIRLING) / x


def _lgamma_of_one(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:  # a pole
        return math.inf


@one_by_one(_lgamma_of_one)
@in_double
def lgamma(x: Any) -> Any:
    """log |Γ(x)|; the error is absolute near the zeros at 1 and 2."""
    low = x < 0.5
    w = where(low, 1 - x, x)
    small, z = _raised(w)
    product = w
    for k in range(1, SHIFT):
        product = product * (w + k)
    y = (z - 0.5) * (np.log(z) - 1) - 0.5 + 0.5 * log(2 * pi) + horner(1 / (z * z), _STIRLING) / z
    y = y - where(small, np.log(product), 0.0)
    reflected = np.log(pi / abs(np.sin(pi * _from_whole(x)))) - y
    y = where(low, reflected, y)
    return where(abs(x) == np.inf, np.inf, y)


@in_double
def digamma(x: Any) -> Any:
    """The logarithmic derivative of Γ; ∓∞ at ±0, nan at negative whole numbers."""
    low = x < 0
    w = where(low, 1 - x, x)
    small, z = _raised(w)
    total = 1 / w
    for k in range(1, SHIFT):
        total = total + 1 / (w + k)
    inverse = 1 / (z * z)
    y = np.log(z) - 0.5 / z - inverse * horner(inverse, _DIGAMMA) - where(small, total, 0.0)
    fraction = _from_whole(x)
    reflected = y - pi / np.tan(pi * fraction)
    y = where(low, where(fraction == 0, np.nan, reflected), y)
    return where(x == 0, np.copysign(np.inf, -x), y)


@in_double
def zeta(s: Any, q: Any) -> Any:
    """Hurwitz's zeta function Σ (q + k)^(−s) over k ≥ 0, for s > 1 and q > 0 (Euler-Maclaurin, DLMF 25.11.5)."""
    total = q**-s
    for k in range(1, 10):
        total = total + (q + k) ** -s
    z = q + 10
    total = total + z ** (1 - s) / (s - 1) + 0.5 * z**-s
    factor, power = s, z ** (-s - 1)
    for j in range(1, 13):
        total = total + (bernoulli(2 * j) / factorial(2 * j) * factor) * power
        factor = factor * ((s + 2 * j - 1) * (s + 2 * j))
        power = power / (z * z)
    return total


@cache
def _cotangent_derivative(n: int) -> tuple[float, ...]:
    """The n-th derivative of π·cot(πx) as a polynomial in c = cot(πx): dc/dx = −π(1 + c²)."""
    p = [0.0, pi]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(p)][1:]
        p = [0.0] * (len(slope) + 2)
        for k, c in enumerate(slope):
            p[k] -= pi * c
            p[k + 2] -= pi * c
    return tuple(p)


@in_double
def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of digamma, n ≥ 0."""
    if n == 0:
        return digamma(x)
    low = x < 0
    sign = -1.0 if n % 2 == 0 else 1.0
    y = sign * factorial(n) * zeta(n + 1.0, where(low, 1 - x, x))
    cotangent = 1 / np.tan(pi * _from_whole(x))
    reflected = -sign * y - horner(cotangent, _cotangent_derivative(n))
    return where(low, reflected, y)
