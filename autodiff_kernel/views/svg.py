"""Graphs as SVG: one self-contained picture, the same bytes every time, with a title and a description."""

from __future__ import annotations

from functools import lru_cache

from .model import GraphView
from .scene import Circle, Path, Scene, Text, draw
from .style import CARD, MONO, SANS, escape_xml


def graph_svg(view: GraphView) -> str:
    """The picture of a graph, drawn by the built-in layout."""
    return scene_svg(draw(view), title=view.title, description=view.alt)


def scene_svg(scene: Scene, *, title: str, description: str) -> str:
    """Any scene as SVG. Nothing in it refers to an id, so that many pictures can share a page."""
    w, h = _n(scene.width), _n(scene.height)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{w}' height='{h}' viewBox='0 0 {w} {h}' role='img' "
        f"aria-label='{escape_xml(description or title)}' font-family='{SANS}' fill='none'>",
        f"<title>{escape_xml(title)}</title><desc>{escape_xml(description)}</desc>",
        f"<rect width='{w}' height='{h}' rx='8' fill='{CARD}'/>",
    ]
    for shape in scene.shapes:
        if isinstance(shape, Text):
            parts.append(_text(shape))
        elif isinstance(shape, Path):
            parts.append(_path(shape))
        else:
            parts.append(_circle(shape))
    parts.append("</svg>")
    return "\n".join(parts)


def _n(value: float) -> str:
    """A coordinate with one decimal at most."""
    whole = int(value)
    return str(whole) if whole == value else f"{value:.1f}"


def _path(path: Path) -> str:
    data = "".join(
        [letter + " ".join([_n(number) for number in numbers]) for letter, numbers in path.commands]
    )
    return f"<path d='{data}'{_look(path.fill, path.stroke, path.width, path.dash)}/>"


def _circle(c: Circle) -> str:
    return f"<circle cx='{_n(c.x)}' cy='{_n(c.y)}' r='{_n(c.r)}'{_look(c.fill, c.stroke, c.width, '')}/>"


def _text(t: Text) -> str:
    font = _font(t.size, t.fill, t.anchor, t.bold, t.italic, t.mono, t.halo)
    return f"<text x='{_n(t.x)}' y='{_n(t.y)}'{font}>{escape_xml(t.text)}</text>"


@lru_cache(1024)
def _look(fill: str, stroke: str, width: float, dash: str) -> str:
    """The attributes of a shape."""
    attributes = "" if fill == "none" else f" fill='{fill}'"
    if stroke != "none":
        attributes += f" stroke='{stroke}' stroke-width='{_n(width)}'"
    return attributes + (f" stroke-dasharray='{dash}'" if dash else "")


@lru_cache(1024)
def _font(size: float, fill: str, anchor: str, bold: bool, italic: bool, mono: bool, halo: bool) -> str:
    """The attributes of a text."""
    attributes = f" font-size='{_n(size)}' fill='{fill}'"
    if anchor != "start":
        attributes += f" text-anchor='{anchor}'"
    if bold:
        attributes += " font-weight='600'"
    if italic:
        attributes += " font-style='italic'"
    if mono:
        attributes += f" font-family='{MONO}'"
    if halo:
        attributes += f" paint-order='stroke' stroke='{CARD}' stroke-width='4' stroke-linejoin='round'"
    return attributes
