"""Cases of pooling, borders, windows as columns and resampling."""

from typing import Any

import numpy as np
from rule_cases import Case, Draw

from autodiff_kernel.core.rules.pooling import Windows
from autodiff_kernel.core.rules.resampling import weights


def lead(d: Draw) -> tuple[int, ...]:
    """Samples and channels."""
    return (0 if d.style == "empty" else d.integer(1, 2), d.integer(1, 2))


def windows(d: Draw, pool: bool = True, most: int = 2) -> tuple[tuple[int, ...], Windows]:
    """The input's shape, and how the windows lie."""
    dims = d.integer(1, most) if most > 1 else 2
    kernel = tuple(d.integer(1, 3) for _ in range(dims))
    dilation = tuple(d.integer(1, 2) for _ in range(dims))
    stride = tuple(d.integer(1, 3) for _ in range(dims))
    reach = [(k - 1) * t + 1 for k, t in zip(kernel, dilation, strict=True)]
    padding = tuple(d.integer(0, r // 2) for r in reach)
    size = tuple(r + d.integer(0, 3) for r in reach)
    out = tuple((n + 2 * q - r) // s + 1 for n, q, r, s in zip(size, padding, reach, stride, strict=True))
    return (*lead(d), *size), Windows(kernel, stride, padding, dilation, out, size)


def each_window(p: Windows) -> Any:
    """For each place in the result: the places of the input in its window."""
    for at in np.ndindex(*p.output):
        spots = []
        for k in np.ndindex(*p.kernel):
            spot = tuple(
                a * s + b * t - q
                for a, s, b, t, q in zip(at, p.stride, k, p.dilation, p.padding, strict=True)
            )
            if all(0 <= i < n for i, n in zip(spot, p.input, strict=True)):
                spots.append(spot)
        yield at, spots


def greatest(a: Any, p: Windows) -> Any:
    y = np.empty((*a.shape[:2], *p.output))
    where = np.empty(y.shape, np.int64)
    for at, spots in each_window(p):
        found = np.stack([a[(..., *s)] for s in spots], -1)
        y[(..., *at)] = found.max(-1)
        flat = np.array([np.ravel_multi_index(s, p.input) for s in spots])
        where[(..., *at)] = flat[found.argmax(-1)]
    return y, where


def draw_max(d: Draw) -> Any:
    shape, p = windows(d)
    return [d.distinct(shape)], p


def draw_mean(d: Draw) -> Any:
    shape, p = windows(d)
    p = p._replace(dilation=(1,) * len(p.kernel))
    return [d.array(shape)], (p, d.flag(), d.choice([None, None, 3]))


def mean(a: Any, p: Any) -> Any:
    place, include, divisor = p
    y = np.empty((*a.shape[:2], *place.output))
    for at, spots in each_window(place):
        total = sum(a[(..., *s)] for s in spots)
        whole = 1
        for i, s, q, k, n in zip(at, place.stride, place.padding, place.kernel, place.input, strict=True):
            whole *= min(i * s - q + k, n + q) - (i * s - q)
        y[(..., *at)] = total / (divisor or (whole if include else len(spots)))
    return y


def draw_spread(d: Draw) -> Any:
    (a,), p = draw_mean(d)
    return [d.array((*a.shape[:2], *p[0].output))], p


def draw_adaptive(d: Draw) -> Any:
    size = (d.integer(1, 5), d.integer(1, 5))
    return [d.distinct((*lead(d), *size))], (size, (d.integer(1, 4), d.integer(1, 6)))


def draw_fractional(d: Draw) -> Any:
    kernel, out = (d.integer(1, 2), d.integer(1, 2)), (d.integer(1, 3), d.integer(1, 3))
    size = tuple(k + m - 1 + d.integer(0, 3) for k, m in zip(kernel, out, strict=True))
    shape = lead(d)
    return [d.distinct((*shape, *size)), d.array((*shape, 2), inside)], (kernel, size, out)


def inside(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(0.1, 0.9, shape)


def places(d: Draw, plane: tuple[int, ...], shape: tuple[int, ...], once: bool) -> Any:
    """Places in planes: at most once each, or any."""
    count, n = int(np.prod(plane)), int(np.prod(shape[2:]))
    index = np.empty((shape[0] * shape[1], n), np.int64)
    for row in index:
        start = d.integer(0, count - 1)
        row[:] = (np.arange(n) * (1 if once else 2) + start) % count
    return index.reshape(shape)


def draw_places(back: bool, once: Any = None) -> Any:
    def draw(d: Draw) -> Any:
        plane, out = (d.integer(2, 4), d.integer(2, 4)), (d.integer(1, 2), d.integer(1, 2))
        shape, single = lead(d), d.flag() if once is None else once
        index = places(d, plane, (*shape, *out), single)
        a = d.array((*shape, *(out if back else plane)))
        return [a, index], (2, plane, single) if once is None else (2, plane)

    return draw


def taken(a: Any, i: Any, p: Any) -> Any:
    flat = a.reshape(*a.shape[:2], int(np.prod(a.shape[2:])))
    return np.take_along_axis(flat, i.reshape(*i.shape[:2], int(np.prod(i.shape[2:]))), -1).reshape(i.shape)


def put(g: Any, i: Any, p: Any) -> Any:
    y = np.zeros((*g.shape[:2], int(np.prod(p[1]))))
    for n in np.ndindex(*g.shape):
        y[(*n[:2], i[n])] += g[n]
    return y.reshape(*g.shape[:2], *p[1])


def draw_pad(d: Draw) -> Any:
    shape = d.shape(1, empty=False)
    count = d.integer(1, len(shape))
    pads = tuple((d.integer(-1, 2), d.integer(0, 2)) for _ in range(count))
    return [d.array(shape)], (pads, d.choice([0, 1.5]))


def padded(a: Any, p: Any) -> Any:
    pads, value = p
    for i, (before, after) in enumerate(pads, a.ndim - len(pads)):
        width = [(0, 0)] * a.ndim
        width[i] = (max(before, 0), after)
        a = np.pad(np.take(a, range(max(-before, 0), a.shape[i]), i), width, constant_values=value)
    return a


def draw_copies(back: bool) -> Any:
    def draw(d: Draw) -> Any:
        shape, size, sizes, picks = lead(d), [], [], []
        for axis in range(-d.integer(1, 2), 0):
            n, kind = (
                d.integer(2, 4),
                d.choice(["reflect", "replicate", "circular", "nearest", "nearest-exact"]),
            )
            if kind.startswith("nearest"):
                picks.append((axis, kind, n, d.integer(1, 6), None))
                sizes.append(picks[-1][3])
            else:
                picks.append((axis, kind, n, d.integer(0, 1), d.integer(0, 1)))
                sizes.append(n + picks[-1][3] + picks[-1][4])
            size.append(n)
        return [d.array((*shape, *(sizes if back else size)))], ("CopyBackward0", tuple(picks))

    return draw


def copied(a: Any, p: Any) -> Any:
    modes = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    for axis, kind, n, *rest in p[1]:
        if kind in modes:
            width = [(0, 0)] * a.ndim
            width[axis] = (rest[0], rest[1])
            a = np.pad(a, width, mode=modes[kind])
        else:
            shift = 0.5 if kind == "nearest-exact" else 0
            a = np.take(a, [min(int((k + shift) * n / rest[0]), n - 1) for k in range(rest[0])], axis)
    return a


def draw_resample(d: Draw) -> Any:
    dims, turned = d.integer(1, 2), d.flag()
    plan = tuple(
        (axis, d.choice(["linear", "cubic", "area"]), d.integer(1, 4), d.integer(1, 5), None, d.flag())
        for axis in range(-dims, 0)
    )
    sizes = [step[3 if turned else 2] for step in plan]
    return [d.array((*lead(d), *sizes))], ("ResampleBackward0", turned, plan)


def resampled(a: Any, p: Any) -> Any:
    for axis, *how in p[2]:
        matrix = weights(*how, np.dtype(float))
        a = np.moveaxis(np.tensordot(matrix.T if p[1] else matrix, a, (1, axis)), 0, axis)
    return a


def draw_columns(back: bool) -> Any:
    def draw(d: Draw) -> Any:
        shape, p = windows(d, most=1)
        n, c = shape[:2]
        if back:
            shape = (n, c * int(np.prod(p.kernel)), int(np.prod(p.output)))
        return [d.array(shape)], (p.kernel, p.stride, p.padding, p.dilation, p.output, p.input)

    return draw


def columns(a: Any, p: Any) -> Any:
    place = Windows(*p)
    y = np.zeros((*a.shape[:2], *place.kernel, *place.output))
    for at in np.ndindex(*place.output):
        for k in np.ndindex(*place.kernel):
            spot = [i * s + b * t - q for i, s, b, t, q in zip(at, p[1], k, p[3], p[2], strict=True)]
            if all(0 <= i < n for i, n in zip(spot, p[5], strict=True)):
                y[(..., *k, *at)] = a[(..., *spot)]
    return y.reshape(
        a.shape[0], -1 if a.shape[0] else a.shape[1] * int(np.prod(place.kernel)), int(np.prod(place.output))
    )


CASES = [
    Case("max_pool", draw_max, greatest),
    Case("adaptive_max_pool", draw_adaptive),
    Case("fractional_max_pool", draw_fractional),
    Case("avg_pool", draw_mean, mean),
    Case("avg_pool_backward", draw_spread),
    Case("places_taken", draw_places(False), taken),
    Case("places_back", draw_places(True), put),
    # it looks at the places to refuse those outside
    Case("max_unpool", draw_places(True, True), put, syncs=True),
    Case("constant_pad_nd", draw_pad, padded),
    # their small tables of places and weights are made on the CPU
    Case("copied_places", draw_copies(False), copied, syncs=True),
    Case("copied_places_backward", draw_copies(True), syncs=True),
    Case("resample", draw_resample, resampled, syncs=True),
    Case("im2col", draw_columns(False), columns),
    Case("col2im", draw_columns(True)),
]
