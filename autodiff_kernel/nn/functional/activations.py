"""Activations: functions of each element, or of the elements along one dimension."""

from typing import Any

from ...core.api import FUNCTIONS
from ...core.errors import explain
from ...core.rules.activations import (
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
from ...core.tensor import Tensor

# these are functions of `torch` too
celu, hardshrink, log_softmax, prelu = [FUNCTIONS[n] for n in ("celu", "hardshrink", "log_softmax", "prelu")]
selu, sigmoid, softmax = [FUNCTIONS[n] for n in ("selu", "sigmoid", "softmax")]
tanh, threshold = [FUNCTIONS[n] for n in ("tanh", "threshold")]
celu_, relu_, selu_, threshold_ = [FUNCTIONS[n] for n in ("celu_", "relu_", "selu_", "threshold_")]

__all__ = [
    "celu", "celu_", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_", "rrelu", "selu", "selu_", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of each element and 0; `inplace` writes it over the input.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    made: Tensor = FUNCTIONS["relu_" if inplace else "relu"](input)
    return made


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax of −input along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.softmin(torch.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    x: Any = -input  # type: ignore[operator]
    made: Tensor = softmax(x, implicit_dim(input) if dim is None else dim, dtype=dtype)
    return made


def implicit_dim(x: Tensor) -> int:
    """The dimension that softmax takes where none is named; PyTorch's warning."""
    import warnings

    warnings.warn(
        "Implicit dimension choice for softmax has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if x.dim() in (0, 1, 3) else 1


def glu(input: Any, dim: int = -1) -> Any:
    """The first half along `dim` times the sigmoid of the second half.

    Raises RuntimeError for an odd size.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.glu(torch.tensor([3., 0.]))
    tensor([1.5000])
    """
    if not input.dim():
        raise RuntimeError("glu does not support 0-dimensional tensors")
    size = input.shape[dim]
    if size % 2:
        d = dim % input.dim()
        raise explain(
            RuntimeError,
            f"Halving dimension must be even, but dimension {d} is size {size}",
            cure="glu splits this dimension in two: give the layer before it twice as many outputs as you need.",
        )
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


def rrelu(
    input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Any:
    """Leaky ReLU with a slope that is drawn anew for each negative element while training.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.rrelu(torch.tensor([-48.]))
    tensor([-11.])
    """
    if not training:
        out = leaky_relu(input, (lower + upper) / 2)
    else:
        negative = input.detach() <= 0
        slope = FUNCTIONS["ones_like"](input.detach())
        count = int(negative.sum())
        draws = FUNCTIONS["empty"](count, dtype=FUNCTIONS["zeros"](0).double().dtype).uniform_(lower, upper)
        slope[negative] = draws.to(slope.dtype)
        out = input * slope
    return input.copy_(out) if inplace else out


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """Samples of a categorical distribution that gradients flow through; hard: one-hot ones.

    >>> import autodiff_kernel as torch
    >>> float(torch.nn.functional.gumbel_softmax(torch.zeros(3), hard=True).sum().detach())
    1.0
    """
    noise = -FUNCTIONS["empty_like"](logits.detach()).exponential_().log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return FUNCTIONS["zeros_like"](logits.detach()).scatter_(dim, index, 1.0) - soft.detach() + soft
