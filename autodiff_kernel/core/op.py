"""The table of rules: one row, an Op, per operation.

A row is the forward on raw arrays and one rule per input.  A rule takes the output's cotangent `g` and `n`, which
gives the saved values: inputs `n.a n.b n.c` (`n.x[i]` in a row with a list of inputs), output `n.y`, parameters
`n.p`, and the shapes `n.sa n.sb n.sc n.sx n.sy`, which are always there.  Rules use only operators, NumPy functions
that work on every backend, and other rows, so that one text serves raw arrays (reverse mode), Tensors (higher order)
and dual numbers (forward mode).

Forward mode follows from one word, `mode`:
  elementwise  the Jacobian is diagonal, so the rule itself maps the tangent;
  linear       linear in each input by itself: the operation is its own derivative, one term per input;
  joint        linear in all inputs together (cat, stack): one term, missing tangents are zeros.
A row that is none of these carries its own `jvp(tangents, n)`, with None for an input without tangent.

Batching (vmap) follows from one word too, `batch`, see the package `batching`.

What a rule reads is declared in `reads`, one string of letters per rule: it decides what a node keeps and what the
in-place check guards.  ("p" there means that the parameters hold arrays, which are freed like saved values.)

An input that has no rule (a condition, an index) is an input all the same: its rule is None.

A row whose inputs' gradients come all at once (a user's Function, see custom.py) has `whole(g, n, create_graph)` for
them, in the order of the edges.

Only `unary` and `binary` in hot.py and the walk are written out by hand; everything else goes through `Op.__call__`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import modes
from .dtype import BRAIN, FLOATING
from .graph import Node, WideNode, new, tick
from .meeting import NUMBERS, meet
from .packing import at_work, pack_node
from .reals import WORDS, refusal
from .saved import spent_rule
from .sharing import saved_version_of
from .tensor import Parameter, Tensor, View, family_of, share, version_of, wrap
from .widening import is_narrow, widened

ndarray, float32 = np.ndarray, np.float32
Rule = Callable[..., Any]
TABLE: dict[str, "Op"] = {}


@lru_cache(None)
def kept_by(reads: tuple[str, ...]) -> tuple[tuple[bool, ...], ...]:
    """For each set of inputs that have edges (as bits): does the node keep (a, b, c, y)?"""
    return tuple(
        tuple(any(letter in r for i, r in enumerate(reads) if bits >> i & 1) for letter in "abcy")
        for bits in range(8)
    )


class Op:
    """One row of the table.

    name: the operation's name in PyTorch.  fwd: raw arrays (and parameters `p`, if `params`) to the raw result.
    a, b, c: the rules of up to three inputs; `each(g, n, i)` for a list of inputs.  reads: what each rule reads.
    mode / jvp: forward mode, see above.  outputs: the number is variable and fwd gives a tuple.  spreads: inputs
    broadcast, the walk sums the cotangent back.  view: the result shares memory with input a.
    types: how dtypes of inputs meet: "same" (promote), "float" (promote, integers become the default dtype) or ""
    (as they are).  batch: how vmap runs it on all samples at once, a word of the package `batching` ("" sample by
    sample).  node_names: PyTorch's name of the node, or a function of `p` that gives it.
    symbol, partials, latex: how pictures show the operation and its derivative for each input ({a}, {b}, {c}, {y},
    {p} stand for the names of the values).  doc: one sentence.
    """

    __slots__ = ("name", "fwd", "a", "b", "c", "each", "reads", "mode", "jvp", "params", "outputs", "spreads", "view",
                 "types", "types_from", "node_names", "symbol", "partials", "latex", "doc", "arity", "keeps",
                 "keeps_letters", "counters", "spent", "is_spent", "picks", "variants", "differentiable", "base",
                 "casts", "whole", "batch", "direct", "adds", "real")  # fmt: skip

    def __init__(
        self,
        name: str,
        fwd: Callable[..., Any],
        a: Rule | None = None,
        b: Rule | None = None,
        c: Rule | None = None,
        *,
        each: Rule | None = None,
        reads: tuple[str, ...] = (),
        mode: str = "",
        jvp: Callable[..., Any] | None = None,
        params: bool = False,
        outputs: bool = False,
        spreads: bool = False,
        view: bool = False,
        types: str = "",
        types_from: int = 0,
        node: str | Callable[[Any], str] = "",
        symbol: str = "",
        partials: tuple[str, ...] = (),
        latex: str = "",
        doc: str = "",
        picks: bool = False,
        register: bool = True,
        whole: Rule | None = None,
        batch: str = "",
    ) -> None:
        self.name, self.fwd, self.a, self.b, self.c, self.each = name, fwd, a, b, c, each
        self.mode, self.jvp, self.params, self.outputs = mode, jvp, params, outputs
        self.spreads, self.view, self.types, self.picks = spreads, view, types, picks
        self.node_names = node or "".join([part.capitalize() for part in name.split("_")]) + "Backward0"
        self.symbol, self.partials, self.latex, self.doc = symbol or name, partials, latex, doc
        self.arity = max((i + 1 for i, rule in enumerate((a, b, c)) if rule is not None), default=0)
        self.direct = 0 if picks else self.arity  # how many rules the walk's hot path may call
        self.adds: Any = None  # of a view: adds its cotangent to a leaf's sum in place, (sum, cotangent, p)
        self.differentiable = bool(self.arity or each)
        self.types_from = types_from
        self.whole = whole
        self.batch = batch or ("elementwise" if mode == "elementwise" or spreads else "")
        self.reads = (reads + ("", "", ""))[: max(self.arity, 1)]
        self.keeps = kept_by(self.reads)
        self.keeps_letters = "".join(letter for letter in "abcxy" if any(letter in r for r in self.reads))
        self.counters = tuple("v" + letter for letter in self.keeps_letters)
        self.variants: dict[Any, Op] = {}
        self.base = self
        self.casts: tuple[Any, ...] = ()  # of a variant: the dtypes that its inputs had before they were cast
        self.real = WORDS.get(name)  # of a row for real numbers only: what it says of complex ones
        self.is_spent = False
        self.spent = self
        if register:
            if name in TABLE:
                raise ValueError(f"the table has a row {name!r} already")
            TABLE[name] = self
        if self.keeps_letters or any("p" in r for r in self.reads):
            self.spent = self._like(**{k: spent_rule for k in ("a", "b", "c", "each") if getattr(self, k)})
            self.spent.is_spent = True

    def _like(self, **changes: Any) -> "Op":
        """A copy of the row with other rules, not in the table."""
        other = new(Op)
        for slot in Op.__slots__:
            setattr(other, slot, getattr(self, slot))
        for slot, value in changes.items():
            setattr(other, slot, value)
        other.spent = other
        return other

    def node_name(self, p: Any) -> str:
        return self.node_names(p) if callable(self.node_names) else self.node_names

    def __repr__(self) -> str:
        return f"<row {self.name} of the table>"

    def run(self, raws: Any, p: Any) -> Any:
        """The forward on raw arrays."""
        if self.each is not None:
            return self.fwd(raws, p) if self.params else self.fwd(raws)
        return self.fwd(*raws, p) if self.params else self.fwd(*raws)

    def __call__(self, *xs: Any, p: Any = None) -> Any:
        """Raw arrays in, raw array out; any Tensor in, Tensor out; any wrapper in (dual, batched), wrapper out.

        A row with a list of inputs takes them as separate arguments too.
        """
        tensors = False
        for x in xs:
            kind = x.__class__
            if kind is ndarray or kind is float32:
                continue
            if kind is Tensor or kind is Parameter:
                tensors = True
            elif isinstance(x, Tensor):
                if x.is_dual:
                    return push(self, xs, p)
                tensors = True
        if tensors:
            return record(self, xs, p)
        if self.each is not None:
            return self.run(xs, p)
        return self.fwd(*xs, p) if self.params else self.fwd(*xs)

    def variant(self, casts: tuple[Any, ...]) -> "Op":
        """This row for inputs that were cast first: input i's cotangent goes back to casts[i] (dtype, device)."""
        made = self.variants.get(casts)
        if made is None:

            def back(rule: Rule, to: Any) -> Rule:
                return rule if to is None else lambda g, n: cast_back(rule(g, n), to)

            if self.each is not None:
                each = self.each
                made = self._like(
                    each=lambda g, n, i: cast_back(each(g, n, i), casts[i]) if casts[i] else each(g, n, i)
                )
            else:
                made = self._like(
                    **{
                        k: back(getattr(self, k), to)
                        for k, to in zip("abc", casts)
                        if getattr(self, k) is not None
                    }
                )
            made.casts = casts
            made.spent = made._like(**{k: spent_rule for k in ("a", "b", "c", "each") if getattr(made, k)})
            made.spent.is_spent = self.spent is not self
            if self.spent is self:
                made.spent = made
            made.variants = {}  # its own
            self.variants[casts] = made
        return made

    def conjugated(self) -> "Op":
        """This row for complex values: input x's cotangent is g times the conjugate of ∂y/∂x, PyTorch's convention.

        The rules of elementwise rows give g ∂y/∂x; the conjugates around one move to the derivative.
        """
        made = self.variants.get("conjugated")
        if made is None:
            conj = TABLE["conj"]

            def around(rule: Rule) -> Rule:
                return lambda g, n: conj(rule(conj(g), n))

            rules = {k: getattr(self, k) for k in "abc" if getattr(self, k) is not None}
            made = self._like(**{k: around(rule) for k, rule in rules.items()})
            if self.spent is not self:
                made.spent = made._like(**dict.fromkeys(rules, spent_rule), is_spent=True)
            self.variants["conjugated"] = made
        return made


def cast_back(x: Any, to: Any) -> Any:
    """A cotangent in the dtype that its input had; its own gradient goes back to the dtype that it has now."""
    return x if x is None else TABLE["cast"](x, p=(to, (x.raw if isinstance(x, Tensor) else x).dtype))


def push(op: Op, xs: Any, p: Any) -> Any:
    """Dual numbers or batched tensors are among the inputs; dual.py puts its `push` here."""


def record(op: Op, xs: Any, p: Any) -> Any:
    """Run the row on Tensors (and numbers or raw arrays among them) and record a node if a gradient may be asked."""
    raws: list[Any] = []
    for x in xs:
        if isinstance(x, Tensor):
            raws.append(share(x) if op.view else x.raw)
        else:
            raws.append(x)
    row = op
    if op.real is not None and any(getattr(getattr(r, "dtype", None), "kind", "") == "c" for r in raws):
        raise refusal(op.real, raws)
    first = raws[0].__class__
    if len(raws) > 1 or op.types or first is not ndarray:
        raws, row = meet(op, xs, raws)
    if BRAIN and any(map(is_narrow, raws)):
        row = widened(row)
    try:
        y = row.run(raws, p)
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        from .failures import translate

        raise translate(op, xs, raws, p, error) from error
    if op.outputs:
        return _several(row, xs, raws, y, p)
    if y.__class__ is ndarray and not y.ndim and not op.view:
        y = y[()]
    if y.dtype.kind == "c" and op.mode == "elementwise" and op.name != "sgn":
        row = row.conjugated()
    out = wrap(y)
    if op.differentiable:
        remember(row, xs, raws, out, p)
    if op.view:
        join_family(out, xs[0], op, p)
    watched = modes.watch[0]
    if watched is not None:
        watched(row, p, xs, out)
    return out


def remember(op: Op, xs: Any, raws: Any, out: Tensor, p: Any) -> None:
    """Give `out` a node if an input has one, the result can have a gradient, and this thread records."""
    edges = tuple([x.node if isinstance(x, Tensor) else None for x in xs])
    if not any(edges) or not modes.is_grad_enabled() or out.raw.dtype.kind not in FLOATING:
        return
    out.node = make_node(op, xs, raws, edges, out, p)


def make_node(op: Op, xs: Any, raws: Any, edges: tuple[Node | None, ...], out: Any, p: Any) -> Node:
    """The node of one operation.  `out` is the result's Tensor, or the tuple of raw results."""
    n: Any = WideNode() if op.each is not None or len(raws) > 2 else Node()
    n.op, n.seq, n.p, n.notes = op, tick(), p, None
    raw = out.raw if isinstance(out, Tensor) else out
    if op.each is not None:
        n.edges = edges
        n.sx = [np.shape(x) for x in raws]
        if "x" in op.reads[0]:
            n.x = list(raws)
            n.vx = [saved_version_of(x) if isinstance(x, Tensor) else None for x in xs]
        keep_y = "y" in op.reads[0]
    else:  # written out for each input: a loop over names of slots takes four times as long
        count = len(raws)
        n.left = edges[0]
        bits = 1 if edges[0] is not None else 0
        n.sa = size_of(raws[0])
        if count > 1:
            n.right = edges[1]
            bits += 2 if edges[1] is not None else 0
            n.sb = size_of(raws[1])
            if count > 2:
                n.third = edges[2]
                bits += 4 if edges[2] is not None else 0
                n.sc = size_of(raws[2])
        keep_a, keep_b, keep_c, keep_y = op.keeps[bits]
        if keep_a:
            n.a, n.va = kept(xs[0], raws[0])
        if keep_b and count > 1:
            n.b, n.vb = kept(xs[1], raws[1])
        if keep_c and count > 2:
            n.c, n.vc = kept(xs[2], raws[2])
    n.sy = [np.shape(y) for y in raw] if isinstance(raw, tuple) else raw.shape
    if keep_y:
        n.y = raw
        if isinstance(out, Tensor):
            n.vy = version_of(out)
    if at_work[0]:
        pack_node(n, xs, out)
    return n


def size_of(raw: Any) -> tuple[int, ...]:
    """The shape of a raw value; () for a number or an input that was left out."""
    return () if raw is None or raw.__class__ in NUMBERS else raw.shape


def kept(x: Any, raw: Any) -> tuple[Any, Any]:
    """What a node keeps of an input, and the version counter that guards it (of a tensor)."""
    if isinstance(x, Tensor):
        return raw, saved_version_of(x)
    return (x if x.__class__ in NUMBERS else raw), None


def _several(op: Op, xs: Any, raws: Any, ys: Any, p: Any) -> tuple[Tensor, ...]:
    """The Tensors of a row with several outputs: one node, and a pick of each output that can have a gradient."""
    outs = tuple(wrap(y[()] if y.__class__ is ndarray and not y.ndim and not op.view else y) for y in ys)
    edges = tuple([x.node if isinstance(x, Tensor) else None for x in xs])
    if any(edges) and modes.is_grad_enabled() and op.differentiable:
        n = make_node(op, xs, raws, edges, tuple(ys), p)
        for k, out in enumerate(outs):
            if out.raw.dtype.kind in FLOATING:
                out.node = pick_node(n, k)
    if op.view:
        for k, out in enumerate(outs):
            join_family(out, xs[0], op, (p, k), several=True)
    if modes.watch[0] is not None:
        modes.watch[0](op, p, xs, outs)
    return outs


def pick_node(n: Node, k: int) -> Node:
    """Output k of a node with several outputs: an edge with a number, in the form of a node."""
    e = Node()
    e.op, e.seq, e.p, e.notes, e.left, e.sy = pick, tick(), k, None, n, n.sy[k]
    return e


pick = Op("pick", lambda x, p: x[p], a=lambda g, n: g, mode="linear", params=True, picks=True,
          doc="One output of an operation with several.")  # fmt: skip


def join_family(out: Tensor, x: Tensor, op: Op, p: Any, several: bool = False) -> None:
    """`out` is a view of `x`: it shares the version counter, and follows its base when that is changed in place."""
    out.version = version_of(x)
    parent = x.family if isinstance(x.family, View) else None
    base = parent.base if parent else x
    chain = (parent.chain if parent else None, op, p)
    made = (
        "several" if several else "grad" if modes.is_grad_enabled()
        else "inference" if modes.is_inferring() else "no_grad"
    )  # fmt: skip
    if parent and parent.made != "grad":
        made = parent.made
    out.family = View(base, chain, made)
    family_of(base).add(out)
