"""Who shares memory with whom: version counters, and the views of a base.

A version counter is a small list `[stamp, count, place]`: when the memory was last written, how often, and by which
line of the user's.  It is made when a tensor is first saved or viewed, and is shared by all views and by `detach()`,
but not by `.data` (in PyTorch too: that is why a change through `.data` stays unnoticed).  Until then a tensor has
None, or the plain number of its writes: nobody has to look for a write to memory that nobody has saved.
"""

import weakref
from typing import Any

import numpy as np

from . import modes
from .errors import explain

ndarray = np.ndarray


Chain = tuple[Any, Any, Any]  # the chain before, row, parameters


class View:
    """What makes a tensor a view: its base, and the operations that lead from the base to it.

    chain: the last of them as (the chain before it or None, row, parameters), to be replayed on anything of the base's
    shape; linked, so that the n-th view of a view costs as much as the first.  made: "grad", or why autograd
    cannot follow the view when it is changed in place: "no_grad" (made under no_grad), "several" (one of several
    outputs of one operation), "custom" (a result of the user's Function `maker`, whose backward a change in place would
    circumvent).
    """

    __slots__ = ("base", "chain", "made", "maker")
    maker: str  # only set where it is asked for

    def __init__(self, base: Any, chain: "Chain", made: str) -> None:
        self.base, self.chain, self.made = base, chain, made


class Family:
    """The live views of a base, held weakly.  Dead ones are dropped when the list has doubled."""

    __slots__ = ("views", "limit")

    def __init__(self) -> None:
        self.views: list[weakref.ref[Any]] = []
        self.limit = 8

    def add(self, view: Any) -> None:
        views = self.views
        if len(views) >= self.limit:
            self.views = views = [r for r in views if r() is not None]
            self.limit = max(8, 2 * len(views))
        views.append(weakref.ref(view))

    def alive(self) -> list[Any]:
        return [v for v in (r() for r in self.views) if v is not None]


def family_of(base: Any) -> Family:
    if base.family is None:
        base.family = Family()
    return base.family


class _Uncounted:
    """In the place of a version counter: nobody counts the writes of an inference tensor, see inference.py."""

    def __repr__(self) -> str:
        return "<no version: an inference tensor>"


INFERENCE = _Uncounted()


def version_of(t: Any) -> Any:
    """The version counter of t, made if it has none yet (an inference tensor has none)."""
    v = t.version
    if v.__class__ is not list and v is not INFERENCE:
        v = t.version = [0, v or 0, None]
    return v


def saved_version_of(t: Any) -> Any:
    """The same for a tensor that a node saves: RuntimeError if nobody counts its writes."""
    v = t.version
    if v.__class__ is not list:
        v = t.version = saved_counter(v)
    return v


def saved_counter(v: Any) -> list[Any]:
    """A version counter after v writes, for a tensor that a node saves."""
    if v is INFERENCE:
        raise explain(
            RuntimeError,
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
            "A gradient rule of this operation reads the tensor in backward, and nobody would notice if it were "
            "overwritten until then.",
            "clone() it first.",
            topic="inference tensor",
        )
    return [0, v or 0, None]


def written_version(v: Any) -> Any:
    """The version of memory without a counter after one more write; RuntimeError for an inference tensor's outside."""
    if v is not INFERENCE:
        return (v or 0) + 1
    if not modes.is_inferring():
        raise explain(
            RuntimeError,
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
            "The tensor was made in inference mode, where nobody counts writes.",
            "change a clone(), or do it inside `with torch.inference_mode():`.",
            topic="inference tensor",
        )
    return v


def share(t: Any) -> Any:
    """The array of t for somebody who will share its memory: a NumPy scalar moves into a 0-d array first."""
    raw = t.raw
    if isinstance(raw, np.generic):
        raw = t.raw = np.asarray(raw)
    return raw


def links(chain: Chain | None) -> list[tuple[Any, Any]]:
    """The (row, parameters) of a chain, from the base on."""
    found = []
    while chain is not None:
        chain, op, p = chain
        found.append((op, p))
    found.reverse()
    return found


def replay(chain: Chain, x: Any) -> Any:
    """The view of x (raw array or Tensor, of the base's shape) that a chain of view operations describes."""
    for op, p in links(chain):
        if op.outputs:
            p, k = p
            x = op(x, p=p)[k]
        else:
            x = op(x, p=p)
    return x
