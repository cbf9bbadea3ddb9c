"""The categorical distribution with one-hot values."""

from typing import Any

from ..core.rules.scatter import one_hot
from ..core.tensor import Size
from . import constraints, functions
from .categorical import Categorical
from .distribution import Distribution
from .utils import size_of


class _OfCategorical(Distribution):
    """A distribution over vectors (…, K) that is told the probabilities of K classes."""

    _categorical: Categorical

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The log probabilities of the classes."""
        return self._categorical.logits

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter, (…, K)."""
        return self._categorical.param_shape


class OneHotCategorical(_OfCategorical):
    """One-hot vectors of K elements, with the relative probabilities `probs` or their logarithms `logits`, (…, K).

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.OneHotCategorical(torch.tensor([0.25, 0.25, 0.5])).sample()
    tensor([0., 0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        return one_hot(self._categorical.sample(sample_shape), self.probs.shape[-1]).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self.event_shape[0]
        values = functions.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view(n, *[1] * len(self.batch_shape), n)
        return values.expand(size_of((n,), self.batch_shape, (n,))) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is passed on to the probabilities as if they were those (straight through)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
