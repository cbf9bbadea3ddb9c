"""Random numbers, the distributions: each turns words of an engine into numbers exactly as PyTorch's CPU code does.

A draw returns a flat array of `count` numbers in the order in which PyTorch fills memory; `ordered` gives them
the shape of a target.  Logarithms, sines and cosines in double precision are the C library's, as in PyTorch:
NumPy's own may differ in the last bit, so they are called one number at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .boxmuller import normal_pairs
from .random import Engine
from .rounding import affine

Array = np.ndarray[Any, Any]

_U64 = np.uint64
_BITS_24, _BITS_53 = _U64(2**24 - 1), _U64(2**53 - 1)
_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # of a mantissa


def ordered(numbers: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """Flat `numbers` as an array of `shape`, filled in the memory order of `strides`: the largest runs slowest."""
    order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    return numbers.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))


# --- uniform and normal ------------------------------------------------------------------------------------


def unit24(engine: Engine, count: int) -> Array:
    """Uniform float32 in [0, 1) with 24 random bits, one word each."""
    return (engine.words(count) & _BITS_24).view(np.int64).astype(np.float32) * np.float32(2.0**-24)


def unit53(engine: Engine, count: int) -> Array:
    """Uniform float64 in [0, 1) with 53 random bits, two words each."""
    return (engine.wide(count) & _BITS_53).view(np.int64).astype(np.float64) * 2.0**-53


def uniform(engine: Engine, count: int, dtype: Any, low: float = 0.0, high: float = 1.0) -> Array:
    """Uniform numbers in [low, high) of a floating `dtype`, shape (count,)."""
    dtype = np.dtype(dtype)
    numbers = unit53(engine, count) if dtype == np.float64 else unit24(engine, count)
    first, last = numbers.dtype.type(low), numbers.dtype.type(high)
    if (low, high) != (0.0, 1.0):
        numbers = affine(numbers, last - first, first)
    elif dtype == numbers.dtype:
        return numbers
    numbers = numbers.astype(dtype, copy=False)
    numbers[numbers == last.astype(dtype)] = first  # rounded up to the excluded end
    return numbers


def normal(
    engine: Engine, count: int, dtype: Any, mean: float = 0.0, std: float = 1.0, *, contiguous: bool = True
) -> Array:
    """Normal numbers of a floating `dtype`, shape (count,).

    PyTorch has two ways, which give different numbers: blocks of sixteen for a contiguous target of 16 or more
    elements, else pairs in double precision.  `contiguous` says what the numbers are for.
    """
    dtype = np.dtype(dtype)
    if count < 16 or not contiguous:
        return _narrowed(affine(_normal_short(engine, count), std, mean), dtype)
    double, halves = dtype == np.float64, dtype.itemsize == 2
    block = _normal_blocks64 if double else _normal_blocks32
    whole = count - count % 16
    # The last 16 places are drawn again if they are not a block; for 16-bit types the odd ones only then.
    numbers = uniform(engine, whole if halves else count, np.float64 if double else np.float32)
    made = block(numbers[:whole], mean, std)
    if whole < count:
        last = block(uniform(engine, 16, numbers.dtype), mean, std)
        made = np.concatenate([made[: count - 16], last])
    return made.astype(dtype, copy=False)


def _normal_short(engine: Engine, count: int) -> Array:
    """Standard normal float64 numbers by pairs; an odd one stays in the engine for the next call of this kind."""
    spared = [] if engine.spare is None or not count else [engine.spare]
    pairs = (count - len(spared) + 1) // 2
    if spared:
        engine.spare = None
    unit = unit53(engine, 2 * pairs)
    radius = np.sqrt(-2.0 * _apply(math.log1p, -unit[1::2]))
    angle = 2.0 * math.pi * unit[0::2]
    made = np.empty(2 * pairs)
    made[0::2] = radius * _apply(math.cos, angle)
    made[1::2] = radius * _apply(math.sin, angle)
    numbers = np.concatenate([spared, made])
    if numbers.size > count:
        engine.spare = float(numbers[count])
    return numbers[:count]


def _normal_blocks32(unit: Array, mean: float, std: float) -> Array:
    blocks = unit.reshape(-1, 2, 8)
    pairs = normal_pairs(blocks[:, 0].ravel(), blocks[:, 1].ravel())
    return _joined(affine(pairs[0], std, mean), affine(pairs[1], std, mean))


def _normal_blocks64(unit: Array, mean: float, std: float) -> Array:
    blocks = unit.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * _apply(math.log, 1.0 - blocks[:, 0].ravel()))
    angle = 2.0 * math.pi * blocks[:, 1].ravel()
    cosines, sines = radius * _apply(math.cos, angle), radius * _apply(math.sin, angle)
    return _joined(affine(cosines, std, mean), affine(sines, std, mean))


def _joined(first: Array, second: Array) -> Array:
    return np.stack([first.reshape(-1, 8), second.reshape(-1, 8)], axis=1).reshape(-1)


def _narrowed(x: Array, dtype: Any) -> Array:
    """float64 to `dtype`; to 16 bits by way of float32, rounding twice as PyTorch does."""
    return (
        x.astype(np.float32).astype(dtype) if np.dtype(dtype).itemsize == 2 else x.astype(dtype, copy=False)
    )


def _apply(function: Callable[[float], float], x: Array) -> Array:
    """The C library's `function` of each number, -inf where it is a logarithm of 0 and inf where it overflows."""
    try:
        return np.fromiter(map(function, x.tolist()), np.float64, x.size)
    except (ValueError, OverflowError):
        return np.array([_limit(function, number) for number in x.tolist()], np.float64)


def _limit(function: Callable[[float], float], number: float) -> float:
    try:
        return function(number)
    except ValueError:
        return -math.inf
    except OverflowError:
        return math.inf


# --- whole numbers -----------------------------------------------------------------------------------------


def integers(engine: Engine, count: int, dtype: Any, low: int, high: int) -> Array:
    """Whole numbers from low to high - 1 of any real `dtype`, shape (count,); all 64 bits where high is 2^63."""
    low, high = _counted(np.dtype(dtype), low, high)
    span = high - low
    if span == 2**64:
        return engine.wide(count).view(np.int64).astype(dtype)
    if span < 2**28:
        numbers = engine.words(count) % _U64(span)
    else:
        numbers = engine.wide(count) % _U64(span)
    return (numbers + _U64(low % 2**64)).view(np.int64).astype(dtype)


def _counted(dtype: np.dtype[Any], low: int, high: int) -> tuple[int, int]:
    """Move ends that a floating `dtype` cannot tell from their neighbours inwards, as PyTorch does."""
    digits = _DIGITS.get(dtype.name)
    if digits is None:
        return low, high
    first, last = int(dtype.type(low + 1)), int(dtype.type(high - 1))
    if first < low:
        low = first + (1 << (abs(low + 1).bit_length() - digits))
    if last >= high:
        high = last - (1 << (abs(high - 1).bit_length() - digits))
    return low, high


def anything(engine: Engine, count: int, dtype: Any) -> Array:
    """Whole numbers over all that `dtype` counts exactly from 0 (bool: False and True), shape (count,)."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return (engine.words(count) & _U64(1)).astype(dtype)
    if dtype == np.int64:
        return (engine.wide(count) & _U64(2**63 - 1)).view(np.int64)
    if dtype == np.float64:
        return (engine.wide(count) % _U64(2**53 + 1)).astype(dtype)
    digits = _DIGITS.get(dtype.name)
    top = np.iinfo(dtype).max if digits is None else 2**digits
    return (engine.words(count) % _U64(int(top) + 1)).view(np.int64).astype(dtype)


def permutation(engine: Engine, count: int) -> Array:
    """A random order of 0 .. count - 1, int64 of shape (count,): Fisher and Yates, from the front."""
    steps = np.arange(max(count - 1, 0), dtype=np.uint64)
    partners = (engine.words(steps.size) % (_U64(count) - steps) + steps).tolist()
    order = list(range(count))
    drawn: list[int] = []
    draw = drawn.append
    for place_, partner in enumerate(partners):  # a swap whose first half goes to its last place at once
        draw(order[partner])
        order[partner] = order[place_]
    return np.array(drawn + order[-1:], np.int64)


# --- the others --------------------------------------------------------------------------------------------


def bernoulli(engine: Engine, count: int, p: float) -> Array:
    """True with probability p, bool of shape (count,); 53 random bits each, whatever the target's dtype."""
    return unit53(engine, count) < p


def bernoulli_each(engine: Engine, p: Array) -> Array:
    """True with the probability that each entry of flat `p` says; 53 random bits for float64, else 24."""
    unit = unit53(engine, p.size) if p.dtype == np.float64 else unit24(engine, p.size)
    return unit < p


def exponential(engine: Engine, count: int, dtype: Any, rate: float = 1.0) -> Array:
    """Exponential numbers of mean 1 / rate, shape (count,)."""
    return _narrowed(_apply(math.log1p, -unit53(engine, count)) * (-1.0 / rate), dtype)


def geometric(engine: Engine, count: int, dtype: Any, p: float) -> Array:
    """Number of trials up to the first success of probability p, shape (count,)."""
    return np.ceil(_apply(math.log, unit53(engine, count)) / math.log(1.0 - p)).astype(dtype)


def cauchy(engine: Engine, count: int, dtype: Any, median: float = 0.0, sigma: float = 1.0) -> Array:
    """Cauchy numbers, shape (count,)."""
    tangent = _apply(math.tan, math.pi * (unit53(engine, count) - 0.5))
    return _narrowed(affine(tangent, sigma, median), dtype)


def log_normal(engine: Engine, count: int, dtype: Any, mean: float = 1.0, std: float = 2.0) -> Array:
    """exp of normal numbers, shape (count,)."""
    return _narrowed(_apply(math.exp, affine(_normal_short(engine, count), std, mean)), dtype)


def multinomial(engine: Engine, p: Array, count: int, *, replacement: bool) -> Array:
    """Draw `count` categories per row of weights `p`, floating of shape (rows, n); int64 of shape (rows, count)."""
    if not replacement or count == 1:
        waits = exponential(engine, p.size, p.dtype).reshape(p.shape)
        first = p / waits
        if count == 1:
            return first.argmax(axis=1)[:, None]
        return np.argsort(-first, axis=1, kind="stable")[:, :count]
    unit = unit53(engine, p.shape[0] * count).reshape(-1, count)
    out = np.empty(unit.shape, np.int64)
    for row, weights in enumerate(p.astype(np.promote_types(p.dtype, np.float32))):
        sums = np.add.accumulate(weights)
        sums = sums / sums[-1]
        sums[-1] = 1
        out[row] = np.searchsorted(sums, unit[row], side="left")
    return out
