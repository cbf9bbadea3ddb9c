"""Fewer boxes for a large graph: by module, then by repetition (×12), then in stretches of equal length.

Operations are merged in stretches that follow each other in the order of evaluation, so what comes out has no cycles.
A leaf that only one group uses goes into it where it has no name or there are too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .model import DATA, GROUP, LEAF, OUTPUT, GraphEdge, GraphNode, GraphView, counted

_PERIOD = 64  # operations of the longest step that is looked for
_SHOWN = 4  # operations that a group names


@dataclass(frozen=True)
class Stretch:
    """Some operations in a row: their numbers in the view, and how often the first of them repeat.

    scope: the scopes around them, where the name does not say which.
    """

    ids: list[int]
    times: int = 1
    name: str = ""
    scope: tuple[str, ...] | None = None


def collapse(view: GraphView, limit: int) -> GraphView:
    """The view with at most `limit` boxes, or as few as it can have; it says what was merged."""
    if len(view.nodes) <= limit:
        return view
    operations = [node.id for node in view.nodes if node.role not in (LEAF, DATA, OUTPUT)]
    ways = [*_by_module(view, operations), by_repetition(view, operations)]
    length = 2
    while length <= 2 * len(operations):
        ways.append([Stretch(operations[i : i + length]) for i in range(0, len(operations), length)])
        length *= 2
    merged = view
    for stretches in ways:
        for swallow in (False, True):  # leaves go into their group only if there is no room for them
            merged = merge(view, stretches, swallow)
            if len(merged.nodes) <= limit:
                return merged
    return merged


def _by_module(view: GraphView, operations: list[int]) -> Iterator[list[Stretch]]:
    """Operations of one module (or scope) together: the deepest modules first, then the ones around them."""
    for depth in range(max((len(view.nodes[i].scope) for i in operations), default=0), 0, -1):
        stretches: list[Stretch] = []
        for i in operations:
            scope = view.nodes[i].scope[:depth]
            name = ".".join(scope)
            if scope and stretches and stretches[-1].name == name:
                stretches[-1].ids.append(i)
            else:
                stretches.append(Stretch([i], name=name))
        yield stretches
        yield list(alike(view, stretches, 3))


def alike(view: GraphView, stretches: list[Stretch], least: int = 2) -> Iterator[Stretch]:
    """Neighbours that do the same operations on the same shapes, as one: layer 1 … layer 12; at least so many."""

    def kind(stretch: Stretch) -> object:
        nodes = [view.nodes[i] for i in stretch.ids]
        around = stretch.name.rpartition(".")[0] if stretch.name else None  # blocks of the same scope
        return around, tuple([(n.op, n.symbol, n.shape) for n in nodes])

    i = 0
    while i < len(stretches):
        j, this = i + 1, kind(stretches[i])
        while stretches[i].name and j < len(stretches) and kind(stretches[j]) == this:
            j += 1
        same = stretches[i:j]
        if len(same) >= least:
            name = f"{same[0].name} … {same[-1].name.rpartition('.')[2]}"
            yield Stretch([k for stretch in same for k in stretch.ids], len(same), name)
        else:
            yield from same
        i = j


def by_repetition(view: GraphView, operations: list[int]) -> list[Stretch]:
    """Steps that repeat: the same operations on the same shapes from the same lines, three times or more."""
    kinds: dict[object, int] = {}
    tokens = []
    for i in operations:
        node = view.nodes[i]
        tokens.append(kinds.setdefault((node.op, node.symbol, node.shape, node.line), len(kinds)))
    stretches, i = [], 0
    while i < len(tokens):
        times, period = _repeats(tokens, i)
        stretches.append(Stretch(operations[i : i + times * period], times))
        i += times * period
    return stretches


def _repeats(tokens: list[int], i: int) -> tuple[int, int]:
    """How often which number of tokens repeats from i on: what covers most, the shortest step of those."""
    best = (1, 1)
    for period in range(1, min(_PERIOD, (len(tokens) - i) // 3) + 1):
        step, times = tokens[i : i + period], 1
        while tokens[i + times * period : i + (times + 1) * period] == step:
            times += 1
        if times >= 3 and times * period > best[0] * best[1]:
            best = (times, period)
    return best


def merge(view: GraphView, stretches: list[Stretch], swallow: bool, hint: str = "") -> GraphView:
    """Draw each stretch as one group. Leaves that only one group uses go into it; named ones only with `swallow`.

    hint: how to see what was merged, in a sentence; with one, a single operation becomes a group as well if its stretch
    has a name: it stands for a scope.
    """
    group = {i: k for k, stretch in enumerate(stretches) for i in stretch.ids}
    users: dict[int, set[int]] = {}
    for edge in view.edges:
        source = view.nodes[edge.source]
        kept = bool(hint) and source.role == DATA  # what goes into a scope from outside
        if source.role in (LEAF, DATA) and (not source.name or (swallow and not kept)):
            users.setdefault(edge.source, set()).add(group.get(edge.target, -1))
    grouped = [len(stretch.ids) > 1 or (bool(hint) and bool(stretch.name)) for stretch in stretches]
    inside: dict[int, int] = {}  # leaf -> the one group it disappears in
    for leaf, groups in users.items():
        only = next(iter(groups))
        if len(groups) == 1 and only >= 0 and grouped[only]:
            inside[leaf] = only
    if hint:  # a scope into which nothing would lead keeps its named inputs outside
        fed = {
            group.get(edge.target)
            for edge in view.edges
            if edge.source not in inside and group.get(edge.source) != group.get(edge.target)
        }
        inside = {leaf: k for leaf, k in inside.items() if k in fed or not view.nodes[leaf].name}
    new: dict[int, int] = {}
    nodes: list[GraphNode] = []
    for node in view.nodes:
        k = group.get(node.id, -1)
        if node.id in inside:
            continue
        if k >= 0 and grouped[k]:
            if node.id == stretches[k].ids[-1]:
                absorbed = sum(1 for owner in inside.values() if owner == k)
                nodes.append(_group(view, stretches[k], len(nodes), absorbed))
                new.update(dict.fromkeys(stretches[k].ids, len(nodes) - 1))
            continue
        new[node.id] = len(nodes)
        nodes.append(replace(node, id=len(nodes)))
    edges: dict[tuple[int, int], GraphEdge] = {}
    for edge in view.edges:
        if edge.source in inside or new[edge.source] == new[edge.target]:
            continue
        ends = (new[edge.source], new[edge.target])
        if nodes[ends[1]].role == GROUP and ends in edges:
            edges[ends] = replace(edges[ends], count=edges[ends].count + 1)
        else:
            free = nodes[ends[1]].role == GROUP
            key = ends if free else (ends[0], -1 - len(edges))
            edges[key] = replace(edge, source=ends[0], target=ends[1], label="" if free else edge.label)
    return _told(replace(view, nodes=tuple(nodes), edges=tuple(edges.values())), view, hint)


def _group(view: GraphView, stretch: Stretch, number: int, leaves: int) -> GraphNode:
    """The one box of a stretch: what it does, and the value that comes out of it."""
    last = view.nodes[stretch.ids[-1]]
    step = [view.nodes[i].op for i in stretch.ids[: len(stretch.ids) // stretch.times] if view.nodes[i].op]
    what = " → ".join(step) if len(step) <= _SHOWN else counted(len(step), "operation")
    return replace(
        last,
        id=number,
        role=GROUP,
        name=stretch.name or last.name,
        op=what,
        symbol="",
        backward_name="",
        terms=(),
        count=stretch.times,
        members=tuple(step),
        absorbed=leaves,
        scope=_around(stretch.name, common([view.nodes[i].scope for i in stretch.ids]))
        if stretch.scope is None
        else stretch.scope,
        mark=next((view.nodes[i].mark for i in stretch.ids if view.nodes[i].mark), ""),
    )


def common(scopes: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The scopes that all of these have in common.

    >>> common([("net", "layer 1"), ("net", "layer 2")])
    ('net',)
    """
    shared = scopes[0]
    for scope in scopes[1:]:
        k = 0
        while k < min(len(shared), len(scope)) and shared[k] == scope[k]:
            k += 1
        shared = shared[:k]
    return shared


def _around(name: str, scope: tuple[str, ...]) -> tuple[str, ...]:
    """The scopes around a group: those outside of the one it stands for. scope: what its operations have in common."""
    for k in range(1, len(scope) + 1):
        if name and ".".join(scope[:k]) == name.split(" … ")[0]:
            return scope[: k - 1]
    return scope if " … " in name or not name else ()


def _told(merged: GraphView, view: GraphView, hint: str) -> GraphView:
    """Say in a sentence what was merged."""
    groups = [node for node in merged.nodes if node.role == GROUP]
    if not groups:  # nothing could be merged
        return merged
    operations = sum(node.count * len(node.members) for node in groups)
    leaves = sum(node.absorbed for node in groups)
    times = "; ×n marks a step that repeats n times" if any(node.count > 1 for node in groups) else ""
    also = f" and {counted(leaves, 'input')} of theirs" if leaves else ""
    are = "is" if operations == 1 and not leaves else "are"
    told = (
        f"{counted(operations, 'operation')}{also} {are} drawn as {counted(len(groups), 'group')}{times}. "
        f"{hint or f'limit={len(view.nodes)} draws them one by one.'}"
    )
    return replace(merged, left_out=told)
