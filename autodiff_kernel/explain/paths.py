"""Where a gradient's way through the recorded events breaks off.

An event knows the events of its inputs and whether its result required grad.  So the way from a result back to a
tensor is a chain of events, and the graph was cut at each step whose input required grad and whose result did not.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from autodiff_kernel.core import journal
from autodiff_kernel.core.facts import event_at
from autodiff_kernel.core.graph import Node, edges_of
from autodiff_kernel.core.journal import DEEPEST, Event
from autodiff_kernel.core.tensor import Tensor

from .history import fact, nodes
from .names import whose


class Cut(NamedTuple):
    """A step at which gradients stop: the event whose result does not require grad, and its input that does."""

    event: Event
    before: Event


def parents(e: Event) -> list[Event]:
    return [x for x in e.inputs if x.__class__ is Event]


def cuts(e: Event) -> list[Cut]:
    """Where the graph was cut on the ways that lead to a result without grad, the nearest first; each step once."""
    found: list[Cut] = []
    seen = {id(e)}
    waiting = deque([] if e.tracked else [e])
    while waiting:
        e = waiting.popleft()
        for x in parents(e):
            if x.tracked:
                found.append(Cut(e, x))
            elif id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return found


def origins(e: Event) -> list[Event]:
    """The events with which the ways to e begin: data, and what is older than the recording; in order of time."""
    found: dict[int, Event] = {}  # by the tensors that they tell of
    seen = {id(e)}
    waiting = deque([e])
    while waiting:
        e = waiting.popleft()
        before = parents(e)
        if not before or e.kind == "made":
            found.setdefault(id(e if e.result is None else e.result), e)
        for x in before if e.kind != "made" else ():
            if id(x) not in seen:
                seen.add(id(x))
                waiting.append(x)
    return list(found.values())[::-1]


def forgotten(e: Event) -> bool:
    """Whether the event's inputs are no longer known: histories are kept for the last 50 generations."""
    return e.kind in ("operation", "write") and not e.inputs and e.depth == 0


def same(a: Event, b: Event) -> bool:
    """Do two events speak of one tensor?"""
    if a is b:
        return True
    return a.result is not None and a.result is b.result and a.kind != "write" != b.kind


def way(e: Event, to: Tensor) -> list[Event]:
    """The events from e back to the nearest one that is about the tensor `to`, both included; [] if none is."""
    came: dict[int, Event | None] = {id(e): None}
    waiting = deque([e])
    while waiting:
        x = waiting.popleft()
        if x.tensor() is to:
            chain = [x]
            step = came[id(x)]
            while step is not None:
                chain.append(step)
                step = came[id(step)]
            return chain[::-1]
        for y in parents(x):
            if id(y) not in came:
                came[id(y)] = x
                waiting.append(y)
    return []


def broken(chain: list[Event]) -> Cut | None:
    """The step nearest to the tensor at the chain's end at which gradients stop; None if they pass everywhere."""
    for e, before in zip(chain[-2::-1], chain[:0:-1]):
        if before.tracked and not e.tracked:
            return Cut(e, before)
    return None


def lone_leaf(e: Event) -> bool:
    """Whether the event is the asking for a gradient of something that had been computed without one."""
    if e.kind != "asked" or not e.p:
        return False
    made = whose(e)
    return made.kind in ("operation", "write") and not made.tracked


def leaf_events(root: Node) -> list[Event]:
    """The events of the leaves in a graph, also of those that nobody holds any more."""
    events = [event_at(n) for n in nodes(root) if n.op is None]
    return [e for e in events if e is not None]


def reaches(root: Node, leaf: Node) -> bool:
    """Does the graph of root lead to the node of a leaf?"""
    return any(n is leaf for n in nodes(root))


def position(e: Event) -> int:
    """Where an event stands in the log; -1 if it has dropped out of it."""
    return journal.LOG.position(e)


def exits(e: Event, *words: str) -> list[Event]:
    """Before e was logged: the events in which values that have a gradient left as numbers or arrays, newest first."""
    stop = position(e)
    if stop < 0:
        return []
    events = journal.LOG.events()[:stop]
    return [x for x in reversed(events) if x.kind == "left" and x.op in words and had_gradient(x)]


def had_gradient(e: Event) -> bool:
    """Whether values that left the graph came from one."""
    return any(x.tracked for x in parents(e)) or any(cuts(x) for x in parents(e))


def source(e: Event) -> Event:
    """The tensor with a gradient from which the values of a 'left' event come: before detach() and the like."""
    before = parents(e)
    if before and before[0].tracked:
        return before[0]
    found = cuts(before[0]) if before else []
    return found[0].before if found else e


def older(spot_event: Event) -> Iterator[Event]:
    """The logged events before an event, newest first."""
    stop = position(spot_event)
    for i in range(stop - 1, -1, -1):
        yield journal.LOG[i]


def last(kind: str, t: Any = None) -> Event | None:
    """The newest logged event of a kind (that concerns t)."""
    for e in reversed(journal.LOG.of_kind(kind)):
        if t is None or e.tensor() is t:
            return e
    return None


__all__ = [
    "Cut", "DEEPEST", "broken", "cuts", "edges_of", "exits", "fact", "forgotten", "had_gradient", "last", "leaf_events",
    "lone_leaf", "older", "origins", "parents", "position", "reaches", "same", "source", "way",
]  # fmt: skip
