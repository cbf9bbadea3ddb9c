"""`why(x)`, `nan(x)`: an answer as a card: the finding, the user's lines, what to write instead, and the graph."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from autodiff_kernel import explain
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain import Answer

from .excerpts import Excerpt, code_html, excerpt_html, excerpts
from .html import graph_html
from .marks import CALM, QUIET, note, picture
from .model import GraphView
from .result import Result
from .style import (
    ERROR,
    ERROR_FILL,
    GATE,
    GREY,
    INK,
    LEAF,
    LEAF_FILL,
    MONO,
    card_html,
    clip,
    escape_xml,
    printable,
)
from .text import graph_text

SENTENCE, CODE, TITLE = 1200, 2400, 100  # characters
STEPS, MORE = 24, 4  # steps of a trail; further answers that are named
ROOM = 50_000  # characters of all answers together (a quotation mark takes six in HTML)


@dataclass(frozen=True)
class Finding:
    """One answer as plain data.

    text: all of it, as `print` shows it. finding: the sentence. steps: what follows it, step by step. excerpts: the
    user's lines. fix: what to write instead, as code. lesson: which lesson treats it. calm: is nothing wrong?
    """

    topic: str
    text: str
    finding: str
    steps: tuple[str, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    fix: str = ""
    lesson: str = ""
    calm: bool = False

    @property
    def length(self) -> int:
        """Characters that it takes."""
        lines = [line for _, some in self.excerpts for line in some]
        parts = (self.text, self.finding, self.fix, *self.steps, *(line.text + line.note for line in lines))
        return sum(map(len, parts))


@dataclass(frozen=True)
class WhyView:
    """Answers to a question, the most important first.

    about: what was asked, where the question did not name it. graph: how it came about, with the break marked; None
    where there is nothing to draw. everything: are the further answers shown in full? left_out: how many answers there
    are besides, for which there is no room.
    """

    findings: tuple[Finding, ...]
    about: str = ""
    graph: GraphView | None = None
    everything: bool = False
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def why(
    x: Any = explain.NEWEST, *, namespace: Mapping[str, Any] | None = None, everything: bool = False
) -> Result:
    """Why x is as it is: the answer of `explain.why`, with the user's lines, the cure, and the graph.

    x: a tensor, a list of tensors, a model or anything with `named_parameters()`, an optimizer, or an exception; left
    out, the last exception that nobody caught. namespace: the user's names; the caller's by default. everything: give
    all answers in full, not only the most important one.

    Raises TypeError for what no answer can be about.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.core import modes
    >>> with modes.recording():
    ...     w = torch.ones(2, requires_grad=True)
    ...     h = (w * 2).detach()
    ...     print(why(h).model.findings[0].topic)
    detach
    """
    if namespace is None:
        caller = sys._getframe(1)
        namespace = {**caller.f_globals, **caller.f_locals}
    if x is explain.NEWEST:
        x = explain.newest_error()
        if x is None:
            return shown([explain.why(namespace=namespace)], namespace)
        about = name_of_error(x)
    else:
        check(x)
        about = name_of_error(x) if isinstance(x, BaseException) else ""
    found = explain.answers(x, namespace) or [explain.why(x, namespace)]
    error = x if isinstance(x, BaseException) else None
    return shown(found, namespace, about=about, everything=everything, error=error)


def shown(
    found: Sequence[Answer],
    namespace: Mapping[str, Any] | None,
    *,
    about: str = "",
    everything: bool = False,
    error: BaseException | None = None,
) -> Result:
    """Answers as a result object. Where something is wrong, what is merely so is left out, unless everything is asked."""
    chosen = list(found)
    if not everything:
        chosen = [a for a in chosen if a.topic not in QUIET] or chosen
        chosen = list(
            {(a.topic, a.fix, str(a.lines)) if a.fix else a.finding: a for a in chosen[::-1]}.values()
        )[::-1]
    calm = CALM if about else QUIET  # an exception is never merely so
    drawn = picture(chosen[0], namespace, chosen[0].topic in calm, error)
    findings: list[Finding] = []
    room = ROOM
    for a in chosen:
        it = finding(a, a.topic in calm)
        room -= it.length
        if findings and room < 0:
            break
        findings.append(it)
    more = len(chosen) - len(findings)
    view = WhyView(tuple(findings), clip(about, SENTENCE), drawn, everything, more)
    return Result(view, text=why_text, html=why_html, alt=view.findings[0].finding)


def check(x: Any) -> None:
    """Raise TypeError for what no answer can be about."""
    known = (Tensor, BaseException, list, tuple, dict, np.ndarray)
    if not isinstance(x, known) and not any(
        callable(getattr(type(x), name, None)) for name in ("named_parameters", "parameters", "step")
    ):
        raise TypeError(
            f"why() explains tensors, lists of tensors, models, optimizers and exceptions; got {type(x).__name__}"
        )


def name_of_error(error: BaseException) -> str:
    """'RuntimeError: the beginning of its text'."""
    text = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}".removesuffix(": ")
    return text if len(text) <= TITLE else f"{text[: TITLE - 1]}…"


def finding(answer: Answer, calm: bool = False) -> Finding:
    """An answer as plain data, cut to a size that a page can hold."""
    perhaps = "" if answer.certain else "Perhaps: "
    return Finding(
        answer.topic,
        "\n".join(clip(line, SENTENCE) for line in str(answer).split("\n")[: 2 * STEPS]),
        clip(perhaps + answer.finding, SENTENCE),
        tuple(clip(step, SENTENCE) for step in answer.trail[:STEPS]),
        excerpts((note(answer, line), line.place) for line in answer.lines),
        clip(answer.fix, CODE),
        answer.lesson,
        calm,
    )


# ------------------------------------------------------------------------------------------------------------ text
def why_text(view: WhyView) -> str:
    """The answers in words, and the graph below them."""
    first, *others = view.findings
    parts = [view.about] if view.about else []
    parts.append(first.text)
    if view.everything:
        parts += [f"\nAlso: {other.text}" for other in others]
    else:
        parts += [f"Also: {other.finding}" for other in others[:MORE]]
    if _more(view):
        parts.append(f"Also: {_more(view)}")
    text = "\n".join(printable(line) for part in parts for line in part.split("\n"))
    return f"{text}\n\n{graph_text(view.graph)}" if view.graph else text


def _more(view: WhyView) -> str:
    """How many answers are not even named, or ''."""
    if view.everything:
        return f"{view.left_out} more, for which there is no room" if view.left_out else ""
    hidden = max(len(view.findings) - 1 - MORE, 0) + view.left_out
    return f"{hidden} more (--all gives all answers in full)" if hidden else ""


# ------------------------------------------------------------------------------------------------------------ HTML
def why_html(view: WhyView) -> str:
    """The first answer on a card with the graph below it, and the others behind a click."""
    first, *others = view.findings
    about = (
        f"<div style='color:{GREY};padding-bottom:4px'>{escape_xml(view.about)}</div>" if view.about else ""
    )
    parts = [about, finding_html(first)]
    shut = others if view.everything else others[:MORE]
    parts += [_further(other, view.everything) for other in shut]
    if _more(view):
        parts.append(f"<div style='color:{GREY};padding-top:4px'>also: {_more(view)}</div>")
    card = card_html("".join(parts))
    return f"{card}<div style='margin:8px 0 0'>{graph_html(view.graph)}</div>" if view.graph else card


def _further(other: Finding, everything: bool) -> str:
    """One of the further answers."""
    is_open = " open='open'" if everything else ""
    return (
        f"<details{is_open} style='padding-top:6px;max-width:776px'><summary style='cursor:pointer'>also: "
        f"{words_html(other.finding)}</summary><div style='padding-top:4px'>{finding_html(other, False)}</div></details>"
    )


def finding_html(it: Finding, sentence: bool = True) -> str:
    """One answer: the sentence on a coloured ground, the lines, the steps, the cure, the lesson."""
    edge, ground = (LEAF, LEAF_FILL) if it.calm else (ERROR, ERROR_FILL)
    head = (
        f"<div style='font-weight:600;background:{ground};padding:4px 8px'>{words_html(it.finding)}</div>"
        if sentence
        else ""
    )
    lines = "".join(excerpt_html(excerpt, edge) for excerpt in it.excerpts)
    return (
        f"<div style='border-left:4px solid {edge};padding-left:12px;max-width:760px'>"
        f"{head}{lines}{steps_html(it.steps)}{fix_html(it.fix)}{lesson_html(it.lesson)}</div>"
    )


def words_html(text: str) -> str:
    """A sentence; what stands in backticks is code."""
    code = rf"<code style='font-family:{MONO};font-size:12px;color:{INK};background:{GATE};padding:0 3px'>\1</code>"
    return re.sub(r"`([^`]+)`", code, escape_xml(text))


def steps_html(steps: Sequence[str]) -> str:
    """What follows a finding, step by step; shapes written under each other stay so."""
    if not steps:
        return ""
    if any("   " in step.strip() or step.strip() == "^" for step in steps):
        return code_html("\n".join(escape_xml(step.replace("`", " ")) for step in steps))
    if len(steps) == 1:
        return f"<div style='margin:6px 0'>{words_html(steps[0])}</div>"
    items = "".join(f"<li>{words_html(step)}</li>" for step in steps)
    return f"<ol style='margin:6px 0;padding-left:24px'>{items}</ol>"


def in_words(fix: str) -> str:
    """A cure that is no code but only comments, as words; '' where it is code."""
    lines = fix.split("\n")
    return " ".join(line[1:].strip() for line in lines) if all(line[:1] == "#" for line in lines) else ""


def fix_html(fix: str) -> str:
    """What to write instead, or what to do."""
    if not fix:
        return ""
    if in_words(fix):
        return f"<div style='margin-top:6px'><b>What to do:</b> {words_html(in_words(fix))}</div>"
    code = "\n".join(escape_xml(line) for line in fix.split("\n"))
    return f"<div style='margin-top:6px'><b>What to write:</b></div>{code_html(code)}"


def lesson_html(lesson: str) -> str:
    return f"<div style='color:{GREY}'>Read: lesson {escape_xml(lesson)}</div>" if lesson else ""
