"""Graphs for Graphviz: DOT source through the `graphviz` package, and pictures by `dot` where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from . import style
from .boxes import GRAD, MUTED, Box, boxes, emphasis
from .model import DATA, GROUP, LEAF, SAVED, GraphNode, GraphView
from .scopes import clusters
from .style import escape_dot, escape_xml

PROGRAMS = ("dot", "graphviz-pure")
SECONDS = 20  # dot takes half a minute for some thousand nodes
_SHAPES = {
    "leaf": {
        "style": "filled,diagonals",
        "color": style.LEAF,
        "fillcolor": style.LEAF_FILL,
        "penwidth": "1.6",
    },
    "output": {
        "style": "filled,rounded",
        "color": style.OUTPUT,
        "fillcolor": style.OUTPUT_FILL,
        "penwidth": "2.6",
    },
    "op": {"style": "filled,rounded", "color": style.LINE, "fillcolor": style.CARD},
    "data": {"style": "filled,dashed", "color": style.GREY, "fillcolor": style.CARD},
    "free": {"style": "filled,rounded,dashed", "color": style.GREY, "fillcolor": style.CARD},
    "saved": {"shape": "note", "style": "filled", "color": style.GREY, "fillcolor": style.GATE},
    "group": {"shape": "box3d", "style": "filled", "color": style.LINE, "fillcolor": style.CARD},
    "error": {
        "style": "filled,rounded",
        "color": style.ERROR,
        "fillcolor": style.ERROR_FILL,
        "penwidth": "2.6",
    },
}
_COMMENT = re.compile(r"<!--.*?-->|<\?xml.*?\?>|<!DOCTYPE.*?>", re.S)
_SIZE = re.compile(r"<svg width=\"([\d.]+)pt\" height=\"([\d.]+)pt\"")


def digraph(view: GraphView) -> Any:
    """The graph as a `graphviz.Digraph`. Raises ImportError, with what to install, where the package is missing."""
    try:
        from graphviz import Digraph
    except ImportError as error:
        raise ImportError("DOT needs the graphviz package: pip install graphviz") from error
    made = Digraph(
        "graph",
        graph_attr={
            "rankdir": view.direction,
            "bgcolor": "white",
            "label": escape_dot(_foot(view)),
            "labeljust": "l",
        },
        node_attr={
            "shape": "box",
            "fontname": "Helvetica",
            "fontsize": "11",
            "fontcolor": style.INK,
            "margin": "0.08",
        },
        edge_attr={
            "color": style.LINE,
            "fontname": "Helvetica",
            "fontsize": "9.5",
            "fontcolor": style.GRADIENT,
        },
    )
    made.attr("graph", fontname="Helvetica", fontsize="10", fontcolor=style.GREY)
    arrow = {"dir": "back", "color": style.GRADIENT} if view.sense == "backward" else {}
    for node, box in zip(view.nodes, boxes(view), strict=True):
        made.node(f"n{node.id}", label=_label(node, box), **_SHAPES[emphasis(node)])
        if _has_sign(node):
            made.node(
                f"o{node.id}",
                label=escape_dot(node.symbol),
                shape="circle" if len(node.symbol) <= 2 else "box",
                style="filled" if len(node.symbol) <= 2 else "filled,rounded",
                color=style.LINE,
                fillcolor=style.GATE,
                margin="0.04",
                width="0.3",
                height="0.3",
            )
            made.edge(f"o{node.id}", f"n{node.id}", **arrow)
    _frames(made, view)
    for edge in view.edges:
        if view.nodes[edge.source].role == SAVED:
            made.edge(f"n{edge.source}", f"o{edge.target}", style="dashed", arrowhead="none")
            continue
        target = view.nodes[edge.target]
        end = f"o{edge.target}" if _has_sign(target) else f"n{edge.target}"
        text = {"label": escape_dot(f" {edge.label} ")} if edge.label else {}
        made.edge(f"n{edge.source}", end, **text, **arrow)
    return made


def _frames(made: Any, view: GraphView) -> None:
    """Open scopes as clusters: a node that a cluster names is drawn in it."""
    framed = clusters(view)
    sets = [set(cluster.members) for cluster in framed]
    parts: dict[int, Any] = {}
    for k in reversed(range(len(framed))):  # the innermost first: each goes into the one around it
        part = parts.get(k) or made.__class__(f"cluster_{k}")
        part.attr(label=escape_dot(framed[k].name), style="rounded,dashed", color=style.LINE, labeljust="l")
        inner = set().union(*(sets[j] for j in parts if sets[j] <= sets[k] and j != k), set())
        for i in framed[k].members:
            if i not in inner:
                part.node(f"n{i}")
                if _has_sign(view.nodes[i]):
                    part.node(f"o{i}")
        for j in [j for j in parts if j != k and sets[j] <= sets[k]]:
            part.subgraph(parts.pop(j))
        parts[k] = part
    for k in sorted(parts):
        made.subgraph(parts[k])


def graph_dot(view: GraphView) -> str:
    """DOT source."""
    source: str = digraph(view).source
    return source


def program() -> str | None:
    """The path of a program that lays out DOT, or None."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def render(view: GraphView, form: str, seconds: float = SECONDS) -> bytes:
    """A picture by `dot` in a format of its own ('svg', 'pdf', 'png').

    Raises RuntimeError with one clear line if there is no `dot`, if it takes longer than `seconds`, or if it fails.
    """
    path = program()
    if path is None:
        raise RuntimeError("there is no `dot` program on this machine (Graphviz brings it)")
    high = ["-Gdpi=144"] if form == "png" else []
    try:
        done = subprocess.run(
            [path, f"-T{form}", *high], input=graph_dot(view).encode(), capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"`dot` did not finish within {seconds:g} seconds") from None
    except OSError as error:
        raise RuntimeError(f"`dot` could not be started: {error.strerror}") from None
    if done.returncode or not done.stdout:
        told = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise RuntimeError(f"`dot` failed: {told[-1]}")
    return done.stdout


def render_svg(view: GraphView, seconds: float = SECONDS) -> str:
    """dot's SVG in pixels, with a title and a description; raises RuntimeError as `render` does."""
    svg = _COMMENT.sub("", render(view, "svg", seconds).decode()).strip()
    width, height = (round(float(n) * 1.15) for n in _SIZE.findall(svg)[0])
    head, _, rest = svg.partition("<svg ")[2].partition(">")
    box = re.findall(r"viewBox=\"[^\"]*\"", head)[0]
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' {box} role='img' "
        f"aria-label='{escape_xml(view.alt)}'>\n<title>{escape_xml(view.title)}</title>"
        f"<desc>{escape_xml(view.alt)}</desc>{rest}"
    )


def save(view: GraphView, path: Path) -> None:
    """Write DOT source to a file."""
    path.write_text(graph_dot(view), encoding="utf-8", newline="\n")


def _has_sign(node: GraphNode) -> bool:
    return bool(node.symbol) and node.role not in (LEAF, DATA, SAVED, GROUP)


def _foot(view: GraphView) -> str:
    return " — ".join(line for line in (view.caption, view.left_out, *view.notes) if line)


def _label(node: GraphNode, box: Box) -> str:
    """A box as Graphviz's HTML-like table."""
    name = f"<b>{escape_xml(box.name)}</b>" if box.name else ""
    small = f"<font point-size='9' color='{style.GREY}'>{escape_xml(box.tag)}</font>"
    mark = (
        f"<tr><td colspan='2'><font color='{style.ERROR}'><b>{escape_xml(box.badge)}</b></font></td></tr>"
        if node.mark
        else ""
    )
    lines = [
        f"{mark}<tr><td align='left'>{name or small}</td><td align='right'>{small if name else ''}</td></tr>"
    ]
    for row in box.rows:
        colour = style.GRADIENT if row.kind == GRAD else style.GREY if row.kind == MUTED else style.INK
        label = style.GRADIENT if row.label_kind == GRAD else style.GREY
        text = "<br align='right'/>".join(
            escape_xml(part).replace("  ", "&#160;&#160;") for part in row.text.split("\n")
        )
        text = f"<i>{text}</i>" if row.kind == MUTED else text
        lines.append(
            f"<tr><td align='left'><font point-size='9' color='{label}'>{escape_xml(row.label)}</font></td>"
            f"<td align='right'><font color='{colour}'>{text}</font></td></tr>"
        )
    return f"<<table border='0' cellborder='0' cellspacing='0' cellpadding='2'>{''.join(lines)}</table>>"
