"""Many elements to one: sum, mean, prod, all, any, and their relatives that skip nan.

float16 and bfloat16 are summed in float32, and whole numbers and truth values in int64, as in PyTorch.
"""

from typing import Any

import numpy as np

from .. import device as devices
from .. import dtype as dtypes
from ..api import check_own_dtype, check_tensor, into, public
from ..dtype import is_floating
from ..errors import explain
from ..op import TABLE, Op
from ..outline import of_all
from ..single import plain
from ..storage import in_order, row_major
from ..tensor import Tensor
from .casting import to_dtype
from .dims import axes as axes
from .dims import product, wrap_dim
from .forms import FLOAT32, conj
from .shapes import expand_row, reshape

ndarray = np.ndarray
add_up: Any = np.add.reduce
multiply_up: Any = np.multiply.reduce


class Wider(dict[Any, Any]):
    """In which dtype the sum of a NumPy dtype is taken; None: in its own."""

    def __missing__(self, dtype: Any) -> Any:
        return FLOAT32 if dtype.kind == "V" else None  # V: bfloat16


WIDE = Wider(
    {np.dtype(d): np.dtype(np.int64) for d in "bool uint8 int8 int16 int32 uint16 uint32 uint64".split()}
)
WIDE[np.dtype(np.float16)] = FLOAT32
ALL = (None, False)  # p of a full reduction: (axis, keepdim)


def total(a: Any, axis: Any, keep: bool = False) -> Any:
    """The sum of a raw array; a 0-d array as it is."""
    if not a.ndim:
        return alone(a)
    wide = WIDE[a.dtype]
    if a.__class__ is not ndarray:  # an array of a GPU: CuPy has no ufunc.reduce
        out = a.sum(axis, dtype=wide, keepdims=keep)
    else:
        out = add_up(a, axis, wide, None, keep)
    if wide is None:
        return out
    return out if wide.kind == "i" else out.astype(a.dtype)


def alone(a: Any) -> Any:
    """The sum or product of one element: its value, in memory of its own."""
    return a.astype(np.int64) if a.dtype.kind in "biu" else a.copy()


def kept(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The shape of a reduction that keeps its dimensions."""
    return tuple([1 if axis is None or i in axis else n for i, n in enumerate(shape)])


def restretch(g: Any, shape: tuple[int, ...], p: Any) -> Any:
    """A reduced array repeated along the reduced dimensions."""
    axis, keep = p
    if axis is not None and not keep:
        g = reshape(g, p=kept(shape, axis))
    return expand_row(g, p=shape)


def count(shape: tuple[int, ...], axis: Any) -> int:
    """How many elements go into one."""
    return product(shape) if axis is None else product(shape[i] for i in axis)


# ------------------------------------------------------------------------------------------------ the rows
def _sum(a: Any, p: Any) -> Any:
    if a.__class__ is ndarray and a.ndim and a.dtype.char in "fd":  # what most sums are
        y = add_up(a, p[0], None, None, p[1])
        return y if y.flags.c_contiguous else y.copy()
    return row_major(total(a, p[0], p[1]))


def _mean(a: Any, p: Any) -> Any:
    axis, keep = p
    n = a.size if axis is None else count(a.shape, axis)
    if a.__class__ is ndarray and a.ndim and a.dtype.char in "fd":
        y = add_up(a, axis, None, None, keep) / n
        return y if y.flags.c_contiguous else y.copy()
    if a.dtype == np.float16:
        return row_major((total(a.astype(np.float32), axis, keep) / n).astype(np.float16))
    return row_major(total(a, axis, keep) / n)


sum_row = Op(
    "sum", _sum, a=lambda g, n: restretch(g, n.sa, n.p), mode="linear", params=True,
    node=lambda p: "SumBackward0" if p[0] is None else "SumBackward1", symbol="Σ", partials=("1",),
    latex=r"\sum {a}", batch="reduction", doc="The sum of the elements, of all or along dimensions.",
)  # fmt: skip
mean_row = Op(
    "mean", _mean, a=lambda g, n: restretch(g / count(n.sa, n.p[0]), n.sa, n.p), mode="linear",
    params=True, node=lambda p: "MeanBackward0" if p[0] is None else "MeanBackward1", partials=("1/count",),
    latex=r"\overline{{{a}}}", batch="reduction", doc="The mean of the elements, of all or along dimensions.",
)  # fmt: skip


def _prod(a: Any, p: Any) -> Any:
    axis, keep = p
    if not a.ndim:
        return alone(a)
    wide = np.int64 if a.dtype.kind in "biu" else None
    if a.__class__ is not ndarray:
        return a.prod(axis, dtype=wide, keepdims=keep)
    return multiply_up(a, axis, wide, None, keep)


def others(a: Any, axis: Any) -> Any:
    """For each element the product of the others: of those before it, times that of those behind it."""
    shape = a.shape
    if not shape:
        return a * 0 + 1
    if axis is None:
        a, d = reshape(a, p=(product(shape),)), 0
    else:
        d = axis[0]
    behind = TABLE["flip"](before(TABLE["flip"](a, p=(d,)), d), p=(d,))
    return reshape(before(a, d) * behind, p=tuple(shape))


def before(a: Any, d: int) -> Any:
    """For each element the product of those before it along dimension d."""
    return TABLE["delay"](TABLE["cumprod"](a, p=d), p=(d, 1))


def has_zero(a: Any) -> bool:
    raw = of_all(getattr(a, "raw", a))
    return bool(devices.item((raw == 0).any()))


def _prod_back(g: Any, n: Any) -> Any:
    g, y = restretch(g, n.sa, n.p), restretch(n.y, n.sa, n.p)
    return g * conj(others(n.a, n.p[0])) if has_zero(n.a) else g * conj(y) / conj(n.a)


def _prod_tangent(ts: Any, n: Any) -> Any:
    slope = others(n.a, n.p[0]) if has_zero(n.a) else restretch(n.y, n.sa, n.p) / n.a
    return sum_row(ts[0] * slope, p=n.p)


prod_row = Op(
    "prod", in_order(_prod), a=_prod_back, reads=("ay",), jvp=_prod_tangent, params=True,
    node=lambda p: "ProdBackward0" if p[0] is None else "ProdBackward1", symbol="Π", partials=("{y}/{a}",),
    latex=r"\prod {a}", batch="product", doc="The product of the elements, of all or along a dimension.",
)  # fmt: skip


def without_nan(a: Any) -> Any:
    return np.where(np.isnan(a), a.dtype.type(0), a) if is_floating(a.dtype) else a


def is_number(a: Any) -> Any:
    return a == a


nansum_row = Op(
    "nansum", in_order(lambda a, p: total(without_nan(a), *p)), a=lambda g, n: restretch(g, n.sa, n.p) * is_number(n.a),
    reads=("a",), jvp=lambda ts, n: sum_row(ts[0] * is_number(n.a), p=n.p), params=True, symbol="Σ",
    partials=("0 where nan, else 1",), latex=r"\sum {a}", batch="reduction", doc="The sum of the elements that are not nan.",
)  # fmt: skip


def _truth(method: str) -> Any:
    def fwd(a: Any, p: Any) -> Any:
        out = getattr(a if a.dtype.kind == "b" else a != 0, method)(axis=p[0], keepdims=p[1])
        return out.astype(np.uint8) if a.dtype == np.uint8 else out

    return fwd


all_row = Op(
    "all",
    in_order(_truth("all")),
    params=True,
    symbol="∀",
    batch="reduction",
    doc="Whether all elements are true.",
)
any_row = Op(
    "any",
    in_order(_truth("any")),
    params=True,
    symbol="∃",
    batch="reduction",
    doc="Whether an element is true.",
)
nonzero_count = Op("count_nonzero", in_order(lambda a, p: (a != 0).sum(axis=p, dtype=np.int64)), params=True,
                   batch="count", doc="How many elements are not 0.")  # fmt: skip
_sums, _means, _products, _nansums = map(plain, (sum_row, mean_row, prod_row, nansum_row))
_alls, _anys, _counts = map(plain, (all_row, any_row, nonzero_count))


# ------------------------------------------------------------------------------------------------ their forms
def check_keepdim(function: str, keepdim: Any) -> None:
    if keepdim.__class__ is not bool:
        raise TypeError(f"{function}(): argument 'keepdim' must be bool, not {type(keepdim).__name__}")


def bad_dim(function: str, dim: Any) -> TypeError:
    return TypeError(
        f"{function}() received an invalid combination of arguments - got ({type(dim).__name__}), but "
        "expected one of:\n"
        " * (*, torch.dtype dtype = None)\n * (tuple of ints dim, bool keepdim = False, *, torch.dtype "
        "dtype = None)\n"
    )


@public()
def sum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The sum of all elements, or along `dim` (an int or a tuple of ints).

    Bool and integer tensors are summed as int64.  keepdim: keep the summed dimensions, with size 1.

    >>> import autodiff_kernel as torch
    >>> torch.sum(torch.ones(2, 3), 0)
    tensor([2., 2., 2.])
    """
    if not isinstance(input, Tensor):
        check_tensor("sum", input)
    if dtype is not None:
        input = to_dtype(input, dtype)
    if dim is None and not keepdim:
        result = _sums(input, ALL)
    else:
        check_keepdim("sum", keepdim)
        result = _sums(input, (axes(dim, input.raw.ndim, "sum"), keepdim))
    if dtype is not None and result.raw.dtype != input.raw.dtype:  # whole numbers are added up as int64
        result = to_dtype(result, input.dtype)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def mean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The mean of all elements, or along `dim` (an int or a tuple of ints).

    Raises RuntimeError for integer and bool tensors unless `dtype` is a floating type; nothing has the mean nan.

    >>> import autodiff_kernel as torch
    >>> torch.mean(torch.tensor([[1., 2.], [3., 4.]]), 1)
    tensor([1.5000, 3.5000])
    """
    if not isinstance(input, Tensor):
        check_tensor("mean", input)
    if dtype is not None:
        if not (dtype.is_floating_point or dtype.is_complex):
            raise no_mean("Optional", dtype)
        input = to_dtype(input, dtype)
    elif not is_floating(input.raw.dtype):
        raise no_mean("Input", input.dtype)
    if dim is None and not keepdim:
        result = _means(input, ALL)
    else:
        check_keepdim("mean", keepdim)
        result = _means(input, (axes(dim, input.raw.ndim, "mean"), keepdim))
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


def no_mean(which: str, dtype: dtypes.dtype) -> RuntimeError:
    return explain(
        RuntimeError,
        f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex "
        "dtype. Got: "
        f"{dtype.scalar_type}",
        cure="convert first (x.float().mean()), or say in which type to compute: x.mean(dtype=torch.float32).",
    )


@public()
def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The product of all elements, or along `dim`.  Bool and integer tensors give int64.

    The gradient is right where elements are 0, too.

    >>> import autodiff_kernel as torch
    >>> torch.prod(torch.tensor([[1, 2], [3, 4]]), 1)
    tensor([ 2, 12])
    """
    check_tensor("prod", input)
    if dtype is not None:
        input = to_dtype(input, dtype)
    check_keepdim("prod", keepdim)
    if isinstance(dim, (tuple, list)):
        raise bad_dim("prod", dim)
    axis = (
        None
        if dim is None
        else (wrap_dim(dim, input.raw.ndim, "prod"),)
        if input.raw.ndim
        else axes(dim, 0, "prod")
    )
    result = _products(input, (axis, keepdim))
    if dtype is not None and result.raw.dtype != input.raw.dtype:  # whole numbers are multiplied as int64
        result = to_dtype(result, input.dtype)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def nansum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The sum of all elements that are not nan, or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.nansum(torch.tensor([1., float('nan'), 2.]))
    tensor(3.)
    """
    check_tensor("nansum", input)
    if input.raw.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if dtype is not None:
        input = to_dtype(input, dtype)
    check_keepdim("nansum", keepdim)
    result = _nansums(input, (axes(dim, input.raw.ndim, "nansum"), keepdim))
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The mean of all elements that are not nan, or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.nanmean(torch.tensor([1., float('nan'), 2.]))
    tensor(1.5000)
    """
    check_tensor("nanmean", input)
    if not is_floating(input.raw.dtype):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{input.dtype.scalar_type}"
        )
    numbers: Any = is_number(input.detach())
    result = nansum(input, dim, keepdim, dtype=dtype) / sum(numbers, dim, keepdim)  # type: ignore[operator]
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


def _test(name: str, call: Any, x: Tensor, dim: Any, keepdim: bool, out: Any) -> Tensor:
    check_tensor(name, x)
    check_keepdim(name, keepdim)
    if dim == ():
        result = TABLE["ne"](x, 0)
    else:
        result = call(x, (axes(dim, x.raw.ndim, name), keepdim))
    if not isinstance(out, Tensor) or out.raw.dtype != np.uint8:
        check_own_dtype(out, result, f"{name} only supports bool tensor for result, got: {{have}}")
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def all(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether all elements are true (not 0), altogether or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.all(torch.tensor([[True, False], [True, True]]), 1)
    tensor([False,  True])
    """
    return _test("all", _alls, input, dim, keepdim, out)


@public()
def any(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether any element is true (not 0), altogether or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.any(torch.tensor([[True, False], [False, False]]), 1)
    tensor([ True, False])
    """
    return _test("any", _anys, input, dim, keepdim, out)


@public()
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not 0, altogether or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.count_nonzero(torch.tensor([[0, 1], [2, 3]]), 0)
    tensor([1, 2])
    """
    check_tensor("count_nonzero", input)
    return _counts(input, axes(dim, input.raw.ndim, "count_nonzero"))  # type: ignore[no-any-return]
