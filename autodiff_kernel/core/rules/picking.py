"""Elements chosen by an index tensor or a mask, and elements written where one says: index and index_put."""

import re
from typing import Any

import numpy as np

from .. import device as devices
from .. import modes
from ..errors import explain
from ..graph import Node, new, tick
from ..inplace import in_place, stamp
from ..modes import special
from ..op import Op, remember
from ..tensor import Tensor, version_of
from .casting import cast, to_device
from .writing import check_partial_overlap

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


pack = Op("pack_index", _pack, symbol="(,)", doc="Several index tensors, broadcast and stacked into one.")


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
    return a[spot(b, pattern, packed)]


def gathered(g: Any, b: Any, p: Any) -> Any:
    (pattern, packed), shape = p
    out = devices.zeros(shape, g.dtype, like=g)
    if b.dtype.kind == "b":  # a mask names no element twice
        out[spot(b, pattern, packed)] = g
    else:
        devices.add_at(out, spot(b, pattern, packed), g)
    return out


# p is (where index arrays stand among whole dimensions, whether the second input is several of them stacked)
index_row = Op(
    "index", chosen, a=lambda g, n: index_back(g, n.b, p=(n.p, n.sa)), reads=("b",), mode="linear", params=True,
    symbol="[ ]", partials=("1 where chosen, else 0",), latex="{a}_{{{b}}}",
    doc="The elements that an index tensor or a mask chooses.",
)  # fmt: skip
index_back = Op(
    "index_back", gathered, a=lambda g, n: index_row(g, n.b, p=n.p[0]), reads=("b",), mode="linear", params=True,
    node="IndexPutBackward0", symbol="[ ]ᵀ", partials=("1",),
    doc="Zeros, with each element added where an index tensor says.",
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
            out.node = n = new(Node)
            n.op = index_row
            n.seq = tick()
            n.left = left
            n.p = p
            n.notes = None
            n.b = i
            n.vb = version_of(b)
            n.sa = a.shape
            n.sb = i.shape
            n.sy = y.shape
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
    except ValueError:
        raise explain(
            RuntimeError,
            f"shape mismatch: value tensor of shape {list(np.shape(b))} cannot be broadcast to indexing result of "
            f"shape {list(out[where].shape)}",
        ) from None


def _kept(g: Any, n: Any) -> Any:
    return g if n.p[2] else index_put_row(g, 0, n.c, p=n.p)


# p is (pattern, packed, accumulate), as for index
index_put_row = Op(
    "index_put", _written, a=_kept, b=lambda g, n: index_row(g, n.c, p=n.p[:2]), reads=("c", "c"), mode="joint",
    params=True, spreads=True, symbol="[ ]←", partials=("0 where written, else 1", "1 where written"),
    latex="{a}_{{{c}}} \\gets {b}", doc="The first tensor with the second one's elements where an index says.",
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
    if isinstance(value, Tensor):
        value = matched(x, value, b)
    try:
        tracked = x.node is not None or getattr(value, "node", None) is not None
        if x.is_dual or getattr(value, "is_dual", False) or tracked and modes.is_grad_enabled():
            _index_put(x, value, b, pattern, packed, accumulate)
            return
        raw = value.raw if isinstance(value, Tensor) else value
        if isinstance(value, Tensor):
            check_partial_overlap(x.raw, raw)
        stamp(x)
        write_at(x.raw, raw, b.raw, (pattern, packed, accumulate))
    except IndexError as error:
        raise outside(error) from None


def matched(x: Tensor, value: Tensor, b: Tensor) -> Tensor:
    """The value in x's dtype, if PyTorch casts it there, and on x's device."""
    if value.raw.dtype != x.raw.dtype:
        if b.raw.dtype.kind != "b" or value.raw.ndim:
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
