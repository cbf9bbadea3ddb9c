"""The walk that is running on this thread: its modes, and what functions of the user's that it calls may ask about it.

A walk calls hooks, the `backward` of Functions and what unpacks saved values.  While they run, gradients are recorded
only if the walk was asked for `create_graph`, as in PyTorch; and they may ask which walk it is and where it goes: a
checkpoint computes its values anew once for each walk, a hook on several tensors waits for those that will be reached.
"""

import threading
from typing import Any

from . import modes
from .graph import Node, tick


class _Here(threading.local):
    task: "Task | None" = None


_here = _Here()
entered = [False]  # has any walk called a function of the user's yet?


class Task:
    """One walk.  number: no two have the same.  route: where it goes, see routes.py; None: to everything it reaches.

    trail: what is noted of it while recording is on, see trail.py.  depth: how many walks are under way, each called by
    a function that the one before called.  stop: what these walks share: None, or the exception that ends them all.
    """

    depth: int
    stop: list[BaseException | None]
    __slots__ = (
        *("number", "roots", "route", "create_graph", "record", "depth", "stop", "trail"),
        *("_outer", "_grad", "_entered", "_reached"),
    )

    def __init__(
        self,
        roots: list[tuple[Node, Any]],
        route: Any,
        create_graph: bool,
        record: bool | None = None,
        trail: Any = None,
    ) -> None:
        self.number, self.roots, self.route, self.create_graph = tick(), roots, route, create_graph
        self.record = create_graph if record is None else record
        self.trail = trail
        self._entered = False
        self._reached: set[Node] | None = None

    def enter(self) -> None:
        """A function of the user's is about to be called (again: the one before may have left another grad mode)."""
        if not self._entered:
            outer = self._outer = _here.task
            self._grad = modes.is_grad_enabled()
            self.depth = 1 if outer is None else outer.depth + 1
            self.stop = [None] if outer is None else outer.stop
            entered[0] = self._entered = True
            _here.task = self
        modes.put_grad(self.record)
        if self.stop[0] is not None:
            raise self.stop[0]

    def leave(self) -> None:
        """The walk is over.  (Twice does no harm: an interrupt may have stopped the first.)"""
        if self._entered:
            _here.task = self._outer
            modes.put_grad(self._grad)

    def reaches(self, n: Node) -> bool:
        """Will the walk come to this node, or has it been there?"""
        if self._reached is None:
            from .routes import reachable

            self._reached = reachable([r for r, _ in self.roots])
            if self.route is not None and self.route.nodes is not None:
                self._reached &= self.route.nodes
        return n in self._reached


def current() -> "Task | None":
    """The innermost walk on this thread."""
    return _here.task


def follow(outer: Task) -> None:
    """This thread goes on with a walk for a function that the walk `outer`, on another thread, has called."""
    _here.task = outer


def task() -> int:
    """The number of the walk that called; 0 if none did.  No two walks have the same."""
    t = _here.task
    return 0 if t is None else t.number


def is_restricted() -> bool:
    """Was the walk that called asked for the gradients of some inputs only (`grad`, or `inputs=`)?"""
    t = _here.task
    return t is not None and t.route is not None and t.route.nodes is not None


def reaches(n: Node) -> bool:
    """Does the walk that called come to this node?"""
    t = _here.task
    return t is not None and t.reaches(n)
