"""Which walk is running on this thread, told to functions of the user's that it calls.

An unpack hook or a Function's `backward` may need to know: a checkpoint computes its values anew once for each walk,
and one of its kinds works only in a walk to all leaves.
"""

import threading
from types import TracebackType

from . import modes


class _Here(threading.local):
    task = 0  # the walk's number; 0 outside of any
    restricted = False  # does it go to some inputs only?


_here = _Here()


def task() -> int:
    """The number of the walk that called; 0 if none did.  No two walks have the same."""
    return _here.task


def is_restricted() -> bool:
    """Was the walk that called asked for the gradients of some inputs only (`grad`, or `inputs=`)?"""
    return _here.restricted


class calling:
    """`with calling(task, restricted, grad):` a walk calls a function of the user's in the grad mode it is due."""

    __slots__ = ("task", "restricted", "grad", "before")

    def __init__(self, task: int, restricted: bool, grad: bool) -> None:
        self.task, self.restricted, self.grad = task, restricted, grad

    def __enter__(self) -> None:
        self.before = (_here.task, _here.restricted, modes.is_grad_enabled())
        _here.task, _here.restricted = self.task, self.restricted
        modes.put_grad(self.grad)

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _here.task, _here.restricted, grad = self.before
        modes.put_grad(grad)
