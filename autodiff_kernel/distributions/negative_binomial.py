"""The negative binomial distribution: successes before the n-th failure."""

from typing import Any

from ..core.modes import no_grad
from ..core.rules.activations import logsigmoid
from . import constraints, functions
from .gamma import Gamma
from .odds import Odds


class NegativeBinomial(Odds):
    """Successes of probability `probs` (or log-odds `logits`) before `total_count` failures have come.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.NegativeBinomial(5., torch.tensor([0.2, 0.8])).sample()
    tensor([ 2., 14.])
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = logits if probs is None else probs
        if hasattr(total_count, "type_as") and hasattr(given, "dtype"):
            total_count = total_count.type_as(given)
        self._set_odds(probs, logits, validate_args, total_count=total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Poisson numbers whose rates are gamma numbers."""
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return functions.poisson(rates.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        n = self.total_count
        weight = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return weight - ways.masked_fill(n + value == 0.0, 0.0)
