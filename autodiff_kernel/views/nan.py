"""`nan(x)`: where the first nan or inf began and how it went on, forward and backward, step by step."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_kernel.core import journal, modes
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain import Answer
from autodiff_kernel.explain.history import parameters_of
from autodiff_kernel.explain.numbers import nonfinite
from autodiff_kernel.explain.words import name_of_tensor

from ..core.dtype import is_floating
from .build import peek
from .names import named_tensors
from .result import Result
from .style import clip, printable
from .text import graph_text
from .why import Finding, WhyView, shown, why_html

MOST, TRACED = 10_000, 40  # tensors that are looked at; of which the way of a nan is followed
NAMED = 6  # of which are told that they have nan or inf


def nan(x: Any = None, *, namespace: Mapping[str, Any] | None = None, everything: bool = False) -> Result:
    """Where the first nan or inf of a tensor, or of its gradient, came from.

    x: a tensor, a list or dictionary of tensors, or anything with `named_parameters()`; left out, every tensor of
    `namespace`. namespace: the user's names; the caller's by default. everything: give all answers in full.

    Raises TypeError for anything else.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.core import modes
    >>> with modes.recording():
    ...     x = torch.tensor([1.0, 0.0])
    ...     y = x.log().sum()
    >>> print(nan(y).text.splitlines()[1])
    y has inf because log(0) = -inf.
    """
    if namespace is None:
        caller = sys._getframe(1)
        namespace = {**caller.f_globals, **caller.f_locals}
    tensors = _tensors(x, namespace)
    bad = [(name, t) for name, t in tensors if any(count for _, count, _ in counts(t))]
    answers: list[Answer] = []
    with modes.recording(False):
        for _, t in bad[:TRACED]:
            answers += [a for a in nonfinite(t, namespace) if a not in answers]
    answers.sort(key=_when)
    about = "; ".join(f"{name}: {told(t)}" for name, t in (bad or tensors)[:NAMED])
    if len(bad) > NAMED:
        about += f"; and {len(bad) - NAMED} more"
    if not bad:
        return shown([Answer("nothing", _nothing(tensors))], namespace)
    if not answers:
        unknown = "How it came to that was not recorded: recording was off, or it is too long ago."
        return shown([Answer("nothing", unknown)], namespace, about=about)
    view = shown([_stepwise(a) for a in answers], namespace, about=about, everything=everything).model
    return Result(view, text=nan_text, html=why_html, alt=view.findings[0].finding)


def _tensors(x: Any, namespace: Mapping[str, Any]) -> list[tuple[str, Tensor]]:
    """The tensors to look at, with their names."""
    if isinstance(x, Tensor):
        return [(name_of_tensor(x, namespace) or "the tensor", x)]
    if x is None:
        return named_tensors(namespace)[:MOST]
    own = next((name for name, value in namespace.items() if value is x), "it")
    if isinstance(x, (list, tuple)):
        items: list[tuple[str, Any]] = [(f"{own}[{i}]", t) for i, t in enumerate(x[:MOST])]
    elif isinstance(x, dict):
        items = [(f"{own}[{key!r}]", t) for key, t in list(x.items())[:MOST] if isinstance(key, (str, int))]
    elif callable(getattr(type(x), "named_parameters", None)):
        items = [(f"{own}.{name}", t) for name, t in parameters_of(x)[:MOST]]
    else:
        raise TypeError(f"nan() looks at tensors, lists of tensors and models; got {type(x).__name__}")
    return [(name, t) for name, t in items if isinstance(t, Tensor)]


def counts(t: Tensor) -> list[tuple[str, int, int]]:
    """How many nan and inf, of how many, are in the values and in the gradient: (where, bad, all)."""
    g = t._grad_or_none()
    rows = []
    for where, raw in (("", t.raw), ("gradient", g.raw if g is not None else None)):
        if raw is not None and is_floating(raw.dtype):
            value = np.asarray(peek(raw))
            rows.append((where, int(value.size - np.isfinite(value).sum()), int(value.size)))
    return rows


def told(t: Tensor) -> str:
    """The counts in words: '2 of 4 values are nan or inf, gradient 0 of 4'."""
    parts = [
        f"{where} {bad} of {size}".strip() + ("" if where else " values nan or inf")
        for where, bad, size in counts(t)
    ]
    return ", ".join(parts)


def _nothing(tensors: list[tuple[str, Tensor]]) -> str:
    if not tensors:
        return "There is no tensor to look at."
    if len(tensors) == 1:
        name, t = tensors[0]
        also = " and none in its gradient" if t._grad_or_none() is not None else ""
        return f"No nan and no inf is among the values of {clip(name, 60)}{also}."
    return f"No nan and no inf is in {len(tensors)} tensors and their gradients."


def nan_text(view: WhyView) -> str:
    """The way of the nan or inf in numbered steps, and the graph below it."""
    lines = [view.about] if view.about else []
    for i, it in enumerate(view.findings):
        lines += ["", it.finding] if i else [it.finding]
        if not i or view.everything:
            lines += [f"{_sense(it)}:"] if it.steps else []
            lines += [f"  {k}. {step}" for k, step in enumerate(it.steps, 1)]
            lines += ["What to write: " + it.fix.replace("\n", "\n    ")] if it.fix else []
            lines += [f"Read: lesson {it.lesson}"] if it.lesson else []
    text = "\n".join(printable(line) for part in lines for line in part.split("\n"))
    return f"{text}\n\n{graph_text(view.graph)}" if view.graph else text


def _sense(it: Finding) -> str:
    return "backward" if it.topic.startswith("gradient") else "forward"


def _stepwise(answer: Answer) -> Answer:
    """The answer with its one step as a step, where it has only one."""
    steps = answer.trail or tuple(f"{line.what} {line.place}" for line in answer.lines)
    return replace(answer, trail=steps)


def _when(answer: Answer) -> int:
    """Where in the journal the first of an answer's lines stands."""
    spots = {(line.place.code, line.place.instruction) for line in answer.lines}
    return next((i for i, e in enumerate(journal.LOG) if e.spot in spots), len(journal.LOG))
