"""Lengths: vector norms of any order, norm, dist."""

from typing import Any

import numpy as np

from ..api import check_tensor, into, public
from ..dtype import is_floating
from ..failures import shape_clash
from ..meeting import common_dtype
from ..op import TABLE, Op
from ..single import plain
from ..storage import in_order
from ..tensor import Tensor
from ..walk import unbroadcast
from .casting import to_dtype
from .dims import axes
from .elementwise import absolute, sgn
from .forms import gain, where
from .reductions import check_keepdim, restretch, sum_row, total

INF = float("inf")


def _norm(a: Any, p: Any) -> Any:
    """p is (order, axis, keepdim)."""
    order, axis, keep = p
    if a.dtype == np.float16:
        return _norm(a.astype(np.float32), p).astype(np.float16)
    if order == 2:
        squares = a.real * a.real + a.imag * a.imag if a.dtype.kind == "c" else a * a
        return np.sqrt(total(squares, axis, keep))
    size = np.abs(a)
    if order == 0:
        return total((a != 0).astype(size.dtype), axis, keep)
    if order == 1:
        return total(size, axis, keep)
    if order == INF:
        return size.max(axis=axis, keepdims=keep)
    if order == -INF:
        return size.min(axis=axis, keepdims=keep)
    return total(size**order, axis, keep) ** (1 / order)


def equal(size: Any, y: Any, a: Any) -> Any:
    """Where an element has the norm's size; of complex numbers NumPy rounds it as their place in memory wants."""
    if getattr(a, "raw", a).dtype.kind != "c":
        return size == y
    return TABLE["abs"](size - y) <= y * (4 * float(np.finfo(getattr(y, "raw", y).dtype).eps))


def direction(a: Any, y: Any, order: float, p: Any) -> Any:
    """What the norm gains per change of each element of a; y is the norm, stretched to a's shape. 0 where y is 0."""
    if order == 0:
        return a * 0
    if order == 1:
        return sgn(a)
    if order == 2:
        return where(y == 0, 0, a / y)  # the second derivative is nan there, as in PyTorch
    size = absolute(a)
    if abs(order) == INF:
        hit = equal(size, y, a)
        count = sum_row(TABLE["cast"](hit, p=getattr(y, "raw", y).dtype), p=p)
        return sgn(a) * where(hit, 1 / restretch(count, tuple(a.shape), p), 0)
    if order < 2:  # the power of 0 would be infinite
        part = sgn(a) * where(size == 0, 0, size ** (order - 1))
    else:
        part = a * size ** (order - 2)
    return part / (y + (y == 0)) ** (order - 1) * (y != 0)


def _along(a: Any, n: Any) -> Any:
    order, axis, keep = n.p
    return direction(a, restretch(n.y, n.sa, (axis, keep)), order, (axis, keep))


vector_norm_row = Op(
    "linalg_vector_norm", in_order(_norm), a=lambda g, n: restretch(g, n.sa, n.p[1:]) * _along(n.a, n), reads=("ay",),
    jvp=lambda ts, n: sum_row(gain(_along(n.a, n), ts[0]), p=n.p[1:]), params=True, symbol="‖ ‖",
    partials=("{a}/{y}",), latex=r"\lVert {a} \rVert", batch="norm",
    doc="The norm of a vector, the root of the sum of powers.",
)  # fmt: skip


def _dist_back(side: int) -> Any:
    def rule(g: Any, n: Any) -> Any:
        d = n.a - n.b
        slope = direction(d, restretch(n.y, tuple(d.shape), (None, False)), n.p, (None, False))
        return unbroadcast(
            restretch(g, tuple(d.shape), (None, False)) * slope * side, n.sa if side > 0 else n.sb
        )

    return rule


def _dist_tangent(ts: Any, n: Any) -> Any:
    d = n.a - n.b
    slope = direction(d, restretch(n.y, tuple(d.shape), (None, False)), n.p, (None, False))
    terms = [gain(slope, t) * side for t, side in zip(ts, (1, -1), strict=True) if t is not None]
    return sum_row(terms[0] if len(terms) < 2 else terms[0] + terms[1], p=(None, False))


dist_row = Op(
    "dist", lambda a, b, p: _norm(a - b, (p, None, False)), a=_dist_back(1), b=_dist_back(-1), reads=("aby", "aby"),
    jvp=_dist_tangent, params=True, types="same", symbol="‖ − ‖",
    partials=("({a} − {b})/{y}", "({b} − {a})/{y}"), latex=r"\lVert {a} - {b} \rVert", doc="The norm of a difference.",
)  # fmt: skip
_vector_norm = plain(vector_norm_row)


def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The vector norm of order `ord` over all elements or along `dim`; what `norm` and `linalg.vector_norm` call."""
    name = "linalg.vector_norm"
    raw = x.raw
    if not is_floating(raw.dtype):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype.scalar_type}"
        )
    if dtype is not None:
        x = to_dtype(x, dtype)
    check_keepdim(name, keepdim)
    axis = axes(dim, raw.ndim, name)
    order = float(ord)
    if order == int(order) if abs(order) != INF else False:
        order = int(order)
    if (order < 0 or order == INF) and not all(raw.shape if axis is None else [raw.shape[d] for d in axis]):
        if axis is None:
            raise RuntimeError(
                f"{name} cannot compute the {'inf' if order == INF else order} norm on an empty tensor "
                "because the "
                "operation does not have an identity"
            )
        raise RuntimeError(
            f"{name} cannot compute the {'inf' if order == INF else order} norm on the dimension "
            f"{next(d for d in axis if not raw.shape[d])} because this dimension is empty and the operation "
            "does not have "
            "an identity"
        )
    return _vector_norm(x, (order, axis, keepdim))  # type: ignore[no-any-return]


@public()
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """The norm of the elements: the root of the sum of |x|^p, over all or along `dim`.

    p: a number, inf, -inf, 'fro' (2) or 'nuc' (the sum of a matrix's singular values).

    >>> import autodiff_kernel as torch
    >>> torch.norm(torch.tensor([3., 4.])), torch.norm(torch.tensor([3., 4.]), 1)
    (tensor(5.), tensor(7.))
    """
    check_tensor("norm", input)
    if p is None or p == "fro":
        p = 2
    if isinstance(p, str):
        from .matrices import matrix_norm

        result = matrix_norm(
            input, p, dim if dim is not None else tuple(range(input.raw.ndim)), keepdim, dtype=dtype
        )
    else:
        result = vector_norm(input, p.item() if isinstance(p, Tensor) else p, dim, keepdim, dtype=dtype)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The norm of order `p` of input − other.

    >>> import autodiff_kernel as torch
    >>> torch.dist(torch.tensor([1., 1.]), torch.tensor([4., 5.]))
    tensor(5.)
    """
    check_tensor("dist", input)
    check_tensor("dist", other, "other", 2)
    kind = common_dtype([input.raw, other.raw])
    if not is_floating(kind.np):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {kind.scalar_type} instead."
        )
    input, other = to_dtype(input, kind), to_dtype(other, kind)
    clash = shape_clash([tuple(input.raw.shape), tuple(other.raw.shape)])
    if clash is not None:
        raise clash
    return dist_row(input, other, p=float(p))  # type: ignore[no-any-return]
