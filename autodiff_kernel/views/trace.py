"""The evaluation trace of a function at a point: one row per operation, with value, tangents and adjoint.

Forward mode reads the table downward (each row's tangent from the rows above), reverse mode upward (each adjoint from
the rows that used the value).  It is the textbooks' table, made from what the engine recorded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core import create, dual, modes
from autodiff_kernel.core import device as devices
from autodiff_kernel.core.facts import kept_of
from autodiff_kernel.core.graph import Node, as_edge, edges_of
from autodiff_kernel.core.tensor import Tensor

from .formulas import written
from .partials import Operand, Partials
from .style import array_text, clip, shape_text
from .trace_check import TraceResult
from .trace_latex import latex as trace_latex
from .trace_table import html, text
from .walking import Part, Walk, shown

SEEDS, TERMS = 12, 24  # inputs that each get a column of tangents; terms of an adjoint that are all written


class SeedError(ValueError):
    """A seed that has not one number for each input."""


@dataclass(frozen=True)
class TraceRow:
    """One line of the trace: `w3 = w1·w2`, its value, a tangent for each seed, and where its adjoint comes from."""

    name: str
    formula: str
    value: str
    tangents: tuple[str, ...]
    adjoint_from: str
    adjoint: str
    role: str  # "input", "constant" (a leaf from outside), "step" or "output"
    partials: tuple[tuple[str, str, str], ...] = ()  # local derivatives: for which input, formula, number


@dataclass(frozen=True)
class TraceView:
    """A whole trace. seeds: the heading of each tangent column. blank: cells are left empty, as on a worksheet."""

    title: str
    call: str
    seeds: tuple[str, ...]
    rows: tuple[TraceRow, ...]
    reverse: bool
    blank: bool
    notes: tuple[str, ...]
    partials: bool = False  # is there a column of local derivatives?


def trace(
    f: Callable[..., Any],
    *args: Any,
    seeds: Sequence[Any] | None = None,
    reverse: bool = True,
    blank: bool = False,
    partials: bool = False,
    latex: bool = False,
    **kwargs: Any,
) -> TraceResult:
    """The evaluation trace of `f(*args)`: values, tangents for each seed, adjoints.

    args: numbers or tensors; each floating-point one is an input to differentiate for.  seeds: tangent vectors, one
    number (or tensor) per input; by default the unit vectors, so that each column is a partial derivative.  reverse:
    show the adjoints.  partials: show each step's local derivatives in a column (LaTeX always has them).
    blank: leave values, tangents and adjoints empty, for a worksheet.  latex: show it to Jupyter as text/latex, too
    (`.latex` and `.save('trace.tex')` give it in any case).

    Raises TypeError if f gives no tensor, RuntimeError if its result does not depend on the inputs.

    >>> from autodiff_kernel.views.trace import trace
    >>> def f(x1, x2):
    ...     return x1 * x2 + x1 ** 2
    >>> trace(f, 2., 3.)
    Evaluation trace of f(2, 3): forward ↓ with tangents, reverse ↑ with adjoints
    <BLANKLINE>
    step          value  ẇ (seed x1)  ẇ (seed x2)  adjoint from             w̄
    ────────────  ─────  ───────────  ───────────  ───────────────────────  ─
    w1 = x1           2            1            0  w̄3·w2 + w̄4·2·w1 = 3 + 4  7
    w2 = x2           3            0            1  w̄3·w1                    2
    w3 = w1·w2        6            3            2  w̄5·1                     1
    w4 = w1²          4            4            0  w̄5·1                     1
    w5 = w3 + w4     10            7            2  seed                     1
    """
    with modes.recording(False):
        inputs = _inputs(f, args)
    with modes.recording(True), modes.enable_grad():
        y = f(*[x for _, x in inputs], **kwargs)
    if not isinstance(y, Tensor):
        raise TypeError(
            f"trace needs a function that gives one tensor, but {_name(f)} gave {type(y).__name__}; return the tensor "
            "itself (not .item(), not a tuple)"
        )
    if y.node is None:
        raise RuntimeError(
            f"the result of {_name(f)} does not depend on its inputs through recorded operations: give floating-point "
            "inputs, and compute with tensors (no .item(), .detach(), no_grad)"
        )
    view = _model(f, inputs, y, seeds, reverse, blank, partials)
    return TraceResult(view, text=text, html=html, latex=trace_latex, shown_latex=latex, alt=_alt(f, args))


def _name(f: Any) -> str:
    return clip(getattr(f, "__name__", type(f).__name__), 200)


def _shown(x: Any) -> str:
    """An argument in one line, whatever its shape."""
    if not isinstance(x, Tensor) and np.asarray(x).dtype.kind not in "biufc":
        return clip(repr(x), 40)
    return " ".join(array_text(devices.to_numpy(x.raw) if isinstance(x, Tensor) else np.asarray(x)).split())


def _alt(f: Any, args: Any) -> str:
    shown = ", ".join(_shown(a) if isinstance(a, (Tensor, int, float)) else "…" for a in args)
    return f"evaluation trace of {_name(f)}({shown})"


def _inputs(f: Any, args: Any) -> list[tuple[str, Any]]:
    """The arguments by name; numbers and floating-point tensors as fresh leaves."""
    try:
        names = [
            p.name for p in inspect.signature(f).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]  # fmt: skip
    except (TypeError, ValueError):
        names = []
    found = []
    for i, x in enumerate(args):
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            x = create.tensor(float(x), dtype=create.dtypes.float64, requires_grad=True)
        elif isinstance(x, Tensor) and x.is_floating_point():
            x = create.made(x.raw.copy(), requires_grad=True)
        found.append((names[i] if i < len(names) else f"x{i + 1}", x))
    if not any(isinstance(x, Tensor) and x.requires_grad for _, x in found):
        raise TypeError("trace needs at least one number or floating-point tensor to differentiate for")
    return found


def _model(
    f: Any, inputs: Any, y: Tensor, seeds: Any, reverse: bool, blank: bool, partials: bool
) -> TraceView:
    moving = [(name, x) for name, x in inputs if isinstance(x, Tensor) and x.requires_grad]
    assert y.node is not None
    order = _order([x.node for _, x in moving], y.node)
    names = {n: f"w{i + 1}" for i, n in enumerate(order)}
    values = {n: _value(n, moving, y) for n in order}
    for n in order:
        if values[n] is None:
            values[n] = _still_held(n, order)
    vectors = _vectors(moving, seeds)
    notes = []
    if seeds is None and len(moving) > SEEDS and not vectors:
        notes.append(f"{len(moving)} inputs: tangents are shown for the seeds that are asked for")
    columns = [_tangents(order, values, moving, vector) for _, vector in vectors]
    if any(c is None for c in columns):
        columns, vectors = [], []
        notes.append("tangents are shown where every value has at most 64 elements")
    received: dict[Part, list[tuple[Node, int, Any]]] = {}
    if reverse:
        one = np.ones_like(y.raw) if np.ndim(y.raw) else y.raw.dtype.type(1)
        for moment in Walk(_end(y.node), one):
            for gift in moment.gifts:
                received.setdefault((gift.target, gift.output), []).append(
                    (moment.node, gift.position, shown(gift.cotangent))
                )
    rows = tuple(_row(n, names, values, columns, moving, y, received if reverse else None) for n in order)
    given = ", ".join(_shown(x) if isinstance(x, Tensor) else repr(x) for _, x in inputs)
    call = f"{_name(f)}({clip(given, 400)})"
    what = ["forward ↓ with tangents"] if vectors else []
    what += ["reverse ↑ with adjoints"] if reverse else []
    title = f"Evaluation trace of {call}" + (": " + ", ".join(what) if what else "")
    return TraceView(title, call, tuple(h for h, _ in vectors), rows, reverse, blank, tuple(notes), partials)


def _order(inputs: list[Any], last: Node) -> list[Node]:
    """Inputs first, then leaves from outside, then the operations as they ran."""
    seen: set[Node] = set()
    stack = [last]
    while stack:
        n = stack.pop()
        if n not in seen:
            seen.add(n)
            stack += [e for e in edges_of(n) if e is not None]
    outside = [n for n in seen if n.op is None and n not in inputs]
    return inputs + outside + sorted((n for n in seen if n.op is not None), key=lambda n: n.seq)


def _value(n: Node, moving: Any, y: Tensor) -> Any:
    """The recorded value as a NumPy array; None if it was too large to be kept."""
    if n is y.node:
        return devices.to_numpy(y.raw)
    for _, x in moving:
        if n is x.node:
            return devices.to_numpy(x.raw)
    if n.op is None:
        t = n.leaf()
        return None if t is None else devices.to_numpy(t.raw)
    known = kept_of(n)
    value = None if known is None else known.value
    return None if value is None or isinstance(value, list) else devices.to_numpy(value)


def _vectors(moving: Any, seeds: Any) -> list[tuple[str, list[Any]]]:
    """Tangent vectors with their headings: the unit vectors, or what was asked for."""
    if seeds is not None:
        chosen = []
        for seed in seeds:
            parts = list(seed) if isinstance(seed, (tuple, list)) else [seed]
            if len(parts) != len(moving):
                raise SeedError(f"a seed needs one number per input: {len(moving)}, not {len(parts)}")
            vector = [_raw_seed(p, x) for p, (_, x) in zip(parts, moving, strict=True)]
            chosen.append((f"ẇ (seed {', '.join(_shown(p) for p in parts)})", vector))
        return chosen
    if len(moving) > SEEDS or any(x.raw.ndim for _, x in moving):
        return []
    return [
        (f"ẇ (seed {name})", [_raw_seed(1.0 if i == j else 0.0, x) for j, (_, x) in enumerate(moving)])
        for i, (name, _) in enumerate(moving)
    ]


def _raw_seed(seed: Any, x: Tensor) -> Any:
    raw = devices.to_numpy(seed.raw) if isinstance(seed, Tensor) else seed
    try:
        full = np.broadcast_to(np.asarray(raw, x.raw.dtype), x.raw.shape)
    except (TypeError, ValueError):
        raise SeedError(
            f"a tangent of an input of shape {shape_text(x.shape)} is a number or has that shape; this is {_shown(seed)}"
        ) from None
    return full if full.ndim else full[()]


def _tangents(order: list[Node], values: Any, moving: Any, vector: list[Any]) -> Any:
    """The tangent of each row for one seed, by the rules of the table on plain arrays; None if a value is missing."""
    out: dict[Node, Any] = {x.node: v for (_, x), v in zip(moving, vector, strict=True)}
    for n in order:
        if n in out:
            continue
        if values[n] is None:
            return None
        if n.op is None:
            out[n] = values[n] * 0
            continue
        edges = edges_of(n)
        known = kept_of(n)
        inputs = known.inputs if known is not None else ()
        ps, ts = [], []
        for i in range(max(len(edges), len(inputs))):
            e = edges[i] if i < len(edges) else None
            if e is not None:
                ps.append(_plain(values[e]))
                ts.append(out[e])
            elif i < len(inputs) and inputs[i] is not None and inputs[i][1] is not None:
                ps.append(
                    inputs[i][1]
                    if isinstance(inputs[i][1], (int, float))
                    else devices.to_numpy(inputs[i][1])[()]
                )
                ts.append(None)
            else:
                return None
        p = getattr(n, "p", None)
        t = dual.tangent(n.op.base, ps, ts, _plain(values[n]), p)
        out[n] = np.broadcast_to(t, np.shape(values[n]))[()]
    return out


def _plain(x: Any) -> Any:
    return x[()] if isinstance(x, np.ndarray) and not x.ndim else x


def _end(n: Node) -> Part:
    """The node, and which of its outputs."""
    node, output = as_edge(n)
    assert node is not None
    return node, output


def _row(n: Node, names: Any, values: Any, columns: Any, moving: Any, y: Tensor, received: Any) -> TraceRow:
    known = {x.node: name for name, x in moving}
    if n in known:
        role, formula_text = "input", known[n]
    elif n.op is None:
        role, formula_text = "constant", "a tensor from outside"
    else:
        role = "output" if n is y.node else "step"
        formula_text = written(n, [o.name or _number(o.value) for o in _operands(n, names, values)])
    several = n.op is not None and bool(n.op.outputs)
    noted = kept_of(n)
    shape = None if noted is None or several else noted.shape
    if values[n] is not None:
        value = _cell(values[n])
    else:
        value = "its parts" if several else f"{shape_text(shape)} not kept" if shape else "not kept"
    tangents = tuple(_cell(np.asarray(c[n])) for c in columns)
    source, adjoint = _adjoint(n, names, values, y, received) if received is not None else ("", "")
    if several and received is not None:
        source, adjoint = "its parts", ""
    return TraceRow(names[n], formula_text, value, tangents, source, adjoint, role, _local(n, names, values))


def _cell(value: Any) -> str:
    """A number or a small array; of a large one the shape and a summary."""
    text_ = array_text(value)
    return f"{shape_text(value.shape)} {text_}" if np.ndim(value) and "[" not in text_ else text_


def _local(n: Node, names: Any, values: Any) -> tuple[tuple[str, str, str], ...]:
    """The local derivatives of a step: for each input that moves, the formula and its number where it is one."""
    if n.op is None:
        return ()
    operands = _operands(n, names, values)
    with np.errstate(all="ignore"):
        known = Partials(n.op.base, operands, Operand(names[n], _plain(values[n])), getattr(n, "p", None))
        found = []
        for i, edge in enumerate(edges_of(n)):
            if edge is not None:
                slope = known.slope(i)
                number = "" if slope is None or np.ndim(slope) else _number(slope)
                found.append((operands[i].name, known.formula(i), number))
    return tuple(found)


def _still_held(n: Node, order: list[Node]) -> Any:
    """A value that was too large to be recorded, where a rule keeps it: its own, or that of an operation it went into."""
    if n.op is not None and not n.op.outputs and getattr(n, "y", None) is not None:
        return devices.to_numpy(n.y)
    for other in order:
        for letter, edge in zip("abc", edges_of(other) if other.op is not None else (), strict=False):
            if edge is n and getattr(other, letter, None) is not None and other.op.each is None:
                return devices.to_numpy(getattr(other, letter))
    return None


def _operands(n: Node, names: Any, values: Any) -> list[Operand]:
    """The inputs of a node as formulas name them."""
    known = kept_of(n)
    inputs = known.inputs if known is not None else ()
    edges = edges_of(n)
    found = []
    for i in range(max(len(edges), len(inputs))):
        e = edges[i] if i < len(edges) else None
        if e is not None:
            found.append(Operand(names[e], values[e], "" if e.op is None else e.op.name))
        else:
            value = inputs[i][1] if i < len(inputs) and inputs[i] is not None else None
            found.append(
                Operand("", None if value is None else np.asarray(getattr(value, "get", lambda v=value: v)()))
            )
    return found


def _number(value: Any) -> str:
    return "…" if value is None else array_text(np.asarray(value))


def _adjoint(n: Node, names: Any, values: Any, y: Tensor, all_received: Any) -> tuple[str, str]:
    """Where the adjoint comes from, as the textbooks write it, and its value."""
    received = all_received.get(_end(n), [])
    if n is y.node and not received:
        return "seed", _cell(np.ones(np.shape(values[n])))
    terms, numbers = [], []
    total: Any = 0
    for source, position, contribution in sorted(received, key=lambda r: r[0].seq):
        operands = _operands(source, names, values)
        output = Operand(names[source], values[source])
        partial = Partials(source.op, operands, output).formula(position) or "∂"
        partial = f"({partial})" if " " in partial or partial.startswith("−") else partial
        terms.append(f"w̄{names[source][1:]}·{partial}")
        numbers.append(contribution)
        total = total if contribution is None else total + contribution
    if not terms:
        return "not reached", "0"
    if len(terms) > TERMS:
        return f"{terms[0]} + … + {terms[-1]} ({len(terms):,} terms)", _total(total)
    text_ = " + ".join(terms)
    if len(terms) > 1 and all(c is not None and not np.ndim(c) for c in numbers):
        text_ += " = " + " + ".join(_number(c) for c in numbers)
    return text_, _total(total)


def _total(total: Any) -> str:
    return "0" if total is None else _cell(np.asarray(total))
