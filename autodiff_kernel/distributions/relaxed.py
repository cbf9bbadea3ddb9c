"""What the relaxed distributions share: they transform one that knows the temperature and the probabilities."""

from typing import Any

from .transformed_distribution import TransformedDistribution


class Relaxed(TransformedDistribution):
    """Shares between 0 and 1 in place of choices, nearer to these the lower the `temperature`."""

    has_rsample = True

    @property
    def temperature(self) -> Any:
        """How far from 0 and 1 the shares lie."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The log-odds of the choice, or the log probabilities of the classes."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities of the choice or of the classes."""
        return self.base_dist.probs
