"""Cases of the functions of one number."""

from math import erf, erfc, lgamma

import numpy as np
from rule_cases import Case, Domain, away, inputs, nonzero, positive, real, uniform, unit


def each(f: object) -> object:
    """A Python function applied to every element."""
    return np.vectorize(f, otypes=[float])  # type: ignore[call-overload]


def halves(low: float, high: float) -> Domain:
    """Numbers away from whole and half ones, where rounding jumps."""

    def domain(rng: np.random.Generator, shape: tuple[int, ...]) -> object:
        half = rng.integers(int(2 * low), int(2 * high), shape) / 2
        return np.asarray(half + rng.uniform(0.1, 0.4, shape))

    return domain


def digamma(x: object) -> object:
    """The derivative of lgamma as a difference of order 8."""
    h, steps = 0.05, (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    f = each(lgamma)
    return sum(c * (f(x + k * h) - f(x - k * h)) for k, c in enumerate(steps, 1)) / h  # type: ignore[operator]


CASES = [
    Case("abs", inputs(nonzero), np.abs),
    Case("sign", inputs(nonzero), np.sign),
    Case("sgn", inputs(nonzero), np.sign),
    Case("square", inputs(real), np.square),
    Case("sqrt", inputs(positive), np.sqrt),
    Case("rsqrt", inputs(positive), lambda a: 1 / np.sqrt(a)),
    Case("reciprocal", inputs(nonzero), np.reciprocal, tolerance=1e-5),
    Case("exp", inputs(real), np.exp),
    Case("exp2", inputs(real), np.exp2),
    Case("expm1", inputs(real), np.expm1),
    Case("log", inputs(positive), np.log),
    Case("log2", inputs(positive), np.log2),
    Case("log10", inputs(positive), np.log10),
    Case("log1p", inputs(positive), np.log1p),
    Case("sigmoid", inputs(real), lambda a: 1 / (1 + np.exp(-a))),
    Case("sin", inputs(real), np.sin),
    Case("cos", inputs(real), np.cos),
    Case("tan", inputs(unit), np.tan),
    Case("asin", inputs(unit), np.arcsin),
    Case("acos", inputs(unit), np.arccos),
    Case("atan", inputs(real), np.arctan),
    Case("deg2rad", inputs(real), np.deg2rad),
    Case("rad2deg", inputs(real), np.rad2deg),
    Case("sinc", inputs(nonzero), np.sinc),
    Case("sinh", inputs(real), np.sinh),
    Case("cosh", inputs(real), np.cosh),
    Case("tanh", inputs(real), np.tanh),
    Case("asinh", inputs(real), np.arcsinh),
    Case("acosh", inputs(uniform(1.2, 4)), np.arccosh),
    Case("atanh", inputs(unit), np.arctanh),
    Case("logit", lambda d: ([d.array(d.shape(), uniform(0.1, 0.9))], None), lambda a: np.log(a / (1 - a))),
    Case(
        "logit",
        inputs(away(0.2, 0.8, low=0.01, high=0.99), p=0.2),
        lambda a, p: (lambda x: np.log(x / (1 - x)))(np.clip(a, p, 1 - p)),
        name="eps",
    ),
    # rounding
    Case("floor", inputs(halves(-3, 3)), np.floor),
    Case("ceil", inputs(halves(-3, 3)), np.ceil),
    Case("trunc", inputs(halves(-3, 3)), np.trunc),
    Case("round", inputs(halves(-3, 3)), np.round),
    Case("round_decimals", inputs(halves(-3, 3), p=-1), lambda a, p: np.round(a, p)),
    Case("frac", inputs(halves(-3, 3)), lambda a: a - np.trunc(a)),
    Case("frexp", inputs(away(-2, -1, -0.5, 0, 0.5, 1, 2)), np.frexp),
    Case("nan_to_num", inputs(real, p=(0.0, None, None)), lambda a, p: a),
    # special functions
    Case("erf", inputs(real), each(erf)),
    Case("erfc", inputs(real), each(erfc)),
    Case("erfinv", inputs(unit), name="unit"),
    Case("lgamma", inputs(uniform(0.6, 9)), each(lgamma)),
    Case("lgamma", inputs(halves(-3, 0)), each(lgamma), name="negative", tolerance=1e-5),
    Case("digamma", inputs(uniform(0.9, 9))),
    Case("digamma", inputs(halves(-3, 0)), name="negative", tolerance=1e-4),
    Case("polygamma", inputs(uniform(0.9, 9), p=2), tolerance=1e-5),
    Case("polygamma", inputs(halves(-2, 0), p=1), name="negative", tolerance=1e-3),
    Case("mvlgamma", inputs(uniform(2.1, 9), p=3)),
]
