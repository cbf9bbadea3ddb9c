"""Which picture goes with an answer of `explain`, and what is marked in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from autodiff_kernel.core import journal
from autodiff_kernel.core.facts import event_at
from autodiff_kernel.core.graph import Node
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain import Answer, Line
from autodiff_kernel.explain.raised import Raised
from autodiff_kernel.explain.values import Backwards, Values

from .history import Spot, history
from .model import GraphView

# Findings that nothing is wrong with: no box is red.
CALM = {
    "a result", "as it should be", "last write", "no backward", "not asked", "nothing", "nothing happened", "reduced dim",
    "trained", "not recorded so far back", "written through a view", "dtype", "dtypes", "shapes",
}  # fmt: skip

# Findings that are merely so: they are not told beside a fault.
QUIET = CALM | {"nobody asked", "gradients have no history"}
NO_PICTURE = CALM | {"gradcheck in float32", "two dtypes"}
MOST = 3  # of the tensors that an answer is about; they are alike where there are many
_NO_GRAPH = ("nobody asked", "not asked")

# The place of each of these is in the box that it is about: what stands on that box.
_BADGES = (
    (r"^only numbers", "only numbers"),
    (r"^taken out of|^no gradient passes|^computed without a graph|set to False|^became (?!0 )", "cut off here"),
    (r"^left the graph", "left the graph"),
    (r"^came back", "came back"),
    (r"^the (derivative|gradient) was computed", "without history"),
    (r"^made a leaf", "made a leaf"),
    (r"became a result|updated value went", "a new tensor"),
    (r"^saved|saved values", "saved here"),
    (r"changed in|^written", "changed here"),
    (r"^one memory since", "one memory"),
    (r"^stretched|^squeezed|^turned round|^cut anew|^divided|^stored|^indexed", r"\g<0> here"),
    (r"^\[.*\] became", "cut anew here"),
    (r"^became 0", "0 since here"),
    (r"^added (in|to)", "added here"),
    (r"became zero|set to zero", "zero since here"),
)  # fmt: skip
# What stands on the box of the operation that an answer is about, where its line only says where that is.
_HERE = {
    "wrapped around": "wraps around here",
    "result thrown away": "thrown away",
    "kink": "at its kink",
    "lost in rounding": "lost here",
    "fraction cut off": "fraction cut off",
}
# These set the scene.
_SCENE = re.compile(
    r"(?<!for )backward|needed|asked|raised|handed|called|came in|^copied in|out= is|switched off|flag"
)
_BEGINS = re.compile(r"^made in|^first seen|^it was put|^inf was put|^the rule of|^used in|^and then")
# Where no line has a box of its own, the tensor in question is marked.
_ABOUT = {
    "not used": "not in this graph",
    "not in the graph": "not in this graph",
    "another of that name": "not in this graph",
    "lone leaf": "a leaf of its own",
    "gradients added up": "added up here",
    "graph grows": "grows here",
    "grad keeps a graph": "keeps a graph",
    "grad is zero": "gradient zero",
    "leaf lost": "no leaf",
    "rebound": "no leaf any more",
    "one tensor in a list many times": "one and the same",
}


def picture(
    answer: Answer,
    namespace: Mapping[str, Any] | None,
    calm: bool = False,
    error: BaseException | None = None,
) -> GraphView | None:
    """How what an answer is about came about, with the break in red; None where there is nothing to be drawn.

    calm: nothing is wrong, so nothing is red. error: the exception that the answer explains, if it explains one.
    """
    if answer.topic in NO_PICTURE:
        return None
    things = [x for x in answer.about if isinstance(x, (Tensor, Node))][-MOST:]
    about = [e for x in things if (e := _event(x)) is not None]
    if answer.topic.startswith("grad"):  # the way back is what it is about
        about = [_owner(e) for e in about]
        about += [end for e in about for end in _ends(e)]
    raised = None if error is None else Raised(error, {}).place
    roots = [e for line in answer.lines for e in _at(line, line.place == raised)] + about
    if not roots:
        return None
    asked = next((x for x in things if isinstance(x, Tensor)), None)
    word = "" if calm else _ABOUT.get(answer.topic, "asked about")
    return history(roots, namespace, badges(answer), asked, word, answer.topic in _NO_GRAPH)


def badges(answer: Answer) -> dict[Spot, str]:
    """What is written on the box of an event at each of an answer's lines."""
    found: dict[Spot, str] = {}
    for line in answer.lines:
        word = _here(answer, line) or _badge(line.what)
        if word:
            found.setdefault(spot_of(line), word)
    return found


def spot_of(line: Line) -> Spot:
    return line.place.code, line.place.instruction


def note(answer: Answer, line: Line) -> str:
    """What to write beside a line of the user's: what stands on its box, where the line itself says less."""
    return _here(answer, line) or ("here" if line.what == "in" else line.what)


def _here(answer: Answer, line: Line) -> str:
    """The words for a line which only says where the thing is that the answer is about."""
    if answer.topic.split()[-1] in ("nan", "inf"):
        begun = [other for other in answer.lines if _BEGINS.search(other.what)]
        return "" if line not in begun else "begins here" if line is begun[0] else "and here"
    plain = line.what in ("in", "computed in", "done in", "added in", "stored in")
    return _HERE.get(answer.topic, "") if plain else ""


def _badge(what: str) -> str:
    for pattern, word in _BADGES:
        hit = re.search(pattern, what)
        if hit and not _SCENE.search(what):
            return hit.expand(word)
    return ""


def _event(x: Any) -> Event | None:
    if isinstance(x, Tensor):
        return getattr(x, "fact", None)
    while x is not None and x.op is not None and x.op.picks:
        x = x.left
    return event_at(x)


def _at(line: Line, raised: bool) -> list[Event]:
    """The newest event at a line; of a backward, the events of what it started from.

    raised: what made something there raised this time, so that its events are those of an earlier time, when it went well.
    """
    spot, backward = spot_of(line), "backward" in line.what
    kinds: tuple[str, ...] = ("backward",) if backward else ("left", "asked")
    if not backward and not raised:
        kinds = ("operation", "write", "made", *kinds)
    newest = next((e for e in reversed(journal.LOG) if e.spot == spot and e.kind in kinds), None)
    if newest is None:
        return []
    return [x for x in newest.inputs if x.__class__ is Event] if backward else [newest]


def _owner(e: Event) -> Event:
    """Of a gradient, whose it is."""
    is_gradient = e.kind == "made" and e.op in ("grad", "autograd.grad") and e.inputs
    return e.inputs[0] if is_gradient else e


def _ends(e: Event) -> list[Event]:
    """Where the newest backward that came to a tensor had begun."""
    backs = Backwards(Values())
    came = backs.into(e)
    if not came:
        return []
    steps = [s for s in backs.steps if s.walk == came[-1].walk]
    reached = {id(s.target) for s in steps}
    return list({id(s.event): s.event for s in steps if id(s.event) not in reached}.values())


__all__ = ["CALM", "QUIET", "badges", "note", "picture"]
