"""The Dirichlet distribution: shares of a whole."""

from typing import Any

from ..core.rules.scatter import one_hot
from . import constraints, functions
from .exp_family import ExponentialFamily


class Dirichlet(ExponentialFamily):
    """Vectors of n shares that sum to 1; `concentration`, (…, n), says how large and how certain each is.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Dirichlet(torch.tensor([1., 2., 3.])).sample()
    tensor([0.5282, 0.2411, 0.2307])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = one_hot(mode.argmax(dim=-1), mode.shape[-1]).to(mode)
        return functions.where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Any:
        a, total = self.concentration, self.concentration.sum(-1, True)
        return a * (total - a) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return functions.sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Any:
        a, n = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        spread = (n - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - spread

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural_params: Any) -> Any:
        x = natural_params[0]
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
