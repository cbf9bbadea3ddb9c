"""Cases of running results along a dimension, and of the rows that carry their gradients."""

from typing import Any

import numpy as np

from . import Case, Draw, away, nonzero, real


def along(domain: Any = real, distinct: bool = False) -> Any:
    """p is a dimension."""

    def draw(d: Draw) -> Any:
        shape = d.shape()
        a = d.distinct(shape) if distinct else d.array(shape, domain)
        return [a], d.integer(0, max(a.ndim - 1, 0))

    return draw


def with_zeros(d: Draw) -> Any:
    a = np.array(d.array(d.shape(), nonzero))
    if a.ndim:
        a[d.rng.random(a.shape) < 0.3] = 0
    return [a], d.integer(0, max(a.ndim - 1, 0))


def delayed(d: Draw) -> Any:
    (a,), dim = along()(d)
    return [a], (dim, d.integer(0, 1))


def two(d: Draw) -> Any:
    shape = d.shape()
    return [d.array(shape), d.array(shape)], d.integer(0, max(len(shape) - 1, 0))


def recurrence(a: Any, b: Any, p: Any) -> Any:
    if not a.ndim:
        return b
    a, out = np.moveaxis(a, p, 0), np.moveaxis(np.array(b), p, 0)
    for k in range(1, len(out)):
        out[k] += a[k] * out[k - 1]
    return np.moveaxis(out, 0, p)


def delay(a: Any, p: Any) -> Any:
    if not a.ndim:
        return np.float64(p[1])
    first = np.full_like(np.take(a, [0] if a.shape[p[0]] else [], p[0]), p[1])
    return np.concatenate([first, np.take(a, range(max(a.shape[p[0]] - 1, 0)), p[0])], p[0])


def taken(d: Draw) -> Any:
    shape = d.shape(empty=False)
    a = d.array(shape)
    dim = d.integer(0, max(a.ndim - 1, 0))
    if not a.ndim:
        return [a, np.asarray(0)], 0
    return [a, d.indices((*shape[:dim], d.integer(1, 3), *shape[dim + 1 :]), shape[dim])], dim


def added(d: Draw) -> Any:
    (a, b), dim = taken(d)
    size = int(b.max()) + 1
    return [d.array(b.shape), b], (dim, (*b.shape[:dim], size, *b.shape[dim + 1 :]) if b.ndim else ())


def running(f: Any) -> Any:
    def ref(a: Any, p: Any) -> Any:
        values = f.accumulate(a, p) if a.ndim else a
        places = np.arange(a.shape[p]).reshape((-1, *[1] * (a.ndim - 1 - p))) if a.ndim else 0
        return values, np.maximum.accumulate(np.where(a == values, places, 0), p) if a.ndim else np.int64(0)

    return ref


def by_axis(f: Any) -> Any:
    return lambda a, p: f(a, p) if a.ndim else a


CASES = [
    Case("cumsum", along(), ref=by_axis(np.cumsum)),
    Case("cumprod", along(), ref=by_axis(np.cumprod)),
    Case("cumprod", with_zeros, ref=by_axis(np.cumprod), name="with zeros"),
    Case("cummax", along(distinct=True), ref=running(np.maximum)),
    Case("cummin", along(distinct=True), ref=running(np.minimum)),
    Case("logcumsumexp", along(away(low=-2.0, high=2.0)), ref=by_axis(np.logaddexp.accumulate)),
    Case("delay", delayed, ref=delay),
    Case("recurrence", two, ref=recurrence),
    Case("take_along", taken, ref=lambda a, b, p: np.take_along_axis(a, b, p) if a.ndim else a),
    Case("add_along", added),
]
