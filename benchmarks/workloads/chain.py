"""Chains of elementwise operations: what one operation costs, on numbers and on small arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contestants import Work, field, numbers, ours
from benchmarks.harness import Case, Contestant, Goal, Results, looped

TURNS = 5
OPERATIONS = 10 * TURNS
SMALL = (32, 64)


def start(shape: tuple[int, ...]) -> list[np.ndarray]:
    """x, w, b, c of a shape; c is at least 1, so that dividing by it keeps values small."""
    draw = np.random.default_rng(0)
    return [
        np.asarray(draw.uniform(low, high, shape), np.float32)
        for low, high in ((-1, 1), (0.5, 1), (-1, 1), (1, 2))
    ]


def chain(torch: Any, x: Any, w: Any, b: Any, c: Any) -> Any:
    """Fifty operations, as a student writes them: tensors with tensors, two Python numbers in ten."""
    y = x
    for _ in range(TURNS):
        y = y * w
        y = y + b
        y = torch.tanh(y)
        y = y - x
        y = y * 0.5
        y = torch.exp(y)
        y = y / c
        y = 1.0 - y
        y = y * y
        y = y + x
    return y


def tensors(shape: tuple[int, ...], backward: bool, torch: Any) -> Work:
    """The chain on tensors, all four inputs requiring gradients."""
    leaves = [torch.tensor(a.tolist(), requires_grad=True) for a in start(shape)]

    def step() -> Any:
        y = chain(torch, *leaves)
        if backward:
            for leaf in leaves:
                leaf.grad = None
            (y.sum() if shape else y).backward()
        return y

    def result() -> Results:
        y = numbers(step())
        gradients = [numbers(leaf.grad) for leaf in leaves if backward]
        return {"y": y} | dict(zip("xwbc", gradients, strict=False))

    return Work(step, result)


def floor(shape: tuple[int, ...], backward: bool) -> Work:
    """The same by hand: values kept in locals and lists, gradients written out."""
    x, w, b, c = (a if shape else a[()] for a in start(shape))
    one = np.ones(shape, np.float32) if shape else np.float32(1)
    zero: list[Any] = [np.float32(0)] * 4

    def forward() -> tuple[Any, list[tuple[Any, ...]]]:
        saved, y = [], x
        for _ in range(TURNS):
            begun = y
            t = np.tanh(y * w + b)
            e = np.exp((t - x) * 0.5)
            q = e / c
            r = 1.0 - q
            y = r * r + x
            saved.append((begun, t, e, q, r))
        return y, saved

    def walk(saved: list[tuple[Any, ...]]) -> list[Any]:
        gx, gw, gb, gc = zero
        g = one
        for begun, t, e, q, r in reversed(saved):
            gq = -(g * (r + r))
            ge = gq / c
            gt = ge * e * 0.5
            ga = gt * (1 - t * t)
            gx = gx + g - gt
            gc = gc - ge * q
            gb = gb + ga
            gw = gw + ga * begun
            g = ga * w
        return [gx + g, gw, gb, gc]

    def step() -> tuple[Any, list[Any]]:
        y, saved = forward()
        return y, walk(saved) if backward else []

    def result() -> Results:
        y, gradients = step()
        return {"y": y} | dict(zip("xwbc", gradients, strict=False))

    return Work(step, result)


def recorded(shape: tuple[int, ...]) -> Sequence[Contestant]:
    """Our chain with the recording mode off (plain Python) and on (what the kernel runs)."""
    from autodiff_kernel.core.modes import recording

    work = tensors(shape, True, ours())
    return [
        looped("off", work.step, result=work.result, around=lambda: recording(False)),
        looped("recording", work.step, result=work.result, around=lambda: recording(True)),
    ]


def in_own_lines(lines: bool) -> Contestant:
    """Fifty operators in the user's own line, with provenance (the line of each node) on or off."""
    from autodiff_kernel.core import modes

    torch = ours()
    names = {"x": torch.tensor(1.5, requires_grad=True), "w": torch.tensor(1.01, requires_grad=True)}
    source = "y = x\n" + "y = y * w; y = y + w; y = y * w; y = y - w; y = y * w\n" * (OPERATIONS // 5)
    code = compile(source, "<string>", "exec")

    @contextmanager
    def around() -> Iterator[None]:
        modes.set_provenance(lines)
        try:
            yield
        finally:
            modes.set_provenance(False)

    return looped("with lines" if lines else "off", lambda: exec(code, names), around=around)


def cases() -> Iterator[Case]:
    """Chains of 50 operations, on 0-d and on 32×64 float32, and what recording adds."""
    kinds: list[tuple[str, tuple[int, ...], str, Goal]] = [
        ("chain0d", (), "0-d", Goal("faster", 4.5, "torch", aim=5.5)),
        ("chain2d", SMALL, "32×64", Goal("faster", 1.6, "torch", aim=1.9)),
    ]
    for name, shape, size, goal in kinds:
        for backward in (True, False):
            yield Case(
                name if backward else f"{name}/forward",
                f"{OPERATIONS} elementwise operations on {size} float32, forward"
                + " and backward" * backward,
                field(partial(tensors, shape, backward), partial(floor, shape, backward)),
                OPERATIONS,
                [goal] if backward else [],
                rtol=1e-3,
            )
    yield Case(
        "provenance",
        "50 operators in the user's own line, forward on 0-d float32, with and without the line of each node",
        lambda: [in_own_lines(True), in_own_lines(False)],
        OPERATIONS,
        [Goal("extra", OPERATIONS * 200e-9, "off")],
    )
    for name, shape, size, _ in kinds:
        contestants: Callable[[], Sequence[Contestant]] = partial(recorded, shape)
        yield Case(
            f"recording/{name}",
            f"the chain on {size} float32 with recording off and on",
            contestants,
            OPERATIONS,
        )
