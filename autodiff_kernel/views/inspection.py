"""`inspect(x)`: what Shift-Tab and `x?` show of a tensor, a node (`grad_fn`) or a model: facts, history, a small graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.graph import Node, as_edge, edges_of, node_of
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.sharing import View
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain.history import about, fact, parameters_of
from autodiff_kernel.explain.names import born

from .build import called, device_name, peek
from .build import kept as kept_of
from .graph import LIMIT, graph
from .model import GraphView, Summary
from .names import Names, modules_of
from .page import Page, Table, Words, clip, counted, page_result
from .partials import Operand, Partials
from .placement_cards import size
from .result import Result
from .saved import saved
from .scene import draw
from .style import array_text, shape_text
from .text import graph_text

SMALL = 12  # boxes of the small graph
MOST = 6  # lines of history
ROWS = 30  # parts of a model that are listed
_HAPPENED = {
    "operation": "computed",
    "made": "made",
    "write": "changed in place",
    "asked": "requires_grad switched",
    "left": "values taken out of the graph",
    "gradient": "its .grad received a sum",
    "cleared": "its .grad dropped",
    "backward": "backward started here",
}


@dataclass(frozen=True)
class Inspection:
    """What is known of one object.

    facts: (what, how it is). history: what happened to it and where, oldest first. parts: of a model, its modules or
    parameters as rows under `heads`. graph: how it was computed, None where there is no graph.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    history: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    graph: GraphView | None = None
    more: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def is_inspected(x: Any) -> bool:
    """Is this something that `inspect` knows more about than Python does?"""
    if isinstance(x, (Tensor, Node)):
        return True
    if isinstance(x, type):
        return False
    return isinstance(node_of(x), Node) or callable(getattr(type(x), "named_parameters", None))


def inspect(
    x: Any, *, namespace: Mapping[str, Any] | None = None, name: str = "", full: bool = False
) -> Result:
    """Say what x is: a tensor, a node (`y.grad_fn`), or a model (anything with `named_parameters()`).

    namespace: variables that give the values their names; the caller's own if None. name: what x is called. full:
    the graph with up to 150 boxes instead of 12 (`x??`). Nothing is computed, recorded or changed.

    Raises TypeError for anything else.

    >>> import autodiff_kernel as torch
    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> print(inspect(w, namespace={"w": w}).text.split("history")[0].rstrip())
    w: a leaf tensor
    <BLANKLINE>
    property  value
    ────────  ──────────────────────────
    shape     [2]
    dtype     float32
    device    cpu
    memory    8 B
    values    [1, 2]
    gradient  none yet: it requires grad
    """
    if namespace is None:
        caller = sys._getframe(1)
        namespace = {**caller.f_globals, **caller.f_locals}
    names = Names(namespace)
    if isinstance(x, Tensor):
        found = _tensor(x, names, name)
    elif isinstance(node_of(x), Node):
        found = _node(as_edge(node_of(x))[0], names, name)
    elif is_inspected(x):
        return page_result(_model(x, name), _page)
    else:
        raise TypeError(f"inspect() knows tensors, nodes and models; got {type(x).__name__}")
    return page_result(_with_graph(found, x, namespace, full), _page)


# ---------------------------------------------------------------------------------------------------------- tensors
def _tensor(t: Tensor, names: Names, name: str) -> Inspection:
    """Shape, dtype, device, memory, values, gradient; and what happened to it."""
    node = t.node
    kind = "tensor without a graph" if node is None else "leaf tensor" if node.op is None else "tensor"
    made = f", made by {node.title}" if node is not None and node.op is not None else ""
    facts = [
        ("shape", shape_text(t.shape)),
        ("dtype", t.dtype.name),
        ("device", device_name(t.device)),
        ("memory", _memory(t, names)),
        ("values", _values(t.raw)),
        ("gradient", _gradient(t)),
    ]
    if len(t.shape) > 1 and not t.is_contiguous():
        facts.insert(1, ("strides", shape_text(t.stride())))
    own = name or names.of_tensor(t) or "this"
    return Inspection(f"{clip(own)}: a {kind}{made}", tuple(facts), tuple(_history(t)))


def _memory(t: Tensor, names: Names) -> str:
    """Its bytes, and whose memory it is."""
    told = size(t.nbytes)
    if t.family.__class__ is View:
        base = names.of_tensor(t.family.base)
        return f"{told}, a view of {clip(base) if base else 'another tensor'}"
    return told


def _values(raw: Any) -> str:
    return _one_line(array_text(peek(raw), room=60)) if raw.size <= 10_000_000 else "too many to look at"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _gradient(t: Tensor) -> str:
    """What `.grad` holds, or why there is nothing in it."""
    g = t._grad_or_none()
    if g is not None:
        return _values(g.raw)
    if not t.requires_grad:
        return "none: it does not require grad"
    if t.node is not None and t.node.op is not None and not t.retains_grad:
        return "passes through to the leaves; retain_grad() would keep it"
    return "none yet: it requires grad"


def _history(t: Tensor) -> Iterator[str]:
    """What happened to a tensor, in words, the oldest first; of a long history its beginning and its end."""
    first = born(fact(t))
    line = (
        None if first is None else first.place
    )  # `torch.ones(3, requires_grad=True)` is one event to a reader
    events = [
        e
        for e in about(t)
        if e is not first and e.kind in _HAPPENED and not (e.kind == "asked" and _same_line(e.place, line))
    ]
    told = [_told(e) for e in ([first] if first is not None else []) + events]
    told = list(dict.fromkeys(line for line in told if line))
    uses = list(dict.fromkeys(_told(e, "used") for e in _uses(t)))
    if len(told) > MOST:
        told = [*told[:2], f"… {counted(len(told) - MOST, 'event')} more …", *told[2 - MOST :]]
    yield from told
    yield from uses[-3:]


def _same_line(a: Any, b: Any) -> bool:
    return a is not None and b is not None and (a.filename, a.line) == (b.filename, b.line)


def _uses(t: Tensor) -> Iterator[Event]:
    """The operations that took t as an input."""
    for e in list(journal.LOG):
        if e.kind == "operation" and any(x.__class__ is Event and x.tensor() is t for x in e.inputs):
            yield e


def _told(e: Event, word: str = "") -> str:
    """'changed in place in line 3: x.add_(1)'."""
    place = e.place
    word = word or _HAPPENED[e.kind]
    if place is None:
        return word
    return clip(f"{word} in {str(place)}")


# ------------------------------------------------------------------------------------------------------------ nodes
def _node(node: Node | None, names: Names, name: str) -> Inspection:
    """What an operation does and keeps, and where its inputs come from."""
    assert node is not None
    if node.op is None:
        t = node.variable
        who = "a leaf" if t is None else clip(names.of_tensor(t) or "a leaf")
        facts = [("adds up", f"what backward brings to {who}, in its .grad")]
        return Inspection(f"{clip(name or 'this')}: {node.title}, the end of the graph", tuple(facts))
    result = names.of_node(node)
    ends = [as_edge(edge) for edge in edges_of(node)]
    operands = [_operand(end, output, names) for end, output in ends]
    output = Operand(result, _kept_value(node))
    with np.errstate(all="ignore"):
        partials = Partials(node.op.base, operands, output, getattr(node, "p", None))
        rules = [partials.label(i) for i, (end, _) in enumerate(ends) if end is not None]
    kept = [f"{place}: {what}" for place, what in saved(node, operands, output)]
    onward = [
        f"{end.title} of {operand.name}" if operand.name else end.title
        for (end, _), operand in zip(ends, operands, strict=True)
        if end is not None
    ]
    facts = [
        ("operation", node.op.base.doc or called(node)),
        ("made", clip(result)),
        ("where", clip(node.place or "")),
        ("inputs", ", ".join(map(clip, onward)) or "nothing that requires grad"),
        ("local derivatives", clip(", ".join(rule for rule in rules if rule))),
        ("keeps for backward", clip("; ".join(kept)) or "nothing, or a backward has freed it"),
    ]
    title = f"{clip(name or 'this')}: the node {node.title}"
    return Inspection(title, tuple((what, how) for what, how in facts if how))


def _operand(node: Node | None, output: int, names: Names) -> Operand:
    """An input of an operation as a formula names it."""
    if node is None:
        return Operand("", None, "constant")
    if node.op is None:
        t = node.variable
        return Operand("" if t is None else names.of_tensor(t), None if t is None else peek(t.raw))
    return Operand(names.of_node(node, output), _kept_value(node), called(node))


def _kept_value(node: Node) -> Any:
    notes = kept_of(node)
    value = notes.value if notes is not None else None
    return None if isinstance(value, list) else peek(value)


# ----------------------------------------------------------------------------------------------------------- models
def _model(model: Any, name: str) -> Inspection:
    """A model's modules with their parameters; without `named_modules()` its parameters."""
    parameters = [(path, t) for path, t in parameters_of(model) if isinstance(t, Tensor)]
    have = sum(t._grad_or_none() is not None for _, t in parameters)
    numbers = sum(t.numel() for _, t in {id(t): (path, t) for path, t in parameters}.values())
    facts = [
        ("class", type(model).__name__),
        ("parameters", f"{numbers:,} numbers in {counted(len(parameters), 'tensor')}"),
        ("gradients", f"{have} of {len(parameters)} have one"),
    ]
    for what, of in (("dtype", lambda t: t.dtype.name), ("device", lambda t: device_name(t.device))):
        kinds = list(dict.fromkeys(of(t) for _, t in parameters))
        if kinds:
            facts.append((what, ", ".join(kinds)))
    if isinstance(getattr(model, "training", None), bool):
        facts.append(("mode", "training" if model.training else "evaluation (eval())"))
    modules = modules_of(model)
    if modules:
        heads = ("module", "class", "parameters", "shapes")
        rows = [_module_row(path, module) for path, module in modules if path]
    else:
        heads = ("parameter", "shape", "dtype", "gradient")
        rows = [(clip(p), shape_text(t.shape), t.dtype.name, _gradient(t)) for p, t in parameters]
    more = f"… and {len(rows) - ROWS} more" if len(rows) > ROWS else ""
    title = f"{clip(name or 'this')}: a model"
    return Inspection(title, tuple(facts), heads=heads, parts=tuple(rows[:ROWS]), more=more)


def _module_row(path: str, module: Any) -> tuple[str, ...]:
    """One module: its depth is seen by its path."""
    own = [(p, t) for p, t in parameters_of(module) if "." not in p and isinstance(t, Tensor)]
    shapes = ", ".join(f"{p} {shape_text(t.shape)}" for p, t in own)
    count = sum(t.numel() for _, t in parameters_of(module) if isinstance(t, Tensor))
    return clip(path), type(module).__name__, f"{count:,}", clip(shapes)


# ------------------------------------------------------------------------------------------------------------- page
def _with_graph(found: Inspection, x: Any, namespace: Mapping[str, Any], full: bool) -> Inspection:
    """The same with the graph behind x, collapsed to a few boxes."""
    node = x.node if isinstance(x, Tensor) else node_of(x)
    if node is None or as_edge(node)[0].op is None:  # type: ignore[union-attr]
        return found
    drawn = graph(x, namespace=namespace, limit=LIMIT if full else SMALL).model
    if isinstance(drawn, Summary):
        return replace(found, more=f"Its graph: {drawn.caption}.")
    if drawn.left_out:
        drawn = replace(
            drawn, left_out=f"{drawn.left_out.split('; ×n')[0].split('. ')[0]}. %graph draws more."
        )
    return replace(found, graph=drawn)


def _page(found: Inspection) -> Page:
    blocks: list[Words | Table] = []
    if found.facts:
        blocks.append(Table(("property", "value"), found.facts))
    if found.history:
        blocks.append(Words(("history:", *(f"  {line}" for line in found.history))))
    if found.parts:
        blocks.append(Table(found.heads, found.parts))
    if found.more:
        blocks.append(Words((found.more,), "quiet"))
    if found.graph is not None:
        blocks.append(Words(tuple(graph_text(found.graph).split("\n")), "code", twin=True))
    told = "; ".join(f"{what} {how}" for what, how in found.facts[:3])
    return Page(
        found.title,
        tuple(blocks),
        f"{found.title}; {told}",
        None if found.graph is None else draw(found.graph),
    )
