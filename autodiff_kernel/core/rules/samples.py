"""Samples as functions of their parameters: gamma and Dirichlet numbers have implicit derivatives.

The numbers themselves are drawn elsewhere (`core/sampling.py`) and come as the last input, which has no rule.
"""

from typing import Any

from .. import implicit
from .. import sampling as sampling  # the functions that draw them come with the rows
from ..errors import explain
from ..op import Op
from .forms import undefined
from .reductions import sum_row
from .shapes import expand_row


def _once(name: str) -> Any:
    def rule(g: Any, n: Any) -> Any:
        raise explain(
            NotImplementedError,
            f"the derivative for '{name}' is not implemented.",
            "The first derivative of these samples is an approximation that has no derivative of its own.",
            "leave create_graph=True away, or take a second derivative of something else.",
        )

    return rule


def _sample(parameter: Any, sample: Any) -> Any:
    return sample.copy()


def _sum(x: Any, shape: tuple[int, ...]) -> Any:
    """The sums along the last dimension, which stays."""
    return sum_row(x, p=((len(shape) - 1,), True)) if shape else x


def _weights(n: Any) -> Any:
    """dx/dα / (1 − x) of each share."""
    return dirichlet_slope(n.y, n.a, expand_row(_sum(n.a, n.sa), p=n.sa))


def _from_shares(g: Any, n: Any) -> Any:
    """More of one share is less of the others: they are scaled, all alike."""
    return _weights(n) * (g - _sum(n.y * g, n.sa))


def _to_shares(ts: Any, n: Any) -> Any:
    t = _weights(n) * ts[0]
    return t - n.y * _sum(t, n.sa)


def _no_tangent(ts: Any, n: Any) -> Any:
    raise NotImplementedError("Trying to use forward AD with aten::binomial that does not support it.")


standard_gamma: Op = Op(
    "standard_gamma", _sample, lambda g, n: g * gamma_slope(n.a, n.y), reads=("ay",), mode="elementwise",
    symbol="~Γ", partials=("−∂F/∂{a} / ∂F/∂{y}",), latex=r"\Gamma({a})",
    doc="Gamma numbers of the given shapes; their derivative keeps each of them at its quantile.",
)  # fmt: skip
sample_dirichlet: Op = Op(
    "sample_dirichlet", _sample, _from_shares, reads=("ay",), jvp=_to_shares, batch="together",
    node="_DirichletBackward",
    symbol="~Dir", partials=("−∂F/∂{a} / ∂F/∂{y}",), latex=r"\text{{Dir}}({a})",
    doc="Dirichlet numbers; their derivative keeps each of them at its quantile.",
)  # fmt: skip
gamma_slope: Op = Op(
    "standard_gamma_grad", implicit.gamma_slope, _once("_standard_gamma_grad"), _once("_standard_gamma_grad"),
    mode="elementwise", symbol="∂Γ", partials=("undefined", "undefined"),
    doc="How gamma numbers (b) move with their shapes (a).",
)  # fmt: skip
dirichlet_slope: Op = Op(
    "dirichlet_grad", implicit.dirichlet_slope, _once("_dirichlet_grad"), _once("_dirichlet_grad"),
    _once("_dirichlet_grad"), mode="elementwise", symbol="∂Dir", partials=("undefined", "undefined", "undefined"),
    doc="How Dirichlet numbers (a) move with their parameters (b), which sum to c, but for a factor 1 − a.",
)  # fmt: skip
binomial: Op = Op(
    "binomial", lambda count, chance, sample: sample.copy(), undefined("binomial"), undefined("binomial"),
    jvp=_no_tangent, batch="together", node="NotImplemented", symbol="~Bin", partials=("undefined", "undefined"),
    doc="Numbers of successes in a trials of probability b; no derivative.",
)  # fmt: skip
