"""A value that an operation saved for backward was changed where backward cannot see it: the gradient is wrong."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.core.trail import Passed

from . import rewrite
from .aliases import Lineage, lineage, overlap
from .answer import LESSONS, Answer, lines
from .history import before, fact
from .related import around, operations
from .values import Backwards, Values, at, rule
from .words import Names, atom, expression, label, number, operation
from .writes import changed_outside

LESSON = LESSONS["in-place"]


def changed_unseen(x: Any, names: Names) -> Iterator[Answer]:
    """A value that an operation saved for backward was changed through .data or NumPy: the gradient is wrong."""
    if not isinstance(x, Tensor):
        return
    writes, lent = all_writes(), _numpy_knows()
    if not writes.unseen and not lent:
        return
    values = Values()
    told: set[tuple[Any, ...]] = set()
    for e in operations(_concerning(x, names)):
        for saved, role in _saved_by(e):
            found = list(writes.unseen_by(e, saved)) if writes.unseen else []
            for w in found:
                key = (*e.spot, *w.spot)
                if key not in told and _does_harm(e, w, values, writes.position):
                    told.add(key)
                    yield _unseen(e, saved, role, w, values, names)
            if not found and lent:
                yield from _unseen_by_numpy(e, saved, role, values, names)


_newest: list[Any] = [None, None]  # the log, and its writes


def all_writes() -> "Writes":
    """The writes in the log.  (Each tensor that is asked about wants them, so they are kept.)"""
    log = journal.LOG.events()
    if _newest[0] is not log:
        _newest[:] = log, Writes()
    return _newest[1]  # type: ignore[no-any-return]


class Writes:
    """The writes in the log, by the memory that they changed."""

    def __init__(self) -> None:
        log = list(journal.LOG)
        self.position = {id(e): i for i, e in enumerate(log)}
        self.by_memory: dict[int, list[tuple[Event, Lineage]]] = {}
        self.unseen = False  # is there any that a version counter does not count?
        for w in log:
            if w.kind == "write":
                way = lineage(w.inputs[0] if w.op == "data" else w)
                self.unseen = self.unseen or way.unseen or w.op == "data"
                self.by_memory.setdefault(id(way.root.result), []).append((w, way))

    def unseen_by(self, e: Event, saved: Event) -> Iterator[Event]:
        """The writes after e that changed the memory of what it saved, and that no version counter tells of."""
        home = lineage(saved)
        start = self.position.get(id(e), -1)
        for w, way in self.by_memory.get(id(home.root.result), ()):
            if self.position[id(w)] <= start:
                continue
            if w.op == "data":  # other memory was put in the place of the saved tensor's
                if w.result is saved.result and lineage(w.inputs[1]).root.result is not home.root.result:
                    yield w
            elif way.unseen != home.unseen:
                a, b = w.tensor(), saved.tensor()
                if a is None or b is None or overlap(a.raw, b.raw):
                    yield w


def _numpy_knows() -> bool:
    """Does NumPy hold the memory of any recorded tensor?"""
    return any(e.op in ("numpy", "from_numpy") for e in journal.LOG.of_kind("left", "made"))


def _concerning(x: Tensor, names: Names) -> list[Event]:
    """The events around x; of a gradient, those around the tensor whose it is."""
    e = fact(x)
    if e is not None and e.kind == "made" and e.op in ("grad", "autograd.grad") and e.inputs:
        held = e.inputs[0].tensor()
        return around(held) if held is not None else []
    return around(x)


def _saved_by(e: Event) -> Iterator[tuple[Event, str]]:
    """What the node of an operation kept for backward: the event of the value, and what it is to the operation."""
    op = e.op
    if not e.tracked or op.outputs:
        return
    inputs = [x if x.__class__ is Event else None for x in e.inputs]
    if op.each is not None:
        if "x" in op.reads[0]:
            yield from ((x, "its input") for x in inputs if x is not None)
        if "y" in op.reads[0]:
            yield e, "its result"
        return
    bits = sum(1 << i for i, x in enumerate(inputs[:3]) if x is not None and x.tracked)
    *keep, keep_y = op.keeps[bits]
    for x, kept in zip(inputs, keep):
        if kept and x is not None:
            yield x, "its input"
    if keep_y:
        yield e, "its result"


def _does_harm(e: Event, w: Event, values: Values, position: dict[int, int]) -> bool:
    """Was (or will be) the saved value read after the write?  Where the walk is recorded, did it give another gradient?"""
    steps = [s for s in Backwards(values).steps if s.event is e]
    verdicts = [v for v in (_is_wrong(s, values) for s in steps) if v is not None]
    if verdicts:
        return any(verdicts)
    when = position.get(id(w), -1)
    walks = [position[id(b)] for b in list(journal.LOG.of_kind("backward")) if _walks(b, e)]
    return not walks or max(walks) > when


def _walks(b: Event, e: Event) -> bool:
    roots = [x for x in b.inputs if x.__class__ is Event]
    return any(x is e or x.result is e.result and x.spot == e.spot for root in roots for x in before(root))


def _is_wrong(s: Passed, values: Values) -> bool | None:
    """Does the recorded value of what was saved give another gradient than the walk got?"""
    right = right_gradient(s, values)
    if right is None or s.gradient is None or right.shape != np.shape(s.gradient):
        return None
    return not np.allclose(right, s.gradient, rtol=1e-3, atol=1e-6, equal_nan=True)


def right_gradient(s: Passed, values: Values) -> Any:
    """What the rule gives for the values at the time of the operation."""
    if s.cotangent is None or not isinstance(s.event.op, Op):
        return None
    xs, y = values.inputs(s.event), s.event.value
    if xs is None or y is None:
        return None
    return rule(s.event, s.number, np.asarray(s.cotangent), xs, np.asarray(y))


def _unseen(e: Event, saved: Event, role: str, w: Event, values: Values, names: Names) -> Answer:
    writer = w.place.text if w.place is not None else operation(w)
    told = (
        f"{writer} changed that memory through .data, which keeps no count of writes: backward cannot notice "
    )
    told += "(a write through detach() would have raised an error)"
    return Answer(
        "saved value changed unseen", f"{_verdict(e, values)}: {_saving(e, saved, role, names)}, and {told}.",
        lines(("saved in", e), ("changed in", w)), f"{_on_a_copy(w, names)}  # change a copy", LESSON,
        about=tuple(t for t in (e.tensor(),) if t is not None),
    )  # fmt: skip


def _saving(e: Event, saved: Event, role: str, names: Names) -> str:
    kept = role if role == "its result" else f"{role} {label(saved, names)}"
    return f"{expression(e.place) or operation(e)} saved {kept} for backward"


def _verdict(e: Event, values: Values) -> str:
    """How wrong the gradient is."""
    step = next((s for s in Backwards(values).steps if s.event is e and _is_wrong(s, values)), None)
    if step is None:
        return "The gradient will be silently wrong"
    right, got = right_gradient(step, values), np.asarray(step.gradient)
    i = tuple(int(k) for k in np.argwhere(~np.isclose(right, got, equal_nan=True))[0]) if got.ndim else ()
    back = f"backward of {expression(e.place) or operation(e)}"
    return (
        f"The gradient is silently wrong ({back} gave {number(at(got, i))}, right is {number(at(right, i))})"
    )


def _unseen_by_numpy(e: Event, saved: Event, role: str, values: Values, names: Names) -> Iterator[Answer]:
    """The same through the memory that a NumPy array shares."""
    t = saved.tensor()
    if t is None or fact(t) is None:
        return
    walked = [
        v for v in (_is_wrong(s, values) for s in Backwards(values).steps if s.event is e) if v is not None
    ]
    if walked and not any(walked):
        return
    for answer in changed_outside(t, saved, names):
        if not walked and any(_walks(b, e) for b in list(journal.LOG.of_kind("backward"))):
            return
        yield Answer(
            "saved value changed unseen",
            f"{_verdict(e, values)}: {_saving(e, saved, role, names)}, and then {answer.finding}",
            (*lines(("saved in", e)), *answer.lines), answer.fix, LESSON, about=answer.about,
        )  # fmt: skip


def _on_a_copy(w: Event, names: Names) -> str:
    """The writing line with a copy in place of `.data`."""
    if w.op == "data":
        return f"loss.backward()  # before {w.place.text if w.place is not None else 'the assignment'}"
    way = lineage(w)
    inner = next((s for s in way.steps if s.op == "data"), None)
    owner = label(inner.inputs[0], names) if inner is not None else label(w, names)
    plain = rewrite.without(w.place, "data")
    if plain and inner is not None and plain != (w.place.text if w.place is not None else ""):
        return f"{owner} = {atom(owner)}.clone(); {plain}"
    return f"{atom(owner)}.detach().clone()"
