"""What distributions share: parameters of one shape, probabilities and logits, values that are computed when asked for."""

from collections.abc import Callable
from numbers import Number
from typing import Any, Final

from ..core.dtype import finfo, get_default_dtype
from ..core.modes import enable_grad
from ..core.rules.activations import logsigmoid
from ..core.tensor import Size, Tensor
from .functions import arange, broadcast_tensors, cat, empty, ones_like, tensor

euler_constant: Final[float] = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """The values, tensors or numbers, as tensors of one shape; numbers take the dtype of the first tensor.

    Raises ValueError for anything else.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.utils.broadcast_all(1, torch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    if not all(isinstance(v, Tensor | Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    like = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    made = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype, device=device) for v in values]
    return tuple(broadcast_tensors(*made))


def standard_normal(shape: Any, like: Tensor) -> Any:
    """Standard normal numbers of a shape, with the dtype and the device of `like`."""
    return empty(shape, dtype=like.dtype, device=like.device).normal_()


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value.reshape(*value.shape[: value.dim() - dim], -1).sum(-1) if dim else value


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Any:
    """Probabilities from log-odds (is_binary) or from unnormalized log probabilities along the last dimension.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.utils.logits_to_probs(torch.tensor([0., 0.]))
    tensor([0.5000, 0.5000])
    """
    return logits.sigmoid() if is_binary else logits.softmax(dim=-1)


def clamp_probs(probs: Tensor) -> Any:
    """Probabilities kept away from 0 and 1 by the smallest step of their dtype, so that their logarithms are finite.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.utils.clamp_probs(torch.tensor([0., 0.5]))
    tensor([1.1921e-07, 5.0000e-01])
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Any:
    """Log-odds (is_binary) or log probabilities.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.utils.probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def cross_entropy_of_logits(logits: Tensor, target: Any) -> Any:
    """−t·log p − (1 − t)·log(1 − p) for p = sigmoid(logits), element by element."""
    return (1 - target) * logits - logsigmoid(logits)


def pad_last(x: Tensor, before: int, after: int) -> Any:
    """x with ones before and after it along the last dimension."""
    ones = ones_like(x[..., :1])
    return cat([*[ones] * before, x, *[ones] * after], dim=-1)


class lazy_property:
    """A property that is computed at the first question and then stays.

    A parameter that was given is simply set; the other way of saying the same (probs or logits) is such a property.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__
        self.__name__ = wrapped.__name__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.__name__, value)
        return value


def one_of(probs: Any, logits: Any) -> str:
    """The name of the one that is given; ValueError unless it is exactly one."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "logits" if probs is None else "probs"


def _below(size: int, diag: int, device: Any) -> Any:
    """True on and below the given diagonal of a square matrix."""
    steps = arange(size, device=device)
    return steps < steps.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Any:
    """The elements on and below a diagonal of (…, D, D) matrices, row by row, as (…, N) vectors.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.utils.tril_matrix_to_vec(torch.arange(4.).view(2, 2))
    tensor([0., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _below(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Any:
    """The lower triangular (…, D, D) matrices with the elements of (…, N) vectors, row by row.

    >>> import autodiff_kernel as torch
    >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1., 2., 3.]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    # D(D + 1)/2 + D·diag − |diag|(diag + 1)/2 elements lie there
    root = ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5
    n = (root - (1 + 2 * diag)) / 2
    if abs(round(n) - n) > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a "
            "square D x D matrix."
        )
    mat = vec.new_zeros((*vec.shape[:-1], round(n), round(n)))
    mat[..., _below(round(n), diag, vec.device)] = vec
    return mat


def size_of(*parts: Any) -> Size:
    """Shapes joined to one."""
    return Size([n for part in parts for n in part])
