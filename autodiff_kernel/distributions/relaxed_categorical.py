"""The one-hot categorical distribution, relaxed: differentiable shares of 1 (Gumbel softmax)."""

import math
from typing import Any

from . import constraints, functions
from .categorical import Categorical
from .one_hot_categorical import _OfCategorical
from .relaxed import Relaxed
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs


class ExpRelaxedCategorical(_OfCategorical):
    """The logarithms of `RelaxedOneHotCategorical`."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # in truth a surface in it
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape, logits = self._extended_shape(sample_shape), self.logits
        u = clamp_probs(functions.rand(shape, dtype=logits.dtype, device=logits.device))
        scores = (logits + -(-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        temperature = functions.as_tensor(self.temperature, dtype=logits.dtype)
        scale = math.lgamma(k) + (k - 1) * temperature.log()
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(Relaxed):
    """K shares of 1, the nearer to one-hot the lower the `temperature` (Jang et al., Maddison et al., 2017).

    Samples depend on `probs` (or `logits`) in a differentiable way.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.RelaxedOneHotCategorical(torch.tensor([2.2]), torch.tensor([0.2, 0.3, 0.5])).sample()
    tensor([0.2676, 0.5016, 0.2308])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base_dist = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base_dist, ExpTransform(), validate_args)
