"""Batching of elements chosen or written by index tensors, as in x[i, j].

An index that is the same for all samples moves on by a dimension.  One of its own for each sample is completed by the
number of the sample: the indexed dimensions are brought together behind the batch, which is then indexed too.
"""

from typing import Any

from .. import device as devices
from ..batched import ground, samples_at, samples_first
from ..op import TABLE, Op
from ..outline import refuse
from ..tensor import Tensor, wrap
from .elementwise import everywhere, lifted, rank, reshaped, word


def numbers(size: int, like: Tensor) -> Tensor:
    """0, 1, … for the samples."""
    return wrap(devices.arange(size, dtype="int64", like=ground(like).raw))


def refuse_mask(b: Tensor) -> None:
    if b.raw.dtype.kind == "b":
        refuse(
            "We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
            "with a boolean mask.",
            "How many elements a mask picks differs from sample to sample, so the results make no one tensor.",
            "use torch.where(mask, a, b), which keeps the shape.",
        )


class Places:
    """Where the indexed dimensions of one sample are, and how they are brought together in front.

    pattern, packed: as the row `index` has them.  b: the index of all samples, (batch, [k,] …).  ndim: dimensions of
    one sample.
    """

    def __init__(self, pattern: tuple[bool, ...], packed: bool, b: Tensor, ndim: int) -> None:
        refuse_mask(b)
        self.found = [d for d, here in enumerate(pattern) if here]
        rest = [d for d in range(ndim) if d not in self.found]
        self.order = (0, *[d + 1 for d in self.found], *[d + 1 for d in rest])  # of a batched tensor
        take, size = TABLE["getitem"], b.raw.shape[0]
        each = [take(b, p=((), k)) for k in range(len(self.found))] if packed else [b]
        self.dims = each[0].raw.ndim - 1  # dimensions of the index
        self.number = len(self.found)
        where = reshaped(numbers(size, b), (size, *[1] * self.dims))
        self.index = TABLE["pack_index"](where, *each)
        self.p = (True,) * (1 + self.number), True
        # the result: in place of the indexed dimensions if these are next to each other, else in front
        together = self.found == list(range(self.found[0], self.found[0] + self.number))
        self.place = self.found[0] if together else 0
        self.rest = len(rest)

    def front(self, x: Tensor) -> Tensor:
        """A batched tensor with the indexed dimensions behind the batch."""
        return TABLE["permute"](x, p=self.order)  # type: ignore[no-any-return]

    def back(self, x: Tensor) -> Tensor:
        return TABLE["permute"](x, p=tuple(sorted(range(len(self.order)), key=self.order.__getitem__)))  # type: ignore[no-any-return]

    def out_order(self) -> tuple[int, ...]:
        """From (batch, index, rest) to the order of the result."""
        index = range(1, 1 + self.dims)
        rest = range(1 + self.dims, 1 + self.dims + self.rest)
        return (0, *rest[: self.place], *index, *rest[self.place :])

    def result(self, y: Tensor) -> Tensor:
        return TABLE["permute"](y, p=self.out_order())  # type: ignore[no-any-return]

    def unresult(self, y: Tensor) -> Tensor:
        order = self.out_order()
        return TABLE["permute"](y, p=tuple(sorted(range(len(order)), key=order.__getitem__)))  # type: ignore[no-any-return]


@word("index")
def index(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (pattern, packed)."""
    a, b = xs
    pattern, packed = p
    if not batched[1]:
        return op(a, b, p=((False, *pattern), packed))
    if not batched[0]:
        return index_shared(op, a, b, p)
    places = Places(pattern, packed, b, a.raw.ndim - 1)
    return places.result(op(places.front(a), places.index, p=places.p))


def index_shared(op: Op, a: Tensor, b: Tensor, p: Any) -> Tensor:
    """All samples pick from one tensor: their indices are one larger index."""
    refuse_mask(b)
    pattern, packed = p
    found = [d for d, here in enumerate(pattern) if here]
    y = op(a, samples_at(b, 1) if packed else b, p=p)
    together = found == list(range(found[0], found[-1] + 1))
    return samples_first(y, found[0] if together else 0)


@word("index_back")
def index_back(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is ((pattern, packed), the shape of the result)."""
    g, b = xs
    (pattern, packed), shape = p
    if not batched[1]:
        return op(g, b, p=(((False, *pattern), packed), (size, *shape)))
    g, b = everywhere(xs, batched, size)
    places = Places(pattern, packed, b, len(shape))
    target = (size, *[shape[d - 1] for d in places.order[1:]])
    return places.back(op(places.unresult(g), places.index, p=(places.p, target)))


@word("index_put")
def index_put(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (pattern, packed, accumulate)."""
    a, v, b = xs
    pattern, packed, add = p
    a = a if batched[0] else everywhere([a], [False], size)[0]
    if not batched[2]:
        picked = TABLE["index"](a, b, p=((False, *pattern), packed)) if batched[1] else None
        if picked is not None:
            v = lifted(v, picked.raw.ndim - v.raw.ndim)
        return op(a, v, b, p=((False, *pattern), packed, add))
    places = Places(pattern, packed, b, a.raw.ndim - 1)
    if isinstance(v, Tensor):
        ndim = places.dims + places.rest
        v = lifted(v, ndim - rank(v, True)) if batched[1] else v
        shape = [
            b.raw.shape[0],
            *broadcast_index(b, packed),
            *[a.raw.shape[d] for d in places.order[1 + places.number :]],
        ]
        whole = tuple(shape[d] for d in places.out_order())
        v = places.unresult(TABLE["expand"](v, p=whole))
    return places.back(op(places.front(a), v, places.index, p=(*places.p, add)))


def broadcast_index(b: Tensor, packed: bool) -> tuple[int, ...]:
    return tuple(b.raw.shape[2 if packed else 1 :])


@word("pack")
def pack(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Index tensors that broadcast, stacked."""
    from .elementwise import aligned

    return samples_first(op(*aligned(xs, batched)), 1)


@word("marks")
def marks(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """A mask that is True where an index says; p is (size, how many dimensions follow)."""
    (c,) = xs
    count, after = p
    positions = reshaped(numbers(count, c), (count, 1))
    from_start = TABLE["where"](TABLE["lt"](c, 0), c + count, c)
    hit = TABLE["eq"](positions, reshaped(from_start, (size, 1, c.raw.shape[1])))
    return reshaped(TABLE["any"](hit, p=((2,), False)), (size, count, *[1] * after))


@word("select")
def select(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is one dimension, the index a vector."""
    if not batched[1]:
        return op(*xs, p=p + 1)
    return index(TABLE["index"], xs, batched, ((*[False] * p, True), False), size)


@word("masked")
def masked(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The elements where a mask holds, in one row."""
    a, b = xs
    if batched[1]:
        refuse(
            "Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each "
            "batch this would return a differently shaped Tensor.",
            "How many elements a mask picks differs from sample to sample, so the results make no one tensor.",
            "use torch.where(mask, a, b), which keeps the shape.",
        )
    ndim = max(a.raw.ndim - 1, b.raw.ndim, 1)
    a = lifted(a, ndim + 1 - a.raw.ndim)
    b = b if b.raw.ndim == ndim else reshaped(b, (*[1] * (ndim - b.raw.ndim), *b.raw.shape))
    shape = tuple(max(n, m) if 0 not in (n, m) else 0 for n, m in zip(a.raw.shape[1:], b.raw.shape))
    a, b = TABLE["expand"](a, p=(size, *shape)), TABLE["expand"](b, p=shape)
    return TABLE["index"](a, b, p=((False, True), False))
