"""Where labels of lines can stand: beside their line, on no box, no other label, and no line."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]
Area = tuple[float, float, float, float]  # left, top, right, bottom
Curve = tuple[Point, Point, Point, Point]


def _weights(t: float) -> tuple[float, float, float, float]:
    """How much each control point of a cubic counts at t."""
    s = 1 - t
    return s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t


_DOTS = tuple(_weights(k / 8) for k in range(9))  # where a line notes that it is there
_STOPS = tuple(_weights(t) for t in (0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26))  # where a label is tried


def _along(curve: Curve, places: Sequence[tuple[float, float, float, float]]) -> list[Point]:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    return [(a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3) for a, b, c, d in places]


class Space:
    """What is where, in squares, so that a label looks at its neighbourhood only.

    >>> space = Space(down=False)
    >>> line = ((0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (90.0, 0.0))
    >>> space.line(line)
    >>> space.place(line, 40)  # above the middle of the line
    (45.0, -6.0)
    """

    SIDE = 100.0

    def __init__(self, down: bool) -> None:
        self.down = down
        self.areas: dict[tuple[int, int], list[Area]] = {}
        self.dots: dict[tuple[int, int], list[Point]] = {}

    def _squares(self, area: Area) -> list[tuple[int, int]]:
        side = self.SIDE
        rows = range(int(area[1] // side), int(area[3] // side) + 1)
        return [(x, y) for x in range(int(area[0] // side), int(area[2] // side) + 1) for y in rows]

    def take(self, area: Area) -> None:
        """Note a box or a label."""
        for square in self._squares(area):
            self.areas.setdefault(square, []).append(area)

    def line(self, curve: Curve) -> None:
        """Note a line, which labels had better not cover."""
        side, dots = self.SIDE, self.dots
        for point in _along(curve, _DOTS):
            dots.setdefault((int(point[0] // side), int(point[1] // side)), []).append(point)

    def place(self, curve: Curve, wide: float) -> Point:
        """The middle of the base line of a label as wide as this, beside its line; the place is taken then."""
        taken, dots = self._near(curve, wide + 8)
        half = wide / 2
        least, best = 1e9, (0.0, 0.0)
        shifts = self._shifts(curve, half)
        for rank, stop in enumerate(_STOPS):
            if 0.4 * rank >= least:
                break
            ((x, y),) = _along(curve, (stop,))
            for turn, (dx, dy) in enumerate(shifts):
                cost = 0.4 * rank + 0.1 * turn
                if cost >= least:
                    break
                cost += _covered(x + dx - half, y + dy - 9, x + dx + half, y + dy + 3, taken, dots)
                if cost < least:
                    least, best = cost, (x + dx, y + dy)
        self.take((best[0] - half, best[1] - 9, best[0] + half, best[1] + 3))
        return best

    def _near(self, curve: Curve, room: float) -> tuple[list[Area], list[Point]]:
        """The boxes, labels and points of lines around a line."""
        (x0, y0), (x1, y1) = curve[0], curve[3]
        left, right = (x0, x1) if x0 < x1 else (x1, x0)
        top, bottom = (y0, y1) if y0 < y1 else (y1, y0)
        left, top, right, bottom = left - room, top - 20, right + room, bottom + 20
        areas: dict[Area, None] = {}
        points: list[Point] = []
        for square in self._squares((left, top, right, bottom)):
            for other in self.areas.get(square, ()):
                if other[0] < right and left < other[2] and other[1] < bottom and top < other[3]:
                    areas[other] = None
            points += self.dots.get(square, ())
        return list(areas), [(x, y) for x, y in points if left < x < right and top < y < bottom]

    def _shifts(self, curve: Curve, half: float) -> tuple[Point, ...]:
        """Where a label can stand as seen from a point of its line; first where a line of this slope leaves room."""
        rise = curve[3][1] - curve[0][1]
        lean = curve[3][0] - curve[0][0]
        above, below = (0.0, -6.0), (0.0, 14.0)
        if self.down:
            right, left = (half + 5, 4.0), (-half - 5, 4.0)
            if abs(lean) < 12:
                return right, left, above, below
            falling = lean > 0  # to the right as it goes down: there is room to the upper right
            free = (half + 3, -4.0) if falling else (-half - 3, -4.0)
            return free, right, left, (-half - 3, 12.0) if falling else (half + 3, 12.0), above, below
        if abs(rise) < 12:
            return above, below
        upper, lower = ((half, -5.0), (-half, 13.0)) if rise > 0 else ((-half, -5.0), (half, 13.0))
        return upper, lower, (half + 5, 4.0), (-half - 5, 4.0), above, below


def _covered(
    left: float, top: float, right: float, bottom: float, taken: list[Area], dots: list[Point]
) -> float:
    """What a label in this area would cover: 100 if a box or a label, else 2 for each point of a line."""
    for a, b, c, d in taken:
        if left < c and a < right and top < d and b < bottom:
            return 100.0
    left, top, right, bottom = left - 2, top - 1, right + 2, bottom + 1
    return 2.0 * len([1 for x, y in dots if top < y < bottom and left < x < right])
