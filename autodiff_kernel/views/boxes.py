"""What stands in a node's box: its heading and its rows. Every renderer of a graph asks here."""

from __future__ import annotations

from typing import NamedTuple

from .model import DATA, FREE, GROUP, LEAF, OUTPUT, SAVED, GraphNode, GraphView
from .style import NOT_RECORDED, shape_text

PLAIN, GRAD, MUTED = "plain", "grad", "muted"
_TAGS = {LEAF: "leaf", DATA: "constant", SAVED: "kept"}


class Row(NamedTuple):
    """A label and what it labels. kind: how `text` is written: 'plain', 'grad' (a gradient) or 'muted' (not there)."""

    label: str
    text: str
    kind: str = PLAIN
    label_kind: str = MUTED


class Box(NamedTuple):
    """name: the heading, '' for a value without one. tag: where it comes from ('mul · line 2'). rows: the rest.

    badge: what stands on the box's upper edge: 'error here' or another mark, how often a group repeats ('×12'), or ''.
    """

    name: str
    tag: str
    rows: tuple[Row, ...]
    badge: str = ""


def boxes(view: GraphView) -> list[Box]:
    """The contents of all boxes of a view, in the order of its nodes."""
    types = {(node.dtype, node.device) for node in view.nodes if node.dtype}
    return [
        Box(node.name, tag(node), tuple(_rows(node, view, len(types) > 1)), badge(node))
        for node in view.nodes
    ]


def tag(node: GraphNode) -> str:
    """'leaf', 'constant', or the operation and its line."""
    what = _TAGS.get(node.role, node.op)
    return f"{what} · {node.line}" if what and node.line else what or node.line


def within(node: GraphNode) -> str:
    """'in net.layer 1': the scopes it was computed in."""
    return f"in {'.'.join(node.scope)}" if node.scope else ""


def badge(node: GraphNode) -> str:
    """'error here' or what else the mark says, '×12', or ''."""
    if node.mark:
        return "error here" if node.mark == "error" else node.mark
    return f"×{node.count}" if node.count > 1 else ""


def gradient_label(node: GraphNode, view: GraphView) -> str:
    """∂y/∂x1 where that is what the gradient is and there is room to say it, else grad."""
    if not view.wrt or len(view.wrt) > 6:
        return "grad"
    return f"∂{view.wrt}/∂{node.name}" if 0 < len(node.name) <= 6 else f"∂{view.wrt}/∂·"


def _rows(node: GraphNode, view: GraphView, mixed: bool) -> list[Row]:
    if node.role == SAVED:
        return [Row(*member.split(": ", 1)) for member in node.members]
    rows = [Row(what, how) for what, how in node.details]
    if node.shape and not rows:
        rows.append(Row("shape", shape_text(node.shape)))
    if mixed and node.dtype:
        rows.append(Row("type", f"{node.dtype} · {node.device}" if node.device else node.dtype))
    if node.value is None and not node.details:
        rows.append(Row("value", NOT_RECORDED, MUTED))
    elif node.value:
        rows.append(Row("value", node.value))
    if node.grad_state:
        here = node.grad_state == "here"
        rows.append(Row(gradient_label(node, view), node.grad_text, GRAD if here else MUTED, GRAD))
    if node.stored:
        rows.append(Row(".grad", node.stored, GRAD, GRAD))
    return rows


def emphasis(node: GraphNode) -> str:
    """Which of the looks a box has: 'error', 'leaf', 'output', 'data', 'saved', 'group', 'free' or 'op'."""
    if node.mark:
        return "error"
    return node.role if node.role in (LEAF, OUTPUT, DATA, SAVED, GROUP, FREE) else "op"
