"""Where labels of lines can stand: beside their line, on no box, no other label, and no line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

Point = tuple[float, float]
Area = tuple[float, float, float, float]  # left, top, right, bottom
Curve = tuple[Point, Point, Point, Point]


def _weights(t: float) -> tuple[float, float, float, float]:
    """How much each control point of a cubic counts at t."""
    s = 1 - t
    return s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t


_DOTS = np.array([_weights(k / 8) for k in range(9)]).T  # where a line notes that it is there
_STOPS = tuple(_weights(t) for t in (0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26))  # where a label is tried


def _along(curve: Curve, place: tuple[float, float, float, float]) -> Point:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    a, b, c, d = place
    return a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3


class Space:
    """What is where, in squares, so that a label looks at its neighbourhood only.

    >>> space = Space(down=False)
    >>> line = ((0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (90.0, 0.0))
    >>> space.lines([line])
    >>> space.place(line, 40)  # above the middle of the line
    (45.0, -6.0)
    """

    SIDE = 128  # pixels

    def __init__(self, down: bool) -> None:
        self.down = down
        self.areas: defaultdict[tuple[int, int], list[Area]] = defaultdict(list)
        self.dots: defaultdict[tuple[int, int], list[Point]] = defaultdict(list)

    def _squares(self, left: float, top: float, right: float, bottom: float) -> list[tuple[int, int]]:
        side = self.SIDE
        x, y, last_x, last_y = int(left) // side, int(top) // side, int(right) // side, int(bottom) // side
        if x == last_x and y == last_y:  # as a rule
            return [(x, y)]
        return [(column, row) for column in range(x, last_x + 1) for row in range(y, last_y + 1)]

    def take(self, area: Area) -> None:
        """Note a box or a label."""
        for square in self._squares(*area):
            self.areas[square].append(area)

    def lines(self, curves: Sequence[Curve]) -> None:
        """Note lines, which labels had better not cover."""
        if not curves:
            return
        ends = np.array(curves)[..., np.newaxis]  # line, control point, x or y, and a place for the dots
        a, b, c, d = _DOTS  # no product of matrices: it may round otherwise on another machine
        points = a * ends[:, 0] + b * ends[:, 1] + c * ends[:, 2] + d * ends[:, 3]
        xs, ys = points.transpose(1, 0, 2).reshape(2, -1)
        columns, rows = (xs.astype(int) // self.SIDE).tolist(), (ys.astype(int) // self.SIDE).tolist()
        dots = self.dots
        for column, row, x, y in zip(columns, rows, xs.tolist(), ys.tolist(), strict=True):
            dots[column, row].append((x, y))

    def place(self, curve: Curve, wide: float) -> Point:
        """The middle of the base line of a label as wide as this, beside its line; the place is taken then."""
        half = wide / 2
        least, best = 1e9, (0.0, 0.0)
        shifts = self._shifts(curve, half)
        for rank, stop in enumerate(_STOPS):
            if 0.4 * rank >= least:
                break
            x, y = _along(curve, stop)
            for turn, (dx, dy) in enumerate(shifts):
                cost = 0.4 * rank + 0.1 * turn
                if cost >= least:
                    break
                cost += self._covered(x + dx - half, y + dy - 9, x + dx + half, y + dy + 3)
                if cost < least:
                    least, best = cost, (x + dx, y + dy)
        self.take((best[0] - half, best[1] - 9, best[0] + half, best[1] + 3))
        return best

    def _covered(self, left: float, top: float, right: float, bottom: float) -> float:
        """What a label in this area would cover: 100 if a box or a label, else 2 for each point of a line."""
        squares = self._squares(left - 2, top - 1, right + 2, bottom + 1)
        for square in squares:
            for a, b, c, d in self.areas.get(square, ()):
                if left < c and a < right and top < d and b < bottom:
                    return 100.0
        left, top, right, bottom = left - 2, top - 1, right + 2, bottom + 1  # lines want a little more room
        covered = 0
        for square in squares:
            for x, y in self.dots.get(square, ()):
                if top < y < bottom and left < x < right:
                    covered += 1
        return 2.0 * covered

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
