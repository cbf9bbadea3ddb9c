"""softmax, log_softmax and logsumexp along dimensions, without overflow.

The Jacobian of softmax is symmetric, so its rule maps tangents as it maps cotangents.
"""

from typing import Any

import numpy as np

from .. import dtype as dtypes
from ..api import check_tensor, into, public
from ..op import TABLE, Op
from ..single import elementwise
from ..storage import in_order, row_major
from ..tensor import Tensor
from .casting import to_dtype
from .elementwise import exp
from .forms import conj, refuse
from .reductions import axes, restretch


def total(x: Any, p: Any, keep: bool = True) -> Any:
    """The sum along the dimensions p (None: all)."""
    return TABLE["sum"](x, p=(p, keep))


def _checked(kernel: str, a: Any) -> Any:
    """Refuse integers; half precision is computed in single, as PyTorch does, and in row-major order."""
    if a.dtype.kind not in "fV":
        refuse(kernel, a)
    return row_major(a.astype(np.float32) if a.dtype.itemsize == 2 else a)


def _softmax(a: Any, p: Any) -> Any:
    if not a.size:
        return a.copy()
    x = _checked("softmax_lastdim_kernel_impl", a)
    if not a.ndim:
        return a * 0 + 1
    y = x - x.max(p, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(p, keepdims=True)
    return y if y.dtype is a.dtype else y.astype(a.dtype)


def _softmax_rule(g: Any, n: Any) -> Any:
    gy = g * n.y
    return gy - n.y * total(gy, (n.p,) if n.sy else None)


softmax_row = Op(
    "softmax", _softmax, _softmax_rule, reads=("y",), jvp=lambda ts, n: _softmax_rule(ts[0], n), params=True,
    partials=("{y}·(g − Σ g·{y})",), latex=r"\text{{softmax}}({a})",
    batch="along", doc="exp(x) divided by its sum along a dimension.",
)  # fmt: skip


def _log_softmax(a: Any, p: Any) -> Any:
    if not a.size:
        return a.copy()
    x = _checked("log_softmax_lastdim_kernel_impl", a)
    if not a.ndim:
        return a * 0
    y = x - x.max(p, keepdims=True)
    y -= np.log(np.exp(y).sum(p, keepdims=True))
    return y if y.dtype is a.dtype else y.astype(a.dtype)


log_softmax_row = Op(
    "log_softmax", _log_softmax, lambda g, n: g - exp(n.y) * total(g, (n.p,) if n.sy else None), reads=("y",),
    jvp=lambda ts, n: ts[0] - total(ts[0] * exp(n.y), (n.p,) if n.sy else None), params=True,
    partials=("g − exp({y})·Σ g",), latex=r"\log \text{{softmax}}({a})",
    batch="along", doc="The logarithm of softmax along a dimension.",
)  # fmt: skip


_fast_softmax, _fast_log_softmax = elementwise(softmax_row), elementwise(log_softmax_row)


def _dim(dim: Any, ndim: int) -> int:
    if dim.__class__ is int and -ndim <= dim < ndim:
        return dim % ndim
    return (axes(dim, ndim) or (0,))[0]


def _prepared(name: str, input: Any, dtype: Any) -> Tensor:
    check_tensor(name, input)
    return input if dtype is None else to_dtype(input, dtype)


@public()
def softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None, *, out: Any = None) -> Tensor:
    """exp(x) divided by its sum along `dim`: positive numbers that sum to 1.  `dtype`: cast the input to it first.

    Raises NotImplementedError for integers.

    >>> import autodiff_kernel as torch
    >>> torch.softmax(torch.tensor([0., 1., 1.]), 0)
    tensor([0.1554, 0.4223, 0.4223])
    """
    input = _prepared("softmax", input, dtype)
    result = _fast_softmax(input, _dim(dim, input.raw.ndim))
    return result if out is None else into(out, result)


@public()
def log_softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None, *, out: Any = None) -> Tensor:
    """The logarithm of softmax along `dim`, computed without loss of digits.

    >>> import autodiff_kernel as torch
    >>> torch.log_softmax(torch.tensor([0., 1., 1.]), 0)
    tensor([-1.8620, -0.8620, -0.8620])
    """
    input = _prepared("log_softmax", input, dtype)
    result = _fast_log_softmax(input, _dim(dim, input.raw.ndim))
    return result if out is None else into(out, result)


@public(function=False, method=False)
def softmin(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """softmax of the negated input: the smallest element weighs most.

    >>> import autodiff_kernel as torch
    >>> softmin(torch.tensor([0., 1., 1.]), 0)
    tensor([0.5761, 0.2119, 0.2119])
    """
    return softmax(-input, dim, dtype)  # type: ignore[operator]


# ------------------------------------------------------------------------------------------------ logsumexp
def _logsumexp(a: Any, p: Any) -> Any:
    dims, keep = p
    if not a.ndim:
        return a + 0
    if not a.size:
        return np.log(np.exp(a).sum(dims, keepdims=keep))
    top = a.max(dims, keepdims=True)
    top = np.where(abs(top) < np.inf, top, top * 0 if top.dtype.kind != "f" else top.dtype.type(0))
    y = np.log(np.exp(a - top).sum(dims, keepdims=True)) + top
    if keep:
        return y
    return y.reshape(tuple(n for i, n in enumerate(a.shape) if dims is not None and i not in dims))


def _logsumexp_jvp(ts: Any, n: Any) -> Any:
    dims, keep = n.p
    return total(ts[0] * exp(n.a - restretch(n.y, n.sa, n.p)), dims, keep)


logsumexp_row = Op(
    "logsumexp", in_order(_logsumexp), lambda g, n: restretch(g, n.sa, n.p) * conj(exp(n.a - restretch(n.y, n.sa, n.p))),
    reads=("ay",), jvp=_logsumexp_jvp, params=True, types="float", symbol="log Σ exp", partials=("exp({a} − {y})",),
    latex=r"\log \sum e^{{{a}}}", batch="reduction", doc="The logarithm of the sum of exp(x) along dimensions.",
)  # fmt: skip


@public()
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """log(Σ exp(x)) along `dim` (an int or a tuple of ints), without overflow.

    >>> import autodiff_kernel as torch
    >>> torch.logsumexp(torch.tensor([1000., 1000.]), 0)
    tensor(1000.6932)
    """
    check_tensor("logsumexp", input)
    dims = axes(dim, input.raw.ndim)
    if dims is None and input.raw.ndim:
        dims = tuple(range(input.raw.ndim))
    result = logsumexp_row(input, p=(dims, bool(keepdim)))
    return result if out is None else into(out, result)
