"""The Kullback-Leibler divergence: how much worse q is than p at guessing values of p.

KL(p ‖ q) = E[log p(x) − log q(x)] for x from p.  Each pair of classes has a formula, see `kl_pairs`.
"""

import warnings
from typing import Any

from .distribution import Distribution

_FORMULAS: dict[tuple[type, type], Any] = {}
_FOUND: dict[tuple[type, type], Any] = {}  # formulas by the very classes that were asked for

__all__ = ["kl_divergence", "register_kl"]


def register_kl(type_p: Any, type_q: Any) -> Any:
    """A decorator: use the function f(p, q) for distributions of these classes and their subclasses.

    >>> import autodiff_kernel as torch
    >>> class Mine(torch.distributions.Normal): pass
    >>> @torch.distributions.register_kl(Mine, Mine)
    ... def _(p, q): return torch.zeros(())
    >>> torch.distributions.kl_divergence(Mine(0., 1.), Mine(1., 1.))
    tensor(0.)
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def register(formula: Any) -> Any:
        _FORMULAS[type_p, type_q] = formula
        _FOUND.clear()
        return formula

    return register


def _find(type_p: type, type_q: type) -> Any:
    """The formula of the nearest base classes, None if there is none; warns if it depends on which is looked at first."""
    pairs = [(p, q) for p in type_p.__mro__ for q in type_q.__mro__ if (p, q) in _FORMULAS]
    if not pairs:
        return None
    by_p = pairs[0]
    by_q = min(pairs, key=lambda pair: (type_q.__mro__.index(pair[1]), type_p.__mro__.index(pair[0])))
    if _FORMULAS[by_p] is not _FORMULAS[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl("
            f"{by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=4,
        )
    return _FORMULAS[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """KL(p ‖ q), of the shape of the batch; NotImplementedError for a pair of classes without a formula.

    >>> import autodiff_kernel as torch
    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0., 1.), Normal(1., 2.))
    tensor(0.4431)
    """
    from . import kl_pairs as kl_pairs  # the formulas: they need all distributions

    kinds = type(p), type(q)
    if kinds not in _FOUND:
        _FOUND[kinds] = _find(*kinds)
    formula = _FOUND[kinds]
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return formula(p, q)
