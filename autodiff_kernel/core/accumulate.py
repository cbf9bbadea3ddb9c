"""`.grad`: where the gradients of a walk end up.

As in PyTorch, a leaf's first gradient becomes its `.grad`, and later ones are added to it in place, so that whoever
holds `x.grad` sees them; with `create_graph` the sum is a new tensor.  No `.grad` shares memory with anything else.

The sums of a walk are stored by one call into C: an interrupt (Ctrl-C) comes before all of them or after, never
between two.  A lock keeps two threads that add to the same leaf from losing a sum.
"""

import threading
from collections import deque
from itertools import starmap
from operator import call, iadd
from typing import Any

import numpy as np

from . import modes
from .graph import Node, float32, ndarray
from .inplace import stamp
from .op import TABLE
from .overlap import check_overlap
from .sharing import written_version
from .tensor import Tensor, wrap

_lock = threading.RLock()  # reentrant: a finalizer or a signal's handler may run a backward of its own


def add_grad(t: Tensor, g: Any) -> None:
    """Add g to t's gradient: a raw array that nobody else holds, or a Tensor."""
    with _lock:
        call(*addition(t, g, {}))


def deposit(sums: dict[Node, Any]) -> None:
    """Add the leaves' complete sums to their `.grad`, all at once.

    A leaf that nobody holds any more gets none, and neither does one that does not require grad any more.
    """
    calls: list[tuple[Any, ...]] = []
    numbers: dict[int, Any] = {}
    recording = modes.watch[0] is not None
    told: list[tuple[Tensor, bool]] = []
    with _lock:
        for n, g in sums.items():
            t = n.leaf()
            if t is None or t.node is None:
                continue
            if recording:
                told.append((t, t._grad_or_none() is not None))
            if t._grad is None and (
                g.__class__ is float32 or g.__class__ is ndarray and g.strides == t.raw.strides
            ):
                calls.append((setattr, t, "_grad", wrap(g)))  # what `addition` says in the usual cases
            else:
                calls.append(addition(t, g, numbers))
        if len(calls) == 1:
            call(*calls[0])
        else:
            deque(starmap(call, calls), 0)
    if recording:
        modes.watchers["deposited"](told)


def addition(t: Tensor, g: Any, numbers: dict[int, Any]) -> tuple[Any, ...]:
    """The call into C, function and arguments, that adds g to t's gradient.

    numbers: of the 0-d gradients that are about to change, by id, their new values.
    """
    have = t._grad_or_none()
    if have is None:
        mine = copied(g) if isinstance(g, Tensor) else wrap(g)
        if mine.raw.__class__ is ndarray and mine.raw.strides != t.raw.strides:
            mine.raw = laid_out(mine.raw, t.raw)
        return setattr, t, "_grad", mine
    if isinstance(g, Tensor):
        return setattr, t, "_grad", have + g  # type: ignore[operator]
    raw = have.raw
    v = have.version
    if v.__class__ is list:
        stamp(have)
    else:
        have.version = v + 1 if v.__class__ is int else written_version(v)
    if isinstance(raw, np.generic):
        value = numbers[id(have)] = numbers.get(id(have), raw) + g
        return setattr, have, "raw", value
    if raw.__class__ is ndarray and raw.dtype is g.dtype:
        if 0 in raw.strides:
            check_overlap(have)
        return np.add, raw, g, raw
    return iadd, raw, g


def add_retained(t: Tensor, g: Any) -> None:
    """The same for a tensor that retains its gradient: the sum is a new tensor."""
    with _lock:
        have = t._grad_or_none()
        if isinstance(g, Tensor):
            t._grad = copied(g) if have is None else have + g  # type: ignore[operator]
        elif have is None:
            t._grad = wrap(g.copy())
        else:
            t._grad = wrap(have.raw + g)


def laid_out(g: Any, like: Any) -> Any:
    """g as PyTorch lays a gradient out in memory: like its tensor if that has no gaps, else row by row."""
    if like.__class__ is not ndarray or not like.size or like.shape != g.shape:
        return g
    made = np.empty_like(like, g.dtype)
    if made.strides != like.strides:
        return np.ascontiguousarray(g)
    made[...] = g
    return made


def copied(g: Tensor) -> Any:
    """A gradient that can be differentiated, as a tensor of its own; its node has PyTorch's name."""
    row = TABLE["clone"]
    made = row.variants.get("gradient")
    if made is None:
        made = row.variants["gradient"] = row._like(node_names="CopyBackwards")
    return made(g)
