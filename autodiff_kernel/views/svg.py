"""Graphs as SVG: one self-contained picture, the same bytes every time, with a title and a description."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .model import GraphView
from .scene import Circle, Path, Rect, Scene, Text, draw
from .style import CARD, MONO, SANS, escape_xml

_FORMS = {"M": "M%g %g", "L": "L%g %g", "Q": "Q%g %g %g %g", "C": "C%g %g %g %g %g %g", "Z": "Z"}


def graph_svg(view: GraphView) -> str:
    """The picture of a graph, drawn by the built-in layout."""
    return scene_svg(draw(view), title=view.title, description=view.alt)


def scene_svg(scene: Scene, *, title: str, description: str) -> str:
    """Any scene as SVG. Nothing in it refers to an id, so that many pictures can share a page."""
    w, h = f"{scene.width:g}", f"{scene.height:g}"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{w}' height='{h}' viewBox='0 0 {w} {h}' role='img' "
        f"aria-label='{escape_xml(description or title)}' font-family='{SANS}' fill='none'>",
        f"<title>{escape_xml(title)}</title><desc>{escape_xml(description)}</desc>",
        f"<rect width='{w}' height='{h}' rx='8' fill='{CARD}'/>",
    ]
    parts += [_WRITERS[shape.__class__](shape) for shape in scene.shapes]
    parts.append("</svg>")
    return "\n".join(parts)


@lru_cache(8192)
def _number(value: float) -> str:
    """A coordinate of a box or a text. There are few different ones: boxes stand in rows and columns."""
    return f"{value + 0.0:g}"  # + 0.0 makes -0.0 a plain 0, which it equals in the cache


def _path(path: Path) -> str:
    data = "".join([_FORMS[letter] % numbers for letter, numbers in path.commands])
    return f"<path d='{data}'{_look(path.fill, path.stroke, path.width, path.dash)}/>"


def _rect(r: Rect) -> str:
    x, y, w, h, corner = map(_number, r[:5])
    return f"<rect x='{x}' y='{y}' width='{w}' height='{h}' rx='{corner}'{_look(*r[5:])}/>"


def _circle(c: Circle) -> str:
    x, y, r = map(_number, c[:3])
    return f"<circle cx='{x}' cy='{y}' r='{r}'{_look(*c[3:], '')}/>"


def _text(t: Text) -> str:
    x, y, text, *font = t
    return f"<text x='{_number(x)}' y='{_number(y)}'{_font(*font)}>{escape_xml(text)}</text>"


@lru_cache(1024)
def _look(fill: str, stroke: str, width: float, dash: str) -> str:
    """The attributes of a shape."""
    attributes = "" if fill == "none" else f" fill='{fill}'"
    if stroke != "none":
        attributes += f" stroke='{stroke}' stroke-width='{width:g}'"
    return attributes + (f" stroke-dasharray='{dash}'" if dash else "")


@lru_cache(1024)
def _font(size: float, fill: str, anchor: str, bold: bool, italic: bool, mono: bool, halo: bool) -> str:
    """The attributes of a text."""
    attributes = f" font-size='{size:g}' fill='{fill}'"
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


_WRITERS: dict[type, Callable[[Any], str]] = {Path: _path, Rect: _rect, Circle: _circle, Text: _text}
