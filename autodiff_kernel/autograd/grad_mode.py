"""torch.autograd.grad_mode: the switches that say whether operations record a graph."""

from typing import Any

from ..core.inference import inference_mode as inference_mode
from ..core.modes import _Switch
from ..core.modes import enable_grad as enable_grad
from ..core.modes import no_grad as no_grad
from ..core.modes import set_grad_enabled as set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]

_multithreading = [True]


class set_multithreading_enabled(_Switch):
    """PyTorch's switch for backward on several devices at once, in threads of its own.

    Here backward always runs in the thread that calls it, so the switch is remembered and changes nothing.

    >>> import autodiff_kernel as torch
    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     torch.autograd.is_multithreading_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode, self.prev = mode, _multithreading[0]
        _multithreading[0] = mode

    def _again(self) -> "set_multithreading_enabled":
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        _multithreading[0] = self.mode

    def __exit__(self, *_: Any) -> None:
        _multithreading[0] = self.prev


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last told.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.is_multithreading_enabled()
    True
    """
    return _multithreading[0]
