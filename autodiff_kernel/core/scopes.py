"""Scopes: names that the user gives to a group of operations, for the pictures."""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

opened = [0]  # how many scopes are open, on all threads: the hot path asks no further where there is none
_open = threading.local()  # .names: those of this thread


def scopes() -> tuple[str, ...]:
    """The names of the scopes that are open on this thread, outermost first."""
    return tuple(getattr(_open, "names", ()))


class ModuleScope(str):
    """The scope of a module's call: the class's name, and which module it is. Pictures find its name in the model."""

    module: Any

    def __new__(cls, module: Any) -> "ModuleScope":
        made = super().__new__(cls, type(module).__name__)
        made.module = weakref.ref(module)
        return made


@contextmanager
def scope(name: Any) -> Iterator[None]:
    """Operations inside belong together: pictures draw them as one group with this name.

    name: a text; or a module (anything with `named_parameters()`), which pictures call as its model does ("layers.0").

    >>> import autodiff_kernel as torch
    >>> with torch.scope("layer 1"):
    ...     y = torch.ones(2) * 2
    """
    before = scopes()
    is_module = not isinstance(name, str) and callable(getattr(type(name), "named_parameters", None))
    _open.names = (*before, ModuleScope(name) if is_module else str(name))
    opened[0] += 1
    try:
        yield
    finally:
        opened[0] -= 1
        _open.names = before
