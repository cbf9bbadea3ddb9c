"""Frames around the boxes of a scope: where they go, and which would run through boxes that don't belong to it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .labels import Area
from .layout import Layout
from .scopes import Cluster
from .style import CARD, GATE

SIDE, HEAD = (
    9.0,
    18.0,
)  # between a frame and what is in it: at its sides, and at the top, where its name stands


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
    drawn: list[tuple[int, Frame]] = []
    left = []
    for k, cluster in enumerate(clusters):
        inside = [
            other for j, other in enumerate(clusters) if other.depth > cluster.depth and sets[j] <= sets[k]
        ]
        levels = max((other.depth for other in inside), default=cluster.depth) - cluster.depth
        parts = [area for i in cluster.members for area in areas[i]]
        side, head = SIDE * (levels + 1), HEAD * (levels + 1)
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
