"""The incomplete gamma functions and Hurwitz's zeta function, with derivatives for the second argument."""

from math import inf, nan
from math import lgamma as lgamma_of_number
from typing import Any

import numpy as np

from .. import device as devices
from .. import incomplete_gamma, special
from ..op import Op
from .elementwise import exp, log
from .forms import pair_names, refuse, where
from .gamma import lgamma
from .special_forms import full_precision, two_numbers


def not_implemented(what: str) -> Any:
    """The rule for an argument for which PyTorch knows no derivative."""

    def rule(g: Any, n: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return rule


def _floats(kernel: str, fwd: Any) -> Any:
    def checked(a: Any, b: Any) -> Any:
        for x in (a, b):
            if getattr(x, "dtype", np.dtype(float)).kind not in "fV":
                refuse(kernel, x)
        return fwd(a, b)

    return checked


def _density(n: Any) -> Any:
    """x^(a−1)·exp(−x)/Γ(a), what the integral of igamma is over."""
    top = lgamma_of_number(n.a) if n.a.__class__ in (int, float) else lgamma(n.a)
    return exp((n.a - 1) * log(n.b) - n.b - top)


igamma = Op("igamma", _floats("igamma_cpu", incomplete_gamma.igamma), not_implemented("igamma: input"),
            lambda g, n: g * _density(n), reads=("", "ab"), mode="elementwise", spreads=True, types="same", symbol="P",
            partials=("", "{b}^({a} − 1)·exp(−{b})/Γ({a})"), latex="P({a}, {b})",
            doc="The regularised lower incomplete gamma function ∫₀ˣ t^(a−1)·exp(−t)dt/Γ(a).")  # fmt: skip
igammac = Op("igammac", _floats("igammac_cpu", incomplete_gamma.igammac), not_implemented("igammac: input"),
             lambda g, n: -g * _density(n), reads=("", "ab"), mode="elementwise", spreads=True, types="same", symbol="Q",
             partials=("", "−{b}^({a} − 1)·exp(−{b})/Γ({a})"), latex="Q({a}, {b})",
             doc="The regularised upper incomplete gamma function, 1 − igamma.")  # fmt: skip

_ARGUMENTS = "torch.tensor([1., 4.]), torch.tensor([2., 4.])"
pair_names(igamma, "igamma", example=f">>> torch.igamma({_ARGUMENTS})\ntensor([0.8647, 0.5665])")
pair_names(igammac, "igammac", example=f">>> torch.igammac({_ARGUMENTS})\ntensor([0.1353, 0.4335])")


# ------------------------------------------------------------------------------------------------ zeta
def _zeta(s: Any, q: Any) -> Any:
    """PyTorch's values outside of the sum's domain: ∞ at poles, nan where it would be complex or diverges."""
    dtype = np.result_type(s, q)  # type: ignore[arg-type]
    s, q = (np.float64(x) if x.__class__ in (int, float) else x.astype(np.float64) for x in (s, q))
    inside = (s > 1) & (q > 0)
    low = (s > 1) & (q <= 0) & (s == np.floor(s)) & (q != np.floor(q))  # sum up to the first positive term
    steps = where(low, np.ceil(-q), 0.0)
    y = special.zeta(where(inside | low, s, 2.0), where(inside | low, q + steps, 1.0))
    k = 0
    while devices.item((low & (steps > k)).any()):
        y = y + where(low & (steps > k), where(low, q + k, 1.0) ** -where(low, s, 1.0), 0.0)
        k += 1
    y = where(inside | low, y, where((s == 1) | ((s > 1) & (q <= 0) & (q == np.floor(q))), inf, nan))
    return y.astype(dtype)


zeta: Op = Op("special_zeta", full_precision("zeta_cpu", _zeta), not_implemented("zeta"),
          lambda g, n: g * -n.a * zeta(n.a + 1, n.b), reads=("", "ab"), mode="elementwise", spreads=True, types="float",
          symbol="ζ", partials=("", "−{a}·ζ({a} + 1, {b})"), latex=r"\zeta({a}, {b})",
          doc="Hurwitz's zeta function Σ (q + k)^(−x) over k ≥ 0.")  # fmt: skip

SPECIAL = {
    "zeta": two_numbers(
        zeta,
        "zeta",
        ">>> torch.special.zeta(torch.tensor([2., 4.]), torch.tensor([1., 1.]))\ntensor([1.6449, 1.0823])",
    )
}
