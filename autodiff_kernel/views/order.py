"""Which box of a layered drawing stands in which rank, and in which order: all that needs no sizes.

Ranks come from the longest path, leaves are drawn close to where they are used. A line that spans several ranks bends
at dummies; all lines from one node share its dummies, like a bus: a weight used everywhere draws one line with branches.
The order in each rank has few crossings (medians, a fixed number of sweeps, swaps of neighbours).
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Sequence
from functools import cached_property, lru_cache

Edge = tuple[int, int]
Wish = tuple[int, float, tuple[int, ...]]  # a node, what its wish weighs, and what it wants to be near


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
    ] * count  # inputs that would have to come from further away (if these have none, they come for free)
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


@lru_cache(32)
def ordered(ranks: tuple[int, ...], edges: tuple[Edge, ...]) -> Net:
    """The net of a graph, in an order with few crossings. Nobody changes it afterwards.

    The same graph is drawn again and again with other numbers in its boxes: before and after backward, at each step
    of a training. Its order is found once.

    >>> ordered((0, 0, 1, 1), ((0, 3), (1, 2))).layers
    [[1, 0], [2, 3]]
    """
    net = Net(ranks, edges)
    net.reduce_crossings()
    return net


class Net:
    """The nodes and the dummies of the long lines, in layers: what the steps of the layout work on."""

    def __init__(self, ranks: Sequence[int], edges: Sequence[Edge]) -> None:
        n = len(ranks)
        self.real = n
        self.rank = list(ranks)
        self.before: list[list[int]] = [[] for _ in range(n)]  # neighbours one rank earlier
        self.after: list[list[int]] = [[] for _ in range(n)]
        self.bus: dict[int, list[int]] = {}  # source -> its dummies, rank by rank
        reach: dict[int, int] = {}
        links = dict.fromkeys(edges)
        for source, target in links:
            if ranks[target] - ranks[source] > 1:
                reach[source] = max(reach.get(source, 0), ranks[target])
        for source in sorted(reach):
            self._lay_bus(source, reach[source])
        for source, target in links:
            self._link(self.last(source, target), target)
        self.layers = self._first_order()
        self.position = [0] * len(self.rank)
        self._number()

    def _lay_bus(self, source: int, end: int) -> None:
        bus = self.bus[source] = []
        tail = source
        for r in range(self.rank[source] + 1, end):
            dummy = len(self.rank)
            self.rank.append(r)
            self.before.append([])
            self.after.append([])
            self._link(tail, dummy)
            bus.append(dummy)
            tail = dummy

    def _link(self, tail: int, head: int) -> None:
        self.after[tail].append(head)
        self.before[head].append(tail)

    def last(self, source: int, target: int) -> int:
        """What stands one rank before the target on the line from the source."""
        span = self.rank[target] - self.rank[source]
        return source if span == 1 else self.bus[source][span - 2]

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

    # ---------------------------------------------------------------- places across the ranks
    @cached_property
    def wishes(self) -> tuple[list[list[Wish]], list[list[Wish]], list[list[Wish]]]:
        """What the nodes of each layer want to be near: neighbours before it, after it, and all."""
        both = [b + a for b, a in zip(self.before, self.after, strict=True)]
        down, up, there = (
            [[self._wish(node, ends[node]) for node in layer] for layer in self.layers]
            for ends in (self.before, self.after, both)
        )
        return down, up, there

    def _wish(self, node: int, others: list[int]) -> Wish:
        """Near the mean of some others, or where it is if there are none."""
        weight = float(len(others))
        if not others:
            return node, 0.1, ()
        if weight == 1.0 and node >= self.real:
            weight = 8.0 if others[0] >= self.real else 3.0  # long lines are kept straight before all else
        return node, weight, tuple(others)
