"""The categorical distribution: one of K classes."""

import math
from typing import Any

from ..core.dtype import finfo, int64
from ..core.tensor import Size, Tensor
from . import constraints, functions
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, one_of, probs_to_logits, size_of


class Categorical(Distribution):
    """Whole numbers from 0 to K − 1, with the relative probabilities `probs` or their logarithms `logits`, (…, K).

    Both are normalized: `probs` sums to 1 along the last dimension, and so does exp of `logits`.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Categorical(torch.tensor([0.25, 0.25, 0.5])).sample((5,))
    tensor([2, 2, 1, 2, 2])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name = one_of(probs, logits)
        given: Tensor = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(dim=-1, keepdim=True)
        super().__init__(given.shape[:-1], (), validate_args)

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        return super()._get_checked_instance(cls, _instance)

    @lazy_property
    def logits(self) -> Any:
        """The log probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _param(self) -> Any:
        own = vars(self)
        return own["probs"] if "probs" in own else own["logits"]

    @property
    def _num_events(self) -> int:
        return self._param.shape[-1]  # type: ignore[no-any-return]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter, (…, K)."""
        return self._param.size()  # type: ignore[no-any-return]

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The classes 0 to K − 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        """nan: classes have no order."""
        return functions.full(
            self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device
        )

    @property
    def variance(self) -> Any:
        """nan, like the mean."""
        return self.mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = functions.multinomial(rows, Size(sample_shape).numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        index, log_pmf = functions.broadcast_tensors(value.to(int64).unsqueeze(-1), self.logits)
        return log_pmf.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)  # 0·log 0 is 0
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = functions.arange(self._num_events, device=self._param.device)
        values = values.view(-1, *[1] * len(self._batch_shape))
        return values.expand(size_of((-1,), self._batch_shape)) if expand else values
