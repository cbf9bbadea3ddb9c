"""Graphs as HTML that needs no script and no trust: a picture in an `<img>`, and the same as text on demand."""

from __future__ import annotations

from collections.abc import Sequence

from .model import GraphView, Summary, counted
from .style import CARD, GREY, INK, MONO, RULE, card_html, escape_xml, img_html
from .svg import graph_svg
from .text import graph_text

_CELL = f"padding:2px 12px 2px 0;border-bottom:1px solid {RULE};text-align:left;color:{INK};background:{CARD}"


def graph_html(view: GraphView, svg: str | None = None, text: str | None = None) -> str:
    """The picture of a graph, and the text twin behind a click."""
    return picture_html(
        svg or graph_svg(view), view.alt or view.title, text or graph_text(view), view.sources
    )


def picture_html(svg: str, alt: str, text: str, sources: Sequence[tuple[str, str]] = ()) -> str:
    """Any picture with its text twin, and the source lines it names."""
    below = _unfolding("as text", text)
    if sources:
        wide = max(len(place) for place, _ in sources)
        below += _unfolding("source lines", "\n".join(f"{place:{wide}}  {line}" for place, line in sources))
    return img_html(svg, alt, below=below)


def _unfolding(title: str, text: str) -> str:
    """Text behind a click."""
    lines = "\n".join(escape_xml(line) for line in text.split("\n"))
    return (
        f"<details style='font-size:12px;color:{GREY};padding:0 10px 4px'><summary style='cursor:pointer'>{title}"
        f"</summary><pre style='font-family:{MONO};font-size:12px;line-height:1.35;background:{CARD};color:{INK};"
        f"margin:4px 0;overflow:auto'>{lines}</pre></details>"
    )


def summary_html(summary: Summary) -> str:
    """A graph too large for a picture: what it consists of, and how to get at it."""
    rows = "".join(
        f"<tr><td style='{_CELL}'>{escape_xml(name)}</td><td style='{_CELL}'>{counted(n, 'time')}</td></tr>"
        for name, n in summary.operations
    )
    leaves = f"<div>leaves: {escape_xml(', '.join(summary.leaves))}</div>" if summary.leaves else ""
    return card_html(
        f"<div style='font-weight:600'>{escape_xml(summary.title)}</div><div>{escape_xml(summary.caption)}</div>"
        f"<table style='border-collapse:collapse;margin:6px 0'>{rows}</table>{leaves}"
        f"<div style='color:{GREY}'>{escape_xml(summary.left_out)}</div>"
    )
