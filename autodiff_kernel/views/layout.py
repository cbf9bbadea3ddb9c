"""A layered layout: where to put the boxes of a graph without cycles, and where its lines run.

Sugiyama's four steps, each a function: ranks (longest path, leaves drawn close to where they are used), an order in
each rank with few crossings (medians, a fixed number of sweeps), places (each node near the mean of its neighbours,
solved exactly in each rank by pooling neighbours that collide), and lines. A line that spans several ranks bends at
dummies; all lines from one node share its dummies, like a bus: a weight used everywhere draws one line with branches.

Pure geometry and deterministic: sizes and edges in, numbers out. Coordinates are computed for left-to-right, and are
transposed for top-to-bottom.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]
Edge = tuple[int, int]


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
    rank = list(ranks) if ranks is not None else assign_ranks(len(sizes), edges)
    net = _Net(sizes, edges, rank, node_gap, line_gap)
    net.reduce_crossings()
    y = net.places()
    gaps = [rank_gap] * len(net.layers) if isinstance(rank_gap, (int, float)) else list(rank_gap)
    x, width = net.columns(gaps)
    centers = [(x[i], y[i]) for i in range(len(sizes))]
    routes = [net.route(edge, x, y) for edge in edges]
    trunks = {source: net.trunk(source, x, y) for source in net.bus}
    height = max(c[1] + s[1] / 2 for c, s in zip(centers, sizes, strict=True))
    height = max([height] + y[len(sizes) :])
    if down:
        centers = [(b, a) for a, b in centers]
        routes = [((b, a), (d, c)) for (a, b), (c, d) in routes]
        trunks = {source: tuple([(b, a) for a, b in points]) for source, points in trunks.items()}
        width, height = height, width
    return Layout(tuple(centers), tuple(routes), trunks, width, height, tuple(rank))


def assign_ranks(count: int, edges: Sequence[Edge]) -> list[int]:
    """A rank for each node, later than those of its sources. Nodes must be numbered so that sources come first.

    The longest path from the start; then every node moves as close to its consumers as it can where that makes its
    lines shorter in total: a weight stands beside the layer that uses it.

    >>> assign_ranks(4, [(0, 2), (1, 3), (2, 3)])
    [0, 1, 1, 2]
    """
    rank = [0] * count
    consumers: list[list[int]] = [[] for _ in range(count)]
    held = [
        0
    ] * count  # inputs that would have to come from further away; those without inputs follow for free
    for source, target in edges:
        consumers[source].append(target)
    for source in range(count):
        after = rank[source] + 1
        for target in consumers[source]:
            held[target] += after > 1
            if rank[target] < after:
                rank[target] = after
    for node in range(count - 1, -1, -1):
        if consumers[node] and held[node] <= max(1, len(set(consumers[node]))):
            rank[node] = max(rank[node], min([rank[target] for target in consumers[node]]) - 1)
    low = min(rank)
    return [r - low for r in rank] if low else rank


class _Net:
    """The nodes and the dummies of the long lines, in layers: what the steps of the layout work on."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[Edge],
        rank: list[int],
        node_gap: float,
        line_gap: float,
    ) -> None:
        n = len(sizes)
        self.real = n
        self.sizes, self.rank = sizes, list(rank)
        self.half = [h / 2 + node_gap / 2 for _, h in sizes]  # half of the room a node takes across its rank
        self.line_half = line_gap / 2
        self.before: list[list[int]] = [[] for _ in range(n)]  # neighbours one rank earlier
        self.after: list[list[int]] = [[] for _ in range(n)]
        self.bus: dict[int, list[int]] = {}  # source -> its dummies, rank by rank
        reach: dict[int, int] = {}
        links = dict.fromkeys(edges)
        for source, target in links:
            if rank[target] - rank[source] > 1:
                reach[source] = max(reach.get(source, 0), rank[target])
        for source in sorted(reach):
            self._lay_bus(source, reach[source])
        for source, target in links:
            self._link(self._last(source, target), target)
        self.layers = self._first_order()
        self.position = [0] * len(self.rank)
        self._number()

    def _lay_bus(self, source: int, end: int) -> None:
        bus = self.bus[source] = []
        tail = source
        for r in range(self.rank[source] + 1, end):
            dummy = len(self.rank)
            self.rank.append(r)
            self.half.append(self.line_half)
            self.before.append([])
            self.after.append([])
            self._link(tail, dummy)
            bus.append(dummy)
            tail = dummy

    def _link(self, tail: int, head: int) -> None:
        self.after[tail].append(head)
        self.before[head].append(tail)

    def _last(self, source: int, target: int) -> int:
        """What stands one rank before the target on the line from the source."""
        span = self.rank[target] - self.rank[source]
        return source if span == 1 else self.bus[source][span - 2]

    # ---------------------------------------------------------------- order in the ranks
    def _first_order(self) -> list[list[int]]:
        """Depth first from the ends, inputs in their own order: a tree comes out without a crossing."""
        layers: list[list[int]] = [[] for _ in range(max(self.rank) + 1)]
        placed = [False] * len(self.rank)
        for end in range(len(self.rank)):
            if self.after[end]:
                continue
            stack = [end]
            while stack:
                node = stack.pop()
                if placed[node]:
                    continue
                placed[node] = True
                layers[self.rank[node]].append(node)
                stack += reversed(self.before[node])
        return layers

    def _number(self) -> None:
        for layer in self.layers:
            for i, node in enumerate(layer):
                self.position[node] = i

    def reduce_crossings(self) -> None:
        """Sweep to and fro, ordering each rank by the medians of its neighbours; keep the best order seen."""
        best, best_layers = self.crossings(), [list(layer) for layer in self.layers]
        idle, small = 0, len(self.rank) < 100
        for sweep in range(8 if small else 4):
            if not best or idle == 2:
                break
            forward = sweep % 2 == 0
            ranks = range(1, len(self.layers)) if forward else range(len(self.layers) - 2, -1, -1)
            for r in ranks:
                if len(self.layers[r]) > 1:
                    self._order_layer(r, self.before if forward else self.after)
            found = self.crossings()
            if small:
                found = self._swap_neighbours(found)
            idle += 1
            if found < best:
                best, best_layers, idle = found, [list(layer) for layer in self.layers], 0
        self.layers = best_layers
        self._number()

    def _order_layer(self, r: int, neighbours: list[list[int]]) -> None:
        position = self.position
        layer = self.layers[r]
        keys: dict[int, float] = {}
        for i, node in enumerate(layer):
            others = neighbours[node]
            if len(others) == 1:
                keys[node] = position[others[0]]
            elif others:
                places = sorted([position[other] for other in others])
                half = len(places) // 2
                keys[node] = places[half] if len(places) % 2 else (places[half - 1] + places[half]) / 2
            else:
                keys[node] = i
        layer.sort(key=keys.__getitem__)  # stable: ties stay as they are
        for i, node in enumerate(layer):
            position[node] = i

    def crossings(self) -> int:
        """How many pairs of lines cross."""
        return sum(self._crossings_before(r) for r in range(1, len(self.layers)))

    def _crossings_before(self, r: int) -> int:
        if len(self.layers[r]) == 1 or len(self.layers[r - 1]) == 1:
            return 0
        position, after = self.position, self.after
        total = 0
        seen: list[int] = []
        for tail in self.layers[r - 1]:
            ends = [position[other] for other in after[tail]]
            if seen:
                for end in ends:
                    total += len(seen) - bisect(seen, end)
            for end in ends:
                insort(seen, end)
        return total

    def _swap_neighbours(self, found: int) -> int:
        """Swap nodes that stand side by side where their lines then cross less."""
        position = self.position
        for layer in self.layers:
            for i in range(len(layer) - 1):
                above, below = layer[i], layer[i + 1]
                gain = 0
                for neighbours in (self.before, self.after):
                    first = [position[n] for n in neighbours[above]]
                    second = [position[n] for n in neighbours[below]]
                    gain += sum([(p > q) - (p < q) for p in first for q in second])
                if gain > 0:
                    layer[i], layer[i + 1] = below, above
                    position[above], position[below] = i + 1, i
                    found -= gain
        return found

    # ---------------------------------------------------------------- places
    def places(self) -> list[float]:
        """The place of each node and dummy across its rank: near its neighbours, in order, without overlap."""
        y = [0.0] * len(self.rank)
        for layer in self.layers:
            at = 0.0
            for node in layer:
                y[node] = at + self.half[node]
                at += 2 * self.half[node]
        sweeps = 3 if len(self.rank) < 100 else 2
        both = [b + a for b, a in zip(self.before, self.after, strict=True)]
        for _ in range(sweeps):
            last = list(y)
            for layer in self.layers:
                self._settle(layer, self.before, y)
            for layer in reversed(self.layers):
                self._settle(layer, self.after, y)
            if all(abs(a - b) < 0.5 for a, b in zip(y, last, strict=True)):
                break
        for layer in self.layers:
            self._settle(layer, both, y)
        top = min(y[i] - self.sizes[i][1] / 2 for i in range(self.real))
        top = min([top] + [y[i] for i in range(self.real, len(y))])
        return [round(2 * (v - top)) / 2 for v in y]

    def _settle(self, layer: list[int], neighbours: list[list[int]], y: list[float]) -> None:
        """Least squares in one rank: wishes are the means of the neighbours, colliding nodes are pooled."""
        if len(layer) == 1:
            others = neighbours[layer[0]]
            if others:
                y[layer[0]] = sum([y[other] for other in others]) / len(others)
            return
        blocks: list[
            tuple[float, float, int]
        ] = []  # (weighted sum of wishes less offsets, weight, how many nodes)
        offsets = []
        at = last = 0.0
        real, half = self.real, self.half
        for node in layer:
            others = neighbours[node]
            h = half[node]
            at += last + h  # the first offset is h, not 0: all that counts are differences
            last = h
            offsets.append(at)
            weight = float(len(others))
            if not weight:
                weight = 0.1
                total = 0.1 * (y[node] - at)
            elif weight == 1.0:
                if node >= real:
                    weight = 8.0 if others[0] >= real else 3.0  # long lines are kept straight before all else
                total = weight * (y[others[0]] - at)
            else:
                total = sum([y[other] for other in others]) - weight * at
            count = 1
            while blocks and blocks[-1][0] * weight >= total * blocks[-1][1]:
                t, w, c = blocks.pop()
                total, weight, count = total + t, weight + w, count + c
            blocks.append((total, weight, count))
        done = 0
        for total, weight, count in blocks:
            place = total / weight
            for k in range(done, done + count):
                y[layer[k]] = place + offsets[k]
            done += count

    def columns(self, gaps: list[float]) -> tuple[list[float], float]:
        """The place of each node along the ranks (boxes end where their column ends), and the whole width."""
        widths = [0.0] * len(self.layers)
        for node in range(self.real):
            widths[self.rank[node]] = max(widths[self.rank[node]], self.sizes[node][0])
        ends, at = [], 0.0
        for width, gap in zip(widths, gaps, strict=False):
            at += width
            ends.append(at)
            at += gap
        x = [ends[r] for r in self.rank]
        for node in range(self.real):
            x[node] -= self.sizes[node][0] / 2
        for node in range(self.real, len(x)):
            x[node] -= widths[self.rank[node]] / 2
        self.widths = widths
        return x, ends[-1]

    def route(self, edge: Edge, x: list[float], y: list[float]) -> tuple[Point, Point]:
        """From the source's right side, or from the dummy of its trunk one rank before, to the target's left side."""
        source, target = edge
        tail = self._last(source, target)
        half = self.sizes[source][0] / 2 if tail == source else self.widths[self.rank[tail]] / 2
        return (x[tail] + half, y[tail]), (x[target] - self.sizes[target][0] / 2, y[target])

    def trunk(self, source: int, x: list[float], y: list[float]) -> tuple[Point, ...]:
        """The line that long edges from the source share: past each rank in turn."""
        points = [(x[source] + self.sizes[source][0] / 2, y[source])]
        for dummy in self.bus[source]:
            half = self.widths[self.rank[dummy]] / 2
            points += [(x[dummy] - half, y[dummy]), (x[dummy] + half, y[dummy])]
        return tuple(points)
