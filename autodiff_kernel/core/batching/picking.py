"""Batching of elements read and written along one dimension: gather, scatter, take, index_add and their kin."""

from typing import Any

from ..op import TABLE, Op
from ..tensor import Tensor
from .elementwise import everywhere, in_a_row, reshaped, word
from .indexing import index as index_rule
from .indexing import index_put, numbers


def at_least_1d(x: Any, size: int) -> Any:
    """Samples of 0 dimensions as ones of size 1."""
    return reshaped(x, (size, 1)) if isinstance(x, Tensor) and x.raw.ndim == 1 else x


def as_before(y: Any, shape: tuple[int, ...]) -> Any:
    return y if y.raw.shape == shape else reshaped(y, shape)


def moved(p: Any) -> Any:
    """p is a dimension, or begins with one."""
    return (p[0] + 1, *p[1:]) if isinstance(p, tuple) else p + 1


@word("gather")
def gather(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """A result of the index's shape; p is a dimension."""
    xs = everywhere(xs, batched, size)
    y = op(*[at_least_1d(x, size) for x in xs], p=moved(p))
    return as_before(y, xs[1].raw.shape)


@word("gather_back")
def gather_back(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (dimension, the shape of the result)."""
    xs = [at_least_1d(x, size) for x in everywhere(xs, batched, size)]
    dim, shape = p
    return as_before(op(*xs, p=(dim + 1, (size, *(shape or (1,))))), (size, *shape))


@word("scatter")
def scatter(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The first input with some elements replaced; p is a dimension, or begins with one."""
    xs = everywhere(xs, batched, size)
    return as_before(op(*[at_least_1d(x, size) for x in xs], p=moved(p)), xs[0].raw.shape)


@word("add_parts")
def add_parts(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Parts of the second input added to (or put into) the first, where a vector of indices says."""
    a, b, c = xs
    a, b = everywhere([a, b], batched[:2], size)
    if not batched[2]:
        return op(a, b, c, p=moved(p))
    dim = p[0] if isinstance(p, tuple) else p  # the indexed dimensions of all samples as one
    order = (0, dim + 1, *[d for d in range(1, a.raw.ndim) if d != dim + 1])
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    front, parts = (TABLE["permute"](x, p=order) for x in (a, b))
    shape, many = front.raw.shape, parts.raw.shape
    where = c + reshaped(numbers(size, c) * shape[1], (size, 1))
    y = op(
        reshaped(front, (size * shape[1], *shape[2:])),
        reshaped(parts, (size * many[1], *many[2:])),
        reshaped(where, (size * many[1],)),
        p=(0, *p[1:]) if isinstance(p, tuple) else 0,
    )
    return TABLE["permute"](reshaped(y, shape), p=back)


@word("take")
def take(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Elements by their number in the flattened sample."""
    a, b = xs
    a = in_a_row(a) if batched[0] else reshaped(a, (a.raw.size,))
    return index_rule(TABLE["index"], [a, b], batched, ((True,), False), size)


@word("put")
def put(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The first input with elements at numbers of the flattened sample; p: whether they are added."""
    a = xs[0] if batched[0] else everywhere([xs[0]], [False], size)[0]
    v, c = xs[1], xs[2]
    if isinstance(v, Tensor):
        v = reshaped(v, c.raw.shape if batched[1] == batched[2] else (
            (size, *c.raw.shape) if batched[1] else c.raw.shape[1:]))  # fmt: skip
    y = index_put(TABLE["index_put"], [in_a_row(a), v, c], [True, *batched[1:]], ((True,), False, p), size)
    return reshaped(y, a.raw.shape)


@word("written_part")
def written_part(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The second input in a part of the first; p is (name, the items of an index)."""
    return op(*everywhere(xs, batched, size), p=(p[0], ((), *p[1])))


@word("written_diagonal")
def written_diagonal(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The second input on the diagonal of the first; p is (offset, two dimensions)."""
    return op(*everywhere(xs, batched, size), p=(p[0], p[1] + 1, p[2] + 1))


@word("search")
def search(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """Where values go among sorted ones."""
    a, b = xs
    if not batched[0] and a.raw.ndim == 1:
        return op(a, b, p=p)
    a, b = everywhere(xs, batched, size)
    if a.raw.ndim > 2:
        return op(a, b, p=p)
    return reshaped(op(a, in_a_row(b), p=p), b.raw.shape)


@word("counts")
def counts(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """How many elements meet at each place; p is (dimension, …, the shape of the result)."""
    xs = [at_least_1d(x, size) for x in everywhere(xs, batched, size)]
    dim, *rest, shape = p
    return as_before(op(*xs, p=(dim + 1, *rest, (size, *(shape or (1,))))), (size, *shape))
