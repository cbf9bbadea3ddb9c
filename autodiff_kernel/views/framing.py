"""Frames around the boxes of a scope: where they go, and which would run through boxes that don't belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from .labels import Area
from .layout import Layout
from .scopes import Cluster
from .style import CARD, GATE

# between a frame and what is in it: at its sides, and at the top, where its name stands
SIDE, HEAD = 9.0, 18.0


class Frame(NamedTuple):
    """A scope's name, its area, and its ground: frames in each other alternate."""

    name: str
    area: Area
    fill: str


def frames(clusters: list[Cluster], areas: list[tuple[Area, Area]]) -> tuple[list[Frame], list[Cluster]]:
    """A frame for each scope, outermost first; and the scopes that can't have one.

    areas: of each node its box and its sign.
    """
    sets = [set(cluster.members) for cluster in clusters]
    levels = _levels(clusters, sets)
    drawn: list[tuple[int, Frame]] = []
    left = []
    for k, cluster in enumerate(clusters):
        parts = [area for i in cluster.members for area in areas[i]]
        side, head = SIDE * levels[k], HEAD * levels[k]
        area = (
            min(part[0] for part in parts) - side,
            min(part[1] for part in parts) - head,
            max(part[2] for part in parts) + side,
            max(part[3] for part in parts) + side,
        )
        strange = any(_meet(area, part) for i, pair in enumerate(areas) if i not in sets[k] for part in pair)
        crossed = any(_meet(area, frame.area) and not sets[k] <= sets[j] for j, frame in drawn)
        if strange or crossed:
            left.append(cluster)
        else:
            drawn.append((k, Frame(cluster.name, area, CARD if cluster.depth % 2 == 0 else GATE)))
    return [frame for _, frame in drawn], left


def _levels(clusters: list[Cluster], sets: list[set[int]]) -> list[int]:
    """How many frames lie in each other there, from each cluster inward: 1 for one with no other in it."""
    found = []
    for k, cluster in enumerate(clusters):
        inside = [c.depth for j, c in enumerate(clusters) if c.depth > cluster.depth and sets[j] <= sets[k]]
        found.append(max(inside, default=cluster.depth) - cluster.depth + 1)
    return found


def borders(clusters: list[Cluster], ranks: Sequence[int], down: bool) -> list[float]:
    """The room that frames need after each rank: of those that end there, and of those that begin with the next.

    ranks: of each node.
    """
    room = [0.0] * (max(ranks, default=0) + 1)
    ends, begins = list(room), [*room, 0.0]
    for cluster, levels in zip(clusters, _levels(clusters, [set(c.members) for c in clusters]), strict=True):
        inside = [ranks[i] for i in cluster.members]
        first, last = min(inside), max(inside)
        begins[first] = max(begins[first], levels * (HEAD if down else SIDE))
        ends[last] = max(ends[last], levels * SIDE)
    return [end + begins[rank + 1] for rank, end in enumerate(ends)]


def _meet(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def moved(plan: Layout, side: float, head: float) -> Layout:
    """The layout with room around it for frames."""
    return replace(
        plan,
        centers=tuple([(x + side, y + head) for x, y in plan.centers]),
        routes=tuple([((a + side, b + head), (c + side, d + head)) for (a, b), (c, d) in plan.routes]),
        trunks={
            source: tuple([(x + side, y + head) for x, y in points]) for source, points in plan.trunks.items()
        },
        width=plan.width + 2 * side,
        height=plan.height + head + side,
    )
