"""How far elements are spread: var, std, and the pairs with the mean."""

import warnings
from typing import Any

import numpy as np

from ..api import check_tensor, into, public
from ..dtype import is_floating
from ..op import Op
from ..single import plain
from ..storage import in_order
from ..tensor import Tensor
from .dims import axes
from .forms import gain
from .reductions import check_keepdim, count, mean_row, restretch, sum_row, total


def _var(a: Any, p: Any) -> Any:
    """p is (axis, correction, keepdim).  Two passes: the mean, then the squares of what differs from it."""
    axis, correction, keep = p
    half = a.dtype == np.float16
    if half:
        a = a.astype(np.float32)
    n = count(a.shape, axis)
    d = a - total(a, axis, True) / n
    squares = d.real * d.real + d.imag * d.imag if a.dtype.kind == "c" else d * d
    out = total(squares, axis, keep) / max(n - correction, 0)
    return out.astype(np.float16) if half else out


def _slope(n: Any, p: Any) -> Any:
    """What the variance gains per change of each element."""
    axis, correction, _ = p
    free = count(n.sa, axis) - correction
    return (n.a - mean_row(n.a, p=(axis, True))) * (2 / free if free else float("inf"))


def half_of(y: Any) -> Any:
    """1/(2 y), and 0 where y is 0 (there PyTorch gives the root's gradient as 0)."""
    return (y != 0) / ((y + (y == 0)) * 2)


def _var_back(g: Any, n: Any) -> Any:
    return restretch(g, n.sa, (n.p[0], n.p[2])) * _slope(n, n.p)


def _var_tangent(ts: Any, n: Any) -> Any:
    return sum_row(gain(_slope(n, n.p), ts[0]), p=(n.p[0], n.p[2]))


def _pair_back(root: bool) -> Any:
    def rule(g: Any, n: Any) -> Any:
        axis, _, keep = n.p
        spread, mean = g
        out: Any = None
        if spread is not None:
            out = restretch(spread * half_of(n.y[0]) if root else spread, n.sa, (axis, keep)) * _slope(n, n.p)
        if mean is not None:
            part = restretch(mean / count(n.sa, axis), n.sa, (axis, keep))
            out = part if out is None else out + part
        return out

    return rule


def _pair_tangent(root: bool) -> Any:
    def jvp(ts: Any, n: Any) -> Any:
        spread = _var_tangent(ts, n)
        return spread * half_of(n.y[0]) if root else spread, mean_row(ts[0], p=(n.p[0], n.p[2]))

    return jvp


def _pair(root: bool) -> Any:
    def fwd(a: Any, p: Any) -> Any:
        spread = _var(a, p)
        return np.sqrt(spread) if root else spread, mean_row.fwd(a, (p[0], p[2]))

    return fwd


var_row = Op(
    "var", in_order(_var), a=_var_back, reads=("a",), jvp=_var_tangent, params=True, symbol="Var",
    partials=("2({a} − mean)/(count − correction)",), latex=r"\operatorname{{Var}} {a}",
    batch="reduction", doc="The mean square distance from the mean.",
)  # fmt: skip
std_row = Op(
    "std", in_order(lambda a, p: np.sqrt(_var(a, p))), a=lambda g, n: _var_back(g * half_of(n.y), n), reads=("ay",),
    jvp=lambda ts, n: _var_tangent(ts, n) * half_of(n.y), params=True, symbol="σ",
    partials=("({a} − mean)/({y}·(count − correction))",), latex=r"\sigma({a})", batch="reduction",
    doc="The root of the variance.",
)  # fmt: skip
var_mean_row = Op(
    "var_mean", in_order(_pair(False)), a=_pair_back(False), reads=("a",), jvp=_pair_tangent(False), params=True,
    outputs=True, batch="reduction", doc="The variance and the mean.",
)  # fmt: skip
std_mean_row = Op(
    "std_mean", in_order(_pair(True)), a=_pair_back(True), reads=("ay",), jvp=_pair_tangent(True), params=True, outputs=True,
    batch="reduction", doc="The standard deviation and the mean.",
)  # fmt: skip
_vars, _stds = plain(var_row), plain(std_row)


def parameters(name: str, x: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> Any:
    """p of the row; PyTorch's forms `var(unbiased)`, `var(dim, unbiased, keepdim)`, `var(dim, correction=…)`."""
    check_tensor(name, x)
    raw = x.raw
    if not is_floating(raw.dtype):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if dim.__class__ is bool:
        dim, unbiased = None, dim
    check_keepdim(name, keepdim)
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    axis = axes(dim, raw.ndim, name)
    if count(raw.shape, axis) - correction <= 0 and (axis is None or raw.size):
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
            "factor (input "
            "numel divided by output numel).",
            UserWarning,
            stacklevel=4,
        )
    return axis, correction, keepdim


@public()
def var(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None,
    out: Any = None,
) -> Tensor:  # fmt: skip
    """The variance of all elements, or along `dim`: the sum of (x − mean)² over (count − correction).

    correction: 1 by default (Bessel's); `unbiased=False` means 0.  Raises RuntimeError for integer tensors.

    >>> import autodiff_kernel as torch
    >>> torch.var(torch.tensor([1., 2., 3.])), torch.tensor([1., 2., 3.]).var(correction=0)
    (tensor(1.), tensor(0.6667))
    """
    result = _vars(input, parameters("var", input, dim, unbiased, keepdim, correction))
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def std(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None,
    out: Any = None,
) -> Tensor:  # fmt: skip
    """The standard deviation of all elements, or along `dim`: the root of `var`.

    >>> import autodiff_kernel as torch
    >>> torch.std(torch.tensor([[1., 2., 3.], [2., 4., 6.]]), 1)
    tensor([1., 2.])
    """
    result = _stds(input, parameters("std", input, dim, unbiased, keepdim, correction))
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public(method=False)
def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """The variance and the mean, as a pair.

    >>> import autodiff_kernel as torch
    >>> torch.var_mean(torch.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
    """
    return var_mean_row(input, p=parameters("var_mean", input, dim, unbiased, keepdim, correction))  # type: ignore[no-any-return]


@public(method=False)
def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean, as a pair.

    >>> import autodiff_kernel as torch
    >>> torch.std_mean(torch.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
    """
    return std_mean_row(input, p=parameters("std_mean", input, dim, unbiased, keepdim, correction))  # type: ignore[no-any-return]
