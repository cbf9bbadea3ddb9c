"""The normal distribution's functions, and the products with logarithms that entropies are made of."""

from math import pi, sqrt
from typing import Any

import numpy as np

from .. import special
from ..op import Op
from .elementwise import exp, log, log1p
from .forms import choose, floats_only, settle, where
from .special_forms import full_precision, one_number, two_numbers

_DENSITY = 1 / sqrt(2 * pi)

erfcx: Op = Op("special_erfcx", full_precision("erfcx_cpu", special.erfcx),
           lambda g, n: g * (2 * n.a * n.y - 2 / sqrt(pi)), reads=("ay",), mode="elementwise", types="float",
           partials=("2·{a}·{y} − 2/√π",), latex=r"e^{{{a}^2}} \text{{erfc}}\, {a}",
           doc="exp(x²)·erfc(x), which falls as 1/x where erfc underflows.")  # fmt: skip
ndtr = Op("special_ndtr", floats_only("ndtr_cpu", special.ndtr), lambda g, n: g * _DENSITY * exp(-0.5 * (n.a * n.a)),
          reads=("a",), mode="elementwise", types="float", node="MulBackward0", symbol="Φ",
          partials=("exp(−{a}²/2)/√(2π)",), latex=r"\Phi({a})",
          doc="The normal distribution's function: how probable a smaller number is.")  # fmt: skip
log_ndtr = Op("special_log_ndtr", full_precision("log_ndtr_cpu", special.log_ndtr),
              lambda g, n: g / erfcx(n.a * -sqrt(0.5)) * sqrt(2 / pi), reads=("a",), mode="elementwise", types="float",
              symbol="log Φ", partials=("√(2/π)/erfcx(−{a}/√2)",), latex=r"\log \Phi({a})",
              doc="The logarithm of the normal distribution's function, which does not underflow.")  # fmt: skip
ndtri = Op("special_ndtri", full_precision("ndtri_cpu", special.ndtri),
           lambda g, n: g * sqrt(2 * pi) * exp(n.y * n.y / 2), reads=("y",), mode="elementwise", types="float",
           symbol="Φ⁻¹", partials=("√(2π)·exp({y}²/2)",), latex=r"\Phi^{{-1}}({a})",
           doc="The inverse of the normal distribution's function: its quantiles.")  # fmt: skip


# ------------------------------------------------------------------------------------------------ entropies
def _entr(a: Any) -> Any:
    y = 0 - a * np.log(where(a > 0, a, 1))
    return settle(np.where(a < 0, y.dtype.type(-np.inf), y))


entr = Op("special_entr", floats_only("entr", _entr), lambda g, n: -g * (log(n.a) + 1), reads=("a",), mode="elementwise",
          types="float", partials=("−log {a} − 1",), latex=r"-{a} \log {a}",
          doc="−x·log(x), 0 at 0 and −∞ below: what one probability adds to an entropy.")  # fmt: skip


def _xlog1py(a: Any, b: Any) -> Any:
    if b.__class__ in (int, float, bool):
        return choose((a == 0) & (b == b), a * 0, a * float(np.log1p(float(b))))
    y = a * np.log1p(b)
    return choose((a == 0) & (b == b), y.dtype.type(0), y)


def _xlog1py_rule(g: Any, n: Any) -> Any:
    if n.b.__class__ in (int, float, bool):
        return where((n.a == 0) & (not n.b > -1), 0, g * float(np.log1p(float(n.b))))
    nothing = (n.a == 0) & (n.b <= -1)
    return where(nothing, 0, g * log1p(where(nothing, 0, n.b)))


xlog1py = Op("special_xlog1py", _xlog1py, _xlog1py_rule, lambda g, n: g * (n.a / (n.b + 1)), reads=("ab", "ab"),
             mode="elementwise", spreads=True, types="float", node="SpecialXlog1PyBackward0", symbol="xlog1py",
             partials=("log(1 + {b})", "{a}/(1 + {b})"), latex=r"{a} \log(1 + {b})",
             doc="x·log(1 + y), and 0 where x is 0.")  # fmt: skip

_FORMS = {
    erfcx: ("erfcx", "[0., 1.]", "[1.0000, 0.4276]"),
    ndtr: ("ndtr", "[0., 1.]", "[0.5000, 0.8413]"),
    log_ndtr: ("log_ndtr", "[0., -20.]", "[  -0.6931, -203.9172]"),
    ndtri: ("ndtri", "[0.5, 0.975]", "[0.0000, 1.9600]"),
    entr: ("entr", "[0., 0.5]", "[0.0000, 0.3466]"),
}
SPECIAL = {
    name: one_number(op, name, f">>> torch.special.{name}(torch.tensor({x}))\ntensor({y})")
    for op, (name, x, y) in _FORMS.items()
}
SPECIAL["xlog1py"] = two_numbers(
    xlog1py,
    "xlog1py",
    ">>> torch.special.xlog1py(torch.tensor([0., 2.]), torch.tensor([-1., 1.]))\ntensor([0.0000, 1.3863])",
)
