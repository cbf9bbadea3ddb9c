"""Levels: the transformations of functions that are at work, each with a number; the innermost has the greatest.

A wrapper (a dual number, a batched tensor) carries the number of its transformation, and an operation serves the
newest first: to it, what belongs to the others is constant.  A number is never used twice, so that a wrapper that
outlived its transformation cannot be mistaken for another one's.  Levels of vmap are even, those of dual numbers odd.
"""

import threading
from itertools import count
from typing import Any

live: set[int] = set()  # the levels that are open
_next = count(1).__next__


def next_dual() -> int:
    return 2 * _next() + 1


def is_vmap(level: int) -> bool:
    return not level % 2


class Vmap:
    """One vmap at work: its level, how many samples there are, and what random operations do."""

    __slots__ = ("level", "size", "randomness")

    def __init__(self, size: int, randomness: str) -> None:
        self.level, self.size, self.randomness = 2 * _next(), size, randomness


class _Here(threading.local):
    def __init__(self) -> None:
        self.vmaps: list[Vmap] = []


_here = _Here()
mapping: set[Vmap] = set()  # the vmaps at work on all threads: while there is none, nobody looks further


def open_vmaps() -> list[Vmap]:
    """The vmaps at work on this thread, the innermost last."""
    return _here.vmaps if mapping else []


class vmapping:
    """`with vmapping(size, randomness) as v:` is where a vmap's function runs."""

    __slots__ = ("vmap",)

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.vmap = Vmap(size, randomness)

    def __enter__(self) -> Vmap:
        try:
            _here.vmaps.append(self.vmap)
            live.add(self.vmap.level)
            mapping.add(self.vmap)
            return self.vmap
        except BaseException:  # an interrupt: there will be no __exit__
            self.close()
            raise

    def __exit__(self, *_: Any) -> None:
        try:
            self.close()
        except BaseException:  # an interrupt came in between
            self.close()
            raise

    def close(self) -> None:
        """A second time does no harm."""
        if self.vmap in _here.vmaps:
            _here.vmaps.remove(self.vmap)
        live.discard(self.vmap.level)
        mapping.discard(self.vmap)


_deriving: "set[differentiating]" = set()


class differentiating:
    """`with differentiating():` is where the function of a func.grad, vjp or jvp runs."""

    __slots__ = ("thread",)

    def __enter__(self) -> None:
        self.thread = threading.get_ident()
        try:
            _deriving.add(self)
        except BaseException:  # an interrupt: there will be no __exit__
            _deriving.discard(self)
            raise

    def __exit__(self, *_: Any) -> None:
        try:
            _deriving.discard(self)
        except BaseException:
            _deriving.discard(self)
            raise


def is_differentiating() -> bool:
    """Does the function of a func.grad, vjp or jvp run on this thread?"""
    if not _deriving:
        return False
    me = threading.get_ident()
    return any(d.thread == me for d in list(_deriving))


def is_transforming() -> bool:
    """The same, or that of a vmap."""
    if not mapping and not _deriving:
        return False
    return bool(open_vmaps()) or is_differentiating()


class outside:
    """`with outside(v):` in the midst of a vmap's function, but not for it: a rule that works on all samples."""

    __slots__ = ("vmap", "place")

    def __init__(self, vmap: Vmap) -> None:
        self.vmap = vmap

    def __enter__(self) -> None:
        self.place = _here.vmaps.index(self.vmap)
        del _here.vmaps[self.place]

    def __exit__(self, *_: Any) -> None:
        _here.vmaps.insert(self.place, self.vmap)
