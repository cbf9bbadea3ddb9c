"""`steps(y)`: backward as frames, one for each operation that it takes.

Each frame says which node is taken, by which rule, what its inputs get, how the adjoints stand then, and who still
waits for whom. The numbers come from a walk by the engine's rules (see walking.py), so they are those that
`backward()` adds to `.grad`; the walk itself changes nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core.backward import first_cotangent
from autodiff_kernel.core.graph import Node, as_edge, edges_of
from autodiff_kernel.core.tensor import Tensor

from .build import called, kept, numbered, peek, reachable
from .formulas import written
from .model import counted
from .names import Names
from .partials import Operand, Partials
from .result import Result
from .steps_show import steps_html, steps_text
from .style import array_text, number, shape_text
from .walking import Gift, Moment, Walk, shown

LIMIT = 40  # frames that are shown at once
_ROWS = 12  # adjoints, and inputs, that a frame lists
_NAME, _FORMULA = 40, 80  # characters
_OWN_G = re.compile(r"\bg\b|gᵀ")


@dataclass(frozen=True)
class Gain:
    """What one input gets: its name, the rule in words, the number, and the sum that it makes with what was there."""

    to: str
    rule: str
    number: str
    total: str = ""


@dataclass(frozen=True)
class Standing:
    """How one adjoint stands after a frame. state: 'taken', 'next', 'complete', or whom it waits for."""

    name: str
    adjoint: str
    state: str


@dataclass(frozen=True)
class Frame:
    """One operation of a backward.

    number: counts from 1. name, formula: the value and how it was computed. node: PyTorch's name of the node. line:
    where in the user's code. words: what the operation does. adjoint: that of the value (g in the rules), now complete.
    gains: what its inputs get. standings: all adjoints that matter now. more, more_gains: how many of them are not
    listed.
    """

    number: int
    name: str
    formula: str
    node: str
    line: str
    words: str
    adjoint: str
    gains: tuple[Gain, ...]
    standings: tuple[Standing, ...]
    more: int = 0
    more_gains: int = 0


@dataclass(frozen=True)
class StepsView:
    """A backward as frames. start: the seed in a sentence. count: all frames there are. strip: for a handout, all open.

    results: the adjoints of the leaves at the end, () where the frames shown don't reach it.
    """

    title: str
    start: str
    frames: tuple[Frame, ...]
    count: int
    results: tuple[tuple[str, str], ...] = ()
    strip: bool = False
    left_out: str = ""
    notes: tuple[str, ...] = ()
    alt: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def steps(
    y: Any,
    gradient: Any = None,
    *,
    namespace: Mapping[str, Any] | None = None,
    first: int = 1,
    last: int | None = None,
    limit: int = LIMIT,
    strip: bool = False,
    title: str = "",
) -> Result:
    """Backward from `y` as frames: node taken, rule, adjoints so far, who waits for whom.

    y: a tensor with a graph. gradient: the seed, a tensor of y's shape; ones for a single number. namespace: variables
    that give the values their names; the caller's own if None. first, last: which frames, counted from 1. limit: how
    many frames at most; what is left out is said. strip: all frames open side by side, for a handout.

    Nothing changes: no `.grad`, no freed graph, no hook runs. After a backward that freed the graph the values come
    from the record, where recording was on and they are small.

    Raises RuntimeError for a tensor without a graph, for one with several elements and no gradient, and for a freed
    graph without a record; TypeError for what is no tensor; ValueError for frames that don't exist.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> steps(y, namespace={"x": x, "y": y})
    Backward from y: 1 operation
    Start: the adjoint of y is 1, the seed.
    <BLANKLINE>
    1. MulBackward0 takes y = x·x
       g = 1, the adjoint of y. The product of two tensors, element by element.
       x gets g · x = 1 · 3 = 3
       x gets g · x = 1 · 3 = 3, in all 3 + 3 = 6
         y   1   taken
         x   6   complete
    <BLANKLINE>
    Result: x.grad gets 6
    """
    if namespace is None:
        caller = sys._getframe(1)
        namespace = {**caller.f_globals, **caller.f_locals}
    if not isinstance(y, Tensor):
        raise TypeError(f"steps() walks back from a tensor; got {type(y).__name__}")
    for option, value in (("first", first), ("last", last), ("limit", limit)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"{option}={value!r}: frames are counted from 1")
    names = Names(namespace)
    if y.node is None:
        from .graph import _no_graph

        raise _no_graph(y, names.of_tensor(y) or "the tensor")
    teller = _Teller(y, first_cotangent(y, gradient, 0, False), names)
    if last is not None and last < first:
        raise ValueError(f"first={first}, last={last}: the last frame comes before the first")
    if first > max(1, teller.count):
        raise ValueError(f"first={first}: this backward has {counted(teller.count, 'frame')}")
    view = teller.view(first, min(last or teller.count, first + limit - 1, teller.count), strip, title)
    return Result(view, text=steps_text, html=steps_html, alt=view.alt)


class _Teller:
    """Follows a walk and puts it into words."""

    def __init__(self, y: Tensor, seed: Any, names: Names) -> None:
        assert y.node is not None
        self.y, self.names = y, names
        root, output = as_edge(y.node)
        assert root is not None
        self.nodes = reachable([root])
        self.numbers = numbered(self.nodes) or {root: "w1"}
        self.walk = Walk((root, output), seed)
        self.count = sum(node.op is not None for node in self.nodes)
        self.few = len(self.nodes) <= _ROWS
        self.taken: set[Node] = set()
        self.root, self.output = root, output

    def view(self, first: int, last: int, strip: bool, title: str) -> StepsView:
        name = self.name(self.root, self.output)
        seed = self._text(self.walk.sums[self.root, self.output])
        frames = []
        for place, moment in enumerate(self.walk, 1):
            self.taken.add(moment.node)
            if place >= first:
                frames.append(self._frame(place, moment))
            if place >= last:
                break
        results = tuple(
            (self.name(node), self._text(self.walk.cotangent(node)))
            for node in self.nodes
            if node.op is None and last >= self.count
        )
        told = f"Backward from {name}: {counted(self.count, 'operation')}"
        alt = told + (
            "; " + ", ".join(f"{who}.grad gets {_line(what)}" for who, what in results[:4]) if results else ""
        )
        return StepsView(
            title or told,
            f"Start: the adjoint of {name} is {_line(seed)}, the seed.",
            tuple(frames),
            self.count,
            results[: 4 * _ROWS],
            strip,
            self._left_out(first, last),
            self._notes(),
            alt,
        )

    def _left_out(self, first: int, last: int) -> str:
        if first == 1 and last >= self.count:
            return ""
        shown = f"frame {first:,}" if first == last else f"frames {first:,} to {last:,}"
        return f"Of {counted(self.count, 'frame')} these are {shown}; first= and last= (%step --from, --to) show others."

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.walk.revived:
            notes.append(
                "An earlier backward has freed what the operations had saved; the values are those that were recorded."
            )
        hooked = [
            n
            for n in self.nodes
            if n.notes is not None and (n.notes.hooks or n.notes.before or n.notes.after)
        ]
        if hooked:
            which = ", ".join(self.name(n) for n in hooked[:4]) + (", …" if len(hooked) > 4 else "")
            notes.append(f"No hook runs here; in a real backward those of {which} may change the gradient.")
        return tuple(notes)

    # ------------------------------------------------------------------------------------------ one frame
    def _frame(self, number: int, moment: Moment) -> Frame:
        node = moment.node
        operands = self._operands(node)
        output = Operand(self.name(node), self._value(node))
        with np.errstate(all="ignore"):
            partials = Partials(node.op.base, operands, output, getattr(node, "p", None))
        place = node.place
        standings, more = self._standings(moment)
        own = node.op.base.whole is not None
        words = [_word(x) for x in operands]
        formula = f"{called(node)}({', '.join(words)})" if own else written(node, words)
        return Frame(
            number,
            self.title(node),
            _short(formula, _FORMULA),
            node.title,
            "" if place is None else place.number,
            "The function's own backward." if own else node.op.base.doc,
            _line(self._text(moment.cotangent)),
            self._gains(moment, partials),
            standings,
            more,
            max(0, len(moment.gifts) - _ROWS),
        )

    def _gains(self, moment: Moment, partials: Partials) -> tuple[Gain, ...]:
        """What each input gets, and the sum where it had something."""
        gains = []
        for gift in moment.gifts[:_ROWS]:
            rule = _rule(partials, gift.position) + self._numbers(moment, partials, gift)
            total = ""
            if gift.before is not None and gift.cotangent is not None:
                parts = [_line(self._text(x)) for x in (gift.before, gift.cotangent, gift.total)]
                total = f"{parts[0]} + {parts[1]} = {parts[2]}".replace("+ -", "− ")
                if len(total) > 60 or "min" in total:
                    total = parts[2]
            number = "nothing" if gift.cotangent is None else _line(self._text(gift.cotangent))
            gains.append(Gain(self.name(gift.target, gift.output), rule, number, total))
        return tuple(gains)

    def _numbers(self, moment: Moment, partials: Partials, gift: Gift) -> str:
        """The chain rule in single numbers: ' = 1 · 3'; of a broadcast input, that its gradient is a sum."""
        g, x = moment.cotangent, gift.cotangent
        if isinstance(g, list) or x is None:
            return ""
        if np.shape(x) != np.shape(g):
            return f" summed to shape {shape_text(np.shape(x))}" if partials.op.spreads else ""
        words = partials.formula(gift.position)
        with np.errstate(all="ignore"):
            slope = None if np.ndim(g) or words in ("1", "−1", "") else partials.slope(gift.position)
        if slope is None or _OWN_G.search(partials.op.partials[0]):
            return ""
        return f" = {number(shown(g))} · {_signed(number(slope))}".replace("-", "−")

    def _standings(self, moment: Moment) -> tuple[tuple[Standing, ...], int]:
        """The adjoints that matter now: all of a small graph; else those that wait, and those that just changed."""
        waits = self.walk.waits
        pending = {node for node, _ in self.walk.sums if node not in self.taken}
        upcoming = max((n for n in pending if n.op is not None), key=lambda n: n.seq, default=None)
        if self.few:
            listed = list(reversed(self.nodes))
        else:
            changed = dict.fromkeys([moment.node, *(gift.target for gift in moment.gifts)])
            others = sorted(pending - set(changed), key=lambda n: -n.seq)
            listed = [*changed, *others]
        rows = []
        for node in listed[:_ROWS]:
            if node in self.taken:
                state = "taken"
            elif waits[node]:
                givers = sorted(waits[node], key=lambda n: -n.seq)
                who = ", ".join(self.title(n) for n in givers[:3])
                state = f"waits for {who}" + (f" and {len(givers) - 3} more" if len(givers) > 3 else "")
            else:
                state = "next" if node is upcoming else "complete"
            rows.append(Standing(self.title(node), _line(self._text(self.walk.cotangent(node))), state))
        return tuple(rows), max(0, len(listed) - _ROWS)

    # ------------------------------------------------------------------------------------------ names and numbers
    def name(self, node: Node, output: int = 0) -> str:
        """The variable, else the number in the order of evaluation (as `%graph --numbers` writes it)."""
        found = self.names.of_node(node, output)
        if not found and node.op is None and node.variable is not None:
            found = self.names.of_tensor(node.variable)
        if not found and node.op is not None and node.op.outputs and len(node.sy) > 1:
            return f"{self.numbers[node]}[{output}]"
        return _short(found or self.numbers[node], _NAME)

    def title(self, node: Node) -> str:
        """All its outputs, where a node has several."""
        if node.op is None or not node.op.outputs:
            return self.name(node)
        held = [self.names.of_node(node, k) for k in range(len(node.sy))]
        return _short(", ".join(dict.fromkeys(filter(None, held))) or self.numbers[node], _NAME)

    def _text(self, x: Any) -> str:
        if x is None:
            return "nothing yet"
        if isinstance(x, list):
            return "; ".join("none" if part is None else array_text(part) for part in shown(x))
        value = shown(x)
        text = array_text(value, room=40)
        return f"{shape_text(value.shape)} {text}" if text.startswith("min ") else text

    def _value(self, node: Node, output: int = 0) -> Any:
        """A value as it was recorded, or that of the variable that holds it; None where it is not known."""
        if node.op is None:
            t = node.variable
        else:
            notes = kept(node)
            value = notes.value if notes is not None else None
            value = value[output] if isinstance(value, list) else value
            if value is not None:
                return peek(value)
            t = self.names.tensor(node, output)
        return None if t is None else peek(t.raw)

    def _operands(self, node: Node) -> list[Operand]:
        """The inputs as formulas name them: variables and steps by name, numbers as they are."""
        notes, edges = kept(node), edges_of(node)
        noted = notes.inputs if notes is not None else ()
        found = []
        for i in range(max(len(edges), len(noted))):
            end, output = as_edge(edges[i]) if i < len(edges) else (None, 0)
            if end is not None:
                op = "" if end.op is None else called(end)
                found.append(Operand(self.name(end, output), self._value(end, output), op))
                continue
            reference, value, _ = noted[i] if i < len(noted) and noted[i] is not None else (None, None, ())
            t = reference() if reference is not None else None
            if value is None and not noted and i < 3:  # not recorded: what the rules read
                value = getattr(node, "abc"[i], None)
            found.append(
                Operand(_short(self.names.of_tensor(t), _NAME) if t is not None else "", peek(value))
            )
        return found


def _rule(partials: Partials, position: int) -> str:
    """A rule in words: g times the local derivative, or the whole formula where g stands in it already."""
    words = partials.formula(position)
    if not words:
        return ""
    op = partials.op
    template = op.partials[min(position, len(op.partials) - 1)]
    if _OWN_G.search(template):
        return words
    if words == "1":
        return "g"
    if words in ("−1", "-1"):
        return "−g"
    return f"g · ({words})" if " " in words or words[0] in "−-" else f"g · {words}"


def _signed(text: str) -> str:
    return f"({text})" if text[0] == "-" else text


def _word(x: Operand) -> str:
    return x.name or ("…" if x.value is None else _line(array_text(np.asarray(x.value))))


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _line(text: str) -> str:
    """A matrix in one line."""
    return re.sub(r"(?<=\[) +| +(?= )", "", text.replace("\n", ""))
