"""The F distribution of Fisher and Snedecor: quotients of variances."""

import math
from typing import Any

from ..core.dtype import finfo
from . import constraints
from .distribution import Distribution
from .gamma import Gamma


class FisherSnedecor(Distribution):
    """Quotients of two sums of squares of `df1` and `df2` normal numbers, each divided by its number.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.FisherSnedecor(2., 3.).sample((2,))
    tensor([12.5844,  3.1833])
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._set(validate_args, df1=df1, df2=df2)
        self._gamma1, self._gamma2 = (Gamma(df * 0.5, df) for df in (self.df1, self.df2))

    @property
    def mean(self) -> Any:
        """nan for df2 up to 2."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """nan for df1 up to 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """nan for df2 up to 4."""
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        x1, x2 = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = finfo(x2.dtype).tiny
        return (x1 / x2.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        total = half1 + half2
        normalizer = total.lgamma() - half1.lgamma() - half2.lgamma()
        weight = half1 * ratio.log() + (half1 - 1) * value.log()
        return normalizer + weight - total * (ratio * value).log1p()
