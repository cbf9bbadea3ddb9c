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


def lies_in(a: Any, format: Any) -> bool:
    """Whether a raw array lies in a memory format."""
    if format is not channels_last and format is not channels_last_3d:
        return a.ndim == 0 or a.size == 0 or bool(a.flags.c_contiguous)
    return a.ndim == (4 if format is channels_last else 5) and bool(np.moveaxis(a, 1, -1).flags.c_contiguous)


def check_rank(a: Any, format: Any) -> None:
    rank = 4 if format is channels_last else 5
    if a.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {format.name} format")
