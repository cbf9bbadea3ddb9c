"""Dropout: while training, elements (or whole channels) are set to zero at random and the others grown to make up for it."""

import warnings
from typing import Any

from ...core.api import FUNCTIONS
from ...core.errors import explain

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _check(p: float, name: str = "dropout") -> None:
    if not 0 <= p <= 1:
        raise explain(
            ValueError,
            f"dropout probability has to be between 0 and 1, but got {p}",
            cure="p is the share that is dropped.",
        )


def _noise(input: Any, p: float, shape: Any) -> Any:
    return FUNCTIONS["empty"](shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)


def _dropped(input: Any, p: float, training: bool, inplace: bool, shape: Any) -> Any:
    _check(p)
    if not training or not p or not input.numel():
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    noise = _noise(input, p, shape).div_(1 - p)
    return input.mul_(noise) if inplace else input * noise


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Each element is zero with probability p, else divided by 1 − p; not training: the input.

    Draws PyTorch's numbers. Raises ValueError for p outside of 0 … 1.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout(torch.ones(5))
    tensor([0., 0., 2., 0., 0.])
    """
    return _dropped(input, p, training, inplace, input.shape)


def _features(input: Any, p: float, training: bool, inplace: bool) -> Any:
    if input.dim() < 2 and training:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _dropped(input, p, training, inplace, (*input.shape[:2], *[1] * (input.dim() - 2)))


def _channels(input: Any, p: float, training: bool, inplace: bool, dims: int) -> Any:
    _check(p)
    if input.dim() not in (dims + 1, dims + 2):
        warnings.warn(
            f"dropout{dims}d: Received a {input.dim()}-D input to dropout{dims}d, which is deprecated and will result in an "
            f"error in a future release. To retain the behavior and silence this warning, please use dropout instead. Note "
            f"that dropout{dims}d exists to provide channel-wise dropout on inputs with {dims} spatial dimensions, a channel "
            f"dimension, and an optional batch dimension (i.e. {dims + 1}D or {dims + 2}D inputs).",
            stacklevel=3,
        )
    return _features(input, p, training, inplace)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    if input.dim() == 2:
        return _features(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _features(input, p, training, inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, H, W).

    >>> import autodiff_kernel as torch
    >>> y = torch.nn.functional.dropout2d(torch.ones(1, 3, 2, 2))
    >>> [float(plane.std()) for plane in y[0]]
    [0.0, 0.0, 0.0]
    """
    return _channels(input, p, training, inplace, 2)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, D, H, W)."""
    return _channels(input, p, training, inplace, 3)


def _alpha(input: Any, p: float, training: bool, inplace: bool, shape: Any) -> Any:
    _check(p)
    if not training or not p or not input.numel():
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    alpha = 1.7580993408473766
    a = 1 / ((alpha * alpha * p + 1) * (1 - p)) ** 0.5
    noise = _noise(input, p, shape)
    b = noise.sub(1).mul_(alpha * a).add_(alpha * a * p)
    noise.mul_(a)
    return input.mul_(noise).add_(b) if inplace else input * noise + b


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and standard deviation behind SELU."""
    return _alpha(input, p, training, inplace, input.shape)


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Alpha dropout of whole channels."""
    return _alpha(input, p, training, inplace, (*input.shape[:2], *[1] * (input.dim() - 2)))
