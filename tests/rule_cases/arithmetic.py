"""Cases of the arithmetic rows, of division, and of the functions of two or three numbers."""

import numpy as np
from rule_cases import Case, Draw, away, constant, inputs, nonzero, number, positive, real, uniform


def quotients(d: Draw) -> list[object]:
    """Inputs whose quotient is not near a whole number."""
    a, b = d.shapes(2)
    divisor = d.array(b, away(0, low=-2, high=2))
    divisor = np.where(np.abs(divisor) < 0.4, 0.7, divisor)
    whole = d.rng.integers(-3, 4, np.broadcast_shapes(a, b))
    fraction = d.rng.uniform(0.2, 0.8, whole.shape)
    if a != whole.shape:  # a smaller dividend: one divisor for all
        return [np.full(a, 5.3), np.full(b, 1.7)]
    return [np.asarray((whole + fraction) * divisor), divisor]


def by_number(d: Draw) -> list[object]:
    shape = d.shape()
    return [np.asarray((d.rng.integers(-3, 4, shape) + d.rng.uniform(0.2, 0.8, shape)) * 1.7), 1.7]


def powers(d: Draw) -> list[object]:
    """Bases and exponents of which some are 0."""
    a, b = d.shapes(2)
    return [d.array(a, positive), np.where(d.rng.integers(0, 3, b) == 0, 0.0, d.array(b))]


def signs(d: Draw) -> list[object]:
    a, b = d.shapes(2)
    return [d.array(a, nonzero), d.array(b, nonzero)]


CASES = [
    Case("add", inputs(real, real), np.add),
    Case("sub", inputs(real, real), np.subtract),
    Case("rsub", inputs(real, real), lambda a, b: b - a),
    Case("mul", inputs(real, real), np.multiply),
    Case("mul", inputs(real, number(-2, 2)), np.multiply, name="number"),
    Case("div", inputs(real, nonzero), np.divide),
    Case("div", inputs(real, number(1, 3)), np.divide, name="number"),
    Case("neg", inputs(real), np.negative),
    Case("pow_number", inputs(positive, number(-2, 3)), np.power),
    Case("pow_number", inputs(real, constant(2)), np.power, name="2"),
    Case("pow_number", inputs(real, constant(3)), np.power, name="3"),
    Case("pow_number", inputs(positive, constant(0)), np.power, name="0"),
    Case("pow", inputs(positive, real), np.power),
    Case(
        "pow", powers, np.power, name="0", second=False
    ),  # PyTorch's gradient for the base is 0 at exponent 0
    Case("pow_base", inputs(number(0.5, 3), real), np.power),
    Case("pow_base", inputs(constant(0), positive), np.power, name="0"),
    # division
    Case("div_floor", quotients, np.floor_divide),
    Case("div_trunc", quotients, lambda a, b: np.trunc(a / b)),
    Case("remainder", quotients, np.remainder),
    Case("remainder_number", by_number, np.remainder),
    Case("fmod", quotients, np.fmod),
    Case("fmod_number", by_number, np.fmod),
    # two numbers
    Case("hypot", inputs(nonzero, nonzero), np.hypot),
    Case("atan2", inputs(nonzero, nonzero), np.arctan2),
    Case("logaddexp", inputs(real, real), np.logaddexp),
    Case("logaddexp2", inputs(real, real), np.logaddexp2),
    Case("xlogy", inputs(nonzero, positive), lambda a, b: a * np.log(b)),
    Case("xlogy_number", inputs(real, number(0.5, 3)), lambda a, b: a * np.log(b)),
    Case("copysign", signs, np.copysign),
    Case("copysign_number", inputs(nonzero, number(-2, -1)), np.copysign),
    Case("nextafter", inputs(real, away(low=4, high=5)), np.nextafter),
    Case("ldexp", inputs(real, real), lambda a, b: a * 2**b),
    # three numbers
    Case("addcmul", inputs(real, real, real, p=0.7), lambda a, b, c, p: a + p * b * c),
    Case("addcmul", inputs(real, real, real, p=1), lambda a, b, c, p: a + b * c, name="1"),
    Case("addcdiv", inputs(real, real, uniform(0.5, 2), p=0.7), lambda a, b, c, p: a + p * b / c),
    Case("lerp", inputs(real, real, p=0.3), lambda a, b, p: a + p * (b - a)),
    Case("lerp", inputs(real, real, p=0.8), lambda a, b, p: a + p * (b - a), name="far"),
    Case("lerp_tensor", inputs(real, real, uniform(-0.5, 1.5)), lambda a, b, w: a + w * (b - a)),
]
