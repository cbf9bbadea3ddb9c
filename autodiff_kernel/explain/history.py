"""Questions to the recorded facts: which events led to a value, which concern a tensor, what is it called."""

from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.graph import Node, edges_of
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor


def fact(t: Tensor) -> Event | None:
    """What last happened to t; None if that was not recorded."""
    e = getattr(t, "fact", None)
    return None if e is None or e.kind == "met" else e


def before(e: Event) -> Iterator[Event]:
    """e and the events that led to it, newest first within each line of descent; each once."""
    seen: set[int] = set()
    waiting = [e]
    while waiting:
        e = waiting.pop()
        if id(e) in seen:
            continue
        seen.add(id(e))
        yield e
        waiting += [x for x in e.inputs if x.__class__ is Event]


def about(t: Tensor, *kinds: str) -> list[Event]:
    """The logged events of these kinds (all, if none is named) that concern t itself, oldest first."""
    events = journal.LOG.of_kind(*kinds) if kinds else journal.LOG.events()
    return [e for e in events if e.tensor() is t]


def nodes(root: Node, limit: int = 100_000) -> Iterator[Node]:
    """The nodes of the graph above root, itself included, each once, without recursion."""
    seen = {root}
    waiting = [root]
    while waiting and len(seen) <= limit:
        n = waiting.pop()
        yield n
        for e in edges_of(n):
            if e is not None and e not in seen:
                seen.add(e)
                waiting.append(e)


def leaves(root: Node) -> list[Tensor]:
    """The leaf tensors that are still held by somebody, oldest node first."""
    found = [n.leaf() for n in nodes(root) if n.op is None]
    return [t for t in found if t is not None]


def share_memory(a: Any, b: Any) -> bool:
    """Do the raw arrays of two tensors overlap in memory?"""
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)


def name_of(t: Any, namespace: Mapping[str, Any] | None, fallback: str = "") -> str:
    """The user's name of a tensor (also `model.weight`, `ws[2]`), or the fallback."""
    if namespace is None:
        return fallback
    inner = ""
    for name, value in list(namespace.items()):
        if name.startswith("_"):
            continue
        if value is t:
            return name
        if not inner:
            inner = _inside(name, value, t)
    return inner or fallback


def _inside(name: str, holder: Any, t: Any) -> str:
    if isinstance(holder, (list, tuple)):
        return next((f"{name}[{i}]" for i, x in enumerate(holder[:1000]) if x is t), "")
    if isinstance(holder, dict):
        found = (k for k, x in list(holder.items())[:1000] if x is t and isinstance(k, (str, int)))
        return next((f"{name}[{k!r}]" for k in found), "")
    return next((f"{name}.{k}" for k, x in parameters_of(holder) or attributes_of(holder) if x is t), "")


def attributes_of(x: Any) -> list[tuple[str, Any]]:
    """The tensors that an object of the user's own class has as attributes; its own code is not asked."""
    if isinstance(x, (type, ModuleType, Tensor, FunctionType)):
        return []
    try:
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return []
    return [(k, v) for k, v in list(own.items())[:1000] if isinstance(v, Tensor)] if type(own) is dict else []


def parameters_of(x: Any) -> list[tuple[str, Any]]:
    """What `named_parameters()` gives; [] for what has no such method, and for a model that is not ready to say."""
    if isinstance(x, (type, ModuleType)):
        return []
    try:
        named = getattr(x, "named_parameters", None)
        return [(str(name), t) for name, t in named()] if callable(named) else []
    except Exception:  # somebody else's object: the question was about another one
        return []
