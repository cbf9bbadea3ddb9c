"""`x.data = y`: the tensor gets another array, and nodes that had saved the tensor read that one from then on.

So does PyTorch, which saves inputs as tensors.  Our nodes keep arrays, to be fast; so the version counter of x, which
they keep too, remembers the exchange as its fourth entry, and a node that is older looks there before it is walked.
An exchange counts as no write: it is stamped (that is what makes the walk look), but changes no value that was saved.
"""

import weakref
from typing import Any

import numpy as np

from .graph import Node, tick, written


class Exchange:
    """The last exchange of a tensor's array.

    stamp: when.  write: the stamp of the last true write before it.  raw: the new array.  node: the tensor's node then
    (views and `detach()` share the version counter, not the exchange).  olds: weak references to the arrays before.
    """

    __slots__ = ("stamp", "write", "raw", "node", "olds")
    write: int
    olds: list[Any]

    def __init__(self, version: list[Any], t: Any, raw: Any) -> None:
        last = last_of(version)
        self.write = version[0] if last is None else last.write
        self.olds = [] if last is None else [r for r in last.olds if r() is not None]
        if not isinstance(t.raw, np.generic):
            self.olds.append(weakref.ref(t.raw))
        self.raw, self.node, self.stamp = raw, t.node, tick()


def last_of(version: list[Any]) -> Exchange | None:
    """The exchange, if nothing was written since."""
    last = version[3] if len(version) > 3 else None
    return last if last is not None and last.stamp == version[0] else None


def exchange(t: Any, raw: Any) -> None:
    """Tensor t is about to get the array raw."""
    version = t.version
    if version.__class__ is list:
        version[3:] = [Exchange(version, t, raw)]
        version[0] = written[0] = version[3].stamp


def written_since(version: list[Any], stamp: int) -> bool:
    """Was the memory written after that stamp?"""
    if version[0] <= stamp:
        return False
    last = last_of(version)
    return last is None or last.write > stamp


def follow(n: Node, letter: str, i: int, version: list[Any]) -> None:
    """What n saved under this letter (input i of a list) may have been exchanged: let n read the new array."""
    last = last_of(version)
    if last is None or letter == "y":
        return
    if letter == "x":
        kept, edge = n.x[i], n.edges[i]
    else:
        kept = getattr(n, letter)
        edge = getattr(n, {"a": "left", "b": "right", "c": "third"}[letter])
    if kept is None or edge is not last.node:
        return
    if not any(r() is kept for r in last.olds) and kept.ndim:
        return
    new = last.raw if last.raw.dtype == kept.dtype else last.raw.astype(kept.dtype)
    if isinstance(new, np.ndarray) and not new.ndim:
        new = new[()]
    if letter == "x":
        n.x[i] = new
    else:
        setattr(n, letter, new)
