"""Distances and angles between vectors."""

from typing import Any

from ...core.api import FUNCTIONS

__all__ = ["cosine_similarity", "normalize", "pairwise_distance"]


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.cosine_similarity(torch.tensor([[1., 0.]]), torch.tensor([[1., 1.]]))
    tensor([0.7071])
    """
    x1, x2 = FUNCTIONS["broadcast_tensors"](x1, x2)
    n1 = (x1 * x1).sum(dim, keepdim=True).sqrt().clamp(min=eps)
    n2 = (x2 * x2).sum(dim, keepdim=True).sqrt().clamp(min=eps)
    return ((x1 / n1) * (x2 / n2)).sum(dim)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 − x2 + eps along the last dimension.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.pairwise_distance(torch.tensor([[3., 4.]]), torch.zeros(1, 2))
    tensor([5.0000])
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """Vectors along `dim` divided by their p-norm (at least eps).

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    y = input / input.norm(p, dim, keepdim=True).clamp(min=eps).expand_as(input)
    return y if out is None else out.copy_(y)
