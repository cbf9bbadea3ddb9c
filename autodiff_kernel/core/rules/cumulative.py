"""Running results along a dimension: cumsum, cumprod, cummax, cummin, logcumsumexp, diff.

Two small rows carry the gradients: `delay` moves everything one place on, and `recurrence` solves
y[k] = b[k] + a[k] y[k-1].  With them a running product needs no division, so zeros do no harm.
"""

from typing import Any

import numpy as np

from .. import device as devices
from .. import dtype as dtypes
from ..api import check_tensor, into, public
from ..dtype import is_floating
from ..op import TABLE, Op
from ..return_types import return_type
from ..single import plain
from ..storage import in_order
from ..tensor import Tensor
from .along import add_along, take_along
from .casting import to_dtype
from .dims import whole, wrap_dim
from .forms import conj
from .joining import cat
from .parts import narrow
from .repeats import flip_row
from .two_numbers import logaddexp

WHOLE = slice(None)


def reverse(x: Any, dim: int) -> Any:
    return flip_row(x, p=(dim,))


def at(dim: int, part: Any) -> tuple[Any, ...]:
    """NumPy's index of a part of one dimension."""
    return (*[WHOLE] * dim, part)


# ------------------------------------------------------------------------------------------------ the two helpers
def _delay(a: Any, p: Any) -> Any:
    dim, fill = p
    if not a.ndim:
        return a * 0 + fill
    out = devices.empty(a.shape, a.dtype, like=a)
    if a.shape[dim]:
        out[at(dim, 0)] = fill
        out[at(dim, slice(1, None))] = a[at(dim, slice(0, -1))]
    return out


def _advance(g: Any, n: Any) -> Any:
    dim = n.p[0]
    return reverse(delay(reverse(g, dim), p=(dim, 0)), dim)


# p is (dimension, what comes first)
delay: Op = Op("delay", _delay, a=_advance, jvp=lambda ts, n: delay(ts[0], p=(n.p[0], 0)), params=True,
           partials=("1, one place back",), batch="along", doc="Everything one place further along a dimension.")  # fmt: skip


def _recurrence(a: Any, b: Any, p: Any) -> Any:
    if not b.ndim:
        return b.copy()
    out = b.copy()
    for k in range(1, b.shape[p]):
        out[at(p, k)] += a[at(p, k)] * out[at(p, k - 1)]
    return out


def _recurrence_back(g: Any, n: Any) -> Any:
    """The cotangent of b: the same recurrence, from behind."""
    return from_behind(conj(n.a), g, n.p)


def from_behind(a: Any, g: Any, dim: int) -> Any:
    """h[k] = g[k] + a[k+1] h[k+1]."""
    coefficients = delay(reverse(a, dim), p=(dim, 0))
    return reverse(recurrence(coefficients, reverse(g, dim), p=dim), dim)


recurrence: Op = Op(
    "recurrence", _recurrence, a=lambda g, n: _recurrence_back(g, n) * conj(delay(n.y, p=(n.p, 0))), b=_recurrence_back,
    reads=("ay", "a"), jvp=lambda ts, n: _recurrence_tangent(ts, n), params=True,
    batch="along", doc="y[k] = b[k] + a[k] y[k-1] along a dimension.",
)  # fmt: skip


def _recurrence_tangent(ts: Any, n: Any) -> Any:
    da, db = ts
    moved = None if da is None else da * delay(n.y, p=(n.p, 0))
    return recurrence(n.a, moved if db is None else db if moved is None else db + moved, p=n.p)


# ------------------------------------------------------------------------------------------------ sums and products
def _cumsum(a: Any, p: Any) -> Any:
    if not a.ndim:
        return a.copy()
    if a.dtype == np.float16:
        return a.cumsum(p, np.float32).astype(np.float16)
    return a.cumsum(p, a.dtype)


cumsum_row: Op = Op(
    "cumsum", in_order(_cumsum), a=lambda g, n: reverse(cumsum_row(reverse(g, n.p), p=n.p), n.p), mode="linear", params=True,
    symbol="Σ…", partials=("1 up to there",), batch="along", doc="The sum of all elements up to each one.",
)  # fmt: skip
cumprod_row: Op = Op(
    "cumprod", in_order(lambda a, p: a.cumprod(p, a.dtype) if a.ndim else a.copy()),
    a=lambda g, n: from_behind(conj(n.a), g, n.p) * conj(delay(n.y, p=(n.p, 1))), reads=("ay",),
    jvp=lambda ts, n: recurrence(n.a, ts[0] * delay(n.y, p=(n.p, 1)), p=n.p), params=True,
    symbol="Π…", partials=("{y}/{a} up to there",), batch="along", doc="The product of all elements up to each one.",
)  # fmt: skip
_cumsums, _cumprods = plain(cumsum_row), plain(cumprod_row)


def widened(x: Any, dtype: Any) -> Any:
    """The input in the dtype that PyTorch accumulates in: int64 for whole numbers and truth values."""
    if dtype is not None:
        return to_dtype(x, dtype)
    return to_dtype(x, dtypes.int64) if x.raw.dtype.kind in "biu" else x


@public(inplace=True, row=cumsum_row)
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, out: Any = None) -> Tensor:
    """The sum of all elements up to each one, along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.cumsum(torch.tensor([1., 2., 3.]), 0)
    tensor([1., 3., 6.])
    """
    check_tensor("cumsum", input)
    d = wrap_dim(dim, input.raw.ndim, "cumsum")
    result = _cumsums(widened(input, dtype), d)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public(inplace=True, row=cumprod_row)
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, out: Any = None) -> Tensor:
    """The product of all elements up to each one, along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.cumprod(torch.tensor([1., 2., 3.]), 0)
    tensor([1., 2., 6.])
    """
    check_tensor("cumprod", input)
    d = wrap_dim(dim, input.raw.ndim, "cumprod")
    result = _cumprods(widened(input, dtype), d)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ extremes so far
def running_max(a: Any, dim: int) -> Any:
    """NumPy's maximum.accumulate, which GPU arrays lack: there by doubling the reach."""
    if isinstance(a, np.ndarray):
        return np.maximum.accumulate(a, dim)
    out, reach = a.copy(), 1
    while reach < a.shape[dim]:
        later, earlier = at(dim, slice(reach, None)), at(dim, slice(0, -reach))
        out[later] = np.maximum(out[later], out[earlier])
        reach *= 2
    return out


def _running(sign: int) -> Any:
    def fwd(a: Any, p: Any) -> Any:
        if not a.ndim:
            return a.copy(), devices.zeros((), np.int64, like=a)
        flipped = sign < 0 and a.dtype.kind in "bu"
        turned = ~a if flipped else a if sign > 0 else -a  # the least is the greatest of what is turned round
        best = running_max(turned, p)
        values = ~best if flipped else best if sign > 0 else -best
        place = devices.arange(a.shape[p], dtype=np.int64, like=a).reshape((-1, *[1] * (a.ndim - 1 - p)))
        hit = (a == values) | (a != a)
        return values, running_max(np.where(hit, place, 0), p)

    return fwd


def _running_back(g: Any, n: Any) -> Any:
    return add_along(g[0], n.y[1], p=(n.p, n.sa))


def _running_tangent(ts: Any, n: Any) -> Any:
    return take_along(ts[0], n.y[1], p=n.p), None


cummax_row: Op = Op(
    "cummax", in_order(_running(1)), a=_running_back, reads=("y",), jvp=_running_tangent, params=True, outputs=True,
    symbol="max…", partials=("1 at the greatest so far",), batch="along", doc="The greatest element up to each one.",
)  # fmt: skip
cummin_row: Op = Op(
    "cummin", in_order(_running(-1)), a=_running_back, reads=("y",), jvp=_running_tangent, params=True, outputs=True,
    symbol="min…", partials=("1 at the least so far",), batch="along", doc="The least element up to each one.",
)  # fmt: skip
_cummax_type, _cummin_type = return_type("cummax", "values indices"), return_type("cummin", "values indices")


def _so_far(row: Op, kind: Any, x: Tensor, dim: int, out: Any) -> Any:
    check_tensor(row.name, x)
    if x.raw.dtype.kind == "c":
        raise NotImplementedError(f"\"{row.name}_cpu\" not implemented for '{x.dtype.scalar_type}'")
    results = row(x, p=wrap_dim(dim, x.raw.ndim, row.name))
    return kind(results if out is None else [into(o, r) for o, r in zip(out, results, strict=True)])


@public()
def cummax(input: Tensor, dim: int, *, out: Any = None) -> Any:
    """The greatest element up to each one along `dim`, and where it is (of equal ones the last).

    >>> import autodiff_kernel as torch
    >>> torch.cummax(torch.tensor([1., 3., 2.]), 0)
    torch.return_types.cummax(
    values=tensor([1., 3., 3.]),
    indices=tensor([0, 1, 1]))
    """
    return _so_far(cummax_row, _cummax_type, input, dim, out)


@public()
def cummin(input: Tensor, dim: int, *, out: Any = None) -> Any:
    """The least element up to each one along `dim`, and where it is (of equal ones the last).

    >>> import autodiff_kernel as torch
    >>> torch.cummin(torch.tensor([2., 1., 3.]), 0).values
    tensor([2., 1., 1.])
    """
    return _so_far(cummin_row, _cummin_type, input, dim, out)


# ------------------------------------------------------------------------------------------------ logcumsumexp
def _logcumsumexp(a: Any, p: Any) -> Any:
    if not a.ndim:
        return a.copy()
    if a.dtype == np.float16:
        return _logcumsumexp(a.astype(np.float32), p).astype(np.float16)
    if isinstance(a, np.ndarray) and a.dtype.kind != "c":
        return np.logaddexp.accumulate(a, p)
    out = a.copy()
    for k in range(1, a.shape[p]):
        out[at(p, k)] = logaddexp.fwd(out[at(p, k - 1)], a[at(p, k)])
    return out


def _log_weights(g: Any, n: Any) -> Any:
    """The sum over j >= k of g[j] exp(a[k] - y[j]), as a recurrence from behind: no exponential overflows."""
    dim = n.p
    decay = TABLE["exp"](delay(n.y, p=(dim, 0)) - n.y)  # exp(y[k-1] - y[k])
    return from_behind(conj(decay), g, dim) * conj(TABLE["exp"](n.a - n.y))


def _log_tangent(ts: Any, n: Any) -> Any:
    dim = n.p
    decay = TABLE["exp"](delay(n.y, p=(dim, 0)) - n.y)
    return recurrence(decay, ts[0] * TABLE["exp"](n.a - n.y), p=dim)


logcumsumexp_row: Op = Op(
    "logcumsumexp", in_order(_logcumsumexp), a=_log_weights, reads=("ay",), jvp=_log_tangent, params=True,
    partials=("exp({a} − {y}) up to there",), batch="along",
    doc="The logarithm of the sum of exponentials up to each element.",
)  # fmt: skip


@public()
def logcumsumexp(input: Tensor, dim: int, *, out: Any = None) -> Tensor:
    """log(cumsum(exp(input))) along `dim`, without overflow.

    >>> import autodiff_kernel as torch
    >>> torch.logcumsumexp(torch.tensor([1., 2., 3.]), 0)
    tensor([1.0000, 2.3133, 3.4076])
    """
    check_tensor("logcumsumexp", input)
    if not is_floating(input.raw.dtype):
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype.scalar_type}'")
    result = logcumsumexp_row(input, p=wrap_dim(dim, input.raw.ndim, "logcumsumexp"))
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ differences
@public()
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None, *, out: Any = None
) -> Tensor:
    """The differences of neighbours along `dim`, taken `n` times; of truth values, whether they differ.

    prepend, append: tensors to put before and behind first.

    >>> import autodiff_kernel as torch
    >>> torch.diff(torch.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    check_tensor("diff", input)
    ndim = input.raw.ndim
    if not ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if whole(n, "diff", "n") < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap_dim(dim, ndim, "diff")
    for extra in (prepend, append):
        if extra is not None and extra.raw.ndim != ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    if n and (prepend is not None or append is not None):
        input = cat([x for x in (prepend, input, append) if x is not None], d)
    truth = input.raw.dtype.kind == "b"
    result: Any = input if n else TABLE["clone"](input)
    for _ in range(min(n, input.raw.shape[d])):
        size = result.raw.shape[d]
        later, earlier = narrow(result, d, 1, size - 1), narrow(result, d, 0, size - 1)
        result = TABLE["ne"](later, earlier) if truth else later - earlier  # type: ignore[operator]
    return result if out is None else into(out, result)  # type: ignore[no-any-return]
