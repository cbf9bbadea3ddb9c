"""`surface`: a matrix, or a function of two numbers, as a surface in three dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import numpy as np

from autodiff_kernel.core import modes
from autodiff_kernel.core.tensor import Tensor

from .build import peek
from .page import Page, Table, Words, clip, counted, label, line, page_html, page_text, room
from .result import Result
from .scene import Path, Scene, Shape
from .style import CARD, GREY, INK, LEAF, LEAF_FILL, RULE, number, shorten
from .svg import scene_svg

AZIMUTH, ELEVATION = math.radians(-60), math.radians(30)  # where matplotlib looks from too
FACES, CELLS = 40, 7  # the most that the picture and the table show along a side
SIDE = 135.0  # pixels for half of an axis
REACH = 1.38 * SIDE  # from the middle of the picture to the box's outermost corners


@dataclass(frozen=True)
class SurfaceView:
    """heights[i][j] is the value at ys[i], xs[j]; every: of a larger matrix, only every so-manieth row and column."""

    title: str
    name: str
    axes: tuple[str, str]
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    heights: tuple[tuple[float, ...], ...]
    every: tuple[int, int] = (1, 1)


def surface(
    z: Any,
    *,
    x: Sequence[float] | None = None,
    y: Sequence[float] | None = None,
    n: int = 25,
    name: str = "z",
) -> Result:
    """Draw a matrix, or a function of two numbers, as a surface.

    z: a tensor or array of shape (rows, columns), at least 2 each; or a function `z(x, y)` of two floats that gives a
    number or a tensor of one element.  x, y: for a matrix where its columns and rows lie (their numbers by default), for
    a function the range (from, to), by default 0 to 1.  n: how many points of a function along each axis.  The result
    writes `.png` and `.pdf` by matplotlib's `plot_surface`.  Raises ValueError for other shapes.

    >>> import autodiff_kernel as torch
    >>> result = surface(torch.tensor([[0., 1.], [1., 4.]]), name="W")
    >>> result.model.heights
    ((0.0, 1.0), (1.0, 4.0))
    >>> result.alt
    'surface of W: 2 × 2 values from 0 at row 0, column 0 to 4 at row 1, column 1'
    """
    if callable(z) and not isinstance(z, Tensor):
        return _result(_sampled(z, x or (0.0, 1.0), y or (0.0, 1.0), n, name))
    heights = np.asarray(peek(z) if isinstance(z, Tensor) else z)
    if heights.ndim != 2 or min(heights.shape) < 2 or heights.dtype.kind not in "biuf":
        raise ValueError(
            f"a surface is a matrix of real numbers with at least 2 rows and 2 columns; this has shape {list(heights.shape)} "
            f"and dtype {heights.dtype}"
        )
    rows, columns = heights.shape
    across = np.arange(columns, dtype=float) if x is None else np.asarray(x, dtype=float)
    along = np.arange(rows, dtype=float) if y is None else np.asarray(y, dtype=float)
    if across.shape != (columns,) or along.shape != (rows,):
        raise ValueError(f"x needs {columns} numbers and y {rows}, one for each column and row of z")
    step = tuple(math.ceil((k - 1) / FACES) if k > FACES + 1 else 1 for k in (rows, columns))
    picked = heights[:: step[0], :: step[1]].astype(float)
    view = SurfaceView(
        f"Surface of {clip(name)}: {rows} × {columns}", clip(name), ("column", "row"), _plain(across[:: step[1]]),
        _plain(along[:: step[0]]), tuple(map(_plain, picked)), (step[0], step[1]),
    )  # fmt: skip
    return _result(view)


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in values)


def _sampled(f: Callable[..., Any], x: Sequence[float], y: Sequence[float], n: int, name: str) -> SurfaceView:
    """The function's values on a grid, computed without a graph."""
    if len(x) != 2 or len(y) != 2 or not x[0] < x[1] or not y[0] < y[1]:
        raise ValueError("of a function x and y are ranges: (from, to) with from < to")
    if not 2 <= n <= FACES + 1:
        raise ValueError(f"n is between 2 and {FACES + 1}; this is {n}")
    xs, ys = _plain(np.linspace(x[0], x[1], n)), _plain(np.linspace(y[0], y[1], n))
    with modes.recording(False), modes.no_grad():
        heights = tuple(tuple(float(f(a, b)) for a in xs) for b in ys)
    return SurfaceView(
        f"Surface of {clip(name)} over {n} × {n} points", clip(name), ("x", "y"), xs, ys, heights
    )


def _result(model: SurfaceView) -> Result:
    made = page(model)
    scene = _scene(model)
    return Result(
        model,
        text=lambda _: page_text(made),
        html=lambda _: page_html(made),
        svg=lambda _: scene_svg(scene, title=made.title, description=made.alt),
        alt=made.alt,
        files={".png": _painted, ".pdf": _painted},
    )


# ------------------------------------------------------------------------------------------------------------- page
def page(m: SurfaceView) -> Page:
    """The extremes, the picture, and (in the text) a table of heights."""
    values = np.array(m.heights)
    finite = np.isfinite(values)
    blocks: list[Words | Table] = []
    told = "no finite values"
    if finite.any():
        low, high = (np.unravel_index(f(np.where(finite, values, s)), values.shape)
                     for f, s in ((np.argmin, np.inf), (np.argmax, -np.inf)))  # fmt: skip
        told = f"from {_height(m, low)} to {_height(m, high)}"
        blocks.append(Words((f"Lowest: {_height(m, low)}; highest: {_height(m, high)}.",)))
    if not finite.all():
        blocks.append(
            Words(
                (f"{counted(int((~finite).sum()), 'value')} not finite: left out of the picture.",), "alarm"
            )
        )
    if m.every != (1, 1):
        blocks.append(Words((f"Shown is every {m.every[0]}. row and every {m.every[1]}. column.",), "quiet"))
    rows, columns = _few(len(m.ys)), _few(len(m.xs))
    heads = (f"{m.axes[1]} \\ {m.axes[0]}", *(number(m.xs[j]) for j in columns))
    cells = tuple((number(m.ys[i]), *(number(m.heights[i][j]) for j in columns)) for i in rows)
    blocks.append(Table(heads, cells, frozenset(range(1, len(heads))), twin=True))
    alt = f"surface of {m.name}: {len(m.ys)} × {len(m.xs)} values {told}"
    return Page(m.title, tuple(blocks), alt, _scene(m))


def _height(m: SurfaceView, at: Any) -> str:
    i, j = int(at[0]), int(at[1])
    across, along = m.axes
    if across == "column":
        return f"{number(m.heights[i][j])} at row {number(m.ys[i])}, column {number(m.xs[j])}"
    return f"{number(m.heights[i][j])} at {across} = {number(m.xs[j])}, {along} = {number(m.ys[i])}"


def _few(n: int) -> list[int]:
    """A few evenly spread indices, the first and the last among them."""
    return list(range(n)) if n <= CELLS else sorted({round(k * (n - 1) / (CELLS - 1)) for k in range(CELLS)})


# ---------------------------------------------------------------------------------------------------------- picture
class _Camera:
    """From a point of the box [-1, 1]³ to pixels, without perspective."""

    def __init__(self, x: float, y: float) -> None:
        self.middle = x, y

    def __call__(self, x: float, y: float, z: float) -> tuple[float, float]:
        right = -math.sin(AZIMUTH) * x + math.cos(AZIMUTH) * y
        back = math.cos(AZIMUTH) * x + math.sin(AZIMUTH) * y
        up = math.cos(ELEVATION) * 0.8 * z - math.sin(ELEVATION) * back
        return round(self.middle[0] + SIDE * right, 1), round(self.middle[1] - SIDE * up, 1)

    def nearness(self, x: float, y: float) -> float:
        return math.cos(AZIMUTH) * x + math.sin(AZIMUTH) * y


def _unit(values: Any) -> Any:
    """Values as places from -1 to 1; equal ones in the middle."""
    v = np.asarray(values, dtype=float)
    finite = v[np.isfinite(v)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    return 2 * (v - low) / (high - low) - 1 if high > low else np.where(np.isfinite(v), 0.0, v)


def _scene(m: SurfaceView) -> Scene:
    finite = [h for row in m.heights for h in row if math.isfinite(h)] or [0.0]
    name = shorten(m.name, 11.5, 200)
    left = room([number(min(finite)), number(max(finite)), name], 11.5) + 20
    right = max(room([number(m.ys[-1])], 11.5), room([m.axes[1]], 11.5) - 60) + 20
    width, height = round(left + 2 * REACH + right, 2), round(2 * REACH + 64, 2)
    see = _Camera(left + REACH, REACH + 20)
    xs, ys, zs = _unit(m.xs), _unit(m.ys), _unit(m.heights)
    shapes: list[Shape] = [
        line([see(-1, -1, -1), see(1, -1, -1), see(1, 1, -1), see(-1, 1, -1), see(-1, -1, -1)], RULE, 1.2),
        line([see(-1, -1, -1), see(-1, -1, 1), see(-1, 1, 1), see(-1, 1, -1)], RULE, 1.2),
        line([see(-1, 1, 1), see(1, 1, 1), see(1, 1, -1)], RULE, 1.2),
    ]
    faces = []
    for i in range(len(ys) - 1):
        for j in range(len(xs) - 1):
            corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
            level = float(np.mean([zs[a][b] for a, b in corners]))
            if math.isfinite(level):
                points = [see(xs[b], ys[a], zs[a][b]) for a, b in corners]
                nearness = see.nearness(float(xs[j] + xs[j + 1]), float(ys[i] + ys[i + 1]))
                faces.append((round(nearness, 6), i, j, level, points))
    for _, _, _, level, points in sorted(
        faces, key=lambda face: face[:3]
    ):  # the nearest last, over the others
        commands = [("M" if k == 0 else "L", point) for k, point in enumerate(points)]
        shapes.append(Path((*commands, ("Z", ())), _between(LEAF_FILL, LEAF, (level + 1) / 2), INK, 0.5))  # type: ignore[arg-type]
    for place, text, anchor, shift in (
        (see(-1, -1, -1), number(m.xs[0]), "end", (-4, 16)), (see(1, -1, -1), number(m.xs[-1]), "end", (-8, 16)),
        (see(1, -1, -1), number(m.ys[0]), "start", (8, 16)), (see(1, 1, -1), number(m.ys[-1]), "start", (8, 14)),
        (see(-1, -1, -1), number(min(finite)), "end", (-8, 0)), (see(-1, -1, 1), number(max(finite)), "end", (-8, 4)),
    ):  # fmt: skip
        shapes.append(label(place[0] + shift[0], place[1] + shift[1], text, 10.5, fill=GREY, anchor=anchor))
    for place, text, anchor, shift in (
        (see(0, -1, -1), m.axes[0], "end", (-10, 24)), (see(1, 0, -1), m.axes[1], "start", (14, 24)),
        (see(-1, -1, 0), name, "end", (-8, 4)),
    ):  # fmt: skip
        shapes.append(label(place[0] + shift[0], place[1] + shift[1], text, 11.5, anchor=anchor, halo=True))
    return Scene(width, height, shapes)


def _between(first: str, last: str, share: float) -> str:
    """The colour between two."""
    a, b = ([int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in (first, last))
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b, strict=True))


def _painted(m: SurfaceView, path: File) -> None:
    """The surface as matplotlib draws it in three dimensions."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.8), dpi=150, facecolor=CARD)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(projection="3d")
    across, along = np.meshgrid(m.xs, m.ys)
    axes.plot_surface(across, along, np.array(m.heights), cmap="Blues", edgecolor=INK, linewidth=0.3)
    axes.set(xlabel=m.axes[0], ylabel=m.axes[1], zlabel=m.name, title=m.title)
    nothing = ("CreationDate", "Producer") if path.suffix.lower() == ".pdf" else ("Software",)
    figure.savefig(path, format=path.suffix[1:].lower(), metadata=dict.fromkeys(nothing))
