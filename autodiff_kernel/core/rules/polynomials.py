"""Orthogonal polynomials of degree n, by their three-term recurrences (DLMF 18.9); as in PyTorch without derivatives.

A family is its polynomial of degree 1 and the step p(k + 1) = step(x, k, p(k), p(k − 1)).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import device as devices
from ..op import Op
from .forms import where
from .special_forms import full_precision, two_numbers

Step = Callable[[Any, int, Any, Any], Any]


def _recurrence(first: Callable[[Any], Any], step: Step) -> Callable[[Any, Any], Any]:
    """The forward: each element's own degree, truncated to a whole number; 0 where that is negative."""

    def forward(x: Any, n: Any) -> Any:
        dtype = np.result_type(x, n)
        x, n = (np.float64(v) if v.__class__ in (int, float, bool) else v.astype(np.float64) for v in (x, n))
        n = np.trunc(n)
        before, last = 0.0 * n + (0.0 * x + 1.0), 0.0 * n + first(x)
        y = where(n < 0, 0.0, where(n == 0, 1.0, last))
        size = getattr(n, "size", 1)
        for k in range(1, int(devices.item(n.max())) if size else 0):
            before, last = last, step(x, k, last, before)
            y = where(n == k + 1, last, y)
        return y.astype(dtype)

    return forward


def _chebyshev(x: Any, k: int, last: Any, before: Any) -> Any:
    return 2 * x * last - before


def _shifted(x: Any, k: int, last: Any, before: Any) -> Any:
    return 2 * (2 * x - 1) * last - before


_CHEBYSHEV = {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1}
_KINDS = {"t": "first", "u": "second", "v": "third", "w": "fourth"}
FAMILIES: dict[str, tuple[Any, Step, str, str]] = {}
for _kind, _first in _CHEBYSHEV.items():
    _letter = _kind.upper()
    FAMILIES[f"chebyshev_polynomial_{_kind}"] = (
        _first, _chebyshev, f"{_letter}_{{{{{{b}}}}}}({{a}})", f"Chebyshev's polynomial of the {_KINDS[_kind]} kind.",
    )  # fmt: skip
    FAMILIES[f"shifted_chebyshev_polynomial_{_kind}"] = (
        lambda x, first=_first: first(2 * x - 1), _shifted, f"{_letter}^*_{{{{{{b}}}}}}({{a}})",
        f"Chebyshev's polynomial of the {_KINDS[_kind]} kind on the interval from 0 to 1.",
    )  # fmt: skip
FAMILIES |= {
    "hermite_polynomial_h": (
        lambda x: 2 * x, lambda x, k, last, before: 2 * (x * last - k * before), "H_{{{b}}}({a})",
        "Hermite's polynomial, orthogonal for exp(−x²).",
    ),
    "hermite_polynomial_he": (
        lambda x: x, lambda x, k, last, before: x * last - k * before, "He_{{{b}}}({a})",
        "Hermite's polynomial, orthogonal for exp(−x²/2).",
    ),
    "laguerre_polynomial_l": (
        lambda x: 1 - x, lambda x, k, last, before: ((2 * k + 1 - x) * last - k * before) / (k + 1), "L_{{{b}}}({a})",
        "Laguerre's polynomial.",
    ),
    "legendre_polynomial_p": (
        lambda x: x, lambda x, k, last, before: ((2 * k + 1) * x * last - k * before) / (k + 1), "P_{{{b}}}({a})",
        "Legendre's polynomial.",
    ),
}  # fmt: skip
_AT_TWO = {
    "chebyshev_polynomial_t": "7.", "chebyshev_polynomial_u": "15.", "chebyshev_polynomial_v": "11.",
    "chebyshev_polynomial_w": "19.", "shifted_chebyshev_polynomial_t": "17.", "shifted_chebyshev_polynomial_u": "35.",
    "shifted_chebyshev_polynomial_v": "29.", "shifted_chebyshev_polynomial_w": "41.", "hermite_polynomial_h": "14.",
    "hermite_polynomial_he": "3.", "laguerre_polynomial_l": "-1.", "legendre_polynomial_p": "5.5000",
}  # fmt: skip

SPECIAL = {}
for _name, (_first, _step, _latex, _doc) in FAMILIES.items():
    _op = Op(f"special_{_name}", full_precision(f"{_name}_cpu", _recurrence(_first, _step)), types="float",
             batch="elementwise", latex=_latex, doc=_doc)  # fmt: skip
    SPECIAL[_name] = two_numbers(
        _op,
        _name,
        f">>> torch.special.{_name}(torch.tensor([2.]), 2)\ntensor([{_AT_TWO[_name]}])",
        ("x", "n"),
    )
