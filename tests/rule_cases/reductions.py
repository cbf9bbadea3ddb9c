"""Cases of reductions: sums, means, extremes, medians, norms."""

from typing import Any

import numpy as np

from . import Case, Draw, away, nonzero, real


def axes(d: Draw, ndim: int) -> Any:
    """None, one dimension, or several."""
    if not ndim or d.integer(0, 2) == 0:
        return None
    chosen = [i for i in range(ndim) if d.flag()]
    return tuple(chosen) or (d.integer(0, ndim - 1),)


def along(domain: Any = real, empty: bool = True, distinct: bool = False) -> Any:
    """p is (axis, keepdim)."""

    def draw(d: Draw) -> Any:
        shape = d.shape(empty=empty)
        a = d.distinct(shape) if distinct else d.array(shape, domain)
        return [a], (axes(d, a.ndim), d.flag())

    return draw


def whole(d: Draw) -> Any:
    """p is (None, False), and no two elements are equal."""
    return [d.distinct(d.shape(empty=False))], (None, False)


def one(distinct: bool = True, empty: bool = False) -> Any:
    """p is (dimension, keepdim)."""

    def draw(d: Draw) -> Any:
        shape = d.shape(empty=empty)
        a = d.distinct(shape) if distinct else d.array(shape)
        return [a], (d.integer(0, max(a.ndim - 1, 0)), d.flag())

    return draw


def product(zeros: int) -> Any:
    def draw(d: Draw) -> Any:
        a = np.array(d.array(d.shape(), nonzero))
        if a.ndim:
            for _ in range(zeros if a.size else 0):
                a.flat[d.integer(0, a.size - 1)] = 0
            axis = None if d.flag() else (d.integer(0, a.ndim - 1),)
        else:
            axis = None
        return [a], (axis, d.flag())

    return draw


def variance(d: Draw) -> Any:
    a = d.array(d.shape(empty=False))
    if 0 in a.strides:  # repeated elements have no deviation, and it no derivative
        a = a + np.arange(a.size).reshape(a.shape) * 0.1
    return [a], (axes(d, a.ndim), d.choice([0, 0.5, -1]), d.flag())


def with_nan(d: Draw) -> Any:
    a = np.array(d.array(d.shape()))
    a[d.rng.random(a.shape) < 0.3] = np.nan
    return [a], (axes(d, a.ndim), d.flag())


def norm(order: float) -> Any:
    def draw(d: Draw) -> Any:
        shape = d.shape(empty=order >= 0 and order != np.inf)
        a = (
            d.distinct(shape) + 0.03 if abs(order) == np.inf else d.array(shape, nonzero)
        )  # no two of one size
        return [a], (order, axes(d, a.ndim), d.flag())

    return draw


def norm_ref(a: Any, p: Any) -> Any:
    order, axis, keep = p
    size = np.abs(a)
    if order == 0:
        return (size != 0).sum(axis, keepdims=keep).astype(a.dtype)
    if order == np.inf:
        return size.max(axis, keepdims=keep)
    if order == -np.inf:
        return size.min(axis, keepdims=keep)
    return (size**order).sum(axis, keepdims=keep) ** (1 / order)


def distance(order: float) -> Any:
    def draw(d: Draw) -> Any:
        s, t = d.shapes(2, empty=order != np.inf)
        a, b = d.array(s, away(low=2.0, high=4.0)), d.array(t, away(low=-2.0, high=1.0))
        if order == np.inf:
            a, b = a + 0.01 * d.distinct(s), b + 0.0031 * d.distinct(t)
        return [a, b], order

    return draw


def distance_ref(a: Any, b: Any, p: Any) -> Any:
    return norm_ref(np.subtract(a, b), (p, None, False))


def keep_axis(f: Any) -> Any:
    return lambda a, p: f(a, axis=p[0], keepdims=p[1])


def middle(a: Any, p: Any) -> Any:
    """The lower median along p[0], and its index."""
    if not a.ndim:
        return a, np.int64(0)
    i = np.argsort(a, p[0])
    k = np.take(i, [(a.shape[p[0]] - 1) // 2], p[0])
    pair = np.take_along_axis(a, k, p[0]), k
    return pair if p[1] else tuple(x.squeeze(p[0]) for x in pair)


def best(name: str) -> Any:
    def ref(a: Any, p: Any) -> Any:
        if not a.ndim:
            return a, np.int64(0)
        return getattr(np, name)(a, p[0], keepdims=p[1]), getattr(np, "arg" + name)(a, p[0], keepdims=p[1])

    return ref


def lower_median(a: Any, p: Any) -> Any:
    return np.sort(a, None)[(a.size - 1) // 2]


def moments(f: Any) -> Any:
    return lambda a, p: f(a, p[0], ddof=p[1], keepdims=p[2])


def both_ends(a: Any, p: Any) -> Any:
    return keep_axis(np.min)(a, p), keep_axis(np.max)(a, p)


ORDERS = (0, 1, 2, 3, 1.5, 0.5, -1, np.inf, -np.inf)
CASES = [
    Case("sum", along(), ref=keep_axis(np.sum)),
    Case("mean", along(empty=False), ref=keep_axis(np.mean)),
    Case("prod", product(0), ref=keep_axis(np.prod)),
    Case("prod", product(1), ref=keep_axis(np.prod), name="with a zero"),
    Case("prod", product(2), ref=keep_axis(np.prod), name="with two zeros"),
    Case("nansum", with_nan, ref=keep_axis(np.nansum)),
    Case("all", along(), ref=keep_axis(np.all)),
    Case("any", along(), ref=keep_axis(np.any)),
    Case("var", variance, ref=moments(np.var)),
    Case("std", variance, ref=moments(np.std)),
    Case("var_mean", variance, ref=lambda a, p: (moments(np.var)(a, p), np.mean(a, p[0], keepdims=p[2]))),
    Case("std_mean", variance, ref=lambda a, p: (moments(np.std)(a, p), np.mean(a, p[0], keepdims=p[2]))),
    Case("max", whole, ref=keep_axis(np.max)),
    Case("min", whole, ref=keep_axis(np.min)),
    Case("amax", along(empty=False, distinct=True), ref=keep_axis(np.max)),
    Case("amin", along(empty=False, distinct=True), ref=keep_axis(np.min)),
    Case("aminmax", along(empty=False, distinct=True), ref=both_ends),
    Case("max_dim", one(), ref=best("max")),
    Case("min_dim", one(), ref=best("min")),
    Case("argmax", one(), ref=lambda a, p: best("max")(a, p)[1]),
    Case("argmin", one(), ref=lambda a, p: best("min")(a, p)[1]),
    Case("median", whole, ref=lower_median),
    Case("nanmedian", whole, ref=lower_median),
    Case("median_dim", one(), ref=middle),
    Case("nanmedian_dim", one(), ref=middle),
    Case("mode", one()),
    *[Case("linalg_vector_norm", norm(order), ref=norm_ref, name=str(order)) for order in ORDERS],
    *[Case("dist", distance(order), ref=distance_ref, name=str(order)) for order in (1.0, 2.0, 3.0, np.inf)],
]  # fmt: skip
