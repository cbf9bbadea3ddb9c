"""Why is `.grad` None, zero, or the sum of more than was meant?"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from . import cuts, rewrite, vanishing
from .answer import LESSONS, Answer, Line, lines
from .history import fact, name_of
from .names import Names, at, born, called, expression, given_name, in_line, listed, whose
from .paths import broken, forgotten, last, leaf_events, lone_leaf, origins, parents, reaches, way
from .updates import touches, write_to_gradient
from .values import recall

GRADIENTS, TRAINING, GRAPH = LESSONS["gradients"], LESSONS["training"], LESSONS["graph"]


CALM = {"no backward", "grad cleared", "grad returned"}


def gradient_missed(x: Any, names: Names) -> Iterator[Answer]:
    """What is wrong about the gradient of a tensor."""
    return (a for a in gradient(x, names) if a.topic not in CALM)


def gradient(x: Any, names: Names) -> Iterator[Answer]:
    """What is wrong or noteworthy about the gradient of a tensor."""
    x = owner(x, names)
    if not isinstance(x, Tensor):
        return
    if x.node is None:
        yield from _root_was_cut_off(x, names)
    elif x.node.op is not None:
        yield from _no_leaf(x, names)
    else:
        yield from _lone(x, names)
        if x._grad_or_none() is None:
            yield none(x, names)
        else:
            yield from _has_a_graph(x, names)
            yield from added_up(x, names)
            yield from zero(x, names)


def owner(x: Any, names: Names) -> Any:
    """The tensor whose `.grad` x is, for a question such as why(w.grad); else x itself."""
    e = getattr(x, "fact", None)
    if isinstance(x, Tensor) and e is not None and whose(e).op == "grad" and e.inputs:
        first = e
        while first.kind == "write" and parents(first):
            first = parents(first)[0]
        held = parents(first)[0].tensor() if first.op == "grad" and parents(first) else None
        if held is not None and held._grad_or_none() is x:
            return held
    return x


# ------------------------------------------------------------------------------------------------ None
def none(x: Tensor, names: Names) -> Answer:
    """Why the `.grad` of a leaf is None."""
    name = called(x, names, "this tensor")
    begun = born(fact(x))
    cleared, came = last("cleared", x), last("gradient", x)
    newest = _newest_backward(x, cleared)
    if newest is not None:
        return _not_reached(x, newest, name, names)
    if cleared is not None or came is not None:
        return Answer(
            "grad cleared",
            f"{name}.grad is None: it was cleared{in_line(cleared)}, and no backward has run since.",
            lines(("the gradient came in", came), ("it was cleared in", cleared)),
            f"{_backward_again(came)}   # before {name}.grad is read",
            TRAINING,
            about=(x,),
        )
    asked = last("backward")
    if asked is not None and asked.op == "grad" and _after(asked, begun):
        return Answer(
            "grad returned",
            f"{name}.grad is None: autograd.grad{in_line(asked)} returns gradients and stores none.",
            lines(("gradients were returned in", asked)),
            "loss.backward()   # adds to .grad; or use what autograd.grad returns",
            GRADIENTS,
            about=(x,),
        )
    return Answer(
        "no backward",
        f"{name}.grad is None: no backward has run since {name} was made{in_line(begun)}.",
        lines((f"{name} was made in", begun)),
        "loss.backward()",
        GRADIENTS,
        about=(x,),
    )


def _backward_again(came: Event | None) -> str:
    """The call that brought a gradient, as the user wrote it."""
    text = "" if came is None else expression(came.place)
    return (
        text
        if text.endswith(")") and "backward" in text and "\n" not in text and len(text) < 60
        else "loss.backward()"
    )


def _after(e: Event, begun: Event | None) -> bool:
    """Whether e was logged after another event (which may have dropped out of the log)."""
    for other in list(journal.LOG):
        if other is begun:
            return True
        if other is e:
            return begun is None or begun.kind == "met"
    return True


def _newest_backward(x: Tensor, cleared: Event | None) -> Event | None:
    """The newest backward() since x exists and was cleared; None if there was none."""
    first = born(fact(x))
    found: Event | None = None
    for e in list(journal.LOG):
        if e is cleared or e is first:
            found = None
        elif e.kind == "backward" and e.op == "backward":
            found = e
    return found


def _not_reached(x: Tensor, back: Event, name: str, names: Names) -> Answer:
    """A backward ran and brought no gradient to x."""
    return not_reached(x, back, name, names, f"{name}.grad is None: the backward{in_line(back, ' of ')}")


def not_reached(x: Tensor, back: Event, name: str, names: Names, start: str) -> Answer:
    """Why a backward (or autograd.grad) does not come from its roots to x.  `start` begins the sentence."""
    roots = parents(back)
    for root in roots:
        chain = way(root, x)
        if chain:
            return _on_the_way(x, back, chain, name, names, start)
    return _another_way(x, back, roots, name, names, start)


def _on_the_way(x: Tensor, back: Event, chain: list[Event], name: str, names: Names, start: str) -> Answer:
    """The events lead from the backward's root to x, but the gradient did not come through."""
    root = called(whose(chain[0]), names, "the result")
    alone = next((e for e in chain if lone_leaf(e)), None)
    if alone is not None:
        return _stopped_at(x, back, alone, f"{start} did not come as far as {name}", names)
    cut = broken(chain)
    if cut is not None:
        why = cuts.reason([cut], names)
        return Answer(
            "way cut off",
            f"{start} did not come from {root} to {name}, because {why.clause}.",
            (*why.lines, *lines(("backward started in", back))),
            why.fix,
            GRAPH,
            trail=why.trail,
            about=(x,),
        )
    used = chain[-2] if len(chain) > 1 else None
    asked = fact(x)
    if not chain[-1].tracked and asked is not None:
        return Answer(
            "asked too late",
            f"{start} does not lead to {name}, which was used{in_line(used)} before its gradient was asked "
            f"for{in_line(asked)}.",
            lines((f"{name} was used in", used), ("its gradient was asked for in", asked)),
            f"{name}.requires_grad_()   # before it is used",
            GRADIENTS,
            about=(x,),
        )
    only = getattr(back.p, "only", None)
    if only is not None:
        return Answer(
            "other inputs wanted",
            f"{start} was asked for the gradients of other tensors only (inputs=).",
            lines(("backward started in", back)),
            rewrite.without_keyword(back.place, "inputs"),
            GRADIENTS,
            about=(x,),
        )
    if not chain[0].tracked:
        why = cuts.reasons(chain[0], names)[0]
        return Answer(
            "way cut off", f"{start} could not start: {root} does not require grad: {why.clause}.",
            (*why.lines, *lines(("backward started in", back))), why.fix, GRAPH, about=(x,),
        )  # fmt: skip
    custom = [e for e in chain if getattr(e.op, "whole", None) is not None]
    if custom:
        return Answer(
            "own backward gave None",
            f"{start} went through {custom[0].name}{in_line(custom[0])}, whose backward gave None.",
            lines(("the Function was used in", custom[0]), ("backward started in", back)),
            f"# return a gradient for {name} from the backward of {custom[0].name}",
            GRADIENTS,
            about=(x,),
        )
    return Answer(
        "backward did not finish",
        f"{start} leads to {name}, but did not come to its end: an error or an interrupt stopped it.",
        lines(("backward started in", back)),
        "",
        GRADIENTS,
        about=(x,),
        certain=False,
    )


def _another_way(x: Tensor, back: Event, roots: list[Event], name: str, names: Names, start: str) -> Answer:
    """No recorded way leads from the roots to x: what do they lead to?"""
    root = called(whose(roots[0]), names, "the result") if roots else "the result"
    first: list[Event] = []
    for r in roots:
        t = r.tensor()
        if t is not None and t.node is not None:
            if x.node is not None and reaches(t.node, x.node):
                break
            first += leaf_events(t.node)
        first += [e for e in origins(r) if not any(whose(e) is whose(y) for y in first)]
    begin = lines(("backward started in", back))
    alone = next((r for r in roots if lone_leaf(r)), None)
    if alone is not None:
        return _stopped_at(x, back, alone, f"{start} did not come as far as {name}", names)
    twin = next((e for e in first if _same_name(e, x, names)), None)
    if twin is not None:
        mine = fact(x)
        return Answer(
            "another of that name",
            f"{start} leads to another tensor that was called {given_name(twin)}"
            f"{in_line(whose(twin))}; the present {name} is a new one{in_line(born(mine))}.",
            (*lines(("the tensor that was used was made in", whose(twin)), ("the present one was made in", born(mine))),
             *begin),
            f"# compute {root} anew, from the present {name}",
            GRAPH,
            about=(x,),
        )  # fmt: skip
    if any(forgotten(e) for e in first):
        return Answer(
            "not in the graph",
            f"{start} did not lead to {name}. What was more than {journal.DEEPEST} operations before "
            f"{root} is not recorded, so the line that cut the graph is not known.",
            begin, "", GRAPH, about=(x,),
        )  # fmt: skip
    asking = [e for e in first if e.tracked]
    used = listed([called(e, names, "data") for e in asking or first])
    return Answer(
        "not used",
        f"{start} cannot lead to {name}: {root} was computed from {used or 'other tensors'}, "
        f"not from {name}.",
        (*lines((f"{name} was made in", born(fact(x))), (f"{root} was made in", whose(roots[0]) if roots else None)),
         *begin),
        f"# compute {root} with {name}",
        GRAPH,
        about=(x,),
    )  # fmt: skip


def _same_name(e: Event, x: Tensor, names: Names) -> bool:
    mine = name_of(x, names) or (given_name(fact(x)) if fact(x) is not None else "")  # type: ignore[arg-type]
    return bool(mine) and e.tensor() is not x and given_name(e) == mine


def _stopped_at(x: Tensor, back: Event, alone: Event, start: str, names: Names) -> Answer:
    """The backward started at a computed tensor that had been made a leaf."""
    root = called(whose(alone), names, "the result")
    why = cuts.reasons(whose(alone), names)
    clause = f" {root} had no graph, because {why[0].clause}." if why else ""
    return Answer(
        "lone leaf",
        f"{start}: {root} was made a leaf{in_line(alone)}, so every backward from it ends there at once.",
        lines(
            (f"{root} was computed in", whose(alone)),
            ("made a leaf in", alone),
            ("backward started in", back),
        )
        + (why[0].lines if why else ()),
        f"# take out `{alone.place.text}`, and ask the parameter:\n{why[0].fix}"
        if why and alone.place is not None
        else "",
        GRAPH,
        trail=(clause.strip(),) if clause else (),
        about=(x,),
    )


# ------------------------------------------------------------------------------------------------ leaves that are none
def _lone(x: Tensor, names: Names) -> Iterator[Answer]:
    """x was computed, and made a leaf afterwards: backward from it changes nothing else."""
    e = fact(x)
    if e is None or not lone_leaf(e):
        return
    name = called(x, names, "this tensor")
    back = last("backward", x)
    start = f"{name} was computed without a graph"
    if back is not None:
        yield _stopped_at(
            x, back, e, f"The backward{in_line(back, ' of ')} reached nothing but {name} itself", names
        )
        return
    why = cuts.reasons(whose(e), names)
    yield Answer(
        "lone leaf",
        f"{start} and made a leaf{in_line(e)}: a backward from it would reach nothing but {name} itself.",
        lines(("computed in", whose(e)), ("made a leaf in", e)),
        why[0].fix if why else "",
        GRAPH,
        about=(x,),
    )


def _root_was_cut_off(x: Tensor, names: Names) -> Iterator[Answer]:
    """x does not require grad, and a backward started at a lone leaf that was computed from it."""
    for back in reversed(list(journal.LOG.of_kind("backward"))):
        for root in parents(back):
            if lone_leaf(root) and way(root, x):
                name = called(x, names, "this tensor")
                start = f"{name}.grad is None: the backward{in_line(back, ' of ')}"
                yield _stopped_at(x, back, root, f"{start} did not come as far as {name}", names)
                return


class Rebound(NamedTuple):
    """A name that stood for a leaf, and now stands for the result of an operation on it."""

    leaf: Event
    updates: bool


def _no_leaf(x: Tensor, names: Names) -> Iterator[Answer]:
    """x is a result, where the user will have meant a leaf."""
    e = fact(x)
    if e is None or x._grad_or_none() is not None or x.retains_grad:
        return
    found = rebound(x, e, names)
    if found is None:
        return
    name = called(x, names, "this tensor")
    leaf = whose(found.leaf)
    where = in_line(e)
    if found.updates:
        finding = (
            f"{name} is no leaf any more: {at(e) or 'the update'} computes the updated value as a new tensor, and {name} "
            f"means that now. Gradients go to the leaf{in_line(leaf, ' of ')}, not to it."
        )
    else:
        finding = (
            f"{name} is no leaf: `{expression(e.place) or e.name}`{where} made it from the leaf that was asked for its "
            "gradient, so the gradient goes to that one."
        )
    yield Answer(
        "rebound" if found.updates or at(leaf) != at(e) else "leaf lost",
        finding,
        lines(("the leaf was made in", leaf), (f"{name} became a result in", e)),
        _leaf_again(e, name, found.updates),
        TRAINING if found.updates else GRAPH,
        about=(x,),
    )


def rebound(x: Tensor, e: Event, names: Names) -> Rebound | None:
    """Does x take the place of a leaf: by its name, in the leaf's own line, or as its updated value?"""
    name = name_of(x, names) or given_name(e)
    seen: set[int] = set()
    used: set[int] | None = None
    waiting, near = [e], 0
    while waiting and near < 40:
        near += 1
        y = waiting.pop(0)
        for z in parents(y):
            if id(z) in seen or not z.tracked and z.op != "grad":
                continue
            seen.add(id(z))
            if z.kind == "asked" or z.kind == "met" and _is_leaf(z):
                used = _gradients_used(e) if used is None else used
                updates = id(z.result) in used
                if updates or cuts.same_line(z, e) or name and given_name(z) == name:
                    return Rebound(z, updates)
            elif z.kind == "operation" and (cuts.same_line(z, e) or z.op is not None):
                waiting.append(z)
    return None


def _is_leaf(e: Event) -> bool:
    t = e.tensor()
    return t is not None and t.is_leaf and t.requires_grad


def _gradients_used(e: Event) -> set[int]:
    """Of which tensors (known by the ids of their events' results) the line of e computes with the gradient."""
    waiting, seen = [e], set()
    found: set[int] = set()
    while waiting:
        y = waiting.pop()
        for z in parents(y):
            if id(z) in seen:
                continue
            seen.add(id(z))
            if z.op == "grad" and z.kind == "made" and parents(z):
                found.add(id(parents(z)[0].result))
            if not z.tracked or cuts.same_line(z, e):
                waiting.append(z)
    return found


def _leaf_again(e: Event, name: str, updates: bool) -> str:
    if updates:
        line = rewrite.in_place_form(e.place)
        return f"with torch.no_grad():\n    {line or f'{name} -= lr * {name}.grad'}"
    return rewrite.asked_last(e.place) or f"{name} = {name}.detach().requires_grad_()"


# ------------------------------------------------------------------------------------------------ more than was meant
def _has_a_graph(x: Tensor, names: Names) -> Iterator[Answer]:
    """The gradient itself requires grad: a backward with create_graph=True made it."""
    g = x._grad_or_none()
    if g is None or g.node is None:
        return
    name = called(x, names, "this tensor")
    back = next((e for e in reversed(list(journal.LOG)) if e.kind == "backward" and creates_graph(e)), None)
    root = called(parents(back)[0], names).strip("`") if back is not None and parents(back) else ""
    root = "loss" if not root or root.startswith("the ") else root
    yield Answer(
        "grad keeps a graph",
        f"{name}.grad requires grad: the backward{in_line(back, ' of ')} recorded how it was computed (create_graph), so "
        f"it keeps that whole graph alive.",
        lines(("backward with create_graph in", back)),
        f"g, = torch.autograd.grad({root}, {name.strip('`')}, create_graph=True)   # and no .grad keeps the graph",
        LESSONS["higher order"],
        about=(x, g),
    )


def creates_graph(back: Event) -> bool:
    """Whether a backward's event says create_graph."""
    return bool(getattr(back.p, "create_graph", back.p))


def added_up(x: Tensor, names: Names) -> Iterator[Answer]:
    """The gradients of several backwards stand in `.grad`, since nothing cleared it between them."""
    came, writes = contributions(x)
    if len(came) < 2 or write_to_gradient(x) is not None and vanishing.is_zero(x._grad_or_none().raw):
        return
    name = called(x, names, "this tensor")
    updated = f", although {name} was changed{in_line(writes[0])} in between" if writes else ""
    yield Answer(
        "gradients added up",
        f"{name}.grad is the sum of the gradients of {len(came)} backwards: nothing cleared it between them{updated}.",
        _counted("a gradient was added in", came) + (lines(("changed in", writes[0])) if writes else ()),
        f"{name.strip('`')}.grad = None   # before each backward, unless the sum is meant",
        TRAINING,
        about=(x,),
    )


def contributions(x: Tensor) -> tuple[list[Event], list[Event]]:
    """The 'gradient' events whose sum is in x.grad now, and the changes of x's value between them."""
    return recall("contributions", x, _contributions)


def _contributions(x: Tensor) -> tuple[list[Event], list[Event]]:
    g = x._grad_or_none()
    came: list[Event] = []
    writes: list[Event] = []
    pending: list[Event] = []
    for e in list(journal.LOG.of_kind("gradient", "cleared", "write")):
        t = e.tensor()
        if t is x and e.kind == "gradient":
            came = [*came, e] if e.p else [e]
            writes = writes + pending if e.p else []
            pending = []
        elif t is x and e.kind == "cleared":
            came, writes, pending = [], [], []
        elif e.kind == "write":
            same_size = g is not None and math.prod(e.shape) == g.raw.size
            if same_size and (e.name == "zero" or vanishing.is_zero(e.value)) and touches(e, g):
                came, writes, pending = [], [], []
            elif came and touches(e, x):
                pending.append(e)
    return came, writes


def _counted(what: str, events: list[Event]) -> tuple[Line, ...]:
    """The lines of events, each place once with the number of times."""
    counts: dict[str, int] = {}
    first: dict[str, Event] = {}
    for e in events:
        if e.place is not None:
            counts[str(e.place)] = counts.get(str(e.place), 0) + 1
            first.setdefault(str(e.place), e)
    return lines(
        *((f"{what}" if n == 1 else f"{n} times: {what}", first[k]) for k, n in list(counts.items())[:5])
    )


# ------------------------------------------------------------------------------------------------ zero
def zero(x: Tensor, names: Names) -> Iterator[Answer]:
    """The gradient is zero everywhere: which operation handed on nothing?"""
    g = x._grad_or_none()
    raw = getattr(g, "raw", None)
    if raw is None or not np.size(raw) or not isinstance(raw, (np.ndarray, np.generic)) or np.any(raw):
        return
    name = called(x, names, "this tensor")
    e = write_to_gradient(x)
    if e is not None:
        yield Answer(
            "grad cleared",
            f"{name}.grad is zero: it was set to zero{in_line(e)}, and no backward has run since.",
            lines(("set to zero in", e)),
            f"{_backward_again(last('gradient', x))}   # before {name.strip('`')}.grad is read",
            TRAINING,
            about=(x,),
        )
        return
    found = vanishing.lost(x)
    came = last("gradient", x)
    if found is None:
        return
    clause, marks, fix = vanishing.told(found, names)
    yield Answer(
        "grad is zero",
        f"{name}.grad is zero: {clause}.",
        marks + lines(("backward started in", came)),
        fix,
        GRADIENTS,
        about=(x,),
    )
