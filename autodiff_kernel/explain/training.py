"""Why did a parameter not change?  It got no gradient, or nothing used it, or the update went somewhere else."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from . import precision, rewrite
from .answer import LESSONS, Answer, Line, lines
from .gradients import gradient
from .history import name_of
from .names import Names, at, called, given_name, in_line, listed
from .paths import last, parents
from .updates import changed, is_gradient_of, uses_of_gradient, was_read, write_to_gradient, writes_to
from .words import checked_names, names_of_caller

TRAINING = LESSONS["training"]
COPIES = {"clone", "cast", "contiguous"}
DERIVATIVES = {"grad", "autograd.grad"}  # what is made from x, but holds its gradient


# ------------------------------------------------------------------------------------------------ one parameter
def not_updated(x: Any, names: Names) -> Iterator[Answer]:
    """A leaf has (or had) a gradient, and its value is what it was."""
    if not isinstance(x, Tensor) or x.node is None or x.node.op is not None:
        return
    came = [e for e in journal.LOG.of_kind("gradient") if e.tensor() is x]
    if not came:
        return
    writes = [e for e in writes_to(x) if _later(e, came[0])]
    if writes:
        yield from _no_effect(x, writes, names)
        return
    uses = [e for e in uses_of_gradient(x) if _later(e, came[0])]
    wrong = next((e for e in reversed(uses) if _updates_another(e, x)), None)
    if wrong is not None:
        yield _elsewhere(x, wrong, names)
        return
    cleared = last("cleared", x) or _zeroed(x)
    if cleared is not None and not uses and not was_read(x):
        yield _cleared_unused(x, came[-1], cleared, names)


def _later(e: Event, than: Event) -> bool:
    here, there = journal.LOG.position(e), journal.LOG.position(than)
    return here < 0 or 0 <= there <= here


def _zeroed(x: Tensor) -> Event | None:
    e = write_to_gradient(x)
    return e if e is not None and e.value is not None and not np.any(e.value) else None


def _updates_another(e: Event, x: Tensor) -> bool:
    """Does this combine x's gradient with x (or a copy of it) into another tensor?"""
    if e.shape != x.raw.shape:
        return False
    before = parents(e)
    if e.kind == "write":
        return bool(before) and copied_from(before[0], x)
    return any(z.tensor() is x or copied_from(z, x) for z in before) and any(
        z.tensor() is not x for z in before
    )


def copied_from(e: Event, x: Tensor) -> bool:
    """Does a tensor hold a copy of x's values (clone, a conversion, torch.tensor(x))?"""
    copied = False
    for _ in range(20):
        if e.kind == "made" and e.name in DERIVATIVES:
            return False
        if e.kind == "operation" and getattr(e.op, "name", "") in COPIES or e.kind == "made":
            copied = True
        elif e.kind == "operation" and not getattr(e.op, "view", False):
            return False
        before = parents(e)
        if len(before) != 1 and e.kind != "write":
            return False
        e = before[0]
        if e.tensor() is x:
            return copied
    return False


def _elsewhere(x: Tensor, e: Event, names: Names) -> Answer:
    name = called(x, names, "this tensor")
    other = given_name(e)
    source = parents(e)[0]
    if e.kind == "write":
        copy = called(e, names, "a copy")
        made = _copy_event(source, x)
        return Answer(
            "update of a copy",
            f"{name} did not change: {at(e) or 'the update'} changes {copy}, a copy of {name}{in_line(made, ' made in ')}.",
            lines(("the copy was made in", made), ("the copy was changed in", e)),
            f"with torch.no_grad():\n    {name.strip('`')} -= lr * {name.strip('`')}.grad",
            TRAINING,
            about=(x,),
        )
    called_it = f" and calls that {other}" if other else ""
    line = rewrite.in_place_form(e.place)
    return Answer(
        "update of a new tensor",
        f"{name} did not change: {at(e) or 'the update'} computes the updated value as a new tensor{called_it}; {name} "
        "itself stays as it was.",
        lines(("the updated value went to a new tensor in", e)),
        f"with torch.no_grad():\n    {line or f'{name} -= lr * {name}.grad'.replace('`', '')}",
        TRAINING,
        about=(x,),
    )


def _copy_event(e: Event, x: Tensor) -> Event | None:
    while e.tensor() is not x and parents(e):
        if e.kind == "operation" and getattr(e.op, "name", "") in COPIES or e.kind == "made":
            return e
        e = parents(e)[0]
    return None


def _cleared_unused(x: Tensor, came: Event, cleared: Event, names: Names) -> Answer:
    name = called(x, names, "this tensor")
    return Answer(
        "cleared before it was used",
        f"{name} did not change: the gradient that {at(came) or 'backward'} brought was cleared{in_line(cleared)} before "
        "anything had used it.",
        lines(("the gradient came in", came), ("it was cleared in", cleared)),
        f"# in this order: loss.backward(), then the update, then\n{_clearing(cleared, name)}",
        TRAINING,
        about=(x,),
    )


def _clearing(e: Event, name: str) -> str:
    return e.place.text if e.place is not None and e.place.text else f"{name}.grad = None"


def _no_effect(x: Tensor, writes: list[Event], names: Names) -> Iterator[Answer]:
    """Writes that left every value as it was."""
    if any(changed(e) is not False for e in writes):
        return
    e = writes[-1]
    name = called(x, names, "this tensor")
    step = next((s for s in e.inputs[1:]), None) if e.kind == "write" else None
    size = getattr(step, "value", step)
    if size is not None and not np.any(size):
        cause, emptied = _because(step, x, names)
        yield Answer(
            "update of zero",
            f"{name} did not change: what {at(e) or 'the update'} adds or subtracts is zero{cause}.",
            lines(("the gradient was set to zero in", emptied), ("the update without effect is in", e)),
            f"# in this order: loss.backward(), then the update, then\n{_clearing(emptied, name)}"
            if emptied
            else "",
            TRAINING,
            about=(x,),
        )
        return
    found = next(precision.no_effect(x, names), None)
    if found is not None:
        yield found


def _because(step: Any, x: Tensor, names: Names) -> tuple[str, Event | None]:
    """Which factor of the step is zero, and where the gradient was set to zero, if that is it."""
    for z in step.inputs if step.__class__ is Event and step.kind == "operation" else ():
        value = getattr(z, "value", z)
        if value is None or not isinstance(value, (int, float, np.ndarray, np.generic)) or np.any(value):
            continue
        if z.__class__ is not Event:
            return f", because it multiplies the gradient by {z:g}", None
        if is_gradient_of(z, x):
            return ", because the gradient is", z if z.kind == "write" else None
        return f", because {called(z, names, 'a factor')} is", None
    return "", None


# ------------------------------------------------------------------------------------------------ many parameters
def named_tensors(x: Any, names: Names) -> list[tuple[str, Tensor]] | None:
    """The parameters of a model, an optimizer or a collection of tensors, with what to call them; None for anything else."""
    try:
        return _named_tensors(x, names)
    except Exception:  # an object of the user's that does not answer, or whose methods give something else
        return None


def _named_tensors(x: Any, names: Names) -> list[tuple[str, Tensor]] | None:
    if isinstance(x, (Tensor, str, bytes, BaseException, type)) or x is None:
        return None
    own = next((k for k, v in (names or {}).items() if v is x and not k.startswith("_")), "")
    if isinstance(x, dict):
        found: list[tuple[str, Any]] = [(f"{own}[{k!r}]" if own else str(k), v) for k, v in x.items()]
    elif callable(getattr(x, "named_parameters", None)):
        found = [(f"{own}.{k}" if own else str(k), v) for k, v in x.named_parameters()]
    elif isinstance(getattr(x, "param_groups", None), list):
        found = [(name_of(v, names), v) for group in x.param_groups for v in group["params"]]
    elif callable(getattr(type(x), "parameters", None)):  # a model of the user's own class
        found = [(name_of(v, {own or "model": x}), v) for v in x.parameters()]
    elif isinstance(x, (list, tuple)):
        found = [(name_of(v, _without(names, own)) or f"{own}[{i}]", v) for i, v in enumerate(x)]
    else:
        return None
    tensors = [(k, v) for k, v in found if isinstance(v, Tensor)]
    return tensors if tensors and len(tensors) == len(found) else None


def _without(names: Names, own: str) -> Names:
    return {k: v for k, v in (names or {}).items() if k != own}


def faults(x: Tensor, names: Names) -> Iterator[Answer]:
    """What keeps one parameter from being trained, the most important first."""
    found = [a for a in gradient(x, names) if a.topic in FAULTS]
    if found and found[0].topic == "grad cleared":  # it had one: was it used?
        found = [*not_updated(x, names)]
    yield from found or not_updated(x, names)


FAULTS = {
    "grad cleared", "grad returned", "no backward", "way cut off", "lone leaf", "asked too late", "other inputs wanted",
    "own backward gave None", "another of that name", "not used", "not in the graph", "rebound", "leaf lost", "grad is zero",
    "backward did not finish",
}  # fmt: skip


def untrained(parameters: Any, namespace: Names = None) -> list[Answer]:
    """For each parameter that was not trained, why: no gradient, a gradient of zero, no update, or one without effect.

    parameters: a tensor, a list or dictionary of tensors, an optimizer, or anything with `named_parameters()` or
    `parameters()`.
    namespace: the user's names, for the texts; the caller's by default.  Returns: one Answer for each such parameter, in
    their order; [] where all were trained.  Raises TypeError for anything else.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel import explain
    >>> explain.watch()
    >>> w, b = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    >>> (w * 3).sum().backward()
    >>> w.data -= 0.1 * w.grad
    >>> [a.topic for a in explain.untrained([w, b])]
    ['not used']
    >>> explain.watch(False)
    """
    namespace = names_of_caller() if namespace is None else checked_names(namespace)
    named = [("", parameters)] if isinstance(parameters, Tensor) else named_tensors(parameters, namespace)
    if named is None:
        raise TypeError(
            "untrained() takes a tensor, tensors in a list or dictionary, an optimizer, or an object with "
            f"named_parameters() or parameters(), not {type(parameters).__name__}"
        )
    return [a for _, _, a in _each(named, namespace)]


def _each(named: Iterable[tuple[str, Tensor]], names: Names) -> list[tuple[str, Tensor, Answer]]:
    from autodiff_kernel.core import modes

    found = []
    with modes.recording(False):
        for name, x in named:
            known = {name: x, **(names or {})} if name else names
            first = next(faults(x, known), None)
            if first is not None:
                found.append((name, x, first))
    return found


def parameters(x: Any, names: Names) -> Iterator[Answer]:
    """Which parameters of a model or a list were not trained, and why."""
    named = named_tensors(x, names)
    if named is None:
        return
    wanted = [
        (k, t) for k, t in named if t.requires_grad or t.is_leaf and getattr(x, "named_parameters", None)
    ]
    found = _each([(k, t) for k, t in wanted if t.requires_grad], names)
    frozen = [k for k, t in wanted if not t.requires_grad]
    if not found:
        yield _all_well(named, frozen, wanted)
        return
    topics: dict[str, list[tuple[str, Tensor, Answer]]] = {}
    for entry in found:
        topics.setdefault(entry[2].topic, []).append(entry)
    for topic, entries in sorted(topics.items(), key=lambda item: -len(item[1])):
        first = entries[0][2]
        who = listed([name for name, _, _ in entries], most=6)
        yield Answer(
            topic,
            first.finding
            if len(entries) == 1
            else f"{len(entries)} of {len(wanted)} parameters ({who}) have the same fault. {first.finding}",
            first.lines,
            first.fix,
            first.lesson,
            trail=_others(entries, len(wanted), who) + first.trail,
            about=tuple(t for _, t, _ in entries),
            certain=first.certain,
        )


def _others(entries: list[tuple[str, Tensor, Answer]], count: int, who: str) -> tuple[str, ...]:
    return (
        () if len(entries) > 1 else (f"The other {count - 1} of {count} parameters do not share this fault.",)
    )


def _all_well(named: list[tuple[str, Tensor]], frozen: list[str], wanted: list[Any]) -> Answer:
    """Nothing is wrong: say what is so."""
    if not any(t.requires_grad for _, t in named):
        return Answer("not asked", f"None of the {len(named)} tensors requires grad, so none is trained.")
    some = [t for _, t in named[-50:]]  # each look goes through the whole log
    newest = max((e for e in (last("gradient", t) for t in some) if e is not None), key=_when, default=None)
    written = [w for t in some for w in writes_to(t)[-1:]]
    update = max(written, key=_when, default=None)
    marks: tuple[Line, ...] = lines(
        ("the last gradients came in", newest), ("the last update was in", update)
    )
    also = (f"Not trained, because requires_grad is False: {listed(frozen)}.",) if frozen else ()
    count = sum(t.requires_grad for _, t in named)
    if newest is None:
        return Answer(
            "nothing happened", f"No backward has reached the {count} parameters so far.", trail=also
        )
    told = (
        "and were changed since"
        if update is not None and _when(update) > _when(newest)
        else "in the last backward"
    )
    return Answer("trained", f"All {count} parameters got a gradient {told}.", marks, trail=also)


def _when(e: Event) -> int:
    return journal.LOG.position(e)
