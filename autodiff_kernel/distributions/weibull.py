"""The Weibull distribution: how long things last."""

from typing import Any

from ..core.tensor import Size
from . import constraints, functions
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant


class Weibull(TransformedDistribution):
    """scale·x^(1/concentration) for exponential numbers x of rate 1.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.Weibull(1., 2.).sample((2,))
    tensor([1.8731, 1.1092])
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base_dist = Exponential(functions.ones_like(self.scale), validate_args)
        super().__init__(base_dist, self._steps(), validate_args)

    def _steps(self) -> list[Any]:
        return [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]

    @property
    def concentration_reciprocal(self) -> Any:
        """1/concentration."""
        return self.concentration.reciprocal()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(Size(batch_shape), _instance)
        new.transforms = new._steps()
        return new

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        inverse = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * inverse).lgamma().exp() - (2 * (1 + inverse).lgamma()).exp())

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + (self.scale * inverse).log() + 1
