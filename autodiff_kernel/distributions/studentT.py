"""Student's t distribution."""

import math
from typing import Any

from . import constraints, functions
from .chi2 import Chi2
from .distribution import Distribution
from .utils import standard_normal


class StudentT(Distribution):
    """loc + scale·x/√(z/df) for normal numbers x and sums z of `df` squares of others.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.StudentT(2.).sample((2,))
    tensor([ 1.3801, -0.2859])
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._set(validate_args, df=df, loc=loc, scale=scale)
        self._chi2 = Chi2(self.df)

    @property
    def mean(self) -> Any:
        """nan for df up to 1."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """inf for df up to 2, nan up to 1."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return functions.where(self.df > 2, finite, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        x = standard_normal(self._extended_shape(sample_shape), self.df)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        df = self.df
        y = (value - self.loc) / self.scale
        normalizer = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        normalizer = normalizer + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - normalizer

    def entropy(self) -> Any:
        df, half, more = self.df, 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * df.log() + log_beta
