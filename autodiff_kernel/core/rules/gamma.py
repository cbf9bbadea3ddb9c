"""Special functions with derivatives: erf and its inverse, the logarithm of Γ and its derivatives."""

from math import log, pi, sqrt
from typing import Any

from .. import special
from ..api import check_tensor, into, public, unary_names
from ..op import Op
from ..tensor import Tensor
from .elementwise import exp

erf = Op("erf", special.erf, a=lambda g, n: g * (2 / sqrt(pi)) * exp(-(n.a * n.a)), reads=("a",), mode="elementwise",
         types="float", partials=("2/√π·exp(−{a}²)",), latex=r"\text{{erf}}\, {a}",
         doc="The error function 2/√π·∫exp(−t²)dt from 0 to x.")  # fmt: skip
erfc = Op("erfc", special.erfc, a=lambda g, n: g * (-2 / sqrt(pi)) * exp(-(n.a * n.a)), reads=("a",),
          mode="elementwise",
          types="float", partials=("−2/√π·exp(−{a}²)",), latex=r"\text{{erfc}}\, {a}",
          doc="1 − erf(x), exact where it is small.")  # fmt: skip
erfinv: Op = Op("erfinv", special.erfinv, a=lambda g, n: g * (sqrt(pi) / 2) * exp(erfinv(n.a) ** 2), reads=("a",),
            mode="elementwise", types="float", partials=("√π/2·exp({y}²)",), latex=r"\text{{erf}}^{{-1}}\, {a}",
            doc="The inverse of erf.")  # fmt: skip
lgamma = Op("lgamma", special.lgamma, a=lambda g, n: g * digamma(n.a), reads=("a",), mode="elementwise", types="float",
            partials=("digamma {a}",), latex=r"\log |\Gamma({a})|", doc="The logarithm of |Γ(x)|.")  # fmt: skip
digamma: Op = Op("digamma", special.digamma, a=lambda g, n: g * polygamma_row(n.a, p=1), reads=("a",),
                 mode="elementwise",
             types="float", symbol="ψ", partials=("polygamma(1, {a})",), latex=r"\psi({a})",
             doc="The derivative of log Γ(x).")  # fmt: skip
polygamma_row: Op = Op("polygamma", lambda a, p: special.polygamma(p, a),
                       a=lambda g, n: g * polygamma_row(n.a, p=n.p + 1),
                   reads=("a",), mode="elementwise", types="float", params=True,
                   partials=("polygamma({p} + 1, {a})",), latex=r"\psi^{{(n)}}({a})",
                   doc="The n-th derivative of digamma.")  # fmt: skip


def _mvlgamma(a: Any, p: int) -> Any:
    y = special.lgamma(a)
    for k in range(1, p):
        y = y + special.lgamma(a - k / 2)
    return y + p * (p - 1) / 4 * log(pi)


def _mvlgamma_rule(g: Any, n: Any) -> Any:
    slope = digamma(n.a)
    for k in range(1, n.p):
        slope = slope + digamma(n.a - k / 2)
    return g * slope


mvlgamma_row = Op("mvlgamma", _mvlgamma, _mvlgamma_rule, reads=("a",), mode="elementwise", types="float", params=True,
                  partials=("Σ digamma({a} − k/2)",), latex=r"\log \Gamma_p({a})",
                  doc="The logarithm of the multivariate gamma function.")  # fmt: skip

unary_names(erf, example=">>> torch.erf(torch.tensor([0., 1.]))\ntensor([0.0000, 0.8427])")
unary_names(erfc, example=">>> torch.erfc(torch.tensor([0., 1.]))\ntensor([1.0000, 0.1573])")
unary_names(erfinv, example=">>> torch.erfinv(torch.tensor([0., 0.5]))\ntensor([0.0000, 0.4769])")
unary_names(lgamma, example=">>> torch.lgamma(torch.tensor([1., 5.]))\ntensor([0.0000, 3.1781])")
unary_names(digamma, example=">>> torch.digamma(torch.tensor([1., 2.]))\ntensor([-0.5772,  0.4228])")


@public(method=False)
def polygamma(n: int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma; n = 0 is digamma itself.

    >>> import autodiff_kernel as torch
    >>> torch.polygamma(1, torch.tensor([1., 2.]))
    tensor([1.6449, 0.6449])
    """
    check_tensor("polygamma", input, "input", 2)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    result = polygamma_row(input, p=int(n))
    return result if out is None else into(out, result)


@public("polygamma", function=False, inplace=True, row=polygamma_row)
def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma at this tensor's elements."""
    return polygamma(n, self)


@public(inplace=True, row=mvlgamma_row)
def mvlgamma(input: Tensor, p: int, *, out: Any = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    >>> import autodiff_kernel as torch
    >>> torch.mvlgamma(torch.tensor([4., 5.]), 2)
    tensor([3.5651, 6.2042])
    """
    check_tensor("mvlgamma", input)
    if input.raw.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, but got {p}")
    result = mvlgamma_row(input, p=int(p))
    return result if out is None else into(out, result)
