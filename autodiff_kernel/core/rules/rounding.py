"""Whole parts and properties of numbers: floor, round, frac, isnan, signbit, nan_to_num."""

from typing import Any

import numpy as np

from ..api import check_own_dtype, check_tensor, into, public, unary_names
from ..op import Op
from ..tensor import Tensor
from .forms import floats_only, refuse, settle, where, zero


def _whole(name: str, fwd: Any, doc: str, *aliases: str, output: str) -> Op:
    def rounded(a: Any) -> Any:
        kind = a.dtype.kind
        if kind == "b":
            refuse(f"{name}_vml_cpu", a)
        return fwd(a) if kind not in "iu" else a + 0

    row = Op(
        name,
        rounded,
        zero,
        mode="elementwise",
        partials=("0",),
        latex=rf"\text{{{{{name}}}}}({{a}})",
        doc=doc,
    )
    unary_names(row, name, *aliases, example=f">>> torch.{name}(torch.tensor([-1.5, 2.7]))\ntensor({output})")
    return row


floor = _whole("floor", np.floor, "The largest whole number that is not greater.", output="[-2.,  2.]")
ceil = _whole("ceil", np.ceil, "The smallest whole number that is not less.", output="[-1.,  3.]")
trunc = _whole("trunc", np.trunc, "The whole part of each element.", "fix", output="[-1.,  2.]")
round_row = Op("round", lambda a: np.rint(a) if a.dtype.kind not in "iu" else a + 0, zero, mode="elementwise",
               partials=("0",), latex=r"\text{{round}}({a})",
               doc="The nearest whole number, halves to the even one.")  # fmt: skip
round_decimals = Op("round_decimals", floats_only("round_cpu", lambda a, p: np.round(a, p)), zero, mode="elementwise",
                    params=True, node="RoundBackward1", symbol="round", partials=("0",), latex=r"\text{{round}}({a})",
                    doc="The nearest number with so many decimals.")  # fmt: skip


@public("round", inplace=True, row=round_row)
def round_(input: Tensor, *, decimals: int = 0, out: Any = None) -> Tensor:
    """The nearest whole number (halves go to the even one), or the nearest number with so many decimals.

    >>> import autodiff_kernel as torch
    >>> torch.round(torch.tensor([2.5, 3.5, 1.2345])), torch.round(torch.tensor(1.2345), decimals=2)
    (tensor([2., 4., 1.]), tensor(1.2300))
    """
    check_tensor("round", input)
    if input.raw.dtype.kind == "b":
        refuse("round_vml_cpu", input.raw)
    result = round_decimals(input, p=int(decimals)) if decimals else round_row(input)
    check_own_dtype(out, result)
    return result if out is None else into(out, result)


frac = Op("frac", floats_only("frac_cpu", lambda a: a - np.trunc(a)), a=lambda g, n: g, mode="elementwise",
          partials=("1",), latex=r"\text{{frac}}({a})",
          doc="What follows the decimal point, with its sign.")  # fmt: skip
unary_names(frac, example=">>> torch.frac(torch.tensor([1.5, -2.25]))\ntensor([ 0.5000, -0.2500])")


# ------------------------------------------------------------------------------------------------ what a number is
def _signbit(a: Any) -> Any:
    return np.signbit(a) if a.dtype.kind == "f" else a < 0


def _infinite(sign: int) -> Any:
    return lambda a: a == sign * np.inf


def _isreal(a: Any) -> Any:
    return a.imag == 0 if a.dtype.kind == "c" else (a == a) | True


_INF = 'torch.tensor([1., float("inf"), float("nan")])'
for _name, _fwd, _doc, _output in (
    ("isnan", lambda a: a != a, "Whether each element is nan.", "[False, False,  True]"),
    ("isinf", np.isinf, "Whether each element is infinite.", "[False,  True, False]"),
    ("isfinite", np.isfinite, "Whether each element is neither infinite nor nan.", "[ True, False, False]"),
    ("isposinf", _infinite(1), "Whether each element is +∞.", "[False,  True, False]"),
    ("isneginf", _infinite(-1), "Whether each element is −∞.", "[False, False, False]"),
    ("isreal", _isreal, "Whether the imaginary part of each element is 0.", "[True, True, True]"),
    ("signbit", _signbit, "Whether the sign bit of each element is set.", "[False, False, False]"),
):
    unary_names(
        Op(_name, _fwd, batch="elementwise", doc=_doc),
        example=f">>> torch.{_name}({_INF})\ntensor({_output})",
        inplace=False,
    )


# ------------------------------------------------------------------------------------------------ nan_to_num
def _nan_to_num(a: Any, p: Any) -> Any:
    if a.dtype.kind != "f":
        return a | False if a.dtype.kind == "b" else a + 0
    nan, posinf, neginf = p
    limits = np.finfo(a.dtype)
    high, low = (
        (float(limits.max) if posinf is None else posinf),
        (float(limits.min) if neginf is None else neginf),
    )
    a = np.where(a != a, a.dtype.type(nan), a)
    a = np.where(a == np.inf, a.dtype.type(high), a)
    return settle(np.where(a == -np.inf, a.dtype.type(low), a))


def _isfinite(a: Any) -> Any:
    return abs(a) < float("inf")  # False for nan


nan_to_num_row = Op("nan_to_num", _nan_to_num, lambda g, n: where(_isfinite(n.a), g, 0), reads=("a",),
                    mode="elementwise", params=True, partials=("1 where {a} is finite, else 0",),
                    latex=r"{a}", doc="nan, ∞ and −∞ replaced by numbers.")  # fmt: skip


@public(inplace=True)
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """nan, ∞ and −∞ replaced: by 0 and the largest and smallest number of the dtype unless others are given.

    >>> import autodiff_kernel as torch
    >>> torch.nan_to_num(torch.tensor([1., float("nan")]), nan=5.)
    tensor([1., 5.])
    """
    check_tensor("nan_to_num", input)
    result = nan_to_num_row(input, p=(0.0 if nan is None else nan, posinf, neginf))
    check_own_dtype(out, result, "nan_to_num: dtype of out: {have} should be same as input: {want}")
    return result if out is None else into(out, result)
