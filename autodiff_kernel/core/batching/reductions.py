"""Batching of what goes along dimensions: reductions, cumulative sums, sorting, softmax."""

from typing import Any

from ..op import TABLE, Op
from ..tensor import Tensor
from .elementwise import everywhere, in_a_row, reshaped, word


def shifted(axis: Any) -> Any:
    """Dimensions of one sample, counted with the batch in front (those counted from the end stay)."""
    if isinstance(axis, int):
        return axis + 1 if axis >= 0 else axis
    return tuple([d + 1 if d >= 0 else d for d in axis])


def flat(y: Any, size: int) -> Any:
    """Results for samples of 0 dimensions, which were computed with one of size 1."""
    if isinstance(y, tuple):
        return tuple([flat(v, size) for v in y])
    return y if y.raw.ndim == 1 else reshaped(y, (size,))


def reduce(op: Op, x: Tensor, axis: Any, parameters: Any, size: int) -> Any:
    """op along `axis` (None: all dimensions of a sample); `parameters(axis)` are those of the row."""
    ndim = x.raw.ndim
    if ndim == 1:
        return flat(op(reshaped(x, (size, 1)), p=parameters((1,))), size)
    return op(x, p=parameters(tuple(range(1, ndim)) if axis is None else shifted(axis)))


@word("reduction")
def reduction(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (dimensions or None, …)."""
    return reduce(op, xs[0], p[0], lambda axis: (axis, *p[1:]), size)


@word("product")
def product(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (one dimension in a tuple, or None; keepdim)."""
    x, (axis, keep) = xs[0], p
    if axis is not None or x.raw.ndim == 1:
        return reduction(op, xs, batched, p, size)
    y = op(in_a_row(x), p=((1,), False))
    return reshaped(y, (size, *[1] * (x.raw.ndim - 1))) if keep else y


@word("norm")
def norm(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (order, dimensions or None, …)."""
    return reduce(op, xs[0], p[1], lambda axis: (p[0], axis, *p[2:]), size)


@word("count")
def count(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is dimensions or None."""
    return reduce(op, xs[0], p, lambda axis: axis, size)


@word("along")
def along(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is one dimension, or begins with one (None there: all elements of a sample in a row); inputs of one shape."""
    xs = everywhere(xs, batched, size)
    dim, rest = (p, None) if p is None or isinstance(p, int) else (p[0], p[1:])
    ndim = xs[0].raw.ndim

    def run(values: list[Any], d: int) -> Any:
        return op(*values, p=d if rest is None else (d, *rest))

    if ndim == 1:
        if op.base.name == "topk" and rest:  # the one element, however many are asked for
            rest = (1, *rest[1:])
        return flat(run([reshaped(x, (size, 1)) for x in xs], 1), size)
    if dim is not None:
        return run(xs, shifted(dim))
    y = run([in_a_row(x) for x in xs], 1)
    return reshaped(y, (size, *[1] * (ndim - 1))) if rest and rest[0] is True else flat(y, size)


@word("parts")
def parts(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (sizes or repetitions, one dimension, …)."""
    return op(xs[0], p=(p[0], shifted(p[1]), *p[2:]))


@word("turn")
def turn(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """p is (how far, dimensions); None there: the elements in a row."""
    x = xs[0]
    if p[1] is not None:
        return op(x, p=(p[0], shifted(p[1]))) if x.raw.ndim > 1 else TABLE["clone"](x)
    if x.raw.ndim == 1 or not x.raw.size:
        return TABLE["clone"](x)
    return reshaped(op(in_a_row(x), p=(p[0], (1,))), x.raw.shape)
