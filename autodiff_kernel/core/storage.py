"""The memory under an array: where it begins, how long it is, and other arrangements of its elements."""

from typing import Any

import numpy as np

from . import device as devices


def root_of(raw: Any) -> Any:
    """The array that owns the memory of `raw`."""
    while True:
        base = getattr(raw, "base", None)
        if not is_array(base):
            base = getattr(base, "base", None)  # the go-between of NumPy's as_strided
            if not is_array(base):
                return raw
        raw = base


def is_array(x: Any) -> bool:
    return hasattr(x, "strides") and hasattr(x, "dtype") and not isinstance(x, np.generic)


def row_major(raw: Any) -> Any:
    """The array itself if its elements lie in row-major order, else a copy in which they do.

    NumPy's results keep the order of their inputs' memory; PyTorch's, except element by element, are row-major, so that
    `view` works on them.
    """
    return raw if raw.flags.c_contiguous else raw.copy()


def in_order(fwd: Any) -> Any:
    """A forward whose result, or each of whose results, is row-major."""

    def ordered(*args: Any) -> Any:
        y = fwd(*args)
        return tuple([row_major(part) for part in y]) if y.__class__ is tuple else row_major(y)

    return ordered


def offset_of(raw: Any) -> int:
    """How many elements after the start of its memory `raw` begins."""
    root = root_of(raw)
    return 0 if root is raw else (devices.data_ptr(raw) - devices.data_ptr(root)) // raw.dtype.itemsize


def storage_size(raw: Any) -> int:
    """The bytes of the memory under `raw`."""
    return int(root_of(raw).nbytes)


def as_strided(raw: Any, shape: tuple[int, ...], strides: tuple[int, ...], shift: int = 0) -> Any:
    """A view of raw's memory with any shape and strides; `shift` (bytes, like strides) moves the first element.

    The caller has checked that the view stays inside.
    """
    root = root_of(raw)
    if isinstance(raw, np.ndarray):
        memory = root if root.flags.c_contiguous else root.T
        if memory.flags.c_contiguous and raw.dtype.kind != "V" and root.size and 0 not in shape:
            start = raw.__array_interface__["data"][0] - root.__array_interface__["data"][0] + shift
            return np.ndarray(shape, raw.dtype, memory, start, strides)  # takes a tenth of NumPy's as_strided
        make = np.lib.stride_tricks.as_strided
    else:
        module = devices.backend_of(raw).module
        make = getattr(module, "as_strided", None) or module.lib.stride_tricks.as_strided
    if shift:
        n = raw.dtype.itemsize
        raw = make(root, (root.nbytes // n,), (n,))[offset_of(raw) + shift // n :]
    return make(raw, shape, strides)


def strides_of(raw: Any) -> tuple[int, ...]:
    """The strides in elements.  Of a dimension of size 1 NumPy may say 0, PyTorch what the dimension after it takes."""
    n = raw.dtype.itemsize
    if 0 not in raw.strides:
        return tuple([s // n for s in raw.strides])
    steps: list[int] = []
    after = 1
    for size, stride in zip(reversed(raw.shape), reversed(raw.strides)):
        steps.append(stride // n if stride or size != 1 else after)
        after = size * steps[-1]
    return tuple(reversed(steps))


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def copied_memory(raw: Any, memo: dict[Any, Any]) -> Any:
    """A copy of an array; arrays over one memory that are copied with one memo share the copied memory too."""
    if raw.__class__ is not np.ndarray or not raw.size:
        return raw.copy() if raw.ndim else raw[()]
    root = root_of(raw)
    if root.dtype != raw.dtype or not root.flags.forc:
        return raw.copy()
    key = ("memory", id(root))
    if key not in memo:
        memo[key] = root.copy(order="K"), root  # holds the root, so that its id stays its own
    step = raw.dtype.itemsize
    whole = memo[key][0]
    if root is raw:
        return whole
    start = offset_of(raw) * step
    return as_strided(whole, raw.shape, raw.strides, start)
