"""Arithmetic: + - * / ** and their relatives."""

import cmath
import operator
from typing import Any

import numpy as np

from ..api import FUNCTIONS, METHODS, attach, binary_names, check_tensor, into, public, unary_names
from ..hot import binary, meet_other
from ..inplace import arithmetic_in_place
from ..once import warn_once
from ..op import NUMBERS, TABLE, Op
from ..tensor import Tensor

add = Op(
    "add", operator.add, a=lambda g, n: g, b=lambda g, n: g, mode="elementwise", spreads=True, types="same",
    symbol="+", partials=("1", "1"), latex="{a} + {b}", doc="The sum of two tensors, element by element.",
)  # fmt: skip
sub = Op(
    "sub", operator.sub, a=lambda g, n: g, b=lambda g, n: -g, mode="elementwise", spreads=True, types="same",
    symbol="−", partials=("1", "−1"), latex="{a} - {b}", doc="The difference of two tensors, element by element.",
)  # fmt: skip
rsub = Op(
    "rsub", lambda a, b: b - a, a=lambda g, n: -g, b=lambda g, n: g, mode="elementwise", spreads=True, types="same",
    node="RsubBackward1", symbol="−", partials=("−1", "1"), latex="{b} - {a}", doc="other − input.",
)  # fmt: skip
mul = Op(
    "mul", operator.mul, a=lambda g, n: g * n.b, b=lambda g, n: g * n.a, reads=("b", "a"), mode="elementwise",
    spreads=True, types="same", symbol="×", partials=("{b}", "{a}"), latex=r"{a} \cdot {b}",
    doc="The product of two tensors, element by element.",
)  # fmt: skip
div = Op(
    "div", operator.truediv, a=lambda g, n: g / n.b, b=lambda g, n: -g * ((n.a / n.b) / n.b), reads=("b", "ab"),
    mode="elementwise", spreads=True, types="float", symbol="÷", partials=("1/{b}", "−{a}/{b}²"),
    latex=r"\frac{{{a}}}{{{b}}}", doc="The quotient of two tensors, element by element; integers give floats.",
)  # fmt: skip
neg = Op("neg", operator.neg, a=lambda g, n: -g, mode="elementwise", symbol="−", partials=("−1",), latex="-{a}",
         doc="The negative of each element.")  # fmt: skip


def _power_rule(g: Any, n: Any) -> Any:
    if n.b == 2 and n.a.__class__ is not Tensor:  # most powers are squares
        return g * (n.b * n.a)
    # a Tensor goes on as its first power: so the gradient of the gradient still has a graph, if one of zeros
    # at a = 0 the factor a**(b-1) of a**0 is infinite, although the power is constant
    return g * 0 if n.b == 0 else g * (n.b * n.a ** (n.b - 1))


pow_number = Op(
    "pow_number", operator.pow, a=_power_rule, reads=("ab",), mode="elementwise", spreads=True, types="same",
    node="PowBackward0", symbol="^", partials=("{b}·{a}^({b}−1)",), latex="{a}^{{{b}}}",
    doc="Each element to the power of a number.",
)  # fmt: skip


def _powers(a: Any, b: Any) -> Any:
    return _whole_powers(a, b) if b.dtype.kind in "biu" else a**b


def _whole_powers(a: Any, b: Any) -> Any:
    """Powers of integers: a negative exponent gives 0, but for the bases 1 and −1."""
    if b.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    negative = b < 0
    y = a ** where(negative, b * 0, b)
    unit = where(a == -1, 1 - 2 * (b & 1), (a == 1) * 1)
    return where(negative, unit, y).astype(b.dtype)


def _exponent_rule(g: Any, n: Any) -> Any:
    # 0**b is constant (0) for b > 0, but log(0) is -inf: the product must be 0, not nan
    zero = (n.a == 0) & (n.b.real >= 0)  # (complex numbers have no order)
    return g * where(zero, 0, n.y * log(where(zero, 1, n.a)))


def _base_rule(g: Any, n: Any) -> Any:
    zero = n.b == 0
    return g * where(zero, 0, n.b * n.a ** where(zero, 1, n.b - 1))


pow_tensor = Op(
    "pow", _powers, a=_base_rule, b=_exponent_rule, reads=("ab", "aby"), mode="elementwise", spreads=True,
    types="same", node="PowBackward1", symbol="^", partials=("{b}·{a}^({b}−1)", "{y}·log {a}"),
    latex="{a}^{{{b}}}", doc="Each element to the power of the other tensor's element.",
)  # fmt: skip


def _base_number_rule(g: Any, n: Any) -> Any:
    if n.a == 0:  # 0**b is constant for b > 0, and 0 * log(0) would be nan
        constant = n.b.real >= 0
        return g * where(constant, 0, where(constant, 0, n.y) * float("-inf"))
    if getattr(n.y, "raw", n.y).dtype.kind == "c":
        return g * (n.y * cmath.log(n.a))
    return g * (n.y * float(np.log(np.float64(n.a))))


pow_base = Op(
    "pow_base", _powers, None, _base_number_rule, reads=("", "aby"), mode="elementwise", spreads=True, types="same",
    node="PowBackward2", symbol="^", partials=("", "{y}·log {a}"), latex="{a}^{{{b}}}",
    doc="A number to the power of each element.",
)  # fmt: skip


def where(condition: Any, a: Any, b: Any) -> Any:
    return TABLE["where"](condition, a, b)


def log(a: Any) -> Any:
    return TABLE["log"](a)


# ------------------------------------------------------------------------------------------------ their forms
_add, _sub, _mul, _div = binary(add), binary(sub), binary(mul), binary(div, floats=True)
_rsub, _pow_number, _pow_tensor = binary(rsub), binary(pow_number), binary(pow_tensor)


def _kinds(operands: tuple[Any, ...]) -> list[str]:
    return [x.raw.dtype.kind for x in operands if isinstance(x, Tensor)]


def _check_alpha(alpha: Any, operands: tuple[Any, ...]) -> None:
    kinds = _kinds(operands)
    if alpha.__class__ is bool and any(kind != "b" for kind in kinds):
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and all(kind in "biu" for kind in kinds):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


def scaled(fast: Any, row: Op) -> Any:
    """add and sub with `alpha`, a factor of the second operand."""
    name = row.name

    def method(self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
        if alpha.__class__ is not int or alpha != 1:
            _check_alpha(alpha, (self, other))
            if alpha != 1 and not (
                name == "sub" and "b" in _kinds((self, other))
            ):  # (of truths: refused below)
                other = other * alpha
        result = fast(self, other) if isinstance(self, Tensor) else number_first(row, self, other)
        if result is NotImplemented:
            check_tensor(name, other, "other", 2)
        return result if out is None else into(out, result, self, other)

    return method


def old_order(name: str, number: Any, rest: tuple[Any, ...]) -> Any:
    """x.add(2, y) for x.add(y, alpha=2): the order of early PyTorch, which it still takes, with a warning.  Gives y."""
    if len(rest) != 1 or not isinstance(number, NUMBERS):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: the factor of `other` has a name, alpha="
        )
    warn_once(
        f"This overload of {name} is deprecated:\n\t{name}(Number alpha, Tensor other)\nConsider using one of the "
        f"following signatures instead:\n\t{name}(Tensor other, *, Number alpha = 1)"
    )
    return rest[0]


def number_first(row: Op, number: Any, other: Any) -> Any:
    """torch.add(2, x): PyTorch lets a number stand for the first tensor."""
    if not isinstance(number, NUMBERS):
        check_tensor(row.name, number)
    check_tensor(row.name, other, "other", 2)
    return row(number, other)


@public(inplace=True, row=add)
def add_(input: Tensor, other: Any, *old: Any, alpha: Any = 1, out: Any = None) -> Tensor:
    """input + alpha * other, element by element, with broadcasting.

    >>> import autodiff_kernel as torch
    >>> torch.add(torch.tensor([1, 2]), 10, alpha=2)
    tensor([21, 22])
    """
    if old:
        other, alpha = old_order("add", other, old), other
    return _scaled_add(input, other, alpha=alpha, out=out)


@public("sub", "subtract", inplace=True, row=sub)
def sub_(input: Tensor, other: Any, *old: Any, alpha: Any = 1, out: Any = None) -> Tensor:
    """input - alpha * other, element by element, with broadcasting.

    >>> import autodiff_kernel as torch
    >>> torch.sub(torch.tensor([1., 2.]), 1)
    tensor([0., 1.])
    """
    if old:
        other, alpha = old_order("sub", other, old), other
    return _scaled_sub(input, other, alpha=alpha, out=out)


_scaled_add, _scaled_sub = scaled(_add, add), scaled(_sub, sub)
binary_names(mul, "mul", "multiply", example=">>> torch.mul(torch.tensor([2., 3.]), 2)\ntensor([4., 6.])")
unary_names(neg, "neg", "negative", example=">>> torch.neg(torch.tensor([2., -3.]))\ntensor([-2.,  3.])")


@public("div", "divide", "true_divide", inplace=True, row=div)
def div_(input: Tensor, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    """input / other, element by element; `rounding_mode` may be 'trunc' or 'floor'.

    Integer tensors give the default floating dtype unless a rounding mode is given.

    >>> import autodiff_kernel as torch
    >>> torch.div(torch.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
    >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode='floor')
    tensor([ 3, -4])
    """
    if rounding_mode is None:
        result = _div(input, other) if isinstance(input, Tensor) else number_first(div, input, other)
        if result is NotImplemented:
            check_tensor("div", other, "other", 2)
    elif rounding_mode == "floor":
        result = TABLE["div_floor"](input, other)
    elif rounding_mode == "trunc":
        result = TABLE["div_trunc"](input, other)
    else:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '"
            + rounding_mode
            + "'"
        )
    return result if out is None else into(out, result, input, other)


def _unusual_power(self: Any, exponent: Any) -> Any:
    """A negative whole number, a truth value or a complex number as exponent."""
    kind = self.raw.dtype.kind
    if exponent.__class__ is int and kind in "iu":
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if exponent.__class__ is bool and kind == "b":
        return TABLE["bitwise_or"](self, not exponent)
    return _pow_number(self, exponent)


def power(self: Any, exponent: Any) -> Any:
    kind = exponent.__class__
    if kind is float or kind is int and exponent >= 0:
        return _pow_number(self, exponent)
    if kind in NUMBERS:
        return _unusual_power(self, exponent)
    return (
        _pow_number(self, exponent.item())
        if isinstance(exponent, np.generic)
        else _pow_tensor(self, exponent)
    )


@public(inplace=True)
def pow_(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input to the power of exponent, element by element; either may be a number.

    >>> import autodiff_kernel as torch
    >>> torch.pow(torch.tensor([2., 3.]), 2)
    tensor([4., 9.])
    """
    if not isinstance(input, Tensor):
        check_tensor("pow", exponent, "exponent", 2)
        result = pow_base(input, exponent)
    else:
        result = power(input, exponent)
        if result is NotImplemented:
            check_tensor("pow", exponent, "exponent", 2)
    return result if out is None else into(out, result, input, exponent)


def _reflected_power(self: Any, other: Any) -> Any:
    return power(other, self) if isinstance(other, Tensor) else meet_other(pow_base, other, self)


def _reflected_quotient(self: Any, other: Any) -> Any:
    return TABLE["reciprocal"](self) * other


def _attach_operators() -> None:
    for names, row, ufunc in (
        (("add_",), add, np.add), (("sub_", "subtract_"), sub, np.subtract), (("mul_", "multiply_"), mul, np.multiply),
        (("div_", "divide_", "true_divide_"), div, np.divide),
    ):  # fmt: skip
        changed = arithmetic_in_place(FUNCTIONS[names[0][:-1]], row, ufunc)
        for name in names:
            attach(name, changed)
    pow_in_place = METHODS["pow_"]
    forms = {
        "__add__": _add, "__radd__": _add, "__sub__": _sub, "__rsub__": _rsub, "__mul__": _mul, "__rmul__": _mul,
        "__truediv__": _div, "__rtruediv__": _reflected_quotient, "__rdiv__": _reflected_quotient,
        "__pow__": power, "__rpow__": _reflected_power, "__neg__": METHODS["neg"],
        "__iadd__": METHODS["add_"], "__isub__": METHODS["sub_"], "__imul__": METHODS["mul_"],
        "__itruediv__": METHODS["div_"], "__ipow__": pow_in_place,
    }  # fmt: skip
    for name, method in forms.items():
        attach(name, method)


_attach_operators()
