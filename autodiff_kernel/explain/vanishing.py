"""Why is a gradient zero?  What each rule gave in the last backward is followed from the leaf towards the result.

The rule at fault is the first one to which something came and which handed on nothing.
"""

import inspect
from typing import Any, NamedTuple

import numpy as np

from autodiff_kernel.core.graph import as_edge
from autodiff_kernel.core.hooks import tensor_hooks
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.places import Place
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.core.trail import Passed
from autodiff_kernel.core.trail import told as told_by_trail

from . import rewrite
from .answer import Line, lines
from .names import Names, called, expression, in_line, operation, whose
from .values import Values, rule

# What hands on a gradient only where its input lies within bounds.
GATES = {"relu", "relu6", "clamp", "clamp_min", "clamp_max", "hardtanh", "threshold", "hardsigmoid", "hardshrink",
         "softshrink"}  # fmt: skip
STEPS = {"sign", "sgn", "round", "round_decimals", "floor", "ceil", "trunc", "heaviside", "floor_divide"}
CHOICES = {"max", "min", "amax", "amin", "max_dim", "min_dim", "maximum", "minimum", "fmax", "fmin", "topk", "median",
           "median_dim", "kthvalue", "mode", "cummax", "cummin"}  # fmt: skip
MASKS = {"where", "masked_fill", "masked_scatter", "dropout", "tril", "triu"}
PRODUCTS = {"mul", "mm", "mv", "dot", "matmul", "linear", "bmm", "outer", "addmm", "einsum", "div"}
PARTS = {
    "getitem",
    "select",
    "narrow",
    "slice",
    "index_select",
    "gather",
    "split",
    "unbind",
    "chunk",
    "diagonal",
    "take",
}
FAR_OUT = {"sigmoid", "tanh", "softmax", "log_softmax", "exp", "erf", "logsigmoid", "softplus"}


class Lost(NamedTuple):
    """Where a gradient became zero.

    event: the operation; None if nothing came at all (the gradient given to backward was zero).  number: which of its
    inputs was given nothing.  cancelled: several contributions that are not zero add up to it.  came: what came to the
    event's result, if it is known.  hooked: what came to the event's result was not zero before hooks saw it.
    """

    event: Event | None
    number: int = 0
    cancelled: tuple[Event, ...] = ()
    came: Any = None
    hooked: bool = False


def is_zero(x: Any) -> bool:
    """Whether a recorded gradient is known, and zero everywhere."""
    if isinstance(x, (list, tuple)):
        return all(part is None or is_zero(part) for part in x)
    return x is not None and np.size(x) > 0 and not np.any(x)


def lost(x: Tensor) -> Lost | None:
    """Where the gradient of a leaf became zero in the last backward that reached it; None if that is not known."""
    records = told_by_trail().passed
    mine = [r for r in records if r.target is not None and r.target.tensor() is x]
    if not mine:
        return None
    walk = mine[-1].walk
    records = [r for r in records if r.walk == walk]
    to: dict[int, list[Passed]] = {}
    for r in records:
        to.setdefault(id(r.target), []).append(r)
    here = [r for r in mine if r.walk == walk]
    for _ in range(len(records)):
        if not all(r.zeros[1] for r in here):
            if _sum_is_zero(here):
                return Lost(here[0].event, 0, tuple(r.event for r in here))
            return Lost(here[0].target, hooked=True)
        for r in here:
            if not r.zeros[0]:
                return Lost(r.event, r.number, came=r.cotangent)
        beyond = [s for r in here for s in to.get(id(r.event), ())]
        if not beyond:
            return Lost(None)
        here = beyond
    return None


def _sum_is_zero(came: list[Passed]) -> bool:
    """Do several contributions cancel each other?  (If they are too large to be kept, that is what is assumed.)"""
    parts = [r.gradient for r in came]
    if len(parts) == 1 or any(part is None for part in parts):
        return len(parts) > 1
    total = sum(np.asarray(part) for part in parts)
    return bool(np.all(np.abs(total) <= 1e-6 * sum(np.abs(np.asarray(part)) for part in parts)))


def told(found: Lost, names: Names) -> tuple[str, tuple[Line, ...], str]:
    """A clause that says how the gradient became zero, the lines, and what to write instead."""
    e = found.event
    if e is None:
        return "the gradient that was given to backward is itself zero", (), "y.backward(torch.ones_like(y))"
    if found.cancelled:
        return _cancelled(found, names)
    if found.hooked:
        return _hooked(e, names)
    x = e.inputs[found.number] if found.number < len(e.inputs) else None
    what = called(whose(x), names, "its input") if x.__class__ is Event else "its input"
    shown = expression(e.place)
    where = f"`{shown}`{in_line(e)}" if shown else f"{operation(e)}{in_line(e)}"
    value = getattr(x, "value", None)
    if _would_give_more(found):
        if _hooks_on(e.tensor())[1]:
            return _hooked(e, names, 1)
        return (
            f"{where} gave nothing on, though at the values that it was computed from its slope is not zero: what it had "
            "saved was changed before backward",
            lines(("the gradient became zero in", e)),
            "",
        )
    clause, fix = _by_kind(e, found.number, what, where, value, names)
    marks = lines(
        (f"{what} was made in", x) if x.__class__ is Event and x.kind == "operation" else ("", None)
    )
    return clause, marks + lines(("the gradient became zero in", e)), fix


def _would_give_more(found: Lost) -> bool:
    """Does the rule, with the recorded values, give something else than zero?"""
    e = found.event
    if e is None or found.came is None or isinstance(found.came, (list, tuple)) or not isinstance(e.op, Op):
        return False
    known = Values()
    xs, y = known.inputs(e), known.of(e)
    if xs is None or y is None:
        return False
    given = rule(e, found.number, np.asarray(found.came), xs, y)
    return given is not None and bool(np.any(given))


def _cancelled(found: Lost, names: Names) -> tuple[str, tuple[Line, ...], str]:
    spots = {str(e.place): e for e in found.cancelled}
    where = [("a contribution came from", e) for e in spots.values()]
    return (
        f"its {len(found.cancelled)} contributions cancel each other: they are not zero, but their sum is",
        lines(*where),
        "",
    )


def _hooks_on(t: Tensor | None) -> tuple[list[Any], list[Any]]:
    """The hooks that see a tensor's gradient before its node is walked, and those that see what the node gives."""
    n = None if t is None else as_edge(t.node)[0]
    if t is None or n is None or n.notes is None:
        return [], []
    before = [*(tensor_hooks(t) or {}).values(), *(dict(n.notes.before or {}).values())]
    return before, list(dict(n.notes.after or {}).values())


def _hooked(e: Event, names: Names, when: int = 0) -> tuple[str, tuple[Line, ...], str]:
    """Hooks replaced a gradient by zeros: that of a tensor (when=0), or what its node gave (when=1)."""
    t = e.tensor()
    found = _hooks_on(t)[when]
    name = called(whose(e) if t is None else t, names, "the result")
    codes = [(f.__name__, f.__code__) for f in found if inspect.isfunction(f)]
    own = {short for short, _ in codes if short.isidentifier()}
    which = (
        f"the hook {own.pop()}"
        if len(own) == 1 and len(found) == 1
        else "a hook"
        if len(found) < 2
        else "hooks"
    )
    name = f"the node of {name}" if when else name
    return (
        f"{which} on {name} replaced a gradient that was not zero by zeros",
        lines(*(("the hook is in", Place(code, 0)) for _, code in codes)),
        "handle.remove()   # where handle is what registering the hook returned; or return None from the hook",
    )


def _by_kind(e: Event, number: int, what: str, where: str, value: Any, names: Names) -> tuple[str, str]:
    name = operation(e)
    if isinstance(e.op, Op) and e.op.whole is not None:
        return (
            f"{where} calls the backward of {name}, which returned zeros for {what}",
            f"# look at {name}.backward",
        )
    if name in GATES:
        return _closed(e, what, where, value)
    if name in STEPS:
        without = rewrite.without(e.place, name) if e.place is not None else ""
        return (
            f"{where} is a flight of level steps, whose slope is zero everywhere",
            without or f"# leave out {name} where the gradient of {what} is wanted",
        )
    if name in CHOICES:
        return (
            f"{where} chose other elements: none of {what} is the one that it took",
            "# only what is chosen gets a gradient; torch.logsumexp is a smooth maximum",
        )
    if name in MASKS:
        return (
            f"{where} took nothing from {what}: the mask chose the other values everywhere",
            "# look at the mask: mask.float().mean() is the part of it that is True",
        )
    factor = _zero_factor(e, number, names) if name in PRODUCTS else ""
    if factor:
        other = next((x for i, x in enumerate(e.inputs) if i != number and x.__class__ is Event), None)
        if other is not None and other.tracked:
            start = f"with torch.no_grad():\n    {factor}.normal_(0, 0.1)   # at the start, not all zeros"
        else:
            start = f"{factor} = 0.1 * torch.randn({list(other.shape) if other is not None else []})   # not all zeros"
        by = factor if factor == "0" else f"{factor}, which is zero"
        return f"{where} multiplies {what} by {by}", start if factor.isidentifier() else ""
    if name in PARTS:
        return f"{where} takes other elements of {what} than those that a gradient came to", ""
    at = _value(value)
    if name in ("softmax", "log_softmax") and (
        value is None or np.all(np.abs(np.asarray(value, float)) < 50)
    ):
        return (
            f"{where} shares out 1 whatever {what} is, and the same came to every share: their sum cannot change",
            "# let the loss depend on single shares, not on their sum",
        )
    if name in FAR_OUT and value is not None and np.all(np.abs(np.asarray(value, float)) > 8):
        return (
            f"{where} is flat where {what} is ({at}): its slope there is below what the dtype can hold",
            f"# smaller values in {what}: smaller weights, or inputs that are divided by their spread",
        )
    if at:
        return (
            f"{where} has the slope zero where {what} is ({at})",
            "# a level point; at another value it has a slope",
        )
    return f"{where} hands on nothing to {what}: its slope is zero at these values", ""


def _closed(e: Event, what: str, where: str, value: Any) -> tuple[str, str]:
    name = operation(e)
    low, high = _bounds(e)
    inside = (
        f"above {low:g}"
        if high is None
        else f"below {high:g}"
        if low is None
        else f"between {low:g} and {high:g}"
    )
    shown = f" ({_value(value)})" if _value(value) else ""
    fix = {
        "relu": f"torch.nn.functional.leaky_relu({what.strip('`')}, 0.01)   # or start with other weights",
        "clamp": "# leave the clamp out of the loss, or start within its bounds",
    }.get(name, "")
    if value is not None and not np.any(_within(value, low, high)):
        return f"{where} hands on gradients only where {what} is {inside}, and it is nowhere{shown}", fix
    return (
        f"{where} hands on gradients only where {what} is {inside}, which it is not where one came{shown}",
        fix,
    )


def _bounds(e: Event) -> tuple[float | None, float | None]:
    """Between which values of its input a gate lets gradients through."""
    name = operation(e)
    fixed = {"relu": (0.0, None), "relu6": (0.0, 6.0), "hardsigmoid": (-3.0, 3.0)}
    if name in fixed:
        return fixed[name]
    given = e.p if isinstance(e.p, tuple) else (e.p,)
    numbers = [float(v) if isinstance(v, (int, float)) else None for v in (*given, None, None)]
    if name in ("clamp_max",):
        return None, numbers[0]
    return (numbers[0] if numbers[0] is not None or numbers[1] is not None else 0.0), numbers[1]


def _within(value: Any, low: float | None, high: float | None) -> Any:
    inside = np.ones(np.shape(value), bool)
    if low is not None:
        inside &= np.asarray(value) > low
    if high is not None:
        inside &= np.asarray(value) < high
    return inside


def _zero_factor(e: Event, number: int, names: Names) -> str:
    """What a product multiplies the input by, if that is zero everywhere."""
    for i, other in enumerate(e.inputs):
        if i == number:
            continue
        if other.__class__ is Event:
            if is_zero(other.value):
                return called(whose(other), names, "the other factor")
        elif isinstance(other, (int, float)) and other == 0:
            return f"{other:g}"
    return ""


def _value(value: Any) -> str:
    """A small value in words; '' if it is not known or has many elements."""
    if value is None or np.size(value) > 6:
        return ""
    flat = [f"{float(v):.4g}" for v in np.ravel(value) if np.isreal(v)]
    return flat[0] if np.ndim(value) == 0 and flat else f"[{', '.join(flat)}]"
