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
    """Before and after backward, and after it as a graph that was not drawn before."""
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
