"""The journal: what happened to each tensor, for pictures and explanations.

While recording is on, every operation, write and way out of the graph (item, numpy, detach) leaves an Event on the
tensor it concerns, and the newest few thousand stand in `LOG` in order of time.  An event knows the events of its
inputs, so the history of a value can be followed where no graph was recorded.  It keeps values of at most 64
elements, never a large array, and never a tensor.

Operations run thousands of times a second, so an event is a tuple, and the user's line a pair of code object and
instruction (see places.py).
"""

import sys
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from . import modes, places, scopes
from .device import CPU, device_of
from .graph import PASSED, Node, Notes, new, small
from .sharing import View
from .tensor import Parameter, Tensor

ndarray, generic, float32, float64 = np.ndarray, np.generic, np.float32, np.float64
DEEPEST = 50  # an event knows so many generations before it: a loop's history must not grow for ever
MINE = places.MARK
frame_of = sys._getframe
make = tuple.__new__


class Event(NamedTuple):
    """One thing that happened.

    kind: "operation"; "write" (memory changed in place); "made" (a tensor made of data); "met" (an older tensor, first
    seen now); "left" (values taken out of the graph: item, tolist, numpy, detach, data); "asked" (requires_grad
    switched); "backward" (one was started); "gradient" (a leaf's `.grad` received a sum); "cleared" (`.grad` was
    dropped, or replaced by the input).
    op, p: the row of the table and its parameters; for other kinds a word for the function in `op`.  spot: the user's
    instruction.  inputs: the events of the inputs, and what was no tensor as it is.  result: weak reference to the
    tensor (a tuple of them for several).  value, shape, dtype, device: of the result; value is None for more than 64
    elements.  off: where gradients were switched off (True if not known), None where they were on.  depth: how many
    generations the inputs reach back.  names: the open scopes.  tracked: did the result require grad?
    """

    kind: str
    op: Any
    p: Any
    spot: Any
    inputs: tuple[Any, ...]
    result: Any
    value: Any
    shape: Any
    dtype: Any
    device: Any
    off: Any = None
    depth: int = 0
    names: tuple[str, ...] = ()
    tracked: bool = False

    @property
    def place(self) -> "places.Place | None":
        """The user's line."""
        return places.place_of(self.spot)

    @property
    def name(self) -> str:
        """The operation as users call it."""
        return self.op if isinstance(self.op, str) else self.op.name if self.op is not None else ""

    def given(self) -> tuple[tuple[Any, Any, Any], ...]:
        """Of each input: (weak reference to the tensor, or None for a number; its value if small; its shape)."""
        return tuple(
            (x.result, x.value, x.shape) if x.__class__ is Event else (None, x, np.shape(x))
            for x in self.inputs
        )

    def tensor(self) -> Any:
        """The tensor, while somebody still holds it."""
        return None if self.result is None or self.result.__class__ is tuple else self.result()


LOG: deque[Event] = deque(maxlen=4096)
log = LOG.append


def operated(op: Any, p: Any, xs: Any, out: Any, happened: str = "operation") -> None:
    """Recording is on, and `op` has just given `out` (a Tensor, or a tuple of them) for `xs`."""
    frame: Any = frame_of(2)  # the caller is ours
    while MINE in frame.f_globals and frame.f_back is not None:
        frame = frame.f_back
    spot = frame.f_code, frame.f_lasti
    inputs, depth = [], 0
    for x in xs:
        kind = x.__class__
        if kind is Tensor or kind is Parameter or isinstance(x, Tensor):
            try:
                e = x.fact
            except AttributeError:
                e = met(x)
            if e.depth >= depth:
                if e.depth >= DEEPEST:
                    e = e._replace(inputs=(), depth=0)
                depth = e.depth + 1
            known, raw = e.value, x.raw
            if known is not None and raw.__class__ is ndarray and x is not out:
                if known.tobytes() != raw.tobytes():  # changed through another name, or by NumPy
                    e = e._replace(value=raw.copy())
            inputs.append(e)
            n = x.node
            if n is not None and n.op is None:  # a leaf: pictures show the value with which it was used last
                if n.notes is None:
                    n.notes = new(Notes)
                n.notes.event = e
        elif kind is ndarray:
            inputs.append(small(x))
        else:
            inputs.append(x)
    off = None
    if modes.departed[0] and not modes.is_grad_enabled():
        off = modes.switched_off_at() or True
    names = scopes.scopes() if scopes.opened[0] else ()
    if out.__class__ is tuple:
        _several(op, p, spot, tuple(inputs), out, off, depth, names)
        return
    raw = out.raw
    kind = raw.__class__
    if kind is ndarray:
        value, device = raw.copy() if raw.size <= 64 else None, CPU
    elif kind is float32 or kind is float64:
        value, device = raw, CPU
    else:
        value, device = small(raw), device_of(raw)
    result = weakref.ref(out)
    event = make(
        Event,
        (
            happened,
            op,
            p,
            spot,
            tuple(inputs),
            result,
            value,
            raw.shape,
            raw.dtype,
            device,
            off,
            depth,
            names,
            (n := out.node) is not None,
        ),
    )
    out.fact = event
    log(event)
    if n is not None and n.op is not None:
        n.spot = spot
        if n.notes is None:
            n.notes = new(Notes)
        n.notes.event = event


def _several(op: Any, p: Any, spot: Any, inputs: Any, outs: Any, off: Any, depth: int, names: Any) -> None:
    """The same for an operation with several results: one event of its node, and one of each result."""
    event = Event(
        "operation", op, p, spot, inputs, tuple([weakref.ref(t) for t in outs]), [small(t.raw) for t in outs],
        [t.raw.shape for t in outs], outs[0].raw.dtype if outs else None, device_of(outs[0].raw) if outs else CPU,
        off, depth, names,
    )  # fmt: skip
    log(event)
    whole: Node | None = None
    for t in outs:
        t.fact = event._replace(
            result=weakref.ref(t), value=small(t.raw), shape=t.raw.shape, dtype=t.raw.dtype,
            tracked=t.node is not None,
        )  # fmt: skip
        n = t.node
        if n is not None and n.op is not None:
            n.spot = spot
            n.notes = take = new(Notes)
            take.event = t.fact
            whole = n.left if n.op.picks else None
    if whole is not None:
        whole.spot = spot
        if whole.notes is None:
            whole.notes = new(Notes)
        whole.notes.event = event


def line() -> Any:
    """The user's line, for the hot path: what `marked` leaves on a node.

    Two frames up is the user's own, unless the operator was called by a function of ours.
    """
    frame: Any = frame_of(2)
    while MINE in frame.f_globals and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def marked(op: Any, p: Any, xs: Any, out: Any, happened: str = "") -> None:
    """Only provenance is asked for: leave the user's line on the node."""
    frame: Any = frame_of(2)
    while MINE in frame.f_globals and frame.f_back is not None:
        frame = frame.f_back
    if out.__class__ is not tuple:
        n = out.node
        if n is not None:
            n.spot = frame.f_code, frame.f_lasti
        return
    for t in out:
        n = t.node
        if n is not None:
            n.spot = frame.f_code, frame.f_lasti
            if n.op.picks:
                n.left.spot = n.spot


def watched_here(op: Any, p: Any, xs: Any, out: Any, happened: str = "operation") -> None:
    """Recording differs between threads: ask which this one wants.  (One frame more, so it hands over by itself.)"""
    if modes.keeps():
        operated(op, p, xs, out, happened)
    elif modes.provenance():
        marked(op, p, xs, out)


# ------------------------------------------------------------------------------------------ all that is no operation
def met(t: Tensor) -> Event:
    """The event of a tensor that is older than the recording."""
    event: Event = _event("met", "", t, (), None)
    t.fact = event
    return event


def fact_of(t: Tensor) -> Event:
    """What last happened to the tensor."""
    try:
        return t.fact  # type: ignore[no-any-return]
    except AttributeError:
        return met(t)


def note(
    kind: str, word: str, t: Tensor, inputs: tuple[Any, ...] = (), p: Any = None, *, on: bool = True
) -> None:
    """Note that something happened to t (`on`: as the newest fact about it)."""
    if not modes.keeps():
        return
    event = _event(kind, word, t, tuple([shallow(e) for e in inputs]), places.here(), p)
    log(event)
    if on:
        t.fact = event


def created(word: str, t: Tensor, data: Any = None) -> None:
    """t was made of data by the function `word`; its inputs are the tensors among the data, which only gave numbers.

    p is "numpy" where the data came from there, and the number where that was a float.
    """
    if not modes.keeps():
        return
    first = data[0] if data.__class__ is list and data else data
    source: Any = "numpy" if isinstance(first, (ndarray, generic)) else None
    if first.__class__ is float:
        source = first
    inputs = tuple([shallow(fact_of(x)) for x in _tensors_in(data)])
    spot = places.beyond("copy") if word == "deepcopy" else places.here()
    event = _event("made", word, t, inputs, spot, source)
    log(event)
    t.fact = event


def _tensors_in(data: Any, most: int = 64) -> list[Tensor]:
    """The tensors in nested sequences, the first few."""
    found: list[Tensor] = []
    waiting = [data]
    while waiting and len(found) < most:
        x = waiting.pop(0)
        if isinstance(x, Tensor):
            found.append(x)
        elif x.__class__ in (list, tuple):
            waiting += x[:most]
    return found


def left(word: str, t: Tensor, out: "Tensor | None" = None) -> None:
    """Values of t leave the graph: as Python numbers, as a NumPy array, or as a tensor without history."""
    if not modes.keeps():
        return
    before = shallow(fact_of(t))
    event = _event("left", word, t if out is None else out, (before,), places.here(), weakref.ref(t))
    log(event)
    if out is not None:
        out.fact = event


class Start(NamedTuple):
    """How a backward was started: `inputs=` (weak references, or None) and create_graph."""

    create_graph: bool
    only: tuple[Any, ...] | None


def started(word: str, roots: Any, create_graph: bool, only: Any = None) -> None:
    """A backward (or autograd.grad) starts at the roots; `only` are the tensors whose gradients are asked for."""
    if modes.keeps() and roots and all(isinstance(t, Tensor) for t in roots):
        if only is not None:
            asked = only if only.__class__ in (list, tuple) else [only]
            only = tuple([weakref.ref(t) for t in asked if isinstance(t, Tensor)])
        facts = tuple([fact_of(t) for t in roots])
        note("backward", word, roots[0], facts, Start(bool(create_graph), only), on=False)


def shallow(e: Any) -> Any:
    """An input's event; one that reaches back far, without its own inputs."""
    return e._replace(inputs=(), depth=0) if e.__class__ is Event and e.depth >= DEEPEST else e


def _event(kind: str, word: str, t: Tensor, inputs: Any, spot: Any, p: Any = None) -> Event:
    raw = t.raw
    depth = 1 + max((e.depth for e in inputs if e.__class__ is Event), default=-1)
    off = None
    if modes.departed[0] and not modes.is_grad_enabled():
        off = modes.switched_off_at() or True
    return Event(
        kind,
        word,
        p,
        spot,
        inputs,
        weakref.ref(t),
        small(raw),
        raw.shape,
        raw.dtype,
        device_of(raw),
        off,
        depth,
        (),
        bool(p) if kind == "asked" else t.node is not None,
    )


def wrote(t: Tensor) -> None:
    """t's memory is about to change in place.  (Who changes it adds the operation with `rewritten` or `assigned`.)"""
    if modes.keeps():
        before = shallow(fact_of(t))
        event = _event("write", "", t, (before,), places.here())._replace(value=None)
        log(event)
        t.fact = event


def rewritten(t: Tensor, result: Tensor) -> None:
    """t has taken the value of `result` in place: what is known of that holds for t."""
    try:
        e = result.fact
    except AttributeError:
        return
    known = getattr(t, "fact", None)
    event = e._replace(kind="write", result=weakref.ref(t), value=small(t.raw), tracked=t.node is not None)
    t.fact = event
    n = t.node
    if n is not None and n.op is not None and n.notes is not None and n.notes.event is e:
        n.notes.event = event
    take_back(known, e)
    log(event)
    family = t.family
    if family.__class__ is View:
        part_written(family.base, event)


def part_written(base: Tensor, event: Event) -> None:
    """A view of the base was changed in place: that is the newest fact about the base too (the log has it already)."""
    known = _event("write", event.name, base, (shallow(fact_of(base)), shallow(event)), event.spot)
    base.fact = known
    settle(base, known)


def settle(t: Tensor, event: Event) -> None:
    """t's node came of what the event tells."""
    n = t.node
    if n is not None and n.op is not None:
        n.spot = event.spot
        if n.notes is None:
            n.notes = new(Notes)
        if n.notes.event is None:
            n.notes.event = event


def assigned(t: Tensor, index: Any, value: Any, word: str = "setitem") -> None:
    """`t[index] = value` has been carried out, or a write of which only `word` is known."""
    if not modes.keeps():
        return
    before = fact_of(t)
    if word != "setitem" and before.op != "":
        return  # it is known already
    spot = places.here()
    while LOG and LOG[-1].spot == spot and LOG[-1].op != word:  # its steps
        LOG.pop()
    if before.kind == "write" and before.op == "":
        before = before.inputs[0]
    given = shallow(fact_of(value)) if isinstance(value, Tensor) else value
    index = index if index.__class__ is tuple else (index,)
    plain = all(i is None or i is Ellipsis or i.__class__ in (int, slice) for i in index)
    event = _event("write", word, t, (shallow(before), given), spot, index if plain else None)
    log(event)
    t.fact = event
    settle(t, event)
    if t.family.__class__ is View:
        part_written(t.family.base, event)


def take_back(*events: Any) -> None:
    """Take these out of the log if they are the newest: something that says the same, and more, comes instead."""
    while LOG and any(LOG[-1] is e for e in events):
        LOG.pop()


def graded(t: Tensor) -> None:
    """t's `.grad` has received a sum: the gradient knows whose it is, and (p) of which walk."""
    g = t._grad_or_none()
    if g is not None and modes.keeps():
        walk = PASSED[-1].walk if PASSED else 0
        g.fact = _event("made", "grad", g, (shallow(fact_of(t)),), places.here(), walk)


# What is imported earlier (tensors, their creation, in-place forms) reaches these through modes.
modes.watchers.update(
    operated=operated,
    marked=marked,
    line=line,
    asking=watched_here,
    note=note,
    wrote=wrote,
    created=created,
    started=started,
    rewritten=rewritten,
    assigned=assigned,
    graded=graded,
    fact_of=fact_of,
    left=left,
)
