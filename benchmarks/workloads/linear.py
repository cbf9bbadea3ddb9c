"""A large linear layer: the arithmetic is all of the cost, and the engine must not be seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contestants import Work, field, numbers
from benchmarks.harness import Case, Goal, Results


def start(size: int) -> list[np.ndarray]:
    """x, w, b, and the gradient that arrives at the output."""
    draw = np.random.default_rng(0)
    shapes = ((size, size), (size, size), (size,), (size, size))
    return [draw.standard_normal(shape, np.float32) for shape in shapes]


def tensors(size: int, torch: Any) -> Work:
    """`x @ w + b`, and its three gradients."""
    *begun, gradient = (torch.from_numpy(a) for a in start(size))
    x, w, b = leaves = [a.requires_grad_() for a in begun]

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        y = x @ w + b
        y.backward(gradient)
        return y

    def result() -> Results:
        return {"y": numbers(step())} | {name: numbers(a.grad) for name, a in zip("xwb", leaves, strict=True)}

    return Work(step, result)


def floor(size: int) -> Work:
    """Three products and two passes over the bias, by hand."""
    x, w, b, gradient = start(size)

    def step() -> tuple[np.ndarray, ...]:
        y = x.dot(w)
        y += b
        return y, gradient.dot(w.T), x.T.dot(gradient), gradient.sum(0)

    def result() -> Results:
        return dict(zip(("y", *"xwb"), step(), strict=True))

    return Work(step, result)


def cases() -> Iterator[Case]:
    """Square layers; the largest has the goal."""
    for size in (256, 1024):
        yield Case(
            f"linear{size}",
            f"{size}×{size} by {size}×{size} linear layer, forward and backward",
            field(partial(tensors, size), partial(floor, size)),
            goals=[Goal("cost", 1.05, "numpy")] if size == 1024 else [],
            rtol=1e-3,
            atol=1e-2,
        )
