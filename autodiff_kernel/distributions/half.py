"""Halves of symmetric distributions: absolute values."""

import math
from typing import Any

from . import functions
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Half(TransformedDistribution):
    """|x| for x from a distribution that is symmetric around 0, whose parameter is `scale`."""

    def __init__(self, base_dist: Any, validate_args: bool | None = None) -> None:
        super().__init__(base_dist, AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        """That of the whole distribution."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return functions.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        value = functions.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return functions.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
