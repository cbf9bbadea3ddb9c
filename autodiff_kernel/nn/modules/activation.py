"""Activations as layers."""

from typing import Any

from .. import functional as F
from ..functional.activations import implicit_dim
from . import filling
from .filling import parameter
from .module import Module
from .plain import Plain, made

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax",
    "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus",
    "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


def _layer(name: str, function: Any, arguments: str, shown: str, doc: str) -> Any:
    return made(name, function, arguments, shown, doc, __name__)


class ReLU(Module):
    """max(0, x), element by element.

    >>> import autodiff_kernel as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.relu(input) if not self.inplace else input.relu_()

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardtanh(Plain):
    """The input, at least min_val and at most max_val."""

    function = staticmethod(F.hardtanh)
    arguments: tuple[tuple[str, Any], ...] = (("min_val", -1.0), ("max_val", 1.0), ("inplace", False))
    shown: tuple[str, ...] = ("min_val=", "max_val=", "inplace?")

    def check(self) -> None:
        if self.max_val <= self.min_val:
            raise ValueError("max_val must be larger than min_val")


class ReLU6(Hardtanh):
    """min(max(0, x), 6), element by element."""

    arguments = (("inplace", False),)
    shown = ("inplace?",)

    def check(self) -> None:
        self.min_val, self.max_val = 0.0, 6.0

    def given(self) -> dict[str, Any]:
        return {"min_val": 0.0, "max_val": 6.0, "inplace": self.inplace}


Sigmoid = _layer("Sigmoid", F.sigmoid, "", "", "1 / (1 + exp(−x)), element by element.")
Tanh = _layer("Tanh", F.tanh, "", "", "The hyperbolic tangent, element by element.")
SiLU = _layer("SiLU", F.silu, "inplace=False", "inplace?", "x · sigmoid(x), element by element.")
Mish = _layer("Mish", F.mish, "inplace=False", "inplace?", "x · tanh(softplus(x)), element by element.")
Hardswish = _layer(
    "Hardswish", F.hardswish, "inplace=False", "inplace?", "x · relu6(x + 3) / 6, element by element."
)
Hardsigmoid = _layer(
    "Hardsigmoid", F.hardsigmoid, "inplace=False", "inplace?", "relu6(x + 3) / 6, element by element."
)
ELU = _layer(
    "ELU", F.elu, "alpha=1.0 inplace=False", "alpha= inplace?", "x, or alpha (exp(x) − 1) below zero."
)
CELU = _layer(
    "CELU",
    F.celu,
    "alpha=1.0 inplace=False",
    "alpha= inplace?",
    "x, or alpha (exp(x / alpha) − 1) below zero.",
)
SELU = _layer("SELU", F.selu, "inplace=False", "inplace?", "ELU, scaled such that signals keep their spread.")
GLU = _layer("GLU", F.glu, "dim=-1", "dim=", "One half times the sigmoid of the other half.")
GELU = _layer(
    "GELU", F.gelu, "approximate='none'", "approximate", "x times the normal distribution's share below x."
)
GELU.extra_repr = lambda self: f"approximate={self.approximate!r}"
Hardshrink = _layer("Hardshrink", F.hardshrink, "lambd=0.5", "lambd", "x, or zero between −lambd and lambd.")
Softshrink = _layer("Softshrink", F.softshrink, "lambd=0.5", "lambd", "x, moved towards zero by lambd.")
LeakyReLU = _layer(
    "LeakyReLU",
    F.leaky_relu,
    "negative_slope=0.01 inplace=False",
    "negative_slope= inplace?",
    "x, or slope · x below zero.",
)
LogSigmoid = _layer("LogSigmoid", F.logsigmoid, "", "", "log(sigmoid(x)), element by element.")
Softplus = _layer(
    "Softplus", F.softplus, "beta=1.0 threshold=20.0", "beta= threshold=", "log(1 + exp(beta x)) / beta."
)
Softsign = _layer("Softsign", F.softsign, "", "", "x / (1 + |x|), element by element.")
Tanhshrink = _layer("Tanhshrink", F.tanhshrink, "", "", "x − tanh(x), element by element.")
Threshold = _layer(
    "Threshold",
    F.threshold,
    "threshold value inplace=False",
    "threshold= value= inplace?",
    "x above the threshold, else value.",
)


class RReLU(Plain):
    """Leaky ReLU with slopes that are drawn while training."""

    function = staticmethod(F.rrelu)
    arguments = (("lower", 1 / 8), ("upper", 1 / 3), ("inplace", False))
    shown = ("lower=", "upper=", "inplace?")

    def given(self) -> dict[str, Any]:
        return {**super().given(), "training": self.training}


class PReLU(Module):
    """Leaky ReLU whose slope is a parameter: one, or one for each of num_parameters channels."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = parameter(num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to `init`."""
        filling.full(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _AlongDim(Module):
    """A softmax along `dim`."""

    function: Any = None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, saved: Any) -> None:
        super().__setstate__(saved)
        self.__dict__.setdefault("dim", None)

    def forward(self, input: Any) -> Any:
        return type(self).function(input, implicit_dim(input) if self.dim is None else self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x) divided by its sum along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Softmax(dim=0)(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    function = staticmethod(F.softmax)


class LogSoftmax(_AlongDim):
    """The logarithm of softmax along `dim`, without overflow."""

    function = staticmethod(F.log_softmax)


class Softmin(_AlongDim):
    """softmax of −x along `dim`."""

    function = staticmethod(F.softmin)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W). Raises ValueError for another number of dimensions."""

    def forward(self, input: Any) -> Any:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
