"""Bessel functions: the modified ones with derivatives, the others, as in PyTorch, without."""

from typing import Any

from .. import bessel
from ..api import unary_names
from ..op import Op
from .elementwise import sgn
from .forms import floats_only, where
from .special_forms import full_precision, one_number


def _i1_slope(x: Any, y: Any) -> Any:
    """I₁'(x) = I₀(x) − I₁(x)/x, and ½ at 0."""
    zero = x == 0
    return where(zero, 0.5, i0(x) - y / where(zero, 1, x))


def _i1e_slope(x: Any, y: Any) -> Any:
    zero = x == 0
    return where(zero, 0.5, i0e(x) - y * sgn(x) - y / where(zero, 1, x))


i0: Op = Op("i0", floats_only("i0_vml_cpu", bessel.i0), lambda g, n: g * i1(n.a), reads=("a",), mode="elementwise",
        types="float", symbol="I₀", partials=("I₁({a})",), latex="I_0({a})",
        doc="The modified Bessel function of the first kind of order 0.")  # fmt: skip
i0e: Op = Op("special_i0e", floats_only("i0e_cpu", bessel.i0e), lambda g, n: g * (i1e(n.a) - sgn(n.a) * n.y),
         reads=("ay",), mode="elementwise", types="float", node="SpecialI0EBackward0", symbol="I₀ₑ",
         partials=("exp(−|{a}|)·I₁({a}) − sign {a}·{y}",), latex="e^{{-|{a}|}} I_0({a})",
         doc="exp(−|x|)·I₀(x): the modified Bessel function without its growth.")  # fmt: skip
i1: Op = Op("special_i1", floats_only("i1_cpu", bessel.i1), lambda g, n: g * _i1_slope(n.a, n.y), reads=("ay",),
        mode="elementwise", types="float", symbol="I₁", partials=("I₀({a}) − {y}/{a}",), latex="I_1({a})",
        doc="The modified Bessel function of the first kind of order 1.")  # fmt: skip
i1e: Op = Op("special_i1e", floats_only("i1e_cpu", bessel.i1e), lambda g, n: g * _i1e_slope(n.a, n.y),
         reads=("ay",), mode="elementwise", types="float", node="SpecialI1EBackward0", symbol="I₁ₑ",
         partials=("exp(−|{a}|)·I₀({a}) − {y}·(sign {a} + 1/{a})",), latex="e^{{-|{a}|}} I_1({a})",
         doc="exp(−|x|)·I₁(x): the modified Bessel function without its growth.")  # fmt: skip

unary_names(i0, example=">>> torch.i0(torch.tensor([0., 1.]))\ntensor([1.0000, 1.2661])")

_FORMS = {
    i0e: ("i0e", "[1.0000, 0.4658]"),
    i1: ("i1", "[0.0000, 0.5652]"),
    i1e: ("i1e", "[0.0000, 0.2079]"),
}
_PLAIN = {
    "bessel_j0": (bessel.j0, "J_0", "[1.0000, 0.7652]", "The Bessel function of the first kind of order 0."),
    "bessel_j1": (bessel.j1, "J_1", "[0.0000, 0.4401]", "The Bessel function of the first kind of order 1."),
    "bessel_y0": (bessel.y0, "Y_0", "[  -inf, 0.0883]", "The Bessel function of the second kind of order 0."),
    "bessel_y1": (
        bessel.y1,
        "Y_1",
        "[   -inf, -0.7812]",
        "The Bessel function of the second kind of order 1.",
    ),
    "modified_bessel_i0": (bessel.i0, "I_0", "[1.0000, 1.2661]", "The modified Bessel function I₀."),
    "modified_bessel_i1": (bessel.i1, "I_1", "[0.0000, 0.5652]", "The modified Bessel function I₁."),
    "modified_bessel_k0": (bessel.k0, "K_0", "[   inf, 0.4210]", "The modified Bessel function K₀."),
    "modified_bessel_k1": (bessel.k1, "K_1", "[   inf, 0.6019]", "The modified Bessel function K₁."),
    "scaled_modified_bessel_k0": (bessel.k0e, "e^x K_0", "[   inf, 1.1445]", "exp(x)·K₀(x)."),
    "scaled_modified_bessel_k1": (bessel.k1e, "e^x K_1", "[   inf, 1.6362]", "exp(x)·K₁(x)."),
    "spherical_bessel_j0": (bessel.spherical_j0, "j_0", "[1.0000, 0.8415]", "sin(x)/x, and 1 at 0."),
    "airy_ai": (bessel.airy_ai, r"\text{{Ai}}", "[0.3550, 0.1353]", "Airy's function Ai."),
}


def _example(name: str, output: str) -> str:
    return f">>> torch.special.{name}(torch.tensor([0., 1.]))\ntensor({output})"


SPECIAL = {name: one_number(op, name, _example(name, output)) for op, (name, output) in _FORMS.items()}
for _name, (_fwd, _latex, _output, _doc) in _PLAIN.items():
    _op = Op(f"special_{_name}", full_precision(f"{_name}_cpu", _fwd), types="float", batch="elementwise",
             latex=f"{_latex}({{a}})", doc=_doc)  # fmt: skip
    SPECIAL[_name] = one_number(_op, _name, _example(_name, _output))
