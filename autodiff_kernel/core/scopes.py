"""Scopes: names that the user gives to a group of operations, for the pictures."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

opened = [0]  # how many scopes are open, on all threads: the hot path asks no further where there is none
_open = threading.local()  # .names: those of this thread


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
    opened[0] += 1
    try:
        yield
    finally:
        opened[0] -= 1
        _open.names = before
