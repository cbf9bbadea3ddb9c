"""Random numbers by rejection: gamma, Dirichlet, Poisson and binomial numbers, exactly as PyTorch's CPU code draws them.

A rejection method proposes a number and accepts it with some probability, so nobody knows beforehand how many random
words one number takes.  The numbers are therefore drawn one after the other, in plain Python; only the uniform numbers
that they certainly need are taken from the engine together (see `Uniforms`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
        try:
            return self._ready.pop()
        except IndexError:
            self._ready = unit53(self._engine, max(self.needed, 1))[::-1].tolist()
            return self._ready.pop()

    def normal(self) -> float:
        """The next standard normal number: one of a pair, whose other one waits in the engine."""
        engine = self._engine
        spare = engine.spare
        if spare is not None:
            engine.spare = None
            return spare
        angle = 2.0 * math.pi * self.next()
        radius = math.sqrt(-2.0 * math.log1p(-self.next()))
        engine.spare = radius * math.sin(angle)
        return radius * math.cos(angle)


Sampler = Callable[[], float]  # draws the next number of one distribution


def _drawn(engine: Engine, parameters: list[Any], drawn: Array, sampler_of: Callable[..., Sampler]) -> Array:
    """One number for each tuple of parameters; drawn: whether it takes random words at all."""
    uniforms = Uniforms(engine, int(np.count_nonzero(drawn)))
    samplers: dict[Any, Sampler] = {}  # what they begin with is computed once
    numbers = []
    for each, draws in zip(parameters, drawn.tolist(), strict=True):
        sampler = samplers.get(each)
        if sampler is None:
            sampler = sampler_of(uniforms, *each)
            if len(samplers) < 1000:
                samplers[each] = sampler
        numbers.append(sampler())
        uniforms.needed -= draws
    return np.array(numbers, np.float64)


def gamma(engine: Engine, alpha: Array) -> Array:
    """Gamma numbers of scale 1 with the given shapes, a flat floating array; the result has its dtype."""
    sampler = _gamma if alpha.dtype == np.float64 else _gamma_single
    numbers = _drawn(engine, list(zip(alpha.tolist(), strict=True)), alpha != 0, sampler)
    return np.maximum(numbers.astype(alpha.dtype), np.finfo(alpha.dtype).tiny)


def dirichlet(engine: Engine, alpha: Array) -> Array:
    """Dirichlet numbers: each row of `alpha`, floating of shape (rows, n), gives n numbers whose sum is 1."""
    flat = alpha.ravel()
    weights = _drawn(engine, list(zip(flat.tolist(), strict=True)), flat != 0, _gamma).reshape(alpha.shape)
    with np.errstate(all="ignore"):
        shares = (weights / _row_sums(weights)[:, None]).astype(alpha.dtype)
    limits = np.finfo(alpha.dtype)
    return np.minimum(np.maximum(shares, limits.tiny), 1 - limits.epsneg)


def _row_sums(x: Array) -> Array:
    """The sum of each row, added up in PyTorch's order: by fours, four fours at a time (up to 256 numbers a row)."""
    rows, n = x.shape
    fours = x[:, : n - n % 4].reshape(rows, n // 4, 4)
    whole = n // 16 * 4
    lanes = np.zeros((rows, 4, 4))
    for start in range(0, whole, 4):
        lanes += fours[:, start : start + 4]
    for i in range(whole, n // 4):
        lanes[:, 0] += fours[:, i]
    four = ((lanes[:, 0] + lanes[:, 1]) + lanes[:, 2]) + lanes[:, 3]
    total = np.zeros(rows)
    for rest in (*x[:, n - n % 4 :].T, *four.T):
        total += rest
    return total


def poisson(engine: Engine, rates: Array) -> Array:
    """Poisson numbers with the given rates, a flat floating array; the result has its dtype."""
    numbers = _drawn(engine, list(zip(rates.tolist(), strict=True)), rates != 0, _poisson)
    return numbers.astype(rates.dtype)


def binomial(engine: Engine, counts: Array, chances: Array) -> Array:
    """Numbers of successes in counts[i] trials of probability chances[i]; flat arrays of one floating dtype."""
    sampler = _binomial_single if counts.dtype == np.float32 else _binomial
    drawn = (counts > 0) & (chances > 0) & (chances < 1)
    both = list(zip(counts.tolist(), chances.tolist(), strict=True))
    return _drawn(engine, both, drawn, sampler).astype(counts.dtype)


def _always(number: float) -> Sampler:
    return lambda: number


# ------------------------------------------------------------------------------------------------ gamma


def _gamma(uniforms: Uniforms, alpha: float) -> Sampler:
    """Below 1 the shape is raised by 1 and the number scaled by a power of a uniform one."""
    if not alpha > 0:  # PyTorch does not come back from a negative shape or nan
        return _always(0.0 if alpha == 0 else math.nan)
    if alpha < 1:
        return _scaled(uniforms, 1.0 / alpha, _cubes(uniforms, alpha + 1 - _THIRD))
    return _cubes(uniforms, alpha - _THIRD)


def _gamma_single(uniforms: Uniforms, alpha: float) -> Sampler:
    """The same for a shape in single precision, which is also that of the first steps."""
    if not alpha > 0:
        return _always(0.0 if alpha == 0 else math.nan)
    if alpha < 1:
        return _scaled(uniforms, _single(1.0 / alpha), _cubes(uniforms, _single(_single(alpha + 1) - _THIRD)))
    return _cubes(uniforms, _single(alpha - _THIRD))


def _scaled(uniforms: Uniforms, power: float, cubes: Callable[..., float]) -> Sampler:
    return lambda: cubes((1 - uniforms.next()) ** power)


def _cubes(uniforms: Uniforms, d: float) -> Callable[..., float]:
    """Marsaglia and Tsang (2000): cubes of normal numbers, accepted with a squeeze."""
    c = 1.0 / math.sqrt(9.0 * d)
    normal, uniform, log = uniforms.normal, uniforms.next, math.log

    def draw(scale: float = 1.0) -> float:
        while True:
            x = normal()
            y = 1.0 + c * x
            if y <= 0:
                continue
            v = y * y * y
            u = 1 - uniform()
            xx = x * x
            if u < 1.0 - _SQUEEZE * xx * xx or log(u) < 0.5 * xx + d * (1.0 - v + log(v)):
                return scale * d * v

    return draw


def _single(number: float) -> float:
    return float(np.float32(number))


# ------------------------------------------------------------------------------------------------ Poisson


def _poisson(uniforms: Uniforms, rate: float) -> Sampler:
    if rate == 0:
        return _always(0.0)
    return _poisson_large(uniforms, rate) if rate >= 10 else _poisson_small(uniforms, rate)


def _poisson_small(uniforms: Uniforms, rate: float) -> Sampler:
    """Knuth: so many uniforms can be multiplied before the product falls to exp(−rate)."""
    limit, uniform = math.exp(-rate), uniforms.next

    def draw() -> float:
        product, k = uniform(), 0
        while product > limit:
            product *= uniform()
            k += 1
        return float(k)

    return draw


def _poisson_large(uniforms: Uniforms, rate: float) -> Sampler:
    """Hörmann (1993), "PTRS": transformed rejection with a squeeze."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    accepted = 0.9277 - 3.6224 / (b - 2)
    uniform = uniforms.next

    def draw() -> float:
        while True:
            u, v, distance = _proposal(uniform)
            k = math.floor((2 * a / distance + b) * u + rate + 0.43)
            if distance >= 0.07 and v <= accepted:
                return float(k)
            if k < 0 or (distance < 0.013 and v > distance):
                continue
            proposal = _log(v) + log_inverse_alpha - math.log(a / (distance * distance) + b)
            if proposal <= -rate + k * log_rate - math.lgamma(k + 1):
                return float(k)

    return draw


# ------------------------------------------------------------------------------------------------ binomial


def _binomial(
    uniforms: Uniforms, count: float, chance: float, rounded: Callable[[float], float] = float
) -> Sampler:
    """Successes; those of a probability above ½ are the failures of its complement, subtracted."""
    if count <= 0 or chance <= 0:
        return _always(0.0)
    if chance >= 1:
        return _always(count)
    if math.isnan(count) or math.isnan(chance):
        return _always(math.nan)
    rare = chance if chance <= 0.5 else rounded(1.0 - chance)
    large = rounded(count * rare) >= 10
    sampler = (_binomial_large if large else _binomial_small)(uniforms, count, rare, rounded)
    return sampler if chance <= 0.5 else lambda: count - sampler()


def _binomial_single(uniforms: Uniforms, count: float, chance: float) -> Sampler:
    """The same for parameters in single precision, which is also that of the first steps."""
    return _binomial(uniforms, count, chance, _single)


def _binomial_small(uniforms: Uniforms, count: float, chance: float, rounded: Any) -> Sampler:
    """Jump from success to success: the distances are geometric numbers."""
    log_failure, uniform = rounded(math.log1p(-chance)), uniforms.next

    def draw() -> float:
        trials, successes = 0, 0
        while True:
            u = uniform()
            if not u:  # a distance of inf
                return float(successes)
            trials += math.ceil(math.log(u) / log_failure)
            if trials > count:
                return float(successes)
            successes += 1

    return draw


def _binomial_large(uniforms: Uniforms, count: float, chance: float, rounded: Any) -> Sampler:
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
    at_mode = (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
    uniform = uniforms.next

    def draw() -> float:
        while True:
            u, v, distance = _proposal(uniform)
            k = float(math.floor((2 * a / distance + b) * u + c))
            if k < 0 or k > count:
                continue
            if distance >= 0.07 and v <= accepted:
                return k
            bound = (
                at_mode
                + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
                + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
                + _tail(mode) + _tail(count - mode) - _tail(k) - _tail(count - k)
            )  # fmt: skip
            if _log(v * alpha / (a / (distance * distance) + b)) <= bound:
                return k

    return draw


def _proposal(uniform: Callable[[], float]) -> tuple[float, float, float]:
    """A uniform number u about 0, another one, and how far u is from ±½ (where the proposal would be infinite)."""
    while True:
        u, v = uniform() - 0.5, uniform()
        distance = 0.5 - abs(u)
        if distance:
            return u, v, distance


def _tail(k: float) -> float:
    """log k! less Stirling's formula for it."""
    if k < len(_TAILS):
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _log(x: float) -> float:
    return math.log(x) if x else -math.inf
