"""Warnings: at the user's line, however deep in the package they arise; some of them once per process, as in PyTorch."""

import sys
import warnings

_told: set[str] = set()

CREATES_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which "
    "can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use "
    "this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid "
    "the leak. (Here there is no cycle, since a graph holds its leaves weakly; but each .grad keeps its whole graph in "
    "memory.)"
)
TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first. (The number does not know how it was computed: no gradient flows through it. "
    "For a tensor of tensors, torch.stack keeps the graph.)"
)


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside this package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and "__autodiff_kernel__" in frame.f_globals:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=depth)


def warn_once(text: str) -> None:
    """The same, for the first time in this process only."""
    if text not in _told:
        _told.add(text)
        warn(text)
