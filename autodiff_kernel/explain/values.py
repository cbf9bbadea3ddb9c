"""What values did events have?  As recorded, as tensors still hold them, or computed again from those."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from autodiff_kernel.core import modes
from autodiff_kernel.core.device import backend_of
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.saved import Saved
from autodiff_kernel.core.tensor import wrap
from autodiff_kernel.core.trail import Passed, Told
from autodiff_kernel.core.trail import told as told_by_trail
from autodiff_kernel.core.walk import unbroadcast

from ..core.dtype import is_floating

LARGEST = 4_000_000  # elements of a value that is computed again
_DRAWN = (
    "redraw", "dropout", "bernoulli", "multinomial", "rand", "normal", "poisson", "standard_gamma", "sample_dirichlet",
    "binomial",
)  # fmt: skip
Array = Any
T = TypeVar("T")


_asked: list[dict[int, tuple[Event, Array | None]]] = []  # what the questions under way have found out
_passed: list[dict[str, set[int]]] = []  # at which events they found nothing, by what they looked for
_results: list[dict[tuple[str, int], tuple[Any, Any]]] = []  # what they found out about tensors and events


@contextmanager
def one_question() -> Iterator[None]:
    """All diagnoses inside share what they look up: nothing changes meanwhile.

    The collector of cycles rests: it would go through the whole heap for the thousands of events that are made now.
    """
    collects = gc.isenabled()
    gc.disable()
    _asked.append({})
    _passed.append({})
    _results.append({})
    try:
        yield
    finally:
        if collects:
            gc.enable()
        _asked.pop()
        _passed.pop()
        _results.pop()


def once(topic: str, events: Iterable[Event]) -> Iterator[Event]:
    """The events at which a diagnosis did not look in this question, on behalf of another thing that is asked about.

    For a diagnosis whose verdict does not depend on the thing.  One at which it stops is looked at again.
    """
    passed = _passed[-1].setdefault(topic, set()) if _passed else set()
    for e in events:
        if id(e) not in passed:
            yield e
            passed.add(id(e))


def recall(what: str, x: Any, find: Callable[[Any], T]) -> T:
    """What `find(x)` gives; in one question it is asked once for each x.  (Leave a list as it is.)"""
    if not _results:
        return find(x)
    known = _results[-1].get((what, id(x)))
    if known is None:
        known = _results[-1][what, id(x)] = x, find(x)
    return known[1]  # type: ignore[no-any-return]


class Values:
    """The values of events, each looked up or computed once."""

    def __init__(self) -> None:
        self._known = _asked[-1] if _asked else {}

    def of(self, x: Any) -> Array | None:
        """The value of an event as a NumPy array (of a number: itself); None if it was not kept and cannot be had."""
        if x.__class__ is not Event:
            return None if x is None else np.asarray(x)
        entry = self._known.get(id(x))
        if entry is None:
            self._known[id(x)] = x, None  # while it is being looked for
            entry = self._known[id(x)] = x, self._find(x)
        return entry[1]

    def inputs(self, e: Event) -> list[Array] | None:
        """The values of all inputs; None if one is unknown, or all of them (of a copy whose history was cut off)."""
        if not e.inputs:
            return None
        found = [self.of(x) for x in e.inputs]
        return None if any(v is None for v in found) else found

    def _find(self, e: Event) -> Array | None:
        if e.value is not None:
            return np.asarray(e.value) if not isinstance(e.value, list) else None
        t = e.tensor()
        if t is not None and getattr(t, "fact", None) is e and t.raw.shape == e.shape:
            raw = t.raw
            return np.asarray(raw) if isinstance(raw, (np.ndarray, np.generic)) else _on_host(raw)
        if e.kind in ("asked", "left") and e.inputs:
            return self.of(e.inputs[0])
        return self._again(e)

    def _again(self, e: Event) -> Array | None:
        """The operation computed once more from the values of its inputs."""
        op = e.op
        if not isinstance(op, Op) or op.outputs or e.kind not in ("operation", "write"):
            return None
        if any(word in op.name for word in _DRAWN) or np.prod(e.shape, initial=1) > LARGEST:
            return None
        values = self.inputs(e)
        if values is None:
            return None
        return run(e, values)


def run(e: Event, values: list[Array]) -> Array | None:
    """The result of an event's operation for other values of its inputs."""
    xs = [wrap(v) if x.__class__ is Event or np.ndim(v) else x for x, v in zip(e.inputs, values)]
    with modes.recording(False), modes.no_grad():
        try:
            return np.asarray(e.op.base(*xs, p=e.p).raw)
        except Exception:  # the row wants something that the event has not
            return None


def rule(e: Event, number: int, g: Array, values: list[Array], y: Array | None) -> Array | None:
    """What the operation's rule for an input makes of a cotangent, from these values of inputs and output."""
    op = e.op.base
    s = Saved()
    numbers = [v if x.__class__ is Event else x for x, v in zip(e.inputs, values)]
    s.a, s.b, s.c = (*numbers, None, None, None)[:3]
    s.sa, s.sb, s.sc = (*[np.shape(v) for v in values], (), (), ())[:3]
    s.x, s.sx = numbers, [np.shape(v) for v in values]
    s.p, s.y, s.sy = e.p, y, e.shape
    try:
        with np.errstate(all="ignore"):
            out = op.each(g, s, number) if op.each is not None else (op.a, op.b, op.c)[number](g, s)
        return None if out is None else np.asarray(out)
    except Exception:  # a rule that wants what only a node has
        return None


def _on_host(raw: Any) -> Array:
    return backend_of(raw).module.asnumpy(raw)  # no transfer of the user's: not counted


class Backwards:
    """What passed in the newest backwards, found by its target; values too large to be kept are computed again."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.steps: list[Passed] = told_by_trail().passed
        self._into = recall("steps", told_by_trail(), _by_targets)
        self._sums: dict[int, dict[int, Array | None]] = {}  # walk -> event -> its cotangent
        self._given: dict[int, Array | None] = {}  # step -> what its rule gave

    def into(self, e: Event, walk: int | None = None) -> list[Passed]:
        """What this walk, or the newest one that reached e, brought to it."""
        found = [s for s in self._into.get(_who(e), ()) if not walk or s.walk == walk]
        return [s for s in found if s.walk == found[-1].walk] if found else []

    def onto(self, step: Passed) -> list[Passed]:
        """Of what the cotangent of this step was the sum."""
        return [s for s in self._into.get(_who(step.event), ()) if s.walk == step.walk]

    def gradient(self, step: Passed) -> Array | None:
        """What the step's rule gave."""
        if step.gradient is None:
            self._carry(step.walk)
            return self._given.get(id(step))
        return np.asarray(step.gradient)

    def cotangent(self, step: Passed) -> Array | None:
        """What came to the output of the step's operation."""
        if step.cotangent is None:
            return self._carry(step.walk).get(id(step.event))
        return None if isinstance(step.cotangent, list) else np.asarray(step.cotangent)

    def _carry(self, walk: int) -> dict[int, Array | None]:
        """The walk once more, for what was not kept of it: its steps stand in order, consumers first."""
        if walk in self._sums:
            return self._sums[walk]
        sums = self._sums[walk] = {}
        for s in self.steps:
            if s.walk != walk:
                continue
            x = self._given[id(s)] = self._rule(s) if s.gradient is None else np.asarray(s.gradient)
            key = id(s.target)
            sums[key] = x if key not in sums or x is None else None if sums[key] is None else sums[key] + x
        return sums

    def _rule(self, s: Passed) -> Array | None:
        g, values = self.cotangent(s), self.values.inputs(s.event)
        if g is None or values is None or s.target is None or not isinstance(s.event.op, Op):
            return None
        made = rule(s.event, s.number, g, values, self.values.of(s.event))
        if made is not None and s.event.op.spreads and made.shape != tuple(s.target.shape):
            made = np.asarray(unbroadcast(made, tuple(s.target.shape)))
        return made if made is not None and made.shape == tuple(s.target.shape) else None


def _by_targets(told: Told) -> dict[int, list[Passed]]:
    """The steps of walks by the tensor that they brought something to."""
    found: dict[int, list[Passed]] = {}
    for s in told.passed:
        if s.target is not None:
            found.setdefault(_who(s.target), []).append(s)
    return found


def _who(e: Event | None) -> int:
    """What events that tell of the same tensor have in common, as `same` says."""
    return id(e if e is None or e.result is None else e.result)


def same(a: Event | None, b: Event | None) -> bool:
    """Do two events tell of the same tensor (its switches and its truncated copies count as one)?"""
    if a is None or b is None:
        return False
    return a is b or a.result is b.result and a.result is not None


def worst(x: Array | None) -> str:
    """'nan', 'inf' or '' : the worst that is among the elements."""
    if x is None or not is_floating(x.dtype):
        return ""
    if np.isnan(x).any():
        return "nan"
    return "inf" if np.isinf(x).any() else ""


def where(x: Array, kind: str) -> tuple[int, ...]:
    """The index of the first nan (or inf)."""
    marks = np.isnan(x) if kind == "nan" else np.isinf(x)
    return tuple(int(i) for i in np.argwhere(marks)[0]) if x.ndim else ()


def at(x: Array, index: tuple[int, ...]) -> Any:
    """The element of an operand that meets the result's element at `index` when it broadcasts."""
    if not x.ndim:
        return x[()]
    index = index[len(index) - x.ndim :]
    return x[tuple(0 if n == 1 else i for i, n in zip(index, x.shape))]
