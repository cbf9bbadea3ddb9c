"""Indexing: x[...] and x[...] = value.

An index of ints, slices, None and ... gives a view (row `getitem`).  One with tensors, masks or lists gives a copy
(row `index`), after its other parts have been taken as a view, as in PyTorch: hence x[0, :, [1, 2]] has PyTorch's
layout and not NumPy's.  Assignment is a copy into that view, or `index_put_` on it.
"""

import warnings
from typing import Any
from weakref import ref

import numpy as np

from .. import device as devices
from .. import modes
from ..api import FUNCTIONS, attach, check_tensor, public
from ..errors import explain
from ..graph import Node, new, tick
from ..inplace import stamp
from ..modes import special, watch
from ..op import TABLE, join_family, remember
from ..sharing import Family, View
from ..tensor import Tensor, share, type_name, version_of, wrap
from .casting import to_device
from .picking import beyond, outside, pack, pick, put_in_place
from .slices import decode, getitem
from .writing import fill_in_place, fitting, overwrite, overwrite_part

ndarray = np.ndarray
INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


# ------------------------------------------------------------------------------------------------ views
def take_view(x: Tensor, p: tuple[Any, ...]) -> Tensor:
    """x[p] as a view."""
    raw = x.raw
    if raw.__class__ is not ndarray or x.is_dual:
        return getitem(x, p=p)
    return attach_view(x, raw.shape, raw[decode(p)], p)


def attach_view(x: Tensor, shape: tuple[int, ...], y: Any, p: tuple[Any, ...]) -> Tensor:
    """The Tensor of y, a view of x's memory: `remember` and `join_family` written out, since indexing is hot."""
    out = new(Tensor)
    out.raw = y
    v = x.version
    if v.__class__ is not list:
        v = version_of(x)
    out.version = v
    left = x.node
    if special[0]:
        out.node = None
        if left is not None:
            remember(getitem, (x,), (x.raw,), out, p)
        join_family(out, x, getitem, p)
        if watch[0] is not None:
            watch[0](getitem, p, (x,), out)
        return out
    if left is None:
        out.node = None
    else:
        out.node = n = Node()
        n.op = getitem
        n.seq = tick()
        n.left = left
        n.p = p
        n.notes = None
        n.sa = shape
        n.sy = y.shape
    family = x.family
    if family.__class__ is View:
        join_family(out, x, getitem, p)
        return out
    if family is None:
        family = x.family = Family()
    out.family = view = new(View)
    view.base = x
    view.chain = (None, getitem, p)
    view.made = "grad"
    views = family.views
    if len(views) < family.limit:
        views.append(ref(out))
    else:
        family.add(out)
    return out


def get(self: Tensor, index: Any) -> Tensor:
    """A part of the tensor.  Ints, slices, None, ... give a view; lists, masks and index tensors a copy.

    Raises IndexError for what lies outside, ValueError for a negative step (tensors have none; use flip).

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    >>> x[0], x[:, 1:], x[x > 4], x[[1, 0], [2, 2]]
    (tensor([1, 2, 3]), tensor([[2, 3],
            [5, 6]]), tensor([5, 6]), tensor([6, 3]))
    """
    raw = self.raw
    kind = index.__class__
    if raw.__class__ is ndarray and not self.is_dual:
        # what is frequent; split() takes everything else, and says what is wrong
        if kind is int:
            try:
                shape = raw.shape
                return attach_view(self, shape, raw[index, ...], (index if index >= 0 else index + shape[0],))
            except IndexError:
                pass
        elif kind is slice:
            shape = raw.shape
            if shape:
                start, stop, step = index.indices(shape[0])
                if step > 0:
                    part = (start, stop if stop > start else start, step)
                    return attach_view(self, shape, raw[index], (part,))
        elif kind is tuple:
            shape = raw.shape
            p = basic(index, shape)
            if p is not None:
                return attach_view(self, shape, raw[index if Ellipsis in index else (*index, ...)], p)
        elif kind is Tensor and plain_index(index.raw, raw):
            return pick(self, index, (True,), False)
    p, picks = split(self, index)
    if picks is None:
        return take_view(self, p)
    x = self if takes_all(p) else take_view(self, p)
    return pick(x, *picks)


def basic(index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The parameters of `getitem` for ints, slices, None and one ..., all in range; else None."""
    p: list[Any] = []
    dim, spare, dots = 0, len(shape), False
    for item in index:
        kind = item.__class__
        if kind is int:
            if dim >= spare:
                return None
            size = shape[dim]
            if item < 0:
                item += size
            if not 0 <= item < size:
                return None
            p.append(item)
            dim += 1
        elif kind is slice:
            if dim >= spare:
                return None
            size = shape[dim]
            start, stop, step = item.indices(size)
            if step < 0:
                return None
            p.append((start, max(start, stop), step) if item.start or stop != size or step != 1 else ())
            dim += 1
        elif item is None:
            p.append(None)
        elif item is Ellipsis:
            rest = spare - sum([i.__class__ is int or i.__class__ is slice for i in index])
            if rest < 0 or dots:
                return None
            dots = True
            p += [()] * rest
            dim += rest
        else:
            return None
    while p and p[-1] == ():
        p.pop()
    return tuple(p)


def plain_index(b: Any, a: Any) -> bool:
    """Is b an index array or a mask that can be used as it is?"""
    if b.__class__ is not ndarray or a.__class__ is not ndarray or not b.ndim or not a.ndim:
        return False
    kind = b.dtype
    return kind is INT64 or kind is BOOL and b.shape == a.shape[: b.ndim]


# ------------------------------------------------------------------------------------------------ taking an index apart
def split(x: Tensor, index: Any) -> tuple[tuple[Any, ...], Any]:
    """The basic part of an index as parameters of `getitem`, and what picks elements from that view.

    The latter is None, or (index array or mask, where it stands, whether it is several arrays stacked).
    """
    if index.__class__ is slice:
        return (span(index, x.raw.shape[0] if x.raw.ndim else None, alone=True),), None
    if index.__class__ is Tensor and plain_index(index.raw, x.raw):
        return (), (index, (True,), False)
    items = [plain(i, x) for i in as_tuple(index)]
    shape = x.raw.shape
    need = sum(extent(i) for i in items)
    if need > len(shape):
        raise too_many(x, need, items)
    p: list[Any] = []
    found: list[tuple[int, Tensor]] = []  # (dimension of the view, index tensor)
    dim, out = 0, 0
    for item in items:
        if item is Ellipsis:
            rest = len(shape) - need if need >= 0 else 0
            need = len(shape)  # a second ... stands for nothing
            p += [()] * rest
            dim, out = dim + rest, out + rest
        elif item is None:
            p.append(None)
            out += 1
        elif item.__class__ is int:
            p.append(position(item, dim, shape[dim]))
            dim += 1
        elif item.__class__ is slice:
            p.append(span(item, shape[dim]))
            dim, out = dim + 1, out + 1
        elif item.raw.ndim == 0 and item.raw.dtype.kind == "b":  # a new dimension, of size 1 or 0
            p.append(None)
            found.append((out, TABLE["reshape"](item, p=(1,))))
            out += 1
        else:
            covers = extent(item)
            check_mask(item, shape, dim)
            p += [()] * covers
            found.append((out, item))
            dim, out = dim + covers, out + covers
    while p and p[-1] == ():
        p.pop()
    return tuple(p), arrange(x, found) if found else None


def takes_all(p: tuple[Any, ...]) -> bool:
    return all(i == () for i in p)


def as_tuple(index: Any) -> Any:
    """PyTorch reads a short list that holds sequences, slices or None as a tuple."""
    if index.__class__ is tuple:
        return index
    if isinstance(index, (Tensor, ndarray, str)) or not is_sequence(index) or len(index) >= 32:
        return (index,)
    if any(i is None or i is Ellipsis or isinstance(i, (slice, Tensor)) or is_sequence(i) for i in index):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
            "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result",
            UserWarning,
            stacklevel=4,
        )
        return tuple(index)
    return (index,)


def is_sequence(x: Any) -> bool:
    return hasattr(x, "__getitem__") and hasattr(x, "__len__") and not isinstance(x, dict)


def plain(item: Any, x: Tensor) -> Any:
    """One item of an index as an int, a slice, None, ..., or an index tensor on x's device."""
    kind = item.__class__
    if kind is int or kind is slice or item is None or item is Ellipsis:
        return item
    if kind is bool:
        return wrap(devices.asarray(item, np.bool_, like=x.raw))
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, Tensor):
        raw = item.raw
        if raw.__class__ is not ndarray and raw.ndim and item.device != x.device:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({x.device}), but this "
                f"index is on {item.device}: move it with .to('{x.device}')."
            )
    elif isinstance(item, ndarray) or is_sequence(item):
        from ..create import tensor

        item = tensor(
            item if isinstance(item, ndarray) else list(item) if not isinstance(item, str) else item
        )
        raw = item.raw
        if raw.dtype.kind != "b" and raw.dtype != np.uint8 and raw.dtype != np.int64:
            item = wrap(raw := raw.astype(np.int64))
    else:
        kind_name = f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{kind_name.rstrip('_')})"
        )
    return index_tensor(item, raw, x)


def index_tensor(item: Tensor, raw: Any, x: Tensor) -> Any:
    kind = raw.dtype
    if kind.kind == "i" and not raw.ndim and not item.is_dual:  # (in vmap it may be another for each sample)
        return int(devices.item(raw))
    if kind == INT64 or kind == np.int32:
        pass
    elif kind == np.uint8:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            UserWarning,
            stacklevel=6,
        )
        item = TABLE["ne"](item, 0) if item.is_dual else wrap(raw != 0)
    elif kind != BOOL:
        raise explain(
            IndexError,
            "tensors used as indices must be long, int, byte or bool tensors",
            f"This one is {item.dtype}.",
            "convert it with .long() if it holds positions, or compare (x > 0) for a mask.",
            tensor=item,
            topic="index of floats",
        )
    return item if item.device == x.device else to_device(item, x.device)


def extent(item: Any) -> int:
    """How many dimensions an item covers."""
    if item is None or item is Ellipsis:
        return 0
    return item.raw.ndim if isinstance(item, Tensor) and item.raw.dtype.kind == "b" else 1


def position(i: int, dim: int, size: int) -> int:
    if not -size <= i < size:
        if not -(2**63) <= i < 2**63:
            raise ValueError("Overflow when unpacking long long")
        raise beyond(i, dim, size)
    return i if i >= 0 else i + size


def span(s: slice, size: int | None, alone: bool = False) -> Any:
    """A slice as (start, stop, step), or () if it takes all (a slice that stands alone is a step of its own)."""
    if size is None:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    start, stop, step = s.indices(size)
    if step < 0:
        raise explain(
            ValueError,
            "step must be greater than zero",
            "Tensors have no negative strides.",
            "use x.flip(0).",
            topic="negative step",
            step=s,
        )
    # as in PyTorch, x[-2:] is a step even where it takes all of two elements
    whole = not s.start and (stop, step) == (size, 1) and not alone
    return () if whole else (start, max(start, stop), step)


def too_many(x: Tensor, need: int, items: list[Any]) -> IndexError:
    ndim = x.raw.ndim
    if not ndim and len(items) == 1 and items[0].__class__ is int:
        return explain(
            IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number",
            "A 0-d tensor is a single number: it has no elements to be counted.",
            "x.item() for the number itself.",
            topic="index of a number",
        )
    return explain(
        IndexError,
        f"too many indices for tensor of dimension {ndim}",
        f"The tensor has shape {list(x.raw.shape)}; the index has parts for {need}.",
        f"at most {ndim} numbers or slices between the brackets.",
        tensor=x,
        topic="too many indices",
        need=need,
    )


def check_mask(mask: Tensor, shape: tuple[int, ...], dim: int) -> None:
    if mask.raw.dtype.kind != "b":
        return
    for i, size in enumerate(mask.raw.shape):
        if size != shape[dim + i]:
            raise explain(
                IndexError,
                f"The shape of the mask {list(mask.raw.shape)} at index {i} does not match the shape of the indexed "
                f"tensor {list(shape)} at index {dim + i}",
                "A mask says for each element whether it is taken, so its sizes must be those of the tensor.",
                "a mask of the tensor's own shape, for example x > 0.",
                tensor=mask,
                topic="mask's shape",
                shape=shape,
            )


def arrange(x: Tensor, found: list[tuple[int, Tensor]]) -> tuple[Any, tuple[bool, ...], bool]:
    """Index tensors at their places, as one tensor: several are broadcast and stacked."""
    if len(found) == 1:
        dim, t = found[0]
        return t, (*[False] * dim, True), False
    flat: list[tuple[int, Tensor]] = []
    for dim, t in found:
        if t.raw.dtype.kind == "b":
            flat += [(dim + i, wrap(part)) for i, part in enumerate(np.nonzero(t.raw))]
        else:
            flat.append((dim, t))
    places = {dim for dim, _ in flat}
    return pack(*[t for _, t in flat]), tuple(d in places for d in range(max(places) + 1)), True


# ------------------------------------------------------------------------------------------------ assignment
def put(self: Tensor, index: Any, value: Any) -> None:
    """Overwrite a part of the tensor with a number or a tensor, which broadcasts; its dtype is cast."""
    if not quick_put(self, index, value):
        put_plainly(self, index, value)
    if watch[0] is not None:
        modes.watchers["assigned"](self, index, value)


def put_plainly(self: Tensor, index: Any, value: Any) -> None:
    if not isinstance(value, Tensor):
        value = checked_number(self, value)
    if index is False:
        return
    if index.__class__ is slice:
        if not self.raw.ndim:
            span(index, None)  # says that a 0-d tensor has no slices
        index = (index,)
    p, picks = split(self, None if index is True else index)
    whole = takes_all(p)
    followed = modes.is_grad_enabled() and (self.node is not None or getattr(value, "node", None) is not None)
    followed = followed or self.is_dual or getattr(value, "is_dual", False)
    if whole:
        x = self
    elif followed:
        x = take_view(self, p)
    else:  # a view that needs no family, since the version counter is shared
        x = wrap(share(self)[decode(p)], None, version_of(self))
    if isinstance(value, Tensor):
        value = without_ones(value, x if picks is None else None)
    if picks is not None:
        refuse_bytes(index, value)
        put_in_place(x, value, *picks)
    elif followed and not whole:
        overwrite_part(x, value)
    elif followed and x.raw.ndim and not np.ndim(getattr(value, "raw", value)):
        fill_in_place(x, value)
    else:
        overwrite(x, value)


def refuse_bytes(index: Any, value: Any) -> None:
    """PyTorch writes a single value at one mask by masked_fill_, which takes no uint8; several values it takes."""
    items = index if index.__class__ is tuple else (index,)
    masks = [i for i in items if isinstance(i, bool) or isinstance(i, Tensor) and i.raw.ndim]
    mask: Any = masks[0] if len(masks) == 1 else None
    if isinstance(mask, Tensor) and mask.raw.dtype == np.uint8 and np.size(getattr(value, "raw", 0)) == 1:
        raise explain(
            RuntimeError,
            "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char",
            "The index is a uint8 tensor, which was PyTorch's type of masks until 2019.",
            "x[mask.bool()] = value.",
            tensor=mask,
        )


def quick_put(x: Tensor, index: Any, value: Any) -> bool:
    """What is frequent: a float or a tensor of the same dtype, written into a plain array, with nothing to record."""
    raw = x.raw
    if (
        raw.__class__ is not ndarray
        or x.is_dual
        or x.node is not None
        and (not special[0] or modes.is_grad_enabled())
    ):
        return False
    kind = value.__class__
    source: Any
    if kind is float:
        if raw.dtype.kind != "f" or not -3e38 < value < 3e38:
            return False
        source = value
    elif kind is Tensor and value.node is None and value.raw.dtype is raw.dtype:
        source = value.raw
    else:
        return False
    kind = index.__class__
    if kind is Tensor:
        if 0 in raw.strides or not plain_index(index.raw, raw) or np.ndim(source):
            return False
        part, where = raw, index.raw
        if (
            source.__class__ is ndarray and where.dtype is not BOOL
        ):  # it may be an element of x: an error of its own
            return False
    else:
        index = index if kind is tuple else (index,)
        if basic(index, raw.shape) is None:
            return False
        part, where = raw[index if Ellipsis in index else (*index, ...)], ...
        if (
            0 in part.strides
            or np.ndim(source)
            and (
                source.shape != part.shape
                or source.__class__ is not ndarray
                or np.may_share_memory(source, part)
            )
        ):
            return False
    stamp(x)
    try:
        part[where] = source
    except IndexError as error:
        raise outside(error) from None
    return True


def checked_number(x: Tensor, value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, np.integer)):
        return fitting(value, x.raw.dtype)
    kind = type(value)
    name = f"{kind.__module__}.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
    raise explain(
        TypeError,
        f"can't assign a {name} to a {type_name(x.raw)}",
        cure=f"make it a tensor first: torch.tensor(value, dtype={x.dtype}).",
    )


def without_ones(value: Tensor, x: Tensor | None) -> Tensor:
    """The value without leading dimensions of size 1 that the target does not have."""
    shape = value.raw.shape
    lead = 0
    spare = len(shape) - x.raw.ndim if x is not None else len(shape)
    while lead < spare and shape[lead] == 1:
        lead += 1
    return getitem(value, p=(0,) * lead) if lead else value


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write `values` where the tuple of index tensors (or masks) says, or add them there if `accumulate`.

    >>> import autodiff_kernel as torch
    >>> torch.zeros(3).index_put_((torch.tensor([0, 0]),), torch.tensor([1., 2.]), accumulate=True)
    tensor([3., 0., 0.])
    """
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    check_tensor("index_put_", values, "values", 2)
    whole_dims = tuple(slice(None) if i is None else i for i in indices)
    b, pattern, packed = split(self, tuple(i if i.__class__ is slice else as_vector(i) for i in whole_dims))[
        1
    ]
    put_in_place(self, values, b, pattern, packed, accumulate)
    return self


def as_vector(index: Any) -> Any:
    """A 0-d integer index would be an int in x[...]; here it stays a tensor."""
    if isinstance(index, Tensor) and not index.raw.ndim and index.raw.dtype.kind == "i":
        return TABLE["reshape"](index, p=(1,))
    return index


@public("index_put")
def index_put_copy(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`index_put_` on a copy.

    >>> import autodiff_kernel as torch
    >>> torch.index_put(torch.zeros(3), (torch.tensor([2]),), torch.tensor(5.))
    tensor([0., 0., 5.])
    """
    check_tensor("index_put", input)
    copy: Tensor = input.clone()  # type: ignore[attr-defined]
    return index_put_(copy, indices, values, accumulate)


attach("index_put_", index_put_)
FUNCTIONS["index_put_"] = index_put_
attach("__getitem__", get)
attach("__setitem__", put)
