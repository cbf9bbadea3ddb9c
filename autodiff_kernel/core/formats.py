"""Layouts and memory formats: the names that PyTorch's signatures ask for. All tensors here are strided."""

from typing import Any

import numpy as np


class layout:
    """How a tensor's elements are stored: `torch.strided`.

    >>> strided
    torch.strided
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format:
    """In which order a tensor's dimensions lie in memory: `torch.contiguous_format`, `torch.channels_last`, …

    >>> channels_last
    torch.channels_last
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = layout("strided")
preserve_format = memory_format("preserve_format")
contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def copied(a: Any, format: Any) -> Any:
    """A copy of a raw array in a memory format; channels last means that dimension 1 varies fastest.

    Raises RuntimeError for a number of dimensions that the format does not have.
    """
    if format is not channels_last and format is not channels_last_3d:
        return a.copy()
    check_rank(a, format)
    return np.moveaxis(np.moveaxis(a, 1, -1).copy(), -1, 1)


def preserved(a: Any) -> Any:
    """A copy of a raw array whose dimensions lie in memory in the same order: PyTorch's preserve_format."""
    if a.flags.c_contiguous:
        return a.copy()
    return laid_as(a, a)


def laid_as(a: Any, y: Any) -> Any:
    """y with its dimensions in memory in the order of a's, which has the same shape."""
    order = nesting(a)
    return y.transpose(order).copy().transpose(np.argsort(order))


def nesting(a: Any) -> list[int]:
    """The dimensions of a raw array by their steps in memory, the longest first.

    A repeated dimension (step 0) stays between its neighbours, and of equal steps the shorter dimension is inside; for
    arrays whose elements have memory of their own this is the order that they have.
    """
    inner = list(range(a.ndim - 1, -1, -1))  # the innermost first
    for i in range(1, a.ndim):
        at = i
        for other in range(i - 1, -1, -1):
            here, there = inner[at], inner[other]
            near, far = a.strides[here], a.strides[there]
            if not near or not far or near == far and a.shape[there] <= a.shape[here]:
                continue  # cannot be told
            if far < near:
                break
            inner[at], inner[other], at = there, here, other
    return inner[::-1]


def like(a: Any, format: Any, make: Any) -> Any:
    """make(shape), a new raw array of a's shape, whose dimensions lie in memory as a's do, or in a format."""
    shape = tuple(a.shape)
    if format is channels_last or format is channels_last_3d:
        check_rank(a, format)
        return np.moveaxis(make((shape[0], *shape[2:], shape[1])), -1, 1)
    if format is contiguous_format or not a.ndim or a.flags.c_contiguous:
        return make(shape)
    order = nesting(a)
    return make(tuple(shape[k] for k in order)).transpose(np.argsort(order))


def lies_in(a: Any, format: Any) -> bool:
    """Whether a raw array lies in a memory format."""
    if format is not channels_last and format is not channels_last_3d:
        return a.ndim == 0 or a.size == 0 or bool(a.flags.c_contiguous)
    return a.ndim == (4 if format is channels_last else 5) and bool(np.moveaxis(a, 1, -1).flags.c_contiguous)


def check_rank(a: Any, format: Any) -> None:
    rank = 4 if format is channels_last else 5
    if a.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {format.name} format")
