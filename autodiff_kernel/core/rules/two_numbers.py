"""Functions of two or three numbers: hypot, atan2, logaddexp, xlogy, lerp, addcmul and their relatives."""

from math import log as log_of_number
from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..api import check_tensor, into, public
from ..dtype import is_floating
from ..meeting import NUMBERS
from ..op import Op
from ..tensor import Tensor
from .casting import to_dtype
from .elementwise import exp, exp2, log, reciprocal
from .forms import choose, floats_only, pair_names, refuse, settle, undefined, where, zero

LN2 = log_of_number(2)

hypot = Op("hypot", floats_only("hypot_cpu", np.hypot), lambda g, n: g * (n.a / n.y), lambda g, n: g * (n.b / n.y),
           reads=("ay", "by"), mode="elementwise", spreads=True, types="same", partials=("{a}/{y}", "{b}/{y}"),
           latex=r"\sqrt{{{a}^2 + {b}^2}}", doc="√(x² + y²), without overflow.")  # fmt: skip
atan2 = Op("atan2", np.arctan2, lambda g, n: g * (n.b * _inverse_square(n)),
           lambda g, n: g * (-n.a * _inverse_square(n)), reads=("ab", "ab"),
           mode="elementwise", spreads=True, types="float", partials=("{b}/({a}² + {b}²)", "−{a}/({a}² + {b}²)"),
           latex=r"\text{{atan2}}({a}, {b})",
           doc="The angle of the point (other, input), between −π and π.")  # fmt: skip


def _inverse_square(n: Any) -> Any:
    square = n.a * n.a + n.b * n.b
    return where(square == 0, 0, reciprocal(square))


def _logaddexp(a: Any, b: Any) -> Any:
    if a.dtype.kind != "c":
        return np.logaddexp(a, b)
    greater = a.real >= b.real
    high, low = np.where(greater, a, b), np.where(greater, b, a)
    return settle(high + np.log1p(np.exp(low - high)))


logaddexp = Op("logaddexp", floats_only("logaddexp_cpu", _logaddexp), lambda g, n: g / (1 + exp(n.b - n.a)),
               lambda g, n: g / (1 + exp(n.a - n.b)), reads=("ab", "ab"),
               mode="elementwise", spreads=True, types="same",
               partials=("1/(1 + exp({b} − {a}))", "1/(1 + exp({a} − {b}))"), latex=r"\log(e^{{{a}}} + e^{{{b}}})",
               doc="log(exp(x) + exp(y)), without overflow.")  # fmt: skip
logaddexp2 = Op("logaddexp2", floats_only("logaddexp2_cpu", np.logaddexp2), lambda g, n: g / (1 + exp2(n.b - n.a)),
                lambda g, n: g / (1 + exp2(n.a - n.b)), reads=("ab", "ab"),
                mode="elementwise", spreads=True, types="same",
                partials=("1/(1 + 2^({b} − {a}))", "1/(1 + 2^({a} − {b}))"), latex=r"\log_2(2^{{{a}}} + 2^{{{b}}})",
                doc="log₂(2^x + 2^y), without overflow.")  # fmt: skip


# ------------------------------------------------------------------------------------------------ xlogy
def _xlogy(a: Any, b: Any) -> Any:
    if b.__class__ in (int, float, bool):
        b = float(b)
        return choose((a == 0) & (b == b), a * 0, a * float(np.log(b)))
    y = a * np.log(b)
    return choose((a == 0) & (b == b), y.dtype.type(0), y)


def _xlogy_rule(g: Any, n: Any) -> Any:
    nothing = (n.a == 0) & (n.b <= 0)
    return where(nothing, 0, g * log(where(nothing, 1, n.b)))


def _xlogy_row(name: str, node: str, a: Any, b: Any, reads: Any) -> Op:
    return Op(name, _xlogy, a, b, reads=reads,
              mode="elementwise", spreads=True, types="float", node=node, symbol="xlogy",
              partials=("log {b}", "{a}/{b}"), latex=r"{a} \log {b}",
              doc="x·log(y), and 0 where x is 0.")  # fmt: skip


xlogy = _xlogy_row("xlogy", "XlogyBackward0", _xlogy_rule, lambda g, n: g * (n.a / n.b), ("ab", "ab"))


def _xlogy_number_rule(g: Any, n: Any) -> Any:
    nothing = (n.a == 0) & (not n.b > 0)
    return where(nothing, 0, g * float(np.log(np.float64(n.b))))


xlogy_number = _xlogy_row("xlogy_number", "XlogyBackward2", _xlogy_number_rule, None, ("ab",))


# ------------------------------------------------------------------------------------------------ signs and steps


def _copysign_rule(g: Any, n: Any) -> Any:
    return g * where(n.a == 0, 0, n.y / n.a)


def _copysign_row(name: str, node: str, b: Any) -> Op:
    return Op(name, np.copysign, _copysign_rule, b, reads=("ay", ""),
              mode="elementwise", spreads=True, types="float", node=node, symbol="copysign", partials=("{y}/{a}", "0"),
              latex=r"|{a}|\, \text{{sign}}\, {b}",
              doc="The size of the first and the sign of the second number.")  # fmt: skip


copysign = _copysign_row("copysign", "CopysignBackward0", zero)
copysign_number = _copysign_row("copysign_number", "CopysignBackward1", None)
nextafter = Op("nextafter", floats_only("nextafter_cpu", np.nextafter), lambda g, n: where(n.a == n.b, 0, g), zero,
               reads=("ab", ""), mode="elementwise", spreads=True, types="same", partials=("1 where {a} ≠ {b}", "0"),
               doc="The next number that the dtype can represent, towards the other one.")  # fmt: skip
heaviside = Op("heaviside", lambda a, b: choose(a == 0, b, (a > 0).astype(b.dtype)), undefined("heaviside"),
               undefined("heaviside"), mode="elementwise", spreads=True, node="NotImplemented",
               partials=("undefined", "undefined"),
               doc="0 below 0, 1 above it, and the second number at 0.")  # fmt: skip
ldexp = Op("ldexp", lambda a, b: a * np.exp2(b), lambda g, n: g * exp2(n.b), lambda g, n: g * n.y * LN2,
           reads=("b", "y"), mode="elementwise", spreads=True, types="float", partials=("2^{b}", "{y}·log 2"),
           latex=r"{a} \cdot 2^{{{b}}}", doc="x·2^y.")  # fmt: skip

_A, _B = "torch.tensor([3., 0.])", "torch.tensor([4., 2.])"
for _row, _names, _numbers, _inplace, _output in (
    (hypot, ("hypot",), "", True, "[5., 2.]"),
    (atan2, ("atan2", "arctan2"), "", True, "[0.6435, 0.0000]"),
    (logaddexp, ("logaddexp",), "", False, "[4.3133, 2.1269]"),
    (logaddexp2, ("logaddexp2",), "", False, "[4.5850, 2.3219]"),
    (copysign, ("copysign",), "second", True, "[3., 0.]"),
    (nextafter, ("nextafter",), "", True, "[3.0000e+00, 1.4013e-45]"),
    (ldexp, ("ldexp",), "", True, "[48.,  0.]"),
):
    pair_names(
        _row, *_names, numbers=_numbers, inplace=_inplace, number_row=copysign_number if _row is copysign else None,
        example=f">>> torch.{_names[0]}({_A}, {_B})\ntensor({_output})",
    )  # fmt: skip
pair_names(
    xlogy, "xlogy", numbers="both", number_row=xlogy_number,
    example=f">>> torch.xlogy({_A}, {_B})\ntensor([4.1589, 0.0000])",
)  # fmt: skip


@public("heaviside", inplace=True, row=heaviside)
def heaviside_function(input: Tensor, values: Tensor, *, out: Any = None) -> Tensor:
    """The step function: 0 where input < 0, 1 where input > 0, and `values` where input is 0.

    Raises RuntimeError for tensors of different dtypes.

    >>> import autodiff_kernel as torch
    >>> torch.heaviside(torch.tensor([-1., 0., 2.]), torch.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    check_tensor("heaviside", input)
    check_tensor("heaviside", values, "values", 2)
    if input.raw.dtype != values.raw.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    result = heaviside(input, values)
    return result if out is None else into(out, result)


# ------------------------------------------------------------------------------------------------ three inputs
addcmul_row = Op(
    "addcmul", lambda a, b, c, p: a + (b * c if p == 1 else b * c * p), lambda g, n: g, lambda g, n: g * (n.c * n.p),
    lambda g, n: g * (n.b * n.p), reads=("", "c", "b"), mode="elementwise", spreads=True, types="same", params=True,
    symbol="+ ×", partials=("1", "{p}·{c}", "{p}·{b}"), latex=r"{a} + {b} \cdot {c}",
    doc="input + value·tensor1·tensor2.",
)  # fmt: skip
addcdiv_row = Op(
    "addcdiv", lambda a, b, c, p: a + (b / c if p == 1 else b / c * p), lambda g, n: g, lambda g, n: g * (n.p / n.c),
    lambda g, n: -g * (n.b * n.p / (n.c * n.c)), reads=("", "c", "bc"), mode="elementwise", spreads=True, types="same",
    params=True, symbol="+ ÷", partials=("1", "{p}/{c}", "−{p}·{b}/{c}²"), latex=r"{a} + \frac{{{b}}}{{{c}}}",
    doc="input + value·tensor1/tensor2.",
)  # fmt: skip


def _three(name: str, *tensors: Any) -> None:
    check_tensor(name, tensors[0])
    for i, t in enumerate(tensors[1:], 1):
        check_tensor(name, t, f"tensor{i}", i + 1)


def _factor(value: Any, tensors: Any) -> Any:
    """`value` as a factor that keeps integers integers."""
    return int(value) if all(t.raw.dtype.kind in "iub" for t in tensors) else value


@public(inplace=True)
def addcmul(input: Tensor, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1, out: Any = None) -> Tensor:
    """input + value · tensor1 · tensor2, element by element, with broadcasting.

    >>> import autodiff_kernel as torch
    >>> torch.addcmul(torch.tensor([1., 2.]), torch.tensor([3., 4.]), torch.tensor([5., 6.]), value=0.1)
    tensor([2.5000, 4.4000])
    """
    if len(old) == 1 and isinstance(tensor1, NUMBERS):  # the order of early PyTorch: the number in front
        value, tensor1, tensor2 = tensor1, tensor2, old[0]
    elif old:
        raise TypeError("addcmul() takes 3 positional arguments, and value= by name")
    _three("addcmul", input, tensor1, tensor2)
    result = addcmul_row(input, tensor1, tensor2, p=_factor(value, (input, tensor1, tensor2)))
    return result if out is None else into(out, result)


@public(inplace=True)
def addcdiv(input: Tensor, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1, out: Any = None) -> Tensor:
    """input + value · tensor1 / tensor2, element by element, with broadcasting.

    Raises RuntimeError if tensor1 and tensor2 are both integers.

    >>> import autodiff_kernel as torch
    >>> torch.addcdiv(torch.tensor([1., 2.]), torch.tensor([3., 4.]), torch.tensor([2., 8.]))
    tensor([2.5000, 2.5000])
    """
    if len(old) == 1 and isinstance(tensor1, NUMBERS):  # the order of early PyTorch: the number in front
        value, tensor1, tensor2 = tensor1, tensor2, old[0]
    elif old:
        raise TypeError("addcdiv() takes 3 positional arguments, and value= by name")
    _three("addcdiv", input, tensor1, tensor2)
    if all(t.raw.dtype.kind in "iub" for t in (tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform a true "
            "division of tensor1 and tensor2. Use input + value * torch.div(tensor1, tensor2, rounding_mode='trunc') "
            "for integers, or convert the inputs to floats."
        )
    result = addcdiv_row(input, tensor1, tensor2, p=value)
    return result if out is None else into(out, result)


def _lerp_tensor(a: Any, b: Any, w: Any) -> Any:
    # from the nearer end: exact at both
    return choose(abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w))


def _lerp_number(a: Any, b: Any, p: Any) -> Any:
    return a + p * (b - a) if abs(p) < 0.5 else b - (b - a) * (1 - p)


lerp_number = Op("lerp", _lerp_number, lambda g, n: g * (1 - n.p), lambda g, n: g * n.p,
                 mode="elementwise", spreads=True,
                 params=True, partials=("1 − {p}", "{p}"), latex=r"{a} + w ({b} - {a})",
                 doc="input + weight·(end − input).")  # fmt: skip
lerp_tensor = Op("lerp_tensor", _lerp_tensor, lambda g, n: g * (1 - n.c), lambda g, n: g * n.c,
                 lambda g, n: g * (n.b - n.a), reads=("c", "c", "ab"), mode="elementwise", spreads=True,
                 node="LerpBackward1", symbol="lerp", partials=("1 − {c}", "{c}", "{b} − {a}"),
                 latex=r"{a} + {c} ({b} - {a})", doc="input + weight·(end − input).")  # fmt: skip


@public(inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Any = None) -> Tensor:
    """input + weight · (end − input), element by element; the weight is a number or a tensor.

    Raises RuntimeError for tensors of different dtypes.

    >>> import autodiff_kernel as torch
    >>> torch.lerp(torch.tensor([1., 2.]), torch.tensor([3., 6.]), 0.5)
    tensor([2., 4.])
    """
    check_tensor("lerp", input)
    check_tensor("lerp", end, "end", 2)
    if not isinstance(weight, (Tensor, *NUMBERS)):
        check_tensor("lerp", weight, "weight", 3)
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x.raw.dtype != input.raw.dtype and (name == "end" or x.ndim):
            raise RuntimeError(f"expected dtype {_old(input)} for `{name}` but got dtype {_old(x)}")
    if not is_floating(input.raw.dtype):
        refuse("lerp_kernel_scalar" if not isinstance(weight, Tensor) else "lerp_kernel_tensor", input.raw)
    if isinstance(weight, Tensor):
        result = lerp_tensor(input, end, to_dtype(weight, input.dtype))
    else:
        result = lerp_number(input, end, p=weight)
    return result if out is None else into(out, result)


def _old(x: Tensor) -> str:
    return {
        "float32": "float",
        "float64": "double",
        "float16": "c10::Half",
        "int64": "long int",
        "int32": "int",
    }.get(x.dtype.name, x.dtype.name)


@public(inplace=False)
def float_power(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input to the power of exponent, computed in float64 (complex128 for complex numbers).

    >>> import autodiff_kernel as torch
    >>> torch.float_power(torch.tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError(
            f"float_power() received an invalid combination of arguments - got ({type(input).__name__}, "
            f"{type(exponent).__name__}), but expected at least one Tensor"
        )
    kinds = [x.dtype if isinstance(x, Tensor) else dtypes.number_dtype(x) for x in (input, exponent)]
    wide = dtypes.complex128 if any(k.is_complex for k in kinds) else dtypes.float64
    input, exponent = (to_dtype(x, wide) if isinstance(x, Tensor) else x for x in (input, exponent))
    from .arithmetic import pow_

    result: Tensor = pow_(input, exponent)
    return result if out is None else into(out, result)


@public("float_power_", function=False)
def float_power_in_place(self: Tensor, exponent: Any) -> Tensor:
    """In-place form of `float_power`; the tensor must be float64 already."""
    if self.dtype not in (dtypes.float64, dtypes.complex128):
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_type} but the operation's result requires "
            "dtype Double"
        )
    return self.pow_(exponent)  # type: ignore[attr-defined,no-any-return]


@public("rsub", method=False)
def rsub_function(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """other − alpha · input, element by element.

    >>> import autodiff_kernel as torch
    >>> torch.rsub(torch.tensor([1., 2.]), 5)
    tensor([4., 3.])
    """
    check_tensor("rsub", input)
    return other - (input if alpha == 1 else input * alpha)  # type: ignore[no-any-return,operator]
