"""Distributions that are symmetric about a location."""

from typing import Any

from . import constraints
from .distribution import Distribution


class Symmetric(Distribution):
    """A distribution with one peak, at `loc`, about which it is symmetric: mean and mode lie there."""

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc


class LocationScale(Symmetric):
    """Numbers loc + scale·z, z of one standard distribution: differentiable functions of both parameters."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._set(validate_args, loc=loc, scale=scale)
