"""Batching of views and other shapes of the same elements: each word says what the row's parameters are."""

from typing import Any

from ..batched import make
from ..levels import Vmap
from ..op import TABLE, Op
from ..sharing import replay
from .elementwise import everywhere, lifted, reshaped, word
from .reductions import shifted


def alias(x: Any) -> Any:
    """x itself, as a view."""
    return TABLE["getitem"](x, p=())


@word("size")
def resize(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is the new shape."""
    return op(xs[0], p=(size, *p))


@word("stretch")
def stretch(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is the new shape, to which the old one broadcasts."""
    return op(lifted(xs[0], len(p) + 1 - xs[0].raw.ndim), p=(size, *p))


@word("repeat")
def repeat(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p says how often for each dimension, with further ones in front."""
    return op(lifted(xs[0], len(p) + 1 - xs[0].raw.ndim), p=(1, *p))


@word("insert")
def insert(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is the place of a new dimension."""
    return op(xs[0], p=p + 1)


@word("dims_first")
def dims_first(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (dimensions, …)."""
    return op(xs[0], p=(shifted(p[0]), *p[1:]))


@word("order")
def order(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is the order of all dimensions."""
    return op(xs[0], p=(0, *shifted(p)))


@word("swap")
def swap(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is two dimensions, or None for those of a matrix."""
    x = xs[0]
    if x.raw.ndim < (3 if p is None else 2):
        return alias(x)
    return TABLE["transpose"](x, p=(1, 2) if p is None else shifted(p))


@word("dims")
def dims(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is several dimensions; a sample of none is copied."""
    return op(xs[0], p=shifted(p)) if xs[0].raw.ndim > 1 else TABLE["clone"](xs[0])


@word("diagonal")
def diagonal(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (offset, two dimensions)."""
    return op(xs[0], p=(p[0], *shifted(p[1:])))


@word("diagonal_back")
def diagonal_back(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is ((offset, two dimensions), the shape of the result)."""
    (offset, *two), shape = p
    return op(xs[0], p=((offset, *shifted(tuple(two))), (size, *shape)))


@word("windows")
def windows(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (dimension, size, step)."""
    x = xs[0]
    if x.raw.ndim == 1:
        return TABLE["getitem"](reshaped(x, (size, 1)), p=((), (0, p[1], 1)))
    return op(x, p=(p[0] + 1, *p[1:]))


@word("windows_back")
def windows_back(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is ((dimension, size, step), the shape of the result)."""
    (dim, *rest), shape = p
    if not shape:
        return TABLE["sum"](xs[0], p=((1,), False))
    return op(xs[0], p=((dim + 1, *rest), (size, *shape)))


@word("part")
def part(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p are the items of an index."""
    return op(xs[0], p=((), *p))


@word("part_back")
def part_back(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (the items of an index, the shape of the result)."""
    return op(xs[0], p=(((), *p[0]), (size, *p[1])))


@word("trace")
def trace(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The sums of the diagonals."""
    return TABLE["sum"](TABLE["diagonal"](xs[0], p=(0, 1, 2)), p=((1,), False))


@word("slices")
def slices(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The first input with the second in a part, a view of it; p is the chain of operations that lead to the view."""
    a, b = everywhere(xs, batched, size)
    whole, level = TABLE["clone"](a), Vmap(size, "same").level
    replay(p, make(whole, level)).copy_(make(b, level))
    return whole
