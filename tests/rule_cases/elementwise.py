"""Cases of the functions of one number."""

import numpy as np
from rule_cases import Case, away, inputs, nonzero, positive, real

CASES = [
    Case("exp", inputs(real), np.exp),
    Case("log", inputs(positive), np.log),
    Case("tanh", inputs(real), np.tanh),
    Case("sin", inputs(real), np.sin),
    Case("cos", inputs(real), np.cos),
    Case("reciprocal", inputs(nonzero), np.reciprocal),
    Case("relu", inputs(away(0)), lambda a: np.maximum(a, 0)),
]
