"""Networks as a course draws them: each layer is one block with its name, its class, its shapes and its parameters.

A layer is the innermost scope that was open while its operations ran: a module's call, or `with torch.scope("layer 1")`.
What lies between layers (a residual sum, a loss) stays as it is; scopes around layers are frames. Steps that repeat, be
they layers in a row or whole blocks of them, are drawn once with ×n.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from .build import FOREIGN
from .collapse import Stretch, merge
from .model import DATA, GROUP, LEAF, OUTPUT, GraphNode, GraphView, counted
from .names import Names, modules_of
from .scopes import check_known, is_named
from .style import shape_text

LEAST = 3  # times that a step must come to be drawn once
_PERIOD = 24  # layers of the longest step that is looked for
_HINT = "expand= opens a block, depth= draws operations in their scopes (%graph --expand, --depth)."
_NUMBERED = re.compile(r"\d+")


def blocks(
    view: GraphView, names: Names, namespace: Mapping[str, Any], expanded: Sequence[str] = ()
) -> GraphView:
    """The view with each layer as one block.

    names: which variable holds what, and which scopes modules opened. expanded: layers that stay open, by name or way.
    A view without scopes comes back with a sentence that says how to get blocks.
    """
    if not any(node.scope for node in view.nodes):
        told = "No block: no scope was open while this was computed (with torch.scope(self): in a module's call)."
        return replace(view, notes=(*view.notes, told))
    check_known(view, expanded)
    view = _with_input(_without_names_of_parameters(view, namespace), view)
    layers = _repeated(view, _layers(view, expanded))
    sizes = [_parameters(view, stretch) for stretch in layers]
    inputs = _inputs(view)
    merged = merge(view, layers, swallow=True, hint=_HINT)
    nodes: list[GraphNode] = []
    grouped = iter(
        [pair for pair in zip(layers, sizes, strict=True) if pair[0].name]
    )  # as merge() makes them
    for node in merged.nodes:
        if node.role == GROUP:
            layer, size = next(grouped)
            node = _block(node, view, layer, size, names, inputs)
        nodes.append(node if node.details else replace(node, value="", grad_state="", stored=""))
    whole = sum(_used(view, {edge.target for edge in view.edges if view.nodes[edge.target].scope}).values())
    caption = " · ".join(filter(None, (merged.caption.split(" · ")[0], counted(whole, "parameter"))))
    notes = tuple(note for note in merged.notes if note != FOREIGN or any(node.grad_state for node in nodes))
    made = replace(merged, nodes=tuple(nodes), caption=caption, title=_title(view, names), notes=notes)
    return replace(made, alt=_alt(made, whole))


def _title(view: GraphView, names: Names) -> str:
    """'Layers of model' where a model's call made it all."""
    outer = {node.scope[:1] for node in view.nodes if node.role == OUTPUT}
    only = "".join(next(iter(outer))) if len(outer) == 1 else ""
    return f"Layers of {only}" if (only,) in names.classes else view.title


def _without_names_of_parameters(view: GraphView, namespace: Mapping[str, Any]) -> GraphView:
    """A frozen parameter is data; without its name it goes into its block, as the others do."""
    models = tuple(f"{name}." for name, value in namespace.items() if modules_of(value))
    nodes = [
        replace(node, name="") if node.role == DATA and models and node.name.startswith(models) else node
        for node in view.nodes
    ]
    return replace(view, nodes=tuple(nodes))


def _with_input(view: GraphView, before: GraphView) -> GraphView:
    """The data without a name that comes in at the first operation on data is the network's input, and stays outside."""
    data = {node.id for node in before.nodes if node.role == DATA and not node.name and node.shape}
    named = any(node.role == DATA and node.name for node in view.nodes)
    first = next((edge.source for edge in view.edges if edge.source in data), None)
    if first is None or named:
        return view
    return replace(view, nodes=tuple(replace(n, name="input") if n.id == first else n for n in view.nodes))


def _layers(view: GraphView, expanded: Sequence[str]) -> list[Stretch]:
    """Neighbouring operations of one call of an innermost scope together; all others alone."""
    ways = [node.scope for node in view.nodes]
    around = {way[:k] for way in ways for k in range(1, len(way))}
    stretches: list[Stretch] = []
    last: tuple[Any, ...] = ()
    for node in view.nodes:
        if node.role in (LEAF, DATA):
            continue
        way = node.scope
        is_open = not way or way in around or any(is_named(way[:k], expanded) for k in range(1, len(way) + 1))
        this = () if is_open else (way, node.call)
        if this and this == last:
            stretches[-1].ids.append(node.id)
        else:
            name = "" if is_open else ".".join(way)
            stretches.append(Stretch([node.id], name=name, scope=None if is_open else way[:-1]))
        last = this
    return stretches


def _repeated(view: GraphView, stretches: list[Stretch]) -> list[Stretch]:
    """Steps of several layers that come three times or more, as one."""

    around = {node.scope[:k] for node in view.nodes for k in range(1, len(node.scope))}

    def kind(stretch: Stretch) -> object:
        nodes = [view.nodes[i] for i in stretch.ids]
        way = _NUMBERED.sub("#", ".".join(nodes[0].scope))
        return way, tuple([(n.op, n.symbol, n.shape) for n in nodes])

    kinds = [kind(s) if s.name or view.nodes[s.ids[0]].scope in around else object() for s in stretches]
    out: list[Stretch] = []
    i = 0
    while i < len(stretches):
        times, period = _most_covering(view, stretches, kinds, i)
        same = stretches[i : i + times * period]
        if times > 1:
            ids = [k for stretch in same for k in stretch.ids]
            first, last = _span(view, same, period)
            end = "" if first == last else f" … {last[-1].rpartition('.')[2]}"
            out.append(Stretch(ids, times, ".".join(first) + end, first[:-1]))
        else:
            out += same
        i += times * period
    return out


def _most_covering(view: GraphView, stretches: list[Stretch], kinds: list[object], i: int) -> tuple[int, int]:
    """How often which number of layers repeats from i on; the step that covers most, the shortest of those."""
    best = (1, 1)
    for period in range(1, min(_PERIOD, (len(kinds) - i) // LEAST) + 1):
        step, times = kinds[i : i + period], 1
        while kinds[i + times * period : i + (times + 1) * period] == step:
            times += 1
        if times >= LEAST and times * period > best[0] * best[1]:
            if _is_step(view, stretches[i : i + times * period], period):
                best = (times, period)
    return best


def _is_step(view: GraphView, same: list[Stretch], period: int) -> bool:
    """Does each step have a scope of its own, or lie with the others side by side in one? (Not across their borders.)"""
    whole = _step_scope(view, same)
    own = _step_scope(view, same[:period]) != whole
    beside = all(len(view.nodes[s.ids[0]].scope) <= len(whole) + 1 for s in same)
    return any(s.name for s in same) and (own or beside or period == 1)


def _span(view: GraphView, same: list[Stretch], period: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first and the last of what repeats: net.blocks.0 and 5, net.0 and 11, twice net.cell that is called anew."""
    first, last = _step_scope(view, same[:period]), _step_scope(view, same[-period:])
    if first == last:  # no scope of its own around each step: its first and last layer stand for it
        layers = [view.nodes[s.ids[0]].scope for s in same if s.name]
        first, last = layers[0], layers[-1]
    return first, last


def _step_scope(view: GraphView, step: Sequence[Stretch]) -> tuple[str, ...]:
    """The scopes around one step of several layers."""
    return _shared([view.nodes[i].scope for stretch in step for i in stretch.ids])


def _shared(ways: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The scopes that all of these have in common."""
    shared = ways[0]
    for way in ways[1:]:
        k = 0
        while k < min(len(shared), len(way)) and shared[k] == way[k]:
            k += 1
        shared = shared[:k]
    return shared


def _inputs(view: GraphView) -> dict[int, list[int]]:
    """Of each node, those that it is made from."""
    found: dict[int, list[int]] = {}
    for edge in view.edges:
        found.setdefault(edge.target, []).append(edge.source)
    return found


def _parameters(view: GraphView, stretch: Stretch) -> dict[int, int]:
    """The leaves that a layer uses, with their number of elements."""
    return _used(view, set(stretch.ids)) if stretch.name else {}


def _used(view: GraphView, operations: set[int]) -> dict[int, int]:
    """The leaves that go into some operations, with their number of elements."""
    found = [edge.source for edge in view.edges if edge.target in operations]
    return {k: prod(view.nodes[k].shape or ()) for k in found if view.nodes[k].role == LEAF}


def _block(
    group: GraphNode, view: GraphView, layer: Stretch, size: Mapping[int, int], names: Names,
    inputs: Mapping[int, list[int]],
) -> GraphNode:  # fmt: skip
    """The box of a layer: its class for the operations, its shapes and parameters for the value."""
    inside = set(layer.ids)
    given = [k for i in layer.ids for k in inputs.get(i, ()) if k not in inside]
    shapes = [view.nodes[k].shape for k in given if view.nodes[k].role not in (LEAF, DATA)]
    shapes += [view.nodes[k].shape for k in given if view.nodes[k].role == DATA and view.nodes[k].name]
    details = []
    if shapes and shapes[0] is not None:
        details.append(("in", shape_text(shapes[0])))
    details.append(("out", shape_text(view.nodes[layer.ids[-1]].shape or ())))
    if size:
        details.append(("parameters", f"{sum(size.values()):,}"))
    around = ".".join(group.scope)
    return replace(
        group,
        name=group.name.removeprefix(f"{around}.") if around else group.name,
        op=_classes(view, layer, names) or group.op,
        line="",
        value="",
        grad="",
        grad_state="",
        stored="",
        details=tuple(details),
    )


def _classes(view: GraphView, layer: Stretch, names: Names) -> str:
    """'Linear', 'Linear → ReLU' for a step of two, 'Block' for one with a module around it; '' without modules."""
    step = layer.ids[: len(layer.ids) // layer.times]
    ways = [view.nodes[i].scope for i in step]
    whole = names.classes.get(_shared(ways), "") if not _between(view, layer) else ""
    if whole:
        return whole
    parts: dict[object, str] = {}
    for i, way in zip(step, ways, strict=True):
        if way == _shared(ways) and len(set(ways)) > 1:  # an operation between the layers
            parts[i] = view.nodes[i].op
        else:
            parts[way] = names.classes.get(way, "")
    return " → ".join(parts.values()) if all(parts.values()) else ""


def _between(view: GraphView, layer: Stretch) -> bool:
    """Do the steps of a repeated layer lie side by side in one scope, rather than each in one of its own?"""
    if layer.times == 1:
        return False
    length = len(layer.ids) // layer.times
    first, last = ([view.nodes[i].scope for i in ids] for ids in (layer.ids[:length], layer.ids[-length:]))
    return _shared(first) == _shared(last) and len(set(first)) > 1


def _alt(view: GraphView, whole: int) -> str:
    """'Layers of net: x → hidden (Linear) → out (Linear); 26 parameters.'"""
    words = []
    for node in view.nodes:
        if node.role == GROUP:
            times = f", ×{node.count}" if node.count > 1 else ""
            words.append(f"{node.name} ({node.op}{times})")
        elif node.role in (DATA, LEAF, OUTPUT) or not node.scope:
            words.append(node.title)
    some = words if len(words) <= 12 else [*words[:11], f"{len(words) - 11} more"]
    return f"{view.title}: {' → '.join(some)}; {counted(whole, 'parameter')}."
