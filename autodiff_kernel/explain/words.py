"""How answers call things: a value by the user's name for it or by the expression that made it, a number briefly."""

import ast
import dis
import sys
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.places import Place
from autodiff_kernel.core.saved import called
from autodiff_kernel.core.tensor import Tensor

from .history import name_of
from .names import Names, expression, stored_as

_METHODS = {
    "cast": "to",
    "reshape": "reshape",
    "getitem": "indexing",
    "setitem": "indexed assignment",
    "redraw": "random numbers",
    "standard_gamma": "gamma numbers",
    "sample_dirichlet": "Dirichlet numbers",
}


def names_of_caller() -> dict[str, Any]:
    """The names of whoever called the function that asks."""
    frame = sys._getframe(2)
    return {**frame.f_globals, **frame.f_locals}


def checked_names(namespace: Any) -> Mapping[str, Any]:
    """The names that a user handed over, those that are no text left out; TypeError if it is no mapping."""
    if not isinstance(namespace, Mapping):
        kind = type(namespace).__name__
        raise TypeError(f"namespace is a dictionary of names, such as globals(); this is {kind}")
    if all(isinstance(name, str) for name in namespace):
        return namespace
    return {name: value for name, value in namespace.items() if isinstance(name, str)}


def check_asked(x: Any, who: str) -> None:
    """TypeError for something else than a tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{who}() takes a tensor, not {type(x).__name__}")


def is_thrown_away(place: Place | None) -> bool:
    """Is the value of the instruction at `place` dropped, as of an expression that stands alone on a line?"""
    if place is None:
        return False
    offsets, kinds = _instructions(place.code)
    after = bisect_right(
        offsets, place.instruction
    )  # (the recorded one may point into its own cache entries)
    return after < len(kinds) and kinds[after] == "POP_TOP"


@lru_cache(256)
def _instructions(code: CodeType) -> tuple[list[int], list[str]]:
    """Where the instructions begin, and their kinds."""
    steps = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "NOP", "EXTENDED_ARG")]
    return [i.offset for i in steps], [i.opname for i in steps]


def label(e: Event, names: Names, longest: int = 60) -> str:
    """What a user calls the tensor of an event: its name, or the expression that made it."""
    t = e.tensor()
    name = name_of_tensor(t, names) if t is not None else ""
    if name:
        return name
    if e.kind == "made" and e.op in ("grad", "autograd.grad") and e.inputs:
        return f"the gradient of {label(e.inputs[0], names, longest)}"
    name = stored_as(e.place)
    if name and e.kind in ("operation", "made", "asked", "left") and "." not in name:
        return name
    if e.kind in ("write", "asked") and e.inputs and e.inputs[0].__class__ is Event:
        return label(e.inputs[0], names, longest)
    source = expression(e.place)
    if source and len(source) <= longest:
        return source
    return f"the result of {operation(e)}" if e.name else "a tensor"


def name_of_tensor(t: Tensor, names: Names) -> str:
    """The user's name of a tensor, or `w.grad` where it is the gradient of w."""
    found = name_of(t, names)
    if found or names is None:
        return found
    owner = owner_of(t, names)
    return "" if owner is None else f"{name_of(owner, names)}.grad"


def owner_of(g: Tensor, names: Names) -> Tensor | None:
    """The tensor among the user's whose `.grad` g is."""
    if g is None:
        return None
    fact = getattr(g, "fact", None)
    if fact is not None and fact.op in ("grad", "autograd.grad") and fact.inputs:
        t = fact.inputs[0].tensor()
        if t is not None and t._grad_or_none() is g:
            return t  # type: ignore[no-any-return]
    for value in list((names or {}).values()):
        if isinstance(value, Tensor) and value._grad_or_none() is g:
            return value
    return None


def operation(e: Event) -> str:
    """The operation as users call it."""
    if isinstance(e.op, str) or e.op is None:
        return _METHODS.get(e.name, e.name)
    name = called(e.op)
    return _METHODS.get(name, name)


def atom(source: str) -> str:
    """A name or expression so that a method can be called on it: in parentheses if it needs them.

    >>> atom("x.t()"), atom("a - b"), atom("-1")
    ('x.t()', '(a - b)', '(-1)')
    """
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError):
        return "(…)"
    bare = isinstance(tree, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Tuple))
    return source if bare or source.isdecimal() else f"({source})"


def number(x: Any) -> str:
    """A number, short: 6 digits at most of a fraction.

    >>> number(0.1), number(65504.0), number(16777217.0), number(float("inf")), number(3), number(True)
    ('0.1', '65504', '16777217', 'inf', '3', 'True')
    """
    x = x.item() if isinstance(x, (np.generic, np.ndarray)) else x
    if isinstance(x, bool):
        return str(x)
    if isinstance(x, complex):
        return str(x)
    if isinstance(x, float):
        return str(int(x)) if x.is_integer() and abs(x) < 1e12 and str(x) != "-0.0" else f"{x:.6g}"
    return str(x)


def shape(s: Any) -> str:
    """A shape as PyTorch writes it.

    >>> shape((3, 1))
    '[3, 1]'
    """
    return str(list(s))


def dtype(d: Any) -> str:
    """A dtype's name without 'torch.'."""
    return dtypes.of(np.dtype(d)).name


def times(n: int) -> str:
    """How often.

    >>> times(1), times(2), times(7)
    ('once', 'twice', '7 times')
    """
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def size(count: float) -> str:
    """Bytes, in the unit that leaves a short number.

    >>> size(64), size(2048), size(3_500_000)
    ('64 bytes', '2 KiB', '3.34 MiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{int(count)} bytes" if unit == "bytes" else f"{count:.3g} {unit}".replace(".0 ", " ")
        count /= 1024
    raise AssertionError


__all__ = ["Names", "atom", "dtype", "expression", "is_thrown_away", "label", "name_of_tensor",
           "check_asked", "checked_names", "names_of_caller", "number", "operation",
           "owner_of", "shape", "size", "stored_as", "times"]  # fmt: skip
