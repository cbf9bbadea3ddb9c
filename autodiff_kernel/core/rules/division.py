"""Division to whole numbers and what remains: // % floor_divide, remainder, fmod."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import attach
from ..hot import binary, reflected
from ..inplace import in_place
from ..op import Op
from .forms import pair_names, refuse, undefined, zero


def _no_zero(kernel: str, fwd: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`fwd`, with PyTorch's error where integers are divided by 0, and none for truth values."""

    def checked(a: Any, b: Any) -> Any:
        kind = a.dtype.kind if hasattr(a, "dtype") else b.dtype.kind
        if kind in "iu":
            if bool((b == 0).any() if hasattr(b, "any") else b == 0):
                raise RuntimeError("ZeroDivisionError")
        elif kind == "b":
            refuse(kernel, a if hasattr(a, "dtype") else b)
        return fwd(a, b)

    return checked


def _trunc(a: Any, b: Any) -> Any:
    if (a.dtype if hasattr(a, "dtype") else b.dtype).kind == "f":
        return np.trunc(a / b)
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient < 0) & (quotient * b != a)).astype(quotient.dtype)


# division with a rounding mode: the result is constant wherever it has a derivative
div_floor = Op("div_floor", _no_zero("div_floor_cpu", np.floor_divide), zero, zero,
               mode="elementwise", spreads=True, types="same",
               node="DivBackward2", symbol="⌊÷⌋", partials=("0", "0"), latex=r"\lfloor {a} / {b} \rfloor",
               doc="The quotient rounded down.")  # fmt: skip
div_trunc = Op("div_trunc", _no_zero("div_trunc_cpu", _trunc), zero, zero,
               mode="elementwise", spreads=True, types="same",
               node="DivBackward2", symbol="÷", partials=("0", "0"), latex=r"\text{{trunc}}({a} / {b})",
               doc="The quotient rounded towards 0.")  # fmt: skip
floor_divide = Op("floor_divide", div_floor.fwd, undefined("floor_divide"), undefined("floor_divide"),
                  mode="elementwise", spreads=True, types="same", node="NotImplemented", symbol="//",
                  partials=("undefined", "undefined"), latex=r"\lfloor {a} / {b} \rfloor",
                  doc="The quotient rounded down; no derivative (div with a rounding mode has one).")  # fmt: skip


def _pair(name: str, fwd: Any, quotient: Op, symbol: str, doc: str) -> tuple[Op, Op]:
    """The row, and the one for a number as second operand, which PyTorch's graph shows under another name."""
    what: dict[str, Any] = {
        "mode": "elementwise", "spreads": True, "types": "same", "symbol": symbol,
        "latex": r"{a} \bmod {b}", "doc": doc,
    }  # fmt: skip
    fwd = _no_zero(f"{name}_cpu", fwd)
    row = Op(
        name, fwd, lambda g, n: g, lambda g, n: -g * quotient(n.a, n.b), reads=("", "ab"),
        node=f"{name.capitalize()}Backward1", partials=("1", "−⌊{a}/{b}⌋"), **what,
    )  # fmt: skip
    with_number = Op(
        f"{name}_number", fwd, lambda g, n: g, node=f"{name.capitalize()}Backward0", partials=("1",), **what
    )
    return row, with_number


remainder, remainder_number = _pair(
    "remainder", np.remainder, div_floor, "%", "What the division leaves; it has the divisor's sign."
)
fmod, fmod_number = _pair(
    "fmod", np.fmod, div_trunc, "fmod", "What the division leaves; it has the dividend's sign."
)

_remainder = pair_names(
    remainder, "remainder", numbers="both", number_row=remainder_number,
    example=">>> torch.remainder(torch.tensor([-3., 3.]), 2)\ntensor([1., 1.])",
)  # fmt: skip
pair_names(
    fmod, "fmod", numbers="second", number_row=fmod_number,
    example=">>> torch.fmod(torch.tensor([-3., 3.]), 2)\ntensor([-1.,  1.])",
)  # fmt: skip
_floor_divide = pair_names(
    floor_divide, "floor_divide", numbers="both",
    example=">>> torch.floor_divide(torch.tensor([7, -7]), 2)\ntensor([ 3, -4])",
)  # fmt: skip


def _modulo(self: Any, other: Any) -> Any:
    return (_by_number if other.__class__ in (int, float, bool) else _by_tensor)(self, other)


_by_number, _by_tensor = binary(remainder_number), binary(remainder)
for _name, _method in {
    "__floordiv__": binary(floor_divide), "__rfloordiv__": reflected(floor_divide),
    "__ifloordiv__": in_place(_floor_divide, floor_divide),
    "__mod__": _modulo, "__rmod__": reflected(remainder), "__imod__": in_place(_remainder, remainder),
}.items():  # fmt: skip
    attach(_name, _method)
