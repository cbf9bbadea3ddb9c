"""The error view: what is wrong, the lines it speaks of, what to write instead, and the graph with the node in red."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autodiff_kernel import explain
from autodiff_kernel.core.graph import Node, as_edge, edges_of
from autodiff_kernel.core.places import HOME
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain import Answer
from autodiff_kernel.explain.raised import Raised

from .excerpts import Excerpt, excerpt_html, excerpt_text, excerpts
from .graph import LIMIT, graph
from .html import graph_html
from .marks import picture
from .result import Result
from .style import ERROR, ERROR_FILL, card_html, clip, escape_xml, printable
from .text import graph_text
from .why import CODE, SENTENCE, STEPS, fix_html, in_words, lesson_html, steps_html, words_html


@dataclass(frozen=True)
class ErrorView:
    """An error of ours as plain data.

    kind: the exception's type. phrase: its first line. summary: the finding. excerpts: (where, lines) of the user's
    code. steps: what follows the finding, step by step. cure: what to do, in words. fix: what to write, as code. lesson:
    which lesson treats it. said: does the exception's own text say the finding and the cure already? graph: the graph
    with the node at fault as text and as HTML, or None.
    """

    kind: str
    phrase: str
    summary: str
    excerpts: tuple[Excerpt, ...] = ()
    steps: tuple[str, ...] = ()
    cure: str = ""
    fix: str = ""
    lesson: str = ""
    said: bool = False
    graph: tuple[str, str] | None = None

    @property
    def says_more(self) -> bool:
        """Does it say anything that the exception's own text does not?"""
        return not self.said or bool(self.graph or self.excerpts or self.steps or self.fix)

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def _text(view: ErrorView) -> str:
    """The graph, the finding, the lines and the cure, without what the exception's own text says, which follows."""
    parts = [view.graph[0]] if view.graph else []
    if not view.said:
        parts.append(printable(view.summary))
    parts += [excerpt_text(excerpt) for excerpt in view.excerpts]
    steps = [f"  {printable(step)}" for step in view.steps]
    if view.cure and not view.said:
        steps += [f"What to do: {printable(view.cure)}"]
    if view.fix:
        steps += ["What to write: " + "\n    ".join(printable(line) for line in view.fix.split("\n"))]
    if view.lesson and (steps or not view.said):
        steps += [f"Read: lesson {printable(view.lesson)}"]
    parts += ["\n".join(steps)] if steps else []
    return "\n\n".join(parts) or printable(f"{view.kind}: {view.summary or view.phrase}")


def _html(view: ErrorView) -> str:
    picture = f"<div style='margin:0 0 8px'>{view.graph[1]}</div>" if view.graph else ""
    summary = f"<div style='margin:6px 0'>{words_html(view.summary)}</div>" if view.summary else ""
    cure = f"<div><b>What to do:</b> {words_html(view.cure)}</div>" if view.cure else ""
    lines = "".join(excerpt_html(excerpt) for excerpt in view.excerpts)
    inner = (
        f"<div style='border-left:4px solid {ERROR};padding-left:12px;max-width:760px'>"
        f"<div style='font-weight:600;background:{ERROR_FILL};padding:2px 6px'>"
        f"{escape_xml(view.kind)}: {escape_xml(view.phrase)}</div>"
        f"{summary}{lines}{steps_html(view.steps)}{cure}{fix_html(view.fix)}{lesson_html(view.lesson)}</div>"
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


def _graph(
    exception: BaseException, answer: Answer, namespace: Mapping[str, Any] | None
) -> tuple[str, str] | None:
    """The graph with the break marked, as text and as HTML; None where the error is about no graph."""
    drawn = _with_fault(exception, namespace)
    if drawn is not None:
        return drawn.text, drawn.html
    view = picture(answer, namespace, error=exception)
    return None if view is None else (graph_text(view), graph_html(view))


def _with_fault(exception: BaseException, namespace: Mapping[str, Any] | None) -> Result | None:
    """The recorded graph with the node at fault marked; None where there is no such node in it."""
    told = getattr(exception, "explanation", None)
    if told is None:
        return None
    fault = told.node or (told.tensor.node if isinstance(told.tensor, Tensor) else None)
    if not isinstance(fault, Node):
        return None
    fault = _made_by(fault)
    root = _root(fault, exception, namespace)
    if root.op is None or not _holds(root, fault):
        return None  # a leaf alone is no picture, and in a huge one nobody finds the node
    return graph(root, namespace=namespace or {}, mark=fault)


def view_model(error: BaseException, namespace: Mapping[str, Any] | None = None) -> ErrorView:
    """What an exception of ours knows, and what `explain.why` knows more, as plain data."""
    told = getattr(error, "explanation", None)
    phrase = next(iter(str(error).splitlines()), "")
    answer = _answer(error, namespace)
    summary = told.summary if told is not None else phrase
    said = answer.finding.rstrip(".") == summary.rstrip(".")
    cure = in_words(answer.fix)
    return ErrorView(
        kind=type(error).__name__,
        phrase=clip(phrase, SENTENCE),
        summary="" if said and summary == phrase else clip(answer.finding, SENTENCE),
        excerpts=excerpts((line.what, line.place) for line in answer.lines if line.what != "raised in"),
        steps=tuple(clip(step, SENTENCE) for step in answer.trail[:STEPS]),
        cure=clip(cure, SENTENCE),
        fix="" if cure else clip(answer.fix, CODE),
        lesson=answer.lesson,
        said=said,
        graph=_graph(error, answer, namespace),
    )


def _answer(error: BaseException, namespace: Mapping[str, Any] | None) -> Answer:
    """The answer to an exception; what it says itself, where finding more fails."""
    try:
        return explain.why(error, namespace or {})
    except Exception:  # a half-made tensor in a frame, say: what the exception knows is better than nothing
        told = getattr(error, "explanation", None)
        if told is None:
            return Answer("nothing", next(iter(str(error).splitlines()), ""))
        lines = tuple(explain.Line(what, place) for what, place in told.lines if place is not None)
        return Answer(told.topic, told.summary, lines, f"# {told.cure}" if told.cure else "")


def error(exception: BaseException, namespace: Mapping[str, Any] | None = None) -> Result:
    """Show an exception of ours: the finding, the lines, the cure, the graph.

    `namespace`: where variables' names come from. Raises TypeError for an exception that is not ours.

    >>> from autodiff_kernel.core.errors import explain
    >>> wrong = explain(RuntimeError, "a leaf was changed", "It may not be.", "use the form without the underscore.")
    >>> error(wrong)
    RuntimeError: It may not be.
    """
    if not hasattr(exception, "explanation") and not Raised(exception, namespace).ours:
        raise TypeError(
            f"error() shows exceptions that this package raised; this {type(exception).__name__} is not one"
        )
    view = view_model(exception, namespace)
    return Result(view, text=_text, html=_html, alt=f"{view.kind}: {view.phrase}")
