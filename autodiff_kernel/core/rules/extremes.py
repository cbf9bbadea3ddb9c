"""The greatest and the least: max, min, amax, amin, aminmax, argmax, argmin.

Over all elements (and in amax and amin) equal extremes share the gradient evenly, as in PyTorch; max(dim) and
min(dim) give it to the element whose index they return.
"""

from typing import Any

from .. import dtype as dtypes
from ..api import CAST_NOTHING, FUNCTIONS, check_own_dtype, check_tensor, into, public
from ..op import TABLE, Op
from ..return_types import return_type
from ..single import plain, plural
from ..storage import in_order, row_major
from ..tensor import Tensor
from .along import add_along, take_along
from .dims import axes, is_whole, wrap_dim
from .reductions import check_keepdim, kept, restretch, sum_row
from .shapes import reshape


# ------------------------------------------------------------------------------------------------ shared gradients
def shares(a: Any, y: Any, shape: tuple[int, ...], p: Any, nan: bool = True) -> Any:
    """For each element its share in the extreme y: 1 over how many are equal to it, else 0."""
    y = restretch(y, shape, p)
    hit = a == y
    if nan:  # nan is an extreme too, and equals nothing
        hit = hit + (a != a) * (y != y)
    hit = TABLE["cast"](hit, p=getattr(y, "raw", y).dtype)
    return hit / restretch(sum_row(hit, p=p), shape, p)


def share_back(nan: bool) -> Any:
    return lambda g, n: restretch(g, n.sa, n.p) * shares(n.a, n.y, n.sa, n.p, nan)


def share_tangent(nan: bool) -> Any:
    return lambda ts, n: sum_row(ts[0] * shares(n.a, n.y, n.sa, n.p, nan), p=n.p)


def picked_back(g: Any, n: Any) -> Any:
    """The gradient of the values that `n.y[1]` chose along a dimension; p is (dimension, keepdim)."""
    dim, _ = n.p
    if not n.sa:
        return g[0]
    shape = kept(n.sa, (dim,))
    return add_along(reshape(g[0], p=shape), reshape(n.y[1], p=shape), p=(dim, n.sa))


def picked_tangent(ts: Any, n: Any) -> Any:
    dim, _ = n.p
    if not n.sa:
        return ts[0], None
    t = take_along(ts[0], reshape(n.y[1], p=kept(n.sa, (dim,))), p=dim)
    return reshape(t, p=tuple(n.sy[0])), None


def no_complex(kernel: str, method: str) -> Any:
    def fwd(a: Any, p: Any) -> Any:
        if a.dtype.kind == "c":
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.of(a.dtype).scalar_type}'")
        return row_major(getattr(a, method)(axis=p[0], keepdims=p[1]))

    return fwd


def _with_index(kernel: str) -> Any:
    method = "arg" + kernel

    def fwd(a: Any, p: Any) -> Any:
        if a.dtype.kind == "c":
            raise NotImplementedError(
                f"\"{kernel}_cpu\" not implemented for '{dtypes.of(a.dtype).scalar_type}'"
            )
        dim, keep = p
        if not a.ndim:
            return a.copy(), getattr(a, method)()
        # two passes, a fifth of the time of taking the values at the indices
        return getattr(a, kernel)(axis=dim, keepdims=keep), getattr(a, method)(axis=dim, keepdims=keep)

    return fwd


ONE = "1 at the {}, shared by equal ones"
max_row = Op(
    "max", no_complex("max_all", "max"), a=share_back(True), reads=("ay",), jvp=share_tangent(True),
    params=True, node="MaxBackward1", partials=(ONE.format("greatest"),), batch="reduction", doc="The greatest element.",
)  # fmt: skip
min_row = Op(
    "min", no_complex("min_all", "min"), a=share_back(True), reads=("ay",), jvp=share_tangent(True),
    params=True, node="MinBackward1", partials=(ONE.format("least"),), batch="reduction", doc="The least element.",
)  # fmt: skip
amax_row = Op(
    "amax", no_complex("max_values_cpu", "max"), a=share_back(False), reads=("ay",), jvp=share_tangent(False),
    params=True, symbol="max", partials=(ONE.format("greatest"),), batch="reduction", doc="The greatest along dimensions.",
)  # fmt: skip
amin_row = Op(
    "amin", no_complex("min_values_cpu", "min"), a=share_back(False), reads=("ay",), jvp=share_tangent(False),
    params=True, symbol="min", partials=(ONE.format("least"),), batch="reduction", doc="The least along dimensions.",
)  # fmt: skip
max_dim_row = Op(
    "max_dim", in_order(_with_index("max")), a=picked_back, reads=("y",), jvp=picked_tangent, params=True, outputs=True,
    node="MaxBackward0", symbol="max", partials=("1 at the index, else 0",), batch="along",
    doc="The greatest along a dimension.",
)  # fmt: skip
min_dim_row = Op(
    "min_dim", in_order(_with_index("min")), a=picked_back, reads=("y",), jvp=picked_tangent, params=True, outputs=True,
    node="MinBackward0", symbol="min", partials=("1 at the index, else 0",), batch="along",
    doc="The least along a dimension.",
)  # fmt: skip


def _aminmax_back(g: Any, n: Any) -> Any:
    out: Any = None
    for part, y in zip(g, n.y, strict=True):
        if part is not None:
            term = restretch(part, n.sa, n.p) * shares(n.a, y, n.sa, n.p, False)
            out = term if out is None else out + term
    return out


def _aminmax_tangent(ts: Any, n: Any) -> Any:
    return tuple(sum_row(ts[0] * shares(n.a, y, n.sa, n.p, False), p=n.p) for y in n.y)


def _both(a: Any, p: Any) -> Any:
    return a.min(axis=p[0], keepdims=p[1]), a.max(axis=p[0], keepdims=p[1])


aminmax_row = Op(
    "aminmax", in_order(_both), a=_aminmax_back,
    reads=("ay",), jvp=_aminmax_tangent, params=True, outputs=True, symbol="min, max",
    partials=(ONE.format("extreme"),), batch="reduction", doc="The least and the greatest element.",
)  # fmt: skip
argmax_row = Op(
    "argmax",
    lambda a, p: _index(a, p, "argmax"),
    params=True,
    batch="along",
    doc="Where the greatest element is.",
)
argmin_row = Op(
    "argmin",
    lambda a, p: _index(a, p, "argmin"),
    params=True,
    batch="along",
    doc="Where the least element is.",
)


def _index(a: Any, p: Any, method: str) -> Any:
    dim, keep = p
    if not a.ndim:
        return getattr(a, method)()
    return row_major(getattr(a, method)(axis=dim, keepdims=keep))


_max, _min, _amax, _amin = map(plain, (max_row, min_row, amax_row, amin_row))
_argmax, _argmin = plain(argmax_row), plain(argmin_row)
_max_dim, _min_dim, _aminmax = plural(max_dim_row), plural(min_dim_row), plural(aminmax_row)


# ------------------------------------------------------------------------------------------------ their forms
def check_nonempty(name: str, x: Tensor, dim: Any, hint: bool = True) -> None:
    """PyTorch's errors for an extreme of nothing; `dim` is None or a tuple of dimensions."""
    shape = x.raw.shape
    if dim is None:
        if not x.raw.size:
            raise (RuntimeError if hint else IndexError)(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                + (" Specify the reduction dim with the 'dim' argument." if hint else "")
            )
        return
    for d in dim:
        if shape and not shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def pair(kind: Any, results: Any, out: Any) -> Any:
    """The named tuple of two results, put into `out=` if that is given."""
    return kind(results if out is None else [into(o, r) for o, r in zip(out, results, strict=True)])


def one_dim(name: str, x: Tensor, dim: Any) -> int:
    if dim.__class__ is not int and not is_whole(dim):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({type(dim).__name__}), but "
            "expected one of:\n"
            f" * ()\n * (Tensor other)\n * (int dim, bool keepdim = False)\n"
        )
    d = wrap_dim(dim, x.raw.ndim, name)
    check_nonempty(name, x, (d,))
    return d


def _extreme(
    name: str, whole: Any, along: Any, kind: Any, x: Tensor, dim: Any, keepdim: Any, other: Any, out: Any
) -> Any:
    check_tensor(name, x)
    if isinstance(dim, Tensor) and not is_whole(dim) or isinstance(dim, Tensor) and keepdim is False:
        other = dim
    if other is not None:
        return FUNCTIONS[f"{name}imum"](x, other, out=out)
    if dim is None:
        check_nonempty(name, x, None)
        result = whole(x, (None, False))
        return result if out is None else into(out, result)
    check_keepdim(name, keepdim)
    return pair(kind, along(x, (one_dim(name, x, dim), keepdim)), out)


_max_type, _min_type = return_type("max", "values indices"), return_type("min", "values indices")
_aminmax_type = return_type("aminmax", "min max")


@public()
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """The greatest element; along `dim` the pair (values, indices); of two tensors, `maximum`.

    Raises RuntimeError for an empty tensor.  Equal greatest elements share the gradient evenly; along `dim` the one
    whose index is returned (the first) gets it.

    >>> import autodiff_kernel as torch
    >>> torch.max(torch.tensor([[1., 3.], [2., 0.]]))
    tensor(3.)
    >>> torch.max(torch.tensor([[1., 3.], [2., 0.]]), 0).indices
    tensor([1, 0])
    """
    return _extreme("max", _max, _max_dim, _max_type, input, dim, keepdim, other, out)


@public()
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
    """The least element; along `dim` the pair (values, indices); of two tensors, `minimum`.

    Raises RuntimeError for an empty tensor.  Equal least elements share the gradient evenly; along `dim` the one whose
    index is returned (the first) gets it.

    >>> import autodiff_kernel as torch
    >>> torch.min(torch.tensor([[1., 3.], [2., 0.]]), 1)
    torch.return_types.min(
    values=tensor([1., 0.]),
    indices=tensor([0, 1]))
    """
    return _extreme("min", _min, _min_dim, _min_type, input, dim, keepdim, other, out)


def _along(name: str, call: Any, x: Tensor, dim: Any, keepdim: Any, out: Any) -> Tensor:
    check_tensor(name, x)
    check_keepdim(name, keepdim)
    axis = axes(dim, x.raw.ndim, name)
    check_nonempty(name, x, axis)
    result = call(x, (axis, keepdim))
    check_own_dtype(
        out,
        result,
        "Expected the dtype for input and out to match, but got {want} for input's dtype and {have} for out's dtype.",
    )
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def amax(input: Tensor, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The greatest element along `dim` (an int or several; all by default). Equal ones share the gradient evenly.

    >>> import autodiff_kernel as torch
    >>> torch.amax(torch.tensor([[1., 3.], [2., 0.]]), 1)
    tensor([3., 2.])
    """
    return _along("amax", _amax, input, dim, keepdim, out)


@public()
def amin(input: Tensor, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The least element along `dim` (an int or several; all by default). Equal ones share the gradient evenly.

    >>> import autodiff_kernel as torch
    >>> torch.amin(torch.tensor([[1., 3.], [2., 0.]]), 1)
    tensor([1., 0.])
    """
    return _along("amin", _amin, input, dim, keepdim, out)


@public()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> Any:
    """The least and the greatest element, of all or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.aminmax(torch.tensor([1., 3., 2.]))
    torch.return_types.aminmax(
    min=tensor(1.),
    max=tensor(3.))
    """
    check_tensor("aminmax", input)
    check_keepdim("aminmax", keepdim)
    axis = None if dim is None else axes(wrap_dim(dim, input.raw.ndim, "aminmax"), input.raw.ndim)
    if axis is None and not input.raw.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if axis is not None and not input.raw.shape[axis[0]]:
        raise IndexError(f"aminmax: Expected reduction dim {axis[0]} to have non-zero size.")
    if input.raw.dtype.kind == "c":
        raise NotImplementedError(f"\"aminmax_cpu\" not implemented for '{input.dtype.scalar_type}'")
    return pair(_aminmax_type, _aminmax(input, (axis, keepdim)), out)


def _where(name: str, call: Any, x: Tensor, dim: Any, keepdim: Any, out: Any) -> Tensor:
    check_tensor(name, x)
    check_keepdim(name, keepdim)
    kind = x.raw.dtype.kind
    if kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")
    if kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    d = None if dim is None else wrap_dim(dim, x.raw.ndim, name)
    check_nonempty(name, x, None if d is None else (d,), hint=False)
    result = call(x, (d, keepdim))
    check_own_dtype(out, result, CAST_NOTHING)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The index of the greatest element: along `dim`, or in the flattened tensor. Of equal ones the first.

    >>> import autodiff_kernel as torch
    >>> torch.argmax(torch.tensor([[1., 3.], [2., 0.]]), 1)
    tensor([1, 0])
    """
    return _where("argmax", _argmax, input, dim, keepdim, out)


@public()
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The index of the least element: along `dim`, or in the flattened tensor. Of equal ones the first.

    >>> import autodiff_kernel as torch
    >>> torch.argmin(torch.tensor([[1., 3.], [2., 0.]]), 1)
    tensor([0, 1])
    """
    return _where("argmin", _argmin, input, dim, keepdim, out)
