"""Other orders of the dimensions: t, transpose, permute, movedim, and the shape operations in place.

In place (`x.t_()`, `x.unsqueeze_(0)`) nothing is written: the tensor object itself takes another shape.
"""

import warnings
import weakref
from collections import deque
from itertools import starmap
from typing import Any

from .. import device as devices
from .. import modes, storage
from ..api import FUNCTIONS, attach, check_tensor, public
from ..captured import check as check_captured
from ..captured import guarding
from ..graph import new
from ..inplace import check_allowed, move, stamp
from ..op import Op
from ..sharing import View, family_of, share
from ..single import viewing
from ..tensor import Tensor, contiguous_strides
from .dims import given_dims, product, sizes, wrap_dim
from .parts import as_strided_row, strided_parameters
from .shapes import _EVERY, droppable, size_list, squeeze_row, unsqueeze_row

permute_row: Op = Op(
    "permute", lambda a, p: a.transpose(p), a=lambda g, n: permute_row(g, p=inverse(n.p)), mode="linear", params=True,
    view=True, partials=("1",), latex="{a}", batch="order", doc="The dimensions in another order.",
)  # fmt: skip
transpose_row: Op = Op(
    "transpose", lambda a, p: a.swapaxes(*p) if a.ndim else a[...], a=lambda g, n: transpose_row(g, p=n.p),
    mode="linear", params=True, view=True, symbol="ᵀ", partials=("1",), latex="{a}^T", batch="swap",
    doc="Two dimensions exchanged.",
)  # fmt: skip
t_row: Op = Op(
    "t", lambda a, p: a.T, a=lambda g, n: t_row(g), mode="linear", params=True, view=True, symbol="ᵀ",
    partials=("1",), latex="{a}^T", batch="swap", doc="The transpose of a matrix.",
)  # fmt: skip
_permute, _transpose, _t = viewing(permute_row), viewing(transpose_row), viewing(t_row)


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes `order`."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


@public()
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix, as a view; a tensor of fewer dimensions as it is.

    Raises RuntimeError for more than 2 dimensions.

    >>> import autodiff_kernel as torch
    >>> torch.t(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    if not isinstance(input, Tensor):
        check_tensor("t", input)
    if input.raw.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.raw.ndim}D")
    return _t(input)


@public()
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with dimensions `dim0` and `dim1` exchanged.

    >>> import autodiff_kernel as torch
    >>> torch.transpose(torch.ones(2, 3, 4), 0, -1).shape
    torch.Size([4, 3, 2])
    """
    if not isinstance(input, Tensor):
        check_tensor("transpose", input)
    ndim = input.raw.ndim
    return _transpose(input, (wrap_dim(dim0, ndim, "transpose"), wrap_dim(dim1, ndim, "transpose")))


@public()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """NumPy's name of `transpose`.

    >>> import autodiff_kernel as torch
    >>> torch.swapaxes(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """
    return transpose(input, axis0, axis1)


@public()
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Another name of `transpose`.

    >>> import autodiff_kernel as torch
    >>> torch.swapdims(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """
    return transpose(input, dim0, dim1)


def order_of(dims: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if sorted(dims) == list(range(ndim)):
        return dims
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            "the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = tuple([wrap_dim(d, ndim, "permute") for d in dims])
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return order


@public("permute", method=False)
def permute_function(input: Tensor, dims: Any) -> Tensor:
    """A view with the dimensions in the order `dims`.

    >>> import autodiff_kernel as torch
    >>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    check_tensor("permute", input)
    return _permute(input, order_of(size_list(dims, "permute", "dims"), input.raw.ndim))


def permute(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """A view with the dimensions in another order: `x.permute(2, 0, 1)` or `x.permute((2, 0, 1))`.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    dims = given_dims("permute", dims, named)
    return _permute(self, order_of(sizes(dims, "permute", "dims"), self.raw.ndim))


attach("permute", permute)


@public("movedim", "moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with the dimension(s) `source` at the place(s) `destination`; the others keep their order.

    >>> import autodiff_kernel as torch
    >>> torch.movedim(torch.ones(2, 3, 4), 0, 2).shape
    torch.Size([3, 4, 2])
    """
    check_tensor("movedim", input)
    ndim = input.raw.ndim
    given = [list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should contain the same "
            "number of "
            f"dims as destination ({given[1]} dims)"
        )
    places = [[wrap_dim(d, ndim, "movedim") for d in ds] for ds in given]
    for name, ds, shown in zip(("source", "destination"), places, given, strict=True):
        if len(set(ds)) != len(ds):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({shown})")
    if not ndim:
        return _permute(input, ())
    rest = iter([d for d in range(ndim) if d not in places[0]])
    to = dict(zip(places[1], places[0], strict=True))
    return _permute(input, tuple([to[i] if i in to else next(rest) for i in range(ndim)]))


# ------------------------------------------------------------------------------------------------ properties
def transposed(self: Tensor) -> Tensor:
    """The dimensions in reverse order, as a view: the transpose of a matrix."""
    ndim = self.raw.ndim
    if ndim not in (0, 2):
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
            "and it will throw "
            f"an error in a future release (this one has {ndim}). Consider `x.mT` to transpose batches of "
            "matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return _permute(self, tuple(range(ndim - 1, -1, -1)))


def matrix_transposed(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, as a view: the transposes of a batch of matrices."""
    return last_two(self, "mT")


def last_two(x: Tensor, name: str) -> Tensor:
    ndim = x.raw.ndim
    if ndim < 2:
        if ndim == 0:
            return x
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return _transpose(x, (ndim - 2, ndim - 1))


def conjugated(x: Tensor) -> Tensor:
    return x.conj() if x.raw.dtype.kind == "c" else x  # type: ignore[attr-defined,no-any-return]


def adjoint_property(self: Tensor) -> Tensor:
    """The conjugate transposes of a batch of matrices."""
    return conjugated(last_two(self, "mH"))


def hermitian(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    ndim = self.raw.ndim
    if ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if ndim > 2 else "")
        )
    return conjugated(last_two(self, "H"))


@public()
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged and complex numbers conjugated.

    >>> import autodiff_kernel as torch
    >>> torch.adjoint(torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    check_tensor("adjoint", input)
    return conjugated(last_two(input, "adjoint()"))


for _name, _get in {"T": transposed, "mT": matrix_transposed, "mH": adjoint_property, "H": hermitian}.items():
    attach(_name, property(_get))


# ------------------------------------------------------------------------------------------------ in place
def in_place(op: Op) -> Op:
    """The row under the name of its node in place: PyTorch numbers it on (TBackward1, SqueezeBackward3, …)."""

    def name(p: Any) -> str:
        out = op.node_name(p)
        return f"{out[:-1]}{int(out[-1]) + (3 if op is squeeze_row else 1)}"

    return op._like(node_names=name)


T_, TRANSPOSE_, AS_STRIDED_, SQUEEZE_, UNSQUEEZE_ = map(
    in_place, (t_row, transpose_row, as_strided_row, squeeze_row, unsqueeze_row)
)


def turn(x: Tensor, op: Op, p: Any) -> Tensor:
    """Give the tensor itself the shape that a view operation would give; returns it."""
    if x.is_dual:
        from ..wrappers import turn_inside

        turn_inside(x, op, p)
        return x
    if guarding:
        check_captured(x)
    if modes.is_grad_enabled() and x.node is not None:
        check_allowed(x)
    old = new(Tensor)
    old.raw, old.node, old.version, old.family = x.raw, x.node, x.version, x.family
    family = x.family
    live = (
        [v for v in family.alive() if v is not x]
        if family is not None and family.__class__ is not View
        else []
    )
    out = op(old, p=p)
    x.version = out.version
    stamp(x)
    whole = family.__class__ is not View and not live
    changes: list[Any] = [(x, "raw", out.raw), (x, "family", None if whole else out.family)]
    for v in live:  # views were made from the old shape: it stays their base
        changes.append((v, "family", View(old, v.family.chain, v.family.made)))
    if not whole:
        views = family_of(out.family.base)
        changes.append((views, "views", [*(r for r in views.views if r() is not None), weakref.ref(x)]))
    if out.node is not None:
        move(x, out.node, changes)
    deque(starmap(setattr, changes), 0)  # one call into C: an interrupt finds all changed, or nothing
    return x


def t_(self: Tensor) -> Tensor:
    """Transpose this matrix in place: the tensor itself takes the new shape."""
    if self.raw.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.raw.ndim}D")
    return turn(self, T_, None)


def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions in place: the tensor itself takes the new shape."""
    ndim = self.raw.ndim
    return turn(self, TRANSPOSE_, (wrap_dim(dim0, ndim, "transpose_"), wrap_dim(dim1, ndim, "transpose_")))


def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Insert a dimension of size 1 in place: the tensor itself takes the new shape."""
    return turn(self, UNSQUEEZE_, wrap_dim(dim, self.raw.ndim + 1, "unsqueeze_"))


def squeeze_(self: Tensor, dim: Any = _EVERY) -> Tensor:
    """Drop dimensions of size 1 in place: the tensor itself takes the new shape."""
    return turn(self, SQUEEZE_, droppable(self.raw.shape, dim))


def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Give the tensor itself another size and other strides over its storage."""
    return turn(self, AS_STRIDED_, strided_parameters(self, size, stride, storage_offset))


def resize_(self: Tensor, *sizes_: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor itself another size over its storage, which grows if need be (what is new is not set).

    Raises RuntimeError for a tensor that requires grad.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3).resize_(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    shape = sizes(sizes_, "resize_") if sizes_ != ((),) else ()
    if self.node is not None:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"resize_(): sizes must not be negative, but got {list(shape)}")
    raw, count = share(self), product(shape)
    start, have = self.storage_offset(), storage.storage_size(raw) // raw.dtype.itemsize
    steps = contiguous_strides(shape)
    if start + count > have:
        grown = devices.empty((start + count,), raw.dtype, like=raw)
        grown[:have] = storage.as_strided(raw, (have,), (raw.dtype.itemsize,), -start * raw.dtype.itemsize)
        self.raw, self.family = grown[start:], None
    return turn(self, AS_STRIDED_, (shape, steps, start, self.stride(), start))


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor itself the size of another one; see `resize_`."""
    return resize_(self, tuple(the_template.raw.shape))


for _changes in (resize_, resize_as_, as_strided_, t_, transpose_, unsqueeze_, squeeze_):
    attach(_changes.__name__, _changes)
FUNCTIONS |= {"resize_as_": resize_as_, "as_strided_": as_strided_}


def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchange two dimensions in place: the tensor itself takes the new shape."""
    return transpose_(self, axis0, axis1)


attach("swapaxes_", swapaxes_)
attach("swapdims_", transpose_)
