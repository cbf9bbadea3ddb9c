"""Cases of gather, scatter and their kin."""

from typing import Any

import numpy as np

from . import Case, Draw, nonzero, real


def index_for(d: Draw, shape: tuple[int, ...], dim: int, distinct: bool = False) -> Any:
    """An index of at most that shape except along `dim`; `distinct`: no place is named twice."""
    if not shape:
        return np.zeros((), np.int64)
    size = shape[dim]
    own = d.integer(1, size) if distinct else d.integer(1, size + 2)
    part = tuple(own if k == dim else d.integer(1, n) for k, n in enumerate(shape))
    if not distinct:
        return d.indices(part, size)
    lines = d.rng.permuted(
        np.broadcast_to(np.arange(size), (*[n for k, n in enumerate(part) if k != dim], size)), axis=-1
    )
    return np.moveaxis(lines[..., :own], -1, dim)


def where(index: Any, dim: int) -> Any:
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    if index.ndim:
        grid[dim] = index
    return tuple(grid)


def draw_gather(d: Draw) -> Any:
    a = d.array(d.shape(empty=False))
    dim = d.integer(0, max(a.ndim - 1, 0))
    return [a, index_for(d, a.shape, dim)], dim


def draw_gather_back(d: Draw) -> Any:
    shape = d.shape(empty=False)
    dim = d.integer(0, max(len(shape) - 1, 0))
    index = index_for(d, shape, dim)
    return [d.array(index.shape), index], (dim, shape)


def ref_gather_back(g: Any, index: Any, p: Any) -> Any:
    out = np.zeros(p[1])
    np.add.at(out, where(index, p[0]), g)
    return out


def draw_scatter(distinct: bool, p: Any = lambda d, dim: dim, values: Any = real) -> Any:
    def draw(d: Draw) -> Any:
        a = d.array(d.shape(empty=False), values)
        dim = d.integer(0, max(a.ndim - 1, 0))
        index = index_for(d, a.shape, dim, distinct)
        source = tuple(n + d.integer(0, 1) for n in index.shape)
        return [a, d.array(source, values), index], p(d, dim)

    return draw


def reach(b: Any, index: Any) -> Any:
    return b[tuple(slice(n) for n in index.shape)]


def ref_scatter(a: Any, b: Any, index: Any, p: Any) -> Any:
    out = a.copy()
    out[where(index, p[0])] = reach(b, index)
    return out


def ref_scatter_add(a: Any, b: Any, index: Any, p: Any) -> Any:
    out = a.copy()
    np.add.at(out, where(index, p), reach(b, index))
    return out


def number_scatter(d: Draw) -> Any:
    (a, _, index), p = draw_scatter(True, lambda d, dim: (dim, True))(d)
    return [a, 2.5, index], p


def draw_ties(d: Draw) -> Any:
    """Distinct elements, so that an extreme one stays the same one nearby."""
    (a, b, index), p = draw_reduce(d)
    values = d.distinct((a.size + b.size,))
    return [values[: a.size].reshape(a.shape), values[a.size :].reshape(b.shape), index], p


draw_reduce = draw_scatter(False, lambda d, dim: (dim, d.flag()), nonzero)


def draw_zeros(d: Draw) -> Any:
    """Products with factors that are zero."""
    (a, b, index), p = draw_reduce(d)
    return [
        np.where(d.rng.random(a.shape) < 0.3, 0, a),
        np.where(d.rng.random(b.shape) < 0.5, 0, b),
        index,
    ], p


def ref_reduce(kind: str) -> Any:
    def ref(a: Any, b: Any, index: Any, p: Any) -> Any:
        dim, include_self = p
        places: dict[Any, list[float]] = {}
        for at in np.ndindex(*index.shape):
            target = tuple(int(index[at]) if k == dim else n for k, n in enumerate(at))
            places.setdefault(target, [a[target]] if include_self else []).append(b[at])
        out = a.copy()
        f = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[kind]
        for target, values in places.items():
            out[target] = f(values)
        return out

    return ref


CASES = [
    Case("gather", draw_gather, ref=lambda a, b, p: a[where(b, p)]),
    Case("gather_backward", draw_gather_back, ref=ref_gather_back),
    Case("scatter", draw_scatter(True, lambda d, dim: (dim, False)), ref=ref_scatter),
    Case(
        "scatter",
        number_scatter,
        ref=lambda a, b, c, p: ref_scatter(a, np.full(c.shape, b), c, p),
        name="number",
    ),
    Case("scatter_add", draw_scatter(False), ref=ref_scatter_add),
    Case("scatter_reduce_sum", draw_reduce, ref=ref_reduce("sum")),
    Case("scatter_reduce_mean", draw_reduce, ref=ref_reduce("mean")),
    # rounds of elements that meet at one place: their number is read on the CPU
    Case("scatter_reduce_prod", draw_reduce, ref=ref_reduce("prod"), syncs=True),
    # the derivative of a product with several zeros is not the limit of those nearby to second order
    Case("scatter_reduce_prod", draw_zeros, ref=ref_reduce("prod"), name="zeros", second=False, syncs=True),
    Case("scatter_reduce_amax", draw_ties, ref=ref_reduce("amax"), syncs=True),
    Case("scatter_reduce_amin", draw_ties, ref=ref_reduce("amin"), syncs=True),
]
