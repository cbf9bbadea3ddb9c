"""Functions of functions on a 64-64-10 perceptron, batch 256: gradients of each sample by vmap, and forward mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contestants import Work, numbers, ours, pytorch, pytorch_installed
from benchmarks.harness import Case, Contestant, Goal, looped

BATCH, INPUTS, HIDDEN, CLASSES = 256, 64, 64, 10


def start(torch: Any) -> tuple[Any, Any, Any]:
    """The parameters, a batch, and its targets."""
    draw = np.random.default_rng(0)

    def tensor(*shape: int) -> Any:
        return torch.from_numpy(draw.normal(0, 0.1, shape).astype(np.float32))

    parameters = {
        "w1": tensor(HIDDEN, INPUTS),
        "b1": tensor(HIDDEN),
        "w2": tensor(CLASSES, HIDDEN),
        "b2": tensor(CLASSES),
    }
    return parameters, tensor(BATCH, INPUTS), tensor(BATCH, CLASSES)


def scores(torch: Any, p: Any, x: Any) -> Any:
    """The perceptron's outputs."""
    linear = torch.nn.functional.linear
    return linear(torch.relu(linear(x, p["w1"], p["b1"])), p["w2"], p["b2"])


def each_sample(vectorized: bool, torch: Any) -> Work:
    """The gradient of each sample's loss for all parameters, by vmap or by a loop."""
    parameters, x, y = start(torch)
    gradient = torch.func.grad(lambda p, x, y: ((scores(torch, p, x) - y) ** 2).mean())
    at_once = torch.func.vmap(gradient, (None, 0, 0))

    def step() -> Any:
        if vectorized:
            return at_once(parameters, x, y)
        every = [gradient(parameters, x[i], y[i]) for i in range(BATCH)]
        return {name: torch.stack([g[name] for g in every]) for name in parameters}

    return Work(step, lambda: {name: numbers(g) for name, g in step().items()})


def forward_mode(along: str, torch: Any) -> Work:
    """The outputs and their rate of change along the input, or along the input and all parameters."""
    parameters, x, _ = start(torch)
    dx, dp = x * 0.5, {name: p * 0.5 for name, p in parameters.items()}

    def step() -> Any:
        with torch.no_grad():
            if along == "input":
                return torch.func.jvp(lambda x: scores(torch, parameters, x), (x,), (dx,))
            return torch.func.jvp(lambda p, x: scores(torch, p, x), (parameters, x), (dp, dx))

    return Work(step, lambda: dict(zip(("y", "dy"), map(numbers, step()), strict=True)))


def value(torch: Any) -> Work:
    """The outputs alone."""
    parameters, x, _ = start(torch)

    def step() -> Any:
        with torch.no_grad():
            return scores(torch, parameters, x)

    return Work(step, lambda: {"y": numbers(step())})


def beside(
    work: Callable[[Any], Work], other: str, base: Callable[[Any], Work]
) -> Callable[[], Sequence[Contestant]]:
    """The work in this package and in PyTorch, and what it is held against in this package."""

    def contestants() -> list[Contestant]:
        works = [("ours", work(ours()), True), (other, base(ours()), False)]
        if pytorch_installed():
            works.append(("torch", work(pytorch()), True))
        return [looped(name, w.step, result=w.result if compared else None) for name, w, compared in works]

    return contestants


def cases() -> Iterator[Case]:
    """What the transformations of functions are to reach."""
    yield Case(
        "per_sample",
        f"gradients of each of {BATCH} samples of a 64-64-10 perceptron: vmap(grad), and a loop over grad",
        beside(partial(each_sample, True), "loop", partial(each_sample, False)),
        goals=[Goal("faster", 10, "loop"), Goal("faster", 1, "torch")],
    )
    yield Case(
        "jvp",
        f"func.jvp of a 64-64-10 perceptron along its input, batch {BATCH}, and the perceptron alone",
        beside(partial(forward_mode, "input"), "forward", value),
        goals=[Goal("cost", 3, "forward"), Goal("faster", 1, "torch")],
    )
    yield Case(
        "jvp/all",
        f"func.jvp of a 64-64-10 perceptron along input and parameters, batch {BATCH}: three times the products",
        beside(partial(forward_mode, "all"), "forward", value),
        goals=[Goal("faster", 1, "torch")],
    )
