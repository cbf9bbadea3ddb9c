"""Graphs as Unicode text: one line per value in order of evaluation, with rails on the left that show who uses what.

A terminal shows it, a screen reader reads it line by line, and nothing that the picture says is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from .boxes import badge, gradient_label, tag, within
from .model import DATA, FREE, GROUP, LEAF, OUTPUT, SAVED, GraphNode, GraphView, Summary, counted
from .style import NOT_RECORDED, clip, printable, shape_text

_SIGNS = {LEAF: "◆", DATA: "◇", OUTPUT: "◉", GROUP: "▣", SAVED: "▢", FREE: "○"}
SHORT, ROOM = 80, 36_000  # characters of a cell where there are many lines, of all lines' cells in a column
_LANES = 16  # more rails than this help nobody
_UNEVEN = re.compile(  # where characters may be wide or combine with the one before
    "[\u0300-\u036f\u0483-\u0489\u0591-\u115f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u2e80-\U0010ffff]"
)
_PREFIX, _SUFFIX = ("−", "Σ", "Π", "1/", "√", "1/√"), ("²", "ᵀ")


def graph_text(view: GraphView) -> str:
    """The whole graph as lines of text."""
    inputs: list[list[int]] = [[] for _ in view.nodes]
    local: list[list[str]] = [[] for _ in view.nodes]
    for edge in sorted(view.edges, key=lambda edge: (edge.target, edge.position)):
        inputs[edge.target].append(edge.source)
        if edge.label:
            local[edge.target].append(edge.label)
    backward = view.sense == "backward"
    order = range(len(view.nodes) - 1, -1, -1) if backward else range(len(view.nodes))
    rail = rails(view, inputs, order)
    head = [
        "",
        "backward" if backward else "",
        "shape",
        "type",
        "value",
        _gradient_head(view),
        ".grad",
        "local derivatives",
        "from",
    ]
    rows = [head]
    for place, i in enumerate(order):
        node = view.nodes[i]
        values = [k for k in inputs[i] if view.nodes[k].role != SAVED]
        what = reference(view, i)
        if node.role == SAVED:
            what = ", ".join(node.members)
        elif node.op and values and not backward:
            what = f"{what} = {expression(view, i, values)}"
        rows.append(
            [
                f"{rail[place]}  {what}" if rail else what,
                node.backward_name if backward else "",
                shape_text(node.shape) if node.shape else "",
                " · ".join(filter(None, (node.dtype, node.device))),
                _line(NOT_RECORDED if node.value is None else node.value),
                _line(node.grad_text),
                _line(node.stored),
                ", ".join(local[i]),
                " ".join(filter(None, (_tag(node), within(node), "←" if node.mark else "", badge(node)))),
            ]
        )
    if len({row[3] for row in rows[1:]} - {""}) <= 1:  # the caption says it
        for row in rows:
            row[3] = ""
    foot = [printable(line) for line in (view.caption, view.left_out, *view.notes) if line]
    return "\n".join([printable(view.title), *_table(rows), *foot])


def _tag(node: GraphNode) -> str:
    """Where a value comes from; of a block also what goes in, and how many parameters."""
    details = [f"{what} {how}" for what, how in node.details if what != "out"]
    return ", ".join([tag(node), *details])


def reference(view: GraphView, i: int) -> str:
    """How other lines call a value: its name, or its number in the order of evaluation."""
    return view.nodes[i].name or f"#{i + 1}"


def expression(view: GraphView, i: int, inputs: Sequence[int]) -> str:
    """The operation as a formula of its inputs: 'x1 × x2', 'x1²', 'tanh(h)'."""
    node = view.nodes[i]
    names = [reference(view, k) for k in inputs]
    sign = node.symbol
    if node.role == GROUP or not sign:
        return f"{node.op} of {', '.join(dict.fromkeys(names))}"
    word = _is_word(sign)
    if len(names) == 2 and not word:
        return f"{names[0]} {sign} {names[1]}"
    if len(names) == 1 and sign in _SUFFIX:
        return f"{names[0]}{sign}"
    if sign == "[ ]":
        return f"{names[0]}[…]"
    if len(names) == 1 and not word:
        if "x" in sign and "^" in sign or sign[0] == "x":
            return sign.replace("x", names[0])
        if sign in _PREFIX:
            return f"{sign}{names[0]}"
        if " " in sign:  # with a number: '1 −' or '× 2'
            return f"{names[0]} {sign}" if not sign[0].isalnum() and sign[0] != "-" else f"{sign} {names[0]}"
    return f"{node.op}({', '.join(names)})"


@lru_cache(256)
def _is_word(sign: str) -> bool:
    """Is an operation's sign a name ('tanh'), not something to write between or before values?"""
    return sign[0] == "→" or any(char.isalpha() and char not in "xΣΠᵀ" for char in sign)


def rails(view: GraphView, inputs: list[list[int]], order: Sequence[int]) -> list[str]:
    """What stands before each line: a sign for its value, and a rail down to the lines that use it; [] if too many."""
    sources: list[list[int]] = inputs
    if view.sense == "backward":
        sources = [[] for _ in view.nodes]
        for target, ends in enumerate(inputs):
            for source in ends:
                sources[source].append(target)
    left = [0] * len(view.nodes)
    for some in sources:
        for source in set(some):
            left[source] += 1
    lanes: list[int | None] = []
    drawn: list[str] = []
    for i in order:
        joined = [k for k, source in enumerate(lanes) if source in sources[i]]
        ended = set()
        for k in joined:
            held = lanes[k]
            assert held is not None
            left[held] -= 1
            if not left[held]:
                ended.add(k)
        lane = (
            min(ended) if ended else next((k for k, source in enumerate(lanes) if source is None), len(lanes))
        )
        if lane == len(lanes):
            lanes.append(None)
        if len(lanes) > _LANES:
            return []
        drawn.append(_rail_line(lanes, lane, joined, ended, _SIGNS.get(view.nodes[i].role, "●")))
        for k in ended:
            lanes[k] = None
        lanes[lane] = i if left[i] else None
        while lanes and lanes[-1] is None:
            lanes.pop()
    width = max(map(len, drawn), default=0)
    return [line.ljust(width) for line in drawn]


def _rail_line(lanes: list[int | None], lane: int, joined: list[int], ended: set[int], sign: str) -> str:
    low, high = min([lane, *joined]), max([lane, *joined])
    line = ""
    for k, source in enumerate(lanes):
        if k == lane:
            line += sign
        elif k in joined:
            corner = ("└", "┘", "┴") if k in ended else ("├", "┤", "┼")
            line += corner[0] if k == low else corner[1] if k == high else corner[2]
        elif source is not None:
            line += "│"
        else:
            line += "─" if low < k < high else " "
        line += "─" if low <= k < high else " "
    return line.rstrip()


def summary_text(summary: Summary) -> str:
    """What stands in place of a picture of a graph that is too large for one."""
    lines = [summary.title, summary.caption]
    lines += [f"  {name:<16} {counted(n, 'time')}" for name, n in summary.operations]
    if summary.leaves:
        lines.append("leaves: " + ", ".join(summary.leaves))
    return "\n".join(printable(line) for line in (*lines, summary.left_out))


def _gradient_head(view: GraphView) -> str:
    return gradient_label(GraphNode(0), view)


def _line(text: str) -> str:
    """A matrix in one line."""
    return re.sub(r"(?<=\[) +| +(?= )", "", text.replace("\n", "")) if "\n" in text else text


def width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii() or not _UNEVEN.search(text):
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _table(rows: list[list[str]]) -> list[str]:
    """Columns under each other; a column with nothing in it is left out, and so is the head of the last one."""
    filled = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    most = max(SHORT, ROOM // len(rows))
    cells = [[clip(printable(row[k]), most) for k in filled] for row in rows]
    taken = [[width(text) for text in row] for row in cells]
    widths = [max(column) for column in zip(*taken, strict=True)]
    return [
        "   ".join(
            [text + " " * (room - wide) for text, wide, room in zip(row, wides, widths, strict=True)]
        ).rstrip()
        for row, wides in zip(cells, taken, strict=True)
    ]
