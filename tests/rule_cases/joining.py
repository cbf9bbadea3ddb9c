"""Cases of several tensors made one, and of one made several."""

from typing import Any

import numpy as np

from . import Case, Draw


def in_a_row(d: Draw) -> Any:
    """p is the dimension; the sizes along it differ."""
    shape = d.shape(1)
    dim = d.integer(0, len(shape) - 1)
    return [d.array((*shape[:dim], d.integer(0, 3), *shape[dim + 1 :])) for _ in range(d.integer(1, 3))], dim


def with_nothing(d: Draw) -> Any:
    """An empty 1-D tensor among them is skipped."""
    xs, dim = in_a_row(d)
    xs.insert(d.integer(0, len(xs)), np.zeros(0))
    return xs, dim


def side_by_side(d: Draw) -> Any:
    shape = d.shape()
    return [d.array(shape) for _ in range(d.integer(1, 3))], d.integer(0, len(shape))


def blocks(d: Draw) -> Any:
    return [d.array(d.shape(most=2)) for _ in range(d.integer(1, 3))]


def block_diag(*xs: Any) -> Any:
    xs = [np.atleast_2d(x) for x in xs]
    out = np.zeros((sum(x.shape[0] for x in xs), sum(x.shape[1] for x in xs)))
    i = j = 0
    for x in xs:
        out[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return out


def parts(d: Draw) -> Any:
    a = d.array(d.shape(1))
    dim = d.integer(0, a.ndim - 1)
    cut = sorted(d.integer(0, a.shape[dim]) for _ in range(d.integer(0, 2)))
    ends = [0, *cut, a.shape[dim]]
    return [a], (tuple(int(n) for n in np.diff(ends)), dim, d.flag())


def slices(d: Draw) -> Any:
    a = d.array(d.shape(1))
    return [a], d.integer(0, a.ndim - 1)


def kept(xs: Any) -> Any:
    return [x for x in xs if x.shape != (0,)] or xs


CASES = [
    Case("cat", in_a_row, ref=lambda *xs: np.concatenate(xs[:-1], xs[-1])),
    Case(
        "cat", with_nothing, ref=lambda *xs: np.concatenate(kept(xs[:-1]), xs[-1]), name="with an empty one"
    ),
    Case("stack", side_by_side, ref=lambda *xs: np.stack(xs[:-1], xs[-1])),
    Case("block_diag", blocks, ref=block_diag),
    Case("split", parts, ref=lambda a, p: tuple(np.split(a, np.cumsum(p[0])[:-1], p[1]))),
    Case("unbind", slices, ref=lambda a, p: tuple(np.take(a, i, p) for i in range(a.shape[p]))),
]
