"""Cases of the rows that change a tensor's dtype or device."""

import numpy as np
from rule_cases import Case, inputs, real

from autodiff_kernel.core import device

WIDE = np.dtype(np.float64)


CASES = [
    Case("clone", inputs(real), np.copy),
    Case("cast", inputs(real, p=(WIDE, WIDE)), lambda a, p: a, float32=False),  # the row's meaning is a dtype
    Case(
        "move", inputs(real, p=(device.CPU, device.CPU)), lambda a, p: a, gpu=False
    ),  # it would leave the GPU
]
