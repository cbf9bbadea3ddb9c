"""Cases of the arithmetic rows."""

import numpy as np
from rule_cases import Case, inputs, nonzero, number, positive, real

CASES = [
    Case("add", inputs(real, real), np.add),
    Case("sub", inputs(real, real), np.subtract),
    Case("rsub", inputs(real, real), lambda a, b: b - a),
    Case("mul", inputs(real, real), np.multiply),
    Case("mul", inputs(real, number(-2, 2)), np.multiply, name="number"),
    Case("div", inputs(real, nonzero), np.divide),
    Case("neg", inputs(real), np.negative),
    Case("pow_number", inputs(positive, number(-2, 3)), np.power),
    Case("pow", inputs(positive, real), np.power),
]
