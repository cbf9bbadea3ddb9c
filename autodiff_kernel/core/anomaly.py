"""Anomaly mode: backward looks at what every rule gives, and says which line of the forward pass a failure goes back to.

The mode holds for the whole process, as in PyTorch.  While it is on, nodes keep the user's line (see journal.py), and
the walk takes its general step for every node, through `watched`; while it is off it costs the walk one question.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import modes
from .dtype import is_floating
from .errors import explain
from .graph import Node
from .once import warn
from .saved import called
from .wrappers import grounds

on = [False]
check_nan = [True]
_lines_before = [False]  # whether nodes kept lines before the mode was switched on


def switch(mode: bool, nan: bool) -> None:
    """Switch the mode on or off, with or without the search for nan."""
    if mode and not on[0]:
        _lines_before[0] = modes._provenance
        modes.set_provenance(True)
    elif on[0] and not mode:
        modes.set_provenance(_lines_before[0])
    on[0], check_nan[0] = mode, nan


def watched(step: Callable[..., Any]) -> Callable[..., Any]:
    """The walk's general step, with the search for nan, and with the forward line on what it raises."""

    def look(n: Node, g: Any, *rest: Any, **more: Any) -> Any:
        try:
            edges, xs, theirs = step(n, g, *rest, **more)
            if check_nan[0]:
                look_for_nan(n, g, xs)
        except Exception as error:
            point_out(error, n)
            raise
        return edges, xs, theirs

    return look


def point_out(error: Exception, n: Node) -> None:
    """Warn of the node at fault and its line in the forward pass, as PyTorch does, and leave both on the error."""
    if getattr(error, "_pointed_out", False):  # from a backward within this one
        return
    error._pointed_out = True  # type: ignore[attr-defined]
    place = n.place
    if place is None:
        told = (
            f"Error detected in {n.title}. No forward pass information available. Enable detect anomaly during forward "
            "pass for more information."
        )
    else:
        told = f"Error detected in {n.title}. Traceback of forward call that caused the error:\n  {place}"
    warn(told)
    explanation = getattr(error, "explanation", None)
    if explanation is None:
        error.add_note(told)
    elif place is not None and all(str(p) != str(place) for _, p in explanation.lines):
        explanation.lines = (*explanation.lines, (f"{n.title} was recorded in", place))
        error.add_note(f"  {n.title} was recorded in {place}")


# ------------------------------------------------------------------------------------------------ nan
def look_for_nan(n: Node, g: Any, xs: Any) -> None:
    """Raise if a gradient that n's rules gave has a nan in it."""
    for i, x in enumerate(xs):
        for raw in raws_of(x):
            if is_floating(raw.dtype) and raw.size and bool((raw != raw).any()):
                raise nan_found(n, g, raw, i)


def raws_of(x: Any) -> list[Any]:
    """The arrays of a gradient: none if there is no gradient, and all that are in it if it is a wrapper."""
    if getattr(x, "is_dual", False):
        return [t.raw for t in grounds(x)]
    return [] if x is None else [getattr(x, "raw", x)]


def nan_found(n: Node, g: Any, raw: Any, i: int) -> RuntimeError:
    """The error for a nan among the gradients of input i: where it is, what it was made of, and where in the forward."""
    op = n.op
    number = i if op.each is not None else sum(r is not None for r in (op.a, op.b, op.c)[:i])
    at = np.unravel_index(int((raw != raw).reshape(-1).argmax()), raw.shape)
    where = f" at [{', '.join(str(int(k)) for k in at)}]" if at else ""
    made, cure = cause(n, g, raw, i, at)
    place = n.place
    return explain(
        RuntimeError,
        f"Function '{n.title}' returned nan values in its {number}th output.",
        f"The gradient that {called(op)} gives its input {number} is nan{where}. {made}".rstrip(),
        cure,
        ((f"{called(op)} was computed in", place),),
        node=n,
    )


def cause(n: Node, g: Any, raw: Any, i: int, at: Any) -> tuple[str, str]:
    """What the nan was made of, and what to do about that."""
    if g is None or isinstance(g, (list, tuple)) or getattr(g, "is_dual", False):
        return "", ""
    came = raws_of(g)[0]
    if bool((came != came).any()):
        return (
            "It came in: the gradient of the result had a nan already.",
            "look at the gradient that backward was given, and at the hooks on the way.",
        )
    if n.op.mode != "elementwise" or came.shape != raw.shape:
        return "The gradient of the result had none: the nan was made here.", ""
    slope = slope_at(n, came, i, at)
    if came[at] == 0 and not np.isfinite(slope):
        return (
            f"The slope is {_number(slope)} there, and the gradient of the result 0: 0 × {_number(slope)} = nan.",
            "keep the input away from there before the operation (clamp it, add a small number, or choose it with "
            "torch.where): hiding the result afterwards multiplies by 0, and that makes the nan.",
        )
    made = f"The slope is {_number(slope)} there, and the gradient of the result {_number(came[at])}."
    if np.isfinite(slope) and np.isfinite(came[at]) and n.notes is not None and n.notes.hooks:
        return made + " So a hook on the result made it.", "look at the hooks of this tensor (register_hook)."
    values = values_at(n, raw.shape, at)
    return made + (f" The rule read {values}." if values else ""), ""


def values_at(n: Node, shape: Any, at: Any) -> str:
    """What the rules read at one element, in words."""
    told = []
    for letter, name in (("a", "input 0"), ("b", "input 1"), ("c", "input 2"), ("y", "the result")):
        value: Any = getattr(n, letter, None)
        if getattr(value, "shape", None) == shape:
            told.append(f"{name} = {_number(value[at] if shape else value)}")
    return ", ".join(told)


def slope_at(n: Node, came: Any, i: int, at: Any) -> Any:
    """The derivative of the result for input i at one element: the rule for a gradient of 1 there."""
    from .saved import saved_tensors
    from .tensor import wrap

    one = came * 0
    if not came.ndim:
        one = came.dtype.type(1)
    else:
        one[at] = 1
    before = modes.is_grad_enabled()
    modes.put_grad(False)
    try:
        slopes = (n.op.a, n.op.b, n.op.c)[i](wrap(one), saved_tensors(n)).raw
    finally:
        modes.put_grad(before)
    return slopes[at]


def _number(x: Any) -> str:
    return f"{float(x):.4g}" if np.isrealobj(x) else f"{complex(x):.4g}"
