"""Examples whose choices are hypothesis's: a Draw that asks it for each shape, side, parameter and layout.

The cases need not know: their draw functions are written once and serve the fixed styles and hypothesis alike. What
hypothesis chose is kept as a list of whole numbers (the script), so that every check sees the same example and a
failing one shrinks to few dimensions, short sides and plain layouts. The values of arrays come from a seed.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import STYLES, Case, Domain, Draw, real
from .layouts import COTANGENT_LAYOUTS, LAYOUTS, lay

MOST_ELEMENTS = 64


class Scripted(Draw):
    """A Draw that takes its choices from a script, or writes one while it asks `ask(low, high)`."""

    def __init__(self, script: Sequence[int] = (), ask: Callable[[int, int], int] | None = None) -> None:
        self.script, self.ask, self.at = list(script), ask, 0
        super().__init__("plain", 0)
        self.rng = np.random.default_rng(self.integer(0, 2**31))
        self.style = self.choice(STYLES)

    def fresh(self) -> "Scripted":
        return Scripted(self.script) if self.ask is None else self

    def __repr__(self) -> str:
        return f"Scripted({self.script})"

    def integer(self, low: int, high: int) -> int:
        if self.ask is not None:
            self.script.append(self.ask(low, high))
        value = self.script[self.at]
        self.at += 1
        return value

    def shape(self, least: int = 0, most: int = 3, empty: bool = True, side: int = 4) -> tuple[int, ...]:
        """Up to 4 dimensions where 3 are the usual most; sides of 1 and 0 among the others."""
        ndim = self.integer(least, max(4 if most == 3 else most, least))
        sides: list[int] = []
        for _ in range(ndim):
            room = max(MOST_ELEMENTS // max(math.prod(sides), 1), 1)
            n = self.integer(0, side + 1)  # hypothesis tries the ends more often
            sides.append(min(1 if n == 0 else 0 if n == side + 1 and empty else min(n, side), room))
        return tuple(sides)

    def shapes(self, count: int, empty: bool = True) -> list[tuple[int, ...]]:
        """Shapes that broadcast: each is the whole one, with sides of 1 and without its first dimensions."""
        whole = self.shape(empty=empty)
        if count == 1 or not self.flag():
            return [whole] * count
        out = []
        for _ in range(count):
            part = tuple(1 if n != 1 and self.flag() else n for n in whole)
            out.append(part[self.integer(0, len(part)) :])
        return out

    def array(self, shape: tuple[int, ...], domain: Domain | None = None) -> Any:
        """Values from a domain; some dimensions may be repeated without memory of their own."""
        repeated = [bool(n) and self.integer(0, 5) == 5 for n in shape]
        own = tuple(1 if r else n for r, n in zip(repeated, shape, strict=True))
        x = (domain or real)(self.rng, own)
        return np.broadcast_to(x, shape) if any(repeated) else x

    def laid(self, x: Any, cotangent: bool = False) -> Any:
        """x with its elements somewhere else in memory."""
        return lay(x, self.choice(COTANGENT_LAYOUTS if cotangent else LAYOUTS), self.rng)


@st.composite
def scripts(draw: Callable[[Any], Any], case: Case, use: Callable[[Case, Draw], Any]) -> Scripted:
    """A script for a case: `use` builds from a Draw whatever the checks build from it."""
    writing = Scripted(ask=lambda low, high: int(draw(st.integers(low, high))))
    use(case, writing)
    return Scripted(writing.script)
