"""Graphs of up to a million operations: no recursion, linear time, freed by reference counting."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contestants import Work, field, numbers, ours
from benchmarks.harness import Case, Results

LENGTHS = (100_000, 300_000, 1_000_000)


def chain(x: Any, length: int) -> Any:
    """`length` operations, each on the result of the one before; values stay near x."""
    y = x
    for _ in range(length // 2):
        y = y * 0.5
        y = y + x
    return y


def tensors(length: int, torch: Any) -> Work:
    """A 0-d chain, forward and backward."""
    x = torch.tensor(0.75, requires_grad=True)

    def step() -> Any:
        x.grad = None
        y = chain(x, length)
        y.backward()
        return y

    def result() -> Results:
        return {"y": numbers(step()), "x": numbers(x.grad)}

    return Work(step, result)


def floor(length: int) -> Work:
    """The same by hand: nothing but the arithmetic, and a list of what products have to keep."""
    x = np.float32(0.75)

    def step() -> tuple[Any, Any]:
        y, saved = x, []
        for _ in range(length // 2):
            saved.append(0.5)
            y = y * 0.5 + x
        g, gx = np.float32(1), np.float32(0)
        for factor in reversed(saved):
            gx = gx + g
            g = g * factor
        return y, gx + g

    def result() -> Results:
        return dict(zip(("y", "x"), step(), strict=True))

    return Work(step, result)


def freed(length: int) -> None:
    """Raise AssertionError where our graph outlives its last reference with the garbage collector off.

    Once for a graph that backward walked, and once for one that nobody walked: its nodes die nested.
    """
    torch = ours()
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for walk in (True, False):
            x = torch.tensor(0.75, requires_grad=True)
            y = chain(x, length)
            if walk:
                y.backward()
            del x, y
            left = len(gc.get_objects()) - before
            assert left < length // 100, f"{left} objects of a graph of {length} operations are still alive"
    finally:
        gc.enable()


def cases() -> Iterator[Case]:
    """Three lengths: time per operation must not grow with them. PyTorch takes too long for the last."""
    for length in LENGTHS:
        yield Case(
            f"deep/{length}",
            f"a chain of {length:,} operations on 0-d float32, forward and backward",
            field(partial(tensors, length), partial(floor, length), loops=1, torch=length < 1_000_000),
            length,
            check=partial(freed, length),
            repeats=5,
        )
