"""Exponential families: distributions whose density is exp(θ·t(x) − A(θ)) times something that θ does not touch."""

from typing import Any

from ..autograd import grad
from .distribution import Distribution


class ExponentialFamily(Distribution):
    """A distribution with natural parameters θ and a log normalizer A(θ), from which the entropy follows.

    The gradient of A is the expected value of t(x), so the entropy is A(θ) − θ·∇A(θ) less the mean of the carrier.
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Any:
        carrier = self._mean_carrier_measure
        theta = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*theta)
        result = normalizer - carrier
        for p, slope in zip(theta, grad(normalizer.sum(), theta, create_graph=True), strict=True):
            result = result - (p * slope).reshape(*self._batch_shape, -1).sum(-1)
        return result
