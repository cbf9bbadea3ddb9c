"""What arrives at given places of the graph: the walk of `grad`, which stores nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import hooks, reentry
from .graph import Node
from .routes import Route, count_edges, restrict
from .running import Task
from .walk import visit, walk


def collect(
    roots: list[tuple[Node, Any]],
    edges: Sequence[tuple[Node | None, int]],
    keep: bool,
    create_graph: bool,
    record: bool | None = None,
) -> list[Any]:
    """What arrives at each edge (node, output number): a raw array that nobody else holds, or a Tensor; None for nothing.

    record: are gradients recorded on the way?  (As a rule if `create_graph`, which says that cotangents are Tensors.)
    """
    route = Route(complete_capture)
    for n, number in edges:
        route.captures.setdefault(n, {})[number] = None  # type: ignore[arg-type]
    restrict(route, [n for n, _ in roots], route.captures, run_goals=False)
    if hooks.on_leaves[0]:
        route = watched(route, roots, complete_capture) or route
    sums = run(roots, keep, create_graph, route, record)
    for n, asked in route.captures.items():
        if n in sums:
            asked[0] = sums[n]
        elif n.op is not None:
            for number, g in asked.items():
                if isinstance(g, np.ndarray):
                    asked[number] = g.copy()
    return [route.captures[n][number] for n, number in edges]  # type: ignore[index]


def complete_capture(n: Node, g: Any, task: Task) -> None:
    """The same in `grad`: the leaf's sum is the answer, and its `.grad` is left alone."""
    task.route.captures[n][0] = g if n.notes is None else visit(n, g, task)


def run(
    roots: list[tuple[Node, Any]],
    keep: bool,
    create_graph: bool,
    route: Route | None = None,
    record: bool | None = None,
) -> dict[Node, Any]:
    """The walk; on another thread if this one is inside many walks already."""
    if reentry.used[0]:
        return reentry.run(walk, roots, keep, create_graph, route, record)  # type: ignore[no-any-return]
    return walk(roots, keep, create_graph, route, record)


def watched(route: Route | None, roots: list[tuple[Node, Any]], complete: Any) -> Route | None:
    """The route (a new one if there is none) that knows when a leaf is complete, if a leaf on the way has hooks."""
    hooked = hooks.hooked_leaves()
    if hooked:
        with_count = Route(complete) if route is None else route
        count_edges(with_count, [n for n, _ in roots], hooked)
        if with_count.due is not None:
            return with_count
    return route
