"""Several tensors to one: cat, stack and their relatives, meshgrid, block_diag."""

import itertools
import warnings
from typing import Any

import numpy as np

from .. import device as devices
from ..api import FUNCTIONS, into_another, public
from ..errors import explain
from ..graph import WideNode, new, tick
from ..modes import special
from ..op import Op
from ..storage import row_major
from ..tensor import Parameter, Tensor, fresh, wrap
from .dims import whole, wrap_dim
from .shapes import expanded, reshape, reshaped, unsqueeze
from .slices import getitem

ndarray, generic = np.ndarray, np.generic


# ------------------------------------------------------------------------------------------------ cat and stack
def _cat_back(g: Any, n: Any, i: int) -> Any:
    """The part of g that input i became; p is the dimension."""
    start = 0
    for shape in n.sx[:i]:
        start += shape[n.p] if shape != (0,) else 0
    shape = n.sx[i]
    if shape == (0,) and len(n.sy) > 1:  # an empty 1-D tensor was skipped
        return reshape(getitem(g, p=((0, 0, 1),)), p=(0,))
    return getitem(g, p=(*[()] * n.p, (start, start + shape[n.p], 1)))


def _cat(xs: Any, p: Any) -> Any:
    for x in xs:
        if not x.size and x.shape == (0,):  # an empty 1-D tensor goes with any shape
            xs = [x for x in xs if x.shape != (0,)] or xs
            break
    return row_major(np.concatenate(xs, p))


cat_row = Op(
    "cat", _cat, each=_cat_back, mode="joint", params=True, types="same", symbol="cat",
    partials=("1 in its part",), batch="join", doc="Tensors one behind the other along a dimension.",
)  # fmt: skip


def _stack(xs: Any, p: Any) -> Any:
    first = xs[0]
    if not first.ndim and isinstance(first, (generic, ndarray)):
        return np.array(xs, first.dtype)  # np.stack takes twenty times as long
    if first.__class__ is not ndarray:
        return np.stack(xs, p)
    if p == 0:
        out = np.empty((len(xs), *first.shape), first.dtype)
        for i, x in enumerate(xs):
            out[i] = x
        return out
    return row_major(np.concatenate([x.reshape((*x.shape[:p], 1, *x.shape[p:])) for x in xs], p))


stack_row = Op(
    "stack", _stack, each=lambda g, n, i: getitem(g, p=(*[()] * n.p, i)), mode="joint", params=True, types="same",
    partials=("1 in its part",), batch="join", doc="Tensors of one shape along a new dimension.",
)  # fmt: skip


def tensors_of(function: str, tensors: Any) -> list[Tensor]:
    """A sequence of Tensors, or PyTorch's TypeError."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{function}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    return list(tensors)


def quick(op: Op, xs: Any, p: Any, alike: bool) -> Any:
    """The row on plain Tensors of one dtype on the CPU, written out; None where anything is out of the ordinary.

    alike: all shapes must be equal.
    """
    if (
        special[0]
        or xs.__class__ is not list
        and xs.__class__ is not tuple
        or not xs
        or p.__class__ is not int
    ):
        return None
    raws, dtype, shape, any_node = [], None, (), False
    for x in xs:
        kind = x.__class__
        if kind is not Tensor and kind is not Parameter:
            return None
        raw = x.raw
        if raw.__class__ is not ndarray and not (alike and isinstance(raw, generic)):
            return None
        if dtype is None:
            dtype, shape = raw.dtype, raw.shape
            if p < 0:
                p += len(shape) + alike
            if not (shape or alike) or not 0 <= p < len(shape) + alike:
                return None
        elif raw.dtype is not dtype or alike and raw.shape != shape:
            return None
        raws.append(raw)
        if x.node is not None:
            any_node = True
    try:
        y = op.fwd(raws, p)
    except ValueError:
        return None
    out = new(Tensor)
    out.raw = y
    out.node = out.version = out.family = None
    if any_node:
        out.node = n = WideNode()
        n.op, n.seq, n.p, n.notes = op, tick(), p, None
        n.edges = tuple([x.node for x in xs])
        n.sx = [raw.shape for raw in raws]
        n.sy = y.shape
    return out


def check_cat(xs: list[Tensor], dim: Any) -> int:
    """The dimension, counted from the front; PyTorch's errors for shapes that do not go together."""
    shapes = [x.raw.shape for x in xs]
    if not shapes:
        raise explain(
            ValueError,
            "torch.cat(): expected a non-empty list of Tensors",
            cure="of no tensors neither the shape nor the dtype of the result is known: start with torch.zeros(0).",
        )
    first: Any = None
    for i, shape in enumerate(shapes):
        if not shape:
            raise explain(
                RuntimeError,
                f"zero-dimensional tensor (at position {i}) cannot be concatenated",
                "A single number has no dimension along which something could follow it.",
                "torch.stack([a, b]) makes a tensor of numbers.",
            )
        if first is None and shape != (0,):
            first = shape
    if first is None:
        first = (0,)
    d = wrap_dim(dim, len(first), "cat")
    for i, shape in enumerate(shapes):
        if shape == (0,):
            continue
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for k, (have, want) in enumerate(zip(shape, first, strict=True)):
            if have != want and k != d:
                raise explain(
                    RuntimeError,
                    f"Sizes of tensors must match except in dimension {d}. Expected size {want} but got size {have} for "
                    f"tensor number {i} in the list.",
                    f"Tensors are put behind one another along dimension {d}; all their other sizes must be equal.",
                    "another dim=, or tensors of equal sizes in the others.",
                    topic="shapes do not join",
                    dim=d,
                    number=i,
                    shapes=tuple(shapes),
                )
    return d


def check_stack(xs: list[Tensor], dim: Any) -> int:
    """The new dimension, counted from the front; PyTorch's errors for shapes that are not equal."""
    if not xs:
        raise explain(
            RuntimeError,
            "stack expects a non-empty TensorList",
            cure="of no tensors neither the shape nor the dtype of the result is known: look why the list is empty.",
        )
    shape = xs[0].raw.shape
    for i, x in enumerate(xs):
        if x.raw.shape != shape:
            raise explain(
                RuntimeError,
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(x.raw.shape)} at "
                f"entry {i}",
                "Stacked tensors lie on one another like sheets: all must have one shape.",
                "torch.cat() puts tensors of different lengths behind one another.",
                topic="shapes do not join",
                number=i,
                shapes=tuple(t.raw.shape for t in xs),
            )
    return wrap_dim(dim, len(shape) + 1, "stack")


@public("cat", "concat", "concatenate", method=False)
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors one behind the other along `dim`; their other sizes must be equal. Dtypes are promoted.

    >>> import autodiff_kernel as torch
    >>> torch.cat([torch.ones(1, 2), torch.zeros(1, 2)])
    tensor([[1., 1.],
            [0., 0.]])
    """
    result = quick(cat_row, tensors, dim, False)
    if result is None:
        xs = tensors_of("cat", tensors)
        result = cat_row(*xs, p=check_cat(xs, dim))
    return result if out is None else into_another(out, result, *tensors)  # type: ignore[no-any-return]


@public(method=False)
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape side by side along a new dimension `dim`. Dtypes are promoted.

    >>> import autodiff_kernel as torch
    >>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])], 1)
    tensor([[1, 3],
            [2, 4]])
    """
    result = quick(stack_row, tensors, dim, True)
    if result is None:
        xs = tensors_of("stack", tensors)
        result = stack_row(*xs, p=check_stack(xs, dim))
    return result if out is None else into_another(out, result, *tensors)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ at least n-d
def each_of(f: Any) -> Any:
    """A function of one tensor, also of several: a tuple then."""

    def several(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            return tuple(f(x) for x in tensors_of(f.__name__, tensors[0]))
        xs = tensors_of(f.__name__, tensors)
        return f(xs[0]) if len(xs) == 1 else tuple(f(x) for x in xs)

    several.__name__, several.__qualname__, several.__doc__ = f.__name__, f.__qualname__, f.__doc__
    several.__module__ = f.__module__
    FUNCTIONS[f.__name__] = several
    return several


@each_of
def atleast_1d(x: Tensor) -> Tensor:
    """The tensor(s), 0-d ones as views with one dimension.

    >>> import autodiff_kernel as torch
    >>> torch.atleast_1d(torch.tensor(1.))
    tensor([1.])
    """
    return x if x.raw.ndim else reshaped(x, (1,))


@each_of
def atleast_2d(x: Tensor) -> Tensor:
    """The tensor(s), with dimensions of size 1 in front up to 2.

    >>> import autodiff_kernel as torch
    >>> torch.atleast_2d(torch.tensor([1., 2.]))
    tensor([[1., 2.]])
    """
    ndim = x.raw.ndim
    return reshaped(x, (1, 1)) if not ndim else unsqueeze(x, 0) if ndim == 1 else x


@each_of
def atleast_3d(x: Tensor) -> Tensor:
    """The tensor(s), with dimensions of size 1 around up to 3.

    >>> import autodiff_kernel as torch
    >>> torch.atleast_3d(torch.tensor([1., 2.])).shape
    torch.Size([1, 2, 1])
    """
    ndim = x.raw.ndim
    if not ndim:
        return reshaped(x, (1, 1, 1))
    if ndim == 1:
        return unsqueeze(unsqueeze(x, 0), -1)
    return unsqueeze(x, -1) if ndim == 2 else x


def nonempty(function: str, tensors: Any) -> list[Tensor]:
    xs = tensors_of(function, tensors)
    if not xs:
        raise RuntimeError(f"{function} expects a non-empty TensorList")
    return xs


@public(method=False)
def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors side by side: along dimension 1, or 0 if they have only one.

    >>> import autodiff_kernel as torch
    >>> torch.hstack([torch.tensor([[1], [2]]), torch.tensor([[3], [4]])])
    tensor([[1, 3],
            [2, 4]])
    """
    xs = [atleast_1d(x) for x in nonempty("hstack", tensors)]
    return cat(xs, 0 if xs[0].raw.ndim == 1 else 1, out=out)


@public("vstack", "row_stack", method=False)
def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors on top of each other, 1-D ones as rows.

    >>> import autodiff_kernel as torch
    >>> torch.vstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return cat([atleast_2d(x) for x in nonempty("vstack", tensors)], 0, out=out)


@public(method=False)
def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors behind each other along a third dimension.

    >>> import autodiff_kernel as torch
    >>> torch.dstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    """
    return cat([atleast_3d(x) for x in nonempty("dstack", tensors)], 2, out=out)


@public(method=False)
def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors side by side, 1-D ones as columns.

    >>> import autodiff_kernel as torch
    >>> torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    xs = [reshaped(x, (x.raw.size, 1)) if x.raw.ndim < 2 else x for x in nonempty("column_stack", tensors)]
    return hstack(xs, out=out)


# ------------------------------------------------------------------------------------------------ grids and products
@public(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid: each 1-D tensor as a view that runs along its own dimension and repeats along the others.

    indexing: 'ij' (the default; the first tensor runs along dimension 0) or 'xy' (along dimension 1).

    >>> import autodiff_kernel as torch
    >>> x, y = torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing='xy'); x
    tensor([[1, 2],
            [1, 2]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    xs = nonempty("meshgrid", tensors)
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=3,
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in xs:
        if x.raw.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x!r} of "
                f"{x.raw.ndim} dimensions"
            )
        if x.raw.dtype != xs[0].raw.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if x.device != xs[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    swapped = indexing == "xy" and len(xs) > 1
    if swapped:
        xs[:2] = xs[1], xs[0]
    shape = tuple(x.raw.size for x in xs)
    grids = [
        expanded(reshaped(x, tuple(n if i == k else 1 for k, n in enumerate(shape))), shape)
        for i, x in enumerate(xs)
    ]
    if swapped:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


def check_vector(x: Any) -> None:
    if x.raw.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.raw.shape)}")


@public(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element of each 1-D tensor, as rows.

    >>> import autodiff_kernel as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    xs = tensors_of("cartesian_prod", tensors)
    for x in xs:
        check_vector(x)
    if len(xs) == 1:
        return xs[0]
    return stack([reshaped(g, (g.raw.size,)) for g in meshgrid(*xs, indexing="ij")], 1)


@public(method=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to take `r` elements of a 1-D tensor, as rows in the order of `itertools.combinations`.

    >>> import autodiff_kernel as torch
    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    check_vector(input)
    if whole(r, "combinations", "r") < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    raw = input.raw
    if r == 0:
        return fresh(devices.zeros((0,), raw.dtype, like=raw))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    index = np.array(list(choose(range(raw.size), r)), np.int64).reshape(-1, r)
    return input[wrap(devices.asarray(index, np.int64, like=raw))]  # type: ignore[index,no-any-return]


def _block_shapes(shapes: Any) -> list[tuple[int, int]]:
    return [(1, 1) if not s else (1, s[0]) if len(s) == 1 else tuple(s) for s in shapes]


def _block_diag(xs: Any) -> Any:
    blocks = _block_shapes([np.shape(x) for x in xs])
    out = devices.zeros((sum(b[0] for b in blocks), sum(b[1] for b in blocks)), xs[0].dtype, like=xs[0])
    i = j = 0
    for x, (rows, columns) in zip(xs, blocks, strict=True):
        out[i : i + rows, j : j + columns] = x
        i, j = i + rows, j + columns
    return out


def _block_back(g: Any, n: Any, i: int) -> Any:
    blocks = _block_shapes(n.sx)
    row, column = sum(b[0] for b in blocks[:i]), sum(b[1] for b in blocks[:i])
    part = getitem(g, p=((row, row + blocks[i][0], 1), (column, column + blocks[i][1], 1)))
    return part if len(n.sx[i]) == 2 else reshape(part, p=tuple(n.sx[i]))


block_diag_row = Op(
    "block_diag", _block_diag, each=_block_back, mode="joint", types="same", partials=("1 in its block",),
    doc="Matrices along the diagonal of a larger one.",
)  # fmt: skip


@public(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """Matrices along the diagonal of a larger one; 1-D tensors count as rows, 0-d ones as 1 × 1.

    >>> import autodiff_kernel as torch
    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    xs = tensors_of("block_diag", tensors)
    if not xs:
        return fresh(devices.zeros((1, 0), np.float32))
    for i, x in enumerate(xs):
        if x.raw.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                f"{x.raw.ndim} dimensions"
            )
    return block_diag_row(*xs)  # type: ignore[no-any-return]
