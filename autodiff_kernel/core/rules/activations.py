"""Activation functions: relu and its relatives, gelu, silu, …; the softmax family is in softmax.py.

A rule that looks the same in two ranges of its input picks with `where`, and keeps the branch that is not taken
finite: in second order an infinite one would meet a zero and give nan.
"""

from functools import cache
from math import pi, sqrt
from typing import Any

import numpy as np

from .. import special
from ..api import FUNCTIONS, check_tensor, public, unary_names
from ..hot import unary
from ..inplace import in_place
from ..op import TABLE, Op
from ..single import elementwise
from ..tensor import Tensor
from .elementwise import exp, sigmoid, tanh
from .forms import choose, floats_only, numbers_only, where
from .gamma import erf


def _relu(a: Any) -> Any:
    if a.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(a, 0)


relu = Op("relu", _relu, a=lambda g, n: g * (n.y != 0), reads=("y",), mode="elementwise",  # nan passes, as in PyTorch
          partials=("1 where {y} > 0, else 0",), latex=r"\max({a}, 0)",
          doc="The element where it is positive, else 0.")  # fmt: skip
unary_names(relu, example=">>> torch.relu(torch.tensor([-1., 2.]))\ntensor([0., 2.])")


def activation(row: Op, input: Tensor, p: Any, inplace: bool) -> Tensor:
    """Run a row; in place if asked."""
    check_tensor(row.name, input)
    if inplace:
        result: Tensor = in_place(lambda x: row(x, p=p), row)(input)
    elif row.params:
        result = _with_parameters(row)(input, p)
    else:
        result = _without(row)(input)
    return result


_with_parameters, _without = cache(elementwise), cache(unary)  # the fast method of a row, made once


# ------------------------------------------------------------------------------------------------ piecewise linear
def _hardtanh(a: Any, p: Any) -> Any:
    low, high = p
    return np.minimum(np.maximum(a, low), high)


hardtanh_row = Op(
    "hardtanh", _hardtanh, lambda g, n: where((n.a <= n.p[0]) | (n.a >= n.p[1]), 0, g), reads=("a",),
    mode="elementwise", params=True, partials=("1 between the limits, else 0",), latex=r"\text{{hardtanh}}({a})",
    doc="The element limited to an interval, without gradient outside it and at its borders.",
)  # fmt: skip


@public(function=False, method=False)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """The element limited to the interval from `min_val` to `max_val`; no gradient at the borders.

    >>> import autodiff_kernel as torch
    >>> hardtanh(torch.tensor([-2., 0.5, 3.]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    check_tensor("hardtanh", input)
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    kind = input.raw.dtype.kind
    if kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    if kind == "u" and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return activation(hardtanh_row, input, (min_val, max_val), inplace)


@public(function=False, method=False)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The element limited to the interval from 0 to 6.

    >>> import autodiff_kernel as torch
    >>> relu6(torch.tensor([-2., 0.5, 8.]))
    tensor([0.0000, 0.5000, 6.0000])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


leaky_relu_row = Op(
    "leaky_relu", floats_only("leaky_relu_cpu", lambda a, p: choose(a > 0, a, a * p)),
    lambda g, n: where(n.a > 0, g, g * n.p), reads=("a",), mode="elementwise", params=True,
    partials=("1 where {a} > 0, else {p}",), latex=r"\text{{leaky\_relu}}({a})",
    doc="The element where it is positive, else a small multiple of it.",
)  # fmt: skip


@public(function=False, method=False)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The element where it is positive, else `negative_slope` times it.

    >>> import autodiff_kernel as torch
    >>> leaky_relu(torch.tensor([-2., 3.]), 0.1)
    tensor([-0.2000,  3.0000])
    """
    return activation(leaky_relu_row, input, negative_slope, inplace)


prelu_row = Op(
    "prelu", floats_only("prelu_cpu", lambda a, b: choose(a > 0, a, a * b)),
    lambda g, n: where(n.a > 0, g, g * n.b), lambda g, n: where(n.a > 0, 0, g * n.a), reads=("ab", "a"),
    mode="elementwise", spreads=True, node="PreluKernelBackward0",
    partials=("1 where {a} > 0, else {b}", "0 where {a} > 0, else {a}"), latex=r"\text{{prelu}}({a}, {b})",
    doc="The element where it is positive, else a learned multiple of it.",
)  # fmt: skip


@public()
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The element where it is positive, else `weight` times it; one weight, or one for each channel (dimension 1).

    >>> import autodiff_kernel as torch
    >>> torch.prelu(torch.tensor([-2., 3.]), torch.tensor([0.5]))
    tensor([-1.,  3.])
    """
    check_tensor("prelu", input)
    check_tensor("prelu", weight, "weight", 2)
    if input.raw.dtype != weight.raw.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.scalar_type} and {weight.dtype.scalar_type}"
        )
    count, ndim = weight.numel(), input.ndim
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if count != 1:
        if ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and channel "
                f"size = {channels}."
            )
    shape = () if ndim == 0 else tuple(count if i == (1 if ndim > 1 else 0) else 1 for i in range(ndim))
    if weight.raw.shape != shape:
        weight = TABLE["reshape"](weight, p=shape)
    result: Tensor = prelu_row(input, weight)
    return result


threshold_row = Op(
    "threshold", numbers_only("threshold_cpu", lambda a, p: choose(a <= p[0], a.dtype.type(p[1]), a)),
    lambda g, n: where(n.a <= n.p[0], 0, g), reads=("a",), mode="elementwise", params=True,
    partials=("1 above the threshold, else 0",), latex=r"\text{{threshold}}({a})",
    doc="The element where it is above the threshold, else a value.",
)  # fmt: skip


@public(method=False)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The element where it is greater than `threshold`, else `value`.

    >>> import autodiff_kernel as torch
    >>> torch.threshold(torch.tensor([0.5, 2.]), 1., 9.)
    tensor([9., 2.])
    """
    return activation(threshold_row, input, (threshold, value), inplace)


def _hardshrink(a: Any, p: Any) -> Any:
    return choose(abs(a) <= p, a.dtype.type(0), a)


hardshrink_row = Op(
    "hardshrink", floats_only("hardshrink_cpu", _hardshrink), lambda g, n: where(abs(n.a) <= n.p, 0, g), reads=("a",),
    mode="elementwise", params=True, partials=("1 where |{a}| > {p}, else 0",), latex=r"\text{{hardshrink}}({a})",
    doc="The element, or 0 if it is near 0.",
)  # fmt: skip


@public()
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The element where it is further than `lambd` from 0, else 0.

    >>> import autodiff_kernel as torch
    >>> torch.hardshrink(torch.tensor([-2., 0.3, 1.]))
    tensor([-2.,  0.,  1.])
    """
    return activation(hardshrink_row, input, lambd, False)


def _softshrink(a: Any, p: Any) -> Any:
    return choose(a > p, a - p, choose(a < -p, a + p, a * 0))


softshrink_row = Op(
    "softshrink", floats_only("softshrink_cpu", _softshrink), lambda g, n: where(abs(n.a) <= n.p, 0, g), reads=("a",),
    mode="elementwise", params=True, partials=("1 where |{a}| > {p}, else 0",), latex=r"\text{{softshrink}}({a})",
    doc="The element moved towards 0.",
)  # fmt: skip


@public(function=False, method=False)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The element moved by `lambd` towards 0, and 0 where it is nearer than that.

    >>> import autodiff_kernel as torch
    >>> softshrink(torch.tensor([-2., 0.3, 1.]))
    tensor([-1.5000,  0.0000,  0.5000])
    """
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return activation(softshrink_row, input, lambd, False)


def _hardsigmoid(a: Any) -> Any:
    return np.minimum(np.maximum(a + 3, 0), 6) / 6


hardsigmoid_row = Op(
    "hardsigmoid", floats_only("hardsigmoid_cpu", _hardsigmoid),
    lambda g, n: where((n.a > -3) & (n.a < 3), g / 6, 0), reads=("a",), mode="elementwise",
    partials=("1/6 between −3 and 3, else 0",), latex=r"\text{{hardsigmoid}}({a})",
    doc="A sigmoid of three straight pieces.",
)  # fmt: skip


@public(function=False, method=False)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A sigmoid of three straight pieces: 0 up to −3, 1 from 3 on, x/6 + 1/2 between them.

    >>> import autodiff_kernel as torch
    >>> hardsigmoid(torch.tensor([-4., 0., 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    return activation(hardsigmoid_row, input, None, inplace)


hardswish_row = Op(
    "hardswish", floats_only("hardswish_cpu", lambda a: a * _hardsigmoid(a)),
    lambda g, n: where(n.a <= -3, 0, where(n.a < 3, g * (n.a / 3 + 0.5), g)), reads=("a",), mode="elementwise",
    partials=("0 up to −3, 1 from 3 on, {a}/3 + ½ between",), latex=r"\text{{hardswish}}({a})",
    doc="The element times its hardsigmoid.",
)  # fmt: skip


@public(function=False, method=False)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """The element times its hardsigmoid.

    >>> import autodiff_kernel as torch
    >>> hardswish(torch.tensor([-4., 0., 1.5]))
    tensor([-0.0000,  0.0000,  1.1250])
    """
    return activation(hardswish_row, input, None, inplace)


# ------------------------------------------------------------------------------------------------ the elu family
def _elu(a: Any, p: Any) -> Any:
    alpha, scale, inner = p
    return choose(a > 0, a * scale, np.expm1(np.minimum(a, 0) * inner) * (alpha * scale))


def _elu_rule(g: Any, n: Any) -> Any:
    alpha, scale, inner = n.p
    negative = where(n.a < 0, n.a, 0)  # the second derivative at 0 is 0, as in PyTorch
    return g * where(n.a <= 0, exp(negative * inner) * (alpha * scale * inner), scale)


elu_row = Op(
    "elu", floats_only("elu_cpu", _elu), _elu_rule, reads=("a",), mode="elementwise", params=True,
    partials=("1 where {a} > 0, else α·exp({a})",), latex=r"\text{{elu}}({a})",
    doc="The element where it is positive, else a multiple of exp(x) − 1.",
)  # fmt: skip
celu_row = Op(
    "celu", floats_only("elu_cpu", _elu), _elu_rule, reads=("a",), mode="elementwise", params=True,
    partials=("1 where {a} > 0, else exp({a}/α)",), latex=r"\text{{celu}}({a})",
    doc="The element where it is positive, else α·(exp(x/α) − 1).",
)  # fmt: skip


@public(function=False, method=False)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The element where it is positive, else alpha·(exp(x) − 1).

    >>> import autodiff_kernel as torch
    >>> elu(torch.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    return activation(elu_row, input, (alpha, 1.0, 1.0), inplace)


@public(method=False)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the α and the scale that keep mean 0 and variance 1 (Klambauer et al. 2017).

    >>> import autodiff_kernel as torch
    >>> torch.selu(torch.tensor([-1., 2.]))
    tensor([-1.1113,  2.1014])
    """
    return activation(elu_row, input, (1.6732632423543772, 1.0507009873554805, 1.0), inplace)


@public(method=False)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The element where it is positive, else alpha·(exp(x/alpha) − 1).

    >>> import autodiff_kernel as torch
    >>> torch.celu(torch.tensor([-1., 2.]), 2.)
    tensor([-0.7869,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return activation(celu_row, input, (alpha, 1.0, 1 / alpha), inplace)


# ------------------------------------------------------------------------------------------------ smooth ones
def _softplus(a: Any, p: Any) -> Any:
    beta, limit = p
    if a.dtype.itemsize == 2:  # exp(20) is too large for half precision
        return _softplus(a.astype(np.float32), p).astype(a.dtype)
    t = a * beta
    return choose(t > limit, a, np.log1p(np.exp(np.minimum(t, limit))) / beta)


softplus_row = Op(
    "softplus", floats_only("softplus_cpu", _softplus),
    lambda g, n: where(n.a * n.p[0] > n.p[1], g, g * sigmoid(n.a * n.p[0])), reads=("a",), mode="elementwise",
    params=True, partials=("σ({a})",), latex=r"\log(1 + e^{{{a}}})", doc="log(1 + exp(βx))/β, a smooth relu.",
)  # fmt: skip


@public(function=False, method=False)
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta·x))/beta, a smooth relu; x itself where beta·x is above the threshold.

    >>> import autodiff_kernel as torch
    >>> softplus(torch.tensor([-1., 2.]))
    tensor([0.3133, 2.1269])
    """
    return activation(softplus_row, input, (beta, threshold), False)


def _log_sigmoid(a: Any) -> Any:
    return np.minimum(a, 0) - np.log1p(np.exp(-abs(a)))


log_sigmoid_row = Op(
    "log_sigmoid", floats_only("log_sigmoid_cpu", _log_sigmoid), lambda g, n: g * sigmoid(-n.a), reads=("a",),
    mode="elementwise", partials=("σ(−{a})",), latex=r"\log \sigma({a})", doc="The logarithm of the sigmoid.",
)  # fmt: skip


@public(function=False, method=False)
def logsigmoid(input: Tensor) -> Tensor:
    """log(1/(1 + exp(−x))), without overflow.

    >>> import autodiff_kernel as torch
    >>> logsigmoid(torch.tensor([-1., 2.]))
    tensor([-1.3133, -0.1269])
    """
    return activation(log_sigmoid_row, input, None, False)


def _silu(a: Any) -> Any:
    y = np.exp(-a)
    y += 1
    return a / y


def _silu_rule(g: Any, n: Any) -> Any:
    s = sigmoid(n.a)
    return g * (s * (1 + n.a * (1 - s)))


silu_row = Op(
    "silu", floats_only("silu_cpu", _silu), _silu_rule, reads=("a",), mode="elementwise",
    partials=("σ({a})·(1 + {a}·(1 − σ({a})))",), latex=r"{a}\, \sigma({a})", doc="The element times its sigmoid.",
)  # fmt: skip


@public(function=False, method=False)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """The element times its sigmoid, also called swish.

    >>> import autodiff_kernel as torch
    >>> silu(torch.tensor([-1., 2.]))
    tensor([-0.2689,  1.7616])
    """
    return activation(silu_row, input, None, inplace)


def _mish(a: Any) -> Any:
    return a * np.tanh(_softplus(a, (1, 20)))


def _mish_rule(g: Any, n: Any) -> Any:
    t = tanh(softplus_row(n.a, p=(1, 20)))
    return g * (t + n.a * sigmoid(n.a) * (1 - t * t))


mish_row = Op(
    "mish", floats_only("mish_cpu", _mish), _mish_rule, reads=("a",), mode="elementwise",
    partials=("t + {a}·σ({a})·(1 − t²), t = tanh(softplus {a})",), latex=r"{a} \tanh(\log(1 + e^{{{a}}}))",
    doc="The element times tanh of its softplus.",
)  # fmt: skip


@public(function=False, method=False)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """The element times tanh(log(1 + exp(x))).

    >>> import autodiff_kernel as torch
    >>> mish(torch.tensor([-1., 2.]))
    tensor([-0.3034,  1.9440])
    """
    return activation(mish_row, input, None, inplace)


def _gelu(a: Any, p: Any) -> Any:
    if p == "none":
        return a * (special.erf(a * sqrt(0.5)) + 1) * 0.5
    return a * (np.tanh((a * a * a * 0.044715 + a) * sqrt(2 / pi)) + 1) * 0.5


def _gelu_rule(g: Any, n: Any) -> Any:
    if n.p == "none":
        return g * ((erf(n.a * sqrt(0.5)) + 1) * 0.5 + n.a * exp(n.a * n.a * -0.5) * (1 / sqrt(2 * pi)))
    t = tanh((n.a * n.a * n.a * 0.044715 + n.a) * sqrt(2 / pi))
    slope = (n.a * n.a * (3 * 0.044715) + 1) * sqrt(2 / pi)
    return g * ((t + 1) * 0.5 + n.a * 0.5 * (1 - t * t) * slope)


gelu_row = Op(
    "gelu", floats_only("GeluKernelImpl", _gelu), _gelu_rule, reads=("a",), mode="elementwise", params=True,
    partials=("Φ({a}) + {a}·φ({a})",), latex=r"{a}\, \Phi({a})",
    doc="The element times the normal distribution function Φ.",
)  # fmt: skip


@public(function=False, method=False)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """The element times Φ(x), the normal distribution function; `approximate` may be 'none' or 'tanh'.

    >>> import autodiff_kernel as torch
    >>> gelu(torch.tensor([-1., 2.]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return activation(gelu_row, input, approximate, False)


@public(function=False, method=False)
def softsign(input: Tensor) -> Tensor:
    """x/(1 + |x|).

    >>> import autodiff_kernel as torch
    >>> softsign(torch.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)  # type: ignore[attr-defined,operator,no-any-return]


@public(function=False, method=False)
def tanhshrink(input: Tensor) -> Tensor:
    """x − tanh(x).

    >>> import autodiff_kernel as torch
    >>> tanhshrink(torch.tensor([0., 2.]))
    tensor([0.0000, 1.0360])
    """
    return input - input.tanh()  # type: ignore[attr-defined,operator,no-any-return]


for _f in (selu, celu, threshold):  # in place as functions only, as in PyTorch
    FUNCTIONS[f"{_f.__name__}_"] = in_place(_f)
