"""The view model of a graph: plain data, ready for JSON, that says everything a picture shows.

A node of the model is one value and the operation that made it, so it stands for one node of the engine's graph. Texts
are as a user gave them, not escaped: that is each renderer's duty. Numbers are texts already, so that every renderer
writes them alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

LEAF, DATA, OP, OUTPUT, SAVED, GROUP, FREE = "leaf", "data", "op", "output", "saved", "group", "free"


@dataclass(frozen=True)
class GraphNode:
    """One value of the graph.

    role: 'leaf' (a tensor that gets a gradient), 'data' (one that doesn't), 'op', 'output', 'saved' (what a node keeps
    for backward), 'group' (operations that were drawn as one), 'free' (an operation outside the graph: no gradient
    comes through it). name: the variable's, or ''. op, symbol: the operation
    in words and as a sign, with a number among its inputs written in ('× 2'). backward_name: PyTorch's node's name.
    value: its text, None where nobody recorded it. grad: the gradient's text; grad_state says what it means: 'here',
    'not yet' (no backward so far), 'not recorded', or '' (this value has none). terms: the contributions that were
    added up to the gradient, if several. stored: what `.grad` holds where that is not this gradient. line: where in
    the user's code. count, members, absorbed: how many times a group stands for which operations, and how many leaves
    it took in. scope: the modules it was computed in, outermost first. mark: '', 'error', or the
    few words that a red box bears ('cut off here'). call: operations that ran while a scope was open once have one
    number. details: what a block says of itself instead of its value, as (label, text).
    """

    id: int
    role: str = OP
    name: str = ""
    op: str = ""
    symbol: str = ""
    backward_name: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    device: str = ""
    value: str | None = None
    grad: str = ""
    grad_state: str = ""
    terms: tuple[str, ...] = ()
    stored: str = ""
    line: str = ""
    count: int = 1
    members: tuple[str, ...] = ()
    absorbed: int = 0
    scope: tuple[str, ...] = ()
    mark: str = ""
    call: int = 0
    details: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """What its box is called: the variable's name, else the operation's."""
        return self.name or self.op or self.role

    @property
    def grad_text(self) -> str:
        """The gradient as it is written: a sum with its terms, or why there is none."""
        if self.grad_state != "here":
            return self.grad_state
        return " + ".join(self.terms).replace("+ -", "- ") + " = " + self.grad if self.terms else self.grad


@dataclass(frozen=True)
class GraphEdge:
    """A value's way into an operation: its place among the inputs, and the local derivative there ('· x2 = 3').

    output: which of the source's outputs, where it has several. passed (in a backward
    view): the contribution that came back along the edge.
    """

    source: int
    target: int
    label: str = ""
    position: int = 0
    output: int = 0
    passed: str = ""
    count: int = 1


@dataclass(frozen=True)
class GraphView:
    """A graph to be drawn. Nodes stand in an order of evaluation: inputs before what is made from them.

    sense: 'forward' (arrows as values flow) or 'backward' (as gradients do). direction: 'LR' or 'TB'. wrt: the output's
    name where every gradient is that of one scalar output ('y' makes the label ∂y/∂x1), else ''. caption: what holds
    for all nodes. left_out: what the picture does not show, in a sentence. notes: further sentences under the picture.
    sources: the lines that nodes name, with their text.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...] = ()
    sense: str = "forward"
    direction: str = "LR"
    title: str = "Graph"
    wrt: str = ""
    caption: str = ""
    left_out: str = ""
    notes: tuple[str, ...] = ()
    alt: str = ""
    sources: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers.

        >>> GraphView((GraphNode(0, LEAF, "x"),)).to_dict()["nodes"][0]["name"]
        'x'
        """
        return asdict(self)


@dataclass(frozen=True)
class Summary:
    """A graph that is too large to be drawn: what it consists of, in words and numbers.

    operations: (name, how often), the most frequent first. leaves: their names and shapes. left_out: what is not shown
    and how to get it.
    """

    title: str
    caption: str
    operations: tuple[tuple[str, int], ...]
    leaves: tuple[str, ...]
    left_out: str
    alt: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def counted(n: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "leaf"), counted(3, "leaf"), counted(0, "operation")
    ('1 leaf', '3 leaves', '0 operations')
    """
    if n == 1:
        return f"1 {what}"
    return f"{n:,} {what[:-1] + 'ves' if what.endswith('f') else what + 's'}"


def head_count(nodes: tuple[GraphNode, ...]) -> str:
    """'2 leaves, 3 operations': what a caption and an alternative text start with."""
    roles = Counter(node.role for node in nodes)
    operations = sum(
        node.count * max(1, len(node.members))
        for node in nodes
        if node.role in (OP, OUTPUT, GROUP, FREE) and node.op
    )
    parts = [counted(roles[LEAF], "leaf"), counted(operations, "operation")]
    if roles[DATA]:
        parts.insert(1, counted(roles[DATA], "constant"))
    return ", ".join(parts)
