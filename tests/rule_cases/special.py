"""Cases of torch.special's own rows."""

from math import erf, erfc, sqrt

import numpy as np
from rule_cases import Case, constant, inputs, nonzero, number, positive, real, uniform, unit
from rule_cases.elementwise import each


def entr(a: object) -> object:
    return -a * np.log(a)  # type: ignore[operator]


CASES = [
    Case("i0", inputs(real), np.i0),
    Case("i0", inputs(uniform(7, 12)), np.i0, name="large", tolerance=1e-5),
    Case("special_i0e", inputs(nonzero), lambda a: np.i0(a) * np.exp(-abs(a))),
    Case("special_i1", inputs(real)),
    Case("special_i1", inputs(uniform(-12, -7)), name="large", tolerance=1e-5),
    Case("special_i1e", inputs(nonzero)),
    Case("special_erfcx", inputs(unit), each(lambda x: np.exp(x * x) * erfc(x))),
    Case("special_ndtr", inputs(real), each(lambda x: (1 + erf(x / sqrt(2))) / 2)),
    Case("special_log_ndtr", inputs(real), each(lambda x: np.log((1 + erf(x / sqrt(2))) / 2))),
    Case("special_log_ndtr", inputs(uniform(-40, -10)), name="tail", tolerance=1e-5),
    Case("special_ndtri", inputs(uniform(0.1, 0.9))),
    Case("special_ndtri", inputs(uniform(0.002, 0.05)), name="tail", tolerance=1e-4),
    Case("special_entr", inputs(positive), entr),
    Case("special_xlog1py", inputs(real, positive), lambda a, b: a * np.log1p(b)),
    Case("special_xlog1py", inputs(real, number(0.5, 2)), lambda a, b: a * np.log1p(b), name="number"),
    Case("special_xlog1py", inputs(constant(2), positive), lambda a, b: a * np.log1p(b), name="number first"),
    # PyTorch has no derivative for the first argument, so that is a number here
    Case("igamma", inputs(number(0.7, 9), uniform(0.5, 9)), syncs=True),
    Case("igamma", inputs(number(110, 130), uniform(100, 140)), name="large", syncs=True),
    Case("igammac", inputs(number(0.7, 9), uniform(0.5, 9)), syncs=True),
    Case("special_zeta", inputs(number(1.5, 9), uniform(0.7, 9)), name="", syncs=True, tolerance=1e-5),
]
