"""torch.nn.init: first values for parameters, drawn as PyTorch draws them.

Each function fills a tensor in place, without recording, and returns it.  For the same seed the numbers are PyTorch's.
"""

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

from ..core import modes
from ..core.api import FUNCTIONS
from ..core.errors import explain
from ..core.tensor import Tensor

LINEAR = (
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
)  # fmt: skip


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor that keeps the size of values through a nonlinearity: 1 for linear layers, √2 for "relu", and so on.

    param: the negative slope of "leaky_relu" (0.01 if left out).  Raises ValueError for an unknown name and for a slope
    that is no number.

    >>> import autodiff_kernel as torch
    >>> torch.nn.init.calculate_gain("tanh"), torch.nn.init.calculate_gain("leaky_relu", 1.0)
    (1.6666666666666667, 1.0)
    """
    if nonlinearity in LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity != "leaky_relu":
        raise explain(
            ValueError,
            f"Unsupported nonlinearity {nonlinearity}",
            cure=f"one of {', '.join(LINEAR)}, tanh, relu, leaky_relu, selu.",
        )
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


@modes.no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Numbers drawn uniformly from [a, b).

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.uniform_(torch.empty(3), -1, 1)
    tensor([-0.0075,  0.5364, -0.8230])
    """
    return tensor.uniform_(a, b, generator=generator)  # type: ignore[no-any-return]


@modes.no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.normal_(torch.empty(3), std=0.1)
    tensor([ 0.1541, -0.0293, -0.2179])
    """
    return tensor.normal_(mean, std, generator=generator)  # type: ignore[no-any-return]


@modes.no_grad()
def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal numbers between a and b: those outside are drawn again.

    Where little of the distribution lies inside, candidates are drawn uniformly and taken with the density's
    probability.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.trunc_normal_(torch.empty(3), a=0., b=2.)
    tensor([1.5410, 0.8380, 0.1820])
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=3,
        )
    inside = _below((b - mean) / std) - _below((a - mean) / std)
    if inside > 0.3:
        _redrawn(tensor, mean, std, a, b, generator)
    else:
        _accepted(tensor, mean, std, a, b, generator)
    return tensor  # type: ignore[no-any-return]


def _below(x: float) -> float:
    """The standard normal distribution's part below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redrawn(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    """Normal numbers; a whole tensor is drawn again, and taken where the last one lies outside, until none does."""
    low, high = [tensor.new_tensor(x).item() for x in (a, b)]  # as the tensor's dtype has them
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            break
        again = FUNCTIONS["empty_like"](result).normal_(mean, std, generator=generator)
        result = FUNCTIONS["where"](outside, again, result)
    if result is not tensor:
        tensor.copy_(result)


def _accepted(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    """Uniform candidates, each taken with the probability density(candidate) / (highest density in the interval)."""
    nearest = max(a, min(mean, b))
    peak = -0.5 * ((nearest - mean) / std) ** 2
    chance = FUNCTIONS["empty_like"](tensor)

    def refused(candidates: Any) -> Any:
        density = candidates.clone().sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chance.uniform_(generator=generator).log_().gt(density)

    result = tensor.uniform_(a, b, generator=generator)
    pending = refused(result)
    while pending.any():
        candidates = FUNCTIONS["empty_like"](tensor).uniform_(a, b, generator=generator)
        result = FUNCTIONS["where"](pending, candidates, result)
        pending = pending & refused(candidates)
    if result is not tensor:
        tensor.copy_(result)


@modes.no_grad()
def constant_(tensor: Any, val: float) -> Tensor:
    """One number everywhere.

    >>> import autodiff_kernel as torch
    >>> torch.nn.init.constant_(torch.empty(2), 0.3)
    tensor([0.3000, 0.3000])
    """
    return tensor.fill_(val)  # type: ignore[no-any-return]


@modes.no_grad()
def ones_(tensor: Any) -> Tensor:
    """Ones."""
    return tensor.fill_(1.0)  # type: ignore[no-any-return]


@modes.no_grad()
def zeros_(tensor: Any) -> Tensor:
    """Zeros."""
    return tensor.zero_()  # type: ignore[no-any-return]


@modes.no_grad()
def eye_(tensor: Any) -> Tensor:
    """The identity matrix: a linear layer that begins so passes its input on.  ValueError unless (rows, columns).

    >>> import autodiff_kernel as torch
    >>> torch.nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    _need(tensor, tensor.dim() == 2, "Only tensors with 2 dimensions are supported")
    tensor.zero_().diagonal().fill_(1)
    return tensor  # type: ignore[no-any-return]


@modes.no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Tensor:
    """A convolution's weight (out, in / groups, size...) that passes its input on: a one in each kernel's middle.

    Raises ValueError unless there are 3 to 5 dimensions and `groups` divides the first.

    >>> import autodiff_kernel as torch
    >>> torch.nn.init.dirac_(torch.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    _need(tensor, tensor.dim() in (3, 4, 5), "Only tensors with 3, 4, or 5 dimensions are supported")
    out, inside = tensor.shape[:2]
    _need(tensor, out % groups == 0, "dim 0 must be divisible by groups")
    middle = tuple([n // 2 for n in tensor.shape[2:]])
    each = out // groups
    tensor.zero_()
    for group in range(groups):
        for d in range(min(each, inside)):
            tensor[(group * each + d, d, *middle)] = 1
    return tensor  # type: ignore[no-any-return]


def _need(tensor: Any, condition: bool, phrase: str) -> None:
    if not condition:
        raise explain(ValueError, phrase, f"This one has the shape {list(tensor.shape)}.", tensor=tensor)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input, by the shape (out, in, kernel size...) of a weight."""
    _need(
        tensor,
        tensor.dim() >= 2,
        "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
    )
    out, inside, *kernel = tensor.shape
    return inside * math.prod(kernel), out * math.prod(kernel)


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in ±gain·√(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Raises ValueError for fewer than 2 dimensions.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.xavier_uniform_(torch.empty(1, 2))
    tensor([[-0.0106,  0.7586]])
    """
    bound = math.sqrt(3.0) * _xavier(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with std gain·√(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Raises ValueError for fewer than 2 dimensions.
    """
    return normal_(tensor, 0.0, _xavier(tensor, gain), generator)


def _xavier(tensor: Any, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform in ±gain·√(3 / fan), with the gain of the nonlinearity that follows (He and others, 2015).

    a: the negative slope of "leaky_relu".  mode: "fan_in" keeps the size of values, "fan_out" that of gradients.
    Raises ValueError for fewer than 2 dimensions and for another mode.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.kaiming_uniform_(torch.empty(1, 3), nonlinearity="relu")
    tensor([[-0.0106,  0.7586, -1.1640]])
    """
    if _is_empty(tensor):
        return tensor  # type: ignore[no-any-return]
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with std gain / √fan (He and others, 2015); the arguments are those of `kaiming_uniform_`."""
    if _is_empty(tensor):
        return tensor  # type: ignore[no-any-return]
    return normal_(tensor, 0, _kaiming(tensor, a, mode, nonlinearity), generator)


def _kaiming(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _is_empty(tensor: Any) -> bool:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


@modes.no_grad()
def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix with orthonormal rows or columns (whichever are fewer), times gain (Saxe and others, 2013).

    More than two dimensions count as rows of all the others together.  Raises ValueError for fewer than 2.

    >>> import autodiff_kernel as torch
    >>> q = torch.nn.init.orthogonal_(torch.empty(3, 5))
    >>> torch.allclose(q @ q.T, torch.eye(3), atol=1e-6)
    True
    """
    _need(tensor, tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor  # type: ignore[no-any-return]
    from .. import linalg

    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q, r = linalg.qr(flat.t() if rows < columns else flat)
    q = q * r.diagonal().sign()  # without this the distribution would lean towards what the algorithm prefers
    tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))
    return tensor.mul_(gain)  # type: ignore[no-any-return]


@modes.no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal numbers, with the given part of each column set to zero (Martens, 2010).  ValueError unless a matrix."""
    _need(tensor, tensor.dim() == 2, "Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[FUNCTIONS["randperm"](rows)[:zeros], column] = 0
    return tensor  # type: ignore[no-any-return]


def _old_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    name = function.__name__

    @wraps(function)
    def old(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name[:-1]
    old.__doc__ = f"The old name of `{name}`."
    return old


uniform, normal, constant, eye, dirac = [_old_name(f) for f in (uniform_, normal_, constant_, eye_, dirac_)]
xavier_uniform, xavier_normal = _old_name(xavier_uniform_), _old_name(xavier_normal_)
kaiming_uniform, kaiming_normal = _old_name(kaiming_uniform_), _old_name(kaiming_normal_)
orthogonal, sparse = _old_name(orthogonal_), _old_name(sparse_)

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal", "kaiming_normal_",
    "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_",
    "trunc_normal_", "uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_",
    "zeros_",
]  # fmt: skip
