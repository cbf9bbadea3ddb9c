"""Recording: what a node keeps for the pictures besides what its rules read."""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .device import device_of
from .graph import Node, small, take_notes
from .meeting import NUMBERS
from .places import here
from .tensor import Tensor

_open = threading.local()  # .names: the scopes open on this thread


def note(n: Node, xs: Any, edges: tuple[Node | None, ...], raw: Any) -> None:
    """Recording is on: keep a small value, the shape, the line, and what came from outside the graph."""
    notes = take_notes(n)
    notes.recorded = True
    if raw.__class__ is tuple:
        notes.value, notes.shape = [small(v) for v in raw], [np.shape(v) for v in raw]
        notes.dtype, notes.device = raw[0].dtype, device_of(raw[0])
    else:
        notes.value, notes.shape, notes.dtype, notes.device = small(raw), n.sy, raw.dtype, device_of(raw)
    notes.spot = here()
    if hasattr(_open, "names"):
        notes.names = _open.names
    inputs: list[Any] = []
    outside = False
    for x, e in zip(xs, edges):
        if e is not None:
            inputs.append(None)
            if e.op is None and (e.notes is None or not e.notes.recorded):
                leaf_notes(e)
            continue
        outside = True
        if isinstance(x, Tensor):
            inputs.append((weakref.ref(x), small(x.raw), x.raw.shape))
        else:
            inputs.append((None, x if x.__class__ in NUMBERS else small(x), np.shape(x)))
    if outside:
        notes.inputs = tuple(inputs)


def leaf_notes(e: Node) -> None:
    """A leaf under a recorded node keeps its value too."""
    t = e.leaf()
    if t is None:
        return
    notes = take_notes(e)
    notes.recorded = True
    notes.value, notes.shape, notes.dtype = small(t.raw), t.raw.shape, t.raw.dtype
    notes.device = device_of(t.raw)


def scopes() -> tuple[str, ...]:
    """The names of the scopes that are open on this thread, outermost first."""
    return tuple(getattr(_open, "names", ()))


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Operations inside belong together: pictures draw them as one group with this name.

    >>> import autodiff_kernel as torch
    >>> with torch.scope("layer 1"):
    ...     y = torch.ones(2) * 2
    """
    before = scopes()
    _open.names = (*before, str(name))
    try:
        yield
    finally:
        _open.names = before
