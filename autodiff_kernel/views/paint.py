"""Pictures as PNG and PDF files through matplotlib: the same scene as the SVG, without any other program."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

from .model import GraphView
from .scene import Circle, Path, Rect, Scene, Text, draw
from .style import CARD

_DPI = 72  # a pixel of the scene is a point of the page
_SHARP = 2.5  # pixels of a PNG for a pixel of the scene


def save(view: GraphView, path: File) -> None:
    """Write the picture of a graph as .png or .pdf."""
    save_scene(draw(view), path, view.title)


def save_scene(scene: Scene, path: File, title: str) -> None:
    """Write any scene as .png or .pdf, with no date in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(scene.width / _DPI, scene.height / _DPI), dpi=_DPI, facecolor=CARD)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, scene.width)
    axes.set_ylim(scene.height, 0)
    axes.axis("off")
    sans, mono = _fonts()
    for order, shape in enumerate(scene.shapes):
        if isinstance(shape, Text):
            _text(axes, shape, order, mono if shape.mono else sans)
        else:
            axes.add_patch(_patch(shape, order))
    if path.suffix.lower() == ".png":
        figure.savefig(path, format="png", dpi=_DPI * _SHARP, metadata={"Software": None, "Title": title})
    else:
        figure.savefig(path, format="pdf", metadata={"Title": title, "CreationDate": None, "Producer": None})


def _patch(shape: Path | Rect | Circle, order: int) -> Any:
    from matplotlib.patches import Circle as Disc
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.path import Path as Outline

    look: dict[str, Any] = {"zorder": order, "edgecolor": shape.stroke, "facecolor": shape.fill}
    look["linewidth"] = 0 if shape.stroke == "none" else shape.width
    if isinstance(shape, Circle):
        return Disc((shape.x, shape.y), shape.r, **look)
    if shape.dash:
        look["linestyle"] = (0, tuple(float(n) for n in shape.dash.split()))
    if isinstance(shape, Rect):
        rounding = f"round,pad=0,rounding_size={min(shape.r, shape.h / 2)}"
        return FancyBboxPatch((shape.x, shape.y), shape.w, shape.h, boxstyle=rounding, **look)
    codes = {"M": [1], "L": [2], "Q": [3, 3], "C": [4, 4, 4], "Z": [79]}
    points: list[tuple[float, float]] = []
    kinds: list[int] = []
    for letter, numbers in shape.commands:
        kinds += codes[letter]
        points += list(zip(numbers[::2], numbers[1::2], strict=True)) or [points[-1]]
    return PathPatch(Outline(points, kinds), capstyle="butt", joinstyle="miter", **look)


def _fonts() -> tuple[list[str], list[str]]:
    """The installed ones of the fonts that the SVG asks for; matplotlib brings the last ones itself."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    sans = [name for name in ("Segoe UI", "Helvetica", "Arial", "Liberation Sans") if name in installed]
    return [*sans[:1], "DejaVu Sans"], ["DejaVu Sans Mono"]


def _text(axes: Any, t: Text, order: int, fonts: list[str]) -> None:
    from matplotlib.patheffects import withStroke

    put = axes.text(
        t.x,
        t.y,
        t.text,
        parse_math=False,
        fontsize=t.size,
        color=t.fill,
        ha={"start": "left", "middle": "center", "end": "right"}[t.anchor],
        va="baseline",
        fontweight="bold" if t.bold else "normal",
        fontstyle="italic" if t.italic else "normal",
        fontfamily=fonts,
        zorder=order,
    )
    if t.halo:
        put.set_path_effects([withStroke(linewidth=4, foreground=CARD)])
