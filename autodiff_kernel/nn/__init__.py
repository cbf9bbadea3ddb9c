"""torch.nn: modules, the functions that they compute, how parameters begin, and tools around them.

All of it is loaded by the first question for one of its names.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from . import modules as modules
from .modules import HOMES as _HOMES
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

_LATE = {"attention", "functional", "init", "utils"}
__all__ = sorted(
    [*_HOMES, *_LATE, "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "modules"]
)


def __getattr__(name: str) -> _Any:
    """A layer, or a part of nn: loaded with the first question."""
    if name in _LATE:
        value: _Any = _import_module(f"{__name__}.{name}")
        from ..core.places import claim

        claim()
    elif name in _HOMES:
        value = getattr(modules, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
