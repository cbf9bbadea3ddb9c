"""Where did the first nan or inf come from, forward and backward?

Forward: from the asked tensor back along its history, always to an input that is nan or inf itself, until the inputs
are finite: there it was made.  Backward: from the tensor's gradient up along what the rules passed, likewise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.core.trail import Passed

from ..core.dtype import is_floating
from .answer import LESSONS, Answer, lines
from .causes import Spot, cause
from .divergence import runaway, smaller_step, told
from .history import fact
from .related import Whole, descendants
from .slopes import Bend, backward_cause
from .values import Array, Backwards, Values, where, worst
from .words import Names, expression, label, name_of_tensor, number, operation, owner_of


@dataclass
class Trail:
    """The way of a nan or inf: the events that made or changed it, oldest first, with what carried it on between."""

    made: list[Event]
    carried: list[Event]
    unknown: Event | None = None  # where the values end that were kept
    given: bool = False  # it was put there as a constant, or came with the data


def nonfinite(x: Any, names: Names) -> Iterator[Answer]:
    """Where the first nan or inf of a tensor or of its gradient came from."""
    if not isinstance(x, Tensor) or not is_floating(x.raw.dtype):
        return
    values = Values()
    e = getattr(x, "fact", None)
    if e is not None and e.op in ("grad", "autograd.grad") and e.kind == "made":
        yield from _of_gradient(e.inputs[0], x, values, names, walk=e.p if e.op == "grad" else None)
        return
    owner = owner_of(x, names)
    if owner is not None:
        yield from _of_gradient(owner.fact, x, values, names) if hasattr(owner, "fact") else ()
        return
    found = list(_of_value(x, values, names))
    g = x._grad_or_none()
    if g is not None and e is not None:
        found += _of_gradient(e, g, values, names)
    if not found and e is not None:
        found += _of_results(x, values, names)
    yield from found


# ------------------------------------------------------------------------------------------------------ forward
def _of_value(t: Tensor, values: Values, names: Names) -> Iterator[Answer]:
    e = fact(t)
    if e is None or not worst(values.of(e)):
        return
    kind = worst(values.of(e))
    trail = follow(e, values)
    last = trail.carried[-1] if trail.carried else e
    if last.kind == "made" and last.op == "grad" and not trail.made:  # an update with a gradient that is nan
        update = next((x for x in trail.carried[::-1] if x.kind == "write"), e)
        title, mine = _title(t, e, names), label(update, names)
        taken = "taken over" if mine == title else f"which {mine} took over"
        for answer in _of_gradient(last.inputs[0], last.tensor(), values, names, values.of(last), last.p):
            yield Answer(
                answer.topic,
                f"{title} has {kind}, {taken} from its gradient. {answer.finding}",
                answer.lines + lines(("it came into the value in", update)),
                answer.fix, answer.lesson, answer.trail, (t,),
            )  # fmt: skip
        return
    if kind == "nan" or trail.made or not trail.given:  # an inf that was put there is meant
        yield from _told(t, e, trail, values, names, kind)


def follow(e: Event, values: Values) -> Trail:
    """From an event with nan or inf back to where it was made."""
    made: list[Event] = []
    carried: list[Event] = []
    whole = Whole()
    while True:
        e = whole(e)
        kind = worst(values.of(e))
        if not e.inputs and e.kind in ("operation", "write"):  # its history is no longer known
            carried.append(e)
            return Trail(made[::-1], carried, unknown=e)
        known = [(x, values.of(x)) for x in e.inputs if x.__class__ is Event]
        bad = [x for x, v in known if worst(v)]
        alike = [x for x in bad if worst(values.of(x)) == kind]
        constants = [x for x in e.inputs if is_number(x) and not np.isfinite(x)]
        if e.kind == "write" and e.op == "setitem" and len(known) > 1 and worst(known[1][1]) == kind:
            alike = [known[1][0]]  # what was assigned, rather than what was there before
        if alike:
            carried.append(e)
            e = alike[0]
            continue
        if bad:  # nan made of inf
            made.append(e)
            e = bad[0]
            continue
        if any(v is None for _, v in known):
            carried.append(e)
            return Trail(made[::-1], carried, unknown=e)
        if constants or not known or e.kind in ("made", "met") or not isinstance(e.op, Op):
            carried.append(e)
            return Trail(made[::-1], carried, given=True)
        made.append(e)
        return Trail(made[::-1], carried)


def _told(t: Tensor, e: Event, trail: Trail, values: Values, names: Names, kind: str) -> Iterator[Answer]:
    title = _title(t, e, names)
    steps, causes = [], []
    for event in trail.made:
        spot = spot_of(event, values, names)
        if spot is None:
            continue
        found = cause(spot)
        causes.append((event, found))
        steps.append(step(event, found.said + (f" ({found.reason})" if found.reason else "")))
    on = [
        x
        for x in trail.carried[::-1]
        if x.kind in ("operation", "write") and all(x is not m for m in trail.made)
    ]
    on = [x for x in on if x is not trail.unknown and not (trail.given and x is trail.carried[-1])]
    if on:
        steps.append("from there it went on through " + ", ".join(dict.fromkeys(operation(x) for x in on)))
    first = trail.made[0] if trail.made else trail.carried[-1]
    if trail.unknown is not None:
        yield Answer(
            "nan" if kind == "nan" else "inf",
            f"{title} has {kind}, first seen in the result of {expression(trail.unknown.place) or operation(trail.unknown)}; "
            "what that read was not kept (more than 64 elements).",
            lines(("first seen in", trail.unknown)),
            f"torch.isfinite({_input_name(trail.unknown, names)}).all()  # ask this before that line",
            LESSONS["numbers"], tuple(steps), (t,), certain=False,
        )  # fmt: skip
        return
    if trail.given:
        source = trail.carried[-1]
        steps.insert(0, step(source, f"{label(source, names)} {_given(source, kind, values)}"))
        if not causes:
            yield Answer(
                "nan" if kind == "nan" else "inf",
                f"{title} has {kind} because {label(source, names)} {_given(source, kind, values)}.",
                lines(("it was put there in", source)),
                f"torch.isnan({label(source, names)}).any()  # check the data before computing with them",
                LESSONS["numbers"], tuple(steps), (t,),
            )  # fmt: skip
            return
    if not causes:
        return
    fixes = [c.fix for _, c in causes if c.fix]
    fix = _softmax_by_hand(trail, names) or (fixes[0] if fixes else "")
    because = ", and ".join(dict.fromkeys(c.said for _, c in causes))
    away = runaway(trail.made[0])
    if away is not None:
        yield Answer(
            "diverged", f"{title} has {kind} because {told(away, names)}; then {because}.",
            _distinct(lines(("updated in", away.update), ("overflowed in", trail.made[0]))),
            smaller_step(away, names), LESSONS["training"], tuple(steps), (t,),
        )  # fmt: skip
        return
    if len(steps) == 1:  # the finding says it all
        because += f": {causes[0][1].reason}" if causes[0][1].reason else ""
        steps = []
    where_ = [("made in", ev) if k == 0 else ("and then in", ev) for k, (ev, _) in enumerate(causes)]
    if trail.given:
        where_.insert(0, ("inf was put there in", first if not trail.made else trail.carried[-1]))
    yield Answer(
        "nan" if kind == "nan" else "inf", f"{title} has {kind} because {because}.",
        _distinct(lines(*where_)), fix, LESSONS["numbers"], tuple(steps), (t,),
    )  # fmt: skip


def _given(source: Event, kind: str, values: Values) -> str:
    if source.kind in ("made", "met"):
        return f"held {worst(values.of(source)) or kind} from the start"
    value = next((number(x) for x in source.inputs if is_number(x) and not np.isfinite(x)), kind)
    return f"was given the number {value}"


def is_number(x: Any) -> bool:
    """A number among the inputs of an event (or what was made of one)."""
    return (
        isinstance(x, (float, np.generic))
        or isinstance(x, np.ndarray)
        and not x.ndim
        and is_floating(x.dtype)
    )


def step(e: Event, said: str) -> str:
    """A step of a trail: where, in which expression, what."""
    place = e.place
    source = expression(place)
    where_ = "" if place is None else f"{place.number}, " if source else place.number
    return f"{where_}{source}: {said}" if where_ or source else said


def _distinct(found: tuple[Any, ...]) -> tuple[Any, ...]:
    """The lines, each once."""
    seen: dict[str, Any] = {}
    for line in found:
        seen.setdefault(str(line.place), line)
    return tuple(seen.values())


def _title(t: Tensor, e: Event, names: Names) -> str:
    return name_of_tensor(t, names) or label(e, names)


def _input_name(e: Event, names: Names) -> str:
    return next((label(x, names, 80) for x in e.inputs if x.__class__ is Event), label(e, names, 80))


def spot_of(e: Event, values: Values, names: Names) -> Spot | None:
    """The first element of the result that is nan or inf while it might be finite, with the values that met there."""
    xs, y = values.inputs(e), values.of(e)
    if xs is None or y is None:
        return None
    kind = worst(y)
    return Spot(e, xs, y, where(y, kind), names) if kind else None


def _softmax_by_hand(trail: Trail, names: Names) -> str:
    """The cure where exp overflowed and was then divided by its sum."""
    rows = [getattr(e.op, "name", "") for e in trail.made]
    if rows[:1] != ["exp"] or "div" not in rows:
        return ""
    quotient = trail.made[rows.index("div")]
    below = quotient.inputs[1]
    if below.__class__ is not Event or getattr(below.op, "name", "") != "sum":
        return ""
    axis = below.p[0]
    dim = axis[0] if isinstance(axis, tuple) and axis else 0
    z = label(trail.made[0].inputs[0], names)
    target = label(quotient, names)
    left = f"{target} = " if target.isidentifier() else ""
    return f"{left}torch.softmax({z}, dim={dim})  # or subtract the maximum before exp: {z} - {z}.max()"


def _of_results(x: Tensor, values: Values, names: Names) -> Iterator[Answer]:
    """What was computed from x and is held by somebody has nan or inf: the first such."""
    for e in descendants(x):
        t = e.tensor()
        if (
            t is not None
            and t is not x
            and e.kind in ("operation", "write")
            and getattr(t, "fact", None) is e
        ):
            found = list(_of_value(t, values, names)) if worst(values.of(e)) else []
            yield from found
            if found:
                return


# ----------------------------------------------------------------------------------------------------- backward
def _of_gradient(
    e: Event, g: Tensor | None, values: Values, names: Names, value: Array | None = None, walk: Any = None
) -> Iterator[Answer]:
    """Where the nan or inf in the gradient g of the tensor of event e came from."""
    if value is None and g is not None:
        value = np.asarray(g.raw) if isinstance(g.raw, (np.ndarray, np.generic)) else None
    kind = worst(value)
    if not kind:
        return
    backs = Backwards(values)
    made, root = climb(e, kind, backs, walk)
    title = f"{label(e, names)}.grad"
    if not made:
        if root is not None and worst(backs.cotangent(root)):
            loss = label(root.event, names)
            source = values.of(root.event)
            if worst(source):
                trail = follow(root.event, values)
                yield from _told_loss(root.event, trail, values, names, title, kind)
                return
            yield Answer(
                f"gradient is {kind}", f"{title} is {kind} because backward of {loss} was started with {kind}.",
                lines(("used in", root.event)), "", LESSONS["numbers"], about=(g,) if g is not None else (),
            )  # fmt: skip
        return
    bends = [Bend(step, backs, values, names) for step in made]
    for b in bends:  # did a rule read what was inf or nan already?
        source = b.e.inputs[b.step.number]
        if source.__class__ is Event and worst(values.of(source)):
            yield from _told_loss(source, follow(source, values), values, names, title, kind)
            return
    found = [backward_cause(b) for b in bends]
    steps = [step(b.e, c.said) for b, c in zip(bends, found)] if len(bends) > 1 else []
    fix = next((c.fix for c in found if c.fix), "")
    reason = next((c.reason for c in found if c.reason), "")
    because = ", and ".join(dict.fromkeys(c.said for c in found))
    pairs = [(f"the rule of {operation(b.e)}, used in", b.e) for b in bends]
    yield Answer(
        f"gradient is {kind}", f"{title} is {kind} because {because}." + (f" {reason}" if reason else ""),
        _distinct(lines(*pairs)), fix, LESSONS["numbers"], tuple(steps), (g,) if g is not None else (),
    )  # fmt: skip


def _told_loss(
    e: Event, trail: Trail, values: Values, names: Names, title: str, kind: str
) -> Iterator[Answer]:
    """The gradient is nan because the value was nan already."""
    t = e.tensor()
    source = t if t is not None else None
    for answer in _told(source, e, trail, values, names, worst(values.of(e))):  # type: ignore[arg-type]
        yield Answer(
            f"gradient is {kind}", f"{title} is {kind} because already in the forward pass {answer.finding}",
            answer.lines, answer.fix, answer.lesson, answer.trail, answer.about, answer.certain,
        )  # fmt: skip


def climb(e: Event, kind: str, backs: Backwards, walk: Any = None) -> tuple[list[Passed], Passed | None]:
    """The steps whose rules made the nan or inf that came to e, first made first; and the last step looked at."""
    made: list[Passed] = []
    last: Passed | None = None
    steps = backs.into(e, walk)
    seen: set[int] = set()
    while steps:
        bad = [s for s in steps if worst(backs.gradient(s)) == kind] or [
            s for s in steps if worst(backs.gradient(s))
        ]
        if not bad:
            break
        step = bad[0]
        if id(step) in seen:
            break
        seen.add(id(step))
        last = step
        kind = worst(backs.gradient(step))
        above = worst(backs.cotangent(step))
        if backs.cotangent(step) is None:
            break
        if above != kind:
            made.append(step)
            if not above:
                break
            kind = above
        steps = backs.onto(step)
    return made[::-1], last
