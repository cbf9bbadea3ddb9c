"""The cases of the generic rule test: one module per family, each with a list `CASES`.

A case names a row of the table and says how to draw its inputs:

    Case("exp", inputs(real), ref=np.exp)                       # one input of any shape
    Case("mul", inputs(real, real), ref=np.multiply)            # two inputs that broadcast
    Case("log", inputs(positive), ref=np.log)                   # a domain: positive, nonzero, unit, away(0, 1), …
    Case("pow_number", inputs(positive, number(-2, 3)))         # a Python number among the inputs
    Case("sum", draw_sum, ref=lambda a, p: a.sum(p[0], keepdims=p[1]))   # with parameters p

`draw` is a function of a `Draw`; it gives the list of inputs (NumPy arrays, Python numbers, None) and, if the row has
parameters, p:

    def draw_sum(d):
        a = d.array(d.shape())
        axis = d.choice([None, *((i,) for i in range(a.ndim))])
        return [a], (axis, d.flag())

`d.shape()` follows the draw's style (0-d, empty, size 1, …; `d.shape(2, empty=False)` asks for at least 2 dimensions
and no empty ones), `d.shapes(n)` gives n shapes that broadcast, `d.array(shape, domain)` has a layout that follows the
style too (transposed, strided, expanded), `d.distinct(shape)` has no two equal elements and an ordinary layout.

A draw function asks the Draw for every choice (`d.integer`, `d.flag`, `d.choice`), because there are two kinds of
Draw: this module's follows a style and a seed; `scripted.py`'s asks hypothesis, which then draws shapes of up to 4
dimensions, broadcasting, parameters and layouts of its own and shrinks what fails.

Inputs of floating or complex dtype whose rule is not None are differentiated. `ref` gets the inputs (and p, if the
row has parameters) as NumPy values.

Flags, each for a reason that the case states in a comment: `second=False` (no second derivative), `syncs=True` (reads
values of the GPU on the CPU, because a shape depends on them), `float32=False` (the row's own meaning is a dtype),
`gpu=False` (the row would leave the GPU), `symmetric=True` (the row reads one triangle of a symmetric matrix, so only
symmetric directions are tried), `storage=True` (the row speaks of its input's place in memory, which stays as drawn).
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

STYLES = ("plain", "0-d", "empty", "size 1", "broadcast", "transposed", "strided", "expanded")
Domain = Callable[[np.random.Generator, tuple[int, ...]], Any]


@dataclass(frozen=True, repr=False)
class Case:
    """One way to exercise a row of the table. See the head of this module."""

    row: str
    draw: "Callable[[Draw], Any]"
    ref: Callable[..., Any] | None = None
    name: str = ""
    second: bool = True
    syncs: bool = False
    float32: bool = True
    gpu: bool = True
    symmetric: bool = False
    storage: bool = False
    tolerance: float = 1e-6

    def __str__(self) -> str:
        return f"{self.row}-{self.name}" if self.name else self.row

    __repr__ = __str__

    def example(self, d: "Draw") -> tuple[list[Any], Any]:
        """The inputs, and the parameters or None."""
        drawn = self.draw(d)
        return drawn if isinstance(drawn, tuple) else (drawn, None)


class Draw:
    """A source of shapes, values and choices, fixed by its style and seed."""

    def __init__(self, style: str, seed: int) -> None:
        self.style, self.seed = style, seed
        self.rng = np.random.default_rng(seed)

    def __repr__(self) -> str:
        return f"Draw({self.style!r}, {self.seed})"

    def fresh(self) -> "Draw":
        """The same again: a Draw is used up by drawing, and every check wants the same example."""
        return Draw(self.style, self.seed)

    # ---- choices
    def integer(self, low: int, high: int) -> int:
        """A whole number, low and high included."""
        return int(self.rng.integers(low, high + 1))

    def choice(self, options: Any) -> Any:
        options = list(options)
        return options[self.integer(0, len(options) - 1)]

    def flag(self) -> bool:
        return bool(self.integer(0, 1))

    # ---- shapes
    def shape(self, least: int = 0, most: int = 3, empty: bool = True, side: int = 4) -> tuple[int, ...]:
        """A shape of `least` to `most` dimensions with sides up to `side`."""
        if self.style == "0-d" and not least:
            return ()
        ndim = self.integer(max(least, 1), max(most, least)) if most else 0
        if self.style == "transposed":
            ndim = max(ndim, min(2, most))
        sides = [self.integer(2, max(side, 2)) for _ in range(ndim)]
        if sides and self.style == "size 1":
            sides = [1 if self.flag() else n for n in sides]
            sides[self.integer(0, ndim - 1)] = 1
        if sides and self.style == "empty" and empty:
            sides[self.integer(0, ndim - 1)] = 0
        return tuple(sides)

    def shapes(self, count: int, empty: bool = True) -> list[tuple[int, ...]]:
        """Shapes that broadcast against each other: the same ones except in the style 'broadcast'."""
        whole = self.shape(empty=empty)
        if self.style != "broadcast" or count == 1:
            return [whole] * count
        out = []
        for _ in range(count):
            part = [1 if self.integer(0, 2) == 0 else n for n in whole]
            out.append(tuple(part[self.integer(0, len(part)) :] if self.flag() else part))
        return out

    # ---- values
    def array(self, shape: tuple[int, ...], domain: "Domain | None" = None) -> Any:
        """An array of values from a domain, in a layout that follows the style."""
        domain = domain or real
        if self.style == "transposed" and len(shape) > 1:
            return domain(self.rng, shape[::-1]).transpose()
        if self.style == "strided" and shape:
            return domain(self.rng, (*shape[:-1], 2 * shape[-1]))[..., ::2]
        if self.style == "expanded" and shape:
            i = self.integer(0, len(shape) - 1)
            return np.broadcast_to(domain(self.rng, (*shape[:i], 1, *shape[i + 1 :])), shape)
        return domain(self.rng, shape)

    def distinct(self, shape: tuple[int, ...]) -> Any:
        """Values of which no two are nearer than 0.1 to each other, and none to 0."""
        count = int(np.prod(shape))
        return np.asarray((self.rng.permutation(count) - count // 2 + 0.5) * 0.2).reshape(shape)

    def laid(self, x: Any, cotangent: bool = False) -> Any:
        """x, perhaps with its elements somewhere else in memory. Here: where they are."""
        return x

    def indices(self, shape: tuple[int, ...], size: int) -> Any:
        """An int64 array of numbers below `size`."""
        return np.asarray(self.rng.integers(0, size, shape))


# ------------------------------------------------------------------------------------------------ domains
def real(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Any numbers, mostly between -3 and 3."""
    return np.asarray(rng.normal(size=shape) * 1.3)


def uniform(low: float, high: float) -> Domain:
    return lambda rng, shape: np.asarray(rng.uniform(low, high, size=shape))


positive = uniform(0.3, 3.0)
unit = uniform(-0.9, 0.9)


def away(*kinks: float, low: float = -3.0, high: float = 3.0) -> Domain:
    """Numbers that keep a distance of 0.05 from each kink."""

    def domain(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        x = np.asarray(rng.uniform(low, high, size=shape))
        for k in kinks:
            near = np.abs(x - k) < 0.05
            x = np.where(near, k + np.where(x < k, -0.06, 0.06), x)
        return x

    return domain


nonzero = away(0.0)


def integers(low: int, high: int) -> Domain:
    return lambda rng, shape: np.asarray(rng.integers(low, high + 1, size=shape))


def booleans(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return np.asarray(rng.integers(0, 2, size=shape).astype(bool))


@dataclass(frozen=True)
class Plain:
    """A Python value in place of an array."""

    make: Callable[[np.random.Generator], Any]


def number(low: float, high: float) -> Plain:
    """A Python float."""
    return Plain(lambda rng: float(rng.uniform(low, high)))


def constant(value: Any) -> Plain:
    """A fixed Python value."""
    return Plain(lambda rng: value)


def inputs(*domains: Domain | Plain, p: Any = None) -> Callable[[Draw], Any]:
    """A draw of one array per domain, of shapes that broadcast; `p` are fixed parameters."""

    def draw(d: Draw) -> Any:
        shapes = d.shapes(len(domains))
        xs = [
            domain.make(d.rng) if isinstance(domain, Plain) else d.array(shape, domain)
            for shape, domain in zip(shapes, domains, strict=True)
        ]
        return xs if p is None else (xs, p)

    return draw


@cache
def all_cases() -> tuple[Case, ...]:
    """The cases of all families, in the order of their modules' names."""
    found: list[Case] = []
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        found += getattr(importlib.import_module(f"{__name__}.{module}"), "CASES", ())
    return tuple(found)
