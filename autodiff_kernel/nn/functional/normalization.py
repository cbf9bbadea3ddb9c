"""Norms: values made to have mean 0 and standard deviation 1, over a batch, a layer, a group or an instance."""

from math import prod
from typing import Any

from ...core import modes
from ...core.errors import explain
from ...core.rules.standardization import standardize_row

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]


def _scaled(y: Any, weight: Any, bias: Any, shape: Any = None) -> Any:
    if weight is not None:
        y = y * (weight if shape is None else weight.view(shape))
    return y if bias is None else y + (bias if shape is None else bias.view(shape))


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel of (N, C, …) standardized over the batch, or (not training) by the running statistics.

    While training, the running statistics move towards the batch's by `momentum`. Raises ValueError for a batch with one
    value for each channel while training.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.batch_norm(torch.tensor([[1.], [3.]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    shape = (1, -1, *[1] * (input.dim() - 2))
    channels = input.shape[1]
    if running_mean is not None and running_mean.numel() != channels:
        raise explain(
            RuntimeError,
            f"running_mean should contain {channels} elements not {running_mean.numel()}",
            cure=f"the input has {channels} channels (dimension 1): make the layer with that many features.",
        )
    if weight is not None and weight.numel() != channels:
        raise RuntimeError(f"weight should contain {channels} elements not {weight.numel()}")
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        factor = (running_var + eps).rsqrt()
        if weight is not None:
            factor = factor * weight
        y = (input - running_mean.view(shape)) * factor.view(shape)
        return y if bias is None else y + bias.view(shape)
    count = prod(input.shape) // max(channels, 1)
    if count == 1 and channels:
        raise explain(
            ValueError,
            f"Expected more than 1 value per channel when training, got input size {input.shape}",
            "One value has no spread that it could be divided by.",
            "take batches of at least 2 samples (drop_last=True in the DataLoader), or model.eval() for a single one.",
        )
    dims = (0, *range(2, input.dim()))
    y, _ = standardize_row(input, p=(dims, float(eps)))
    if running_mean is not None and count:
        with modes.no_grad():
            x = input.detach()
            mean, var = x.mean(dims), x.var(dims, unbiased=True)
            running_mean.mul_(1 - momentum).add_(mean * momentum)
            running_var.mul_(1 - momentum).add_(var * momentum)
    return _scaled(y, weight, bias, shape)


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Standardized over the last dimensions, which have `normalized_shape`; then times weight, plus bias.

    Raises RuntimeError where the last dimensions differ.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([[1., 3.]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    dims = _last(input, normalized_shape)
    y, _ = standardize_row(input, p=(dims, float(eps)))
    return _scaled(y, weight, bias)


def _last(input: Any, normalized_shape: Any) -> tuple[int, ...]:
    shape = tuple(normalized_shape)
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise explain(
            RuntimeError,
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input "
            f"of size{list(input.shape)}",
            cure="normalized_shape is the shape of the input's last dimensions.",
        )
    return tuple(range(input.dim() - len(shape), input.dim()))


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Divided by the root of the mean square over the last dimensions; then times weight."""
    dims = _last(input, normalized_shape)
    e = _eps(input) if eps is None else eps
    y = input * ((input * input).mean(dims, keepdim=True) + e).rsqrt()
    return y if weight is None else y * weight


def _eps(x: Any) -> float:
    import numpy as np

    return float(np.finfo(x.raw.dtype).eps)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The channels of (N, C, …) in groups, each group of each sample standardized by itself.

    Raises RuntimeError where the groups do not divide the channels.
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    n, c = input.shape[:2]
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    per_group = prod(input.shape[1:]) // num_groups
    y, _ = standardize_row(input.reshape(n, num_groups, per_group), p=((2,), float(eps)))
    return _scaled(y.reshape(input.shape), weight, bias, (1, c, *[1] * (input.dim() - 2)))


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel of each sample of (N, C, …) standardized by itself.

    Raises ValueError for one value for each channel.
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if prod(input.shape[2:]) <= 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    dims = tuple(range(2, input.dim()))
    y, _ = standardize_row(input, p=(dims, float(eps)))
    if running_mean is not None:
        with modes.no_grad():
            x = input.detach()
            mean, var = x.mean(dims).mean(0), x.var(dims, unbiased=True).mean(0)
            running_mean.mul_(1 - momentum).add_(mean * momentum)
            running_var.mul_(1 - momentum).add_(var * momentum)
    return _scaled(y, weight, bias, (1, -1, *[1] * (input.dim() - 2)))


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divided by (k + alpha · mean of the squares in `size` neighbouring channels)^beta."""
    from .convolution import pad

    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if not input.numel():
        return input
    squares = pad((input * input).movedim(1, -1), (size // 2, (size - 1) // 2))
    mean = squares.unfold(-1, size, 1).mean(-1).movedim(-1, 1)
    return input / (mean * alpha + k) ** beta
