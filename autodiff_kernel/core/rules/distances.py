"""Statistics and distances of rows: cdist, cov, corrcoef, renorm."""

from typing import Any

from ..api import check_tensor, into, public
from ..dtype import is_floating
from ..errors import explain
from ..failures import shape_clash
from ..op import TABLE, Op
from ..tensor import Tensor
from ..walk import unbroadcast
from .norms import _norm, direction, vector_norm
from .products import conj, other_dtypes
from .reductions import sum_row
from .shapes import reshape


# ------------------------------------------------------------------------------------------------ cdist
def pairs(a: Any, b: Any) -> Any:
    """All differences of a row of the first and a row of the second."""
    sa, sb = tuple(a.shape), tuple(b.shape)
    return reshape(a, p=(*sa[:-1], 1, sa[-1])) - reshape(b, p=(*sb[:-2], 1, *sb[-2:]))


def _cdist(a: Any, b: Any, p: float) -> Any:
    difference = pairs(a, b)
    return _norm(difference, (p, (difference.ndim - 1,), False))


def _directions(n: Any) -> Any:
    difference = pairs(n.a, n.b)
    y = reshape(n.y, p=(*n.sy, 1))
    return direction(difference, y, n.p, ((len(n.sy),), True))


def _summed(x: Any, axis: int, shape: tuple[int, ...]) -> Any:
    return unbroadcast(sum_row(x, p=((axis,), False)), shape)


def _to_first(g: Any, n: Any) -> Any:
    return _summed(reshape(g, p=(*n.sy, 1)) * _directions(n), len(n.sy) - 1, n.sa)


def _to_second(g: Any, n: Any) -> Any:
    return -_summed(reshape(g, p=(*n.sy, 1)) * _directions(n), len(n.sy) - 2, n.sb)


def _tangent(ts: Any, n: Any) -> Any:
    d = _directions(n)
    if ts[0] is None or ts[1] is None:
        one, other = (ts[0], n.b * 0) if ts[0] is not None else (n.a * 0, ts[1])
    else:
        one, other = ts
    return sum_row(pairs(one, other) * d, p=((len(n.sy),), False))


# p is the order of the norm
cdist_row: Op = Op(
    "cdist", _cdist, a=_to_first, b=_to_second, reads=("aby", "aby"), jvp=_tangent, params=True, symbol="‖ − ‖",
    partials=("the directions between the rows", "the directions between the rows"),
    latex=r"\lVert {a}_i - {b}_j \rVert", batch="together", doc="The distances of all pairs of rows.",
)  # fmt: skip


@public(method=False)
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The distances (p-norms) of all pairs of rows: (…, n, d) and (…, m, d) give (…, n, m).

    >>> import autodiff_kernel as torch
    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    check_tensor("cdist", x1, "x1")
    check_tensor("cdist", x2, "x2", 2)
    a, b = x1.raw.shape, x2.raw.shape
    for x, name in ((x1, "X1"), (x2, "X2")):
        if x.raw.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.raw.ndim}D")
        if x.raw.dtype.kind != "f":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype.scalar_type}"
            )
    if a[-1] != b[-1]:
        raise explain(
            RuntimeError, f"X1 and X2 must have the same number of columns. X1: {a[-1]} X2: {b[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.raw.dtype != x2.raw.dtype:
        raise other_dtypes(x1.raw, x2.raw)
    clash = shape_clash([a[:-2], b[:-2]])
    if clash is not None:
        raise clash
    order: Any = float(p)
    return cdist_row(x1, x2, p=int(order) if order in (0, 1, 2) else order)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ cov, corrcoef
@public()
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariances of variables (rows) over observations (columns), as a matrix.

    fweights: how often each observation counts (int); aweights: how much (float).

    >>> import autodiff_kernel as torch
    >>> torch.cov(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_tensor("cov", input)
    x: Any = input
    if x.raw.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {x.raw.ndim} dimensions"
        )
    if x.raw.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    count = x.raw.shape[-1] if x.raw.ndim else 1
    if not is_floating(x.raw.dtype):
        x = x.float()
    x = x if x.raw.ndim == 2 else x.reshape(1, count)
    weights: Any = None
    for given, name, kinds in ((fweights, "fweights", "iu"), (aweights, "aweights", "f")):
        if given is None:
            continue
        if given.raw.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                f"{given.raw.ndim} dimensions"
            )
        if given.raw.dtype.kind not in kinds:
            kind = "integral" if kinds == "iu" else "floating point"
            raise RuntimeError(
                f"cov(): expected {name} to have {kind} dtype but got {name} with {given.dtype.scalar_type} dtype"
            )
        if given.numel() != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                f"{given.numel()} != {count}"
            )
        if bool((given < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")
        weights = given if weights is None else weights * given
    total: Any = count if weights is None else weights.sum()
    mean = x.mean(1, keepdim=True) if weights is None else (x * weights).sum(1, keepdim=True) / total
    if weights is not None and aweights is not None and correction:
        norm = total - correction * (weights * aweights).sum() / total
    else:
        norm = total - correction
    if isinstance(norm, int):
        norm = max(norm, 0)
    else:
        norm = norm.clamp(min=0)
    centred = x - mean
    result = centred @ conj(centred if weights is None else centred * weights).mT / norm
    return result.squeeze() if input.raw.ndim < 2 or result.shape == (1, 1) else result  # type: ignore[no-any-return]


@public()
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of variables (rows) over observations (columns).

    >>> import autodiff_kernel as torch
    >>> torch.corrcoef(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_tensor("corrcoef", input)
    if input.raw.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.raw.ndim} dimensions"
        )
    c: Any = cov(input)
    if not c.raw.ndim:
        return c / c  # type: ignore[no-any-return]
    deviation = c.diagonal().real.sqrt()
    c = c / deviation[:, None] / deviation
    if c.raw.dtype.kind == "c":
        return TABLE["complex"](c.real.clamp(-1, 1), c.imag.clamp(-1, 1))  # type: ignore[no-any-return]
    return c.clamp(-1, 1)  # type: ignore[no-any-return]


@public(inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Tensor:
    """The tensor with each part along `dim` scaled down so that its p-norm is at most `maxnorm`.

    >>> import autodiff_kernel as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    check_tensor("renorm", input)
    x: Any = input
    if x.raw.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.raw.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    d = dim % x.raw.ndim
    size = vector_norm(x, p, tuple(k for k in range(x.raw.ndim) if k != d), True)
    large: Any = size > maxnorm  # type: ignore[operator]
    factor = maxnorm / (size + 1e-7)  # type: ignore[operator]
    return into(out, x * factor.where(large, 1.0), input)  # type: ignore[no-any-return]
