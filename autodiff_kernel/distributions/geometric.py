"""The geometric distribution: failures before the first success."""

from typing import Any

from ..core.dtype import finfo
from ..core.modes import no_grad
from . import constraints, functions
from .odds import Odds
from .utils import broadcast_all, cross_entropy_of_logits


class Geometric(Odds):
    """Failures before the first success of trials of probability `probs` (or log-odds `logits`): 0, 1, 2, …

    (`Tensor.geometric_` counts the success too.)

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Geometric(0.3).sample((5,))
    tensor([1., 0., 6., 5., 3.])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._set_odds(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            wrong = self.probs.detach()[~(self.probs > 0)]
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{wrong}"
            )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return functions.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        probs = self.probs
        with no_grad():
            u = probs.new_empty(self._extended_shape(sample_shape)).uniform_(finfo(probs.dtype).tiny, 1)
            return (u.log() / (-probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return cross_entropy_of_logits(self.logits, self.probs) / self.probs
