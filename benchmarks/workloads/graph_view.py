"""Drawing a graph: the view model, the layout, and every form of a display bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.contestants import ours
from benchmarks.harness import Case, Contestant, Goal, looped


def twenty(torch: Any) -> Any:
    """A graph of twenty nodes: three leaves and seventeen operations, with branches that meet again."""
    x1, x2, w = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 0.5))
    y = x1 * x2 + x1**2
    for _ in range(2):
        a = torch.tanh(y * w)
        b = torch.exp(-y * 0.1)
        y = a + b * x2
    return y


def full(torch: Any) -> Any:
    """A graph of 150 nodes in scopes: as many as are drawn one by one."""
    x = y = torch.ones(3, requires_grad=True)
    for i in range(13):
        with torch.scope(f"block {i}"):
            w = torch.ones(3, requires_grad=True)
            for _ in range(3):
                y = torch.tanh(y * w)
            y = torch.exp(-y * 0.1) + x
    return y.sum()


def nested(torch: Any) -> Any:
    """A graph of almost 2,000 nodes in scopes of two levels."""
    y = torch.ones(3, requires_grad=True)
    for i in range(19):
        with torch.scope(f"block {i}"):
            for j in range(10):
                with torch.scope(f"layer {j}"):
                    for _ in range(5):
                        y = torch.tanh(y * 1.01)
    return y.sum()


def chain(torch: Any) -> Any:
    """A graph of 100,000 operations, of which a summary in words is made."""
    y = torch.tensor(1.0, requires_grad=True)
    for _ in range(100_000):
        y = y * 1.0
    return y


def larger(make: Any, view: str) -> Sequence[Contestant]:
    """The graph is made once, with recording on; each step draws it anew, as if it was not drawn before."""
    from autodiff_kernel import views
    from autodiff_kernel.core.modes import recording
    from autodiff_kernel.views.order import ordered

    torch = ours()
    with recording(True):
        y = make(torch)
    draw = getattr(views, view)

    def step() -> Any:
        ordered.cache_clear()
        return draw(y)._repr_mimebundle_()

    assert step(), "an empty bundle"
    return [looped("ours", step)]


def contestants(walked: bool, known: bool) -> Sequence[Contestant]:
    """The graph is made once, with recording on; each step draws it anew.

    known: the order of the boxes may be remembered from the last drawing, as when a cell is run again; else each
    drawing is like a graph's first one.
    """
    from autodiff_kernel import views
    from autodiff_kernel.core.modes import recording
    from autodiff_kernel.views.order import ordered

    torch = ours()
    with recording(True):
        y = twenty(torch)
        if walked:
            y.backward()

    def step() -> Any:
        if not known:
            ordered.cache_clear()
        return views.graph(y)._repr_mimebundle_()

    assert step(), "an empty bundle"
    return [looped("ours", step)]


def cases() -> Iterator[Case]:
    """Before and after backward, and as a graph that was not drawn before; and what larger graphs take."""
    for name, when, walked, known in (
        ("graph_view", "before backward", False, True),
        ("graph_view/walked", "after backward", True, True),
        ("graph_view/first", "after backward, its first drawing", True, False),
    ):
        yield Case(
            name,
            f"views.graph of 20 nodes with its whole bundle, {when}",
            partial(contestants, walked, known),
            goals=[Goal("time", 0.010, clock=clock) for clock in ("cpu", "wall")],
        )
    for name, what, make, view, seconds in (
        ("graph_view/150", "views.graph of 150 nodes in scopes", full, "graph", 0.060),
        ("graph_view/scopes", "views.graph of 1,900 nodes in nested scopes, collapsed", nested, "graph", 1.0),
        ("graph_view/summary", "views.graph of 100,000 nodes: a summary in words", chain, "graph", 1.0),
        ("graph_view/steps", "views.steps of 100,000 nodes: its first 40 frames", chain, "steps", 1.0),
    ):
        yield Case(
            name,
            f"{what}, with the whole bundle",
            partial(larger, make, view),
            goals=[Goal("time", seconds, clock=clock) for clock in ("cpu", "wall")],
        )
