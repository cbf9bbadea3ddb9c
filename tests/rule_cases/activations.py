"""Cases of the activation functions and of the softmax family."""

from math import erf, pi, sqrt

import numpy as np
from rule_cases import Case, Draw, away, inputs, nonzero, real

phi = np.vectorize(lambda v: (1 + erf(v * sqrt(0.5))) / 2, otypes=[float])


def sigmoid(a: object) -> object:
    return 1 / (1 + np.exp(-a))  # type: ignore[operator]


def softplus(a: object, p: object = None) -> object:
    beta = p[0] if isinstance(p, tuple) else 1
    return np.log1p(np.exp(a * beta)) / beta  # type: ignore[operator]


def one_dim(d: Draw) -> object:
    a = d.array(d.shape())
    return [a], d.integer(0, max(a.ndim - 1, 0))


def some_dims(d: Draw) -> object:
    a = d.array(d.shape(empty=False))
    dims = tuple(i for i in range(a.ndim) if d.flag()) or tuple(range(a.ndim)) or None
    return [a], (dims, d.flag())


def softmax(a: object, p: int) -> object:
    a = np.asarray(a)
    if not a.size or not a.ndim:
        return np.ones_like(a)
    e = np.exp(a - a.max(p, keepdims=True))
    return e / e.sum(p, keepdims=True)


CASES = [
    Case("relu", inputs(away(0)), lambda a: np.maximum(a, 0)),
    Case("hardtanh", inputs(away(-1, 2), p=(-1.0, 2.0)), lambda a, p: np.clip(a, *p)),
    Case("leaky_relu", inputs(nonzero, p=0.1), lambda a, p: np.where(a > 0, a, p * a)),
    Case("prelu", inputs(nonzero, real), lambda a, b: np.where(a > 0, a, b * a)),
    Case("threshold", inputs(away(0.5), p=(0.5, -2.0)), lambda a, p: np.where(a > p[0], a, p[1])),
    Case("hardshrink", inputs(away(-0.5, 0.5), p=0.5), lambda a, p: np.where(np.abs(a) > p, a, 0)),
    Case(
        "softshrink", inputs(away(-0.5, 0.5), p=0.5), lambda a, p: np.sign(a) * np.maximum(np.abs(a) - p, 0)
    ),
    Case("hardsigmoid", inputs(away(-3, 3, low=-5, high=5)), lambda a: np.clip(a / 6 + 0.5, 0, 1)),
    Case("hardswish", inputs(away(-3, 3, low=-5, high=5)), lambda a: a * np.clip(a / 6 + 0.5, 0, 1)),
    Case(
        "elu",
        inputs(nonzero, p=(1.3, 1.1, 0.9)),
        lambda a, p: p[1] * np.where(a > 0, a, p[0] * np.expm1(np.minimum(a, 0) * p[2])),
    ),
    Case(
        "celu", inputs(nonzero, p=(2.0, 1.0, 0.5)), lambda a, p: np.where(a > 0, a, p[0] * np.expm1(a / p[0]))
    ),
    Case("softplus", inputs(real, p=(2, 20)), softplus),
    Case(
        "softplus", inputs(away(1), p=(1, 1)), lambda a, p: np.where(a > 1, a, softplus(a)), name="straight"
    ),
    Case("log_sigmoid", inputs(real), lambda a: -softplus(-a)),
    Case("silu", inputs(real), lambda a: a * sigmoid(a)),
    Case("mish", inputs(real), lambda a: a * np.tanh(softplus(a))),
    Case("gelu", inputs(real, p="none"), lambda a, p: a * phi(a)),
    Case(
        "gelu",
        inputs(real, p="tanh"),
        lambda a, p: a / 2 * (1 + np.tanh(sqrt(2 / pi) * (a + 0.044715 * a**3))),
        name="tanh",
    ),
    Case("softmax", one_dim, softmax),
    Case("log_softmax", one_dim, lambda a, p: np.log(softmax(a, p))),
    Case(
        "logsumexp",
        some_dims,
        lambda a, p: np.log(np.exp(a).sum(p[0], keepdims=p[1])),
    ),
]
