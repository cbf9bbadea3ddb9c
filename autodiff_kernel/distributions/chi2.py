"""The chi-squared distribution: sums of squares of normal numbers."""

from typing import Any

from . import constraints
from .gamma import Gamma


class Chi2(Gamma):
    """Sums of the squares of `df` standard normal numbers; a gamma distribution.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.Chi2(torch.tensor([3.])).mean
    tensor([3.])
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.concentration, new.rate = (x.expand(batch_shape) for x in (self.concentration, self.rate))
        return new

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
