"""The multinomial distribution: how often each of K classes came in n draws."""

import math
from typing import Any

from . import constraints, functions
from .binomial import Binomial
from .categorical import Categorical
from .one_hot_categorical import _OfCategorical
from .utils import broadcast_all, size_of


class Multinomial(_OfCategorical):
    """Counts (…, K) of the classes in `total_count` draws with the relative probabilities `probs` or `logits`.

    `log_prob` takes counts of any sum.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Multinomial(100, torch.ones(4)).sample()
    tensor([28., 25., 27., 20.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that sum to at most `total_count`."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = self._categorical.sample(size_of((self.total_count,), sample_shape)).movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, drawn, functions.ones_like(drawn)).type_as(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        orders = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return orders + (logits * value).sum(-1)

    def entropy(self) -> Any:
        n = self.total_count
        each = Binomial(n, self.probs)
        support = each.enumerate_support(expand=False)[1:]
        repeats = (each.log_prob(support).exp() * (support + 1).lgamma()).sum([0, -1])
        return n * self._categorical.entropy() - functions.tensor(n + 1).lgamma() + repeats
