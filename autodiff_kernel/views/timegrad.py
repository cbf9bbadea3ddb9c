"""`%timegrad`: how long forward and backward take, as median and spread over many runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter
from typing import Any

from autodiff_kernel.core.tensor import Tensor

from .page import Page, Table, Words, clip, page_result
from .result import Result
from .style import number

LEAST, LONGEST = 5, 200  # runs


@dataclass(frozen=True)
class Times:
    """Seconds: the median, and the quartiles below and above it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class TimegradView:
    """Times of the forward and the backward pass."""

    title: str
    runs: int
    forward: Times
    backward: Times

    @property
    def ratio(self) -> float:
        """How many times as long backward takes."""
        return self.backward.median / self.forward.median if self.forward.median else float("nan")


def timegrad(run: Callable[[], Tensor], *, seconds: float = 0.5, name: str = "it") -> Result:
    """Time an expression and its backward pass. The gradients of leaves are left as they were.

    run: computes a tensor that requires grad, anew each time.  seconds: for how long, about; at least 5 runs, at most
    200.  name: what to call it.  Raises TypeError where run gives no tensor that requires grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(10, requires_grad=True)
    >>> timegrad(lambda: (x * x).sum(), seconds=0.01).model.runs >= 5, x.grad
    (True, None)
    """
    from autodiff_kernel.explain.history import leaves

    first = run()
    if not isinstance(first, Tensor) or not first.requires_grad or first.node is None:
        kind = "a tensor that requires no grad" if isinstance(first, Tensor) else type(first).__name__
        raise TypeError(f"there is no backward pass to time: {clip(name)} is {kind}")
    if not seconds >= 0:
        raise ValueError(f"seconds is 0 or more; this is {seconds}")
    held = [first] if first.is_leaf else leaves(first.node)
    before = [(leaf, leaf._grad_or_none()) for leaf in held]
    forward: list[float] = []
    backward: list[float] = []
    begun = perf_counter()
    try:
        while len(forward) < LEAST or (perf_counter() - begun < seconds and len(forward) < LONGEST):
            for leaf, _ in before:
                leaf.grad = None
            t0 = perf_counter()
            y: Any = run()
            t1 = perf_counter()
            seed = None if y.numel() == 1 else y.detach() * 0 + 1
            t2 = perf_counter()
            y.backward(seed)
            forward.append(t1 - t0)
            backward.append(perf_counter() - t2)
    finally:
        for leaf, gradient in before:
            leaf.grad = gradient
    model = TimegradView(f"Time of {clip(name)}", len(forward), _times(forward), _times(backward))
    return page_result(model, page)


def _times(values: list[float]) -> Times:
    low, median, high = quantiles(values, n=4)
    return Times(median, low, high)


def seconds_text(value: float) -> str:
    """A time for people.

    >>> seconds_text(2.5e-6), seconds_text(0.0123), seconds_text(3.0)
    ('2.5 µs', '12.3 ms', '3 s')
    """
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, size = next((pair for pair in units if value >= pair[1]), units[-1])
    return f"{number(float(f'{value / size:.3g}'))} {unit}"


def page(m: TimegradView) -> Page:
    """Two rows, and how they compare."""
    rows = tuple(
        (name, seconds_text(t.median), f"{seconds_text(t.low)} to {seconds_text(t.high)}")
        for name, t in (("forward", m.forward), ("backward", m.backward))
    )
    told = f"Backward takes {m.ratio:.2g} times as long as forward; {m.runs} runs."
    table = Table(("pass", "median", "middle half"), rows, frozenset({1}))
    return Page(m.title, (table, Words((told,), "quiet")), f"{m.title}: {told}")
