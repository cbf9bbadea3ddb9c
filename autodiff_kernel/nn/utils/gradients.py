"""Gradients of all parameters together: their norm, and limits to it; parameters as one vector."""

import math
import warnings
from typing import Any

from ...core import modes
from ...core.api import FUNCTIONS
from ...core.tensor import Tensor

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    "parameters_to_vector", "vector_to_parameters",
]  # fmt: skip


def _list(parameters: Any) -> list[Any]:
    if isinstance(parameters, Tensor):
        return [parameters]
    parameters = list(parameters)
    if not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    return parameters


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """The norm of all tensors, as if they were one vector. Raises RuntimeError for one that is not finite, if asked to."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return FUNCTIONS["tensor"](0.0)
    with modes.no_grad():
        norms = FUNCTIONS["stack"]([t.norm(norm_type) for t in tensors])
        total = norms.max() if norm_type == math.inf else norms.norm(norm_type)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scale all gradients by max_norm / total_norm where that is below 1."""
    with modes.no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for p in _list(parameters):
            if p.grad is not None:
                p.grad.mul_(factor)


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale all gradients, in place, such that their norm together is at most max_norm; gives the norm before.

    >>> import autodiff_kernel as torch
    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3., 4.])
    >>> torch.nn.utils.clip_grad_norm_([w], 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    parameters = _list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, float(norm_type), error_if_nonfinite)
    if parameters:
        clip_grads_with_norm_(parameters, float(max_norm), total)
    return total


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, **options: Any) -> Any:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, **options)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit each element of each gradient, in place, to −clip_value … clip_value."""
    with modes.no_grad():
        for p in _list(parameters):
            if p.grad is not None:
                p.grad.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Any) -> Any:
    """All parameters as one vector.

    >>> import autodiff_kernel as torch
    >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(3, 2).parameters()).shape
    torch.Size([8])
    """
    return FUNCTIONS["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Any) -> None:
    """Put the parts of a vector in the place of all parameters' values. Raises TypeError for what is no Tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()
