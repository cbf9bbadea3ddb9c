"""Values as they were before a write: whoever holds a tensor for later gets a copy before its memory changes.

Copies are made as late as that: memory that nobody writes into is never copied.  `guard` in inplace.py asks here before
each write into memory with a version counter.
"""

import weakref
from collections.abc import MutableMapping
from typing import Any

import numpy as np

from .sharing import version_of
from .tensor import Tensor, wrap


class Held:
    """One tensor that is held for later."""

    __slots__ = ("raw", "keeper", "__weakref__")

    def __init__(self, raw: Any, keeper: "Keeper") -> None:
        self.raw, self.keeper = raw, weakref.ref(keeper)


class Keeper:
    """Holds tensors, and copies those whose memory is about to change.

    original and cloned: the tensor of each Held that is alive, before and after a write.  by_version: those that lie in
    memory with this version counter.
    """

    def __init__(self) -> None:
        self.original: MutableMapping[Held, Tensor] = weakref.WeakKeyDictionary()
        self.cloned: MutableMapping[Held, Tensor] = weakref.WeakKeyDictionary()
        self.by_version: dict[int, tuple[Any, weakref.WeakSet[Held]]] = {}

    def clear(self) -> None:
        """Let go of everything."""
        self.original.clear()
        self.cloned.clear()
        self.by_version.clear()

    def hold(self, t: Tensor) -> Held:
        """Hold t's values of now; what is held already, unchanged, is held once."""
        raw = t.raw
        if isinstance(raw, np.generic):  # immutable: a write binds another one
            held = Held(raw, self)
            self.original[held] = wrap(raw)
            return held
        version = version_of(t)
        _, together = self.by_version.setdefault(id(version), (version, weakref.WeakSet()))
        for held in together:
            if held.raw is raw and held in self.original:
                return held
        held = Held(raw, self)
        self.original[held] = wrap(raw)
        together.add(held)
        return held

    def get(self, held: Held) -> Tensor | None:
        """The values as they were; None if this keeper has let go of them."""
        return self.cloned[held] if held in self.cloned else self.original.get(held)

    def before(self, version: Any) -> None:
        """Memory with this counter is about to change."""
        _, together = self.by_version.pop(id(version), (None, ()))
        for held in list(together):
            t = self.original.pop(held, None)
            if t is not None:
                held.raw = t.raw.copy()
                self.cloned[held] = wrap(held.raw)


keepers: list[Keeper] = []  # those at work


def before_write(version: Any) -> None:
    """A write into memory with this version counter follows."""
    for keeper in keepers:
        keeper.before(version)
