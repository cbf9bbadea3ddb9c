"""Scopes in a picture: which are folded to one box, which blocks repeat, and where an open scope gets a frame.

A scope is what `with torch.scope("layer 1")` (or a module) was open while an operation ran; scopes lie in each other,
and a name like "net.layer 1" says the whole way to one.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from .collapse import Stretch, alike, by_repetition, common, merge
from .model import DATA, LEAF, OUTPUT, SAVED, GraphView

_HINT = "expand= opens a scope, depth= opens more of them (%graph --expand, --depth)."


@dataclass(frozen=True)
class Cluster:
    """An open scope: its name, how deep it lies (1: outermost), and the nodes inside."""

    name: str
    depth: int
    members: tuple[int, ...]


def fold(
    view: GraphView,
    depth: int | None = None,
    folded: Sequence[str] = (),
    expanded: Sequence[str] = (),
    repeats: bool = False,
) -> GraphView:
    """The view with scopes drawn as one box each.

    depth: how many levels of scopes stay open; None: all. folded, expanded: scopes that are closed or opened all the
    same, by their own name or the whole way. repeats: equal blocks that follow each other become one box with ×n.

    Raises ValueError for a scope that does not exist.
    """
    check_known(view, [*folded, *expanded])
    operations = [node.id for node in view.nodes if node.role not in (LEAF, DATA, OUTPUT)]
    stretches: list[Stretch] = []
    for i in operations:
        closed = _closed(view.nodes[i].scope, depth, folded, expanded)
        name = ".".join(closed)
        if closed and stretches and stretches[-1].name == name:
            stretches[-1].ids.append(i)
        else:
            stretches.append(Stretch([i], name=name))
    whole = any(stretch.name for stretch in stretches)
    if repeats:
        stretches = list(alike(view, stretches)) if whole else by_repetition(view, operations)
    if not whole and all(len(stretch.ids) == 1 for stretch in stretches):
        return view
    return merge(view, stretches, swallow=whole, hint=_HINT)


def _closed(
    scope: tuple[str, ...], depth: int | None, folded: Sequence[str], expanded: Sequence[str]
) -> tuple[str, ...]:
    """The outermost scope around an operation that is closed, as the way to it; () if none is."""
    opened = max((k for k in range(1, len(scope) + 1) if is_named(scope[:k], expanded)), default=0)
    for k in range(1, len(scope) + 1):
        if is_named(scope[:k], folded) or (depth is not None and k > depth and k > opened):
            return scope[:k]
    return ()


def is_named(way: tuple[str, ...], names: Sequence[str]) -> bool:
    """Is a scope called by its own name, or by the way to it ("net.layer 1"), or the end of that?"""
    whole = ".".join(way)
    return any(whole == name or whole.endswith(f".{name}") for name in names)


def check_known(view: GraphView, names: Sequence[str]) -> None:
    ways = {node.scope[:k] for node in view.nodes for k in range(1, len(node.scope) + 1)}
    known = sorted({".".join(way[k:]) for way in ways for k in range(len(way))})
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            there = f"did you mean {close[0]!r}?" if close else ", ".join(map(repr, known[:8]))
            raise ValueError(
                f"there is no scope {name!r} in this graph; "
                + (there if known else "it has no scopes (with torch.scope('layer 1'): makes one)")
            )


def clusters(view: GraphView) -> list[Cluster]:
    """The open scopes of a view, outermost first.

    What only a scope's operations use (its weights) lies inside, too; but not data with a name: they come from outside.
    """
    if not any(node.scope for node in view.nodes):
        return []
    ways = [node.scope for node in view.nodes]
    users: dict[int, list[tuple[str, ...]]] = {}
    for edge in view.edges:
        source = view.nodes[edge.source]
        if source.role in (LEAF, SAVED) or (source.role == DATA and not source.name):
            users.setdefault(edge.source, []).append(view.nodes[edge.target].scope)
    for leaf, scopes in users.items():
        ways[leaf] = common(scopes)
    found: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    runs: dict[tuple[str, ...], int] = {}  # a scope that is left and opened again gets a second frame
    last: tuple[str, ...] = ()
    homes: list[dict[int, int]] = [{} for _ in view.nodes]
    for node in view.nodes:
        if node.id in users:
            continue
        for k in range(1, len(ways[node.id]) + 1):
            way = ways[node.id][:k]
            if last[:k] != way:
                runs[way] = runs.get(way, 0) + 1
            found.setdefault((runs[way], way), []).append(node.id)
            homes[node.id][k] = runs[way]
        last = ways[node.id]
    for edge in view.edges:
        if edge.source in users:
            for k, run in homes[edge.target].items():
                if k <= len(ways[edge.source]):
                    members = found[run, ways[edge.source][:k]]
                    if edge.source not in members:
                        members.append(edge.source)
    made = [Cluster(way[-1], len(way), tuple(members)) for (_, way), members in found.items()]
    return sorted(made, key=lambda cluster: cluster.depth)


def entries(view: GraphView, framed: list[Cluster]) -> list[tuple[int, int]]:
    """Pairs of nodes that must stand in this order: what comes into a scope from outside stands before its weights.

    Without that a weight would stand beside the layer before, and no frame could part the two.
    """
    found = []
    for cluster in framed:
        inside = set(cluster.members)
        weights = [i for i in cluster.members if view.nodes[i].role in (LEAF, DATA)]
        if weights:
            outside = dict.fromkeys(
                e.source for e in view.edges if e.target in inside and e.source not in inside
            )
            found += [(source, weight) for source in outside for weight in weights if source < weight]
    return found
