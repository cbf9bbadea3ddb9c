"""Cases of sort, topk and kthvalue: distinct elements, so that their order stays the same nearby."""

from typing import Any

import numpy as np

from . import Case, Draw


def draw_sort(d: Draw) -> Any:
    a = d.distinct(d.shape())
    return [a], (d.integer(0, max(a.ndim - 1, 0)), d.flag())


def ref_sort(a: Any, p: Any) -> Any:
    if not a.ndim:
        return a, np.int64(0)
    sign = -1 if p[1] else 1
    return sign * np.sort(sign * a, p[0]), np.argsort(sign * a, p[0])


def draw_topk(d: Draw) -> Any:
    a = d.distinct(d.shape())
    dim = d.integer(0, max(a.ndim - 1, 0))
    return [a], (dim, d.integer(0, a.shape[dim] if a.ndim else 1), d.flag(), True)


def ref_topk(a: Any, p: Any) -> Any:
    if not a.ndim:
        return a, np.int64(0)
    dim, k, largest, _ = p
    cut = (*[slice(None)] * dim, slice(k))
    return tuple(y[cut] for y in ref_sort(a, (dim, largest)))


def draw_many(d: Draw) -> Any:
    """Enough elements that the top ones are chosen without sorting all."""
    return [d.distinct((1200, 2))], (0, d.integer(1, 5), d.flag(), True)


def draw_kth(d: Draw) -> Any:
    a = d.distinct(d.shape(empty=False))
    dim = d.integer(0, max(a.ndim - 1, 0))
    return [a], (dim, d.integer(1, a.shape[dim] if a.ndim else 1), d.flag())


def ref_kth(a: Any, p: Any) -> Any:
    if not a.ndim:
        return a, np.int64(0)
    dim, k, keep = p
    results = [np.take(y, [k - 1], dim) for y in ref_sort(a, (dim, False))]
    return tuple(y if keep else y.squeeze(dim) for y in results)


CASES = [
    Case("sort", draw_sort, ref=ref_sort),
    Case("topk", draw_topk, ref=ref_topk),
    Case("topk", draw_many, ref=ref_topk, name="of many"),
    Case("kthvalue", draw_kth, ref=ref_kth),
]
