"""The journal: what happened to each tensor, for pictures and explanations.

While recording is on, every operation, write and way out of the graph (item, numpy, detach) leaves an Event on the
tensor it concerns, and the newest few thousand stand in `LOG` in order of time.  An event knows the events of its
inputs, so the history of a value can be followed where no graph was recorded.  It keeps values of at most 64
elements, never a large array, and never a tensor.

Operations run thousands of times a second, so what is noted at once is a Record, a plain list of what cannot be found
out later; the Event is made of it when somebody asks, once, and stands in the record from then on.
"""

import sys
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from . import modes, places, scopes
from .device import CPU, device_of
from .events import (
    AT,
    CODE,
    DEPTH,
    DTYPE,
    EVENT,
    INPUTS,
    KIND,
    LOG,
    OP,
    RESULT,
    SHAPE,
    TRACKED,
    VALUE,
    Plain,
    Record,
    event_of,
)  # fmt: skip
from .events import Event as Event
from .graph import SMALL, small
from .modes import departed
from .modes import of_thread as thread
from .places import mine, user_frame
from .scopes import opened
from .sharing import View
from .tensor import Parameter, Tensor
from .trail import newest_walk

ndarray, generic, float32, float64 = np.ndarray, np.generic, np.float32, np.float64
DEEPEST = 50  # an event knows so many generations before it: a loop's history must not grow for ever
frame_of = sys._getframe
RECORDS = LOG.records
log = RECORDS.append


def meet(t: Tensor) -> Record:
    """The record of a tensor that is older than the recording."""
    r = t.record = _record("met", "", t, (), None)
    return r


def record_of(t: Tensor) -> Record:
    """What last happened to the tensor."""
    try:
        return t.record  # type: ignore[no-any-return]
    except AttributeError:
        return meet(t)


def cut(r: Record) -> Record:
    """A copy without the inputs."""
    r = r.copy()
    r[EVENT], r[INPUTS], r[DEPTH] = None, (), 0
    return r


def with_value(r: Record, raw: Any) -> Record:
    """A copy with another value: it was changed through another name, or by NumPy."""
    r = r.copy()
    r[EVENT], r[VALUE] = None, raw
    return r


def keep(raw: Any) -> Any:
    """What a record keeps of a value."""
    if raw.__class__ is ndarray:
        return raw.tobytes() if raw.size <= SMALL else None
    return small(raw)


def operated(op: Any, p: Any, xs: Any, out: Any, happened: str = "operation") -> None:
    """Recording is on, and `op` has just given `out` (a Tensor, or a tuple of them) for `xs`."""
    frame: Any = frame_of(2)  # the caller is ours
    code = frame.f_code
    if code is not mine[0]:
        frame = user_frame(frame)
        code = frame.f_code
    inputs = []
    depth = 0
    for x in xs:
        kind = x.__class__
        if kind is Tensor or kind is Parameter or kind is not float and isinstance(x, Tensor):
            try:
                r = x.record
            except AttributeError:
                r = meet(x)
            deep = r[13]
            if deep >= depth:
                if deep >= DEEPEST:
                    r = cut(r)
                    deep = 0
                depth = deep + 1
            if r[8].__class__ is bytes and x is not out:
                known = x.raw.tobytes()
                if known != r[8] and x.raw.__class__ is ndarray:
                    r = with_value(r, known)
            n = x.node
            if n is not None and n.op is None:  # a leaf: pictures show the value with which it was used last
                n.spot = r
            inputs.append(r)
        elif kind is ndarray:
            inputs.append(small(x))
        elif kind is list:
            inputs.append(Plain(x))
        else:
            inputs.append(x)
    off = None
    if departed[0] and not thread.grad:
        off = thread.off_at or True
    if out.__class__ is tuple:
        _several(op, p, code, frame.f_lasti, inputs, out, off, depth)
        return
    raw = out.raw
    kind = raw.__class__
    device = CPU
    if kind is ndarray:
        value = raw.tobytes() if raw.size <= 64 else None
    elif kind is float32 or kind is float64:
        value = raw
    else:
        value, device = small(raw), device_of(raw)
    n = out.node
    r = out.record = [code, frame.f_lasti, None, happened, op, p, inputs, ref(out), value, raw.shape, raw.dtype, device,
                      off, depth, scopes.scopes() if opened[0] else (), n is not None, None]  # fmt: skip
    log(r)
    if n is not None and n.op is not None:
        n.spot = r


def _several(op: Any, p: Any, code: Any, at: int, inputs: Any, outs: Any, off: Any, depth: int) -> None:
    """The same for an operation with several results: one record of its node, and one of each result."""
    names = scopes.scopes()
    whole = [code, at, None, "operation", op, p, inputs, tuple([ref(t) for t in outs]), [small(t.raw) for t in outs],
             [t.raw.shape for t in outs], outs[0].raw.dtype if outs else None,
             device_of(outs[0].raw) if outs else CPU, off, depth, names, False, None]  # fmt: skip
    log(whole)
    for t in outs:
        r = t.record = whole.copy()
        r[RESULT], r[VALUE], r[SHAPE], r[DTYPE] = ref(t), keep(t.raw), t.raw.shape, t.raw.dtype
        n = t.node
        r[TRACKED] = n is not None
        if n is not None and n.op is not None:
            n.spot = r
            if n.op.picks and n.left is not None:
                n.left.spot = whole


def marked(op: Any, p: Any, xs: Any, out: Any, happened: str = "") -> None:
    """Only provenance is asked for: leave the user's line on the node."""
    frame = user_frame(frame_of(2))
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


def keeps() -> bool:
    """Does this thread record?  (Where all do, nobody asks further.)"""
    return modes.watch[0] is operated or modes.keeps()


# ------------------------------------------------------------------------------------------ all that is no operation
def note(
    kind: str, word: str, t: Tensor, inputs: tuple[Any, ...] = (), p: Any = None, *, on: bool = True
) -> None:
    """Note that something happened to t (`on`: as the newest fact about it); inputs: records."""
    if keeps():
        r = _record(kind, word, t, tuple([shallow(x) for x in inputs]), places.here(), p)
        log(r)
        if on:
            t.record = r


def cleared(t: Tensor, g: "Tensor | None") -> None:
    """t's `.grad` was dropped, or replaced by g."""
    if not keeps():
        return
    frame: Any = frame_of(2)
    code = frame.f_code
    if code is not mine[0]:
        frame = user_frame(frame)
        code = frame.f_code
    try:
        known = t.record
    except AttributeError:
        known = meet(t)
    given = () if g is None else (shallow(record_of(g)),)
    off = None
    if departed[0] and not thread.grad:
        off = thread.off_at or True
    log([code, frame.f_lasti, None, "cleared", "grad", None, given, ref(t), known[8], known[9], known[10], known[11],
         off, given[0][13] + 1 if given else 0, (), t.node is not None, None])  # fmt: skip


def created(word: str, t: Tensor, data: Any = None) -> None:
    """t was made of data by the function `word`; its inputs are the tensors among the data, which only gave numbers.

    p is "numpy" where the data came from there, and the number where that was a float.
    """
    if not keeps():
        return
    first = data[0] if data.__class__ is list and data else data
    source: Any = "numpy" if isinstance(first, (ndarray, generic)) else None
    if first.__class__ is float:
        source = first
    inputs = tuple([shallow(record_of(x)) for x in _tensors_in(data)])
    spot = places.beyond("copy") if word == "deepcopy" else places.here()
    r = t.record = _record("made", word, t, inputs, spot, source)
    log(r)


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
    if not keeps():
        return
    before = shallow(record_of(t))
    r = _record("left", word, t if out is None else out, (before,), places.here(), ref(t))
    log(r)
    if out is not None:
        out.record = r


class Start(NamedTuple):
    """How a backward was started: `inputs=` (weak references, or None) and create_graph."""

    create_graph: bool
    only: tuple[Any, ...] | None


def started(word: str, roots: Any, create_graph: bool, only: Any = None) -> None:
    """A backward (or autograd.grad) starts at the roots; `only` are the tensors whose gradients are asked for."""
    if keeps() and roots and all(isinstance(t, Tensor) for t in roots):
        if only is not None:
            asked = only if only.__class__ in (list, tuple) else [only]
            only = tuple([ref(t) for t in asked if isinstance(t, Tensor)])
        known = tuple([record_of(t) for t in roots])
        note("backward", word, roots[0], known, Start(bool(create_graph), only), on=False)


def start() -> Any:
    """The record of the backward that has just been started; None if that is not the newest one."""
    r = RECORDS[-1] if RECORDS else None
    return r if r is not None and r[KIND] == "backward" else None


def shallow(r: Any) -> Any:
    """An input's record; one that reaches back far, without its own inputs."""
    return cut(r) if r.__class__ is list and r[DEPTH] >= DEEPEST else r


def _record(kind: str, word: str, t: Tensor, inputs: Any, spot: Any, p: Any = None) -> Record:
    raw = t.raw
    depth = 0
    for r in inputs:
        if r.__class__ is list and r[DEPTH] >= depth:
            depth = r[DEPTH] + 1
    off = None
    if departed[0] and not thread.grad:
        off = thread.off_at or True
    code, at = spot or (None, None)
    return [code, at, None, kind, word, p, inputs, ref(t), keep(raw), raw.shape, raw.dtype,
            CPU if raw.__class__ is ndarray else device_of(raw), off, depth, (),
            bool(p) if kind == "asked" else t.node is not None, None]  # fmt: skip


def wrote(t: Tensor) -> None:
    """t's memory is about to change in place.  (Who changes it adds the operation with `rewritten` or `assigned`.)"""
    if keeps():
        before = shallow(record_of(t))
        r = t.record = _record("write", "", t, (before,), places.here())
        r[VALUE] = None
        log(r)


def rewritten(t: Tensor, result: Tensor) -> None:
    """t has taken the value of `result` in place: what is known of that holds for t."""
    try:
        made = result.record
    except AttributeError:
        return
    known = getattr(t, "record", None)
    r = t.record = made.copy()
    r[EVENT], r[KIND], r[RESULT], r[VALUE], r[TRACKED] = (
        None, "write", ref(t), keep(t.raw), t.node is not None,
    )  # fmt: skip
    r[SHAPE], r[DTYPE] = t.raw.shape, t.raw.dtype
    n = t.node
    if n is not None and n.op is not None and getattr(n, "spot", None) is made:
        n.spot = r
    take_back(known, made)
    log(r)
    family = t.family
    if family.__class__ is View:
        part_written(family.base, r)


def part_written(base: Tensor, r: Record) -> None:
    """A view of the base was changed in place: that is the newest fact about the base too (the log has it already)."""
    name = r[OP] if isinstance(r[OP], str) else r[OP].name
    known = _record("write", name, base, (shallow(record_of(base)), shallow(r)), (r[CODE], r[AT]))
    base.record = known
    settle(base, known)


def settle(t: Tensor, r: Record) -> None:
    """t's node came of what the record tells."""
    n = t.node
    if n is not None and n.op is not None and getattr(n, "spot", None).__class__ is not list:
        n.spot = r


def assigned(t: Tensor, index: Any, value: Any, word: str = "setitem") -> None:
    """`t[index] = value` has been carried out, or a write of which only `word` is known."""
    if not keeps():
        return
    before = record_of(t)
    if word != "setitem" and before[OP] != "":
        return  # it is known already
    spot = code, at = places.here() or (None, None)
    while (
        RECORDS and RECORDS[-1][AT] == at and RECORDS[-1][CODE] == code and RECORDS[-1][OP] != word
    ):  # its steps
        RECORDS.pop()
    if before[KIND] == "write" and before[OP] == "":
        before = before[INPUTS][0]
    given = (
        shallow(record_of(value)) if isinstance(value, Tensor)
        else Plain(value) if value.__class__ is list else value
    )  # fmt: skip
    index = index if index.__class__ is tuple else (index,)
    plain = all(i is None or i is Ellipsis or i.__class__ in (int, slice) for i in index)
    r = t.record = _record("write", word, t, (shallow(before), given), spot, index if plain else None)
    log(r)
    settle(t, r)
    if t.family.__class__ is View:
        part_written(t.family.base, r)


def take_back(*records: Any) -> None:
    """Take these out of the log if they are the newest: something that says the same, and more, comes instead."""
    while RECORDS and any(RECORDS[-1] is r for r in records):
        RECORDS.pop()


def deposited(leaves: list[tuple[Tensor, bool]]) -> None:
    """The leaves have received sums in their `.grad` (True: they had one before).

    The gradient knows whose it is, and (p) of which walk.  The log has one record for all; see `Log.events`.
    """
    if not keeps():
        return
    began = start()
    code, at = (began[CODE], began[AT]) if began is not None else places.here() or (None, None)
    walk = newest_walk()
    told = []
    for t, again in leaves:
        g = t._grad
        if g is None:
            continue
        try:
            known = t.record
        except AttributeError:
            known = meet(t)
        if known[13] >= DEEPEST:
            known = cut(known)
        raw = g.raw
        value = raw if raw.__class__ is float32 else keep(raw)
        r = g.record = [code, at, None, "made", "grad", walk, (known,), ref(g), value, raw.shape, raw.dtype,
                        known[11], None, known[13] + 1, (), g.node is not None, None]  # fmt: skip
        told.append((r, again))
    if told:
        log([code, at, None, "gradients", told])


# What is imported earlier (tensors, their creation, in-place forms) reaches these through modes.
modes.watchers.update(
    operated=operated,
    marked=marked,
    asking=watched_here,
    note=note,
    wrote=wrote,
    cleared=cleared,
    created=created,
    started=started,
    start=start,
    rewritten=rewritten,
    assigned=assigned,
    deposited=deposited,
    event_of=event_of,
    record_of=record_of,
    left=left,
)
