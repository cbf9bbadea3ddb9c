"""Mixtures of distributions of one family."""

from typing import Any

from ..core.modes import no_grad
from ..core.tensor import Size
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import size_of


class MixtureSameFamily(Distribution):
    """Values of one of k distributions, which a `Categorical` chooses.

    component_distribution: a batch whose last dimension has the k components.

    >>> import autodiff_kernel as torch
    >>> D = torch.distributions
    >>> mix = D.Categorical(torch.tensor([0.5, 0.5]))
    >>> D.MixtureSameFamily(mix, D.Normal(torch.tensor([-1., 1.]), 1.)).variance
    tensor(2.)
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        chosen, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for a, b in zip(reversed(chosen), reversed(batch), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({chosen}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        k, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if k != components:
            raise ValueError(
                f"`mixture_distribution component` ({k}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        k = self._mixture_distribution._num_events
        new._component_distribution = self._component_distribution.expand(size_of(batch_shape, (k,)))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._event_ndims = self._event_ndims
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution that chooses."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The distributions that are chosen from."""
        return self._component_distribution

    def _weighted(self, values: Any) -> Any:
        """The mean over the components of values (batch, k, event)."""
        probs = self._mixture_distribution.probs
        if probs.dim() > 1:
            missing = len(self.batch_shape) - len(self._mixture_distribution.batch_shape)
            probs = probs.reshape(*probs.shape[:-1], *[1] * missing, probs.shape[-1])
        probs = probs.reshape(*probs.shape, *[1] * self._event_ndims)
        return (probs * values).sum(-1 - self._event_ndims)

    def _for_all(self, x: Any) -> Any:
        """x with a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The mean of the variances and the variance of the means."""
        within = self._weighted(self._component_distribution.variance)
        distance = self._component_distribution.mean - self._for_all(self.mean)
        return within + self._weighted(distance.pow(2.0))

    def cdf(self, value: Any) -> Any:
        values = self._component_distribution.cdf(self._for_all(value))
        return (values * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        parts = self._component_distribution.log_prob(self._for_all(value))
        return (parts + self._mixture_distribution.logits.log_softmax(dim=-1)).logsumexp(dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            dim = len(Size(sample_shape)) + len(self.batch_shape)
            index = chosen.reshape(*chosen.shape, *[1] * (self._event_ndims + 1))
            index = index.expand(size_of(values.shape[:dim], (1,), self.event_shape))
            return values.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
