"""Comparison: == != < <= > >= and what builds on them. Truth values have no gradient."""

import operator
from typing import Any

import numpy as np

from ..api import attach, check_tensor, public
from ..dtype import is_floating
from ..hot import binary
from ..modes import watch
from ..op import Op
from ..tensor import Tensor, wrap
from .forms import pair_names

_ROWS = {
    ("eq",): (operator.eq, "=", "equal to"),
    ("ne", "not_equal"): (operator.ne, "≠", "not equal to"),
    ("lt", "less"): (operator.lt, "<", "less than"),
    ("le", "less_equal"): (operator.le, "≤", "at most"),
    ("gt", "greater"): (operator.gt, ">", "greater than"),
    ("ge", "greater_equal"): (operator.ge, "≥", "at least"),
}
_EXAMPLES = {
    "eq": "[False,  True, False]", "ne": "[ True, False,  True]", "lt": "[ True, False, False]",
    "le": "[ True,  True, False]", "gt": "[False, False,  True]", "ge": "[False,  True,  True]",
}  # fmt: skip


ndarray, float32, float64 = np.ndarray, np.float32, np.float64


def operator_method(row: Op) -> Any:
    """The operator of a comparison; what is plain (same dtype, or floats and a number) goes straight to NumPy."""
    fwd, general = row.fwd, binary(row)

    def method(self: Any, other: Any) -> Any:
        a, kind = self.raw, other.__class__
        if kind is float or kind is int:
            if (
                a.__class__ is float32
                or a.__class__ is float64
                or a.__class__ is ndarray
                and a.ndim
                and a.dtype.kind == "f"
            ):
                out = wrap(fwd(a, other))
                if watch[0] is not None:
                    watch[0](row, None, (self, other), out)
                return out
        elif kind is Tensor and watch[0] is None:
            b = other.raw
            if b.__class__ is a.__class__ and a.dtype is b.dtype and a.shape == b.shape and a.shape:
                if a.dtype.kind != "c":  # complex numbers have no order, see reals.py
                    return wrap(fwd(a, b))
        return general(self, other)

    return method


def _make(names: tuple[str, ...], fwd: Any, symbol: str, words: str) -> Op:
    name = names[0]
    row = Op(name, fwd, spreads=True, types="same", symbol=symbol, latex=f"{{a}} {symbol} {{b}}",
             doc=f"Whether each element is {words} the other tensor's, or a number.")  # fmt: skip
    pair_names(
        row, *names, numbers="second",
        example=f">>> torch.{name}(torch.tensor([1, 2, 3]), 2)\ntensor({_EXAMPLES[name]})",
    )  # fmt: skip
    attach(f"__{name}__", operator_method(row))
    return row


eq, ne, lt, le, gt, ge = [_make(names, *rest) for names, rest in _ROWS.items()]


@public()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have the same shape and the same elements.

    >>> import autodiff_kernel as torch
    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    check_tensor("equal", input)
    check_tensor("equal", other, "other", 2)
    return input.raw.shape == other.raw.shape and bool(eq(input, other).raw.all())


def _isclose(a: Any, b: Any, p: Any) -> Any:
    rtol, atol, equal_nan = p
    close = a == b
    if equal_nan and is_floating(a.dtype):
        close = close | ((a != a) & (b != b))
    if rtol == 0 and atol == 0:
        return close
    if a.dtype.kind in "biu":
        a, b = a.astype(np.float64), b.astype(np.float64)
    apart = abs(a - b)
    return close | (np.isfinite(apart) & (apart <= atol + abs(rtol * b)))


isclose_row = Op("isclose", _isclose, params=True, spreads=True, symbol="≈",
                 doc="Whether each element is close to the other tensor's: |a − b| ≤ atol + rtol·|b|.")  # fmt: skip


@public()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether |input − other| ≤ atol + rtol · |other|, element by element; nan is close to nan if `equal_nan`.

    Raises RuntimeError for tensors of different dtypes and for negative tolerances.

    >>> import autodiff_kernel as torch
    >>> torch.isclose(torch.tensor([1., 2.]), torch.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    check_tensor("isclose", input)
    check_tensor("isclose", other, "other", 2)
    if input.raw.dtype != other.raw.dtype:
        raise RuntimeError(f"{input.dtype.scalar_type} did not match {other.dtype.scalar_type}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    return isclose_row(input, other, p=(rtol, atol, equal_nan))


@public()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether |input − other| ≤ atol + rtol · |other| holds for all elements.

    >>> import autodiff_kernel as torch
    >>> torch.allclose(torch.tensor([1., 2.]), torch.tensor([1.000001, 2.]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).raw.all())
