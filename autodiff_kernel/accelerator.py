"""torch.accelerator: the GPUs under a name that does not say whose they are. Here it is `torch.cuda`, if there is one.

>>> import autodiff_kernel as torch
>>> torch.cuda.simulate(2)
>>> torch.accelerator.current_accelerator(), torch.accelerator.device_count()
(device(type='cuda'), 2)
>>> torch.cuda.simulate(0)
"""

from typing import Any

from . import cuda as _cuda
from .core import device as _devices

__all__ = ["current_accelerator", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache",
           "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
           "memory_stats", "reset_peak_memory_stats", "set_device_index", "synchronize"]  # fmt: skip


def is_available() -> bool:
    """Whether there is a GPU, real or simulated."""
    return _cuda.is_available()


def device_count() -> int:
    """How many GPUs there are."""
    return _cuda.device_count()


def current_accelerator(check_available: bool = False) -> _devices.device | None:
    """The kind of device, `device(type='cuda')`; None where there is no GPU."""
    return _devices.device("cuda") if _cuda.is_available() else None


def _there(where: Any = None) -> Any:
    """A GPU as torch.cuda's functions take it; PyTorch's error where there is none."""
    if not _cuda.is_available():
        raise RuntimeError(
            "Cannot access accelerator device when none is available. torch.cuda.simulate(2) gives two simulated GPUs."
        )
    return where


def current_device_index() -> int:
    """The number of this thread's current GPU."""
    _there()
    return _cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make a GPU this thread's current one."""
    _cuda.set_device(_there(device))


def current_stream(device: Any = None, /) -> Any:
    """The stream of a GPU."""
    return _cuda.current_stream(_there(device))


def synchronize(device: Any = None, /) -> None:
    """Wait until a GPU has finished."""
    _cuda.synchronize(_there(device))


def empty_cache() -> None:
    """Give back the memory that is kept for reuse."""
    _there()
    _cuda.empty_cache()


class device_index:
    """Make a GPU the current one for the time of a `with`; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        self._switch = _cuda.device(self.idx)
        self._switch.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._switch.__exit__(*exception)


def memory_allocated(device: Any = None, /) -> int:
    """Bytes of a GPU's memory that tensors take."""
    return _cuda.memory_allocated(_there(device))


def max_memory_allocated(device: Any = None, /) -> int:
    """The most that was."""
    return _cuda.max_memory_allocated(_there(device))


def memory_reserved(device: Any = None, /) -> int:
    """Bytes that this process holds of a GPU."""
    return _cuda.memory_reserved(_there(device))


def max_memory_reserved(device: Any = None, /) -> int:
    """The most that was."""
    return _cuda.max_memory_reserved(_there(device))


def memory_stats(device: Any = None, /) -> Any:
    """The figures of a GPU's memory under PyTorch's names."""
    return _cuda.memory_stats(_there(device))


def reset_peak_memory_stats(device: Any = None, /) -> None:
    """Let the peaks start from the present."""
    _cuda.reset_peak_memory_stats(_there(device))
