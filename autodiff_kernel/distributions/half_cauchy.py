"""The half-Cauchy distribution."""

import math
from typing import Any

from . import constraints
from .cauchy import Cauchy
from .half import Half


class HalfCauchy(Half):
    """|x| for Cauchy numbers x around 0.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.HalfCauchy(1.).sample((2,))
    tensor([10.5977,  0.7648])
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Any:
        """inf."""
        return self.base_dist._constant(math.inf)

    @property
    def variance(self) -> Any:
        """inf."""
        return self.base_dist.variance
