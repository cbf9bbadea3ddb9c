"""Functions of one number: powers, exp and log, trigonometry, hyperbolic functions."""

from math import log as log_of_number
from math import pi
from typing import Any

import numpy as np

from ..api import METHODS, attach, check_tensor, into, public, unary_names
from ..op import Op
from ..tensor import Tensor
from .forms import gain, numbers_only, where, zero

LN2, LN10 = log_of_number(2), log_of_number(10)


# ------------------------------------------------------------------------------------------------ size and sign
def _sign(a: Any) -> Any:
    # np.sign(nan) is nan; PyTorch's is 0
    return (a > 0).astype(a.dtype) - (a < 0) if a.dtype.kind != "b" else a | False


def _sgn(a: Any) -> Any:
    if a.dtype.kind != "c":
        return _sign(a)
    size = abs(a)
    return a / (size + (size == 0))


def _sgn_back(g: Any, n: Any) -> Any:
    """Of a complex number only the part of the change across its direction turns the direction."""
    if getattr(n.a, "raw", n.a).dtype.kind != "c":
        return zero(g, n)
    size, s = absolute(n.a), sgn(n.a)
    return where(size == 0, 0, (g - s * (g * s.conj()).real) / (size + (size == 0)))


absolute = Op("abs", numbers_only("abs_cpu", abs), a=lambda g, n: g * sgn(n.a), reads=("a",), mode="elementwise",
              jvp=lambda ts, n: gain(sgn(n.a), ts[0]), symbol="|·|", partials=("sign {a}",), latex="|{a}|",
              doc="The absolute value of each element.")  # fmt: skip
sign: Op = Op("sign", _sign, a=zero, mode="elementwise", partials=("0",), latex=r"\text{{sign}}\, {a}",
          doc="−1, 0 or 1: the sign of each element.")  # fmt: skip
sgn: Op = Op("sgn", _sgn, a=_sgn_back, reads=("a",), mode="elementwise", partials=("0",), latex=r"\text{{sgn}}\, {a}",
         doc="−1, 0 or 1: the sign of each element.")  # fmt: skip


# ------------------------------------------------------------------------------------------------ powers
def _square(a: Any) -> Any:
    return a * a if a.dtype.kind != "b" else a.astype(np.int64)


def _square_rule(g: Any, n: Any) -> Any:
    """As of a power (see arithmetic.py): a Tensor goes on as its first power."""
    return g * (2 * (n.a**1 if n.a.__class__ is Tensor else n.a))


square = Op("square", _square, a=_square_rule, reads=("a",), mode="elementwise",
            node="PowBackward0", symbol="²", partials=("2·{a}",), latex="{a}^2",
            doc="The square of each element.")  # fmt: skip
sqrt = Op("sqrt", np.sqrt, a=lambda g, n: g / (2 * n.y), reads=("y",), mode="elementwise", types="float", symbol="√",
          partials=("1/(2·{y})",), latex=r"\sqrt{{{a}}}", doc="The square root of each element.")  # fmt: skip
rsqrt = Op("rsqrt", lambda a: 1 / np.sqrt(a), a=lambda g, n: -0.5 * g * (n.y * n.y * n.y), reads=("y",),
           mode="elementwise", types="float", symbol="1/√", partials=("−½·{y}³",), latex=r"\frac{{1}}{{\sqrt{{{a}}}}}",
           doc="One over the square root of each element.")  # fmt: skip
reciprocal = Op("reciprocal", lambda a: 1 / a, a=lambda g, n: -g * n.y * n.y, reads=("y",), mode="elementwise",
                types="float", symbol="1/", partials=("−{y}²",), latex=r"\frac{{1}}{{{a}}}",
                doc="One over each element.")  # fmt: skip

# ------------------------------------------------------------------------------------------------ exp and log
exp = Op("exp", np.exp, a=lambda g, n: g * n.y, reads=("y",), mode="elementwise", types="float",
         partials=("{y}",), latex="e^{{{a}}}", doc="e to the power of each element.")  # fmt: skip
exp2 = Op("exp2", np.exp2, a=lambda g, n: g * n.y * LN2, reads=("y",), mode="elementwise", types="float",
          partials=("{y}·log 2",), latex="2^{{{a}}}", doc="2 to the power of each element.")  # fmt: skip
expm1 = Op("expm1", np.expm1, a=lambda g, n: g * (n.y + 1), reads=("y",), mode="elementwise", types="float",
           partials=("{y} + 1",), latex="e^{{{a}}} - 1", doc="exp(x) − 1, exact for small x too.")  # fmt: skip
log = Op("log", np.log, a=lambda g, n: g / n.a, reads=("a",), mode="elementwise", types="float",
         partials=("1/{a}",), latex=r"\log {a}", doc="The natural logarithm of each element.")  # fmt: skip
log2 = Op("log2", np.log2, a=lambda g, n: g / (n.a * LN2), reads=("a",), mode="elementwise", types="float",
          partials=("1/({a}·log 2)",), latex=r"\log_2 {a}",
          doc="The logarithm of each element to the base 2.")  # fmt: skip
log10 = Op("log10", np.log10, a=lambda g, n: g / (n.a * LN10), reads=("a",), mode="elementwise", types="float",
           partials=("1/({a}·log 10)",), latex=r"\log_{{10}} {a}",
           doc="The logarithm of each element to the base 10.")  # fmt: skip
log1p = Op("log1p", np.log1p, a=lambda g, n: g / (n.a + 1), reads=("a",), mode="elementwise", types="float",
           node="Log1PBackward0", partials=("1/({a} + 1)",), latex=r"\log(1 + {a})",
           doc="log(1 + x), exact for small x too.")  # fmt: skip


def _sigmoid(a: Any) -> Any:
    y = np.exp(-a)
    y += 1
    return 1 / y


sigmoid = Op("sigmoid", _sigmoid, a=lambda g, n: g * ((1 - n.y) * n.y), reads=("y",), mode="elementwise",
             types="float", symbol="σ", partials=("{y}·(1 − {y})",), latex=r"\sigma({a})",
             doc="The logistic function 1/(1 + exp(−x)).")  # fmt: skip

# ------------------------------------------------------------------------------------------------ trigonometry
sin = Op("sin", np.sin, a=lambda g, n: g * cos(n.a), reads=("a",), mode="elementwise", types="float",
         partials=("cos {a}",), latex=r"\sin {a}", doc="The sine of each element (radians).")  # fmt: skip
cos: Op = Op("cos", np.cos, a=lambda g, n: -g * sin(n.a), reads=("a",), mode="elementwise", types="float",
         partials=("−sin {a}",), latex=r"\cos {a}", doc="The cosine of each element (radians).")  # fmt: skip
tan = Op("tan", np.tan, a=lambda g, n: g * (1 + n.y * n.y), reads=("y",), mode="elementwise", types="float",
         partials=("1 + {y}²",), latex=r"\tan {a}", doc="The tangent of each element (radians).")  # fmt: skip
asin = Op("asin", np.arcsin, a=lambda g, n: g * rsqrt(1 - n.a * n.a), reads=("a",), mode="elementwise", types="float",
          partials=("1/√(1 − {a}²)",), latex=r"\arcsin {a}", doc="The inverse sine of each element.")  # fmt: skip
acos = Op("acos", np.arccos, a=lambda g, n: -g * rsqrt(1 - n.a * n.a), reads=("a",), mode="elementwise", types="float",
          partials=("−1/√(1 − {a}²)",), latex=r"\arccos {a}", doc="The inverse cosine of each element.")  # fmt: skip
atan = Op("atan", np.arctan, a=lambda g, n: g / (n.a * n.a + 1), reads=("a",), mode="elementwise", types="float",
          partials=("1/({a}² + 1)",), latex=r"\arctan {a}", doc="The inverse tangent of each element.")  # fmt: skip
deg2rad = Op("deg2rad", lambda a: a * (pi / 180), a=lambda g, n: g * (pi / 180), mode="elementwise", types="float",
             node="Deg2RadBackward0", partials=("π/180",), latex=r"\frac{{\pi}}{{180}} {a}",
             doc="Degrees to radians.")  # fmt: skip
rad2deg = Op("rad2deg", lambda a: a * (180 / pi), a=lambda g, n: g * (180 / pi), mode="elementwise", types="float",
             node="Rad2DegBackward0", partials=("180/π",), latex=r"\frac{{180}}{{\pi}} {a}",
             doc="Radians to degrees.")  # fmt: skip


def _sinc(a: Any) -> Any:
    zero_there = a == 0
    t = a * pi + zero_there
    return np.sin(t) / t * ~zero_there + zero_there


def _sinc_rule(g: Any, n: Any) -> Any:
    t = n.a * pi  # at 0 the second derivative is nan, as in PyTorch
    return g * where(n.a == 0, 0, (cos(t) * t - sin(t)) / (t * t) * pi)


sinc = Op("sinc", _sinc, a=_sinc_rule, reads=("a",), mode="elementwise", types="float",
          partials=("(cos(π·{a}) − {y})/{a}",), latex=r"\text{{sinc}}\, {a}",
          doc="sin(πx)/(πx), and 1 at 0.")  # fmt: skip

# ------------------------------------------------------------------------------------------------ hyperbolic functions
sinh = Op("sinh", np.sinh, a=lambda g, n: g * cosh(n.a), reads=("a",), mode="elementwise", types="float",
          partials=("cosh {a}",), latex=r"\sinh {a}", doc="The hyperbolic sine of each element.")  # fmt: skip
cosh: Op = Op("cosh", np.cosh, a=lambda g, n: g * sinh(n.a), reads=("a",), mode="elementwise", types="float",
          partials=("sinh {a}",), latex=r"\cosh {a}", doc="The hyperbolic cosine of each element.")  # fmt: skip
tanh = Op("tanh", np.tanh, a=lambda g, n: g * (1 - n.y * n.y), reads=("y",), mode="elementwise", types="float",
          partials=("1 − {y}²",), latex=r"\tanh {a}", doc="The hyperbolic tangent of each element.")  # fmt: skip
asinh = Op("asinh", np.arcsinh, a=lambda g, n: g * rsqrt(n.a * n.a + 1), reads=("a",), mode="elementwise",
           types="float", partials=("1/√({a}² + 1)",), latex=r"\text{{arsinh}}\, {a}",
           doc="The inverse hyperbolic sine of each element.")  # fmt: skip
acosh = Op("acosh", np.arccosh, a=lambda g, n: g * rsqrt(n.a * n.a - 1), reads=("a",), mode="elementwise",
           types="float", partials=("1/√({a}² − 1)",), latex=r"\text{{arcosh}}\, {a}",
           doc="The inverse hyperbolic cosine of each element.")  # fmt: skip
atanh = Op("atanh", np.arctanh, a=lambda g, n: g / (1 - n.a * n.a), reads=("a",), mode="elementwise", types="float",
           partials=("1/(1 − {a}²)",), latex=r"\text{{artanh}}\, {a}",
           doc="The inverse hyperbolic tangent of each element.")  # fmt: skip

# ------------------------------------------------------------------------------------------------ their forms
_FORMS: dict[Op, tuple[tuple[str, ...], str, str]] = {
    absolute: (("abs", "absolute"), "[-1., 2.]", "[1., 2.]"),
    sign: (("sign",), "[-3., 0., 2.]", "[-1.,  0.,  1.]"),
    sgn: (("sgn",), "[-3., 0., 2.]", "[-1.,  0.,  1.]"),
    square: (("square",), "[2., -3.]", "[4., 9.]"),
    sqrt: (("sqrt",), "[4., 9.]", "[2., 3.]"),
    rsqrt: (("rsqrt",), "[4., 16.]", "[0.5000, 0.2500]"),
    reciprocal: (("reciprocal",), "[2., 4.]", "[0.5000, 0.2500]"),
    exp: (("exp",), "[0., 1.]", "[1.0000, 2.7183]"),
    exp2: (("exp2",), "[0., 3.]", "[1., 8.]"),
    expm1: (("expm1",), "[0., 1.]", "[0.0000, 1.7183]"),
    log: (("log",), "[1., 10.]", "[0.0000, 2.3026]"),
    log2: (("log2",), "[1., 8.]", "[0., 3.]"),
    log10: (("log10",), "[1., 100.]", "[0., 2.]"),
    log1p: (("log1p",), "[0., 1.]", "[0.0000, 0.6931]"),
    sigmoid: (("sigmoid",), "[0., 1.]", "[0.5000, 0.7311]"),
    sin: (("sin",), "[0., 1.]", "[0.0000, 0.8415]"),
    cos: (("cos",), "[0., 1.]", "[1.0000, 0.5403]"),
    tan: (("tan",), "[0., 1.]", "[0.0000, 1.5574]"),
    asin: (("asin", "arcsin"), "[0., 1.]", "[0.0000, 1.5708]"),
    acos: (("acos", "arccos"), "[0., 1.]", "[1.5708, 0.0000]"),
    atan: (("atan", "arctan"), "[0., 1.]", "[0.0000, 0.7854]"),
    deg2rad: (("deg2rad",), "[0., 180.]", "[0.0000, 3.1416]"),
    rad2deg: (("rad2deg",), "[0., 1.]", "[ 0.0000, 57.2958]"),
    sinc: (("sinc",), "[0., 0.5]", "[1.0000, 0.6366]"),
    sinh: (("sinh",), "[0., 1.]", "[0.0000, 1.1752]"),
    cosh: (("cosh",), "[0., 1.]", "[1.0000, 1.5431]"),
    tanh: (("tanh",), "[0., 1.]", "[0.0000, 0.7616]"),
    asinh: (("asinh", "arcsinh"), "[0., 1.]", "[0.0000, 0.8814]"),
    acosh: (("acosh", "arccosh"), "[1., 2.]", "[0.0000, 1.3170]"),
    atanh: (("atanh", "arctanh"), "[0., 0.5]", "[0.0000, 0.5493]"),
}
for _op, (_names, _input, _output) in _FORMS.items():
    unary_names(_op, *_names, example=f">>> torch.{_names[0]}(torch.tensor({_input}))\ntensor({_output})")


@public("positive")
def positive(input: Tensor) -> Tensor:
    """The tensor itself: what the operator +x gives.  Raises RuntimeError for bool tensors.

    >>> import autodiff_kernel as torch
    >>> torch.positive(torch.tensor([2., -3.]))
    tensor([ 2., -3.])
    """
    check_tensor("positive", input)
    if input.raw.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


attach("__pos__", positive)
attach("__abs__", METHODS["abs"])


# ------------------------------------------------------------------------------------------------ logit
def _logit(a: Any, p: Any) -> Any:
    if p is not None:
        a = np.minimum(np.maximum(a, p), 1 - p)
    return np.log(a / (1 - a))


def _logit_rule(g: Any, n: Any) -> Any:
    slope = g / (n.a * (1 - n.a))
    if n.p is None:
        return where((n.a < 0) | (n.a > 1), float("nan"), slope)
    return where((n.a < n.p) | (n.a > 1 - n.p), 0, slope)


logit_row = Op("logit", _logit, _logit_rule, reads=("a",), mode="elementwise", params=True, types="float",
               partials=("1/({a}·(1 − {a}))",), latex=r"\text{{logit}}\, {a}",
               doc="log(x/(1 − x)), the inverse of sigmoid.")  # fmt: skip


@public(inplace=True, row=logit_row)
def logit(input: Tensor, eps: float | None = None, *, out: Any = None) -> Tensor:
    """log(x/(1 − x)), the inverse of sigmoid; with `eps`, x is first limited to the interval from eps to 1 − eps.

    >>> import autodiff_kernel as torch
    >>> torch.logit(torch.tensor([0.5, 0.9]))
    tensor([0.0000, 2.1972])
    """
    check_tensor("logit", input)
    result = logit_row(input, p=eps)
    return result if out is None else into(out, result)
