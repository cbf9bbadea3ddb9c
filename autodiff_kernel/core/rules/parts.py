"""Parts of a tensor as views: select, narrow, diagonal, unfold, as_strided; and what builds on diagonals.

The gradient of a part is zeros with the part's gradient in its place: each row has its `…_back`, whose own gradient
is the part again.
"""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import CAST_NOTHING, check_own_dtype, check_tensor, into, public
from ..errors import explain
from ..op import Op
from ..single import plain, viewing
from ..storage import as_strided as as_strided_view
from ..storage import in_order, storage_size
from ..tensor import Tensor, share
from .dims import is_whole, product, size_list, whole, wrap_dim
from .indexing import take_view
from .shapes import contiguous_row, ravel

ndarray = np.ndarray


# ------------------------------------------------------------------------------------------------ select, narrow
@public()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The part of the tensor at `index` along `dim`, as a view without that dimension: `x[:, index]` for dim 1.

    >>> import autodiff_kernel as torch
    >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, -1)
    tensor([2, 4])
    """
    check_tensor("select", input)
    shape = input.raw.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, i = wrap_dim(dim, len(shape), "select"), whole(index, "select", "index")
    if not -shape[d] <= i < shape[d]:
        raise IndexError(
            f"select(): index {i} out of range for tensor of size {list(shape)} at dimension {d}"
        )
    return take_view(input, (*[()] * d, i % shape[d]))


@public()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The part from `start` on, `length` long, along `dim`, as a view: `x[:, start:start + length]` for dim 1.

    >>> import autodiff_kernel as torch
    >>> torch.narrow(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    check_tensor("narrow", input)
    shape = input.raw.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and not is_whole(start):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    d, start, length = wrap_dim(dim, len(shape), "narrow"), whole(start, "narrow"), whole(length, "narrow")
    size = shape[d]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return take_view(input, (*[()] * d, (start, start + length, 1)))


@public()
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`narrow` as a copy.

    >>> import autodiff_kernel as torch
    >>> torch.narrow_copy(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    return contiguous_row(narrow(input, dim, start, length))


# ------------------------------------------------------------------------------------------------ diagonals
def _diagonal(a: Any, p: Any) -> Any:
    out = a.diagonal(*p)
    if getattr(a.flags, "writeable", False):
        out.flags.writeable = True  # NumPy gives a view of the diagonal, but says that it may not be written
    return out


def _diagonal_back(g: Any, p: Any) -> Any:
    where, shape = p
    out = devices.zeros(shape, g.dtype, like=g)
    _diagonal(out, where)[...] = g
    return out


# p is (offset, first dimension, second dimension)
diagonal_row: Op = Op(
    "diagonal", _diagonal, a=lambda g, n: diagonal_back(g, p=(n.p, n.sa)), mode="linear", params=True, view=True,
    symbol="diag", partials=("1 on the diagonal, else 0",), batch="diagonal", doc="The diagonal of each matrix.",
)  # fmt: skip
diagonal_back: Op = Op(
    "diagonal_backward", _diagonal_back, a=lambda g, n: diagonal_row(g, p=n.p[0]), mode="linear", params=True,
    symbol="diagᵀ", partials=("1",), batch="diagonal_back", doc="Zeros with the input on the diagonal.",
)  # fmt: skip
diag_copy: Op = Op(
    "diagonal_copy", lambda a, p: a.diagonal(*p).copy(), a=lambda g, n: diagonal_back(g, p=(n.p, n.sa)), mode="linear",
    params=True, node="DiagonalBackward0_copy", symbol="diag", partials=("1 on the diagonal, else 0",),
    batch="diagonal", doc="A copy of the diagonal of each matrix.",
)  # fmt: skip


def _embed(a: Any, p: Any) -> Any:
    offset, d0, d1 = p
    n = a.shape[-1] + abs(offset)
    shape = list(a.shape[:-1])
    for d in sorted((d0, d1)):
        shape.insert(d, n)
    out = devices.zeros(tuple(shape), a.dtype, like=a)
    _diagonal(out, p)[...] = a
    return out


diag_embed_row: Op = Op(
    "diag_embed", _embed, a=lambda g, n: diag_copy(g, p=n.p), mode="linear", params=True, symbol="diag",
    partials=("1 on the diagonal, else 0",), batch="diagonal", doc="Matrices of zeros with the input on their diagonals.",
)  # fmt: skip
_diagonals, _copied, _embedded = viewing(diagonal_row), plain(diag_copy), plain(diag_embed_row)


def two_dims(offset: Any, dim1: Any, dim2: Any, ndim: int, function: str) -> tuple[int, int, int]:
    d1, d2 = wrap_dim(dim1, ndim, function, "dim1"), wrap_dim(dim2, ndim, function, "dim2")
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return whole(offset, function, "offset"), d1, d2


@public()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal over the dimensions `dim1` and `dim2`, as a view whose last dimension it is.

    offset: 0 is the main diagonal, positive numbers are those above it, negative ones those below.

    >>> import autodiff_kernel as torch
    >>> torch.diagonal(torch.tensor([[1, 2], [3, 4]]), 1)
    tensor([2])
    """
    check_tensor("diagonal", input)
    return _diagonals(input, two_dims(offset, dim1, dim2, input.raw.ndim, "diagonal"))


@public()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros whose diagonals are the last dimension of the input.

    >>> import autodiff_kernel as torch
    >>> torch.diag_embed(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    check_tensor("diag_embed", input)
    if not input.raw.ndim:
        wrap_dim(dim1, 0)
    return _embedded(input, two_dims(offset, dim1, dim2, input.raw.ndim + 1, "diag_embed"))


@public()
def diag(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """A matrix with the 1-D input on its diagonal; or a copy of the diagonal of a 2-D input.

    >>> import autodiff_kernel as torch
    >>> torch.diag(torch.tensor([[1, 2], [3, 4]])), torch.diag(torch.tensor([1, 4]))
    (tensor([1, 4]), tensor([[1, 0],
            [0, 4]]))
    """
    check_tensor("diag", input)
    ndim = input.raw.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    offset = whole(diagonal, "diag", "diagonal")
    return into(out, (_embedded if ndim == 1 else _copied)(input, (offset, 0, 1)), input)  # type: ignore[no-any-return]


@public()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of the input on its diagonal.

    >>> import autodiff_kernel as torch
    >>> torch.diagflat(torch.tensor([[1, 2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    check_tensor("diagflat", input)
    return diag(ravel(input), offset)


# ------------------------------------------------------------------------------------------------ triangles
tril_row: Op = Op("tril", in_order(np.tril), a=lambda g, n: tril_row(g, p=n.p), mode="linear", params=True,
              partials=("1 below the diagonal, else 0",), batch="leading",
              doc="The lower triangle; zeros above it.")  # fmt: skip
triu_row: Op = Op("triu", in_order(np.triu), a=lambda g, n: triu_row(g, p=n.p), mode="linear", params=True,
              partials=("1 above the diagonal, else 0",), batch="leading",
              doc="The upper triangle; zeros below it.")  # fmt: skip


@public(inplace=True, row=tril_row)
def tril(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of each matrix, with zeros above diagonal number `diagonal`.

    >>> import autodiff_kernel as torch
    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    result = _triangle(input, diagonal, tril_row)
    check_own_dtype(out, result, CAST_NOTHING)
    return into(out, result, input)  # type: ignore[no-any-return]


@public(inplace=True, row=triu_row)
def triu(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of each matrix, with zeros below diagonal number `diagonal`.

    >>> import autodiff_kernel as torch
    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    result = _triangle(input, diagonal, triu_row)
    check_own_dtype(out, result, CAST_NOTHING)
    return into(out, result, input)  # type: ignore[no-any-return]


def _triangle(x: Tensor, k: int, row: Op) -> Tensor:
    check_tensor(row.name, x)
    if x.raw.ndim < 2:
        raise RuntimeError(f"{row.name}: input tensor must have at least 2 dimensions")
    return row(x, p=whole(k, row.name, "diagonal"))  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ windows
def _unfold(a: Any, p: Any) -> Any:
    dim, size, step = p
    if not a.ndim:
        return a.reshape(1)[:size]
    count = (a.shape[dim] - size) // step + 1
    if a.__class__ is ndarray:
        shape = (*a.shape[:dim], count, *a.shape[dim + 1 :], size)
        s = a.strides
        return as_strided_view(a, shape, (*s[:dim], s[dim] * step, *s[dim + 1 :], s[dim]))
    if not size:
        return a[(*[slice(None)] * dim, slice(0))].reshape((*a.shape[:dim], 0, *a.shape[dim + 1 :]))
    windows = np.lib.stride_tricks.sliding_window_view(a, size, dim, writeable=True)
    return windows[(*[slice(None)] * dim, slice(None, None, step))]


def _unfold_back(g: Any, p: Any) -> Any:
    (dim, size, step), shape = p
    if not shape:
        return g.reshape(()) if size else devices.zeros((), g.dtype, like=g)
    out = devices.zeros(shape, g.dtype, like=g)
    last = step * (g.shape[dim] - 1)
    for k in range(size):
        out[(*[slice(None)] * dim, slice(k, k + last + 1, step))] += g[..., k]
    return out


# p is (dimension, size, step)
unfold_row: Op = Op(
    "unfold", _unfold, a=lambda g, n: unfold_back(g, p=(n.p, n.sa)), mode="linear", params=True, view=True,
    partials=("1 per window",), batch="windows", doc="All windows of one size along a dimension.",
)  # fmt: skip
unfold_back: Op = Op(
    "unfold_backward", _unfold_back, a=lambda g, n: unfold_row(g, p=n.p[0]), mode="linear", params=True,
    symbol="unfoldᵀ", partials=("1",), batch="windows_back", doc="The sum of windows at their places.",
)  # fmt: skip
_windows = viewing(unfold_row)


@public(function=False)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` elements along `dimension`, `step` apart, as a view with a new last dimension.

    >>> import autodiff_kernel as torch
    >>> torch.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    shape = self.raw.shape
    d = wrap_dim(dimension, len(shape), "unfold", "dimension")
    size, step = whole(size, "unfold", "size"), whole(step, "unfold", "step")
    have = shape[d] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > have:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {have} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return _windows(self, (d, size, step))


# ------------------------------------------------------------------------------------------------ as_strided
def _strided(a: Any, p: Any) -> Any:
    size, stride, offset, strides, start = p
    n = a.dtype.itemsize
    if a.ndim and tuple(s // n for s in a.strides) != strides and a.size:
        return _gather(
            _storage(a, p), size, stride, offset
        )  # another layout than the input had: no view is possible
    return as_strided_view(a, size, tuple(s * n for s in stride), (offset - start) * n)


def _strided_back(g: Any, p: Any) -> Any:
    """Where several elements lay in one place of memory, each has the sum; expanded inputs share it."""
    (size, stride, offset, strides, start), shape = p
    memory = devices.zeros((_extent(p[0], shape),), g.dtype, like=g)
    if product(size):
        devices.add_at(memory, _places(size, stride, offset, g), g.reshape(-1))
    out = _gather(memory, shape, strides, start)
    if product(shape) and any(s == 0 and n > 1 for s, n in zip(strides, shape, strict=True)):
        times = product(n for s, n in zip(strides, shape, strict=True) if s == 0)
        out = out / times
    return out


def _storage(a: Any, p: Any) -> Any:
    out = devices.zeros((_extent(p, a.shape),), a.dtype, like=a)
    out[_places(a.shape, p[3], p[4], a)] = a.reshape(-1)
    return out


def _gather(memory: Any, size: Any, stride: Any, offset: int) -> Any:
    if not product(size):
        return devices.zeros(size, memory.dtype, like=memory)
    return memory[_places(size, stride, offset, memory)].reshape(size)


def _extent(p: Any, shape: Any) -> int:
    """How many elements of storage the input and the output reach over."""
    ends = [o + sum((n - 1) * s for n, s in zip(d, st, strict=True)) + 1
            for d, st, o in ((p[0], p[1], p[2]), (shape, p[3], p[4])) if product(d)]  # fmt: skip
    return max(ends, default=0)


def _places(size: Any, stride: Any, offset: int, like: Any) -> Any:
    """For each element of a strided array, in row-major order, where in the storage it lies."""
    out: Any = devices.full((1,) * len(size), offset, np.int64, like=like)
    for i, (n, s) in enumerate(zip(size, stride, strict=True)):
        out = out + (devices.arange(n, dtype=np.int64, like=like) * s).reshape(
            (-1, *[1] * (len(size) - 1 - i))
        )
    return out.reshape(-1)


# p is (size, stride, offset, stride of the input, offset of the input), counted in elements of the storage
as_strided_row: Op = Op(
    "as_strided", _strided, a=lambda g, n: as_strided_back(g, p=(n.p, n.sa)), mode="linear", params=True, view=True,
    partials=("1 per use",), doc="Any arrangement of the elements of the storage.",
)  # fmt: skip
as_strided_back: Op = Op(
    "as_strided_backward", _strided_back, a=lambda g, n: as_strided_row(g, p=n.p[0]), mode="linear", params=True,
    symbol="as_stridedᵀ", partials=("1",), doc="The sum of the elements at their places in the storage.",
)  # fmt: skip


@public()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the tensor's storage with the given size and strides (in elements), from `storage_offset` on.

    The view may overlap itself, or leave elements out.  Raises RuntimeError if it would reach beyond the storage.

    >>> import autodiff_kernel as torch
    >>> torch.as_strided(torch.arange(4), (3, 2), (1, 1))
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    check_tensor("as_strided", input)
    return as_strided_row(input, p=strided_parameters(input, size, stride, storage_offset))  # type: ignore[no-any-return]


def strided_parameters(x: Tensor, size: Any, stride: Any, storage_offset: int | None) -> Any:
    """p of the row, checked against the storage."""
    shape, steps = size_list(size, "as_strided"), size_list(stride, "as_strided", "stride", 3)
    if len(shape) != len(steps):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in steps):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}"
        )
    start = x.storage_offset()
    offset = start if storage_offset is None else whole(storage_offset, "as_strided", "storage_offset")
    raw = share(x)
    end = offset + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) + 1 if product(shape) else 0
    have = storage_size(raw) // raw.dtype.itemsize
    if end > have or offset < 0:
        n = raw.dtype.itemsize
        raise explain(
            RuntimeError,
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {offset}, and itemsize "
            f"{n} requiring a "
            f"storage size of {end * n} are out of bounds for storage of size {have * n}",
            f"The last element would be number {end - 1} of a storage of {have} elements.",
        )
    return shape, steps, offset, x.stride(), start
