"""Elements read and written along a dimension by an index of the result's shape: gather, scatter and their kin."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, into_another, public
from ..errors import explain
from ..meeting import NUMBERS
from ..op import TABLE, Op
from ..outline import of_all
from ..tensor import Tensor, wrap
from .dims import wrap_dim
from .forms import settle
from .products import C_NAMES
from .slices import getitem_back
from .writing import fitting, zero

ndarray, generic = np.ndarray, np.generic


# ------------------------------------------------------------------------------------------------ on raw arrays
def corner(a: Any, index: Any, dim: int) -> Any:
    """The part of a that an index of smaller size reaches: only `dim` stays whole."""
    if all(n == k for d, (n, k) in enumerate(zip(a.shape, index.shape)) if d != dim):
        return a
    return a[tuple(slice(None) if d == dim else slice(k) for d, k in enumerate(index.shape))]


def places(index: Any, dim: int, shape: tuple[int, ...]) -> Any:
    """For each element of the index, the number of the element in a flattened array of that shape."""
    step, out = 1, None
    for d in reversed(range(len(shape))):
        if d == dim:
            part = index * step
        else:
            part = devices.arange(index.shape[d], dtype=np.int64, like=index) * step
            part = part.reshape(tuple(-1 if k == d else 1 for k in range(len(shape))))
        out = part if out is None else out + part
        step *= shape[d]
    return out


def _gather(a: Any, index: Any, p: int) -> Any:
    if not a.ndim or not index.ndim:
        return settle(a.reshape(-1).take(index)) if index.size or not index.ndim else a.reshape(-1)[:0]
    if not index.size:
        return devices.zeros(index.shape, a.dtype, like=a)
    return np.take_along_axis(corner(a, index, p), index, p)


def _add(out: Any, index: Any, src: Any, dim: int) -> None:
    """out (contiguous) += src at the places of the index."""
    src = src if src.__class__ in NUMBERS else corner(src, index, -1).reshape(-1)
    devices.add_at(out.reshape(-1), places(index, dim, out.shape).reshape(-1), src)


def _fresh(a: Any) -> Any:
    """A contiguous copy with at least one dimension, to be written to."""
    return a.copy() if a.ndim else a.reshape(1).copy()


def _lifted(index: Any, b: Any) -> Any:
    """Index and source of 0 dimensions as ones of size 1."""
    b = b.reshape(1) if b.__class__ not in NUMBERS and not b.ndim else b
    return (index if index.ndim else index.reshape(1)), b


def _shaped(out: Any, like: Any) -> Any:
    return out if like.ndim else settle(out.reshape(()))


def _scatter(a: Any, b: Any, c: Any, p: Any) -> Any:
    out = _fresh(a)
    c, b = _lifted(c, b)
    if c.size:
        target = out.reshape(-1)
        target[places(c, p[0], out.shape).reshape(-1)] = (
            b if b.__class__ in NUMBERS else corner(b, c, -1).reshape(-1)
        )
    return _shaped(out, a)


def _scatter_add(a: Any, b: Any, c: Any, p: int) -> Any:
    out = _fresh(a)
    c, b = _lifted(c, b)
    if c.size:
        _add(out, c, b, p)
    return _shaped(out, a)


def _gather_back(g: Any, index: Any, p: Any) -> Any:
    dim, shape = p
    out = devices.zeros(shape or (1,), g.dtype, like=g)
    index, g = _lifted(index, g)
    if index.size:
        _add(out, index, g, dim)
    return out if shape else settle(out.reshape(()))


def reach(index_shape: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The part of the source that an index reaches, as parameters of `getitem`."""
    return tuple((0, k, 1) if k != m else () for k, m in zip(index_shape, shape))


def source_part(g: Any, n: Any) -> Any:
    """The source's cotangent from that of the elements which the index reached: the rest of the source gets zeros."""
    return g if n.sc == n.sb else getitem_back(g, p=(reach(n.sc, n.sb), n.sb))


# ------------------------------------------------------------------------------------------------ rows
# p is the dimension
gather_row: Op = Op(
    "gather", _gather, a=lambda g, n: gather_back(g, n.b, p=(n.p, n.sa)), reads=("b",), mode="linear", params=True,
    symbol="gather", partials=("1 where chosen, else 0",), latex="{a}_{{{b}}}",
    batch="gather", doc="For each place of the index, the element of the input at that index along a dimension.",
)  # fmt: skip
gather_back: Op = Op(
    "gather_backward", _gather_back, a=lambda g, n: gather_row(g, n.b, p=n.p[0]), reads=("b",), mode="linear",
    params=True, symbol="scatter +=", partials=("1 where chosen",),
    batch="gather_back", doc="Zeros, with each element added at its index along a dimension.",
)  # fmt: skip
# p is (dimension, whether the source is a number)
scatter_row: Op = Op(
    "scatter", _scatter, a=lambda g, n: scatter_row(g, 0, n.c, p=(n.p[0], True)),
    b=lambda g, n: source_part(gather_row(g, n.c, p=n.p[0]), n), reads=("c", "c"), mode="joint", params=True,
    node=lambda p: "ScatterBackward1" if p[1] else "ScatterBackward0", symbol="scatter",
    partials=("0 where written, else 1", "1 where written"), latex="{a}_{{{c}}} \\gets {b}",
    batch="scatter", doc="The first input, with the second one's elements at the index along a dimension.",
)  # fmt: skip
scatter_add_row: Op = Op(
    "scatter_add", _scatter_add, a=lambda g, n: g,
    b=lambda g, n: source_part(gather_row(g, n.c, p=n.p), n), reads=("", "c"), mode="joint", params=True,
    symbol="scatter +=", partials=("1", "1"), latex="{a}_{{{c}}} \\mathrel{{+}}= {b}",
    batch="scatter", doc="The first input, with the second one's elements added at the index along a dimension.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ checks
def check_index(name: str, x: Tensor, dim: Any, index: Any, src: Any = None) -> int:
    """PyTorch's errors for an index that does not fit; the dimension counted from the front."""
    check_tensor(name, x)
    d = wrap_dim(dim, x.raw.ndim, name)
    check_tensor(name, index, "index", 3)
    if index.raw.size and index.raw.dtype.name not in ("int64", "int32"):
        raise explain(
            RuntimeError,
            f"{name}(): Expected dtype int32/int64 for index",
            f"This one is {index.dtype}.",
            "convert it with .long().",
        )
    a, b = x.raw.shape, index.raw.shape
    if not index.raw.size:
        return d
    if max(len(a), 1) != max(len(b), 1):
        whose = "input" if name == "gather" else "self"
        raise explain(
            RuntimeError,
            f"Index tensor must have the same number of dimensions as {whose} tensor",
            f"The tensor has shape {list(a)}, the index {list(b)}.",
        )
    if src is not None and max(src.raw.ndim, 1) != max(len(b), 1):
        raise explain(
            RuntimeError,
            "Index tensor must have the same number of dimensions as src tensor",
            f"The index has shape {list(b)}, the source {list(src.raw.shape)}.",
        )
    for k, (m, n) in enumerate(zip(b, a)):
        if m > n and k != d and name == "gather":
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(b)} to be no larger than self {list(a)} "
                f"apart from dimension {d}"
            )
        if m > n and k != d or src is not None and m > src.raw.shape[k]:
            rest = "" if src is None else f" and to be no larger size than src {list(src.raw.shape)}"
            raise RuntimeError(
                f"Expected index {list(b)} to be no larger than self {list(a)} apart from dimension {d}{rest}"
            )
    check_bounds(index.raw, a[d] if a else 1, d)
    return d


def check_bounds(index: Any, size: int, dim: int) -> None:
    """No negative numbers here, and none too large.  (On a GPU nobody checks.)"""
    index = of_all(index)
    if not isinstance(index, (ndarray, generic)):
        return
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= size:
        raise explain(
            RuntimeError,
            f"index {low if low < 0 else high} is out of bounds for dimension {dim} with size {size}",
            f"Valid are 0 to {size - 1}; gather and scatter do not count from the end.",
        )


def check_source(name: str, x: Tensor, src: Any) -> None:
    check_tensor(name, src, "src", 4)
    if src.raw.dtype != x.raw.dtype:
        raise explain(
            RuntimeError,
            f"{name}(): Expected self.dtype to be equal to src.dtype",
            f"They are {x.dtype} and {src.dtype}.",
            f"convert the source: src.to({x.dtype}).",
        )


# ------------------------------------------------------------------------------------------------ public forms
@public()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Any = None) -> Tensor:
    """For each place of `index` (int64), the element of the input at that index along `dim`.

    For dim 1 of a matrix: out[i, j] = input[i, index[i, j]].  The result has the shape of `index`.

    >>> import autodiff_kernel as torch
    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    d = check_index("gather", input, dim, index)
    if out is not None and out.raw.dtype != input.raw.dtype:
        have, want = (C_NAMES.get(x.raw.dtype.name, x.raw.dtype.name) for x in (out, input))
        raise RuntimeError(f"gather(): Expected out tensor to have dtype {want}, but got {have} instead")
    return into_another(out, gather_row(input, index, p=d), input, index)


@public(inplace=True, row=scatter_row)
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None,
            out: Any = None) -> Tensor:  # fmt: skip
    """The input with the elements of `src` (a tensor or a number) written at `index` along `dim`.

    For dim 0 of a matrix: out[index[i, j], j] = src[i, j].  `reduce` may be 'add' or 'multiply'.

    >>> import autodiff_kernel as torch
    >>> torch.zeros(2, 3).scatter(1, torch.tensor([[0], [2]]), 1.)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    src = value if src is None else src
    if src is None:
        raise TypeError('scatter() missing 1 required positional arguments: "src"')
    d = check_index("scatter", input, dim, index, src if isinstance(src, Tensor) else None)
    if not isinstance(src, Tensor):
        if not isinstance(src, NUMBERS):
            check_tensor("scatter", src, "src", 4)
        src = fitting(src, input.raw.dtype)
    else:
        check_source("scatter", input, src)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        if not isinstance(src, Tensor):
            src = zero(TABLE["expand"](TABLE["cast"](index, p=input.raw.dtype), p=index.raw.shape)) + src
        from .scatter_reduce import reduce_rows

        row = reduce_rows["sum" if reduce == "add" else "prod"]
        return into(out, row(input, src, index, p=(d, True)))
    return into(out, scatter_row(input, src, index, p=(d, not isinstance(src, Tensor))))


@public(inplace=True, row=scatter_add_row)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor:
    """The input with the elements of `src` added at `index` along `dim`; an element that is named twice, twice.

    >>> import autodiff_kernel as torch
    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.tensor([1., 2., 3.]))
    tensor([3., 0., 3.])
    """
    check_tensor("scatter_add", src, "src", 3)
    d = check_index("scatter_add", input, dim, index, src)
    check_source("scatter_add", input, src)
    return into(out, scatter_add_row(input, src, index, p=d))


@public()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """`gather` with an index that broadcasts against the input except along `dim`; without `dim`, on flat tensors.

    What argmax and argsort give is such an index.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([[3, 1, 2], [6, 5, 4]])
    >>> torch.take_along_dim(x, torch.tensor([[0]]), 1)
    tensor([[3],
            [6]])
    """
    check_tensor("take_along_dim", input)
    check_tensor("take_along_dim", indices, "indices", 2)
    if indices.raw.dtype != np.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.scalar_type}"
        )
    if dim is None:
        reshape = TABLE["reshape"]
        return into(
            out, gather(reshape(input, p=(input.raw.size,)), 0, reshape(indices, p=(indices.raw.size,)))
        )
    a, b = input.raw.shape, indices.raw.shape
    if len(a) != len(b):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(a)} dimensions for input, and {len(b)} dimensions for indices"
        )
    d = wrap_dim(dim, len(a), "take_along_dim")
    from ..failures import shape_clash

    clash = shape_clash([(*a[:d], 1, *a[d + 1 :]), (*b[:d], 1, *b[d + 1 :])]) if a else None
    if clash is not None:
        raise clash
    if a:
        common = np.broadcast_shapes((*a[:d], 1, *a[d + 1 :]), (*b[:d], 1, *b[d + 1 :]))
        big, small = (*common[:d], a[d], *common[d + 1 :]), (*common[:d], b[d], *common[d + 1 :])
        input = input if big == a else TABLE["expand"](input, p=big)
        indices = indices if small == b else TABLE["expand"](indices, p=small)
        raw = indices.raw
        if (
            isinstance(raw, ndarray) and raw.size and raw.min() < 0
        ):  # from the end is allowed here, not in gather
            indices = wrap(np.where(raw < 0, raw + a[d], raw))
    return into(out, gather(input, d, indices))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Each number k of an int64 tensor as a row of `num_classes` zeros with a 1 at place k.

    Without `num_classes` it is the largest number plus one.  Raises RuntimeError for negative or too large numbers.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    check_tensor("one_hot", tensor)
    raw = of_all(tensor.raw)
    if raw.dtype != np.int64:
        raise explain(
            RuntimeError,
            "one_hot is only applicable to index tensor of type LongTensor.",
            f"This one is {tensor.dtype}.",
            "convert it with .long().",
        )
    if not raw.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return _hot(tensor, num_classes)
    low, high = int(devices.item(raw.min())), int(devices.item(raw.max()))
    if low < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = high + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif high >= num_classes:
        raise explain(
            RuntimeError,
            "Class values must be smaller than num_classes.",
            f"There is a class {high}, and num_classes is {num_classes}.",
        )
    return _hot(tensor, num_classes)


def _hot_rows(a: Any, p: int) -> Any:
    columns = devices.arange(p, dtype=np.int64, like=a)
    return (a.reshape((*a.shape, 1)) == columns).astype(np.int64)


one_hot_row: Op = Op(
    "one_hot",
    _hot_rows,
    params=True,
    symbol="1-hot",
    batch="leading",
    doc="Numbers of classes as rows with a single 1.",
)


def _hot(tensor: Tensor, num_classes: int) -> Tensor:
    return one_hot_row(tensor, p=int(num_classes))
