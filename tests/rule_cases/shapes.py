"""Cases of other shapes, orders and parts of the same elements."""

from typing import Any

import numpy as np

from . import Case, Draw


def split_up(d: Draw, n: int) -> tuple[int, ...]:
    """A shape of n elements."""
    if n == 0:
        return d.choice([(0,), (0, 3), (2, 0)])
    out = []
    while n > 1:
        k = d.choice([k for k in range(2, n + 1) if n % k == 0])
        out.append(k)
        n //= k
    if d.flag():
        out.insert(d.integer(0, len(out)), 1)
    return tuple(out)


def reshaped(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a], split_up(d, a.size)


def by_dim(extra: int = 0, least: int = 0) -> Any:
    def draw(d: Draw) -> Any:
        a = d.array(d.shape(least))
        return [a], d.integer(0, max(a.ndim - 1 + extra, 0))

    return draw


def squeezed(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a], (tuple(i for i, n in enumerate(a.shape) if n == 1 and d.flag()), d.integer(0, 2))


def stretched(d: Draw) -> Any:
    a = d.array(d.shape())
    shape = tuple(d.integer(0, 3) if n == 1 else n for n in a.shape)
    return [a], (*[d.integer(1, 2) for _ in range(d.integer(0, 2))], *shape)


def permuted(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a], tuple(int(i) for i in d.rng.permutation(a.ndim))


def two_dims(d: Draw) -> Any:
    a = d.array(d.shape())
    n = max(a.ndim - 1, 0)
    return [a], (d.integer(0, n), d.integer(0, n))


def diagonal(d: Draw) -> Any:
    a = d.array(d.shape(2))
    first, second = (int(i) for i in d.rng.permutation(a.ndim)[:2])
    return [a], (d.integer(-2, 2), first, second)


def on_diagonal(d: Draw) -> Any:
    (a,), p = diagonal(d)
    return [d.array(np.diagonal(a, *p).shape)], (p, a.shape)


def embedded(d: Draw) -> Any:
    a = d.array(d.shape(1))
    first, second = (int(i) for i in d.rng.permutation(a.ndim + 1)[:2])
    return [a], (d.integer(-2, 2), first, second)


def embed(a: Any, p: Any) -> Any:
    offset, first, second = p
    n = a.shape[-1] + abs(offset)
    shape = list(a.shape[:-1])
    for i in sorted((first, second)):
        shape.insert(i, n)
    out = np.zeros(shape)
    for index in np.ndindex(*a.shape):
        row = index[-1] - min(offset, 0)
        where = list(index[:-1])
        for i, at in sorted(((first, row), (second, row + offset))):
            where.insert(i, at)
        out[tuple(where)] = a[index]
    return out


def triangle(d: Draw) -> Any:
    return [d.array(d.shape(2))], d.integer(-2, 2)


def windows(d: Draw) -> Any:
    a = d.array(d.shape(empty=False))
    if not a.ndim:
        return [a], (0, d.integer(0, 1), 1)
    dim = d.integer(0, a.ndim - 1)
    return [a], (dim, d.integer(1, a.shape[dim]), d.integer(1, 2))


def unfolded(a: Any, p: Any) -> Any:
    dim, size, step = p
    if not a.ndim:
        return a.reshape(1)[:size]
    parts = [np.take(a, range(s, s + size), dim) for s in range(0, a.shape[dim] - size + 1, step)]
    return np.moveaxis(np.stack(parts, dim), dim + 1, -1)


def from_windows(d: Draw) -> Any:
    (a,), p = windows(d)
    return [d.array(unfolded(a, p).shape)], (p, a.shape)


def strided(d: Draw) -> Any:
    """An array that begins its storage, and any arrangement of its elements."""
    a = np.array(d.array(d.shape(1, empty=False)), order="C")
    size = tuple(d.integer(1, 3) for _ in range(d.integer(0, 2)))
    stride, left = [], a.size - 1
    for n in size:
        stride.append(d.integer(0, left // max(n - 1, 1)))
        left -= stride[-1] * (n - 1)
    own = tuple(s // 8 for s in a.strides)
    return [a], (size, tuple(stride), d.integer(0, left), own, 0)


def arranged(a: Any, p: Any) -> Any:
    size, stride, offset, _, _ = p
    return np.lib.stride_tricks.as_strided(a.reshape(-1)[offset:], size, [8 * s for s in stride]).copy()


def from_strided(d: Draw) -> Any:
    (a,), p = strided(d)
    return [d.array(p[0])], (p, a.shape)


def repeats(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a], tuple(d.integer(0, 3) for _ in range(a.ndim + d.integer(0, 1)))


def interleaved(d: Draw) -> Any:
    a = d.array(d.shape(1))
    return [a], (d.integer(0, 3), d.integer(0, a.ndim - 1))


def some_dims(d: Draw) -> Any:
    a = d.array(d.shape())
    return [a], tuple(i for i in range(a.ndim) if d.flag())


def rolled(d: Draw) -> Any:
    a = d.array(d.shape())
    if not a.ndim or d.flag():
        return [a], ((d.integer(-4, 4),), None)
    dims = tuple(d.integer(0, a.ndim - 1) for _ in range(d.integer(1, 2)))
    return [a], (tuple(d.integer(-4, 4) for _ in dims), dims)


def turned(d: Draw) -> Any:
    a = d.array(d.shape(2))
    return [a], (d.integer(0, 3), tuple(int(i) for i in d.rng.permutation(a.ndim)[:2]))


def reshape(a: Any, p: Any) -> Any:
    return np.reshape(a, p)


CASES = [
    Case("reshape", reshaped, ref=reshape),
    Case(
        "unsafe_view",
        lambda d: ([np.array(d.array((3, 2)), order="C").T], d.choice([(6,), (3, 2)])),
        ref=reshape,
        storage=True,  # only an order that has to be copied
    ),
    Case("contiguous", lambda d: [d.array(d.shape())], ref=np.array),
    Case("unsqueeze", by_dim(extra=1), ref=np.expand_dims),
    Case("squeeze", squeezed, ref=lambda a, p: np.squeeze(a, p[0])),
    Case("expand", stretched, ref=np.broadcast_to),
    Case("permute", permuted, ref=np.transpose),
    Case("transpose", two_dims, ref=lambda a, p: np.swapaxes(a, *p) if a.ndim else a),
    Case("t", lambda d: ([d.array(d.shape(most=2))], None), ref=lambda a: a.T),
    Case("diagonal", diagonal, ref=lambda a, p: np.diagonal(a, *p)),
    Case("diagonal_copy", diagonal, ref=lambda a, p: np.diagonal(a, *p)),
    Case("diagonal_backward", on_diagonal),
    Case("diag_embed", embedded, ref=embed),
    Case("tril", triangle, ref=np.tril),
    Case("triu", triangle, ref=np.triu),
    Case("unfold", windows, ref=unfolded),
    Case("unfold_backward", from_windows),
    Case("as_strided", strided, ref=arranged, storage=True),
    Case("as_strided_backward", from_strided),
    Case("repeat", repeats, ref=np.tile),
    Case("repeat_interleave", interleaved, ref=lambda a, p: np.repeat(a, *p)),
    Case("flip", some_dims, ref=np.flip),
    Case("roll", rolled, ref=lambda a, p: np.roll(a, *p)),
    Case("rot90", turned, ref=lambda a, p: np.rot90(a, *p)),
]
