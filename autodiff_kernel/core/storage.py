"""The memory under an array: where it begins, how long it is, and other arrangements of its elements."""

from typing import Any

import numpy as np

from . import device as devices


def root_of(raw: Any) -> Any:
    """The array that owns the memory of `raw`."""
    while (base := getattr(raw, "base", None)) is not None and hasattr(base, "strides"):
        raw = base
    return raw


def storage_size(raw: Any) -> int:
    """The bytes of the memory under `raw`."""
    return int(root_of(raw).nbytes)


def as_strided(raw: Any, shape: tuple[int, ...], strides: tuple[int, ...], shift: int) -> Any:
    """A view of raw's memory with any shape and strides; `shift` (bytes, like strides) moves the first element.

    The caller has checked that the view stays inside.
    """
    module = np if isinstance(raw, np.ndarray) else devices.backend_of(raw).module
    make = getattr(module, "as_strided", None) or module.lib.stride_tricks.as_strided
    if shift:
        root = root_of(raw)
        n = raw.dtype.itemsize
        at = (devices.data_ptr(raw) - devices.data_ptr(root) + shift) // n
        raw = make(root, (root.nbytes // n,), (n,))[at:]
    return make(raw, shape, strides)
