"""One SGD step of a 64-64-10 perceptron on a batch of 32, written with tensors as in a first lesson."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contestants import Work, field, numbers, ours
from benchmarks.harness import Case, Contestant, Goal, Results, looped

BATCH, INPUTS, HIDDEN, CLASSES = 32, 64, 64, 10
RATE = 0.01
NAMES = ("w1", "b1", "w2", "b2")


def start() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The parameters (w1, b1, w2, b2), a batch, and its targets as one-hot rows."""
    draw = np.random.default_rng(0)
    shapes = ((INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,))
    parameters = [draw.normal(0, 0.1, shape).astype(np.float32) for shape in shapes]
    x = draw.normal(0, 1, (BATCH, INPUTS)).astype(np.float32)
    return parameters, x, np.eye(CLASSES, dtype=np.float32)[draw.integers(0, CLASSES, BATCH)]


def tensors(classify: bool, torch: Any) -> Work:
    """relu and mean-square loss, or tanh and cross-entropy by log_softmax."""
    begun, batch, one_hot = start()
    x, target = torch.from_numpy(batch), torch.from_numpy(one_hot)
    parameters = [torch.tensor(a.tolist(), requires_grad=True) for a in begun]
    copies = [torch.tensor(a.tolist()) for a in begun]
    w1, b1, w2, b2 = parameters

    def step() -> Any:
        if classify:
            hidden = torch.tanh(x @ w1 + b1)
            scores = torch.log_softmax(hidden @ w2 + b2, 1)
            loss = -(scores * target).sum() / BATCH
        else:
            hidden = torch.relu(x @ w1 + b1)
            loss = ((hidden @ w2 + b2 - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for parameter in parameters:
                parameter -= RATE * parameter.grad
                parameter.grad = None
        return loss

    def reset() -> None:
        with torch.no_grad():
            for parameter, copy in zip(parameters, copies, strict=True):
                parameter.copy_(copy)

    def result() -> Results:
        losses = [numbers(step()) for _ in range(3)]
        return {"losses": losses} | {name: numbers(p) for name, p in zip(NAMES, parameters, strict=True)}

    return Work(step, result, reset)


def floor(classify: bool) -> Work:
    """The same step by hand, with derivatives from paper."""
    begun, x, target = start()
    parameters = [a.copy() for a in begun]
    w1, b1, w2, b2 = parameters

    def step() -> Any:
        hidden = x.dot(w1)
        hidden += b1
        hidden = np.tanh(hidden) if classify else np.maximum(hidden, 0)
        out = hidden.dot(w2)
        out += b2
        if classify:
            out -= out.max(1, keepdims=True)
            e = np.exp(out)
            total = e.sum(1, keepdims=True)
            loss = -((out - np.log(total)) * target).sum() / BATCH
            g = e / total
            g -= target
            g /= BATCH
        else:
            out -= target
            loss = (out * out).mean()
            g = out
            g *= 2 / out.size
        gh = g.dot(w2.T)
        if classify:
            gh *= 1 - hidden * hidden
        else:
            gh *= hidden > 0
        gradients = (x.T.dot(gh), gh.sum(0), hidden.T.dot(g), g.sum(0))
        for parameter, gradient in zip(parameters, gradients, strict=True):
            gradient *= RATE
            parameter -= gradient
        return loss

    def reset() -> None:
        for parameter, copy in zip(parameters, begun, strict=True):
            parameter[...] = copy

    def result() -> Results:
        losses = [step() for _ in range(3)]
        return {"losses": losses} | {name: p.copy() for name, p in zip(NAMES, parameters, strict=True)}

    return Work(step, result, reset)


def recorded(classify: bool, on: bool) -> Contestant:
    """Our step with recording, as the kernel switches it on for each cell, or without."""
    from autodiff_kernel.core import modes

    work = tensors(classify, ours())

    @contextmanager
    def around() -> Iterator[None]:
        modes.set_recording(on)
        try:
            yield
        finally:
            modes.set_recording(False)

    return looped(
        "recording" if on else "off", work.step, result=work.result, reset=work.reset, around=around
    )


def on_and_off(classify: bool) -> list[Contestant]:
    """The step with recording, and without."""
    return [recorded(classify, True), recorded(classify, False)]


def cases() -> Iterator[Case]:
    """Mean-square loss with relu, and cross-entropy with tanh; and what recording adds to them."""
    goals = [Goal("faster", 2, "torch")]
    for name, title, classify in (
        ("mlp", "relu, mean-square", False),
        ("mlp/classify", "tanh, log_softmax", True),
    ):
        yield Case(
            name,
            f"SGD step of a 64-64-10 perceptron, batch {BATCH}, {title} loss",
            field(partial(tensors, classify), partial(floor, classify)),
            goals=goals,
        )
    for name, classify in (("recording", False), ("recording/classify", True)):
        yield Case(
            name,
            f"the SGD step, {'tanh, log_softmax' if classify else 'relu, mean-square'} loss, with recording on and off",
            partial(on_and_off, classify),
            goals=[Goal("cost", 1.15, "off")],
        )
