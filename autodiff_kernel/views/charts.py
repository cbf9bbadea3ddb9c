"""Charts for all views: curves on linear or logarithmic axes, and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .page import clip, label, line, room
from .scene import Circle, Rect, Scene, Shape
from .style import CARD, ERROR, GREY, INK, LEAF, OUTPUT, RULE, number

Point = tuple[float, float]
# Curves differ by dashes too, and each has its name at its end.
LOOKS = ((LEAF, ""), (OUTPUT, "6 3"), (INK, "2 3"), (ERROR, "8 3 2 3"), (GREY, "4 2"), (LEAF, "1 3"))


class Curve(NamedTuple):
    """A named row of points; what is not finite (on a logarithmic axis: not positive) is a gap."""

    name: str
    points: Sequence[Point]


class Mark(NamedTuple):
    """A place on the chart with its name."""

    x: float
    y: float
    name: str


class Axis:
    """From values to pixels."""

    def __init__(self, values: Sequence[float], first: float, last: float, *, log: bool) -> None:
        self.log, self.first, self.last = log, first, last
        found = [self._scaled(v) for v in values if self.holds(v)]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        if log:
            low, high = math.floor(low + 1e-9), math.ceil(high - 1e-9)
        if low == high:
            low, high = low - 1, high + 1
        self.low, self.high = low, high

    def holds(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.log)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def __call__(self, value: float) -> float:
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values along the axis."""
        if self.log:
            step = max(1, math.ceil((self.high - self.low) / most))
            return [10.0**k for k in range(int(self.low), int(self.high) + 1, step)]
        span = self.high - self.low
        unit = 10.0 ** math.floor(math.log10(span / most))
        step_size = next(unit * k for k in (1, 2, 5, 10, 20) if span / (unit * k) <= most)
        first = math.ceil(self.low / step_size - 1e-9)
        return [k * step_size for k in range(first, math.floor(self.high / step_size + 1e-9) + 1)]


def power(value: float) -> str:
    """A tick's number: powers of ten as 1e-3.

    >>> power(0.001), power(1.0), power(100.0), power(0.5)
    ('1e-3', '1', '100', '0.5')
    """
    if value > 0 and not 0.01 <= value < 1e4:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return number(round(value, 10))


def chart(
    curves: Sequence[Curve],
    *,
    across: str,
    up: str,
    log_x: bool = False,
    log_y: bool = False,
    marks: Sequence[Mark] = (),
    width: float = 560,
    height: float = 280,
) -> Scene:
    """Curves with their names, on axes with words. across, up: what the axes mean."""
    names = room([c.name for c in curves], 11)
    left, right, top, bottom = 58.0, width - names - 22, 26.0, height - 40
    xs = [x for c in curves for x, _ in c.points] + [m.x for m in marks]
    ys = [y for c in curves for _, y in c.points] + [
        m.y / 10 if log_y else m.y for m in marks
    ]  # room for the name under it
    x_axis, y_axis = Axis(xs, left, right, log=log_x), Axis(ys, bottom, top, log=log_y)
    shapes: list[Shape] = [Rect(left, top, round(right - left, 2), bottom - top, 0, CARD, RULE)]
    for tick in x_axis.ticks():
        shapes.append(line([(x_axis(tick), top), (x_axis(tick), bottom)], RULE, 1))
        shapes.append(label(x_axis(tick), bottom + 15, power(tick), 10.5, fill=GREY, anchor="middle"))
    for tick in y_axis.ticks():
        shapes.append(line([(left, y_axis(tick)), (right, y_axis(tick))], RULE, 1))
        shapes.append(label(left - 6, y_axis(tick) + 4, power(tick), 10.5, fill=GREY, anchor="end"))
    shapes.append(label((left + right) / 2, height - 8, across, 11.5, anchor="middle"))
    shapes.append(label(8, 15, up, 11.5))
    ends: list[tuple[float, Curve, str]] = []
    for i, curve in enumerate(curves):
        colour, dash = LOOKS[i % len(LOOKS)]
        pieces = _pieces(curve.points, x_axis, y_axis)
        for piece in pieces:
            shapes.append(line(piece, colour, 2, dash))
            if len(piece) < 13:
                shapes += [Circle(round(x, 2), round(y, 2), 2.4, colour, "none", 0) for x, y in piece]
        if pieces:
            ends.append((pieces[-1][-1][1], curve, colour))
    y = -math.inf
    for at, curve, colour in sorted(ends, key=lambda end: end[0]):
        y = max(at + 4, y + 14)
        shapes.append(label(right + 8, y, curve.name, 11, fill=colour, bold=True))
    for mark in marks:
        if x_axis.holds(mark.x) and y_axis.holds(mark.y):
            x, y = x_axis(mark.x), y_axis(mark.y)
            shapes.append(Circle(round(x, 2), round(y, 2), 6, "none", INK, 2))
            half = room([mark.name], 11) / 2
            at = min(max(x, left + half + 4), right - half - 4)
            shapes.append(label(at, y + 20, mark.name, 11, anchor="middle", bold=True, halo=True))
    return Scene(width, max(height, y + 12 if math.isfinite(y) else 0), shapes)


def _pieces(points: Sequence[Point], x_axis: Axis, y_axis: Axis) -> list[list[Point]]:
    """The points in pixels, parted where one can't be drawn."""
    pieces: list[list[Point]] = []
    open_piece = False
    for x, y in points:
        if x_axis.holds(x) and y_axis.holds(y):
            if not open_piece:
                pieces.append([])
            pieces[-1].append((x_axis(x), y_axis(y)))
            open_piece = True
        else:
            open_piece = False
    return pieces


class Bar(NamedTuple):
    """A bar: its name, its length, what stands behind it, and whether that is an alarm."""

    name: str
    value: float
    told: str
    alarm: bool = False


def bars(rows: Sequence[Bar], *, across: str, log: bool = True, width: float = 640) -> Scene:
    """Horizontal bars under each other. On a logarithmic axis the left edge is a power of ten below the least."""
    left = max(60.0, min(240.0, room([r.name for r in rows], 11.5)) + 16)
    told = room([r.told for r in rows], 10.5) + 12
    right = max(width - told, left + 160)
    found = [r.value for r in rows]
    axis = Axis([*found, *(v / 10 for v in found)] if log else [*found, 0.0], left, right, log=log)
    bottom = 26.0 + 24 * len(rows)
    shapes: list[Shape] = [label(left, 15, across, 11, fill=GREY)]
    for tick in axis.ticks():
        shapes.append(line([(axis(tick), 22), (axis(tick), bottom)], RULE, 1))
        shapes.append(label(axis(tick), bottom + 14, power(tick), 10.5, fill=GREY, anchor="middle"))
    for i, row in enumerate(rows):
        y = 28.0 + 24 * i
        end = axis(row.value) if axis.holds(row.value) else left
        shapes.append(label(left - 8, y + 12, _fit(row.name), 11.5, anchor="end"))
        if end > left:
            shapes.append(Rect(round(left, 2), y, round(end - left, 2), 16, 0, ERROR if row.alarm else LEAF))
        colour = ERROR if row.alarm else INK
        shapes.append(label(end + 6, y + 12, row.told, 10.5, fill=colour, bold=row.alarm, halo=True))
    return Scene(round(right + told + 8, 2), bottom + 24, shapes)


def _fit(name: str) -> str:
    from .style import shorten

    return shorten(clip(name), 11.5, 240)
