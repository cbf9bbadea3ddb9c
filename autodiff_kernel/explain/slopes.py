"""Why a rule of backward gives inf or nan: the cotangent, the slope at that point, and what to write instead."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.trail import Passed

from .causes import Cause
from .values import Backwards, Values, at, rule, where, worst
from .words import Names, atom, expression, label, number, operation

_PICKS = (
    "where",
    "masked_fill",
    "masked_select",
    "masked_scatter",
    "getitem",
    "index",
    "gather",
    "index_select",
)


@dataclass
class Bend:
    """One step of a backward: the operation, and what its rule made of what."""

    step: Passed
    backs: Backwards
    values: Values
    names: Names

    @property
    def e(self) -> Event:
        return self.step.event  # type: ignore[no-any-return]

    @property
    def row(self) -> str:
        return getattr(self.e.op, "name", "")

    @property
    def index(self) -> tuple[int, ...]:
        """The first element of the gradient that is nan (or inf)."""
        x = self.backs.gradient(self.step)
        return () if x is None else where(x, worst(x))

    def name(self) -> str:
        """What the user calls the input."""
        x = self.e.inputs[self.step.number]
        return label(x, self.names) if x.__class__ is Event else number(x)

    def numbers(self) -> tuple[Any, Any, Any, Any] | None:
        """At the element: the input, the cotangent, the slope, and the gradient; None where they do not meet one to one."""
        x, g = self.backs.gradient(self.step), self.backs.cotangent(self.step)
        xs = self.values.inputs(self.e)
        if x is None or g is None or xs is None or self.e.op.mode != "elementwise" or g.shape != x.shape:
            return None
        slope = rule(self.e, self.step.number, np.ones_like(g), xs, self.values.of(self.e))
        if slope is None or slope.shape != x.shape:
            return None
        i = self.index
        return at(xs[self.step.number], i), at(g, i), at(slope, i), at(x, i)


def backward_cause(b: Bend) -> Cause:
    """Why the rule gave nan or inf."""
    n = b.numbers()
    if n is None:
        return Cause(f"the rule of {operation(b.e)} gives {worst(b.backs.gradient(b.step))} here", "", "")
    x, g, slope, result = n
    factor = f"({number(slope)})" if np.signbit(slope) else number(slope)
    said = (
        f"backward of {expression(b.e.place) or operation(b.e)} multiplies the cotangent {number(g)} by the slope of "
        f"{_FUNCTIONS.get(b.row, operation(b.e))} at {number(x)}, which is {number(slope)}: "
        f"{number(g)} * {factor} = {number(result)}"
    )
    mask = _masked_by(b) if g == 0 else None
    if mask is not None:
        return Cause(said, _MASKED.format(what=operation(mask)), _double_where(b, mask))
    return Cause(said, "", _smooth(b, x))


_FUNCTIONS = {"reciprocal": "1/x", "pow_number": "the power", "pow": "the power", "div": "the quotient"}
_MASKED = "The cotangent is 0 because {what} left this element out; but backward goes through both branches all the same."


def _masked_by(b: Bend) -> Event | None:
    """The operation that gave this element the cotangent 0 by leaving it out."""
    steps, seen = b.backs.onto(b.step), set()
    while steps:
        step = steps[0]
        if id(step) in seen:
            return None
        seen.add(id(step))
        if getattr(step.event.op, "name", "") in (*_PICKS, "mul"):
            g, x, i = b.backs.cotangent(step), b.backs.gradient(step), b.index
            if x is None or len(i) != x.ndim or x[i] != 0:
                pass
            elif g is None or g.shape != x.shape or g[i] != 0:
                return step.event  # type: ignore[no-any-return]
        steps = b.backs.onto(step)
    return None


def _double_where(b: Bend, mask: Event) -> str:
    x, row = atom(b.name()), getattr(mask.op, "name", "")
    condition = _condition(mask)
    c = "mask" if condition is None else (expression(condition.place) or label(condition, b.names))
    if condition is not None and label(condition, b.names).isidentifier():
        c = label(condition, b.names)
    if row == "masked_fill":
        c = f"~{atom(c)}"
    safe = f"safe = torch.where({c}, {b.name()}, torch.ones_like({x}))  # harmless values where they are left out"
    if row == "where":
        other = mask.inputs[2]
        rest = label(other, b.names) if other.__class__ is Event else number(other)
        return f"{safe}\ntorch.where({c}, {_applied(b, 'safe')}, {rest})"
    return f"{safe}\n{_applied(b, 'safe')}  # in place of {expression(b.e.place) or operation(b.e)}"


def _condition(mask: Event) -> Event | None:
    """The truth values by which an operation picked elements."""
    return next(
        (x for x in mask.inputs if x.__class__ is Event and x.dtype is not None and x.dtype == np.bool_), None
    )


def _applied(b: Bend, to: str) -> str:
    """The operation with its input replaced."""
    f = operation(b.e)
    if b.row == "reciprocal":
        return f"1 / {to}"
    if b.row == "div":
        top = b.e.inputs[0]
        return f"{atom(label(top, b.names)) if top.__class__ is Event else number(top)} / {to}"
    if b.row in ("pow", "pow_number"):
        return f"{to} ** {number(b.e.inputs[1]) if b.e.inputs[1].__class__ is not Event else '…'}"
    return f"{to}.{f}()"


def _smooth(b: Bend, x: Any) -> str:
    """The cure where a function is infinitely steep at the point, or the cotangent was inf."""
    name, f = atom(b.name()), operation(b.e)
    if b.row == "sqrt" and x == 0:
        inner = _squares(b.e.inputs[0])
        if inner is not None:
            v = atom(label(inner, b.names))
            return f"{v}.norm()  # its slope at 0 is set to 0; or (({v} ** 2).sum() + 1e-12).sqrt()"
        return f"({name} + 1e-12).sqrt()"
    if b.row in ("sqrt", "rsqrt", "log", "log2", "log10", "reciprocal", "pow", "pow_number") and x == 0:
        return _applied(b, f"({name} + 1e-12)")
    if b.row in ("exp", "exp2", "expm1") and x > 0:
        return f"{name}.clamp(max=80).{f}()  # stays in range; or a function that does it all, such as torch.sigmoid"
    if b.row in ("asin", "acos", "atanh", "erfinv"):
        return f"{name}.clamp(-1 + 1e-6, 1 - 1e-6).{f}()"
    return ""


def _squares(e: Any) -> Event | None:
    """x, if e is the sum of x squared."""
    if e.__class__ is not Event or getattr(e.op, "name", "") != "sum":
        return None
    inner = e.inputs[0]
    row = getattr(inner.op, "name", "") if inner.__class__ is Event else ""
    if row == "square" or row == "pow_number" and inner.inputs[1] == 2:
        return inner.inputs[0]  # type: ignore[no-any-return]
    if row == "mul" and inner.inputs[0] is inner.inputs[1]:
        return inner.inputs[0]  # type: ignore[no-any-return]
    return None
