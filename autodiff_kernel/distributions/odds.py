"""Distributions that are told either a probability or its log-odds."""

from typing import Any

from ..core.tensor import Size
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, one_of, probs_to_logits


class Odds(Distribution):
    """A distribution with `probs` or `logits`: the one that is not given is computed when it is asked for."""

    def _set_odds(self, probs: Any, logits: Any, validate_args: bool | None, **others: Any) -> None:
        name = one_of(probs, logits)
        self._set(validate_args, **others, **{name: logits if probs is None else probs})

    @lazy_property
    def logits(self) -> Any:
        """The log-odds log p/(1 − p)."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Any:
        """The one that was given (or is known by now)."""
        own = vars(self)
        return own["probs"] if "probs" in own else own["logits"]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()  # type: ignore[no-any-return]
