"""The binomial distribution: successes in n trials."""

from typing import Any

from ..core.modes import no_grad
from . import constraints, functions
from .odds import Odds
from .utils import size_of


class Binomial(Odds):
    """Successes in `total_count` trials (a number or a tensor) of probability `probs` (or log-odds `logits`) each.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Binomial(100, torch.tensor([0., 0.2, 0.8, 1.])).sample()
    tensor([  0.,  20.,  78., 100.])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = logits if probs is None else probs
        if hasattr(total_count, "type_as") and hasattr(given, "dtype"):
            total_count = total_count.type_as(given)
        self._set_odds(probs, logits, validate_args, total_count=total_count)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Whole numbers from 0 to `total_count`."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return functions.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        n, logits = self.total_count, self.logits
        # log(1 + exp(logits)) without overflow; the slope of the first term at 0 is 1/2
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        normalizer = n * positive + n * (-logits.abs()).exp().log1p() - (n + 1).lgamma()
        return value * logits - (value + 1).lgamma() - (n - value + 1).lgamma() - normalizer

    def entropy(self) -> Any:
        log_prob = self.log_prob(self._counts("entropy"))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = self._counts("enumerate_support")
        return values.expand(size_of((-1,), self._batch_shape)) if expand else values

    def _counts(self, asked: str) -> Any:
        """0 to n along dimension 0."""
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asked}`.")
        values = functions.arange(1 + n, dtype=self._param.dtype, device=self._param.device)
        return values.view(-1, *[1] * len(self._batch_shape))
