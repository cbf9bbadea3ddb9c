"""A layered layout: where to put the boxes of a graph without cycles, and where its lines run.

Sugiyama's four steps: ranks and the order in each rank (in `order.py`), then places (each node near the mean of its
neighbours, solved exactly in each rank by pooling neighbours that collide), and lines.

Pure geometry and deterministic: sizes and edges in, numbers out. Coordinates are computed for left-to-right, and are
transposed for top-to-bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .order import Edge, Net, Wish, assign_ranks, ordered

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """centers: of each box. routes: of each edge, its two ends: at the source or on its trunk, and at the target.

    trunks: of each source with long lines, the points of the line they share. width, height: of the whole, which
    starts at (0, 0). ranks: each node's column (row in 'TB').
    """

    centers: tuple[Point, ...]
    routes: tuple[tuple[Point, Point], ...]
    trunks: dict[int, tuple[Point, ...]]
    width: float
    height: float
    ranks: tuple[int, ...]


def layered(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[Edge],
    *,
    direction: str = "LR",
    ranks: Sequence[int] | None = None,
    rank_gap: float | Sequence[float] = 48,
    node_gap: float = 18,
    line_gap: float = 14,
) -> Layout:
    """Place boxes of the given (width, height) so that every edge leads to a later rank.

    rank_gap: between ranks, one number or one for each gap. node_gap: between boxes of a rank. line_gap: between lines.

    >>> plan = layered([(40, 20), (40, 20)], [(0, 1)], rank_gap=10)
    >>> plan.centers, plan.width
    (((20.0, 10.0), (70.0, 10.0)), 90.0)
    """
    if not sizes:
        return Layout((), (), {}, 0, 0, ())
    down = direction == "TB"
    if down:
        sizes = [(h, w) for w, h in sizes]
    rank = tuple(ranks) if ranks is not None else tuple(assign_ranks(len(sizes), edges))
    net = ordered(rank, tuple(edges))
    half = [h / 2 + node_gap / 2 for _, h in sizes]  # half of the room a node takes across its rank
    half += [line_gap / 2] * (len(net.rank) - len(sizes))
    y = _places(net, sizes, half)
    gaps = [rank_gap] * len(net.layers) if isinstance(rank_gap, (int, float)) else list(rank_gap)
    lines = _Lines(net, sizes, gaps, y)
    centers = [(lines.x[i], y[i]) for i in range(len(sizes))]
    routes = [lines.route(edge) for edge in edges]
    trunks = {source: lines.trunk(source) for source in net.bus}
    width = lines.width
    height = max(c[1] + s[1] / 2 for c, s in zip(centers, sizes, strict=True))
    height = max([height] + y[len(sizes) :])
    if down:
        centers = [(b, a) for a, b in centers]
        routes = [((b, a), (d, c)) for (a, b), (c, d) in routes]
        trunks = {source: tuple([(b, a) for a, b in points]) for source, points in trunks.items()}
        width, height = height, width
    return Layout(tuple(centers), tuple(routes), trunks, width, height, rank)


def _places(net: Net, sizes: Sequence[tuple[float, float]], half: list[float]) -> list[float]:
    """The place of each node and dummy across its rank: near its neighbours, in order, without overlap."""
    y = [0.0] * len(half)
    for layer in net.layers:
        at = 0.0
        for node in layer:
            y[node] = at + half[node]
            at += 2 * half[node]
    offsets = [_offsets(layer, half) for layer in net.layers]
    down, up, there = [list(zip(wishes, offsets, strict=True)) for wishes in net.wishes]
    up.reverse()
    for _ in range(3 if len(half) < 100 else 2):
        last = list(y)
        for layer_wishes, room in (*down, *up):
            _settle(layer_wishes, room, y)
        if all(abs(a - b) < 0.5 for a, b in zip(y, last, strict=True)):
            break
    for layer_wishes, room in there:
        _settle(layer_wishes, room, y)
    top = min([y[i] - sizes[i][1] / 2 for i in range(net.real)] + y[net.real :])
    return [round(2 * (v - top)) / 2 for v in y]


def _offsets(layer: list[int], half: list[float]) -> list[float]:
    """Where the nodes of a rank are when each touches the next. Only differences count: the first is at its half."""
    offsets = []
    at = last = 0.0
    for node in layer:
        at += last + half[node]
        last = half[node]
        offsets.append(at)
    return offsets


def _settle(wishes: list[Wish], offsets: list[float], y: list[float]) -> None:
    """Least squares in one rank: each node goes to the mean of what it wants; those that then collide are pooled."""
    if len(wishes) == 1:
        node, _, others = wishes[0]
        if others:
            total = 0.0
            for other in others:
                total += y[other]
            y[node] = total / len(others)
        return
    blocks: list[
        tuple[float, float, int]
    ] = []  # weighted sum of wishes less offsets, weight, number of nodes
    for (node, weight, others), at in zip(wishes, offsets, strict=True):
        if len(others) == 1:
            total = weight * (y[others[0]] - at)
        elif others:
            total = 0.0
            for other in others:
                total += y[other]
            total -= weight * at
        else:
            total = weight * (y[node] - at)
        count = 1
        while blocks and blocks[-1][0] * weight >= total * blocks[-1][1]:
            t, w, c = blocks.pop()
            total, weight, count = total + t, weight + w, count + c
        blocks.append((total, weight, count))
    done = 0
    for total, weight, count in blocks:
        place = total / weight
        for k in range(done, done + count):
            y[wishes[k][0]] = place + offsets[k]
        done += count


class _Lines:
    """Places along the ranks (boxes end where their column ends), and the ends of the lines."""

    def __init__(
        self, net: Net, sizes: Sequence[tuple[float, float]], gaps: list[float], y: list[float]
    ) -> None:
        self.net, self.sizes, self.y = net, sizes, y
        self.widths = [0.0] * len(net.layers)
        for (width, _), r in zip(sizes, net.rank, strict=False):
            if width > self.widths[r]:
                self.widths[r] = width
        ends, at = [], 0.0
        for width, gap in zip(self.widths, gaps, strict=False):
            at += width
            ends.append(at)
            at += gap
        self.width = ends[-1]  # of all ranks together
        self.x = [ends[r] - width / 2 for (width, _), r in zip(sizes, net.rank, strict=False)]
        self.x += [ends[r] - self.widths[r] / 2 for r in net.rank[net.real :]]

    def route(self, edge: Edge) -> tuple[Point, Point]:
        """From the source's right side, or from the dummy of its trunk one rank before, to the target's left side."""
        x, y = self.x, self.y
        source, target = edge
        tail = self.net.last(source, target)
        half = self.sizes[source][0] / 2 if tail == source else self.widths[self.net.rank[tail]] / 2
        return (x[tail] + half, y[tail]), (x[target] - self.sizes[target][0] / 2, y[target])

    def trunk(self, source: int) -> tuple[Point, ...]:
        """The line that long edges from the source share: past each rank in turn."""
        x, y = self.x, self.y
        points = [(x[source] + self.sizes[source][0] / 2, y[source])]
        for dummy in self.net.bus[source]:
            half = self.widths[self.net.rank[dummy]] / 2
            points += [(x[dummy] - half, y[dummy]), (x[dummy] + half, y[dummy])]
        return tuple(points)
