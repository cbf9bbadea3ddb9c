"""The error view: what is wrong, the lines it speaks of, what to write instead, and the graph with the node in red."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autodiff_kernel.core.graph import Node, as_edge, edges_of
from autodiff_kernel.core.places import HOME
from autodiff_kernel.core.tensor import Tensor

from .graph import LIMIT, graph
from .result import Result
from .style import ERROR, ERROR_FILL, GATE, GREY, INK, MONO, card_html, escape_xml, printable

_AROUND, _GAP = 1, 6  # lines of context; an excerpt with a larger hole in it is cut in two


@dataclass(frozen=True)
class Line:
    """One line of the user's code; `note` says what happened there, '' for a line of context."""

    number: int
    text: str
    note: str = ""


@dataclass(frozen=True)
class ErrorView:
    """An error of ours as plain data.

    kind: the exception's type. phrase: its first line. summary: the finding. excerpts: (where, lines) of the user's
    code. cure: what to write instead. graph: the graph with the node at fault as text and as HTML, or None.
    """

    kind: str
    phrase: str
    summary: str
    excerpts: tuple[tuple[str, tuple[Line, ...]], ...] = ()
    cure: str = ""
    graph: tuple[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def _excerpts(lines: Any) -> tuple[tuple[str, tuple[Line, ...]], ...]:
    """The places as pieces of source with their neighbours, in the order of the code."""
    notes: dict[tuple[str, bool], dict[int, str]] = {}
    for what, place in lines:
        if place is not None and place.text:
            at = notes.setdefault((place.filename, place.in_cell), {})
            note = str(what).removesuffix(" in")
            at[place.line] = f"{at[place.line]}; {note}" if place.line in at else note
    pieces = []
    for (filename, in_cell), at in notes.items():
        where = "" if in_cell else filename.replace("\\", "/").rsplit("/", 1)[-1]
        groups: list[list[int]] = []
        for number in sorted(at):
            if groups and number - groups[-1][-1] <= _GAP:
                groups[-1].append(number)
            else:
                groups.append([number])
        for group in groups:
            span = range(max(1, group[0] - _AROUND), group[-1] + _AROUND + 1)
            texts = [(n, linecache.getline(filename, n).rstrip()) for n in span]
            pieces.append(
                (where, tuple(Line(n, text, at.get(n, "")) for n, text in texts if text or n in at))
            )
    return tuple(pieces)


def _shared_indent(lines: tuple[Line, ...]) -> int:
    return min((len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip()), default=0)


def _text_excerpt(where: str, lines: tuple[Line, ...]) -> list[str]:
    """A piece of source with an arrow before each line that matters and what happened behind it."""
    cut = _shared_indent(lines)
    width = max(len(line.text) - cut for line in lines if line.note)
    told = [f"in {where}:"] if where else []
    for line in lines:
        arrow, note = ("→", f"  # {line.note}") if line.note else (" ", "")
        told.append(
            f"{arrow}{line.number:>4}  {printable(line.text[cut:]):{width if note else 0}}{note}".rstrip()
        )
    return told


def _text(view: ErrorView) -> str:
    """The graph and the lines; the finding and the cure are in the exception's own text, which follows."""
    parts = [view.graph[0]] if view.graph else []
    parts += ["\n".join(_text_excerpt(where, lines)) for where, lines in view.excerpts]
    return "\n\n".join(parts) or f"{view.kind}: {view.summary}"


def _html_excerpt(where: str, lines: tuple[Line, ...]) -> str:
    cut = _shared_indent(lines)
    width = max(len(line.text) - cut for line in lines if line.note)
    rows = []
    for line in lines:
        code = escape_xml(line.text[cut:])
        arrow = f"<span style='color:{ERROR}'>→</span>" if line.note else " "
        gap = " " * (width - len(line.text) + cut + 2)
        note = f"{gap}<span style='color:{ERROR}'># {escape_xml(line.note)}</span>" if line.note else ""
        number = f"<span style='color:{GREY}'>{line.number:>4}</span>"
        rows.append(f"{arrow}{number}  {code}{note}")
    title = f"<div style='color:{GREY}'>in {escape_xml(where)}</div>" if where else ""
    body = "\n".join(rows)
    return (
        f"{title}<pre style='margin:6px 0;background:{GATE};color:{INK};padding:6px 10px;overflow:auto;"
        f"font-family:{MONO};font-size:12px'>{body}</pre>"
    )


def _html(view: ErrorView) -> str:
    picture = f"<div style='margin:0 0 8px'>{view.graph[1]}</div>" if view.graph else ""
    summary = f"<div style='margin:6px 0'>{escape_xml(view.summary)}</div>" if view.summary else ""
    cure = f"<div><b>What to do:</b> {escape_xml(view.cure)}</div>" if view.cure else ""
    inner = (
        f"<div style='border-left:4px solid {ERROR};padding-left:12px;max-width:760px'>"
        f"<div style='font-weight:600;background:{ERROR_FILL};padding:2px 6px'>"
        f"{escape_xml(view.kind)}: {escape_xml(view.phrase)}</div>"
        f"{summary}{''.join(_html_excerpt(*excerpt) for excerpt in view.excerpts)}{cure}</div>"
    )
    return picture + card_html(inner)


def _root(fault: Node, exception: BaseException, namespace: Mapping[str, Any] | None) -> Node:
    """What to draw: the graph of the call that failed, else of the newest variable whose graph holds the node."""
    called = [x.node for x in _arguments(exception)]
    named = [x.node for x in (namespace or {}).values() if isinstance(x, Tensor)]
    for node in called + sorted((n for n in named if n is not None), key=lambda n: -n.seq):
        if node is not None and node.op is not None and _holds(_made_by(node), fault):
            return _made_by(node)
    return fault


def _made_by(node: Node) -> Node:
    """The operation itself, for the pick of one of its outputs."""
    made = as_edge(node)[0]
    return node if made is None else made


def _arguments(exception: BaseException) -> list[Tensor]:
    """The tensors given to the function of ours that the user's code called, as its frame still has them."""
    trace = exception.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(HOME):
        trace = trace.tb_next
    if trace is None:
        return []
    found: list[Tensor] = []
    for value in trace.tb_frame.f_locals.values():
        found += [
            x for x in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(x, Tensor)
        ]
    return found


def _holds(root: Node, wanted: Node) -> bool:
    """Whether a node lies in a graph that is small enough to be drawn in full."""
    seen, stack = {root}, [root]
    while stack and len(seen) <= LIMIT:
        for edge in edges_of(stack.pop()):
            node = as_edge(edge)[0]
            if node is not None and node not in seen:
                seen.add(node)
                stack.append(node)
    return wanted in seen and len(seen) <= LIMIT


def _graph(exception: BaseException, namespace: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """The graph with the node at fault marked, as text and as HTML; None where the error is about no graph."""
    told = exception.explanation  # type: ignore[attr-defined]
    fault = told.node or (told.tensor.node if isinstance(told.tensor, Tensor) else None)
    if not isinstance(fault, Node):
        return None
    fault = _made_by(fault)
    root = _root(fault, exception, namespace)
    if root.op is None or not _holds(root, fault):
        return None  # a leaf alone is no picture, and in a huge one nobody finds the node
    drawn = graph(root, namespace=namespace or {}, mark=fault)
    return drawn.text, drawn.html


def view_model(error: BaseException, namespace: Mapping[str, Any] | None = None) -> ErrorView:
    """What an exception with an `.explanation` knows, as plain data."""
    told = error.explanation  # type: ignore[attr-defined]
    phrase = next(iter(str(error).splitlines()), "")
    return ErrorView(
        kind=type(error).__name__,
        phrase=phrase,
        summary="" if told.summary == phrase else told.summary,
        excerpts=_excerpts(told.lines),
        cure=told.cure,
        graph=_graph(error, namespace),
    )


def error(exception: BaseException, namespace: Mapping[str, Any] | None = None) -> Result:
    """Show an exception that carries an `.explanation`: the finding, the lines, the cure, the graph.

    `namespace`: where variables' names come from. Raises AttributeError for an exception without an explanation.

    >>> from autodiff_kernel.core.errors import explain
    >>> wrong = explain(RuntimeError, "a leaf was changed", "It may not be.", "use the form without the underscore.")
    >>> error(wrong)
    RuntimeError: It may not be.
    """
    view = view_model(exception, namespace)
    return Result(view, text=_text, html=_html, alt=f"{view.kind}: {view.phrase}")
