"""Distributions of transformed values."""

import math
from typing import Any

from ..core.modes import no_grad
from ..core.tensor import Size
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import size_of, sum_rightmost


class TransformedDistribution(Distribution):
    """The distribution of y = f(x) for x from a base distribution, f being one or several transforms in turn.

    log p(y) = log p(x) − log |dy/dx|

    >>> import autodiff_kernel as torch
    >>> D = torch.distributions
    >>> logistic = D.TransformedDistribution(D.Uniform(0., 1.), [D.SigmoidTransform().inv, D.AffineTransform(1., 2.)])
    >>> logistic.log_prob(torch.tensor(1.))
    tensor(-2.0794)
    """

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        if not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        needed, given = whole.domain.event_dim, len(base_distribution.event_shape)
        shape = size_of(base_distribution.batch_shape, base_distribution.event_shape)
        if len(shape) < needed:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {needed}, but got {shape}."
            )
        result = Size(whole.forward_shape(shape))
        stretched = Size(whole.inverse_shape(result))  # the transforms' parameters may be a batch too
        if shape != stretched:
            base_distribution = base_distribution.expand(stretched[: len(stretched) - given])
        if needed > given:
            base_distribution = Independent(base_distribution, needed - given)
        self.base_dist = base_distribution
        gained = whole.codomain.event_dim - needed
        cut = len(result) - max(whole.codomain.event_dim, given + gained)
        super().__init__(result[:cut], result[cut:], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(self._own_class(), _instance)
        batch_shape = Size(batch_shape)
        shape: Any = size_of(batch_shape, self.event_shape)
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        for name in self.arg_constraints:
            if name in vars(self):
                setattr(new, name, getattr(self, name).expand(batch_shape))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """Where the last transform leads."""
        if not self.transforms:
            return self.base_dist.support
        reached = self.transforms[-1].codomain
        more = len(self.event_shape) - reached.event_dim
        return constraints.independent(reached, more) if more > 0 else reached

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        event_dim = len(self.event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(stretch, event_dim - transform.domain.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _rising(self, p: Any) -> Any:
        """A probability, or 1 less it where the transforms fall together."""
        sign = math.prod(t.sign for t in self.transforms)
        return p if isinstance(sign, int) and sign == 1 else sign * (p - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._forward(self.base_dist.icdf(self._rising(value)))
