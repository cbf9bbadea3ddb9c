"""torch.utils: tools around tensors and modules."""

from importlib import import_module as _import_module
from typing import Any

from . import checkpoint as checkpoint
from . import hooks as hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]


def __getattr__(name: str) -> Any:
    """data and dlpack come with the first question for it."""
    if name not in ("data", "dlpack"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _import_module(f"{__name__}.{name}")
