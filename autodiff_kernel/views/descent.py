"""`%descent`: the paths of SGD, momentum and Adam on the contours of a function of two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core import modes
from autodiff_kernel.core.create import tensor
from autodiff_kernel.core.tensor import Tensor

from .build import peek
from .charts import LOOKS, Axis, power
from .page import Page, Table, Words, clip, label, line, page_result, room
from .quiet import quietly
from .result import Result
from .scene import Circle, Path, Rect, Scene, Shape
from .style import CARD, GREY, INK, LINE, RULE, number

METHODS = ("sgd", "momentum", "adam")
GRID, LEVELS = 40, 9
Step = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Descent:
    """The points of one method, and the function's value at each; ran_away: it left all numbers."""

    method: str
    points: tuple[tuple[float, float], ...]
    values: tuple[float, ...]
    ran_away: bool


@dataclass(frozen=True)
class DescentView:
    """All paths. frame: x from, to, y from, to. levels: of the contours, whose lines are segments x, y, x, y."""

    title: str
    paths: tuple[Descent, ...]
    frame: tuple[float, float, float, float]
    levels: tuple[float, ...]
    contours: tuple[tuple[tuple[float, float, float, float], ...], ...]


def sgd(lr: float) -> Step:
    """x − lr·g"""
    return lambda x, g: x - lr * g  # type: ignore[operator]


def momentum(lr: float, beta: float = 0.9) -> Step:
    """v ← β·v + g, then x − lr·v (as torch.optim.SGD has it)"""
    state: dict[str, Any] = {"v": 0.0}

    def step(x: Tensor, g: Tensor) -> Tensor:
        state["v"] = beta * state["v"] + g
        return x - lr * state["v"]  # type: ignore[operator, no-any-return]

    return step


def adam(lr: float, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8) -> Step:
    """m ← β₁·m + (1 − β₁)·g, s ← β₂·s + (1 − β₂)·g², both divided by 1 − βᵗ, then x − lr·m / (√s + ε)"""
    state: dict[str, Any] = {"m": 0.0, "s": 0.0, "t": 0}

    def step(x: Tensor, g: Any) -> Tensor:
        state["t"] += 1
        state["m"] = beta1 * state["m"] + (1 - beta1) * g
        state["s"] = beta2 * state["s"] + (1 - beta2) * g * g
        m, s = state["m"] / (1 - beta1 ** state["t"]), state["s"] / (1 - beta2 ** state["t"])
        return x - lr * m / (s.sqrt() + eps)  # type: ignore[no-any-return]

    return step


_STEPS: dict[str, Callable[[float], Step]] = {"sgd": sgd, "momentum": momentum, "adam": adam}


@quietly
def descent(
    f: Callable[[Tensor], Tensor], x0: Any, *, lr: float = 0.1, steps: int = 30,
    methods: Sequence[str] = METHODS, name: str = "f",
) -> Result:  # fmt: skip
    """Walk downhill from x0 with each method, and draw the paths on the contours of f.

    f: from a tensor of shape (2,) to a 0-d tensor.  x0: two numbers.  lr: the rate.  steps: how many.  methods: of
    "sgd", "momentum" and "adam".  Raises ValueError for another shape or method, TypeError where f gives no tensor.

    >>> result = descent(lambda x: (x * x).sum(), [1.0, 2.0], lr=0.5, steps=3, methods=["sgd"])
    >>> result.model.paths[0].points[1]
    (0.0, 0.0)
    """
    start = np.asarray(peek(x0) if isinstance(x0, Tensor) else x0, dtype=np.float64)
    if start.shape != (2,):
        raise ValueError(f"x0 is two numbers, for example [1., 2.]; this has the shape {list(start.shape)}")
    if not 1 <= steps <= 1000:
        raise ValueError(f"steps is between 1 and 1000; this is {steps}")
    if not np.isfinite(lr):
        raise ValueError(f"lr is a finite number; this is {lr}")
    unknown = [m for m in methods if m not in _STEPS]
    if unknown or not methods:
        raise ValueError(
            f"methods are among {', '.join(METHODS)}; there is no {unknown[0] if unknown else 'method'}"
        )
    with modes.recording(False):
        paths = tuple(_walk(f, start, _STEPS[m](lr), steps, m, name) for m in methods)
        frame = _frame(paths)
        levels, contours = _contours(f, frame)
    title = f"Descent on {clip(name)} from ({number(start[0])}, {number(start[1])}): lr {number(lr)}, {steps} steps"
    return page_result(DescentView(title, paths, frame, levels, contours), page)


def _walk(f: Any, start: np.ndarray, step: Step, steps: int, method: str, name: str) -> Descent:
    x = tensor(start)
    points: list[tuple[float, float]] = []
    values: list[float] = []
    for _ in range(steps + 1):
        x = x.detach().requires_grad_()
        with modes.enable_grad():
            y = f(x)
        if not isinstance(y, Tensor) or y.numel() != 1:
            kind = list(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise TypeError(f"{clip(name)} gives one number as a tensor; this gave {kind}")
        here = np.asarray(peek(x))
        if not (np.isfinite(here).all() and np.abs(here).max() < 1e12 and math.isfinite(float(y.item()))):
            return Descent(method, tuple(points), tuple(values), True)
        points.append((float(here[0]), float(here[1])))
        values.append(float(y.item()))
        y.backward()
        gradient = x._grad_or_none()
        with modes.no_grad():
            x = step(x, gradient) if gradient is not None else x
    return Descent(method, tuple(points), tuple(values), False)


def _frame(paths: Sequence[Descent]) -> tuple[float, float, float, float]:
    """Where the paths run, with room around them. One that runs away does not blow the frame up."""
    sides: list[float] = []
    for k in (0, 1):
        start = paths[0].points[0][k] if paths[0].points else 0.0
        reach = 4 * max(1.0, abs(start))
        found = [p[k] for path in paths for p in path.points if abs(p[k] - start) <= reach] or [start]
        low, high = min(*found, 0.0), max(*found, 0.0)
        pad = 0.15 * max(high - low, 0.5)
        sides += [low - pad, high + pad]
    return sides[0], sides[1], sides[2], sides[3]


def _contours(
    f: Any, frame: tuple[float, float, float, float]
) -> tuple[tuple[float, ...], tuple[tuple[tuple[float, float, float, float], ...], ...]]:
    """Levels so that lines are about evenly spread, and their segments."""
    xs, ys = np.linspace(frame[0], frame[1], GRID + 1), np.linspace(frame[2], frame[3], GRID + 1)
    with modes.no_grad():
        heights = np.array([[float(f(tensor(np.array([x, y]))).item()) for x in xs] for y in ys])
    finite = heights[np.isfinite(heights)]
    if not finite.size or finite.min() == finite.max():
        return (), ()
    shares = (np.arange(LEVELS) + 0.5) / LEVELS
    levels = tuple(sorted({float(f"{level:.3g}") for level in np.quantile(finite, shares**1.5)}))
    return levels, tuple(tuple(_segments(heights, xs, ys, level)) for level in levels)


def _segments(
    heights: np.ndarray, xs: np.ndarray, ys: np.ndarray, level: float
) -> Iterator[tuple[float, float, float, float]]:
    """Marching squares: where a level crosses the edges of each cell of the grid."""
    for j in range(GRID):
        for i in range(GRID):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            crossings = []
            for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1], strict=True):
                low, high = heights[b, a], heights[d, c]
                if (low < level) != (high < level) and np.isfinite(low + high):
                    t = (level - low) / (high - low)
                    crossings.append((float(xs[a] + t * (xs[c] - xs[a])), float(ys[b] + t * (ys[d] - ys[b]))))
            for k in range(0, len(crossings) - 1, 2):
                yield (*crossings[k], *crossings[k + 1])


# ------------------------------------------------------------------------------------------------------------- page
def page(m: DescentView) -> Page:
    """Where each method began and ended, and the picture."""
    rows = []
    for path in m.paths:
        end = path.points[-1] if path.points else (math.nan, math.nan)
        best = min(path.values, default=math.nan)
        told = "ran away: the rate is too large" if path.ran_away or _worse(path) else ""
        told = told if path.points else "not finite at the start"
        rows.append(
            (path.method, f"({_short(end[0])}, {_short(end[1])})", _short(path.values[-1] if path.values else math.nan),
             _short(best), told)
        )  # fmt: skip
    alarm = frozenset((r, 4) for r, row in enumerate(rows) if row[4])
    heads = ("method", "ends at", "value there", "best value", "remarks")
    table = Table(heads, tuple(rows), frozenset({2, 3}), alarm=alarm)
    blocks: tuple[Words | Table, ...] = (table,)
    if m.levels:
        blocks += (Words((f"Contours at {', '.join(number(level) for level in m.levels)}.",), "quiet"),)
    alt = f"{m.title}; " + "; ".join(f"{r[0]} ends at {r[1]} with {r[2]}" for r in rows)
    return Page(m.title, blocks, alt, _scene(m))


def _worse(path: Descent) -> bool:
    return len(path.values) > 1 and path.values[-1] > path.values[0]


def _short(value: float) -> str:
    return number(float(f"{value:.3g}")) if math.isfinite(value) else "nan"


def _scene(m: DescentView) -> Scene:
    left, top, side, high = 52.0, 14.0, 430.0, 330.0
    x_axis = Axis([m.frame[0], m.frame[1]], left, left + side, log=False)
    y_axis = Axis([m.frame[2], m.frame[3]], top + high, top, log=False)
    shapes: list[Shape] = [Rect(left, top, side, high, 0, CARD, RULE)]
    for segments in m.contours:
        commands = tuple(
            command
            for a, b, c, d in segments
            for command in (
                ("M", (round(x_axis(a), 1), round(y_axis(b), 1))),
                ("L", (round(x_axis(c), 1), round(y_axis(d), 1))),
            )
        )
        shapes += [Path(commands, "none", LINE, 0.9)] if commands else []
    for tick in x_axis.ticks():
        shapes.append(label(x_axis(tick), top + high + 15, power(tick), 10.5, fill=GREY, anchor="middle"))
    for tick in y_axis.ticks():
        shapes.append(label(left - 6, y_axis(tick) + 4, power(tick), 10.5, fill=GREY, anchor="end"))
    shapes.append(label(left + side / 2, top + high + 32, "x[0]", 11.5, anchor="middle"))
    shapes.append(label(12, top + high / 2, "x[1]", 11.5))
    right = left + side + 16
    for k, path in enumerate(m.paths):
        colour, dash = LOOKS[k % len(LOOKS)]
        inside = [p for p in path.points if _within(p, m.frame)]
        pixels = [(x_axis(a), y_axis(b)) for a, b in inside]
        if len(pixels) > 1:
            shapes.append(line(pixels, colour, 2.2, dash))
        shapes += [Circle(round(a, 2), round(b, 2), 2.2, colour, "none", 0) for a, b in pixels[:60]]
        y = top + 14 + 22 * k
        shapes += [line([(right, y - 4), (right + 30, y - 4)], colour, 2.2, dash)]
        shapes.append(label(right + 38, y, path.method, 12, fill=colour, bold=True))
    if m.paths and m.paths[0].points:
        a, b = m.paths[0].points[0]
        shapes.append(Circle(round(x_axis(a), 2), round(y_axis(b), 2), 5, CARD, INK, 2))
        shapes.append(label(x_axis(a) + 9, y_axis(b) - 7, "start", 11, bold=True, halo=True))
    return Scene(round(right + 52 + room([p.method for p in m.paths], 12), 2), top + high + 42, shapes)


def _within(point: tuple[float, float], frame: tuple[float, float, float, float]) -> bool:
    return frame[0] <= point[0] <= frame[1] and frame[2] <= point[1] <= frame[3]
