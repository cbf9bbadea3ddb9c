"""Who wrote a tensor in place, and through which name: memory that has several names."""

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.places import Place
from autodiff_kernel.core.tensor import Tensor

from . import rewrite
from .aliases import (
    arrays_of,
    is_view,
    later_cells,
    lent_to_numpy,
    lineage,
    numpy_writes,
    overlap,
    renamings,
    whole_code,
    writes_to,
)
from .answer import LESSONS, Answer, Line, lines
from .history import fact
from .values import at
from .words import Names, atom, expression, label, name_of_tensor, number, operation, stored_as, times

LESSON = LESSONS["in-place"]


def shared_memory(x: Any, names: Names) -> Iterator[Answer]:
    """x changed because another name for its memory, made by detach(), .data, numpy() or from_numpy(), was written."""
    if isinstance(x, np.ndarray):
        yield from _array_changed(x, names)
        return
    e = fact(x) if isinstance(x, Tensor) else None
    if e is None:
        return
    others = _by_others(x, e)
    for w in others:
        link = _link(e, w)
        if link is None or not is_view(link):
            yield _shared(x, e, w, link, names)
    if not others:
        yield from changed_outside(x, e, names)


def view_written(x: Any, names: Names) -> Iterator[Answer]:
    """x changed because a view of it (or what it is a view of) was written: often that is what was meant."""
    e = fact(x) if isinstance(x, Tensor) else None
    for w in _by_others(x, e) if e is not None else ():
        link = _link(e, w)  # type: ignore[arg-type]
        if link is not None and is_view(link):
            yield _shared(x, e, w, link, names)  # type: ignore[arg-type]


def _by_others(x: Tensor, e: Event) -> list[Event]:
    """The writes to x's memory through other names, one for each line, newest first."""
    found: dict[tuple[int, int], Event] = {}
    for w in reversed(writes_to(x)):
        if w.result is not e.result and w.op != "data" and not _of_itself(w):
            found.setdefault((id(w.spot[0]), w.spot[1]), w)
    return list(found.values())


def _of_itself(w: Event) -> bool:
    """Was the other name made in the writing line itself, as in w.data -= … or x[0].zero_()?  Then it was meant."""
    steps = lineage(w).steps
    return bool(steps) and _same_line(steps[0], w)


def _same_line(a: Event, b: Event) -> bool:
    p, q = a.place, b.place
    return p is not None and q is not None and (p.filename, p.line) == (q.filename, q.line)


def _shared(x: Tensor, e: Event, w: Event, link: Event | None, names: Names) -> Answer:
    title, other = name_of_tensor(x, names) or label(e, names), label(w, names)
    made = expression(link.place) if link is not None else ""
    how, kind = f"{other} = {made}" if made and made != other else other, "shares its memory"
    mine = link is not None and not lineage(w).through(e) and lineage(e).through(w)
    if link is not None and mine:
        how, kind = f"{title} = {made}", f"shares the memory of {other}"
    if link is not None and is_view(link):
        kind = f"is a view of {other if mine else 'it'}"
    fix = ""
    if link is not None:
        name = stored_as(link.place) or (title if mine else other)
        copy = (
            f"{atom(made)}.clone()"
            if is_view(link) and made
            else (f"{atom(label(link.inputs[0], names))}.detach().clone()")
        )
        fix = f"{name} = {copy}  # if {title} should keep its values: a copy has memory of its own"
    writer = w.place.text if w.place is not None else operation(w)
    topic = "written through a view" if link is not None and is_view(link) else "shared memory"
    return Answer(
        topic, f"{title} changed with {other}: {how} {kind}, so {writer} changed both.",
        lines(*([("one memory since", link)] if link is not None else []), ("written in", w)), fix, LESSON, about=(x,),
    )  # fmt: skip


def _link(e: Event, w: Event) -> Event | None:
    """The step that made one of the two names of the other's memory."""
    mine, theirs = lineage(e).steps, lineage(w).steps
    known = {id(s) for s in mine}
    new = [s for s in theirs if id(s) not in known] or [
        s for s in mine if id(s) not in {id(t) for t in theirs}
    ]
    return new[-1] if new else None


def changed_outside(x: Tensor, e: Event, names: Names) -> Iterator[Answer]:
    """The memory is not what it was when it was last recorded, and no tensor operation changed it: NumPy did."""
    if e.value is None or isinstance(e.value, list) or not isinstance(x.raw, np.ndarray):
        return
    if np.shape(e.value) != x.raw.shape or np.array_equal(
        np.asarray(e.value), x.raw, equal_nan=x.raw.dtype.kind == "f"
    ):
        return
    lent = lent_to_numpy(x)
    if lent is None:
        return
    title = name_of_tensor(x, names) or label(e, names)
    arrays = arrays_of(x, names)
    name = arrays[0] if arrays else "" if lent.op == "from_numpy" else stored_as(lent.place)
    index = tuple(int(i) for i in np.argwhere(np.asarray(e.value) != x.raw)[0]) if x.raw.ndim else ()
    was, is_ = number(at(np.asarray(e.value), index)), number(at(x.raw, index))
    source = expression(lent.place) or f"{lent.op}()"
    where = f"{title}[{', '.join(map(str, index))}]" if index else title
    array = f"the array {name}" if name else "a NumPy array"
    found = [Line("written by NumPy in", p) for p in _numpy_writes(lent, name)]
    fix = f"{source}.copy()" if lent.op == "numpy" else f"torch.tensor({name or 'array'})"
    yield Answer(
        "shared memory",
        f"{where} was {was} and is {is_}, though no tensor operation wrote it: {source} gave {title} and {array} one "
        "memory, and NumPy's writes are not recorded (backward cannot see them either).",
        (*lines(("one memory since", lent)), *found), f"{fix}  # a copy has memory of its own", LESSON, about=(x,),
    )  # fmt: skip


def _numpy_writes(lent: Event, name: str) -> list[Place]:
    """Where the user's code writes into an array that has been one memory with a tensor since the event `lent`."""
    place = lent.place
    if place is None or not name:
        return []
    found = [p for p in numpy_writes(whole_code(place), name) if p.line >= place.line]
    if not found:
        found = [p for code in later_cells(place) for p in numpy_writes(code, name)]
    return found


def _array_changed(array: Any, names: Names) -> Iterator[Answer]:
    """A NumPy array that a tensor's in-place operation changed."""
    for w in reversed(journal.LOG):
        t = w.tensor() if w.kind == "write" else None
        if t is None or not overlap(t.raw, array):
            continue
        lent = lent_to_numpy(t)
        name = next((k for k, v in (names or {}).items() if v is array), "the array")
        writer = w.place.text if w.place is not None else operation(w)
        yield Answer(
            "shared memory",
            f"{name} changed with {label(w, names)}: they are one memory, so {writer} changed both.",
            lines(*([("one memory since", lent)] if lent is not None else []), ("written in", w)),
            f"torch.tensor({name})  # a tensor with memory of its own", LESSON, about=(t,),
        )  # fmt: skip
        return


def last_write(x: Any, names: Names) -> Iterator[Answer]:
    """Who last wrote the tensor, and through which name: good to know, nothing wrong."""
    e = fact(x) if isinstance(x, Tensor) else None
    if e is None:
        return
    writes = writes_to(x)
    if not writes:
        return
    w = writes[-1]
    if w.op == "data" and len(writes) > 1 and _same_line(writes[-2], w):
        w = writes[-2]  # w.data -= … writes in place, and then stores the same memory once more
    if w.result is not e.result and not _of_itself(w):
        return  # told already
    title = name_of_tensor(x, names) or label(e, names)
    way = lineage(w).steps
    through = ""
    if w.result is not e.result and way:
        through = f", through {expression(way[0].place) or label(way[0], names)}"
    off = " with gradients switched off" if w.off is not None else ""
    count = sum(1 for v in writes if v.spot == w.spot)
    again = f" ({times(count)} by this line)" if count > 1 else ""
    name = _name_in(w)
    if name.isidentifier() and not through and (names is None or names.get(name) is not x):
        title = f"{title} (called {name} there)"
    yield Answer(
        "last write", f"{title} was last changed by {_by(w)}{off}{again}{through}.",
        lines(("written in", w)), "", LESSON, about=(x,),
    )  # fmt: skip


def two_names(x: Any, names: Names) -> Iterator[Answer]:
    """Two of the user's names mean one tensor since an assignment such as b = a, and it was changed in place after."""
    e = fact(x) if isinstance(x, Tensor) else None
    if e is None:
        return
    mine = [k for k, v in (names or {}).items() if v is x and not k.startswith("_")]
    writes = [w for w in writes_to(x) if w.op != "data"] if len(mine) > 1 else []
    spots = {e.spot[0]: e.spot for e in list(journal.LOG) if e.spot is not None} if writes else {}
    for code in dict.fromkeys(whole_code(Place(*spot)) for spot in spots.values()):
        for first, second, place in renamings(code, mine):
            later = [w for w in writes if _after(w, place)]
            if later:
                yield _named_twice(x, first, second, place, later[-1])


def _after(w: Event, place: Place) -> bool:
    return w.place is not None and w.place.filename == place.filename and w.place.line > place.line


def _named_twice(x: Tensor, first: str, second: str, place: Place, w: Event) -> Answer:
    writer = w.place.text if w.place is not None else operation(w)
    return Answer(
        "one tensor, two names",
        f"{first} and {second} are one and the same tensor, so {writer} changed what both mean.",
        lines(("named twice in", place), ("written in", w)), f"{second} = {first}.clone()  # a tensor of its own", LESSON,
        about=(x,),
    )  # fmt: skip


def _name_in(w: Event) -> str:
    """What the writing line calls the tensor."""
    source = rewrite.Source(w.place)
    line = source.statement
    target: Any = line.target if isinstance(line, ast.AugAssign) else None
    target = line.targets[0] if isinstance(line, ast.Assign) and w.op == "setitem" else target
    while isinstance(target, ast.Subscript):
        target = target.value
    return source.of(target) if isinstance(target, ast.Name) else rewrite.receiver(w.place)


def _by(w: Event) -> str:
    return "an assignment to its .data" if w.op == "data" else operation(w) or "a write"
