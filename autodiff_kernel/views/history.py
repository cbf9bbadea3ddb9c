"""How a value came about, drawn from the recorded events: also where no graph was recorded, or where it is gone.

The graph of a tensor ends where the gradient's way does. What a student asks about lies on both sides of that end, so
this picture shows operations inside and outside the graph (dashed), and marks where an answer says that it happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.core.trail import Passed
from autodiff_kernel.explain.names import given_name
from autodiff_kernel.explain.names import operation as operation_of
from autodiff_kernel.explain.paths import forgotten
from autodiff_kernel.explain.values import Backwards, Values

from .build import NOT_KEPT, SUMMED, base_name, device_name, dtype_name, head_of, peek, sign
from .collapse import collapse
from .model import DATA, FREE, LEAF, OP, OUTPUT, GraphEdge, GraphNode, GraphView
from .names import Names
from .partials import Operand, Partials
from .style import array_text, clip

MOST = 150  # events that are looked at
LIMIT = 30  # boxes that are drawn
NAME = 60  # characters of a name
ONCE = ("begins here", "and here")  # marks of which a picture has one
_GRADIENTS = ("grad", "autograd.grad")
_OUT = ("numpy", "item", "tolist")  # what leaves tensors for good
Spot = tuple[Any, int]  # code and instruction: an event's place in the user's code


def history(
    roots: Iterable[Event],
    namespace: Mapping[str, Any] | None = None,
    marks: Mapping[Spot, str] | None = None,
    asked: Tensor | None = None,
    word: str = "",
    outside: bool = False,
) -> GraphView | None:
    """The events that led to `roots` as a graph, inputs before what was made of them; None where there is no operation.

    namespace: the user's names. marks: what to write on the box of an event at a place of the user's code. asked, word:
    the tensor that the question is about, and what to write on its box where no other has a mark. outside: are operations
    to be shown as outside the graph where no tensor requires grad at all?
    """
    built = _Builder(Names(namespace), dict(marks or {}), outside)
    with np.errstate(all="ignore"):  # a local derivative at a pole is no news
        view = built.view(list(roots), asked, word)
    if view is None:
        return None
    small = collapse(view, LIMIT)
    merged = (
        "" if small is view else small.left_out.split(" limit=")[0]
    )  # (an option that this picture has not)
    return replace(small, left_out=" ".join(filter(None, (merged, view.left_out))))


class _Builder:
    """Makes boxes of events. Events that tell of one and the same thing share a box."""

    def __init__(self, names: Names, marks: dict[Spot, str], outside: bool) -> None:
        self.names, self.marks, self.outside = names, marks, outside
        self.values = Values()
        self.backs = Backwards(self.values)
        self.came: dict[
            int, list[Passed]
        ] = {}  # tensor -> what came to it, and event -> what went through it
        self.went: dict[int, list[Passed]] = {}
        for step in self.backs.steps:
            if step.target is not None:
                self.came.setdefault(_tensor_key(step.target), []).append(step)
            self.went.setdefault(id(step.event), []).append(step)
        self.ids: dict[Any, int] = {}
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.operands: dict[int, Operand] = {}  # of each box
        self.more = False

    def view(self, roots: list[Event], asked: Tensor | None, word: str) -> GraphView | None:
        events = self._ordered(roots)
        used = {_key(x) for e in events for x in self._inputs(e)}
        files = {e.place.filename for e in events if e.place is not None and not e.place.in_cell}
        self.more = self.more or any(forgotten(e) for e in events)
        self.outside = self.outside or any(_tracked(e) for e in events)
        for e in events:
            self._add(e, _key(e) not in used, files)
        if not any(node.op for node in self.nodes):
            return None
        if word and asked is not None and not any(node.mark for node in self.nodes):
            self._mark(asked, word)
        for mark in ONCE:
            self._once(mark)
        nodes = tuple(self.nodes)
        ends = [node.name for node, e in zip(nodes, events) if _key(e) not in used and node.op and node.name]
        free = any(node.role == FREE for node in nodes)
        notes = ("Dashed: outside the graph, so no gradient comes back from there.",) if free else ()
        return GraphView(
            nodes,
            tuple(self.edges),
            title=f"How {ends[-1] if ends else 'it'} came about",
            caption=head_of(nodes, files),
            left_out="Earlier steps are left out." if self.more else "",
            notes=notes,
            alt=_alt(nodes),
        )

    # ------------------------------------------------------------------------------------------ which events
    def _ordered(self, roots: list[Event]) -> list[Event]:
        """The nearest events, each after its inputs."""
        near: dict[Any, Event] = {}
        waiting = [_plain(e, self.marks) for e in roots]
        for e in waiting:  # (it grows)
            if _key(e) in near:
                continue
            if len(near) >= MOST:
                self.more = True
                break
            near[_key(e)] = e
            waiting += self._inputs(e)
        done: dict[Any, Event] = {}
        stack = [(e, False) for e in near.values()][::-1]
        while stack:
            e, ready = stack.pop()
            if _key(e) in done:
                continue
            if ready:
                done[_key(e)] = e
            else:
                stack.append((e, True))
                stack += [(x, False) for x in self._inputs(e)[::-1] if _key(x) in near]
        return list(done.values())

    def _inputs(self, e: Event) -> list[Event]:
        """The events that are drawn before this one."""
        if _is_leaf(e) and e.spot not in self.marks:
            return []  # how a parameter came to its value is another question
        found = [_plain(x, self.marks) for x in e.inputs if x.__class__ is Event]
        return [x for x in found if _key(x) != _key(e)]

    # ------------------------------------------------------------------------------------------ boxes
    def _add(self, e: Event, last: bool, files: set[str]) -> None:
        t = _tensor(e)
        inputs = self._inputs(e)
        role = self._role(e, bool(inputs), last)
        drawn = role in (OP, FREE, OUTPUT)
        grad = self._gradient(e)
        name = clip(self._name(e, t), NAME)
        held = t._grad_or_none() if t is not None and role == LEAF and grad else None
        stored = array_text(peek(held.raw)) if held is not None else ""
        node = GraphNode(
            len(self.nodes),
            role,
            name=name,
            op=clip(_word(e), NAME) if drawn else "",
            symbol=self._sign(e) if drawn else "",
            shape=tuple(e.shape) if not isinstance(e.shape, list) else None,
            dtype=dtype_name(e.dtype) if e.dtype is not None else "",
            device=device_name(e.device) if e.device is not None else "",
            value=self._value(e, t),
            grad=grad,
            grad_state="here" if grad else "",
            stored="" if stored == grad else stored,
            line=_line(e, files),
            scope=self.names.way(e.names),
            mark=self.marks.get(e.spot, "") if e.spot is not None else "",
        )
        self.ids[_key(e)] = node.id
        self.nodes.append(node)
        value = self.values.of(e) if e.value is not None else None
        self.operands[node.id] = Operand(name, value, node.op)
        self._connect(e, inputs, node)

    def _role(self, e: Event, has_inputs: bool, last: bool) -> str:
        if _is_leaf(e) and not has_inputs:
            return LEAF
        if e.kind in ("made", "met") and not has_inputs:
            return DATA
        if self.outside and not _tracked(e):
            return FREE
        return OUTPUT if last else OP

    def _connect(self, e: Event, inputs: list[Event], node: GraphNode) -> None:
        position, before = 0, {_key(x) for x in inputs}
        for i, x in enumerate(e.inputs):
            if x.__class__ is not Event:
                continue
            x = _plain(x, self.marks)
            source = self.ids.get(_key(x))
            if _key(x) not in before or source is None:
                self.more = self.more or _key(x) in before
                continue
            text = self._derivative(e, i, node) if id(e) in self.went and _tracked(x) else ""
            swapped = isinstance(e.op, Op) and e.op.base.name == "rsub"
            self.edges.append(GraphEdge(source, node.id, text, -position if swapped else position))
            position += 1

    def _derivative(self, e: Event, i: int, node: GraphNode) -> str:
        """The local derivative that backward multiplied with."""
        if not isinstance(e.op, Op) or e.kind not in ("operation", "write"):
            return ""
        operands = [
            self.operands.get(self.ids.get(_key(_plain(x, self.marks)), -1), Operand())
            if x.__class__ is Event
            else Operand("", x)
            for x in e.inputs
        ]
        return Partials(e.op.base, operands, self.operands[node.id], e.p).label(i)

    def _once(self, mark: str) -> None:
        """In a loop one line has many boxes: leave the mark where the nan or inf is first seen, else on the newest."""
        marked = [node for node in self.nodes if node.mark == mark]
        bad = [node for node in marked if re.search("nan|inf", node.value or "")]
        keep = bad[:1] or [node for node in marked if node.grad][-1:] or marked[-1:]
        for node in marked:
            if node not in keep:
                self.nodes[node.id] = replace(node, mark="")

    def _mark(self, asked: Tensor, word: str) -> None:
        """Mark the box of the tensor that the question is about."""
        e = getattr(asked, "fact", None)
        i = self.ids.get(_key(_plain(e, self.marks))) if e is not None else None
        if i is not None:
            self.nodes[i] = replace(self.nodes[i], mark=word)

    # ------------------------------------------------------------------------------------------ what stands in them
    def _name(self, e: Event, t: Tensor | None) -> str:
        if t is not None and not (e.kind == "left" and e.op in _OUT):
            found = self.names.of_tensor(t)
            if found:
                return found
        if e.kind == "made" and e.op in _GRADIENTS and e.inputs:
            owner = _tensor(e.inputs[0])
            found = self.names.of_tensor(owner) if owner is not None else ""
            return f"{found}.grad" if found else ""
        return given_name(e)

    def _sign(self, e: Event) -> str:
        if not isinstance(e.op, Op):
            return ""
        pairs = [
            (x, 0, None) if x.__class__ is Event else (None, 0, x if np.ndim(x) == 0 else None)
            for x in e.inputs
        ]
        return sign(e.op, pairs)

    def _value(self, e: Event, t: Tensor | None) -> str | None:
        if e.value is not None:
            some = e.value if isinstance(e.value, list) else [e.value]
            return None if any(v is None for v in some) else "; ".join(array_text(peek(v)) for v in some)
        if t is not None and getattr(t, "fact", None) is e and t.raw.size <= SUMMED:
            return array_text(peek(t.raw))
        return ""

    def _gradient(self, e: Event) -> str:
        """What the newest backward that came this far brought here."""
        steps = self.came.get(_tensor_key(e), [])
        if steps:
            given = [self.backs.gradient(step) for step in steps if step.walk == steps[-1].walk]
        else:  # nothing passed on to it, but it may be where a backward began
            given = [self.backs.cotangent(step) for step in self.went.get(id(e), [])[-1:]]
        if not given:
            return ""
        known = [g for g in given if g is not None]
        if len(known) < len(given):
            return NOT_KEPT
        return array_text(sum(known[1:], start=known[0]))


def _tensor(e: Event) -> Tensor | None:
    t = e.tensor()
    return t if isinstance(t, Tensor) else None


def _tracked(e: Event) -> bool:
    """Does its result take a gradient? (The event of an operation with several results does not say it itself.)"""
    if e.kind == "left" and e.op in _OUT:
        return False
    if e.result.__class__ is tuple:
        return e.off is None and any(x.__class__ is Event and x.tracked for x in e.inputs)
    return e.tracked


def _tensor_key(e: Event) -> int:
    """What is the same for all events of one tensor."""
    return id(e) if e.result is None else id(e.result)


def _key(e: Event) -> Any:
    """What is the same for copies of one event."""
    return e.kind, id(e.result), e.spot, id(e.inputs) if e.inputs else 0


def _plain(e: Event, marks: Mapping[Spot, str]) -> Event:
    """The event whose box stands for this one: switching requires_grad of fresh data makes no box of its own."""
    while e.kind == "asked" and e.spot not in marks and e.inputs and e.inputs[0].__class__ is Event:
        made = e.inputs[0]
        if made.kind not in ("made", "met") or made.inputs:
            break
        e = made._replace(tracked=e.tracked)
    return e


def _is_leaf(e: Event) -> bool:
    """Is it about a leaf that takes a gradient, made or updated?"""
    while e.kind in ("write", "asked") and e.tracked and e.inputs and e.inputs[0].__class__ is Event:
        if e.kind == "asked" and not e.inputs[0].tracked:
            return e.inputs[0].kind in ("made", "met")
        e = e.inputs[0]
    return e.tracked and e.kind in ("made", "met") and e.op not in _GRADIENTS


def _word(e: Event) -> str:
    """What happened, as users call it."""
    if e.kind == "asked":
        return "requires_grad_"
    if e.kind == "left" and e.op in ("data", "detach", *_OUT):
        return str(e.op)
    if e.kind == "made":
        return "gradient" if e.op in _GRADIENTS else str(e.op or "made")
    word = operation_of(e).removeprefix("the ") or e.kind
    return f"{word}, in place" if e.kind == "write" else word


def _line(e: Event, files: set[str]) -> str:
    place = e.place
    if place is None:
        return ""
    in_cell = place.in_cell or len(files) == 1
    return place.number if in_cell else f"{clip(base_name(place.filename), NAME)}:{place.line}"


def _alt(nodes: tuple[GraphNode, ...]) -> str:
    """What those read who don't see the picture: the marks first."""
    marked = [f"{node.mark}: {node.title}" for node in nodes if node.mark]
    return f"{'; '.join(marked[:4])}. {len(nodes)} values." if marked else f"{len(nodes)} values."
