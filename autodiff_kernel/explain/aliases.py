"""Which tensors are the same memory, and since which line: views, detach(), .data, numpy() and from_numpy()."""

import ast
import dis
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.places import Place, is_cell
from autodiff_kernel.core.tensor import Tensor

from .values import recall
from .words import Names, expression


class Lineage(NamedTuple):
    """Where the memory of an event's tensor came from.

    root: the oldest event of that memory.  steps: the events by which another name for it was made, newest first.
    unseen: did one of them leave the version counter behind, so that backward cannot see writes?
    """

    root: Event
    steps: list[Event]
    unseen: bool

    def through(self, e: Event) -> bool:
        """Is the tensor of e among those that the memory went through?"""
        return any(x.result is e.result for x in (self.root, *(i.inputs[0] for i in self.steps)))


def lineage(e: Event) -> Lineage:
    """Follow the memory of an event's tensor back to where it was made."""
    steps: list[Event] = []
    unseen = False
    while e.inputs and e.inputs[0].__class__ is Event:
        if e.kind == "left" and e.op in ("detach", "data") or is_view(e):
            steps.append(e)
            unseen = unseen or e.op == "data"
        elif e.kind == "write" and e.op == "data":  # x.data = other: the memory is other's now
            steps.append(e)
            e = e.inputs[1]
            continue
        elif e.kind not in ("write", "asked") and not (
            e.kind == "left" and e.op in ("numpy", "item", "tolist")
        ):
            break
        e = e.inputs[0]
    return Lineage(e, steps, unseen)


def is_view(e: Event) -> bool:
    return e.kind == "operation" and isinstance(e.op, Op) and e.op.view


def same_memory(a: Event, b: Event) -> bool:
    """Do the tensors of two events lie in one memory?  (Of living tensors: do they overlap?)"""
    x, y = a.tensor(), b.tensor()
    if x is not None and y is not None:
        return overlap(x.raw, y.raw)
    return lineage(a).root.result is lineage(b).root.result


def overlap(a: Any, b: Any) -> bool:
    """Do two arrays have an element in common?"""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=100_000))  # type: ignore[arg-type]
    except RuntimeError:  # too hard a question
        return False


def writes_to(t: Tensor) -> list[Event]:
    """The logged writes that changed memory of t, through t or another name, oldest first."""
    e = getattr(t, "fact", None)
    if e is None:
        return []
    return list(recall("writes to the memory", e, _writes_to))


def _writes_to(e: Event) -> list[Event]:
    verdicts: dict[int, bool] = {}  # of the tensors written to: few, and written often
    found, alive = [], e.tensor() is not None
    for w in journal.LOG.of_kind("write"):
        t = w.tensor() if alive else None
        wrote = w.result is e.result or (verdicts.get(id(t)) if t is not None else same_memory(w, e))
        if wrote is None:
            wrote = verdicts[id(t)] = same_memory(w, e)
        if wrote:
            found.append(w)
    return found


# --------------------------------------------------------------------------------------------------- NumPy's names
def arrays_of(t: Tensor, names: Names) -> list[str]:
    """The user's names of NumPy arrays that are t's memory."""
    found = []
    for name, value in list((names or {}).items()):
        if not name.startswith("_") and isinstance(value, np.ndarray) and overlap(value, t.raw):
            found.append(name)
    return found


def lent_to_numpy(t: Tensor) -> Event | None:
    """The event by which NumPy got the memory of t, or t got NumPy's."""
    e = getattr(t, "fact", None)
    if e is None:
        return None
    root = lineage(e).root
    if root.kind == "made" and root.op == "from_numpy":
        return root
    for x in reversed(journal.LOG.of_kind("left")):
        if x.op == "numpy" and (x.result is e.result or same_memory(x, e)):
            return x
    return None


def whole_code(place: Place) -> CodeType:
    """The code that a place belongs to; of a cell all of it, because IPython compiles each statement by itself."""
    if place.in_cell and place.code.co_name.startswith("<"):
        code = _compiled(place.filename, "".join(linecache.getlines(place.filename)))
        return place.code if code is None else code
    return place.code


def later_cells(place: Place, most: int = 50) -> list[CodeType]:
    """The code of the cells that were run after the one of a place, the next first."""
    files = [name for name in list(linecache.cache) if is_cell(name)]
    later = files[files.index(place.filename) + 1 :] if place.filename in files else []
    codes = [_compiled(name, "".join(linecache.getlines(name))) for name in later[:most]]
    return [code for code in codes if code is not None]


@lru_cache(128)
def _compiled(filename: str, source: str) -> CodeType | None:
    try:
        code: CodeType = compile(
            source, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
    except (SyntaxError, ValueError):
        return None
    return code


def numpy_writes(code: CodeType, name: str) -> Iterator[Place]:
    """The instructions of a piece of the user's code that write into what `name` stands for: a[…] = …, a += …"""
    steps = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "NOP", "EXTENDED_ARG")]
    for step, after in zip(steps, [*steps[1:], None]):
        place = Place(code, step.offset)
        if step.opname in ("STORE_SUBSCR", "STORE_SLICE"):
            if expression(place).partition("[")[0].strip() == name:
                yield place
        elif step.opname == "BINARY_OP" and step.argrepr.endswith("=") and after is not None:
            if after.opname.startswith("STORE_") and after.argval == name:
                yield place


def renamings(code: CodeType, names: list[str]) -> Iterator[tuple[str, str, Place]]:
    """Where a piece of the user's code gives one of these names to what another of them means: (old, new, where)."""
    steps = [
        i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "NOP", "EXTENDED_ARG", "COPY")
    ]
    for load, store in zip(steps, steps[1:]):
        old, new = load.argval, store.argval
        if load.opname.startswith("LOAD_") and store.opname.startswith("STORE_") and old != new:
            if old in names and new in names and not store.opname.endswith(("ATTR", "SUBSCR")):
                yield old, new, Place(code, store.offset)
