"""The half-normal distribution."""

import math
from typing import Any

from . import constraints
from .half import Half
from .normal import Normal


class HalfNormal(Half):
    """|x| for normal numbers x of mean 0 and standard deviation `scale`.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.HalfNormal(1.).sample((2,))
    tensor([1.5410, 0.2934])
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)
