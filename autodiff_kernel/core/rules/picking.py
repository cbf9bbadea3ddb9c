"""Elements chosen by index tensors, and elements written where they say: index, index_select, take and their kin."""

import re
from typing import Any

import numpy as np

from .. import device as devices
from .. import modes
from ..api import check_tensor, into, into_another, public
from ..errors import explain
from ..graph import Node, new, tick
from ..inplace import in_place, stamp
from ..meeting import NUMBERS
from ..modes import special, watch
from ..op import TABLE, Op, remember
from ..outline import of_all
from ..overlap import check_no_overlap, shares
from ..sharing import saved_version_of
from ..storage import row_major
from ..tensor import Tensor
from .casting import cast, to_device
from .dims import wrap_dim
from .part_checks import check_copied_parts, check_parts

ndarray = np.ndarray
WHOLE = slice(None)


# ------------------------------------------------------------------------------------------------ where they are
def _pack(*indices: Any) -> Any:
    try:
        return np.stack(np.broadcast_arrays(*indices))
    except ValueError:
        shapes = ", ".join(str(list(i.shape)) for i in indices)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None


pack: Op = Op(
    "pack_index",
    _pack,
    symbol="(,)",
    batch="pack",
    doc="Several index tensors, broadcast and stacked into one.",
)


def spot(b: Any, pattern: tuple[bool, ...], packed: bool) -> Any:
    """NumPy's index: the index array b, or the several ones stacked in it, where `pattern` has True."""
    if len(pattern) == 1 and not packed:
        return b
    k, out = 0, []
    for here in pattern:
        out.append((b[k] if packed else b) if here else WHOLE)
        k += here
    return tuple(out)


def chosen(a: Any, b: Any, p: Any) -> Any:
    pattern, packed = p
    if not packed and b.dtype.kind == "i":
        return a.take(b, len(pattern) - 1)
    y = a[spot(b, pattern, packed)]
    return (
        y if pattern[0] or not isinstance(y, ndarray) else row_major(y)
    )  # NumPy puts chosen dimensions outermost


def gathered(g: Any, b: Any, p: Any) -> Any:
    (pattern, packed), shape = p
    out = devices.zeros(shape, g.dtype, like=g)
    if b.dtype.kind == "b":  # a mask names no element twice
        out[spot(b, pattern, packed)] = g
    elif len(pattern) == 1 and not packed and out.__class__ is ndarray and out.ndim > 1 and out.size:
        # rows, as in an embedding: NumPy adds at single elements several times faster than at rows
        width = out.size // shape[0]
        rows = np.where(b < 0, b + shape[0], b).reshape((-1, 1)) * width + np.arange(width)
        np.add.at(out.reshape(-1), rows.reshape(-1), g.reshape(-1))
    else:
        devices.add_at(out, spot(b, pattern, packed), g)
    return out


# p is (where index arrays stand among whole dimensions, whether the second input is several of them stacked)
index_row: Op = Op(
    "index", chosen, a=lambda g, n: index_back(g, n.b, p=(n.p, n.sa)), reads=("b",), mode="linear", params=True,
    symbol="[ ]", partials=("1 where chosen, else 0",), latex="{a}_{{{b}}}",
    batch="index", doc="The elements that an index tensor or a mask chooses.",
)  # fmt: skip
index_back: Op = Op(
    "index_back", gathered, a=lambda g, n: index_row(g, n.b, p=n.p[0]), reads=("b",), mode="linear", params=True,
    node="IndexPutBackward0", symbol="[ ]ᵀ", partials=("1",),
    batch="index_back", doc="Zeros, with each element added where an index tensor says.",
)  # fmt: skip


def pick(x: Tensor, b: Tensor, pattern: tuple[bool, ...], packed: bool) -> Tensor:
    """The chosen elements of x: `index_row` written out for plain arrays on the CPU."""
    a, i, p = x.raw, b.raw, (pattern, packed)
    try:
        if a.__class__ is not ndarray or i.__class__ is not ndarray or x.is_dual:
            return index_row(x, b, p=p)
        y = chosen(a, i, p)
    except IndexError as error:
        raise outside(error) from None
    out = new(Tensor)
    out.raw = y if y.ndim else y[()]
    out.node = out.version = out.family = None
    left = x.node
    if left is not None:
        if special[0]:
            remember(index_row, (x, b), (a, i), out, p)
        else:
            out.node = n = Node()
            n.op = index_row
            n.seq = tick()
            n.left = left
            n.p = p
            n.notes = None
            n.b = i
            n.vb = saved_version_of(b)
            n.sa = a.shape
            n.sb = i.shape
            n.sy = y.shape
    if watch[0] is not None:
        watch[0](index_row, p, (x, b), out)
    return out


def outside(error: IndexError) -> IndexError:
    """NumPy's message about an index that is out of bounds, in PyTorch's words."""
    found = re.search(r"index (-?\d+) is out of bounds for (?:axis (\d+) with )?size (\d+)", str(error))
    if found is None and "empty ax" in str(error):
        return IndexError("index is out of bounds for dimension with size 0")
    if found is None:
        return error
    index, axis, size = found.groups()
    if size == "0":
        return IndexError("index is out of bounds for dimension with size 0")
    return beyond(int(index), int(axis or 0), int(size))


def beyond(index: int, dim: int, size: int) -> IndexError:
    return explain(
        IndexError,
        f"index {index} is out of bounds for dimension {dim} with size {size}",
        f"Valid are 0 to {size - 1}, or counted from the end -1 to {-size}."
        if size
        else "That dimension is empty.",
        "counting starts at 0: the last one has the index size - 1, or -1.",
        topic="index out of range",
        index=index,
        dim=dim,
        size=size,
    )


# ------------------------------------------------------------------------------------------------ writing there
def _written(a: Any, b: Any, c: Any, p: Any) -> Any:
    out = a.copy()
    write_at(out, b, c, p)
    return out


def write_at(out: Any, b: Any, c: Any, p: Any) -> None:
    pattern, packed, accumulate = p
    where = spot(c, pattern, packed)
    try:
        if accumulate:
            devices.add_at(out, where, b)
        else:
            out[where] = b
    except (ValueError, TypeError):  # (the latter for several dimensions at a mask)
        raise misfit(b, out[where]) from None


def misfit(value: Any, place: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        f"shape mismatch: value tensor of shape {list(np.shape(value))} cannot be broadcast to indexing result of "
        f"shape {list(place.shape)}",
    )


def check_fits(value: Any, place: Any) -> None:
    """The error for a value that does not broadcast to the chosen elements."""
    try:
        fits = np.broadcast_shapes(value.shape, place.shape) == place.shape
    except ValueError:
        fits = False
    if not fits:
        raise misfit(value, place)


def _kept(g: Any, n: Any) -> Any:
    return g if n.p[2] else index_put_row(g, 0, n.c, p=n.p)


# p is (pattern, packed, accumulate), as for index
index_put_row: Op = Op(
    "index_put", _written, a=_kept, b=lambda g, n: index_row(g, n.c, p=n.p[:2]), reads=("c", "c"), mode="joint",
    params=True, spreads=True, symbol="[ ]←", partials=("0 where written, else 1", "1 where written"),
    latex="{a}_{{{c}}} \\gets {b}", batch="index_put",
    doc="The first tensor with the second one's elements where an index says.",
)  # fmt: skip


def index_put(
    input: Tensor, values: Any, b: Any, pattern: tuple[bool, ...], packed: bool, accumulate: bool = False
) -> Tensor:
    return index_put_row(input, values, b, p=(pattern, packed, accumulate))


_index_put = in_place(index_put, index_put_row)


def put_in_place(
    x: Tensor, value: Any, b: Tensor, pattern: tuple[bool, ...], packed: bool, accumulate: bool = False
) -> None:
    """Overwrite (or add to) the chosen elements of x, in x's memory; recorded where a gradient is."""
    try:
        if isinstance(value, Tensor):
            value = matched(x, value, b, (pattern, packed))
            if value.raw.size == 1 and b.raw.dtype.kind == "b" and shares(x.raw, value.raw):
                value = TABLE["clone"](value)  # a single value at a mask is read first
        tracked = x.node is not None or getattr(value, "node", None) is not None
        wrapped = x.is_dual or b.is_dual or getattr(value, "is_dual", False)
        if wrapped or tracked and modes.is_grad_enabled():
            _index_put(x, value, b, pattern, packed, accumulate)
            return
        raw = value.raw if isinstance(value, Tensor) else value
        if isinstance(value, Tensor):
            check_no_overlap(x, (value, b))
        stamp(x)
        write_at(x.raw, raw, b.raw, (pattern, packed, accumulate))
    except IndexError as error:
        raise outside(error) from None


def matched(x: Tensor, value: Tensor, b: Tensor, p: Any) -> Tensor:
    """The value in x's dtype, if PyTorch casts it there, and on x's device."""
    if value.raw.dtype != x.raw.dtype:
        if b.raw.dtype.kind != "b" or value.raw.ndim:
            if not (x.is_dual or b.is_dual or value.is_dual):
                check_fits(value.raw, x.raw[spot(b.raw, *p)])
            names = x.dtype.scalar_type, value.dtype.scalar_type
            raise explain(
                RuntimeError,
                f"Index put requires the source and destination dtypes match, got {names[0]} for the destination and "
                f"{names[1]} for the source.",
                cure=f"convert the value first: value.to({x.dtype}).",
            )
        value = cast(value, p=(x.raw.dtype, value.raw.dtype))
    if value.device != x.device and not value.raw.ndim:
        value = to_device(value, x.device)
    return value


# ------------------------------------------------------------------------------------------------ along one dimension
def along(dim: int) -> tuple[tuple[bool, ...], bool]:
    """The parameters of `index` for one index array at dimension `dim`."""
    return (*[False] * dim, True), False


index_select_row: Op = Op(
    "index_select", lambda a, b, p: a.take(b, p), a=lambda g, n: index_back(g, n.b, p=(along(n.p), n.sa)), reads=("b",),
    mode="linear", params=True, symbol="[ ]", partials=("1 where chosen, else 0",), latex="{a}_{{{b}}}",
    batch="select", doc="The parts along a dimension that an index tensor chooses.",
)  # fmt: skip


def _index_add(a: Any, b: Any, c: Any, p: Any) -> Any:
    dim, alpha = p
    out = a.copy()
    devices.add_at(out, spot(c, *along(dim)), b if alpha == 1 else b * alpha)
    return out


def _index_added(g: Any, n: Any) -> Any:
    dim, alpha = n.p
    g = index_select_row(g, n.c, p=dim)
    return g if alpha == 1 else g * alpha


# p is (dimension, alpha)
index_add_row: Op = Op(
    "index_add", _index_add, a=lambda g, n: g, b=_index_added, reads=("", "c"), mode="joint", params=True,
    symbol="[ ]+=", partials=("1", "alpha where chosen"), latex="{a}_{{{c}}} \\mathrel{{+}}= {b}",
    batch="add_parts", doc="The first input, with the second one's parts added where an index says.",
)  # fmt: skip


def _index_copy(a: Any, b: Any, c: Any, p: Any) -> Any:
    out = a.copy()
    out[spot(c, *along(p))] = b
    return out


def _not_copied(g: Any, n: Any) -> Any:
    return index_put_row(g, 0, n.c, p=(*along(n.p), False))


index_copy_row: Op = Op(
    "index_copy", _index_copy, a=_not_copied, b=lambda g, n: index_select_row(g, n.c, p=n.p), reads=("c", "c"),
    mode="joint", params=True, symbol="[ ]←", partials=("0 where written, else 1", "1 where written"),
    latex="{a}_{{{c}}} \\gets {b}", batch="add_parts",
    doc="The first input, with the second one's parts where an index says.",
)  # fmt: skip


def vector(name: str, x: Tensor, index: Any, position: int = 3) -> Tensor:
    """An index of one dimension; one of 0 dimensions is taken as one of size 1."""
    check_tensor(name, index, "index", position)
    if index.device != x.device:
        raise explain(
            RuntimeError,
            f"Expected all tensors to be on the same device, but got index is on {index.device}, different from other "
            f"tensors on {x.device}",
        )
    return index if index.raw.ndim else TABLE["reshape"](index, p=(1,))  # type: ignore[no-any-return]


def bounded(function: Any, kind: type[Exception], text: str = "") -> Any:
    """Call `function()`; an index that is out of bounds becomes PyTorch's error."""
    try:
        return function()
    except IndexError as error:
        plain = outside(error)
        raise (explain(kind, text, str(plain)) if text else kind(str(plain))) from None


def refuse_negative(index: Any, kind: type[Exception], text: str, size: int = 0, dim: int = 0) -> None:
    """Some of PyTorch's functions do not count from the end.  (On a GPU nobody checks.)"""
    index = of_all(index)
    if isinstance(index, (ndarray, np.generic)) and index.size and index.min() < 0:
        raise kind(text.format(index=int(index.min()), dim=dim, size=size))


def flat(x: Tensor, function: Any) -> Tensor:
    """A 0-d tensor goes through `function` as one of size 1."""
    return TABLE["reshape"](function(TABLE["reshape"](x, p=(1,))), p=())


@public()
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Tensor:
    """The parts of the tensor along `dim` that the 1-D int tensor `index` names, as a copy.

    Raises IndexError for an index out of range (negative ones are), RuntimeError for an index that is no int.

    >>> import autodiff_kernel as torch
    >>> torch.index_select(torch.tensor([[1, 2, 3], [4, 5, 6]]), 1, torch.tensor([0, 2]))
    tensor([[1, 3],
            [4, 6]])
    """
    check_tensor("index_select", input)
    d = wrap_dim(dim, input.raw.ndim, "index_select")
    check_tensor("index_select", index, "index", 3)
    if index.raw.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.raw.dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            f"index_select(): Expected dtype int32 or int64 for index\nThis one is {index.dtype}; .long() converts it."
        )
    index = vector("index_select", input, index)
    if not input.raw.ndim:
        if index.raw.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.raw.size} value(s)"
            )
        return into(out, flat(input, lambda x: index_select(x, 0, index)))
    text = "index out of range in self"
    refuse_negative(index.raw, IndexError, text)
    return into_another(
        out, bounded(lambda: index_select_row(input, index, p=d), IndexError, text), input, index
    )


@public(inplace=True, row=index_add_row)
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Any = None
) -> Tensor:
    """The tensor with `alpha` times the parts of `source` along `dim` added where the 1-D int tensor `index` says.

    A part that is named twice is added to twice.

    >>> import autodiff_kernel as torch
    >>> torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1., 2., 3.]))
    tensor([3., 0., 3.])
    """
    d, index = _check_source("index_add", input, dim, index, source)
    if not input.raw.ndim:
        part = source if source.raw.ndim else TABLE["reshape"](source, p=(1,))
        return into(out, flat(input, lambda x: index_add(x, 0, index, part, alpha=alpha)))
    if input.raw.dtype.kind in "iu" and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    text = "index {index} is out of bounds for dimension {dim} with size {size}"
    refuse_negative(index.raw, RuntimeError, text, input.raw.shape[d], d)
    return into(out, bounded(lambda: index_add_row(input, source, index, p=(d, alpha)), RuntimeError))


@public(inplace=True, row=index_copy_row)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Any = None) -> Tensor:
    """The tensor with the parts of `source` along `dim` where the 1-D int64 tensor `index` says.

    >>> import autodiff_kernel as torch
    >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1., 2.]))
    tensor([2., 0., 1.])
    """
    if isinstance(index, Tensor) and index.raw.dtype != np.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {index.dtype.scalar_type}"
        )
    d, index = _check_source("index_copy", input, dim, index, source)
    if not input.raw.ndim:
        part = source if source.raw.ndim else TABLE["reshape"](source, p=(1,))
        return into(out, flat(input, lambda x: index_copy(x, 0, index, part)))
    text = "index_copy_(): index {index} is out of bounds for dimension {dim} with size {size}"
    refuse_negative(index.raw, IndexError, text, input.raw.shape[d], d)
    return into(out, bounded(lambda: index_copy_row(input, source, index, p=d), IndexError))


def _check_source(name: str, x: Tensor, dim: int, index: Tensor, source: Tensor) -> tuple[int, Tensor]:
    check_tensor(name, x)
    check_tensor(name, index, "index", 3)
    check_tensor(name, source, "source", 4)
    d = wrap_dim(dim, x.raw.ndim, name)
    if index.raw.ndim > 1:
        raise IndexError(f"{name}_(): Index is supposed to be a vector, but got dim: {index.raw.ndim}")
    if index.raw.dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            f"{name}_(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_type}"
        )
    if source.raw.dtype != x.raw.dtype:
        raise explain(
            RuntimeError,
            f"{name}_(): self ({x.dtype.scalar_type}) and source ({source.dtype.scalar_type}) must have the same "
            "scalar type",
            cure=f"convert the source first: source.to({x.dtype}).",
        )
    if name == "index_copy":
        check_copied_parts(x.raw.shape, source.raw.shape, d, index.raw.size)
    else:
        check_parts(name, x.raw.shape, source.raw.shape, d, index.raw.size)
    return d, vector(name, x, index)


def _marks(c: Any, p: Any) -> Any:
    size, after = p
    out = devices.zeros((size, *[1] * after), np.bool_, like=c)
    out[c] = True
    return out


# p is (size of the dimension, how many dimensions follow it)
marks: Op = Op(
    "index_marks", _marks, params=True, batch="marks", doc="A mask that is True where an index says."
)


@public(inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """The tensor with `value` (a number or a 0-d tensor) in the parts along `dim` that the 1-D int64 index names.

    >>> import autodiff_kernel as torch
    >>> torch.index_fill(torch.ones(2, 3), 1, torch.tensor([0, 2]), 5)
    tensor([[5., 1., 5.],
            [5., 1., 5.]])
    """
    from .masks import filled_where

    check_tensor("index_fill", input)
    d = wrap_dim(dim, input.raw.ndim, "index_fill")
    check_tensor("index_fill", index, "index", 3)
    if index.raw.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.raw.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    index = vector("index_fill", input, index)
    if not input.raw.ndim:
        return flat(input, lambda x: index_fill(x, 0, index, value))
    size, after = input.raw.shape[d], input.raw.ndim - d - 1
    mask = bounded(lambda: marks(index, p=(size, after)), IndexError)
    return filled_where(input, mask, value, "IndexFill")


# ------------------------------------------------------------------------------------ in the order of memory
def _taken(g: Any, n: Any) -> Any:
    size = 1
    for k in n.sa:
        size *= k
    return TABLE["reshape"](index_back(g, n.b, p=(((True,), False), (size,))), p=n.sa)


take_row: Op = Op(
    "take", lambda a, b: a.take(b), a=_taken, reads=("b",), mode="linear", symbol="[ ]",
    partials=("1 where chosen, else 0",), latex="{a}_{{{b}}}", batch="take",
    doc="Elements by their number in the flattened tensor.",
)  # fmt: skip


def _put(a: Any, b: Any, c: Any, p: Any) -> Any:
    out = a.copy().reshape(-1)
    b, c = b if b.__class__ in NUMBERS else b.reshape(-1), c.reshape(-1)
    if p:
        devices.add_at(out, c, b)
    else:
        out[c] = b
    out = out.reshape(a.shape)
    return out if out.ndim or devices.device_of(out).type != "cpu" else out[()]


# p: whether elements are added to what is there
put_row: Op = Op(
    "put", _put, a=lambda g, n: g if n.p else put_row(g, 0, n.c, p=False),
    b=lambda g, n: TABLE["reshape"](take_row(g, n.c), p=n.sb), reads=("c", "c"), mode="joint", params=True,
    symbol="[ ]←", partials=("0 where written, else 1", "1 where written"), latex="{a}_{{{c}}} \\gets {b}",
    batch="put", doc="The first input, with the second one's elements where an index into the flattened tensor says.",
)  # fmt: skip


def _check_flat(name: str, x: Tensor, index: Any) -> None:
    check_tensor(name, x)
    check_tensor(name, index, "index", 2)
    if index.raw.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {index.dtype.scalar_type}")
    raw = of_all(index.raw)
    if isinstance(raw, (ndarray, np.generic)) and raw.size:
        size, low, high = x.raw.size, int(raw.min()), int(raw.max())
        if low < -size or high >= size:
            worst = high if high >= size else low
            raise IndexError(f"out of range: tried to access index {worst} on a tensor of {size} elements.")


@public()
def take(input: Tensor, index: Tensor, *, out: Any = None) -> Tensor:
    """The elements at the numbers `index` (int64, any shape) of the flattened tensor.

    >>> import autodiff_kernel as torch
    >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 3]))
    tensor([1, 4])
    """
    _check_flat("take", input, index)
    return into_another(out, take_row(input, index), input, index)


@public(inplace=True, row=put_row)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """The tensor with the elements of `source` at the numbers `index` of the flattened tensor.

    >>> import autodiff_kernel as torch
    >>> torch.zeros(2, 2).put(torch.tensor([0, 3]), torch.tensor([1., 2.]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    _check_flat("put_", input, index)
    check_tensor("put_", source, "source", 3)
    if source.raw.dtype != input.raw.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input.dtype.scalar_type} and source.dtype = {source.dtype.scalar_type}"
        )
    if source.raw.size != index.raw.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.raw.size}, index.numel() = {index.raw.size}"
        )
    return put_row(input, source, index, p=bool(accumulate))
