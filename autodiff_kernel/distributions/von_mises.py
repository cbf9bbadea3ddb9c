"""The von Mises distribution: angles around a direction."""

import math
from typing import Any

from ..core.dtype import float64
from ..core.modes import no_grad
from . import constraints, functions
from .symmetric import Symmetric

# Abramowitz and Stegun, 9.8.1 to 9.8.4: I₀ and I₁ in (x/3.75)², and √x·exp(−x)·I in 3.75/x
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
     0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
     -0.420059e-2),
)  # fmt: skip


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    y: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = c + x * y
    return y


def _log_bessel(x: Any, order: int) -> Any:
    """The logarithm of the modified Bessel function I of order 0 or 1, for x > 0."""
    small = _polynomial(_SMALL[order], (x / 3.75) ** 2)
    if order:
        small = x.abs() * small
    large = x - 0.5 * x.log() + _polynomial(_LARGE[order], 3.75 / x).log()
    return functions.where(x < 3.75, small.log(), large)


class VonMises(Symmetric):
    """Angles in radians with density proportional to exp(concentration·cos(x − loc)).

    Mean and variance are the circular ones.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.VonMises(torch.tensor([1.]), torch.tensor([4.])).sample((2,))
    tensor([[0.8564],
            [0.6954]])
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._set(validate_args, loc=loc, concentration=concentration)

    @property
    def variance(self) -> Any:
        """1 less the length of the mean of the unit vectors."""
        k = self.concentration
        return 1 - (_log_bessel(k, 1) - _log_bessel(k, 0)).exp()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Best and Fisher (1979): wrapped Cauchy proposals, in double precision, until all are accepted."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc, k = self.loc.to(float64), self.concentration.to(float64)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = functions.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
            x = functions.empty(shape, dtype=float64, device=loc.device)
            done = functions.full(shape, False, device=loc.device)
            while not done.all():
                u1, u2, u3 = functions.rand(3, *shape, dtype=float64, device=loc.device).unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = functions.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        density = self.concentration * (value - self.loc).cos()
        return density - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)
