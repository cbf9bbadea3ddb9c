"""Which events have to do with a tensor: those that led to it, and those that used it since."""

from collections.abc import Iterator
from typing import Any

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.tensor import Tensor

from .history import before
from .values import recall


def ancestors(t: Tensor) -> list[Event]:
    """The events that led to t, its own newest included, oldest first."""
    e = getattr(t, "fact", None)
    return [] if e is None else in_order(list(before(e)))


def in_order(events: list[Event]) -> list[Event]:
    """Events in order of time, as far as the log still tells it; what it has forgotten comes first."""
    return sorted(events, key=lambda e: (journal.LOG.position(e), e.depth))


def descendants(t: Tensor) -> list[Event]:
    """The logged events that used t, or what came of it, oldest first."""
    return list(_uses(getattr(t, "fact", None)))


def uses_of(e: Event) -> list[Event]:
    """The logged events that used the tensor of e, or what came of it, oldest first."""
    return list(_uses(e))


def _uses(start: Event | None) -> Iterator[Event]:
    if start is None or start.result is None:
        return
    first = next(iter(journal.LOG.uses(start.result)), None)
    if first is None:
        return
    known = {id(start.result)}
    for e, given in zip(journal.LOG.events()[first:], journal.LOG.given()[first:]):
        if not known.isdisjoint(given):
            if e.result is not None:
                known.add(id(e.result))
            yield e


def direct_uses(e: Event) -> list[Event]:
    """The logged events that have the tensor of e itself as an input, oldest first."""
    log = journal.LOG.events()
    if e.result is None:
        return [u for u in log if any(x.result is None for x in tensors_of(u))]
    return [log[i] for i in journal.LOG.uses(e.result)]


class Whole:
    """Events of which the history was cut off, with it again, as far as the log still has them."""

    def __init__(self) -> None:
        self._logged = {_mark(e): e for e in list(journal.LOG) if e.inputs}

    def __call__(self, e: Event) -> Event:
        if e.inputs or e.value is None or e.kind not in ("operation", "write"):
            return e
        return self._logged.get(_mark(e), e)


def _mark(e: Event) -> tuple[Any, ...]:
    """What an event and its copies have in common."""
    return id(e.result), id(e.kept), id(e.shape), e.spot, e.name


def around(t: Tensor) -> list[Event]:
    """Both, each once: the past of t first.  (The diagnoses ask this one after the other, so it is kept.)"""
    e, newest = getattr(t, "fact", None), journal.LOG[-1] if journal.LOG else None
    if _answered and _answered[0] is e and _answered[1] is newest and e is not None:
        return list(_answered[2])
    past = ancestors(t)
    seen = {id(e) for e in past}
    found = past + [e for e in descendants(t) if id(e) not in seen]
    _answered[:] = e, newest, found
    return list(found)


_answered: list[Any] = []  # the newest question: the tensor's fact, the log's newest event, and the answer


def operations(events: list[Event], *rows: str) -> Iterator[Event]:
    """Those that are operations (or in-place operations) of the table; of these rows, if any are named."""
    for e in events:
        if is_operation(e) and (not rows or e.op.name in rows):
            yield e


def is_operation(e: Event) -> bool:
    """One of the table?  (One without inputs is a copy whose history was cut off.)"""
    return bool(e.inputs) and e.kind in ("operation", "write") and isinstance(e.op, Op)


def operations_around(t: Tensor, *rows: str) -> list[Event]:
    """The operations (of these rows, if any are named) among the events around t, the past of t first."""
    found = recall("operations", t, _by_rows)
    if not rows:
        return found[""]
    named = [found[row] for row in rows if row in found]
    if len(named) < 2:
        return named[0] if named else []
    wanted = {id(e) for events in named for e in events}
    return [e for e in found[""] if id(e) in wanted]


def _by_rows(t: Tensor) -> dict[str, list[Event]]:
    """The operations around t: all of them under "", and those of each row under its name."""
    found: dict[str, list[Event]] = {"": []}
    for e in operations(around(t)):
        found[""].append(e)
        found.setdefault(e.op.name, []).append(e)
    return found


def tensors_of(e: Event) -> list[Event]:
    """The inputs that are tensors."""
    return [x for x in e.inputs if x.__class__ is Event]
