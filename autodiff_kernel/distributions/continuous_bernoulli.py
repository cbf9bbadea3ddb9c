"""The continuous Bernoulli distribution, for numbers in [0, 1] such as grey pixels (Loaiza-Ganem and Cunningham, 2019)."""

import math
from typing import Any

from . import constraints, functions
from .exp_family import ExponentialFamily
from .odds import Odds
from .utils import broadcast_all, clamp_probs, cross_entropy_of_logits, lazy_property, logits_to_probs


class ContinuousBernoulli(Odds, ExponentialFamily):
    """Numbers x in [0, 1] with density proportional to pˣ·(1 − p)^(1 − x) for p = `probs` (or log-odds `logits`).

    lims: between these p the formulas, which divide 0 by 0 at p = ½, are replaced by Taylor series.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.ContinuousBernoulli(0.3).sample((2,))
    tensor([0.3936, 0.6822])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if probs is not None and logits is None:
            (probs,) = broadcast_all(probs)
            if validate_args is not None and not self.arg_constraints["probs"].check(probs).all():
                raise ValueError("The parameter probs has invalid values")
            probs = clamp_probs(probs)
        self._lims = lims
        self._set_odds(probs, logits, validate_args)

    @lazy_property
    def probs(self) -> Any:
        """The parameter p."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self, exact: Any, taylor: Any) -> Any:
        """exact(p) where p is far enough from ½, else the Taylor series."""
        outside = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        cut = functions.where(outside, self.probs, self._lims[0])
        return functions.where(outside, exact(cut), taylor)

    def _log_norm(self) -> Any:
        def exact(p: Any) -> Any:
            low = functions.where(p <= 0.5, p, 0.0)
            high = functions.where(p >= 0.5, p, 1.0)
            distance = functions.where(p <= 0.5, (-2.0 * low).log1p(), (2.0 * high - 1.0).log())
            return ((-p).log1p() - p.log()).abs().log() - distance

        x = (self.probs - 0.5).pow(2)
        return self._stable(exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return self._stable(lambda p: p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log()), taylor)

    @property
    def variance(self) -> Any:
        def exact(p: Any) -> Any:
            return p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / ((-p).log1p() - p.log()).pow(2)

        x = (self.probs - 0.5).pow(2)
        return self._stable(exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(functions.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -cross_entropy_of_logits(*broadcast_all(self.logits, value)) + self._log_norm()

    def cdf(self, value: Any) -> Any:
        self._check(value)

        def exact(p: Any) -> Any:
            return (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)

        inside = self._stable(exact, value)
        return functions.where(value <= 0.0, 0.0, functions.where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Any) -> Any:
        def exact(p: Any) -> Any:
            top = (-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()
            return top / (p.log() - (-p).log1p())

        return self._stable(exact, value)

    def entropy(self) -> Any:
        log_0, log_1 = (-self.probs).log1p(), self.probs.log()
        return self.mean * (log_0 - log_1) - self._log_norm() - log_0
