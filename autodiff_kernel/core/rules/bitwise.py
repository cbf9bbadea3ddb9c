"""Whole numbers and truth values bit by bit: & | ^ ~ << >>, logical_and and its relatives, gcd, lcm."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import attach, unary_names
from ..hot import binary, reflected
from ..inplace import in_place
from ..op import Op
from ..tensor import Tensor
from .forms import pair_names, refuse, settle


def _whole(kernel: str, fwd: Callable[..., Any]) -> Callable[..., Any]:
    """`fwd`, refusing floats."""

    def checked(a: Any, b: Any) -> Any:
        if a.dtype.kind not in "biu":
            refuse(kernel, a)
        return fwd(a, b)

    return checked


def _bitwise(name: str, fwd: Any, symbol: str, example: str) -> None:
    row = Op(f"bitwise_{name}", _whole(f"bitwise_{name}_cpu", fwd), spreads=True, types="same", symbol=symbol,
             doc=f"Bitwise {name} of whole numbers, logical {name} of truth values.")  # fmt: skip
    method = pair_names(
        row,
        row.name,
        numbers="both",
        example=f">>> torch.{row.name}(torch.tensor([5, 6]), 3)\ntensor({example})",
    )
    attach(f"__{name}__", binary(row))
    attach(f"__r{name}__", reflected(row))
    attach(f"__i{name}__", in_place(method, row))


_bitwise("and", operator.and_, "&", "[1, 2]")
_bitwise("or", operator.or_, "|", "[7, 7]")
_bitwise("xor", operator.xor, "^", "[6, 5]")


def _invert(a: Any) -> Any:
    if a.dtype.kind not in "biu":
        refuse("bitwise_not_cpu", a)
    return ~a


bitwise_not = Op(
    "bitwise_not",
    _invert,
    symbol="~",
    batch="elementwise",
    doc="Every bit inverted; logical not of truth values.",
)
unary_names(bitwise_not, example=">>> torch.bitwise_not(torch.tensor([True, False]))\ntensor([False,  True])")


def invert(self: Tensor) -> Tensor:
    """~x: every bit inverted; logical not of truth values."""
    if self.raw.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    result: Tensor = bitwise_not(self)
    return result


attach("__invert__", invert)


# ------------------------------------------------------------------------------------------------ shifts
def _shifted(a: Any, b: Any, left: bool) -> Any:
    """Shifts by a negative number, or by more than there are bits, shift everything out, as in PyTorch."""
    if a.dtype.kind == "b":
        refuse("lshift_cpu" if left else "rshift_cpu", a)
    bits = 8 * a.dtype.itemsize
    inside = (b >= 0) & (b < bits)
    if left:
        return settle(np.where(inside, np.left_shift(a, np.where(inside, b, b * 0)), a * 0))
    last = b * 0 + (bits - 1)
    return np.right_shift(a, np.where(inside, b, last))


def _shift(name: str, left: bool, symbol: str, operator_name: str, example: str) -> None:
    row = Op(
        name, _whole("lshift_cpu" if left else "rshift_cpu", lambda a, b: settle(_shifted(a, b, left))), spreads=True,
        types="same", symbol=symbol, doc=f"The bits moved to the {'left' if left else 'right'} by so many places.",
    )  # fmt: skip
    method = pair_names(
        row, name, numbers="both", example=f">>> torch.{name}(torch.tensor([4, 5]), 1)\ntensor({example})"
    )
    attach(f"__{operator_name}__", binary(row))
    attach(f"__r{operator_name}__", reflected(row))
    attach(f"__i{operator_name}__", in_place(method, row))


_shift("bitwise_left_shift", True, "<<", "lshift", "[ 8, 10]")
_shift("bitwise_right_shift", False, ">>", "rshift", "[2, 2]")


# ------------------------------------------------------------------------------------------------ truth values
def _logical(name: str, fwd: Any, symbol: str, example: str) -> None:
    row = Op(name, fwd, spreads=True, types="same", symbol=symbol,
             doc=f"Logical {name.removeprefix('logical_')}; every number but 0 counts as true.")  # fmt: skip
    pair_names(
        row,
        name,
        example=f">>> torch.{name}(torch.tensor([True, False]), torch.tensor([1, 1]))\ntensor({example})",
    )


_logical("logical_and", np.logical_and, "∧", "[ True, False]")
_logical("logical_or", np.logical_or, "∨", "[True, True]")
_logical("logical_xor", np.logical_xor, "⊻", "[False,  True]")
logical_not = Op(
    "logical_not", np.logical_not, symbol="¬", batch="elementwise", doc="Whether each element is 0 or False."
)
unary_names(logical_not, example=">>> torch.logical_not(torch.tensor([0., 2.]))\ntensor([ True, False])")


# ------------------------------------------------------------------------------------------------ divisors
def _integers(kernel: str, fwd: Any) -> Any:
    def checked(a: Any, b: Any) -> Any:
        if a.dtype.kind not in "iu":
            refuse(kernel, a)
        return fwd(a, b)

    return checked


for _name, _fwd, _what, _example in (
    ("gcd", np.gcd, "The greatest common divisor", "[4, 6]"),
    ("lcm", np.lcm, "The least common multiple", "[24, 36]"),
):
    pair_names(
        Op(_name, _integers(f"{_name}_cpu", _fwd), spreads=True, types="same", doc=f"{_what} of whole numbers."),
        _name, example=f">>> torch.{_name}(torch.tensor([12, 18]), torch.tensor([8, 12]))\ntensor({_example})",
    )  # fmt: skip
