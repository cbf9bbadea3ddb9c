"""From what a call did to a flat program: the lines are run once more, and each backward becomes lines of its own.

The forward lines run on the same tensors as before (contents.py has put their values back), with gradients recorded where
they were.  For a backward, the rules of the table are asked for Tensors: each operation by which a rule computes is a
line.  So the program's backward is written by the same rules that eager backward uses.

The walk is the engine's in small: newest node first, sums in the order of arrival.
"""

from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import modes
from ..accumulate import add_grad
from ..graph import Node, edges_of, leaf_node
from ..inplace import adopt
from ..op import TABLE, Op
from ..saved import check_writes, saved_tensors, spent_rule
from ..tensor import Tensor, wrap
from ..walk import unbroadcast
from .lines import Line, RawOf, Symbol, row_line
from .recorder import Constant, Recorder, recording
from .state import State, Unseen

ndarray, generic = np.ndarray, np.generic


# ------------------------------------------------------------------------------------------------ what lines call
def write(t: Tensor, value: Tensor) -> None:
    """Overwrite t in place with a value of its shape."""
    adopt(t, value)


def new(constant: Any) -> Tensor:
    """A tensor of its own memory with the values of a constant array."""
    return wrap(constant if isinstance(constant, generic) else constant.copy(order="K"))


def empty(constant: Any) -> Tensor:
    """A tensor of memory like the constant's that nobody has filled yet."""
    return wrap(constant if isinstance(constant, generic) else np.empty_like(constant))


def copy_(t: Tensor, value: Any) -> None:
    """Overwrite t in place with what broadcasts to it."""
    t.copy_(value)  # type: ignore[attr-defined]


def add_to_grad(t: Tensor, g: Tensor) -> None:
    """Add g to `t.grad`, as backward does."""
    add_grad(t, g.raw if isinstance(g.raw, generic) else g.raw.copy())


CALLS = {"write": write, "copy": copy_, "accumulate": add_to_grad}


def ready(line: Line) -> Line:
    """The line with its function, and constants as they are."""
    line.args = tuple([x.value if isinstance(x, Constant) else x for x in line.args])
    if line.kind in CALLS:
        line.function = CALLS[line.kind]
        line.name = line.function.__name__
    elif line.kind == "new":
        line.function = empty if "empty" in line.name else new
        line.name = line.function.__name__
    return line


class Expansion(Recorder):
    """Runs the lines of a Recorder again, and writes those of the backwards."""

    def __init__(self, state: State, names: dict[str, str], recorder: Recorder) -> None:
        super().__init__(state, names)
        self.count = recorder.count
        self.source = recorder.lines
        self.values: dict[str, Tensor] = {s.name: state.tensors[path] for path, s in self.inputs.items()}
        self.places: dict[int, Any] = {}  # id of a node: the user's instruction that made it
        self.spent: set[int] = set()
        self.hooked: set[int] = set()  # leaves with hooks
        self.note, self.spot = "", None
        self.casts: dict[int, tuple[Symbol, Any]] = {}

    def here(self) -> Any:
        return self.spot

    # ---- forward
    def run(self) -> None:
        """Run the forward lines, and expand the backwards among them."""
        grad = modes.is_grad_enabled()
        for t in self.values.values():
            if t.node is not None:
                if t.node.op is None and t.node.notes is not None:
                    self.hooked.add(id(t))
                t.node = leaf_node(t)
                self.kept.append(t.node)
        try:
            for line in self.source:
                modes.put_grad(line.grad)
                self.spot = line.spot
                self.step(ready(line))
        finally:
            modes.put_grad(grad)

    def value(self, x: Any) -> Any:
        """What stands for x at run time."""
        if isinstance(x, Symbol):
            return self.values[x.name]
        if isinstance(x, RawOf):
            return self.values[x.symbol.name].raw
        if type(x) in (tuple, list):
            return type(x)([self.value(v) for v in x])
        if type(x) is slice:
            return slice(self.value(x.start), self.value(x.stop), self.value(x.step))
        return x

    def step(self, line: Line) -> None:
        kind = line.kind
        if kind in ("backward", "derive"):
            self.backward(line)
            return
        args = [self.value(x) for x in line.args]
        if kind != "ask":
            self.lines.append(line)
        out: Any = None
        if kind == "op":
            out = line.function(*args, p=self.value(line.p))
        elif kind == "set_grad":
            args[0].grad = args[1]
        elif kind == "read_grad":
            out = args[0].grad
        elif kind == "setitem":
            args[0][args[1]] = args[2]
        elif kind == "detach":
            out = args[0].detach()
        elif kind == "call":
            args[0].step()
        elif kind == "ask":
            args[0].requires_grad_(args[1] if len(args) > 1 else True)
        else:
            out = line.function(*args)
        if line.out:
            outs = out if isinstance(out, tuple) else (out,)
            for s, t in zip(line.out, outs, strict=True):
                self.values[s.name] = t
                self.know(t, s)
            self.note_node(line, args, outs)
        elif line.args and isinstance(line.args[0], Symbol) and kind in ("write", "setitem", "copy"):
            t = args[0]
            self.raws[id(t.raw)] = line.args[0]
            self.kept.append(t.raw)
            if t.node is not None:
                self.places[id(t.node)] = line.spot
                self.kept.append(t.node)

    def note_node(self, line: Line, args: list[Any], outs: Any) -> None:
        """Which symbols are the values that the new node has saved?  (A scalar out of its array, a cast input.)"""
        n = outs[0].node
        if n is None or n.op is None:
            return
        if n.op.picks:
            n = n.left
        self.kept.append(n)
        self.places[id(n)] = line.spot
        flat = [(slot, i) for i, slot in enumerate("abc") if i < len(args)]
        saved = [(getattr(n, slot, None), line.args[i], args[i]) for slot, i in flat]
        if n.op.each is not None:
            saved = [(v, a, x) for v, a, x in zip(getattr(n, "x", None) or (), line.args, args)]
        ys = getattr(n, "y", None)
        saved += [(v, s, t) for v, s, t in zip(ys if isinstance(ys, tuple) else (ys,), line.out, outs)]
        for v, s, x in saved:
            if v is None or not isinstance(v, (ndarray, generic)) or not isinstance(x, Tensor):
                continue
            if id(v) in self.raws or not isinstance(s, Symbol):
                continue
            self.kept.append(v)
            if v.dtype == x.raw.dtype and v.shape == x.raw.shape:
                self.raws[id(v)] = s
            elif v.shape == x.raw.shape:
                self.casts[id(v)] = (s, (v.dtype, x.raw.dtype))

    # ---- backward
    def backward(self, line: Line) -> None:
        """Lines for a backward, or for autograd.grad."""
        roots, seeds, goals = line.args[0], line.args[1], line.args[2]
        derives = line.kind == "derive"
        self.spot = line.spot
        modes.put_grad(False)
        start = [(self.values[r.name], self.seed(self.values[r.name], s)) for r, s in zip(roots, seeds)]
        only = None if goals is None else {id(self.values[s.name].node): s for s in goals}
        sums = self.walk([(t.node, g) for t, g in start], only, keep=derives or bool(line.p))
        if derives:
            for s, made in zip(goals, line.args[3]):
                g = sums.get(self.values[s.name].node)  # type: ignore[arg-type]
                if (g is None) != (made is None):
                    raise Unseen("autograd.grad gives another gradient than before")
                if g is not None:
                    self.alias(made, g, line.spot)
            return
        for n, g in sums.items():
            t = n.leaf() if n.op is None else None
            if t is None or t._grad_or_none() is None and t.node is None:
                raise Unseen("backward reaches a tensor that is not a leaf")
            if id(t) in self.hooked:
                raise Unseen("hooks hang on a leaf that its backward reaches")
            leaf, total = self.symbols[id(t)], self.operand(g, "backward", False)
            self.lines.append(
                Line(
                    "accumulate",
                    [],
                    add_to_grad,
                    "add_to_grad",
                    [leaf, total],
                    spot=line.spot,
                    note="backward:",
                )
            )
            add_to_grad(t, g)

    def alias(self, s: Symbol, t: Tensor, spot: Any) -> None:
        """A copy of t under the name that the forward lines know."""
        source = self.operand(t, "grad", False)
        line = row_line(TABLE["clone"], [s], [source], None, spot=spot)
        self.lines.append(line)
        self.values[s.name] = out = TABLE["clone"](t)
        self.know(out, s)

    def seed(self, t: Tensor, s: Any) -> Tensor:
        """The cotangent with which a backward starts."""
        if s is not None:
            return self.values[s.name]
        one = t.raw.dtype.type(1) if isinstance(t.raw, generic) else np.ones_like(t.raw)
        g = wrap(one)
        self.lines.append(Line("new", [self.new(g)], new, "new", [one], spot=self.spot, note="backward:"))
        self.values[self.symbols[id(g)].name] = g
        return g

    def walk(
        self, roots: list[tuple[Any, Tensor]], only: Any = None, keep: bool = False
    ) -> dict[Node, Tensor]:
        """Cotangents from the roots to the leaves (or to the nodes in `only`), an operation a line."""
        sums: dict[Node, Tensor] = {}
        pending: dict[int, list[Any]] = {}
        heap: list[int] = []

        def arrive(n: Node, g: Any) -> None:
            if n.op is None:
                sums[n] = sums[n] + g if n in sums else g  # type: ignore[operator]
                return
            part, number = (n.left, n.p) if n.op.picks else (n, None)
            entry = pending.get(part.seq)  # type: ignore[union-attr]
            if entry is None:
                entry = pending[part.seq] = [part, None]  # type: ignore[union-attr]
                heappush(heap, -part.seq)  # type: ignore[union-attr]
            if number is None:
                entry[1] = g if entry[1] is None else entry[1] + g
            else:
                if entry[1] is None:
                    entry[1] = [None] * len(part.sy)  # type: ignore[union-attr]
                entry[1][number] = g if entry[1][number] is None else entry[1][number] + g

        with recording(self):
            for n, g in roots:
                if n is None:
                    raise Unseen("backward starts at a tensor without a graph")
                arrive(n, g)
            while heap:
                n, g = pending.pop(-heappop(heap))
                if only is not None and id(n) in only:
                    sums[n] = g
                if n.notes is not None:
                    raise Unseen("hooks hang on its graph")
                if n.op.whole is not None:
                    raise Unseen("its graph has a Function whose backward is not made of rules")
                if id(n) in self.spent and n.op.spent is not n.op:
                    spent_rule(None, n)
                self.spot, self.note = self.places.get(id(n), self.spot), "backward of"
                edges = edges_of(n)
                xs = self.rules(n, g, edges)
                if (
                    len(edges) > 1
                    and edges[0] is edges[1]
                    and edges[0] is not None
                    and edges[0].op is not None
                ):
                    if xs[0] is not None and xs[1] is not None:  # the engine adds these two first
                        xs = [xs[0] + xs[1], None, *xs[2:]]
                for e, x in zip(edges, xs):
                    if e is not None and x is not None:
                        arrive(e, x)
                if not keep:
                    self.spent.add(id(n))
                    self.kept.append(n)
        if self.reason:
            raise Unseen(self.reason)
        return sums if only is None else {n: g for n, g in sums.items() if id(n) in only}

    def rules(self, n: Node, g: Any, edges: Any) -> list[Any]:
        """The rules of a node's inputs on Tensors (what walk.gradients does); the saved values are known beforehand."""
        if n.op.counters:
            check_writes(n)
        s = saved_tensors(n)
        for letter in "abcxy":
            if getattr(n, letter, None) is None:
                continue
            kept = getattr(s, letter)
            for t in kept if isinstance(kept, list) else (kept,):
                if isinstance(t, Tensor):
                    self.saved(t)
        xs: list[Any] = []
        for i, e in enumerate(edges):
            if e is None:
                xs.append(None)
                continue
            x = n.op.each(g, s, i) if n.op.each is not None else (n.op.a, n.op.b, n.op.c)[i](g, s)
            if n.op.spreads and x is not None:
                shape = n.sx[i] if n.op.each is not None else (n.sa if i == 0 else n.sb if i == 1 else n.sc)
                x = unbroadcast(x, shape) if x.shape != shape else x
            xs.append(x)
        return xs

    def saved(self, t: Tensor) -> None:
        """A value that a node keeps, as a Tensor of its own: whose is it?  (Who is unknown shows when a rule uses it.)"""
        self.kept.append(t)
        if id(t.raw) in self.casts or id(t.raw) in self.raws:
            self.symbols[id(t)] = self.unknown(t, "a rule", False)

    # ---- what the rules do
    def operated(self, op: Op, p: Any, xs: Any, out: Any, happened: str = "operation") -> None:
        if happened == "write" or any(out is x for x in xs):
            raise Unseen(f"the rule of an operation works in place ({op.name})")
        args = [self.operand(x, op.name, False) for x in xs]
        p = self.parameters(p, op.name)
        outs = out if isinstance(out, tuple) else (out,)
        line = row_line(op, [self.new(t) for t in outs], args, p, spot=self.spot, note=self.note)
        for s, t in zip(line.out, outs):
            self.values[s.name] = t
        self.lines.append(line)

    def created(self, word: str, t: Tensor, data: Any = None) -> None:
        value = t.raw if isinstance(t.raw, generic) else t.raw.copy()
        self.lines.append(Line("new", [self.new(t)], new, "new", [value], spot=self.spot, note=self.note))
        self.values[self.symbols[id(t)].name] = t

    def unknown(self, x: Tensor, word: str, grad: bool) -> Symbol:
        """A saved value, as a Tensor of its own."""
        found = self.casts.get(id(x.raw))
        if found is not None:
            s, p = found
            made = Symbol(f"t{self.count + 1}")
            self.count += 1
            self.lines.append(row_line(TABLE["cast"], [made], [s], p, spot=self.spot, note=self.note))
            self.values[made.name] = x
            return self.know(x, made)
        known = self.raws.get(id(x.raw))
        if known is None:
            if x.raw.__class__ is ndarray or not isinstance(x.raw, generic):
                raise Unseen(f"a gradient rule computes with an array that no line makes ({word})")
            raise Unseen(f"a gradient rule computes with a number that no line makes ({word})")
        if (
            known.name in self.values
            and self.values[known.name].raw is not x.raw
            and isinstance(x.raw, generic)
        ):
            inside = self.values[known.name].raw
            if not (isinstance(inside, ndarray) and not inside.ndim and inside[()] == x.raw):
                raise Unseen("a number that a gradient rule reads is overwritten in between")
        self.kept.append(x)
        self.symbols[id(x)] = known
        return known
