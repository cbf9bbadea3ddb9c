"""Other shapes of the same elements: reshape, view, flatten, squeeze, unsqueeze, expand.

These are views wherever PyTorch makes them views; `reshape` copies where the strides allow no view, and then the
result is not a view of its input.  Other orders of the dimensions are in orders.py.
"""

from typing import Any

import numpy as np

from .. import dtype as dtypes
from .. import formats
from ..api import FUNCTIONS, attach, check_tensor, public
from ..errors import explain
from ..failures import shape_clash
from ..op import Op
from ..single import plain, viewing
from ..storage import as_strided
from ..tensor import Size, Tensor, share, type_name, version_of, wrap
from ..walk import unbroadcast
from .dims import is_whole, product, size_list, sizes, whole, wrap_dim

ndarray, generic = np.ndarray, np.generic


class Reshape(Op):
    """The row `reshape`: called by rules too, on arrays of any layout, where it may have to copy."""

    __slots__ = ()

    def __call__(self, *xs: Any, p: Any = None) -> Any:
        (x,) = xs
        if not isinstance(x, Tensor):
            return x.reshape(p)
        if x.is_dual or is_viewable(x.raw, p):
            return Op.__call__(self, x, p=p)
        return unsafe_view(contiguous_row(x), p=p)


reshape: Reshape = Reshape(
    "reshape", lambda a, p: a.reshape(p), a=lambda g, n: reshape(g, p=n.sa), mode="linear", params=True, view=True,
    node="ViewBackward0", partials=("1",), latex="{a}", batch="size", doc="The same elements in another shape.",
)  # fmt: skip
unsafe_view: Op = Op(
    "unsafe_view", lambda a, p: a.reshape(p), a=lambda g, n: reshape(g, p=n.sa), mode="linear", params=True,
    symbol="reshape", partials=("1",), latex="{a}", batch="size",
    doc="A fresh copy in another shape, which nobody else holds.",
)  # fmt: skip
# p is a memory format, or None for row-major order
contiguous_row: Op = Op(
    "contiguous", formats.copied, a=lambda g, n: g, mode="linear", params=True, node="CloneBackward0", symbol="copy",
    partials=("1",), latex="{a}", batch="layout", doc="A copy whose elements lie in row-major order.",
)  # fmt: skip
unsqueeze_row: Op = Op(
    "unsqueeze", lambda a, p: a.reshape((*a.shape[:p], 1, *a.shape[p:])), a=lambda g, n: reshape(g, p=n.sa),
    mode="linear", params=True, view=True, partials=("1",), latex="{a}", batch="insert", doc="A new dimension of size 1.",
)  # fmt: skip
# p is (the dimensions to drop, whether none, one or several were named)
squeeze_row: Op = Op(
    "squeeze", lambda a, p: a.squeeze(p[0]), a=lambda g, n: reshape(g, p=n.sa), mode="linear", params=True, view=True,
    node=lambda p: f"SqueezeBackward{p[1]}", partials=("1",), latex="{a}", batch="dims_first",
    doc="Without dimensions of size 1.",
)  # fmt: skip


def _expand(a: Any, p: Any) -> Any:
    """NumPy's broadcast_to, which takes ten times as long."""
    shape = a.shape
    if shape == p:
        return a[...] if shape else a
    lead, strides, size = len(p) - len(shape), a.strides, a.itemsize
    steps, step = [], size
    for i in range(len(p) - 1, -1, -1):
        n = p[i]
        if i < lead:
            by = step if n == 1 else 0
        else:
            by = strides[i - lead] if shape[i - lead] == n else 0
        steps.append(by)
        step = n * by or size
    steps.reverse()
    if isinstance(a, (ndarray, generic)) and a.flags.c_contiguous and a.dtype.kind in "fiubc":
        return ndarray(p, a.dtype, a, 0, steps)
    return as_strided(a, p, tuple(steps))


expand_row: Op = Op(
    "expand", _expand, a=lambda g, n: unbroadcast(g, n.sa), mode="linear", params=True, view=True, partials=("1",),
    latex="{a}", batch="stretch", doc="Dimensions of size 1 repeated, without copying.",
)  # fmt: skip
_reshape, _unsqueeze, _squeeze, _expanded = map(viewing, (reshape, unsqueeze_row, squeeze_row, expand_row))
_unsafe_view = plain(unsafe_view)


# ------------------------------------------------------------------------------------------------ which shapes go
def is_viewable(a: Any, shape: tuple[int, ...]) -> bool:
    """Can `a` be seen in that shape (of as many elements) without a copy?"""
    return a.ndim < 1 or a.flags.c_contiguous or not a.size or same_memory(a.shape, a.strides, shape)


def same_memory(shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Do runs of dimensions that lie without gaps in memory split evenly into the target's sizes?

    Walks both shapes from the right.  A run of the old shape ends where the next stride is not what row-major order
    would make it; there the target's sizes, multiplied so far, must have come to the same number of elements.
    """
    j = len(target) - 1
    base, run, covered = strides[-1], 1, 1
    for i in range(len(shape) - 1, -1, -1):
        run *= shape[i]
        if i and (shape[i - 1] == 1 or strides[i - 1] == run * base):
            continue
        while j >= 0 and (covered < run or target[j] == 1):
            covered *= target[j]
            j -= 1
        if covered != run:
            return False
        if i:
            base, run, covered = strides[i - 1], 1, 1
    return j < 0


def infer(shape: Any, count: int, function: str = "reshape", argument: str = "shape") -> tuple[int, ...]:
    """The shape with its -1 filled in, for `count` elements; PyTorch's RuntimeError if it does not fit."""
    known, hole = 1, -1
    for i, n in enumerate(shape):
        if n.__class__ is not int:
            return infer(sizes((tuple(shape),), function, argument), count)
        if n >= 0:
            known *= n
        elif n != -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        elif hole >= 0:
            raise RuntimeError("only one dimension can be inferred")
        else:
            hole = i
    if hole < 0:
        if known == count:
            return shape if shape.__class__ is tuple else tuple(shape)
    elif known and count % known == 0:
        return (*shape[:hole], count // known, *shape[hole + 1 :])
    elif not known and not count:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
            "dimension size -1 can "
            "be any value and is ambiguous"
        )
    raise explain(
        RuntimeError,
        f"shape '{list(shape)}' is invalid for input of size {count}",
        f"A shape must hold exactly the {count} elements that there are; this one "
        + (f"holds {known}." if hole < 0 else f"holds a multiple of {known}."),
        "choose sizes whose product is that number; one of them may be -1, which is then computed.",
        topic="shape does not hold them",
        shape=tuple(shape),
        count=count,
    )


def given(shape: tuple[Any, ...], named: dict[str, Any], function: str, argument: str) -> Any:
    """The sizes of `f(2, 3)`, `f((2, 3))` or `f(shape=(2, 3))`."""
    if named:
        shape = (named.pop(argument),) if argument in named and not shape else shape
        no_more(function, named)
    if len(shape) == 1 and shape[0].__class__ is not int and isinstance(shape[0], (tuple, list)):
        return shape[0]
    return shape if shape else sizes((), function, argument)


def reshaped(x: Tensor, shape: Any) -> Tensor:
    """x in another shape: a view if the strides allow one, else a copy."""
    raw = x.raw
    shape = infer(shape, raw.size)
    if is_viewable(raw, shape):
        return _reshape(x, shape)
    return _unsafe_view(contiguous_row(x), shape)


# ------------------------------------------------------------------------------------------------ reshape and view
def reshape_method(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same elements in another shape, `x.reshape(2, 3)` or `x.reshape((2, 3))`; one size may be -1.

    A view of the tensor if its strides allow one, else a copy.

    >>> import autodiff_kernel as torch
    >>> torch.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    return reshaped(self, given(shape, named, "reshape", "shape"))


attach("reshape", reshape_method)


@public("reshape", method=False)
def reshape_function(input: Tensor, shape: Any) -> Tensor:
    """The same elements in another shape: a view if the strides allow one, else a copy. One size may be -1.

    Raises RuntimeError if the shape holds another number of elements.

    >>> import autodiff_kernel as torch
    >>> torch.reshape(torch.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    check_tensor("reshape", input)
    return reshaped(input, size_list(shape, "reshape", "shape"))


def view(self: Tensor, *size: Any, **named: Any) -> Tensor:
    """A view in another shape, `x.view(2, 3)`, or of the same bytes in another dtype, `x.view(torch.int32)`.

    One size may be -1.  Raises RuntimeError where the strides allow no view (`reshape` copies then).

    >>> import autodiff_kernel as torch
    >>> x = torch.zeros(4); x.view(2, 2)[0, 0] = 1; x
    tensor([1., 0., 0., 0.])
    >>> x.view(torch.int32)
    tensor([1065353216,          0,          0,          0], dtype=torch.int32)
    """
    if "dtype" in named:
        size = (named.pop("dtype"),)
    if len(size) == 1 and size[0].__class__ is dtypes.dtype:
        return view_dtype(self, size[0])
    if not size and not named:
        raise TypeError(
            "view() received an invalid combination of arguments - got (), but expected one of:\n * "
            "(torch.dtype dtype)\n"
            " * (tuple of ints size)\n"
        )
    raw = self.raw
    shape = infer(given(size, named, "view", "size"), raw.size, "view", "size")
    if not is_viewable(raw, shape):
        raise explain(
            RuntimeError,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two "
            "contiguous subspaces). Use .reshape(...) instead.",
            f"The tensor has shape {list(raw.shape)} and strides {list(self.stride())}: read in memory "
            "order its elements "
            f"do not come in the order that {list(shape)} needs.",
            "use x.reshape(...), which copies where it must, or x.contiguous().view(...).",
            tensor=self,
            topic="view of strided",
            shape=shape,
        )
    return _reshape(self, shape)


attach("view", view)


def no_more(function: str, named: dict[str, Any]) -> None:
    if named:
        raise TypeError(f"{function}() got an unexpected keyword argument '{next(iter(named))}'")


def view_dtype(x: Tensor, dtype: dtypes.dtype) -> Tensor:
    """The same bytes read as another dtype; like every reinterpretation, without a gradient."""
    raw = share(x)
    old, new = raw.dtype.itemsize, dtype.itemsize
    names = f"{dtypes.of(raw.dtype).scalar_type} as {dtype.scalar_type} (different element sizes)"
    if old != new:
        if not raw.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {names}")
        if new > old and raw.shape[-1] * old % new:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {new // old} to view {names}, but got {raw.shape[-1]}"
            )
        if raw.size and raw.shape[-1] > 1 and raw.strides[-1] != old:
            raise RuntimeError(f"self.stride(-1) must be 1 to view {names}, but got {raw.strides[-1] // old}")
    return wrap(raw.view(dtype.np), None, version_of(x))


@public(function=False)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of `other`.

    >>> import autodiff_kernel as torch
    >>> torch.arange(4).view_as(torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    check_tensor("view_as", other, "other", 1)
    return view(self, tuple(other.raw.shape))


@public(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the shape of `other`: a view if the strides allow one, else a copy.

    >>> import autodiff_kernel as torch
    >>> torch.arange(4).reshape_as(torch.ones(2, 2)).shape
    torch.Size([2, 2])
    """
    check_tensor("reshape_as", other, "other", 1)
    return reshaped(self, tuple(other.raw.shape))


@public()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` as one. Returns the tensor itself if they are one already.

    >>> import autodiff_kernel as torch
    >>> torch.flatten(torch.ones(2, 3, 4), 1).shape
    torch.Size([2, 12])
    """
    if not isinstance(input, Tensor):
        check_tensor("flatten", input)
    shape = input.raw.shape
    if start_dim == 0 and end_dim == -1 and len(shape) > 1:
        return reshaped(input, (input.raw.size,))
    start, end = wrap_dim(start_dim, len(shape), "flatten"), wrap_dim(end_dim, len(shape), "flatten")
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshaped(input, (1,))
    if start == end:
        return input
    return reshaped(input, (*shape[:start], product(shape[start : end + 1]), *shape[end + 1 :]))


@public()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension `dim` split into several of the given sizes, of which one may be -1.

    >>> import autodiff_kernel as torch
    >>> torch.unflatten(torch.ones(2, 12), 1, (3, -1)).shape
    torch.Size([2, 3, 4])
    """
    check_tensor("unflatten", input)
    parts = size_list(sizes, "unflatten", "sizes")
    shape = input.raw.shape
    d = wrap_dim(dim, len(shape), "unflatten")
    if not parts:
        raise RuntimeError("unflatten: sizes must be non-empty")
    count = shape[d] if shape else 1
    try:
        parts = infer(parts, count)
    except RuntimeError as error:
        if "is invalid for" in str(error):
            raise RuntimeError(
                f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {d} "
                f"({count}) in the "
                "input tensor"
            ) from None
        raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
    return view(input, (*shape[:d], *parts, *shape[d + 1 :]))


@public()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view if the tensor is contiguous, else a copy.

    >>> import autodiff_kernel as torch
    >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    check_tensor("ravel", input)
    return _reshape(contiguous(input), (input.raw.size,))


@public(function=False)
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor with its elements in row-major order; the tensor itself if they lie so already.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if memory_format is None:
        return self if self.is_contiguous() else contiguous_row(self)
    if memory_format is formats.preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if memory_format is not formats.contiguous_format:
        formats.check_rank(self.raw, memory_format)
    return self if formats.lies_in(self.raw, memory_format) else contiguous_row(self, p=memory_format)


# ------------------------------------------------------------------------------------------------ dimensions of size 1
@public()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new dimension of size 1 at `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.unsqueeze(torch.ones(3), 0).shape, torch.ones(3).unsqueeze(-1).shape
    (torch.Size([1, 3]), torch.Size([3, 1]))
    """
    if not isinstance(input, Tensor):
        check_tensor("unsqueeze", input)
    return _unsqueeze(input, wrap_dim(dim, input.raw.ndim + 1, "unsqueeze"))


_EVERY: Any = object()


@public()
def squeeze(input: Tensor, dim: Any = _EVERY) -> Tensor:
    """A view without the dimensions of size 1, or without those of `dim` (an int or several) that have size 1.

    >>> import autodiff_kernel as torch
    >>> torch.squeeze(torch.ones(1, 3, 1)).shape, torch.ones(1, 3, 1).squeeze(0).shape
    (torch.Size([3]), torch.Size([3, 1]))
    """
    if not isinstance(input, Tensor):
        check_tensor("squeeze", input)
    return _squeeze(input, droppable(input.raw.shape, dim))


def droppable(shape: tuple[int, ...], dim: Any) -> tuple[tuple[int, ...], int]:
    """The parameters of the row `squeeze`."""
    ndim = len(shape)
    if dim is _EVERY:
        return tuple([i for i in range(ndim) if shape[i] == 1]), 0
    if isinstance(dim, (tuple, list)):
        named = [wrap_dim(d, ndim, "squeeze") for d in dim]
        for d in named:
            if named.count(d) > 1:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        return tuple(d for d in named if ndim and shape[d] == 1), 2
    if dim.__class__ is not int and not is_whole(dim):
        raise TypeError(
            f"squeeze() received an invalid combination of arguments - got ({type(dim).__name__}), but "
            "expected one of:\n"
            " * ()\n * (int dim)\n * (tuple of ints dim)\n"
        )
    d = wrap_dim(dim, ndim)
    return ((d,) if ndim and shape[d] == 1 else ()), 1


# ------------------------------------------------------------------------------------------------ stretching
@public(function=False)
def expand(self: Tensor, *size: Any, implicit: bool = False, **named: Any) -> Tensor:
    """A view in which dimensions of size 1 are repeated without copying; -1 leaves a size as it is.

    Raises RuntimeError for a dimension of another size.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if named:
        size = (named.pop("size", ()),)
        no_more("expand", named)
    return expanded(self, sizes(size, "expand"))


def expanded(x: Tensor, size: tuple[int, ...]) -> Tensor:
    shape = x.raw.shape
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({type_name(x.raw)}{{{list(shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    out = list(size)
    for i, n in enumerate(size):
        if i < lead:
            if n < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                    f"dimension {i}"
                )
        elif n == -1:
            out[i] = shape[i - lead]
        elif n != shape[i - lead] and (shape[i - lead] != 1 or n < 0):
            raise explain(
                RuntimeError,
                f"The expanded size of the tensor ({n}) must match the existing size ({shape[i - lead]}) at "
                "non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}",
                "Only a dimension of size 1 can be stretched.",
                "use repeat() to copy a longer dimension several times.",
            )
    return _expanded(x, tuple(out))


@public(function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """A view of the tensor, expanded to the shape of `other`.

    >>> import autodiff_kernel as torch
    >>> torch.ones(3).expand_as(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    check_tensor("expand_as", other, "other", 1)
    return expanded(self, tuple(other.raw.shape))


@public()
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """A view of the tensor in a larger shape: dimensions of size 1 are repeated without copying.

    >>> import autodiff_kernel as torch
    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    check_tensor("broadcast_to", input)
    return expanded(input, size_list(size, "broadcast_to"))


@public(function=False)
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The tensor summed to a shape from which it could have been broadcast.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2, 3).sum_to_size(3)
    tensor([2., 2., 2.])
    """
    shape, target = self.raw.shape, sizes(size, "sum_to_size")
    behind = shape[len(shape) - len(target) :]
    if len(target) > len(shape) or any(n not in (1, m) for n, m in zip(target, behind, strict=True)):
        raise RuntimeError(f"size {{{list(target)}}} is not expandable to size {{{list(shape)}}}.")
    if not target:
        return self.sum()  # type: ignore[attr-defined, no-any-return]
    return self if target == shape else unbroadcast(self, target)  # type: ignore[no-any-return]


@public(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors as views of the one shape that they broadcast to.

    >>> import autodiff_kernel as torch
    >>> a, b = torch.broadcast_tensors(torch.ones(3), torch.ones(2, 1)); a.shape
    torch.Size([2, 3])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    shapes = [tuple(t.raw.shape) for t in tensors]
    clash = shape_clash(shapes)
    if clash is not None:
        raise clash
    target = np.broadcast_shapes(*shapes)
    return tuple(t if t.raw.shape == target else expanded(t, target) for t in tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of the given shapes broadcast to.

    >>> import autodiff_kernel as torch
    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    out: list[int] = []
    for k, shape in enumerate(shapes):
        shape = (whole(shape),) if is_whole(shape) else sizes((tuple(shape),), "broadcast_shapes")
        out = [1] * (len(shape) - len(out)) + out
        for i in range(-1, -len(shape) - 1, -1):
            if shape[i] < 0:
                raise RuntimeError(
                    f"Trying to create tensor with negative dimension ({shape[i]}): ({shape[i]})"
                )
            if shape[i] not in (1, out[i]):
                if out[i] != 1:
                    raise RuntimeError(
                        f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching "
                        "argument at index "
                        f"{k} had {tuple(shape)}; but expected shape should be broadcastable to {out}"
                    )
                out[i] = shape[i]
    return Size(out)


FUNCTIONS["broadcast_shapes"] = broadcast_shapes
