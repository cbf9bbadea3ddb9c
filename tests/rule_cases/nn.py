"""Cases of what layers compute: losses, embeddings, standardization."""

from typing import Any

import numpy as np

from . import Case, Draw, away, real

REDUCTIONS = ("none", "mean", "sum")


def pair(number: Any = None, first: Any = real, second: Any = real) -> Any:
    def draw(d: Draw) -> Any:
        shape = d.shape(empty=False)
        return [d.array(shape, first), d.array(shape, second)], (d.choice(REDUCTIONS), number)

    return draw


def apart(number: Any) -> Any:
    """Differences that keep away from the kinks at 0 and ±number."""

    def draw(d: Draw) -> Any:
        b = d.array(d.shape(empty=False))
        steps = d.array(b.shape, away(0.0, number, -number))
        return [b + steps, b], (d.choice(REDUCTIONS), number)

    return draw


def inside(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(0.1, 0.9, shape)


def reduce(y: Any, reduction: str) -> Any:
    return y if reduction == "none" else y.mean() if reduction == "mean" else y.sum()


def huber(a: Any, b: Any, p: Any) -> Any:
    d, delta = abs(a - b), p[1]
    return reduce(np.where(d <= delta, d * d / 2, delta * (d - delta / 2)), p[0])


def smooth(a: Any, b: Any, p: Any) -> Any:
    d, beta = abs(a - b), p[1]
    return reduce(np.where(d < beta, d * d / (2 * beta), d - beta / 2), p[0])


# ------------------------------------------------------------------------------------------------ classes
def draw_nll(d: Draw) -> Any:
    n, classes = d.integer(1, 4), d.integer(2, 4)
    shape = (n, classes, *[d.integer(1, 2) for _ in range(d.integer(0, 1))])
    target = d.rng.integers(0, classes, (n, *shape[2:]))
    target.flat[0] = 0
    if d.flag() and target.size > 1:
        target.flat[-1] = -100
    weight = d.rng.uniform(0.5, 2, classes) if d.flag() else None
    return [d.array(shape), target, weight], (d.choice(REDUCTIONS), -100, shape)


def draw_nll_back(d: Draw) -> Any:
    (x, target, weight), p = draw_nll(d)
    g = d.array(target.shape if p[0] == "none" else ())
    return [np.asarray(g), target, weight], p


def nll(a: Any, t: Any, w: Any, p: Any) -> Any:
    kept = t != -100
    weight = (np.ones(a.shape[1]) if w is None else w)[t * kept] * kept
    y = -weight * np.take_along_axis(a, (t * kept)[:, None], 1)[:, 0]
    return y if p[0] == "none" else y.sum() / weight.sum() if p[0] == "mean" else y.sum()


# ------------------------------------------------------------------------------------------------ rows by number
def draw_embedding(d: Draw) -> Any:
    rows = d.integer(2, 4)
    index = d.rng.integers(0, rows, d.shape(1, 2, empty=False))
    return [d.array((rows, d.integer(1, 3))), index], (rows, -1, False)


def draw_embedding_back(d: Draw) -> Any:
    rows = d.integer(2, 4)
    index = d.rng.integers(0, rows, d.shape(1, 2, empty=False))
    index.flat[0] = 1
    padding = 0 if d.flag() else -1
    return [d.array((*index.shape, d.integer(1, 3))), index], (rows, padding, d.flag())


def draw_picked(d: Draw) -> Any:
    (a, index), _ = draw_embedding(d)
    index.flat[0] = 1
    return [a, index], (len(a), 0 if d.flag() else -1, d.flag())


# ------------------------------------------------------------------------------------------------ standardization
def draw_standardize(d: Draw) -> Any:
    a = d.array((d.integer(1, 3), d.integer(2, 4), d.integer(2, 3)))
    return [a], (d.choice([(2,), (1, 2), (0, 2), (1,)]), 0.1)


def standardize(a: Any, p: Any) -> Any:
    centred = a - a.mean(p[0], keepdims=True)
    r = 1 / np.sqrt((centred**2).mean(p[0], keepdims=True) + p[1])
    return centred * r, r


CASES = [
    Case("mse_loss", pair(), ref=lambda a, b, p: reduce((a - b) ** 2, p[0])),
    Case("l1_loss", apart(0.0), ref=lambda a, b, p: reduce(abs(a - b), p[0])),
    Case("smooth_l1_loss", apart(0.7), ref=smooth),
    Case("huber_loss", apart(0.7), ref=huber),
    Case("soft_margin_loss", pair(), ref=lambda a, b, p: reduce(np.log1p(np.exp(-a * b)), p[0])),
    Case(
        "binary_cross_entropy", pair(None, inside, inside),
        ref=lambda a, b, p: reduce(-b * np.log(a) - (1 - b) * np.log(1 - a), p[0]),
    ),
    Case(
        "binary_cross_entropy_with_logits", pair(None, away(0.0), inside),
        ref=lambda a, b, p: reduce(np.log1p(np.exp(a)) - a * b, p[0]),
    ),
    Case("nll_loss", draw_nll, ref=nll),
    Case("nll_loss_backward", draw_nll_back),
    Case("embedding", draw_embedding, ref=lambda a, i, p: a[i]),
    Case("embedding_dense_backward", draw_embedding_back),
    Case("embedding_picked", draw_picked),
    Case("standardize", draw_standardize, ref=standardize),
]  # fmt: skip
