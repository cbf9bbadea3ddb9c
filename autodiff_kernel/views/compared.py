"""A graph before and after backward, as two pictures in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from autodiff_kernel.core.graph import Node

from . import paint
from .build import Wish, kept, model
from .html import picture_html
from .model import GraphView
from .names import Names
from .result import Result
from .scene import Scene, draw, pair
from .style import NOT_YET
from .svg import scene_svg
from .text import graph_text
from .walking import Walk


@dataclass(frozen=True)
class GraphPair:
    """The graph before and after backward. titles: of the two pictures."""

    before: GraphView
    after: GraphView
    titles: tuple[str, str]
    title: str
    alt: str

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


@dataclass(frozen=True)
class Foreseen:
    """What a backward would bring to each node: the gradient, and the contributions that it is the sum of."""

    grads: dict[Node, Any]
    received: dict[Node, list[tuple[Node, int, Any]]]


def compared(
    roots: list[tuple[Node, int]],
    nodes: list[Node],
    names: Names,
    wish: Wish,
    drawn: Callable[[GraphView], GraphView],
    seed: Callable[[], Any],
) -> Result:
    """The graph twice. drawn: what is left out of a view, the same for both. seed: gives what backward starts with.

    Where a backward from here has run, the first picture is the graph without its gradients; else the second shows what
    backward would bring, by a walk that changes nothing.
    """
    root = roots[0][0]
    notes = kept(root)
    view = model(roots, nodes, names, wish)
    if notes is not None and notes.grad is not None:
        before, after, words = _bare(view), view, ("Before backward", "After backward")
    else:
        if len(roots) > 1:
            raise ValueError("diff=True needs one output to go back from, not several")
        foreseen = foresee(roots[0], seed())
        before, after = view, model(roots, nodes, names, replace(wish, foreseen=foreseen))
        words = ("Now", "After backward (foreseen: it has not run)")
    made = GraphPair(
        drawn(before), drawn(after), words, view.title, f"{words[0]}: {before.alt} {words[1]}: {after.alt}"
    )
    return Result(made, text=_text, html=_html, svg=_svg, alt=made.alt, files={".pdf": _save, ".png": _save})


def foresee(root: tuple[Node, int], seed: Any) -> Foreseen:
    """What a backward from the root would bring."""
    walk = Walk(root, seed)
    received: dict[Node, list[tuple[Node, int, Any]]] = {}
    grads: dict[Node, Any] = {}
    for moment in walk:
        for gift in moment.gifts:
            received.setdefault(gift.target, []).append((moment.node, gift.position, gift.cotangent))
    for reached in walk.waits:
        grads[reached] = walk.cotangent(reached)
    return Foreseen(grads, received)


def _bare(view: GraphView) -> GraphView:
    """The view without what backward brought."""
    nodes = tuple(
        replace(n, grad="", grad_state=NOT_YET, terms=(), stored="") if n.grad_state == "here" else n
        for n in view.nodes
    )
    plain = view.sense == "forward"
    edges = tuple(replace(e, label="" if plain else e.label, passed="") for e in view.edges)
    start = view.alt.split(". ")[0].rstrip(".")
    return replace(view, nodes=nodes, edges=edges, alt=f"{start}. No gradient yet.")


def _scene(made: GraphPair) -> Scene:
    return pair(draw(made.before), draw(made.after), made.titles, made.before.direction == "TB")


def _svg(made: GraphPair) -> str:
    return scene_svg(_scene(made), title=made.title, description=made.alt)


def _text(made: GraphPair) -> str:
    return f"{made.titles[0]}:\n{graph_text(made.before)}\n\n{made.titles[1]}:\n{graph_text(made.after)}"


def _html(made: GraphPair) -> str:
    return picture_html(_svg(made), made.alt, _text(made), made.after.sources)


def _save(made: GraphPair, path: Path) -> None:
    paint.save_scene(_scene(made), path, made.title)
