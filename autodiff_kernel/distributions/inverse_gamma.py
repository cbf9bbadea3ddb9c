"""The inverse gamma distribution."""

import math
from typing import Any

from . import constraints, functions
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform


class InverseGamma(TransformedDistribution):
    """1/x for gamma numbers x.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.InverseGamma(2., 3.).sample((2,))
    tensor([0.6590, 2.2799])
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base_dist = Gamma(concentration, rate, validate_args)
        super().__init__(base_dist, PowerTransform(-base_dist.rate.new_ones(())), validate_args)

    @property
    def concentration(self) -> Any:
        """That of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """That of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        """inf for a concentration up to 1."""
        a = self.concentration
        return functions.where(a > 1, self.rate / (a - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """inf for a concentration up to 2."""
        a = self.concentration
        return functions.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
