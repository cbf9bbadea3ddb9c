"""Functions of one number: exp, log, trigonometry, and their relatives."""

import numpy as np

from ..api import unary_names
from ..op import Op

exp = Op("exp", np.exp, a=lambda g, n: g * n.y, reads=("y",), mode="elementwise", types="float",
         partials=("{y}",), latex="e^{{{a}}}", doc="e to the power of each element.")  # fmt: skip
log = Op("log", np.log, a=lambda g, n: g / n.a, reads=("a",), mode="elementwise", types="float",
         partials=("1/{a}",), latex=r"\log {a}", doc="The natural logarithm of each element.")  # fmt: skip
tanh = Op("tanh", np.tanh, a=lambda g, n: g * (1 - n.y * n.y), reads=("y",), mode="elementwise", types="float",
          partials=("1 − {y}²",), latex=r"\tanh {a}", doc="The hyperbolic tangent of each element.")  # fmt: skip
sin = Op("sin", np.sin, a=lambda g, n: g * cos(n.a), reads=("a",), mode="elementwise", types="float",
         partials=("cos {a}",), latex=r"\sin {a}", doc="The sine of each element (radians).")  # fmt: skip
cos = Op("cos", np.cos, a=lambda g, n: -g * sin(n.a), reads=("a",), mode="elementwise", types="float",
         partials=("−sin {a}",), latex=r"\cos {a}", doc="The cosine of each element (radians).")  # fmt: skip
reciprocal = Op("reciprocal", lambda a: 1 / a, a=lambda g, n: -g * n.y * n.y, reads=("y",), mode="elementwise",
                types="float", symbol="1/", partials=("−{y}²",), latex=r"\frac{{1}}{{{a}}}",
                doc="One over each element.")  # fmt: skip
relu = Op("relu", lambda a: np.maximum(a, 0), a=lambda g, n: g * (n.y > 0), reads=("y",), mode="elementwise",
          partials=("1 where {y} > 0, else 0",), latex=r"\max({a}, 0)",
          doc="The element where it is positive, else 0.")  # fmt: skip

for _op, _example in {
    exp: ">>> torch.exp(torch.tensor([0., 1.]))\ntensor([1.0000, 2.7183])",
    log: ">>> torch.log(torch.tensor([1., 10.]))\ntensor([0.0000, 2.3026])",
    tanh: ">>> torch.tanh(torch.tensor([0., 1.]))\ntensor([0.0000, 0.7616])",
    sin: ">>> torch.sin(torch.tensor([0., 1.]))\ntensor([0.0000, 0.8415])",
    cos: ">>> torch.cos(torch.tensor([0., 1.]))\ntensor([1.0000, 0.5403])",
    reciprocal: ">>> torch.reciprocal(torch.tensor([2., 4.]))\ntensor([0.5000, 0.2500])",
    relu: ">>> torch.relu(torch.tensor([-1., 2.]))\ntensor([0., 2.])",
}.items():
    unary_names(_op, example=_example)
