"""Elements chosen by a mask, and where the elements are that are not zero."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_own_dtype, check_tensor, into, into_another, public
from ..errors import explain
from ..failures import shape_clash
from ..meeting import NUMBERS
from ..op import TABLE, Op
from ..storage import row_major
from ..tensor import Tensor, wrap
from ..walk import unbroadcast
from .casting import cast, to_device
from .forms import settle, where, zeros_like
from .picking import index_back, index_row
from .writing import fitting

MASK = ((True,), False)  # how `index` takes a mask over all dimensions


# ------------------------------------------------------------------------------------------------ masked_fill
def _masked_fill(a: Any, b: Any, c: Any, p: Any) -> Any:
    if b.__class__ not in NUMBERS and b.dtype != a.dtype:
        b = b.astype(a.dtype)
    y = np.where(c, b, a)
    return settle(y if p[0].startswith("Index") else row_major(y))  # index_fill keeps the order of memory


def _filler(g: Any, n: Any) -> Any:
    g = where(n.c, g, 0)
    return cast(g, p=n.p[1]) if n.p[1] else g


# p is (name of the node, dtypes to cast the second input's cotangent (to, from) or None)
masked_fill_row: Op = Op(
    "masked_fill", _masked_fill, a=lambda g, n: where(n.c, 0, g), b=_filler, reads=("c", "c"), mode="joint",
    params=True, spreads=True, node=lambda p: p[0], symbol="mask←",
    partials=("0 where masked, else 1", "1 where masked, else 0"),
    latex=r"\begin{{cases}} {b} & \text{{where }} {c} \\ {a} & \text{{else}} \end{{cases}}",
    doc="The first input, with the second one's value where the mask holds.",
)  # fmt: skip


@public(inplace=True, row=masked_fill_row)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with `value` (a number or a 0-d tensor) where the bool tensor `mask` is True; both broadcast.

    The dtype stays that of the input.  Raises RuntimeError for a mask that is not bool.

    >>> import autodiff_kernel as torch
    >>> torch.masked_fill(torch.tensor([1., 2.]), torch.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    check_tensor("masked_fill", input)
    check_tensor("masked_fill", mask, "mask", 2)
    check_bool(mask, "masked_fill_ only supports boolean masks, but got mask with dtype {}")
    clash = None if mask.raw.shape == input.raw.shape else shape_clash([mask.raw.shape, input.raw.shape])
    if clash is not None:
        raise clash
    return filled_where(input, mask, value, "MaskedFill")


def filled_where(input: Tensor, mask: Tensor, value: Any, name: str) -> Tensor:
    if not isinstance(value, Tensor):
        if not isinstance(value, NUMBERS):
            raise TypeError(
                f"{'masked_fill' if name == 'MaskedFill' else 'index_fill'}() received an invalid combination of "
                "arguments: the value must be a number or a 0-d "
                f"Tensor, not {type(value).__name__}"
            )
        return masked_fill_row(input, fitting(value, input.raw.dtype), mask, p=(f"{name}Backward0", None))
    if value.raw.ndim:
        function = "masked_fill_" if name == "MaskedFill" else "index_fill_"
        raise explain(
            RuntimeError,
            f"{function} only supports a 0-dimensional value tensor, but got tensor with {value.raw.ndim} "
            "dimension(s).",
            cure="use torch.where(mask, values, x) for a tensor of values.",
        )
    if value.device != input.device:
        value = to_device(value, input.device)
    casts = None if value.raw.dtype == input.raw.dtype else (value.raw.dtype, input.raw.dtype)
    return masked_fill_row(input, value, mask, p=(f"{name}Backward1", casts))


def check_bool(mask: Tensor, phrase: str) -> None:
    if mask.raw.dtype.kind != "b":
        raise explain(
            RuntimeError,
            phrase.format(mask.dtype.name),
            "A mask is a bool tensor.",
            "compare (x > 0), or convert with .bool().",
        )


# ------------------------------------------------------------------------------------------------ masked_select
def _masked_select(a: Any, b: Any) -> Any:
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    return a[b] if a.ndim else a.reshape(1)[b.reshape(1)]


def _unselected(g: Any, n: Any) -> Any:
    shape = np.broadcast_shapes(n.sa, n.sb)
    mask = n.b if n.sb == shape else TABLE["expand"](n.b, p=shape)
    if not shape:
        return TABLE["sum"](index_back(g, TABLE["reshape"](mask, p=(1,)), p=(MASK, (1,))), p=(None, False))
    out = index_back(g, mask, p=(MASK, shape))
    return out if n.sa == shape else unbroadcast(out, n.sa)


masked_select_row: Op = Op(
    "masked_select", _masked_select, a=_unselected, reads=("b",), mode="linear", symbol="mask[ ]",
    partials=("1 where masked, else 0",), latex="{a}_{{{b}}}", batch="masked",
    doc="The elements where the mask holds, in one row.",
)  # fmt: skip


@public()
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements where the bool tensor `mask` is True, as a 1-D tensor; both broadcast.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2., 3.])
    >>> torch.masked_select(x, x > 0)
    tensor([1., 3.])
    """
    check_tensor("masked_select", input)
    check_tensor("masked_select", mask, "mask", 2)
    check_bool(mask, "masked_select: expected BoolTensor for mask")
    clash = shape_clash([mask.raw.shape, input.raw.shape])
    if clash is not None:
        raise clash
    return into_another(out, masked_select_row(input, mask), input, mask)


# ------------------------------------------------------------------------------------------------ masked_scatter
def _masked_scatter(a: Any, b: Any, c: Any) -> Any:
    out = np.broadcast_to(a, c.shape).copy()
    count = int(c.sum())
    if count > b.size:
        raise explain(
            RuntimeError,
            "Number of elements of source < number of ones in mask",
            f"The mask is True at {count} places, the source has {b.size} elements.",
        )
    if not c.ndim:
        return settle(np.where(c, b.reshape(-1)[:1].reshape(()), a)) if b.size else settle(out)
    out[c] = b.reshape(-1)[:count]
    return out


def _to_source(g: Any, c: Any, p: Any) -> Any:
    out = devices.zeros((_count(p),), g.dtype, like=g)
    picked = g.reshape(-1)[c.reshape(-1)]
    out[: picked.size] = picked
    return settle(out.reshape(p))


def _from_source(g: Any, c: Any) -> Any:
    out = devices.zeros((_count(c.shape),), g.dtype, like=g)
    flat = c.reshape(-1)
    out[flat] = g.reshape(-1)[: int(flat.sum())]
    return settle(out.reshape(c.shape))


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


masked_scatter_row: Op = Op(
    "masked_scatter", _masked_scatter, a=lambda g, n: where(n.c, 0, g), b=lambda g, n: to_source(g, n.c, p=n.sb),
    reads=("c", "c"), mode="joint", symbol="mask[ ]←", partials=("0 where masked, else 1", "1 for those used"),
    latex="{a}_{{{c}}} \\gets {b}", doc="The first input, with the second one's elements where the mask holds.",
)  # fmt: skip
to_source: Op = Op(
    "masked_scatter_backward", _to_source, a=lambda g, n: from_source(g, n.b), reads=("b",), mode="linear",
    params=True, symbol="mask[ ]", partials=("1 where masked",),
    doc="The elements where the mask holds, in another shape, then zeros.",
)  # fmt: skip
from_source: Op = Op(
    "masked_scatter_of", _from_source, a=lambda g, n: to_source(g, n.b, p=n.sa), reads=("b",),
    mode="linear", symbol="mask[ ]←", partials=("1 for those used",),
    doc="Zeros, with the input's elements in order where the mask holds.",
)  # fmt: skip


@public(inplace=True, row=masked_scatter_row)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The tensor with the elements of `source`, in their order, where the bool tensor `mask` is True.

    Raises RuntimeError if `source` has too few elements or another dtype.

    >>> import autodiff_kernel as torch
    >>> torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), torch.tensor([1., 2., 3.]))
    tensor([1., 0., 2.])
    """
    check_tensor("masked_scatter", input)
    check_tensor("masked_scatter", mask, "mask", 2)
    check_tensor("masked_scatter", source, "source", 3)
    if source.raw.dtype != input.raw.dtype:
        raise explain(
            RuntimeError,
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{input.dtype.scalar_type} and {source.dtype.scalar_type}",
        )
    check_bool(mask, "masked_scatter_ only supports boolean masks, but got mask with dtype {}")
    clash = shape_clash([input.raw.shape, mask.raw.shape])
    if clash is not None:
        raise clash
    shape = np.broadcast_shapes(input.raw.shape, mask.raw.shape)
    if input.raw.shape != shape:
        input = TABLE["expand"](input, p=shape)
    if mask.raw.shape != shape:
        mask = TABLE["expand"](mask, p=shape)
    return masked_scatter_row(input, source, mask)


# ------------------------------------------------------------------------------------------------ nonzero
def _nonzero(a: Any) -> Any:
    if not a.ndim:
        return devices.zeros((int(a != 0), 0), np.int64, like=a)
    return np.stack(np.nonzero(a), 1)


nonzero_row: Op = Op(
    "nonzero",
    _nonzero,
    symbol="≠0",
    batch="dynamic",
    doc="The indices of the elements that are not zero, one per row.",
)


@public()
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The indices of all elements that are not zero, as an int64 tensor (number of them, ndim).

    With `as_tuple` they are a tuple of 1-D tensors, one for each dimension, as an index takes them.

    >>> import autodiff_kernel as torch
    >>> torch.nonzero(torch.tensor([0, 5, 7]))
    tensor([[1],
            [2]])
    """
    check_tensor("nonzero", input)
    if not as_tuple:
        places = nonzero_row(input)
        check_own_dtype(
            out, places, "nonzero: Expected out tensor to have scalar type {want} but got scalar type{have}"
        )
        return into(out, places)
    raw = input.raw if input.raw.ndim else input.raw.reshape(1)
    return tuple(wrap(i) for i in np.nonzero(raw))


@public(method=False)
def unravel_index(indices: Tensor, shape: Any) -> Any:
    """The indices along each dimension of a tensor of that shape, for numbers of elements of its flattened form.

    >>> import autodiff_kernel as torch
    >>> torch.unravel_index(torch.tensor([0, 5]), (2, 3))
    (tensor([0, 1]), tensor([0, 2]))
    """
    check_tensor("unravel_index", indices, "indices")
    if indices.raw.dtype.kind not in "iu":
        raise ValueError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (int(shape),) if isinstance(shape, int) else tuple(int(n) for n in shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    out, rest = [], indices.raw
    for n in reversed(sizes):
        out.append(wrap(settle(rest % n)))
        rest = rest // n
    return tuple(reversed(out))


@public()
def argwhere(input: Tensor) -> Tensor:
    """The indices of all elements that are not zero, one per row.

    >>> import autodiff_kernel as torch
    >>> torch.argwhere(torch.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    check_tensor("argwhere", input)
    return nonzero_row(input)


_ = (index_row, zeros_like)
