"""What a function under a transformation (func.grad, vjp, jvp, …) has captured, and must not change in place.

    total = torch.zeros(3)
    torch.func.grad(lambda x: total.add_(x).sum())(x)        RuntimeError

Such a function may run any number of times, for many samples, at several levels of derivatives: what it captured would
be changed by each run, and would carry the history of a derivative that is over.  PyTorch refuses it, and so do we.
Captured is what was there before: a result that is older than the transformation, and what the function's closure,
defaults and globals hold when it starts.
"""

import threading
from operator import attrgetter
from typing import Any

from . import modes
from .errors import explain
from .graph import tick
from .sharing import View
from .storage import root_of
from .tensor import Tensor

MANY = 64  # elements of a container that are looked at
stamp_of = attrgetter("stamp")
guarding: set["Transforming"] = set()  # the functions at work, on all threads


class Transforming:
    """A function under transformation, from `guarding.add(it)` to `guarding.discard(it)`.

    To be written with try and finally: these calls go straight into C, so that no interrupt leaves a function at work.
    inputs: the tensors it runs on.  reverse: they are leaves of a graph, which it must not change either.
    """

    __slots__ = ("stamp", "thread", "held", "inputs", "reverse", "_known", "_own")

    def __init__(self, function: Any, inputs: Any, reverse: bool = False) -> None:
        self.held: list[Tensor] = []
        hold(function, self.held, 0)
        self.inputs, self.reverse = inputs, reverse
        self.stamp, self.thread = tick(), threading.get_ident()
        self._known: set[int] | None = None  # made for the first write; most functions write nothing
        self._own: set[int] = set()

    def owns(self, mine: set[int]) -> bool:
        """Is this memory an input's?"""
        if self._known is None:
            self._own = {m for t in self.inputs for m in marks(t)}
            self._known = {m for t in self.held for m in marks(t)}
        return not mine.isdisjoint(self._own)

    def knows(self, mine: set[int]) -> bool:
        """Is this memory something captured?  (Asked after `owns`.)"""
        return self._known is not None and not mine.isdisjoint(self._known)


def hold(x: Any, found: list[Tensor], depth: int) -> None:
    """Add the tensors that the function (or container) x holds."""
    if isinstance(x, Tensor):
        found.append(x)
    elif isinstance(x, (list, tuple)):
        for v in x[:MANY]:
            if isinstance(v, Tensor):
                found.append(v)
    elif isinstance(x, dict):
        for v in list(x.values())[:MANY]:
            if isinstance(v, Tensor):
                found.append(v)
    elif depth < 4:
        hold_of_function(x, found, depth + 1)


def hold_of_function(f: Any, found: list[Tensor], depth: int) -> None:
    f = getattr(f, "__wrapped__", f)
    code = getattr(f, "__code__", None)
    if code is None:
        inner = getattr(f, "func", None)  # functools.partial
        if inner is not None and inner is not f:
            hold(inner, found, depth)
        return
    for cell in f.__closure__ or ():
        try:
            hold(cell.cell_contents, found, depth)
        except ValueError:  # not bound yet
            continue
    hold(f.__defaults__ or (), found, depth)
    globals_of = f.__globals__
    for name in code.co_names:
        v = globals_of.get(name)
        if isinstance(v, (Tensor, list, dict, tuple)):
            hold(v, found, depth)


def marks(t: Any) -> list[int]:
    """What tells t again: its base, and the array that owns the memory."""
    while t.is_dual:
        t = t.value if hasattr(t, "value") else t.primal
    base = t.family.base if t.family.__class__ is View else t
    while base.is_dual:
        base = base.value if hasattr(base, "value") else base.primal
    raw = t.raw
    return [id(base), id(root_of(raw))] if hasattr(raw, "strides") and hasattr(raw, "base") else [id(base)]


def check(t: Tensor) -> None:
    """RuntimeError if a function under transformation must not write t's memory, as it is about to."""
    me = threading.get_ident()
    frames = sorted([f for f in list(guarding) if f.thread == me], key=stamp_of, reverse=True)
    mine = set(marks(t))
    node = (t.family.base if t.family.__class__ is View else t).node
    for frame in frames:
        if frame.owns(mine):
            if frame.reverse and (t.node is not None or node is not None) and modes.is_grad_enabled():
                raise leaf_changed(t)
        elif frame.knows(mine) or node is not None and node.op is not None and node.seq < frame.stamp:
            raise explain(
                RuntimeError,
                "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
                "operation that would mutate a captured Tensor. This is not supported; please rewrite the function being "
                "transformed to explicitly accept the mutated Tensor(s) as inputs.",
                "The tensor was there before the function, which may run several times, once for each level of "
                "derivatives.",
                "make it an argument, or use the form without the underscore and return the result (has_aux=True for "
                "what is no part of the derivative).",
                tensor=t,
            )


def leaf_changed(t: Tensor) -> RuntimeError:
    return explain(
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "An argument of the function is what the derivative is asked for; changing it in place would make it a result.",
        "use the form without the underscore (y = x * 2), or change a copy: x = x.clone().",
        tensor=t,
    )
