"""How parameters begin: PyTorch's numbers, drawn in its order."""

import math
from math import prod
from typing import Any

from ...core import modes
from ...core.api import FUNCTIONS
from ..parameter import Parameter


def parameter(*shape: int, device: Any = None, dtype: Any = None) -> Any:
    """A parameter of this shape, not filled yet."""
    return Parameter(FUNCTIONS["empty"](shape, device=device, dtype=dtype))


def uniform(bound: float, *tensors: Any) -> None:
    """Numbers between −bound and bound, for one tensor after the other."""
    with modes.no_grad():
        for t in tensors:
            if t is not None:
                t.uniform_(-bound, bound)


def fan_in(weight: Any) -> int:
    """How many inputs each output has."""
    return int(prod(weight.shape[1:]))


def layer(weight: Any, bias: Any) -> None:
    """A linear layer's or a convolution's: kaiming_uniform with a = √5, and the bias within 1/√fan_in."""
    fan = fan_in(weight)
    if fan:
        gain = math.sqrt(2.0 / (1 + math.sqrt(5) ** 2))
        uniform(math.sqrt(3.0) * (gain / math.sqrt(fan)), weight)
    if bias is not None:
        uniform(1 / math.sqrt(fan) if fan else 0, bias)


def normal(t: Any) -> None:
    """Numbers of the standard normal distribution."""
    with modes.no_grad():
        t.normal_()


def xavier(weight: Any) -> None:
    """Uniform numbers of variance 2 / (fan_in + fan_out)."""
    uniform(math.sqrt(3.0) * math.sqrt(2.0 / (weight.shape[0] + weight.shape[1])), weight)


def full(t: Any, value: float) -> None:
    """One number."""
    if t is not None:
        with modes.no_grad():
            t.fill_(value)
