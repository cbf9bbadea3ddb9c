"""Page-locked memory: what a GPU can read without the processor's help.

With CuPy the memory is really page-locked.  A simulated GPU needs none, so there a pinned tensor is a copy that is
marked as one: `non_blocking` copies stand in the same places as they would with a GPU.
"""

import weakref
from typing import Any

import numpy as np

from . import device as devices
from . import modes
from .api import attach
from .storage import root_of
from .tensor import Tensor, share, wrap

_pinned: "weakref.WeakValueDictionary[int, Any]" = (
    weakref.WeakValueDictionary()
)  # id of the memory's owner -> owner


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy of this CPU tensor in page-locked memory; the tensor itself if it lies there already.

    Raises RuntimeError without a GPU (real or simulated), and for a tensor that is on one.

    >>> import autodiff_kernel as torch
    >>> torch.cuda.simulate(1)
    >>> torch.ones(2).pin_memory().is_pinned(), torch.ones(2).is_pinned()
    (True, False)
    >>> torch.cuda.simulate(0)
    """
    if self.is_cuda:
        raise RuntimeError(
            f"cannot pin 'torch.cuda.{self.type().rpartition('.')[2]}' only dense CPU tensors can be pinned"  # type: ignore[attr-defined]
        )
    if not devices.cuda_count():
        raise RuntimeError(
            "Cannot access accelerator device when none is available. Page-locked memory is for copies to a GPU; "
            "torch.cuda.simulate(2) gives two simulated ones."
        )
    if self.is_pinned():  # type: ignore[attr-defined]
        return self
    raw = share(self)
    copy = devices.empty_pinned(raw.shape, raw.dtype)
    copy[...] = raw
    owner = root_of(copy)
    _pinned[id(owner)] = owner
    t = wrap(copy)
    t._grad = None
    if modes.inferring[0]:
        modes.watchers["born"](t)
    return t


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether this tensor lies in page-locked memory."""
    raw = self.raw
    return isinstance(raw, np.ndarray) and id(root_of(raw)) in _pinned


attach("pin_memory", pin_memory)
attach("is_pinned", is_pinned)
