"""Backward, one operation at a time: the walk that pictures show, which changes nothing of the user's.

It takes the nodes in the engine's order (the newest of those that wait) and asks the engine's own rules, but stores
nothing: no `.grad` changes, nothing is freed, and no hook is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np

from autodiff_kernel.core import modes
from autodiff_kernel.core.facts import kept_of
from autodiff_kernel.core.graph import SLOTS, Node, as_edge, edges_of, written
from autodiff_kernel.core.running import Task
from autodiff_kernel.core.saved import check_writes
from autodiff_kernel.core.walk import gradients

from .build import peek

Part = tuple[Node, int]  # a node and which of its outputs


@dataclass(frozen=True)
class Gift:
    """What one rule gave: to which input (its place), to which node's output, and the cotangent; None is a zero.

    before, total: the target's sum before and after, None where there is none.
    """

    position: int
    target: Node
    output: int
    cotangent: Any
    before: Any
    total: Any


@dataclass(frozen=True)
class Moment:
    """One node is taken: its cotangent (a list for several outputs), and what it gives to its inputs."""

    node: Node
    cotangent: Any
    gifts: tuple[Gift, ...]


class Walk:
    """A backward from one output. Iterating goes on by one operation; `sums` and `waits` tell how things stand then.

    sums: the cotangent so far of each (node, output) that got any. waits: for each node those of its consumers that
    have not given yet. revived: were values that an earlier backward had freed taken from the record?

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> walk = Walk(as_edge(y.node), np.float32(1))
    >>> [(moment.node, [float(gift.cotangent) for gift in moment.gifts]) for moment in walk]
    [(<MulBackward0>, [3.0, 3.0])]
    >>> float(walk.sums[x.node, 0]), x.grad
    (6.0, None)
    """

    def __init__(self, root: Part, seed: Any) -> None:
        self.root = root
        self.sums: dict[Part, Any] = {root: seed}
        self.waits = consumers(root[0])
        self.revived = False

    def __iter__(self) -> Iterator[Moment]:
        start = self.root[0]
        if start.op is None:
            return
        heap, known = [(-start.seq, start)], {start}
        while heap:
            node = heappop(heap)[1]
            moment = self._take(node)
            for gift in moment.gifts:
                if gift.target.op is not None and gift.target not in known:
                    known.add(gift.target)
                    heappush(heap, (-gift.target.seq, gift.target))
            yield moment

    def cotangent(self, node: Node) -> Any:
        """What a node has so far: an array, None, or a list for several outputs."""
        if node.op is not None and node.op.outputs:
            return [self.sums.get((node, k)) for k in range(len(node.sy))]
        return self.sums.get((node, 0))

    def _take(self, node: Node) -> Moment:
        g, edges = self.cotangent(node), edges_of(node)
        ends = [as_edge(edge) for edge in edges]
        source = self._whole(node)
        task = Task([(self.root[0], g)], None, False)
        try:
            with modes.recording(False), np.errstate(all="ignore"):
                xs = gradients(source, g, edges, None, False, task)
        finally:
            task.leave()
        gifts = [
            self._receive(node, i, end, k, x)
            for i, ((end, k), x) in enumerate(zip(ends, xs, strict=True))
            if end is not None
        ]
        return Moment(node, g, tuple(gifts))

    def _receive(self, giver: Node, position: int, target: Node, output: int, x: Any) -> Gift:
        """Add a cotangent to the target's sum."""
        waiting = self.waits[target]
        waiting[giver] -= 1
        if not waiting[giver]:
            del waiting[giver]
        before = self.sums.get((target, output))
        total = before if x is None else x if before is None else before + x
        if total is not None:
            self.sums[target, output] = total
        return Gift(position, target, output, x, before, total)

    def _whole(self, node: Node) -> Node:
        """The node with the values that its rules read; where they were freed, with those that recording kept."""
        if not node.op.is_spent:
            if node.seq < written[0] and node.op.counters:
                check_writes(node)
            return node
        found = revived(node)
        if found is None:
            return node  # its rule says what was freed, where, and what to do
        self.revived = True
        return found


def consumers(root: Node) -> dict[Node, dict[Node, int]]:
    """For each node that a backward from `root` reaches: who gives it a cotangent, and over how many edges."""
    found: dict[Node, dict[Node, int]] = {root: {}}
    stack = [root]
    while stack:
        node = stack.pop()
        for edge in edges_of(node):
            end = as_edge(edge)[0]
            if end is None:
                continue
            if end not in found:
                found[end] = {}
                stack.append(end)
            found[end][node] = found[end].get(node, 0) + 1
    return found


def revived(node: Node) -> Node | None:
    """A copy of a freed node that reads the recorded values; None where they are not all known."""
    notes = kept_of(node)
    if notes is None or node.op.base.is_spent or node.op.base.whole is not None:
        return None
    if node.op.casts or node.op.outputs or any("p" in reads for reads in node.op.base.reads):
        return None
    values = [value for _, value, _ in notes.inputs]
    made = node.__class__()
    for slot in SLOTS:
        if slot != "__weakref__" and hasattr(node, slot):
            setattr(made, slot, getattr(node, slot))
    made.op, made.notes = node.op.base, None
    reads = set(made.op.keeps_letters)
    if made.op.each is not None:
        if "x" in reads:
            if any(value is None for value in values):
                return None
            made.x = values
    else:
        for letter, value in zip("abc", values, strict=False):
            if letter in reads and value is None:
                return None
            setattr(made, letter, value)
    made.y = notes.value
    return None if "y" in reads and made.y is None else made


def shown(cotangent: Any) -> Any:
    """A cotangent's numbers, on the CPU."""
    if isinstance(cotangent, list):
        return [None if part is None else peek(part) for part in cotangent]
    return peek(cotangent)
