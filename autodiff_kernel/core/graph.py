"""The graph that operations record, and the walk that carries gradients back through it.

A Node is one recorded operation.  It points to the nodes of its inputs (never to Tensors: so an in-place operation
can give a tensor a new node while older consumers keep the old one) and keeps the raw values that its rules read.
A leaf's node has no operation and knows its Tensor weakly.  Nothing points forward, so there are no cycles and
reference counting alone frees a graph.

One clock stamps nodes and in-place writes.  A node is made after its inputs, so newest-first is a topological order:
the walk needs no recursion, no sort and no visited set.
"""

import weakref
from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from . import errors, places
from .hooks import check_answer

tick = count(1).__next__  # one clock for nodes and writes
written = [0]  # stamp of the newest in-place write of all
new = object.__new__
ndarray, float32, float64 = np.ndarray, np.float32, np.float64

SMALL = 64  # elements of a value that recording copies


class Node:
    """One recorded operation, PyTorch's `grad_fn`.

    op: its row of the table (None for a leaf).  seq: its stamp.  left, right, third: the nodes of its inputs, or
    `edges` for a row with a list of inputs.  a, b, c, y, x: the raw inputs and output that its rules read, p its
    parameters, sa, sb, sc, sy the shapes, va, vb, vc, vy the version counters of what is kept.  A slot that a row
    does not need stays unset.  notes: None, or what hooks and recording keep.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2., requires_grad=True)
    >>> y = x * x
    >>> y.grad_fn, y.grad_fn.next_functions
    (<MulBackward0>, ((<AccumulateGrad>, 0), (<AccumulateGrad>, 0)))
    """

    __slots__ = (
        *("op", "seq", "left", "right", "third", "edges", "notes", "leaf"),
        *("a", "b", "c", "y", "x", "p"),
        *("sa", "sb", "sc", "sx", "sy"),
        *("va", "vb", "vc", "vx", "vy", "__weakref__"),
    )

    op: Any
    seq: int
    left: "Node | None"
    right: "Node | None"
    third: "Node | None"
    edges: tuple["Node | None", ...]
    notes: "Notes | None"
    leaf: Any
    p: Any
    a: Any
    b: Any
    c: Any
    x: Any
    y: Any
    sa: Any
    sb: Any
    sc: Any
    sx: Any
    sy: Any
    va: Any
    vb: Any
    vc: Any
    vx: Any
    vy: Any

    def name(self) -> str:
        """PyTorch's name of the node: 'MulBackward0', or 'torch::autograd::AccumulateGrad' for a leaf's."""
        title = self.title
        return title if "Backward" in title else f"torch::autograd::{title}"

    @property
    def title(self) -> str:
        """The name as it is printed: without the namespace."""
        return "AccumulateGrad" if self.op is None else self.op.node_name(getattr(self, "p", None))

    @property
    def next_functions(self) -> tuple[tuple["Node | None", int], ...]:
        """The nodes of the inputs, each with the number of the output that was used."""
        return tuple(as_edge(e) for e in edges_of(self))

    @property
    def variable(self) -> Any:
        """A leaf's Tensor; None when nobody holds it any more.

        (PyTorch keeps such a tensor alive here; our graph does not, so its gradient is lost with it.)
        """
        if self.op is not None:
            raise AttributeError(f"only AccumulateGrad has a variable; this is {self.title}")
        return self.leaf()

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary of your own on this node."""
        notes = take_notes(self)
        if notes.metadata is None:
            notes.metadata = {}
        return notes.metadata  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<{self.title}>"


class Notes:
    """What only some nodes have: hooks, tensors that retain their gradient, and what recording keeps.

    Most notes say little, so the fields live on the class until they are set.
    """

    hooks: Any = ()  # a list of functions: gradient -> gradient or None
    retain: Any = ()  # a list of weak references to tensors
    metadata: Any = None
    recorded = False
    value: Any = None
    shape: Any = None
    dtype: Any = None
    device: Any = None
    grad: Any = None
    spot: Any = None  # the user's instruction that made the node, see places.here
    inputs: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()
    arriving: Any = ()  # contributions of the walk under way: (weak consumer, which input of it, copy or None)
    passed: Any = ()  # those of the last one

    @property
    def place(self) -> Any:
        """The user's line that made the node."""
        return places.place_of(self.spot)

    @property
    def received(self) -> list[tuple[Node, int, Any]]:
        """The contributions that the last backward added up here: (consumer, which input of it, copy or None).

        Consumers are held weakly: a node that held them would close a cycle, and a leaf that is used in every step of
        a training would keep all their graphs.
        """
        return [(n, i, x) for n, i, x in ((ref(), i, x) for ref, i, x in self.passed) if n is not None]

    @property
    def line(self) -> tuple[str, int, str] | None:
        """(file name, line number, source text) of the user's line that made the node."""
        place = self.place
        return None if place is None else (place.filename, place.line, place.text)


def take_notes(n: Node) -> Notes:
    notes = n.notes
    if notes is None:
        notes = n.notes = new(Notes)
    return notes


def leaf_node(t: Any) -> Node:
    """The node of a leaf tensor: where its gradient is accumulated."""
    n = new(Node)
    n.op, n.seq, n.notes, n.leaf = None, 0, None, weakref.ref(t)
    return n


def edges_of(n: Node) -> tuple[Node | None, ...]:
    """The nodes of the inputs, in order, None for an input that does not require grad."""
    op = n.op
    if op is None:
        return ()
    if op.each is not None:
        return n.edges
    if op.arity == 1:
        return (n.left,)
    return (n.left, n.right) if op.arity == 2 else (n.left, n.right, n.third)


def as_edge(e: Node | None) -> tuple[Node | None, int]:
    """An edge as PyTorch shows it: the pick of one output of several is the edge's number, not a node."""
    if e is not None and e.op is not None and e.op.picks:
        return e.left, e.p
    return e, 0


# ------------------------------------------------------------------------------------------------ the walk
def walk(
    roots: list[tuple[Node, Any]],
    keep: bool = False,
    create_graph: bool = False,
    wanted: dict[Node, Any] | None = None,
) -> dict[Node, Any]:
    """Carry cotangents from the roots to the leaves, newest node first; return the leaves' sums.

    Cotangents are raw arrays, or Tensors with `create_graph`.  The newest pending node waits in a local variable and
    the heap holds only the others (13 % faster on chains).  With `wanted`, only nodes that lead to the wanted ones
    are visited and their sums stand in `wanted` afterwards.  Nothing outside is touched before the caller stores the
    sums: a walk that is interrupted leaves every `.grad` as it was.
    """
    leaves: dict[Node, Any] = {}
    pending: dict[int, list[Any]] = {}  # stamp -> [node, cotangent so far]
    heap: list[int] = []  # their negated stamps
    needed, beyond = (None, None) if wanted is None else leading_to(wanted, [r for r, _ in roots])
    for node, g in roots:
        if node.op is None:
            leaves[node] = _own(g) if node not in leaves else leaves[node] + g
        else:
            _wait(pending, heap, node, g)
    nxt: Node | None = None
    ng: Any = None
    while True:
        if nxt is None:
            if not heap:
                break
            n, g = pending.pop(-heappop(heap))
        elif not heap:
            n, g = nxt, ng
        else:
            if nxt.seq in pending or -heap[0] > nxt.seq:
                _wait(pending, heap, nxt, ng)
                n, g = pending.pop(-heappop(heap))
            else:
                n, g = nxt, ng
        nxt = None
        op = n.op
        if n.seq < written[0] and op.counters:
            check_writes(n)
        if wanted is not None and n in wanted:
            wanted[n] = g = g if n.notes is None else visit(n, g)
            if n not in beyond:  # type: ignore[operator]
                continue
            pairs = _pairs(n, g, create_graph, needed, visited=True)
        elif n.notes is None and op.arity and needed is None and not op.picks:
            # The hot path: one, two or three inputs, nothing noted.  (Everything else: _pairs, below.)
            s = saved_tensors(n) if create_graph else n
            shaped = op.spreads and g.__class__ is not float32 and g.__class__ is not float64
            e = n.left
            if e is not None:
                x = op.a(g, s)
                if shaped and x.shape != n.sa:
                    x = unbroadcast(x, n.sa)
                if e.op is not None:
                    nxt, ng = e, x
                elif e in leaves:
                    leaves[e] = leaves[e] + x
                else:
                    leaves[e] = x if x is not g and x.__class__ is not ndarray else _own(x, g)
            if op.arity > 1:
                e = n.right
                if e is not None:
                    x = op.b(g, s)
                    if shaped and x.shape != n.sb:
                        x = unbroadcast(x, n.sb)
                    if e.op is not None:
                        if nxt is None:
                            nxt, ng = e, x
                        elif e is nxt:
                            ng = ng + x
                        else:  # the newer of the two goes on, the other one waits
                            if e.seq > nxt.seq:
                                e, x, nxt, ng = nxt, ng, e, x
                            entry = pending.get(e.seq)
                            if entry is None:
                                pending[e.seq] = [e, x]
                                heappush(heap, -e.seq)
                            else:
                                entry[1] = entry[1] + x
                    elif e in leaves:
                        leaves[e] = leaves[e] + x
                    else:
                        leaves[e] = x if x is not g and x.__class__ is not ndarray else _own(x, g)
                if op.arity > 2 and n.third is not None:
                    e, x = n.third, op.c(g, s)
                    if shaped and x.shape != n.sc:
                        x = unbroadcast(x, n.sc)
                    if e.op is not None:
                        _wait(pending, heap, e, x)
                    elif e in leaves:
                        leaves[e] = leaves[e] + x
                    else:
                        leaves[e] = _own(x, g)
            if not keep:
                n.op = op.spent
                n.a = n.b = n.c = n.y = None
            continue
        else:
            pairs = _pairs(n, g, create_graph, needed)
        for e, x in pairs:
            if e.op is None:
                leaves[e] = leaves[e] + x if e in leaves else _own(x, g)
            elif op.picks:
                _wait_part(pending, heap, e, n.p, x)
            else:
                _wait(pending, heap, e, x)
        if not keep:
            spend(n)
    return leaves


def _own(x: Any, g: Any = None) -> Any:
    """x as something that nobody else holds: rules may pass g on, or give a view of it."""
    if x.__class__ is ndarray:
        return x.copy() if x is g or g is None or x.base is not None else x
    return x.copy() if hasattr(x, "base") and (x is g or x.base is not None) else x


def _wait(pending: dict[int, list[Any]], heap: list[int], n: Node, g: Any) -> None:
    """Put n among the pending nodes, or add g to what it has."""
    entry = pending.get(n.seq)
    if entry is None:
        pending[n.seq] = [n, g]
        heappush(heap, -n.seq)
    else:
        entry[1] = entry[1] + g


def _wait_part(pending: dict[int, list[Any]], heap: list[int], n: Node, number: int, g: Any) -> None:
    """The same for output `number` of a node with several outputs."""
    entry = pending.get(n.seq)
    if entry is None:
        entry = pending[n.seq] = [n, [None] * len(n.sy)]
        heappush(heap, -n.seq)
    entry[1][number] = g if entry[1][number] is None else entry[1][number] + g


def _pairs(
    n: Node, g: Any, create_graph: bool, needed: set[Node] | None, visited: bool = False
) -> list[tuple[Node, Any]]:
    """The general step: run hooks, apply the rule of each input that is asked for, note what passed."""
    op = n.op
    if n.notes is not None and not visited:
        g = visit(n, g)
    s = saved_tensors(n) if create_graph else n
    out = []
    for i, e in enumerate(edges_of(n)):
        if e is None or needed is not None and e not in needed:
            continue
        x = op.each(g, s, i) if op.each is not None else (op.a, op.b, op.c)[i](g, s)
        if x is None:
            continue
        if op.spreads:
            shape = (
                n.sx[i]
                if op.each is not None
                else (n.sa, n.sb, n.sc)[i]
                if op.arity > 2
                else (n.sa if i == 0 else n.sb)
            )
            if x.shape != shape:
                x = unbroadcast(x, shape)
        out.append((e, x))
        notes = e.notes
        if notes is not None and notes.recorded:
            if notes.arriving:
                notes.arriving.append((weakref.ref(n), i, small(x)))
            else:
                notes.arriving = [(weakref.ref(n), i, small(x))]
    return out


def visit(n: Node, g: Any) -> Any:
    """Run the node's hooks on its complete cotangent, let tensors retain it, and note it for the pictures."""
    notes = n.notes
    assert notes is not None
    if notes.hooks or notes.retain:
        g = call_hooks(notes, g)
    if notes.recorded:
        notes.grad = small(g)
        notes.passed, notes.arriving = notes.arriving, ()
    return g


def call_hooks(notes: Notes, g: Any) -> Any:
    """Let the hooks see and change the cotangent, and the tensors that asked for it keep it."""
    from .tensor import Tensor, add_grad, wrap

    for hook in list(notes.hooks):
        seen = g if isinstance(g, Tensor) else wrap(g)
        result = hook(seen)
        if result is not None:
            check_answer(hook, seen, result)
            g = result if isinstance(g, Tensor) else result.raw
    for reference in notes.retain:
        t = reference()
        if t is not None:
            add_grad(t, g if isinstance(g, (Tensor, list)) else _own(g))
    return g


def spend(n: Node) -> None:
    """Free what the node keeps.  A row that kept nothing can be walked again, as in PyTorch."""
    n.op = n.op.spent
    n.a = n.b = n.c = n.y = n.x = None


def leading_to(wanted: Iterable[Node], roots: list[Node]) -> tuple[set[Node], set[Node]]:
    """The nodes worth visiting on the way from the roots to the wanted ones, and those of them that lead on.

    One pass finds what is reachable; then, oldest first, a node leads on if one of its inputs is wanted or leads on.
    """
    goal = set(wanted)
    seen: dict[Node, tuple[Node | None, ...]] = {}
    stack = list(roots)
    while stack:
        n = stack.pop()
        if n not in seen:
            seen[n] = edges_of(n)
            stack += [e for e in seen[n] if e is not None]
    beyond: set[Node] = set()
    for n in sorted(seen, key=lambda n: n.seq):
        if any(e is not None and (e in goal or e in beyond) for e in seen[n]):
            beyond.add(n)
    return beyond | goal, beyond


# ------------------------------------------------------------------------------- what the walk asks for
def small(x: Any) -> Any:
    """A copy of x for a picture if it has at most 64 elements; of a tuple, of each."""
    if x is None or isinstance(x, (list, tuple)):
        return x and [small(v) for v in x]
    kind = x.__class__
    if kind is float32 or kind is float64:
        return x
    if kind is not ndarray:
        x = getattr(x, "raw", x)
        if getattr(x, "ndim", 0) == 0 and not hasattr(x, "base") or isinstance(x, np.generic):
            return x
    if x.size > SMALL:
        return None
    if x.__class__ is ndarray:
        return x.copy()
    from .device import backend_of

    # Off the GPU, whose memory is the user's; `host` would count a copy that nobody's program made.
    copy: Any = backend_of(x).module.asnumpy(x)
    return copy


def check_writes(n: Node) -> None:
    """Was a value that this node's rules read overwritten after the node was made?"""
    for slot in n.op.counters:
        version = getattr(n, slot, None)
        if version is None:
            continue
        if slot != "vx":
            if version[0] > n.seq:
                raise modified(n, slot[1], 0, version)
        else:
            for i, v in enumerate(version):
                if v is not None and v[0] > n.seq:
                    raise modified(n, "x", i, v)


def modified(n: Node, letter: str, i: int, version: list[Any]) -> RuntimeError:
    """The error for a saved value that was overwritten: who saved it, who wrote it, and what to write instead."""
    value = getattr(n, letter)
    value = value[i] if letter == "x" else value
    from .tensor import type_name

    kind = f"[{type_name(value)} {list(np.shape(value))}]"
    output = f", which is output 0 of {n.title}," if letter == "y" else ""
    role = {"y": "its own output", "x": f"its input {i + 1}"}.get(
        letter, f"its {'first second third'.split()['abc'.find(letter)]} input"
    )
    lines: list[tuple[str, Any]] = []
    if n.notes is not None and n.notes.place is not None:
        lines.append((f"saved by {called(n.op)} in", n.notes.place))
    place = places.place_of(version[2])
    lines.append(("changed in", place))
    writer = place.text if place is not None else ""
    return errors.explain(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{kind}{output} is at version {version[1]}; an earlier version was saved.",
        f"The gradient rule of {called(n.op)} reads {role}, and that value was overwritten after {called(n.op)} had "
        "saved it.",
        f"make a new tensor instead of changing that one (in {writer!r}, use the form without the underscore and a new "
        f"name), or clone() the value before changing it." if writer else
        "make a new tensor instead of changing that one (the form without the underscore), or clone() it first.",
        tuple(lines),
        node=n,
    )  # fmt: skip


def called(op: Any) -> str:
    """The operation as users call it: rows that differ in their operands' kinds share a name."""
    return str(op.name.removesuffix("_number").removesuffix("_row"))


def spent_rule(g: Any, n: Any, i: int = 0) -> Any:
    """The rule of a node whose saved values have been freed."""
    raise errors.explain(
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.",
        f"An earlier backward freed what {called(n.op)} had saved.",
        "compute the result anew before the second backward, or call the first one with retain_graph=True.",
        node=n,
    )


class Saved:
    """A node's values as Tensors: what a rule sees with `create_graph` and in forward mode."""

    __slots__ = ("a", "b", "c", "y", "x", "p", "sa", "sb", "sc", "sx", "sy")

    a: Any
    b: Any
    c: Any
    x: Any
    y: Any
    p: Any
    sa: Any
    sb: Any
    sc: Any
    sx: Any
    sy: Any


def saved_tensors(n: Node) -> Any:
    """The values of n as Tensors that hang in the graph where the inputs and the output hang."""
    from .op import pick_node
    from .tensor import wrap

    op, s = n.op, Saved()
    if op.is_spent:
        spent_rule(None, n)
    for name in ("p", "sa", "sb", "sc", "sx", "sy"):
        if hasattr(n, name):
            setattr(s, name, getattr(n, name))
    for i, (letter, edge) in enumerate((("a", "left"), ("b", "right"), ("c", "third"))):
        value = getattr(n, letter, None)
        if value is not None:
            number = value.__class__ in (int, float, bool, complex)
            setattr(
                s,
                letter,
                value
                if number
                else wrap(
                    value, before_cast(n, i, value, getattr(n, edge, None)), getattr(n, "v" + letter, None)
                ),
            )
        elif hasattr(n, letter):  # an input that was left out
            setattr(s, letter, None)
    if getattr(n, "x", None) is not None:
        s.x = [wrap(v, before_cast(n, i, v, e)) for i, (v, e) in enumerate(zip(n.x, n.edges))]
    y = getattr(n, "y", None)
    if y is not None:
        s.y = (
            [wrap(v, pick_node(n, k) if v.dtype.kind in "fc" else None) for k, v in enumerate(y)]
            if op.outputs
            else wrap(y, n, getattr(n, "vy", None))
        )
    return s


def before_cast(n: Node, i: int, value: Any, edge: Node | None) -> Node | None:
    """The node of the saved input i: that of the input itself, behind a cast if the row kept it in another dtype."""
    if edge is None or not n.op.casts or n.op.casts[i] is None:
        return edge
    from .op import TABLE

    cast = new(Node)
    cast.op, cast.seq, cast.notes, cast.left = TABLE["cast"], tick(), None, edge
    cast.p, cast.sa, cast.sy = (value.dtype, n.op.casts[i]), value.shape, value.shape
    return cast


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum g back to the shape that was stretched to g's shape."""
    lead = len(g.shape) - len(shape)
    if g.__class__ is ndarray and g.shape[lead:] == shape:  # the usual case, a bias: straight
        return np.add.reduce(g, 0 if lead == 1 else tuple(range(lead)))
    from .op import TABLE

    axes = tuple(range(lead)) + tuple(
        i + lead for i, size in enumerate(shape) if size == 1 and g.shape[i + lead] != 1
    )
    if axes:
        g = TABLE["sum"](g, p=(axes, True))
    return TABLE["reshape"](g, p=shape) if lead else g
