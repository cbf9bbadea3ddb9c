"""Random numbers by rejection: gamma, Dirichlet, Poisson and binomial numbers, exactly as PyTorch's CPU code draws them.

A rejection method proposes a number and accepts it with some probability, so nobody knows beforehand how many random
words one number takes.  The numbers are therefore drawn one after the other, in plain Python; only the uniform numbers
that they certainly need are taken from the engine together (see `Uniforms`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .distributions import unit53
from .random import Engine

Array = np.ndarray[Any, Any]

# PyTorch writes these constants in single precision, and computes with them in double.
_THIRD = float(np.float32(1) / np.float32(3))
_SQUEEZE = float(np.float32(0.0331))
# log k! less Stirling's formula, for k = 0 .. 9
_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


class Uniforms:
    """Uniform float64 numbers in [0, 1) one at a time, and normal ones made of them.

    `needed` says how many numbers are still to be drawn, each of which takes at least one uniform: so many are taken
    from the engine at once, and never one too many.
    """

    __slots__ = ("_engine", "_ready", "needed")

    def __init__(self, engine: Engine, needed: int) -> None:
        self._engine, self.needed = engine, needed
        self._ready: list[float] = []

    def next(self) -> float:
        """The next uniform number."""
        if not self._ready:
            self._ready = unit53(self._engine, max(self.needed, 1))[::-1].tolist()
        return self._ready.pop()

    def normal(self) -> float:
        """The next standard normal number: one of a pair, whose other one waits in the engine."""
        spare = self._engine.spare
        if spare is not None:
            self._engine.spare = None
            return spare
        angle = 2.0 * math.pi * self.next()
        radius = math.sqrt(-2.0 * math.log1p(-self.next()))
        self._engine.spare = radius * math.sin(angle)
        return radius * math.cos(angle)


def gamma(engine: Engine, alpha: Array) -> Array:
    """Gamma numbers of scale 1 with the given shapes, a flat floating array; the result has its dtype."""
    double = alpha.dtype == np.float64
    smallest = np.finfo(alpha.dtype).tiny
    numbers = [_gamma(uniforms, a, double) for a, uniforms in _each(engine, alpha, alpha != 0)]
    return np.maximum(np.array(numbers, np.float64).astype(alpha.dtype), smallest)


def dirichlet(engine: Engine, alpha: Array) -> Array:
    """Dirichlet numbers: each row of `alpha`, floating of shape (rows, n), gives n numbers whose sum is 1."""
    flat = alpha.ravel().astype(np.float64)
    numbers = [_gamma(uniforms, a, True) for a, uniforms in _each(engine, flat, flat != 0)]
    weights = np.array(numbers, np.float64).reshape(alpha.shape)
    with np.errstate(all="ignore"):
        shares = (weights / weights.sum(axis=-1, keepdims=True)).astype(alpha.dtype)
    limits = np.finfo(alpha.dtype)
    return np.minimum(np.maximum(shares, limits.tiny), 1 - limits.epsneg)


def poisson(engine: Engine, rates: Array) -> Array:
    """Poisson numbers with the given rates, a flat floating array; the result has its dtype."""
    numbers = [_poisson(uniforms, rate) for rate, uniforms in _each(engine, rates, rates != 0)]
    return np.array(numbers, np.float64).astype(rates.dtype)


def binomial(engine: Engine, counts: Array, chances: Array) -> Array:
    """Numbers of successes in counts[i] trials of probability chances[i]; flat arrays of one floating dtype."""
    kind = counts.dtype
    single = kind == np.float32
    drawn = (counts > 0) & (chances > 0) & (chances < 1)
    both = zip(_each(engine, counts, drawn), chances.tolist(), strict=True)
    numbers = [_binomial(uniforms, n, p, single) for (n, uniforms), p in both]
    return np.array(numbers, np.float64).astype(kind)


def _each(engine: Engine, values: Array, drawn: Array) -> Any:
    """Each value with the source of its uniforms, which knows how many more values will draw some."""
    uniforms = Uniforms(engine, int(np.count_nonzero(drawn)))
    for value, draws in zip(values.tolist(), drawn.tolist(), strict=True):
        yield value, uniforms
        uniforms.needed -= draws


def _gamma(uniforms: Uniforms, alpha: float, double: bool) -> float:
    """Marsaglia and Tsang (2000): cubes of normal numbers; below 1 the shape is raised by 1 and the number scaled."""
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        power = 1.0 / alpha
        scale = (1 - uniforms.next()) ** (power if double else _single(power))
        alpha = alpha + 1 if double else _single(alpha + 1)
    d = alpha - _THIRD if double else _single(alpha - _THIRD)
    if not d > 0:  # a negative shape or nan
        return math.nan
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = uniforms.normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - uniforms.next()
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _single(number: float) -> float:
    return float(np.float32(number))


def _poisson(uniforms: Uniforms, rate: float) -> float:
    if rate >= 10:
        return _poisson_large(uniforms, rate)
    if rate == 0:
        return 0.0
    limit, product, k = math.exp(-rate), 1.0, 0
    while True:  # Knuth: so many uniforms can be multiplied before the product falls below exp(-rate)
        product *= uniforms.next()
        if product <= limit:
            return float(k)
        k += 1


def _poisson_large(uniforms: Uniforms, rate: float) -> float:
    """Hörmann (1993), "PTRS": transformed rejection with a squeeze."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    accepted = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = uniforms.next() - 0.5
        v = uniforms.next()
        distance = 0.5 - abs(u)
        if not distance:  # a proposal of -inf
            continue
        k = math.floor((2 * a / distance + b) * u + rate + 0.43)
        if distance >= 0.07 and v <= accepted:
            return float(k)
        if k < 0 or (distance < 0.013 and v > distance):
            continue
        proposal = _log(v) + math.log(inverse_alpha) - math.log(a / (distance * distance) + b)
        if proposal <= -rate + k * log_rate - math.lgamma(k + 1):
            return float(k)


def _binomial(uniforms: Uniforms, count: float, chance: float, single: bool) -> float:
    if count <= 0 or chance <= 0:
        return 0.0
    if chance >= 1:
        return count
    if math.isnan(count) or math.isnan(chance):
        return math.nan
    rounded = _single if single else float
    rare = chance if chance <= 0.5 else rounded(1.0 - chance)
    method = _binomial_large if rounded(count * rare) >= 10 else _binomial_small
    successes = method(uniforms, count, rare, rounded)
    return successes if chance <= 0.5 else count - successes


def _binomial_small(uniforms: Uniforms, count: float, chance: float, rounded: Any) -> float:
    """Jump from success to success: the distances are geometric numbers."""
    log_failure = rounded(math.log1p(-chance))
    trials, successes = 0, 0
    while True:
        u = uniforms.next()
        if not u:  # a distance of inf
            return float(successes)
        trials += math.ceil(math.log(u) / log_failure)
        if trials > count:
            return float(successes)
        successes += 1


def _binomial_large(uniforms: Uniforms, count: float, chance: float, rounded: Any) -> float:
    """Hörmann (1993), "BTRS": transformed rejection with a squeeze."""
    mean = rounded(count * chance)
    deviation = rounded(math.sqrt(rounded(mean * rounded(1 - chance))))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    c = mean + 0.5
    accepted = 0.92 - 4.2 / b
    odds = rounded(chance / rounded(1 - chance))
    alpha = (2.83 + 5.1 / b) * deviation
    mode = float(math.floor(rounded((count + 1) * chance)))
    while True:
        u = uniforms.next() - 0.5
        v = uniforms.next()
        distance = 0.5 - abs(u)
        if not distance:  # a proposal of -inf
            continue
        k = float(math.floor((2 * a / distance + b) * u + c))
        if k < 0 or k > count:
            continue
        if distance >= 0.07 and v <= accepted:
            return k
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _tail(mode) + _tail(count - mode) - _tail(k) - _tail(count - k)
        )  # fmt: skip
        if _log(v * alpha / (a / (distance * distance) + b)) <= bound:
            return k


def _tail(k: float) -> float:
    """log k! less Stirling's formula for it."""
    if k < len(_TAILS):
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _log(x: float) -> float:
    return math.log(x) if x else -math.inf
