"""From the engine's graph to its view model: one walk, for every view of a graph."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from autodiff_kernel.core import device as devices
from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.facts import kept_of, received
from autodiff_kernel.core.graph import Node, as_edge, edges_of
from autodiff_kernel.core.op import NUMBERS
from autodiff_kernel.core.outline import Outline, of_all
from autodiff_kernel.core.places import Place, typed
from autodiff_kernel.core.tensor import Tensor

from .model import DATA, LEAF, OP, OUTPUT, SAVED, GraphEdge, GraphNode, GraphView, head_count
from .names import Names
from .partials import Operand, Partials
from .saved import saved
from .style import NOT_RECORDED, NOT_YET, array_text, number

_BACKWARD, _CAPITAL = re.compile(r"Backward\d*$"), re.compile(r"(?<=[a-z0-9])([A-Z])")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUMMED = 10_000_000  # elements of a live tensor that a summary still reads
FOREIGN = "The last backward did not start at this graph's output: grad is what it brought here."
_LONG, _LISTED = 160, 40  # characters of a source line, and lines
NOT_KEPT = "passed, not kept"


@dataclass(frozen=True)
class Wish:
    """What a caller wants to see: the options of `graph()`."""

    sense: str = "forward"
    direction: str = "LR"
    values: bool = True
    grads: bool = True
    numbers: bool = False
    saved: bool = False
    title: str = ""
    mark: Any = None
    foreseen: Any = None  # what a backward would bring, see compared.py


def peek(raw: Any) -> Any:
    """The values of a raw array or a tensor for a picture. Unlike `.cpu()` this counts as no copy between devices.

    Of a batched tensor, which shows only the form of one sample, it is the values of all samples.
    """
    raw = of_all(raw if isinstance(raw, Outline) else getattr(raw, "raw", raw))
    if raw is None or isinstance(raw, (np.ndarray, np.generic, *NUMBERS)):
        return raw
    return devices.backend_of(raw).module.asnumpy(raw)


def reachable(roots: list[Node]) -> list[Node]:
    """All nodes that the roots were made from, oldest first; picks of one output of several are no nodes."""
    seen = dict.fromkeys(roots)
    stack = list(seen)
    while stack:
        for edge in edges_of(stack.pop()):
            if edge is not None:
                node = as_edge(edge)[0]
                if node is not None and node not in seen:
                    seen[node] = None
                    stack.append(node)
    return sorted(seen, key=lambda node: node.seq)


@lru_cache(1024)
def operation(node_name: str) -> str:
    """The operation that a node is named after, as PyTorch calls its function.

    >>> operation("MulBackward0"), operation("LogSoftmaxBackward0"), operation("CopySlices")
    ('mul', 'log_softmax', 'copy_slices')
    """
    words = _BACKWARD.sub("", node_name)
    return _CAPITAL.sub(r"_\1", words).lower().strip("_")


def called(node: Node) -> str:
    """What a picture calls a node's operation; a user's Function by its own name."""
    return str(node.op.name) if node.op.whole is not None else operation(node.name())


def kept(node: Node) -> Any:
    """What recording kept of a node, or None where it was off."""
    return kept_of(node)


def model(roots: list[tuple[Node, int]], nodes: list[Node], names: Names, wish: Wish) -> GraphView:
    """The view model of all `nodes`; roots are (node, output number)."""
    with np.errstate(all="ignore"):  # local derivatives at a pole are inf or nan, and no news
        return _Builder(roots, nodes, names, wish).view()


def numbered(nodes: list[Node]) -> dict[Node, str]:
    """w1, w2, …: leaves in the order of their use, then operations in the order of evaluation."""
    leaves: dict[Node, None] = {}
    for node in nodes:
        for edge in edges_of(node):
            if edge is not None and edge.op is None:
                leaves[edge] = None
    order = list(leaves) + [node for node in nodes if node.op is not None]
    return {node: f"w{i}" for i, node in enumerate(order, 1)}


class _Builder:
    """Makes nodes and edges in the order of evaluation, each leaf just before its first use."""

    def __init__(self, roots: list[tuple[Node, int]], nodes: list[Node], names: Names, wish: Wish) -> None:
        self.roots, self.all, self.names, self.wish = roots, nodes, names, wish
        self.inside = set(nodes)
        self.ids: dict[Any, int] = {}  # node, or (what stands for) a tensor without one -> number in the view
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.operands: dict[tuple[Node, int], Operand] = {}
        self.root_nodes = {node for node, _ in roots}
        self.passed: set[Node] = set()  # nodes that a backward went through
        self.foreign = False  # did gradients come in from outside the picture?
        self.received: dict[Node, list[tuple[Node, int, Any]]] = received(nodes)
        for node, came in self.received.items():
            for source, _, _ in came:
                self.passed.add(node)
                self.passed.add(source)
                owner = source.left if source.op is not None and source.op.picks else source
                self.foreign = self.foreign or owner not in self.inside
        known = {node: kept(node) for node in nodes}
        self.grads = {node: notes.grad for node, notes in known.items() if notes is not None}
        self.passed |= {node for node, g in self.grads.items() if g is not None}
        if wish.foreseen is not None:
            self.received, self.grads = wish.foreseen.received, wish.foreseen.grads
            self.passed, self.foreign = set(nodes), False
        self.w = numbered(nodes) if wish.numbers else {}
        self.wrt = self._wrt()
        self.lines: dict[Any, str] = {}
        self.calls: dict[int, int] = {}  # of each opening of a scope, its number
        self.sources: dict[tuple[str, int], tuple[str, str]] = {}
        places = [node.place for node in nodes]
        codes = {place.code: place for place in places if place is not None}
        self.files = dict.fromkeys(place.filename for place in codes.values() if not place.in_cell)

    def view(self) -> GraphView:
        for node in self.all:
            if node.op is None:
                continue
            inputs = self._inputs(node)
            for x in inputs:
                if x[0] is not None and x[0] not in self.ids:
                    self._add(x[0], self._source(x[0], x[2]))
            if self.wish.saved:
                self._keep(node, inputs)
            self._add(node, self._operation(node, inputs))
            self._connect(node, inputs)
        for node, _ in self.roots:
            if node not in self.ids:
                self._add(node, self._leaf(node))
        return self._finish()

    def _finish(self) -> GraphView:
        nodes = tuple(self.nodes)
        outputs = [n.title for n in nodes if n.role == OUTPUT] or [nodes[-1].title]
        notes = []
        if self.wish.saved and any(node.op is not None and node.op.is_spent for node in self.all):
            notes.append("A backward has freed what the operations had kept.")
        if self.foreign and self.wish.grads:
            notes.append(FOREIGN)
        return GraphView(
            nodes,
            tuple(self.edges),
            sense=self.wish.sense,
            direction=self.wish.direction,
            title=self.wish.title or "Graph of " + ", ".join(outputs),
            wrt=self.wrt,
            caption=head_of(nodes, self.files),
            notes=tuple(notes),
            alt=_alt(nodes),
            sources=tuple([self.sources[key] for key in sorted(self.sources)][:_LISTED]),
        )

    # ------------------------------------------------------------------------------------------ names
    def _name(self, node: Node, output: int = 0) -> str:
        return self.names.of_node(node, output) or self.w.get(node, "")

    def _wrt(self) -> str:
        """The output's name if all gradients here are those of that one scalar."""
        if len(self.roots) != 1 or self.foreign:
            return ""
        node, output = self.roots[0]
        notes = kept(node)
        if notes is None or self.received.get(node):
            return ""
        g = self.grads.get(node)
        if g is None:  # no backward so far: the labels say what it will bring
            single = notes.shape == () and not self.passed
            return self._name(node, output) if single else ""
        single = not isinstance(g, list) and not np.ndim(g) and peek(g) == 1
        return self._name(node, output) if single else ""

    def _line(self, node: Node) -> str:
        place = node.place
        if place is None:
            return ""
        key = (place.code, place.instruction)
        if key not in self.lines:  # a loop's operations share their places
            line = _line_number(*key)
            text = typed(linecache.getline(place.filename, line)).strip()
            alone = len(self.files) == 1 or place.in_cell
            self.lines[key] = place.number if alone else f"{base_name(place.filename)}:{line}"
            if text:
                self.sources[place.filename, line] = self.lines[key], text[:_LONG]
        return self.lines[key]

    # ------------------------------------------------------------------------------------------ nodes
    def _add(self, key: Any, node: GraphNode) -> None:
        self.ids[key] = node.id
        self.nodes.append(node)

    def _inputs(self, node: Node) -> list[tuple[Any, int, Any]]:
        """Of each input: (key in the view or None, output number, value): a node, a tensor without one, or a number."""
        notes = kept(node)
        noted = notes.inputs if notes is not None else ()
        edges = edges_of(node)
        found: list[tuple[Any, int, Any]] = []
        for i in range(max(len(noted), len(edges))):
            edge = edges[i] if i < len(edges) else None
            if edge is not None:
                found.append((*as_edge(edge), None))
            elif i < len(noted) and noted[i] is not None:
                reference, value, shape = noted[i]
                t = reference() if reference is not None else None
                if reference is None and not shape and value is not None:
                    found.append((None, 0, value))  # a number: written into the operation's sign
                else:
                    found.append(
                        (("data", id(t)) if t is not None else ("data", node, i), 0, (t, value, shape))
                    )
            else:
                found.append((None, 0, None))
        if not noted and node.op.each is None:  # not recorded: numbers may be among what the rules read
            for i, letter in enumerate("abc"):
                read = getattr(node, letter, None)
                if read.__class__ in NUMBERS:
                    found += [(None, 0, None)] * (i + 1 - len(found))
                    found[i] = (None, 0, read)
        return found

    def _source(self, key: Any, extra: Any) -> GraphNode:
        """A leaf, or a tensor that takes no gradient."""
        if isinstance(key, Node):
            return self._leaf(key)
        t, value, shape = extra
        if value is None and t is not None and t.raw.size <= SUMMED:
            value = t.raw
        return GraphNode(
            len(self.nodes),
            DATA,
            name=self.names.of_tensor(t) if t is not None else "",
            shape=tuple(shape),
            dtype=dtype_name(t.raw.dtype) if t is not None else "",
            device=device_name(t.device) if t is not None else "",
            value=self._text(value) if value is not None else "",
        )

    def _leaf(self, node: Node) -> GraphNode:
        notes, t = kept(node), node.variable
        value = (
            notes.value if notes is not None and notes.value is not None else t.raw if t is not None else None
        )
        grad, state, terms, stored = self._leaf_gradient(node, t)
        return GraphNode(
            len(self.nodes),
            LEAF,
            name=self._name(node) or (self.names.of_tensor(t) if t is not None else ""),
            backward_name=node.title,
            value=self._text(value),
            grad=grad,
            grad_state=state,
            terms=terms,
            stored=stored,
            mark="error" if node is self.wish.mark else "",
            **_facts(notes, t),
        )

    def _operation(self, node: Node, inputs: list[tuple[Any, int, Any]]) -> GraphNode:
        notes, op, made = kept(node), node.op, _shapes(node)
        name, t = self.names.of_node(node), self.names.tensor(node)
        if len(made) > 1:
            names = [self.names.of_node(node, k) for k in range(len(made))]
            name = ", ".join(dict.fromkeys(filter(None, names)))
            live = [self.names.tensor(node, k) for k, held in enumerate(names) if held]
            t = live[0] if live else None
        value = notes.value if notes is not None else None
        if isinstance(value, list) and any(v is None for v in value):
            value = None
        if value is None and t is not None and not op.outputs and t.raw.size <= SUMMED:
            value = t.raw
        grad, state, terms = self._gradient(node, t)
        facts = _facts(notes, t)
        facts["shape"] = made[0]
        return GraphNode(
            len(self.nodes),
            OUTPUT if node in self.root_nodes else OP,
            name=name or self.w.get(node, ""),
            op=called(node),
            symbol=sign(op, inputs),
            backward_name=node.title,
            value="" if value is None and notes is not None else self._text(value),
            grad=grad,
            grad_state=state,
            terms=terms,
            line=self._line(node),
            scope=self.names.way(notes.names) if notes is not None else (),
            call=0 if notes is None else self.calls.setdefault(id(notes.names), len(self.calls)),
            mark="error" if node is self.wish.mark else "",
            **facts,
        )

    def _keep(self, node: Node, inputs: list[tuple[Any, int, Any]]) -> None:
        """A box of its own for what the operation keeps for backward, with a line into it."""
        operands = [self._operand(x) for x in inputs]
        rows = saved(node, operands, self._operand((node, 0, None)))
        if rows:
            made = GraphNode(
                len(self.nodes), SAVED, members=tuple(f"{place}: {what}" for place, what in rows), value=""
            )
            self._add(("saved", node), made)
            self.edges.append(GraphEdge(made.id, made.id + 1, position=-1))

    def _text(self, value: Any) -> str | None:
        if not self.wish.values:
            return ""
        if value is None:
            return None
        if isinstance(value, list):
            return "; ".join(array_text(peek(v)) for v in value)
        return array_text(peek(value))

    # ------------------------------------------------------------------------------------------ gradients
    def _gradient(self, node: Node, t: Tensor | None) -> tuple[str, str, tuple[str, ...]]:
        """An operation's gradient: its text, its state and the terms it was summed from."""
        notes = kept(node)
        if not self.wish.grads:
            return "", "", ()
        g = self.grads.get(node)
        if notes is None and g is None:
            if t is not None and t.retains_grad and t.grad is not None:
                return array_text(peek(t.grad)), "here", ()
            return "", NOT_RECORDED, ()
        if g is None:
            if node not in self.passed:
                return "", NOT_YET, ()
            held = t.grad if t is not None and t.retains_grad else None
            return NOT_KEPT if held is None else array_text(peek(held)), "here", ()
        if isinstance(g, list):
            return "; ".join("none" if part is None else array_text(peek(part)) for part in g), "here", ()
        return array_text(peek(g)), "here", _terms(self.received.get(node, []))

    def _leaf_gradient(self, node: Node, t: Tensor | None) -> tuple[str, str, tuple[str, ...], str]:
        """A leaf's gradient, and what its `.grad` holds where that is something else."""
        if not self.wish.grads:
            return "", "", (), ""
        notes, g = kept(node), self.grads.get(node)
        stored = t.grad if t is not None else None
        if self.wish.foreseen is not None and g is not None:
            total = "" if stored is None else array_text(peek(stored) + peek(g))
            return array_text(peek(g)), "here", _terms(self.received.get(node, [])), total
        text = array_text(peek(stored)) if stored is not None else ""
        if notes is None or node not in self.passed:
            return (text, "here", (), "") if text else ("", NOT_YET, (), "")
        if g is None:
            return text or NOT_KEPT, "here", (), ""
        grad = array_text(peek(g))
        if t is None:
            return grad, "here", _terms(self.received.get(node, [])), ""
        return grad, "here", _terms(self.received.get(node, [])), "" if text == grad else text or "None"

    # ------------------------------------------------------------------------------------------ edges
    def _connect(self, node: Node, inputs: list[tuple[Any, int, Any]]) -> None:
        """The edges into one operation."""
        backward = self.wish.sense == "backward"
        partials = None
        if backward or (node in self.passed and self.wish.grads):
            output = self._operand((node, 0, None))
            p = getattr(node, "p", None)
            partials = Partials(node.op.base, [self._operand(x) for x in inputs], output, p)
        swapped = node.op.base.name == "rsub"  # b − a: shown in this order
        for position, (key, number_of_output, _) in enumerate(inputs):
            if key is None:
                continue
            text = passed = ""
            if partials is not None and isinstance(key, Node):
                text = partials.label(position)
                passed = self._contribution(node, position, key) if backward else ""
                text = (self._step(node, partials.formula(position), passed) if passed else "") or text
            place = 1 - position if swapped else position
            self.edges.append(GraphEdge(self.ids[key], self.ids[node], text, place, number_of_output, passed))

    def _step(self, node: Node, words: str, passed: str) -> str:
        """The chain rule along one edge, in single numbers: '2 · x2 = 6'."""
        g = self.grads.get(node)
        if not words or g is None or isinstance(g, list):
            return ""
        if np.ndim(g) or len(passed) > 18 or "\n" in passed:
            return ""
        return f"{number(peek(g))} · {words} = {passed}".replace("-", "−")

    def _contribution(self, node: Node, position: int, source: Node) -> str:
        if self.wish.grads:
            for consumer, i, value in self.received.get(source, ()):
                if consumer is node and i == position and value is not None:
                    return array_text(peek(value))
        return ""

    def _operand(self, x: tuple[Any, int, Any]) -> Operand:
        """An input as a formula names it."""
        key, output, extra = x
        if key is None:
            return Operand("", extra)
        if not isinstance(key, Node):
            t, value, _ = extra
            return Operand(self.names.of_tensor(t) if t is not None else "", peek(value), "constant")
        made = self.operands.get((key, output))
        if made is None:
            notes = kept(key)
            value = notes.value if notes is not None else None
            if isinstance(value, list):
                value = value[output]
            name = self._name(key, output) or (self.names.of_tensor(key.variable) if key.op is None else "")
            made = Operand(name, peek(value), "" if key.op is None else called(key))
            self.operands[key, output] = made
        return made


def head_of(nodes: tuple[GraphNode, ...], files: Iterable[str]) -> str:
    """What holds for all nodes, for the caption: one dtype and device, one file; and how many there are."""
    types = {(n.dtype, n.device) for n in nodes if n.dtype}
    caption = [" · ".join(types.pop())] if len(types) == 1 else []
    names = list(files)
    if len(names) == 1:
        caption.append(base_name(names[0]))
    return " · ".join([*caption, head_count(nodes)])


def _terms(received: list[tuple[Node, int, Any]]) -> tuple[str, ...]:
    """The contributions that were added up, in the order of the consumers; () unless there are several small ones."""
    if len(received) < 2:
        return ()
    received = sorted(received, key=lambda entry: (entry[0].seq, entry[1]))
    texts = [array_text(peek(value)) for _, _, value in received if value is not None]
    if (
        len(texts) < 2
        or len(texts) < len(received)
        or sum(map(len, texts)) > 30
        or any("\n" in t for t in texts)
    ):
        return ()
    return tuple(texts)


def sign(op: Any, inputs: list[tuple[Any, int, Any]]) -> str:
    """The operation's sign, with a number among its inputs written in: × 2, 1 −, x²."""
    sign: str = op.base.symbol
    numbers = [(i, extra) for i, (key, _, extra) in enumerate(inputs) if key is None and extra is not None]
    if len(inputs) != 2 or len(numbers) != 1:
        return sign
    position, value = numbers[0]
    text = number(value)
    if sign == "^":
        if position:
            return f"x{_RAISED[int(value)]}" if value in range(2, 10) else f"x^{text}"
        return f"{text}^x"
    first = (position == 0) != (op.base.name == "rsub")
    return f"{text} {sign}" if first else f"{sign} {text}"


def _shapes(node: Node) -> list[tuple[int, ...]]:
    """The shapes of a node's outputs."""
    made: Any = getattr(node, "sy", ())
    return [tuple(shape) for shape in made] if node.op.outputs else [tuple(made)]


def _facts(notes: Any, t: Tensor | None) -> dict[str, Any]:
    """Shape, dtype and device: as recorded, else as the tensor that is still alive says."""
    if notes is not None:
        return {
            "shape": tuple(notes.shape),
            "dtype": dtype_name(notes.dtype),
            "device": device_name(notes.device),
        }
    if t is not None:
        return {
            "shape": tuple(t.raw.shape),
            "dtype": dtype_name(t.raw.dtype),
            "device": device_name(t.device),
        }
    return {}


@lru_cache(512)
def _line_number(code: CodeType, instruction: int) -> int:
    """Looked up in the table of a code object, which is long where the user's function is."""
    return Place(code, instruction).line


def base_name(filename: str) -> str:
    return filename.replace("\\", "/").rsplit("/", 1)[-1]


def dtype_name(numpy_dtype: Any) -> str:
    return str(dtypes.of(numpy_dtype).name)


def device_name(where: Any) -> str:
    return f"{where} (simulated)" if where.type != "cpu" and devices.is_simulated() else str(where)


def _alt(nodes: tuple[GraphNode, ...]) -> str:
    """What those read who don't see the picture: '2 leaves, 3 operations. y is 10; gradient of x1 is 7, of x2 2.'"""
    parts = []
    for node in nodes:
        if node.role == OUTPUT and node.value and "\n" not in node.value:
            parts.append(f"{node.name or 'the output'} is {node.value}")
    leaves = [node for node in nodes if node.role == LEAF and node.name]
    grads = [(n.name, n.grad) for n in leaves if n.grad_state == "here" and "\n" not in n.grad][:4]
    if grads:
        (first, value), *others = grads
        parts.append(", of ".join([f"gradient of {first} is {value}"] + [f"{n} {g}" for n, g in others]))
    elif any(node.grad_state == NOT_YET for node in nodes):
        parts.append("no gradient yet")
    return f"{head_count(nodes)}. {'; '.join(parts)}." if parts else f"{head_count(nodes)}."
