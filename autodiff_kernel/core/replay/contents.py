"""The values behind a state: kept before a trial run of a program, put back and compared afterwards.

Tensors keep their identity, their memory and their version counters, so a graph that was recorded before does not notice
the trial.
"""

from typing import Any

import numpy as np

from ..generator import Generator, default_generator
from ..tensor import Tensor
from .state import State

ndarray = np.ndarray


class Held:
    """What one tensor (or array) held."""

    __slots__ = ("thing", "raw", "value", "version", "counts", "grad", "node")

    def __init__(self, x: Any) -> None:
        self.thing = x
        self.raw = x.raw if isinstance(x, Tensor) else x
        self.value = self.raw if isinstance(self.raw, np.generic) else self.raw.copy()
        self.version = self.counts = self.node = self.grad = None
        if isinstance(x, Tensor):
            self.version, self.node = x.version, x.node
            self.counts = list(x.version) if x.version.__class__ is list else None
            self.grad = x._grad_or_none()

    def put_back(self) -> None:
        x, raw = self.thing, self.raw
        if not isinstance(raw, np.generic) and not same_values(raw, self.value):
            raw[...] = self.value
        if not isinstance(x, Tensor):
            return
        x.raw, x.version, x.node = raw, self.version, self.node
        if self.counts is not None:
            x.version[:] = self.counts
        if self.grad is not None or x._grad_or_none() is not None:
            x._grad = self.grad


class Contents:
    """The values of all tensors of a state, their gradients, optimizers' memories, and the generators' states."""

    def __init__(self, state: State, owners: list[Any]) -> None:
        tensors: dict[int, Tensor] = {}
        for t in state.tensors.values():
            tensors[id(t)] = t
            g = t._grad_or_none()
            if g is not None:
                tensors[id(g)] = g
        self.held = [Held(t) for t in tensors.values()]
        self.memories = [(o, self.memory(o)) for o in owners]
        generators = [default_generator, *state.generators]
        self.generators = [(g, Generator.get_state(g)) for g in generators]

    def memory(self, owner: Any) -> dict[Any, dict[str, Any]]:
        kept: dict[Any, dict[str, Any]] = {}
        for p, own in owner.state.items():
            kept[p] = dict(own)
            self.held += [Held(v) for v in own.values() if isinstance(v, (Tensor, ndarray))]
        return kept

    def put_back(self) -> None:
        for h in self.held:
            h.put_back()
        for owner, kept in self.memories:
            owner.state.clear()
            owner.state.update({p: dict(own) for p, own in kept.items()})
        for g, s in self.generators:
            Generator.set_state(g, s)

    def difference(self, other: "Contents", names: dict[int, str]) -> str:
        """What differs from the contents `other`: '' if nothing."""
        mine, theirs = ({id(h.thing): h for h in c.held} for c in (self, other))
        for key, name in names.items():
            a, b = mine.get(key), theirs.get(key)
            if a is None or b is None:
                continue
            if not same_values(a.value, b.value):
                return name
            if (a.grad is None) != (b.grad is None):
                return f"{name}.grad"
            if a.grad is not None and not same_values(mine[id(a.grad)].value, theirs[id(b.grad)].value):
                return f"{name}.grad"
        for (g, a_state), (_, b_state) in zip(self.generators, other.generators):
            if not np.array_equal(a_state.raw, b_state.raw):
                return f"the state of the random numbers of {g.device}"
        return ""


def same_values(a: Any, b: Any) -> bool:
    """Equal bit for bit, but for the signs of zeros and the bits of nan."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
