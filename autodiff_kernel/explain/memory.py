"""What holds memory: tensors, their gradients, and the graphs behind them, which keep what backward will read.

A graph lives as long as a tensor that hangs on it.  So a sum over the rounds of a training keeps the graph of every
round, unless only its number is added.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.facts import event_at
from autodiff_kernel.core.graph import Node
from autodiff_kernel.core.places import Place
from autodiff_kernel.core.storage import is_array, root_of
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.core.trail import told

from . import rewrite
from .answer import LESSONS, Answer, lines
from .history import fact, nodes, parameters_of
from .related import direct_uses
from .words import Names, atom, checked_names, label, name_of_tensor, names_of_caller, shape, size, times

LESSON = LESSONS["training"]
MOST = 100_000  # nodes of a graph that are counted
_SLOTS = ("a", "b", "c", "y", "x", "p")


@dataclass
class Kept:
    """What a graph keeps alive.

    nodes: how many.  bytes: of the saved values, each buffer once, without those that a leaf holds anyway.  lines: how
    often each of the user's instructions is in the graph.  bytes_of: what the nodes of each instruction keep first.
    events: of its nodes.
    """

    nodes: int = 0
    bytes: int = 0
    lines: Counter[Any] = field(default_factory=Counter)
    bytes_of: Counter[Any] = field(default_factory=Counter)
    events: set[int] = field(default_factory=set)
    more: bool = False

    @property
    def heaviest(self) -> Place | None:
        """The line whose nodes keep the most."""
        found = self.bytes_of.most_common(1)
        return Place(*found[0][0]) if found and found[0][0] is not None else None


def kept_by(roots: list[Node], seen_buffers: set[int] | None = None) -> Kept:
    """What the graphs of these nodes keep alive together."""
    kept, known = Kept(), set()
    counted: set[int] = set() if seen_buffers is None else seen_buffers
    graph: list[Node] = []
    for root in roots:
        for n in nodes(root, MOST):
            if n not in known:
                known.add(n)
                graph.append(n)
    for n in graph:
        t = n.leaf() if n.op is None else None
        if t is not None:
            counted.add(id(root_of(t.raw)))
    for n in graph:
        if n.op is None:
            continue
        kept.nodes += 1
        spot = n.line
        kept.lines[spot] += 1
        event = event_at(n)
        if event is not None:
            kept.events.add(id(event))
        for array in _arrays(n):
            base = root_of(array)
            if id(base) not in counted:
                counted.add(id(base))
                kept.bytes += int(base.nbytes)
                kept.bytes_of[spot] += int(base.nbytes)
    kept.more = len(known) > MOST
    return kept


def _arrays(n: Node) -> Iterator[Any]:
    """The arrays and NumPy scalars that a node keeps."""
    waiting = [getattr(n, slot, None) for slot in _SLOTS]
    while waiting:
        x = waiting.pop()
        if isinstance(x, (list, tuple)):
            waiting += x
        elif is_array(x) or isinstance(x, np.generic):
            yield x


# -------------------------------------------------------------------------------------------------------- diagnoses
def growing(x: Any, names: Names) -> Iterator[Answer]:
    """A sum or a state that keeps the graph of every round, or a list of results that each keep theirs."""
    if isinstance(x, Tensor):
        if x.node is not None and x.node.op is not None:
            yield from _grown(x, x.node, names)
    elif isinstance(x, (list, tuple)):
        yield from _collected(x, names)


def _grown(x: Tensor, root: Node, names: Names) -> Iterator[Answer]:
    kept = kept_by([root])
    spot = root.line
    rounds = _rounds(root, spot)
    if spot is None or rounds < 2 or _was_started_from(root):
        return
    number = x.raw.size == 1
    done = _walked_without(root, kept)
    if not done and not number:
        return  # a state that is carried on, whose backward is still to come
    title = name_of_tensor(x, names) or "this tensor"
    place = Place(*spot)
    told = f"{title} keeps the graphs of {rounds} rounds{_DONE if done else ''}: {_size_of(kept)}, growing with every round"
    if not done:
        told += "; that is right only if backward is to start from it"
    yield Answer(
        "graph grows", f"{told}.", lines((f"added to {times(rounds)} in", place)), _number_only(x, place, title, names),
        LESSON, _repeated(kept), (x,), certain=done,
    )  # fmt: skip


def _rounds(root: Node, spot: Any) -> int:
    """How often the line at `spot` added to the graph, with other lines at work in between.

    (One call may make many nodes, as of autograd.grad with create_graph: they count as one.)
    """
    order = sorted((n for n in nodes(root, MOST) if n.op is not None), key=lambda n: n.seq)
    spots = [n.line for n in order]
    return sum(1 for a, b in zip([None, *spots], spots) if b == spot != a)


_DONE = ", although backward has been through them already"


def _walked_without(root: Node, kept: Kept) -> bool:
    """Did a backward go through a part of the graph without root, so that the part is done with?"""
    mine = event_at(root)
    walks = {s.walk for s in told().passed if id(s.event) in kept.events}
    return bool(walks - {s.walk for s in told().passed if s.event is mine})


def _was_started_from(root: Node) -> bool:
    e = event_at(root)
    return any(e is r for b in journal.LOG.of_kind("backward") for r in b.inputs)


def _size_of(kept: Kept) -> str:
    more = "more than " if kept.more else ""
    saved = f", which keep {size(kept.bytes)} of saved values" if kept.bytes else ""
    return f"{more}{kept.nodes} nodes{saved}"


def _repeated(kept: Kept) -> tuple[str, ...]:
    """The lines that are in the graph more than once."""
    by_line: Counter[str] = Counter()
    for spot, count in kept.lines.items():
        if spot is not None and count > 1:
            text = str(Place(*spot))
            by_line[text] = max(by_line[text], count)
    return tuple(f"{times(count)} in the graph: {text}" for text, count in by_line.most_common(5))


def _number_only(x: Tensor, place: Place, title: str, names: Names) -> str:
    """The line with numbers only: `total += loss.item()`; for more than a number, a cut of the history."""
    if x.raw.size != 1:
        return f"{title} = {title}.detach()  # after backward, before the next round"
    source = rewrite.Source(place)
    statement = source.statement
    if isinstance(statement, ast.AugAssign):
        value, target = source.of(statement.value), source.of(statement.target)
        return f"{target} {rewrite.SIGNS.get(type(statement.op), '+')}= {atom(value)}.item()"
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        for side in (statement.value.right, statement.value.left):
            if source.of(side) != source.of(statement.targets[0]) and isinstance(side, (ast.Name, ast.Call)):
                return source.with_part(side, f"{source.of(side)}.item()")
    return f"{title} = {title}.detach()  # or add numbers: loss.item()"


def _collected(sequence: Any, names: Names) -> Iterator[Answer]:
    held = [
        t for t in sequence[:10_000] if isinstance(t, Tensor) and t.node is not None and t.node.op is not None
    ]
    if (
        len(held) < 2
        or any(t.raw.size != 1 for t in held)
        and (len(held) < 3 or any(_goes_on(t) for t in held))
    ):
        return
    kept = kept_by([t.node for t in held if t.node is not None])
    title = next((k for k, v in (names or {}).items() if v is sequence), "the list")
    last, done = fact(held[-1]), any(s.event is fact(t) for t in held for s in told().passed)
    yield Answer(
        "graphs in a list",
        f"{title} holds {len(held)} results with their graphs{_DONE if done else ''}: {_size_of(kept)}, growing with every "
        "round"
        + ("." if done else "; that is right only if backward is to go through them."),
        lines(("made in", last)), f"{title}.append({_element(held[-1], last, names)}"
        f"{'.item()' if held[-1].raw.size == 1 else '.detach()'})", LESSON, _repeated(kept),
        tuple(held), certain=done,
    )  # fmt: skip


def _goes_on(t: Tensor) -> bool:
    """Does something that requires grad hang on t?  Then its graph is wanted."""
    e = fact(t)
    return e is None or any(u.tracked for u in direct_uses(e))


def _element(t: Tensor, e: Any, names: Names) -> str:
    plain = {k: v for k, v in (names or {}).items() if isinstance(v, Tensor)}
    return atom(name_of_tensor(t, plain) or (label(e, None) if e is not None else "loss"))


# ----------------------------------------------------------------------------------------------- the whole namespace
@dataclass(frozen=True)
class Holding:
    """What one of the user's names holds, in bytes; buffers that several names share count for the first."""

    name: str
    shape: tuple[int, ...]
    own: int
    gradient: int
    graph: int
    nodes: int
    line: Place | None = None

    @property
    def total(self) -> int:
        return self.own + self.gradient + self.graph


@dataclass(frozen=True)
class Memory:
    """What tensors and graphs hold, the largest first."""

    holdings: tuple[Holding, ...]

    @property
    def total(self) -> int:
        return sum(h.total for h in self.holdings)

    def __str__(self) -> str:
        if not self.holdings:
            return "No tensors."
        rows = [("name", "shape", "values", "gradient", "graph")]
        for h in self.holdings:
            graph = f"{size(h.graph)} in {h.nodes} nodes" if h.nodes else "-"
            if h.line is not None and h.graph:
                graph += f", most by {h.line}"
            rows.append((h.name, shape(h.shape), size(h.own), size(h.gradient) if h.gradient else "-", graph))
        wide = [max(len(row[i]) for row in rows) for i in range(4)]
        body = ["  ".join((*(c.ljust(w) for c, w in zip(row, wide)), row[4])).rstrip() for row in rows]
        return "\n".join([*body, f"together {size(self.total)}"])

    __repr__ = __str__


def memory(namespace: Names = None) -> Memory:
    """Which of the user's tensors hold how much memory: values, gradients, and the graphs behind them.

    namespace: the user's names; the caller's by default.  Lists, tuples and dictionaries of tensors are looked into,
    and what has `named_parameters()`.  Shared memory is counted once.  Returns a Memory, which prints as a table.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel import explain
    >>> w = torch.ones(1000, requires_grad=True)
    >>> loss = (w.exp() * 2).sum()
    >>> explain.memory({"w": w, "loss": loss})
    name  shape   values    gradient  graph
    loss  []      4 bytes   -         3.91 KiB in 3 nodes
    w     [1000]  3.91 KiB  -         -
    together 7.82 KiB
    """
    namespace = names_of_caller() if namespace is None else checked_names(namespace)
    found: dict[int, tuple[str, Tensor]] = {}
    for name, value in list(namespace.items()):
        if not name.startswith("_"):
            for inner, t in _tensors(name, value):
                found.setdefault(id(t), (inner, t))
    counted: set[int] = set()
    own = {key: _bytes(t.raw, counted) for key, (_, t) in found.items()}
    holdings = []
    for key, (name, t) in found.items():
        g = t._grad_or_none()
        kept = kept_by([t.node], counted) if t.node is not None and t.node.op is not None else Kept()
        gradient = 0 if g is None else _bytes(g.raw, counted)
        holdings.append(Holding(name, t.raw.shape, own[key], gradient, kept.bytes, kept.nodes, kept.heaviest))
    return Memory(tuple(sorted(holdings, key=lambda h: -h.total)))


def _bytes(raw: Any, counted: set[int]) -> int:
    base = root_of(raw)
    if id(base) in counted:
        return 0
    counted.add(id(base))
    return int(base.nbytes)


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors that a name stands for, each with the user's way to it."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, (list, tuple)):
        yield from ((f"{name}[{i}]", t) for i, t in enumerate(value[:1000]) if isinstance(t, Tensor))
    elif isinstance(value, dict):
        items = list(value.items())[:1000]
        yield from (
            (f"{name}[{k!r}]", t) for k, t in items if isinstance(t, Tensor) and isinstance(k, (str, int))
        )
    else:
        yield from ((f"{name}.{k}", t) for k, t in parameters_of(value) if isinstance(t, Tensor))
