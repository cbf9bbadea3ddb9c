"""Methods that return a new tensor, whose result nobody kept: `x.float()` alone on a line."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from . import rewrite
from .aliases import is_view
from .answer import LESSONS, Answer, lines
from .history import fact
from .values import same
from .words import Names, expression, is_thrown_away, label, name_of_tensor, operation

LESSON = LESSONS["in-place"]
_TIMED = ("<magic-timeit>", "<timeit-src>")


def thrown_away(x: Any, names: Names) -> Iterator[Answer]:
    """A method that returns a new tensor stood alone on a line: nobody kept the result."""
    e0 = fact(x) if isinstance(x, Tensor) else None
    if e0 is None:
        return
    log = journal.LOG.events()
    for k in journal.LOG.uses(e0.result):
        e = log[k]
        if e.kind not in ("operation", "left") or not e.inputs or e.inputs[0].__class__ is not Event:
            continue
        if e.inputs[0].result is not e0.result or e.result is e0.result or e.tensor() is not None:
            continue
        place = e.place
        if place is None or place.filename in _TIMED or not is_thrown_away(place):
            continue
        if k + 1 < len(log) and log[k + 1].spot == e.spot and log[k + 1].kind == "write":
            continue  # a step of an operation in place
        if rewrite.receiver(place) == "" or any(
            same(i, e) for u in log[k + 1 :] for i in u.inputs if i.__class__ is Event
        ):
            continue
        yield _thrown(x, e, names)


def _thrown(x: Tensor, e: Event, names: Names) -> Answer:
    title, source = name_of_tensor(x, names) or label(e, names), expression(e.place) or operation(e)
    owner = rewrite.receiver(e.place)
    if isinstance((names or {}).get(owner), ModuleType) or not owner.isidentifier():
        owner = title
    in_place = _in_place_form(e, source)
    changed = e.kind == "left" or is_view(e) or e.shape == e.inputs[0].shape  # else a sum or the like
    fix = f"{owner if changed else 'result'} = {source}" + (f"  # or {in_place}" if in_place else "")
    state = f"{title} is still {_state(x, e)}" if _state(x, e) else f"{title} itself did not change"
    return Answer(
        "result thrown away", f"{source} gave a new tensor that nobody kept; {state}.",
        lines(("computed in", e)), fix, LESSON, about=(x,),
    )  # fmt: skip


def _state(x: Tensor, e: Event) -> str:
    if e.dtype is not None and e.dtype != x.raw.dtype:
        return f"{x.dtype}".removeprefix("torch.")
    if isinstance(e.shape, tuple) and e.shape != x.raw.shape:
        return f"of shape {list(x.raw.shape)}"
    return ""


def _in_place_form(e: Event, source: str) -> str:
    """`x.add_(1)` for `x.add(1)`, where there is such a method."""
    head, dot, call = source.rpartition("." + operation(e))
    word = operation(e) + "_"
    same_kind = e.inputs[0].dtype == e.dtype and e.inputs[0].shape == e.shape
    return (
        f"{head}.{word}{call}" if dot and call.startswith("(") and same_kind and hasattr(Tensor, word) else ""
    )


def copy_written(x: Any, names: Names) -> Iterator[Answer]:
    """A write in place went into a new tensor that nobody holds: x[mask].zero_() leaves x as it is."""
    e0 = fact(x) if isinstance(x, Tensor) else None
    if e0 is None:
        return
    seen: set[tuple[Any, ...]] = set()
    for w in list(journal.LOG.of_kind("write")):
        made = w.inputs[0] if w.inputs else None
        if (
            made.__class__ is not Event
            or w.tensor() is not None
            or w.spot in seen
            or made.kind != "operation"
        ):
            continue
        if is_view(made) or not made.inputs or made.inputs[0].__class__ is not Event or w.result is e0.result:
            continue
        if made.inputs[0].result is e0.result and _dropped(w, made):
            seen.add(w.spot)
            yield _lost_write(x, w, made, names)


def _dropped(w: Event, made: Event) -> bool:
    """Was the tensor made for this line only, and the result of the write not kept?"""
    a, b = w.place, made.place
    same_line = a is not None and b is not None and (a.filename, a.line) == (b.filename, b.line)
    return same_line and (is_thrown_away(a) or w.op == "setitem")


def _lost_write(x: Tensor, w: Event, made: Event, names: Names) -> Answer:
    title, source = name_of_tensor(x, names) or label(made.inputs[0], names), expression(made.place)
    line = w.place.text if w.place is not None else operation(w)
    picks = made.name in ("index", "getitem", "index_select", "masked_select", "gather", "take")
    how = (
        "indexing with a list or a mask copies"
        if picks
        else f"{source or operation(made)} makes a new tensor"
    )
    fix = ""
    if picks and source and w.op == "setitem":
        fix = f"{title}[rows, columns] = …  # one index for both steps"
    elif picks and source:
        plain = rewrite.without_in_place(w.place).partition("\n")[0]  # x[m] = x[m].add(1)
        fix = plain if plain.startswith(f"{source} = ") else ""
    return Answer(
        "copy written", f"{line} did not change {title}: {how}, and the copy was thrown away with the change.",
        lines(("written in", w)), fix, LESSON, about=(x,),
    )  # fmt: skip
