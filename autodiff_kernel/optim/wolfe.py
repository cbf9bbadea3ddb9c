"""A line search: a step length that meets the strong Wolfe conditions (Nocedal and Wright, 2006, chapter 3).

The loss must fall by at least c1·t·slope (enough for the length of the step), and the slope at the end be at most c2
times as steep as at the start.  First the interval grows until it must contain such a length, then it is narrowed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


class Point:
    """One length of step: the loss there, its gradient, and the slope along the direction."""

    __slots__ = ("t", "loss", "gradient", "slope")

    def __init__(self, t: Any, loss: float, gradient: Array, slope: Any) -> None:
        self.t, self.loss, self.gradient, self.slope = t, loss, gradient, slope


def strong_wolfe(
    along: Callable[[float], tuple[float, Array]],
    t: float,
    d: Array,
    loss: float,
    gradient: Array,
    slope: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_calls: int = 25,
) -> tuple[float, Array, float, int]:
    """Search from t on along d; returns loss and gradient at the found length, the length, and the number of calls.

    along: gives loss and gradient at a length.  loss, gradient, slope: those at length 0.
    """
    size = np.abs(d).max()
    start = Point(0, loss, gradient.copy(), slope)

    def at(t: float) -> Point:
        value, found = along(t)
        return Point(t, value, found, found.dot(d))

    def too_high(p: Point) -> bool:
        return p.loss > start.loss + c1 * p.t * slope

    def flat(p: Point) -> bool:
        return abs(p.slope) <= -c2 * slope

    new, before, calls, rounds = at(t), start, 1, 0
    while rounds < max_calls:
        if too_high(new) or (rounds > 1 and new.loss >= before.loss):
            break
        if flat(new):
            return new.loss, new.gradient, new.t, calls
        if new.slope >= 0:
            break
        longest = (new.t + 0.01 * (new.t - before.t), new.t * 10)
        t = cubic_minimum(before, new, longest)
        before, new = new, at(t)
        calls += 1
        rounds += 1
    ends = [start, new] if rounds == max_calls else [before, new]
    found, more = narrowed(ends, at, too_high, flat, size, tolerance_change, max_calls - rounds)
    return found.loss, found.gradient, found.t, calls + more


def narrowed(
    ends: list[Point],
    at: Callable[[float], Point],
    too_high: Callable[[Point], bool],
    flat: Callable[[Point], bool],
    size: float,
    tolerance: float,
    rounds: int,
) -> tuple[Point, int]:
    """Narrow the interval between two points until one of them will do; returns the better one and the calls."""
    low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
    calls = 0
    stuck = False
    while calls < rounds:
        if abs(ends[1].t - ends[0].t) * size < tolerance:
            break
        t = cubic_minimum(ends[0], ends[1])
        # A point close to an end is taken once; the second time one a tenth inside is.
        least, most = sorted((ends[0].t, ends[1].t))
        margin = 0.1 * (most - least)
        if min(most - t, t - least) >= margin:
            stuck = False
        elif stuck or t >= most or t <= least:
            t = most - margin if abs(t - most) < abs(t - least) else least + margin
            stuck = False
        else:
            stuck = True
        new = at(t)
        calls += 1
        if too_high(new) or new.loss >= ends[low].loss:
            ends[high] = new
            low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
            continue
        if flat(new):
            ends[low] = new
            break
        if new.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = new
    return ends[low], calls


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through both points with their slopes is lowest, within the bounds; their middle if nowhere."""
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    root = square**0.5
    if a.t <= b.t:
        t = b.t - (b.t - a.t) * ((b.slope + root - d1) / (b.slope - a.slope + 2 * root))
    else:
        t = a.t - (a.t - b.t) * ((a.slope + root - d1) / (a.slope - b.slope + 2 * root))
    return min(max(t, low), high)
