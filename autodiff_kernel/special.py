"""torch.special: the functions of mathematical physics and statistics.

>>> import autodiff_kernel as torch
>>> torch.special.expit(torch.tensor([0., 1.]))
tensor([0.5000, 0.7311])
"""

from .core.api import FUNCTIONS
from .core.rules import bessel, incomplete, normals, polynomials

# PyTorch's name here: its name as torch.<name>
_ALIASES = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2", "expit": "sigmoid",
    "expm1": "expm1", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p",
    "log_softmax": "log_softmax", "logit": "logit", "logsumexp": "logsumexp", "multigammaln": "mvlgamma",
    "polygamma": "polygamma", "psi": "digamma", "round": "round", "sinc": "sinc", "softmax": "softmax",
    "xlogy": "xlogy",
}  # fmt: skip
_OWN = bessel.SPECIAL | normals.SPECIAL | incomplete.SPECIAL | polynomials.SPECIAL

globals().update({name: FUNCTIONS[other] for name, other in _ALIASES.items()})
globals().update(_OWN)
__all__ = sorted([*_ALIASES, *_OWN])
