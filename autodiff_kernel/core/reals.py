"""Rows that take no complex numbers, and PyTorch's words for it.

NumPy orders complex numbers by their real parts and rounds both parts, so many of these rows would give something.
But neither an order nor a derivative stands behind it, and PyTorch refuses.
"""

from typing import Any

import numpy as np

from . import dtype as dtypes
from .errors import explain

WORDS: dict[str, tuple[type[RuntimeError], str]] = {  # row -> exception, text ({0}: the dtype's name in C++)
    "sign": (
        NotImplementedError,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    ),
    "signbit": (NotImplementedError, "signbit is not implemented for complex tensors."),
    "heaviside": (RuntimeError, "heaviside is not yet implemented for complex tensors."),
}
for _name in ("floor", "ceil", "trunc"):
    WORDS[_name] = NotImplementedError, f"{_name} is not supported for complex inputs"
for _name in ("deg2rad", "rad2deg"):
    WORDS[_name] = RuntimeError, f"{_name} is not supported for complex tensors."
for _name in ("maximum", "minimum", "fmax", "fmin"):
    WORDS[_name] = RuntimeError, f"{_name} not implemented for complex tensors."
for _name in (
    "relu",
    "hardtanh",
    "clamp",
    "clamp_one_sided",
    "clamp_tensors",
    "clamp_min_tensor",
    "clamp_max_tensor",
):
    WORDS[_name] = NotImplementedError, "clamp is not supported for complex types"

KERNELS = {  # row -> PyTorch's kernel
    "round": "round_vml_cpu", "round_decimals": "round_cpu", "frac": "frac_cpu", "erf": "erf_vml_cpu",
    "erfc": "erfc_vml_cpu", "erfinv": "erfinv_vml_cpu", "lgamma": "lgamma_vml_cpu", "digamma": "digamma",
    "polygamma": "trigamma", "mvlgamma": "arange_cpu", "logit": "logit_cpu", "kthvalue": "kthvalue_cpu",
    "leaky_relu": "leaky_relu_cpu", "prelu": "prelu_cpu", "threshold": "threshold_cpu",
    "hardshrink": "hardshrink_cpu", "softshrink": "softshrink_check", "hardsigmoid": "hardsigmoid_cpu",
    "hardswish": "hardswish_cpu", "elu": "elu_cpu", "celu": "elu_cpu", "softplus": "softplus_cpu",
    "log_sigmoid": "log_sigmoid_cpu", "mish": "mish_cpu", "gelu": "GeluKernelImpl", "hypot": "hypot_cpu",
    "atan2": "atan2_cpu", "logaddexp2": "logaddexp2_cpu", "xlogy": "xlogy_cpu", "xlogy_number": "xlogy_cpu",
    "copysign": "copysign_cpu", "copysign_number": "copysign_cpu", "nextafter": "nextafter_cpu",
    "div_floor": "div_floor_cpu", "div_trunc": "div_trunc_cpu", "floor_divide": "div_floor_cpu",
    "remainder": "remainder_cpu", "remainder_number": "remainder_cpu", "fmod": "fmod_cpu",
    "fmod_number": "fmod_cpu", "lt": "lt_cpu", "le": "le_cpu", "gt": "gt_cpu", "ge": "ge_cpu",
}  # fmt: skip
for _name, _kernel in KERNELS.items():
    WORDS[_name] = NotImplementedError, f"\"{_kernel}\" not implemented for '{{0}}'"


def refusal(words: tuple[type[RuntimeError], str], raws: Any) -> RuntimeError:
    """The error for these inputs, one of which is complex."""
    kind, text = words
    dtype = next(r.dtype for r in raws if getattr(getattr(r, "dtype", None), "kind", "") == "c")
    name = dtypes.of(np.dtype(dtype)).scalar_type
    return explain(
        kind,
        text.format(name),
        "Complex numbers have no order, and this operation is one for real numbers.",
        "take a real number of each first: x.real, x.imag, x.abs() or x.angle().",
    )
