"""Who takes part: this package, PyTorch where it is installed, and a floor written by hand in NumPy.

A workload is written once, as a function of a torch-like namespace, and both packages run that same text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from benchmarks.harness import Contestant, Results, looped


@dataclass(frozen=True)
class Work:
    """One contestant's work: a step, a step that returns its numbers, and the way back to the start."""

    step: Callable[[], object]
    result: Callable[[], Results]
    reset: Callable[[], object] | None = None


def ours() -> Any:
    """This package, under the interface of PyTorch's namespace."""
    import autodiff_kernel

    return autodiff_kernel


def pytorch() -> Any:
    """PyTorch on one thread."""
    import torch

    torch.set_num_threads(1)
    return torch


def pytorch_installed() -> bool:
    """Whether PyTorch can be imported here."""
    return find_spec("torch") is not None


def field(
    tensors: Callable[[Any], Work],
    floor: Callable[[], Work] | None = None,
    *,
    loops: int | None = None,
    torch: bool = True,
) -> Callable[[], Sequence[Contestant]]:
    """The usual contestants of a workload: `tensors(namespace)` for ours and torch, `floor()` for numpy."""

    def contestants() -> list[Contestant]:
        works = [("ours", tensors(ours()))]
        if torch and pytorch_installed():
            works.append(("torch", tensors(pytorch())))
        if floor is not None:
            works.append(("numpy", floor()))
        return [looped(name, w.step, result=w.result, reset=w.reset, loops=loops) for name, w in works]

    return contestants


def numbers(tensor: Any) -> Any:
    """A tensor's values as an array."""
    return tensor.detach().numpy().copy()
