"""What recording kept of a node: its event, and what a backward brought to it."""

from collections.abc import Iterable
from typing import Any

from .graph import Node, edges_of
from .journal import LOG, Event, event_of
from .trail import key_of, told


class Kept:
    """What is known of a recorded operation, or of a leaf (the value with which it was used last)."""

    __slots__ = ("node", "event")

    def __init__(self, node: Node, event: Event) -> None:
        self.node, self.event = node, event

    @property
    def value(self) -> Any:
        """The result if it has at most 64 elements (a list for several results)."""
        return self.event.value

    @property
    def shape(self) -> Any:
        return self.event.shape

    @property
    def dtype(self) -> Any:
        return self.event.dtype

    @property
    def device(self) -> Any:
        return self.event.device

    @property
    def names(self) -> tuple[str, ...]:
        """The scopes that were open."""
        return self.event.names

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Of each input (weak reference to the tensor or None for a number, copy of a small value, shape)."""
        return self.event.given()

    @property
    def grad(self) -> Any:
        """The gradient that the last backward brought here, if it has at most 64 elements."""
        return told().grads.get(id(key_of(self.node)))


def kept_of(n: Node | None) -> Kept | None:
    """What recording kept of a node; None where it was off."""
    event = event_at(n)
    return None if n is None or event is None else Kept(n, event)


def event_at(n: Node | None) -> Event | None:
    """The event of a node; of a leaf's, that of its tensor when it was used last."""
    spot = None if n is None else getattr(n, "spot", None)
    return event_of(spot) if spot.__class__ is list else None


def received(nodes: Iterable[Node]) -> dict[Node, list[tuple[Node, int, Any]]]:
    """What the last backward added up at each of the nodes: (consumer, which input of it, copy or None).

    Only consumers that still live; they may lie outside of the nodes.
    """
    nodes = list(nodes)
    known = told().received
    givers = {id(n.spot): n for n in nodes if getattr(n, "spot", None).__class__ is list}
    looked = False
    found: dict[Node, list[tuple[Node, int, Any]]] = {}
    for n in nodes:
        for r, i, x in known.get(id(key_of(n)), ()):
            if r is None:
                continue
            if id(r) not in givers and not looked:
                givers, looked = living() | givers, True
            if id(r) in givers:
                found.setdefault(n, []).append((givers[id(r)], i, x))
    return found


def living() -> dict[int, Node]:
    """The recorded nodes of graphs that some tensor in the log still holds, by the id of their records."""
    tensors = [e.tensor() for e in LOG]
    waiting = [t.node for t in tensors if t is not None and t.node is not None]
    seen = set(waiting)
    while waiting:
        for e in edges_of(waiting.pop()):
            if e is not None and e not in seen:
                seen.add(e)
                waiting.append(e)
    return {id(n.spot): n for n in seen if getattr(n, "spot", None).__class__ is list}
