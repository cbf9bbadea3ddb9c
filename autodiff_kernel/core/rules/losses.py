"""Losses: rows that compare a prediction with a target element by element and reduce, and the one that picks a class."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import device as devices
from ..op import TABLE, Op
from .elementwise import exp
from .reductions import sum_row
from .shapes import expand_row

NONE, MEAN, SUM = "none", "mean", "sum"


def reduced(x: Any, reduction: str) -> Any:
    """x itself, its mean or its sum; x raw, or a Tensor."""
    if reduction == NONE:
        return x
    total = sum_row(x, p=(None, False))
    if reduction == SUM:
        return total
    count = math.prod(x.shape)
    return total / count if count else total * math.nan


def shared(g: Any, shape: tuple[int, ...], reduction: str) -> Any:
    """The cotangent of each element before the reduction."""
    if reduction == NONE:
        return g
    g = expand_row(g, p=shape)
    return g / max(math.prod(shape), 1) if reduction == MEAN else g


def absolute(x: Any) -> Any:
    return TABLE["abs"](x)


def sign(x: Any) -> Any:
    return TABLE["sign"](x)


def compared(name: str, value: Callable[..., Any], slope: Callable[..., Any], other: Callable[..., Any], doc: str,
             latex: str, partial: str, node: str = "", reads: str = "ab") -> Op:  # fmt: skip
    """A row of two tensors of one shape, p = (reduction, number): value(a, b, number), and its derivatives."""

    def fwd(a: Any, b: Any, p: Any) -> Any:
        y = value(a, b, p[1])
        if p[0] == NONE:
            return y
        if p[0] == SUM:
            return y.sum(dtype=y.dtype)
        return y.mean(dtype=y.dtype) if y.size else y.sum(dtype=y.dtype) * math.nan

    def tangent(ts: Any, n: Any) -> Any:
        total = None
        for t, f in zip(ts, (slope, other)):
            if t is not None:
                term = t * f(n.a, n.b, n.p[1])
                total = term if total is None else total + term
        return reduced(total, n.p[0])

    return Op(
        name, fwd, lambda g, n: shared(g, n.sa, n.p[0]) * slope(n.a, n.b, n.p[1]),
        lambda g, n: shared(g, n.sa, n.p[0]) * other(n.a, n.b, n.p[1]), reads=(reads, reads), jvp=tangent, params=True,
        partials=(partial, "see the first"), latex=latex, doc=doc, node=node,
        batch="compared",
    )  # fmt: skip


def _smooth(a: Any, b: Any, beta: float) -> Any:
    d = np.abs(a - b)
    return np.where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta) if beta else d


def _smooth_slope(a: Any, b: Any, beta: float) -> Any:
    d = a - b
    if not beta:
        return sign(d)
    near = absolute(d) < beta
    return where(near, d * (1 / beta), sign(d))


def where(condition: Any, x: Any, y: Any) -> Any:
    return TABLE["where"](condition, x, y)


def _huber(a: Any, b: Any, delta: float) -> Any:
    d = np.abs(a - b)
    return np.where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta).astype(a.dtype)


def _huber_slope(a: Any, b: Any, delta: float) -> Any:
    d = a - b
    return where(absolute(d) <= delta, d, sign(d) * delta)


mse_row = compared(
    "mse_loss", lambda a, b, _: (lambda d: d * d)(a - b), lambda a, b, _: (a - b) * 2, lambda a, b, _: (b - a) * 2,
    "The squared differences, or their mean or sum.", r"({a} - {b})^2", "2 ({a} − {b})",
)  # fmt: skip
l1_row = compared(
    "l1_loss", lambda a, b, _: np.abs(a - b), lambda a, b, _: sign(a - b), lambda a, b, _: sign(b - a),
    "The absolute differences, or their mean or sum.", r"|{a} - {b}|", "sign({a} − {b})",
)  # fmt: skip
smooth_l1_row = compared(
    "smooth_l1_loss", _smooth, _smooth_slope, lambda a, b, p: -_smooth_slope(a, b, p),
    "Squared for small differences, absolute for large ones.", r"\text{{smooth}}_1({a} - {b})",
    "({a} − {b})/β, at most 1", node="SmoothL1LossBackward0",
)  # fmt: skip
huber_row = compared(
    "huber_loss", _huber, _huber_slope, lambda a, b, p: -_huber_slope(a, b, p),
    "Half the square of small differences, linear for large ones.", r"\text{{huber}}({a} - {b})",
    "{a} − {b}, at most δ",
)  # fmt: skip
soft_margin_row = compared(
    "soft_margin_loss", lambda a, b, _: np.log1p(np.exp(-a * b)), lambda a, b, _: -b / (exp(a * b) + 1),
    lambda a, b, _: -a / (exp(a * b) + 1), "log(1 + exp(−xy)).", r"\log(1 + e^{{-{a}{b}}})", "−{b} / (1 + exp({a}{b}))",
)  # fmt: skip


def _entropy(a: Any, b: Any, _: Any) -> Any:
    one = a.dtype.type(1)
    return (b - one) * np.maximum(np.log1p(-a), a.dtype.type(-100)) - b * np.maximum(
        np.log(a), a.dtype.type(-100)
    )


def _entropy_slope(a: Any, b: Any, _: Any) -> Any:
    return (a - b) / TABLE["clamp"](a * (1 - a), p=(1e-12, None))


def _entropy_other(a: Any, b: Any, _: Any) -> Any:
    log, clamp = TABLE["log"], TABLE["clamp"]
    return clamp(log(1 - a), p=(-100.0, None)) - clamp(log(a), p=(-100.0, None))


bce_row = compared(
    "binary_cross_entropy", _entropy, _entropy_slope, _entropy_other,
    "−(y log x + (1−y) log(1−x)), the logarithms at least −100.", r"-{b} \log {a} - (1 - {b}) \log(1 - {a})",
    "({a} − {b}) / ({a} (1 − {a}))",
)  # fmt: skip


def _logits(a: Any, b: Any, _: Any) -> Any:
    return np.maximum(a, 0) - a * b + np.log1p(np.exp(-np.abs(a)))


bce_logits_row = compared(
    "binary_cross_entropy_with_logits", _logits, lambda a, b, _: TABLE["sigmoid"](a) - b, lambda a, b, _: -a,
    "The binary cross entropy of sigmoid(x), without overflow.", r"\log(1 + e^{{{a}}}) - {a}{b}", "σ({a}) − {b}",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ one class of several
def _weights(t: Any, w: Any, ignore: int, like: Any) -> tuple[Any, Any]:
    """(class numbers that can index, weight of each sample)."""
    kept = t != ignore
    safe = t * kept
    if w is None:
        return safe, kept.astype(like.dtype)
    return safe, (w[safe] * kept).astype(like.dtype)


def _nll(a: Any, t: Any, w: Any, p: Any) -> Any:
    reduction, ignore, _ = p
    safe, weight = _weights(t, w, ignore, a)
    at = np.expand_dims(safe, 1)
    picked = np.take_along_axis(a, at, 1)[:, 0]
    y = picked * -weight
    if reduction == NONE:
        return y
    total = y.sum(dtype=a.dtype)
    return total / weight.sum(dtype=a.dtype) if reduction == MEAN else total


def _nll_back(g: Any, t: Any, w: Any, p: Any) -> Any:
    reduction, ignore, shape = p
    safe, weight = _weights(t, w, ignore, g)
    if reduction == MEAN:
        weight = weight / weight.sum(dtype=g.dtype)
    out = devices.zeros(shape, g.dtype, like=g)
    np.put_along_axis(out, np.expand_dims(safe, 1), np.expand_dims(-weight * g, 1), 1)
    return out


# p is (reduction, ignore_index, shape of the input)
nll_row: Op = Op(
    "nll_loss", _nll, a=lambda g, n: nll_back(g, n.b, n.c, p=n.p), reads=("bc",),
    jvp=lambda ts, n: nll_row(ts[0], n.b, n.c, p=n.p), params=True,
    node=lambda p: "NllLossBackward0" if len(p[2]) == 2 else "NllLoss2DBackward0",
    partials=("−weight at the class, else 0",), latex=r"-{a}_{{{b}}}", doc="Minus the input at each sample's class.",
)  # fmt: skip
nll_back: Op = Op(
    "nll_loss_backward", _nll_back, a=lambda g, n: nll_row(g, n.b, n.c, p=n.p), reads=("bc",),
    jvp=lambda ts, n: nll_back(ts[0], n.b, n.c, p=n.p), params=True,
    symbol="nllᵀ", partials=("−weight",), doc="Minus the weight at each sample's class, else zero.",
)  # fmt: skip
