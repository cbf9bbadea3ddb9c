"""Where a walk goes: to everything its roots depend on, or only to some inputs; and when a leaf is complete there.

A walk that goes everywhere and calls no hook of a leaf needs no route: it finds its way by the nodes' stamps alone.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from .graph import Node, edges_of

stamp_of = attrgetter("seq")


class Route:
    """What a walk must know of the graph before it starts.

    nodes: those it visits; None for all it reaches.  runs: those of them whose rules it applies.  captures: of each
    node whose gradient is asked for, output number -> gradient.  due: of each leaf, how many edges have yet to bring
    their contribution; None if nobody needs to know.  complete(leaf, sum, task): what to do with a leaf whose
    gradient is complete.
    """

    nodes: set[Node] | None = None
    runs: set[Node] | None = None
    due: dict[Node, int] | None = None

    def __init__(self, complete: Callable[[Node, Any, Any], None]) -> None:
        self.captures: dict[Node, dict[int, Any]] = {}
        self.complete = complete

    def inner(self) -> Any:
        """The nodes, besides leaves, whose gradient is asked for; None if there are none."""
        return {n for n in self.captures if n.op is not None} or None

    def capture(self, n: Node, g: Any) -> None:
        """Keep what arrived at n, if anybody asked for it."""
        asked = self.captures.get(n)
        if asked is not None:
            for number in asked:
                asked[number] = g[number] if g.__class__ is list else g

    def arrived(self, n: Node, leaves: dict[Node, Any], task: Any) -> None:
        """Node n has given its contributions: are leaves complete by that?"""
        due = self.due
        assert due is not None
        for e in edges_of(n):
            if e is not None and e in due:
                due[e] -= 1
                if not due[e]:
                    self.complete(e, leaves.pop(e, None), task)


def reachable(roots: Iterable[Node]) -> set[Node]:
    """All nodes that the roots depend on, the roots among them."""
    seen: set[Node] = set(roots)
    stack = list(seen)
    while stack:
        for e in edges_of(stack.pop()):
            if e is not None and e not in seen:
                seen.add(e)
                stack.append(e)
    return seen


def restrict(route: Route, roots: Iterable[Node], goals: Iterable[Node], run_goals: bool) -> None:
    """Let the walk go to the goals only.  run_goals: their own rules are applied too (for no input of theirs).

    One pass finds what is reachable; then, oldest first, a node leads on if one of its inputs is a goal or leads on.
    """
    visited = set(goals)
    beyond: set[Node] = set()
    for n in sorted(reachable(roots), key=stamp_of):
        for e in edges_of(n):
            if e in visited:
                visited.add(n)
                beyond.add(n)
                break
    route.nodes = visited
    route.runs = visited if run_goals else beyond


def count_edges(route: Route, roots: Iterable[Node], hooked: set[Node]) -> None:
    """Count the edges to each leaf on the way, if one of them has hooks."""
    due: dict[Node, int] = {}
    for n in reachable(roots):
        if route.runs is None or n in route.runs:
            for e in edges_of(n):
                if e is not None and e.op is None and (route.nodes is None or e in route.nodes):
                    due[e] = due.get(e, 0) + 1
    for n in roots:
        if n.op is None and (route.nodes is None or n in route.nodes):
            due.setdefault(n, 0)
    if not hooked.isdisjoint(due):
        route.due = due
