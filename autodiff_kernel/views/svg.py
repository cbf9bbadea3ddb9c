"""Graphs as SVG: one self-contained picture, the same bytes every time, with a title and a description."""

from __future__ import annotations

from .model import GraphView
from .scene import Circle, Path, Scene, Text, draw
from .style import CARD, INK, MONO, SANS, escape_xml


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
    fill = "" if path.fill == "none" else f" fill='{path.fill}'"
    dash = f" stroke-dasharray='{path.dash}'" if path.dash else ""
    stroke = "" if path.stroke == "none" else f" stroke='{path.stroke}' stroke-width='{_n(path.width)}'{dash}"
    return f"<path d='{data}'{fill}{stroke}/>"


def _circle(c: Circle) -> str:
    return (
        f"<circle cx='{_n(c.x)}' cy='{_n(c.y)}' r='{_n(c.r)}' fill='{c.fill}' stroke='{c.stroke}' "
        f"stroke-width='{_n(c.width)}'/>"
    )


def _text(t: Text) -> str:
    more = "" if t.anchor == "start" else f" text-anchor='{t.anchor}'"
    if t.bold:
        more += " font-weight='600'"
    if t.italic:
        more += " font-style='italic'"
    if t.mono:
        more += f" font-family='{MONO}'"
    if t.halo:
        more += f" paint-order='stroke' stroke='{CARD}' stroke-width='4' stroke-linejoin='round'"
    return (
        f"<text x='{_n(t.x)}' y='{_n(t.y)}' font-size='{_n(t.size)}' fill='{t.fill or INK}'{more}>"
        f"{escape_xml(t.text)}</text>"
    )
