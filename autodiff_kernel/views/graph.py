"""`graph(x)`: the graph that made a tensor, with values and gradients, in every form a front end can show."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autodiff_kernel.core.backward import first_cotangent
from autodiff_kernel.core.errors import explain
from autodiff_kernel.core.graph import Node, as_edge, edges_of, node_of
from autodiff_kernel.core.tensor import Tensor

from . import dot, paint
from .blocks import blocks as layers
from .build import Wish, called, model, reachable
from .collapse import collapse
from .compared import compared
from .html import picture_html, summary_html
from .model import GraphView, Summary, counted
from .names import Names
from .paths import path_notes
from .result import Result
from .scopes import fold as fold_scopes
from .style import clip, shape_text
from .svg import graph_svg
from .text import graph_text, summary_text

LIMIT = 150  # nodes that are drawn one by one
MOST = 2000  # nodes of which a picture is made at all


class GraphResult(Result):
    """A graph's view model with its renderings. `.save()` writes .svg, .pdf, .png, .html, .txt and .dot.

    engine: 'own' (the built-in layout) or 'dot' (Graphviz; where there is none, or it takes too long, the built-in
    layout draws and the picture says so).
    """

    model: GraphView

    def __init__(self, view: GraphView, engine: str = "own") -> None:
        self._engine = engine
        if engine == "dot":
            view = self._with_dot(view)
        super().__init__(
            view,
            text=graph_text,
            html=lambda view: picture_html(self._render("svg"), view.alt, self._render("text"), view.sources),
            svg=self._picture,
            alt=view.alt,
            files={".dot": dot.save, ".gv": dot.save, ".pdf": self._page, ".png": self._page},
        )

    def to_graphviz(self) -> Any:
        """The graph as a `graphviz.Digraph`, to be changed or rendered by Graphviz.

        >>> import autodiff_kernel as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> type(graph(x * x, namespace={"x": x}).to_graphviz()).__name__
        'Digraph'
        """
        return dot.digraph(self.model)

    def _with_dot(self, view: GraphView) -> GraphView:
        """Ask dot for the picture now; if it can't, say why under the picture that the built-in layout draws."""
        self._dotted = ""
        try:
            self._dotted = dot.render_svg(view)
        except (RuntimeError, ImportError) as error:
            self._engine = "own"
            return replace(view, notes=(*view.notes, f"Drawn by the built-in layout: {error}."))
        return view

    def _picture(self, view: GraphView) -> str:
        return self._dotted if self._engine == "dot" else graph_svg(view)

    def _page(self, view: GraphView, path: Path) -> None:
        """PDF and PNG: by dot if it was asked for, else by matplotlib from the built-in layout."""
        if self._engine == "dot":
            path.write_bytes(dot.render(view, path.suffix.lower()[1:]))
        else:
            paint.save(view, path)


def graph(
    x: Any,
    *,
    namespace: Mapping[str, Any] | None = None,
    sense: str = "forward",
    direction: str = "LR",
    values: bool = True,
    grads: bool = True,
    numbers: bool = False,
    saved: bool = False,
    limit: int = LIMIT,
    depth: int | None = None,
    fold: Sequence[str] = (),
    expand: Sequence[str] = (),
    repeats: bool = False,
    blocks: bool = False,
    paths: bool = False,
    diff: bool = False,
    engine: str = "own",
    title: str = "",
    mark: Any = None,
) -> Result:
    """The graph that made a tensor: every value, every operation, and what backward brought to each.

    x: a tensor, a node (`grad_fn`), or a list of them. namespace: variables that give the boxes their names; the
    caller's own if None. sense: 'forward' draws arrows as values flow, 'backward' as gradients do. direction: 'LR' or
    'TB'. values, grads: what the boxes show. numbers: call values without a variable w1, w2, … as in an evaluation
    trace. saved: show what each operation keeps for backward. limit: how many boxes are drawn; beyond it operations
    are merged into groups, beyond 2,000 nodes (or `limit`) a summary in words takes the picture's place.

    Scopes (`with torch.scope("layer 1")`) are drawn as frames. depth: how many levels of them are open, the others are
    one box each; fold, expand: scopes that are closed or open all the same, by their own name or the way to them
    ("net.layer 1"). repeats: equal blocks that follow each other become one box with ×n. blocks: each layer (the innermost
    scopes: calls of modules) is one block with its class, shapes and parameters, as networks are drawn; expand opens some
    of them. paths: say how many ways lead
    from the leaves to the result, and how many edges. diff: draw it twice, before and after backward; where none has
    run, the second picture shows what it would bring (nothing is changed).

    engine: 'own' or 'dot'. mark: a tensor or node that is drawn as the one in error.

    Values, gradients and lines were kept where recording was on (`core.modes.recording`; the kernel switches it on);
    elsewhere the picture says "not recorded".

    Raises RuntimeError for a tensor without a graph, TypeError for what is neither tensor nor node, ValueError for an
    option that does not exist.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.core import modes
    >>> with modes.recording():
    ...     x = torch.tensor(2.0, requires_grad=True)
    ...     y = x * x
    >>> y.backward()
    >>> graph(y, namespace={"x": x, "y": y}).alt
    '1 leaf, 1 operation. y is 4; gradient of x is 4.'
    """
    _check("sense", sense, ("forward", "backward"))
    _check("direction", direction, ("LR", "TB"))
    _check("engine", engine, ("own", "dot"))
    if depth is not None and depth < 0:
        raise ValueError(f"depth={depth}: scopes are counted from 0 (all closed)")
    if namespace is None:
        caller = sys._getframe(1)
        namespace = {**caller.f_globals, **caller.f_locals}
    names = Names(namespace)
    roots = list(dict.fromkeys(_root(t, names) for t in (x if isinstance(x, (list, tuple)) else [x])))
    if not roots:
        raise ValueError(
            "graph() got an empty list; give it a tensor that was computed from one with requires_grad=True"
        )
    nodes = reachable([node for node, _ in roots])
    wish = Wish(
        sense, direction, values, grads, numbers, saved and len(nodes) <= limit, clip(title, 200), _node(mark)
    )
    ways = path_notes(roots, nodes, names) if paths else ()
    if len(nodes) > max(MOST, limit):
        return _too_large(roots, nodes, names, wish, ways)

    def drawn(view: GraphView) -> GraphView:
        view = replace(view, notes=(*view.notes, *ways))
        if blocks:
            return collapse(layers(view, names, namespace, expand), limit)
        if depth is not None or fold or expand or repeats:
            view = fold_scopes(view, depth, fold, expand, repeats)
        return collapse(view, max(limit, 2 * limit * wish.saved))

    if diff:
        tensor = x[0] if isinstance(x, (list, tuple)) else x
        if not isinstance(tensor, Tensor):
            raise TypeError("diff=True goes back from a tensor; give it the tensor, not its grad_fn")
        return compared(roots, nodes, names, wish, drawn, lambda: first_cotangent(tensor, None, 0, False))
    return GraphResult(drawn(model(roots, nodes, names, wish)), engine)


def _check(option: str, given: Any, known: Sequence[str]) -> None:
    if given not in known:
        raise ValueError(f"{option}={given!r}: expected {' or '.join(map(repr, known))}")


def _root(x: Any, names: Names) -> tuple[Node, int]:
    """The node (and which output of it) that a drawing starts from."""
    x = node_of(x)
    if isinstance(x, Node):
        return as_edge(x)  # type: ignore[return-value]
    if not isinstance(x, Tensor):
        raise TypeError(
            f"graph() draws how a tensor was computed; got {type(x).__name__}. Give it a tensor, a grad_fn, or a list"
        )
    if x.node is None:
        raise _no_graph(x, names.of_tensor(x) or "the tensor")
    return as_edge(x.node)  # type: ignore[return-value]


def _node(x: Any) -> Node | None:
    x = x.node if isinstance(x, Tensor) else node_of(x)
    return as_edge(x)[0] if isinstance(x, Node) else None


def _no_graph(x: Tensor, name: str) -> RuntimeError:
    """Why there is nothing to draw, and what to do."""
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        why = f"It holds {x.dtype.name}, and only floating-point and complex tensors can require grad."
        cure = "compute with floating-point tensors, for example torch.tensor(2.0, requires_grad=True)."
    else:
        why = (
            "It does not require grad: none of the tensors it was computed from does, or it was computed under no_grad "
            "or cut off by detach."
        )
        cure = "give a tensor it depends on requires_grad=True before computing, then draw the result."
    return explain(RuntimeError, f"{name} has no graph", why, cure, tensor=x)


def _too_large(
    roots: list[tuple[Node, int]], nodes: list[Node], names: Names, wish: Wish, notes: Sequence[str] = ()
) -> Result:
    """A summary in place of a picture; the whole graph can still be written to a file."""
    counts: Counter[str] = Counter()
    depth: dict[Node, int] = {}
    leaves = []
    for node in nodes:
        if node.op is None:
            depth[node] = 0
            t = node.variable
            leaves.append(
                (names.of_node(node) or "leaf")
                + (f" {shape_text(t.shape)}" if t is not None and t.ndim else "")
            )
            continue
        counts[called(node)] += 1
        ends = [as_edge(edge)[0] for edge in edges_of(node) if edge is not None]
        depth[node] = 1 + max((depth[end] for end in ends if end is not None), default=0)
    named = [names.of_node(node, output) for node, output in roots]
    what = ", ".join(name for name in named if name) or "a tensor"
    operations = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    caption = (
        f"{counted(len(leaves), 'leaf')}, {counted(operations, 'operation')}; "
        f"the longest way from a leaf has {counted(max(depth.values()), 'operation')}"
    )
    some = tuple(leaves[:10]) + ((f"and {len(leaves) - 10:,} more",) if len(leaves) > 10 else ())
    summary = Summary(
        wish.title or f"Graph of {what}",
        caption,
        tuple(ordered[:12]),
        some,
        f"{len(nodes):,} nodes are too many for a picture (at most {MOST:,}). save('graph.dot') on this result writes "
        f"all of them; a part is drawn by giving an intermediate tensor instead."
        + "".join(f" {line}" for line in notes),
        alt=f"{what}: {caption}",
    )

    def write(_: Any, path: Path) -> None:
        dot.save(model(roots, nodes, names, wish), path)

    return Result(
        summary, text=summary_text, html=summary_html, alt=summary.alt, files={".dot": write, ".gv": write}
    )
