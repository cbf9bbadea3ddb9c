"""Cases of where, clamp, maximum and minimum."""

import numpy as np
from rule_cases import Case, Draw, away, booleans, inputs, real


def apart(d: Draw) -> object:
    """Two inputs that are nowhere equal."""
    a, b = d.shapes(2)
    x = d.array(a)
    y = d.array(b)
    z = np.where(np.abs(x - y) < 0.05, x + 0.5, y)
    return [x, z]


def limits(d: Draw) -> list[object]:
    """A tensor and its limits, of which one may be missing and which may be the wrong way round."""
    shape = d.shape()
    a = d.array(shape, away(-1, 1, 0.5))
    low = np.where(d.rng.integers(0, 2, shape) > 0, -1.0, 1.0)
    high = np.full(shape, 0.5)
    missing = d.integer(0, 2)
    return [a, None if missing == 1 else low, None if missing == 2 else high]


def clipped(a: object, low: object, high: object) -> object:
    return np.asarray(np.clip(a, low, high))  # type: ignore[arg-type]


CASES = [
    Case("where", inputs(booleans, real, real), np.where),
    Case("maximum", apart, np.maximum),
    Case("minimum", apart, np.minimum),
    Case("fmax", apart, np.fmax),
    Case("fmin", apart, np.fmin),
    Case("clamp", inputs(away(-1, 0.5), p=(-1.0, 0.5)), lambda a, p: np.clip(a, *p)),
    Case("clamp_one_sided", inputs(away(-1), p=(-1.0, None)), lambda a, p: np.clip(a, *p), name="low"),
    Case("clamp_one_sided", inputs(away(1), p=(None, 1.0)), lambda a, p: np.clip(a, *p), name="high"),
    Case("clamp_tensors", limits, clipped),
    Case("clamp_min_tensor", apart, np.maximum),
    Case("clamp_max_tensor", apart, np.minimum),
]
