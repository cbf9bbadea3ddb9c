"""Independent values taken together."""

from typing import Any

from ..core.tensor import Size
from . import constraints
from .distribution import Distribution
from .utils import size_of, sum_rightmost


class Independent(Distribution):
    """A distribution whose last `reinterpreted_batch_ndims` batch dimensions count as parts of one value.

    Its log_prob and entropy are sums over them: `Independent(Normal(loc, scale), 1)` is a normal distribution of
    vectors whose elements are independent.

    >>> import autodiff_kernel as torch
    >>> d = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(3), 1.), 1)
    >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3))
    (torch.Size([]), torch.Size([3]), tensor(-2.7568))
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        n, available = reinterpreted_batch_ndims, len(base_distribution.batch_shape)
        if n > available:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{n} vs {available}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        shape = size_of(base_distribution.batch_shape, base_distribution.event_shape)
        super().__init__(shape[: available - n], shape[available - n :], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        n = self.reinterpreted_batch_ndims
        new.base_dist = self.base_dist.expand(size_of(batch_shape, self.event_shape[:n]))
        new.reinterpreted_batch_ndims = n
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> Any:
        return self.reinterpreted_batch_ndims <= 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the base distribution, for all parts of a value."""
        n, support = self.reinterpreted_batch_ndims, self.base_dist.support
        return constraints.independent(support, n) if n else support

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
