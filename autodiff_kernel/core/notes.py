"""Recording: what a node keeps for the pictures besides what its rules read."""

import threading
import weakref
from typing import Any, Iterator
from contextlib import contextmanager

import numpy as np

from . import places
from .device import device_of
from .graph import Node, small, take_notes
from .meeting import NUMBERS
from .tensor import Tensor

_open = threading.local()  # .names: the scopes open on this thread


def note(n: Node, xs: Any, edges: tuple[Node | None, ...], raw: Any) -> None:
    """Recording is on: keep a small value, the shape, the line, and what came from outside the graph."""
    notes = take_notes(n)
    notes.recorded = True
    if isinstance(raw, tuple):
        notes.value, notes.shape = [small(v) for v in raw], [np.shape(v) for v in raw]
        notes.dtype, notes.device = raw[0].dtype, device_of(raw[0])
    else:
        notes.value, notes.shape, notes.dtype, notes.device = small(raw), raw.shape, raw.dtype, device_of(raw)
    notes.place = places.place_of(places.here())
    notes.names = scopes()
    inputs = []
    for x, e in zip(xs, edges):
        if e is not None:
            inputs.append(None)
            if e.op is None:
                leaf_notes(e)
        elif isinstance(x, Tensor):
            inputs.append((weakref.ref(x), small(x.raw), x.raw.shape))
        else:
            inputs.append((None, x if x.__class__ in NUMBERS else small(x), np.shape(x)))
    notes.inputs = tuple(inputs)


def leaf_notes(e: Node) -> None:
    """A leaf under a recorded node keeps its value too."""
    t = e.leaf()
    notes = take_notes(e)
    if notes.recorded or t is None:
        return
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
