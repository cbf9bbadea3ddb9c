"""The Bernoulli distribution: 1 or 0."""

import math
from typing import Any

from ..core.modes import no_grad
from . import constraints, functions
from .exp_family import ExponentialFamily
from .odds import Odds
from .utils import broadcast_all, cross_entropy_of_logits, size_of


class Bernoulli(Odds, ExponentialFamily):
    """1 with probability `probs` (or log-odds `logits`), else 0.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Bernoulli(0.3).sample((5,))
    tensor([0., 0., 1., 1., 0.])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._set_odds(probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return functions.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -cross_entropy_of_logits(*broadcast_all(self.logits, value))

    def entropy(self) -> Any:
        return cross_entropy_of_logits(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = functions.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view(-1, *[1] * len(self._batch_shape))
        return values.expand(size_of((-1,), self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.probs.logit(),)

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return natural_params[0].exp().log1p()
