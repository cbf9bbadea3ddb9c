"""torch.nn.functional: the functions that layers compute, for those who hold their own weights."""

from ..core.api import FUNCTIONS as _FUNCTIONS
from ..core.rules.activations import (
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    logsigmoid,
    mish,
    relu6,
    silu,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
)
from ..core.rules.layers import linear
from ..core.rules.scatter import one_hot
from ..core.rules.tensor_products import bilinear

# these are functions of `torch` too
celu, hardshrink, log_softmax, prelu = [_FUNCTIONS[n] for n in ("celu", "hardshrink", "log_softmax", "prelu")]
relu, selu, sigmoid, softmax = [_FUNCTIONS[n] for n in ("relu", "selu", "sigmoid", "softmax")]
tanh, threshold = [_FUNCTIONS[n] for n in ("tanh", "threshold")]

__all__ = [
    "bilinear", "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "linear",
    "log_softmax", "logsigmoid", "mish", "one_hot", "prelu", "relu", "relu6", "selu", "sigmoid", "silu", "softmax",
    "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip
