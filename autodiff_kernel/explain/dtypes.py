"""Where a dtype came from: NumPy's float64, promotion, casts, division of whole numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core import dtype as all_dtypes
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.op import Op
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, lines
from .history import fact
from .related import ancestors, tensors_of
from .words import (
    Names,
    atom,
    check_asked,
    checked_names,
    dtype,
    expression,
    label,
    name_of_tensor,
    names_of_caller,
    number,
    operation,
)

LONGEST = 40  # steps that `dtypes` shows


def dtypes(x: Tensor, namespace: Names = None) -> Answer:
    """Where the dtype changed on the way to x, line by line, oldest first, as far as it was recorded.

    x: a tensor.  namespace: the user's names, for the texts; the caller's by default.  Returns an Answer whose trail has
    the lines that made a tensor or gave another dtype than their inputs have.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel import explain
    >>> explain.watch()
    >>> n = torch.tensor([1, 2])
    >>> half = n / 2
    >>> explain.watch(False)
    >>> for step in explain.dtypes(half).trail:
    ...     print(step)
    torch.tensor([1, 2]): int64
    n / 2: int64 -> float32
    """
    check_asked(x, "dtypes")
    namespace = names_of_caller() if namespace is None else checked_names(namespace)
    name = name_of_tensor(x, namespace) or "it"
    events = [
        e for e in ancestors(x) if e.kind in ("operation", "write", "made") and isinstance(e.dtype, np.dtype)
    ]
    trail = [_step(e) for e in events if e.kind == "made" or any(i.dtype != e.dtype for i in tensors_of(e))]
    told = f"{name} has the dtype {dtype(x.raw.dtype)}."
    if not events:
        return Answer("dtypes", f"{told} How it came to that was not recorded.", lesson=LESSONS["tensors"])
    return Answer("dtypes", told, trail=tuple(trail[-LONGEST:]), lesson=LESSONS["tensors"], about=(x,))


def _step(e: Event) -> str:
    place = e.place
    where = f"{place.number}, " if place is not None and place.in_cell else ""
    given = " and ".join(dict.fromkeys(dtype(x.dtype) for x in tensors_of(e))) if e.kind != "made" else ""
    return f"{where}{expression(place) or operation(e)}: {f'{given} -> ' if given else ''}{dtype(e.dtype)}"


def changed_dtype(x: Any, names: Names) -> Iterator[Answer]:
    """Why the dtype is not the usual float32 (or what the user gave): the line where it became what it is."""
    if not isinstance(x, Tensor):
        return
    e = fact(x)
    if e is None:
        return
    source = became(e)
    told = _told(source, names) if source is not None else None
    if told is None or source is None:
        return
    title = name_of_tensor(x, names) or label(e, names)
    reason, fix = told
    yield Answer(
        "dtype", f"{title} is {dtype(x.raw.dtype)} because {reason}.", lines(("since", source)), fix,
        LESSONS["tensors"], about=(x,),
    )  # fmt: skip


def became(e: Event) -> Event | None:
    """The event where the dtype of e began: its inputs (or the first of them) have another one, or it was made so."""
    mine = e.dtype
    while True:
        alike = [x for x in tensors_of(e) if x.dtype == mine]
        if e.kind == "made" or not tensors_of(e):
            return e if e.kind == "made" else None
        if e.kind == "operation" and isinstance(e.op, Op) and any(x.dtype != mine for x in tensors_of(e)):
            if (
                mine.kind != "f"
                or not alike
                or len({x.dtype for x in tensors_of(e) if x.dtype.kind == "f"}) > 1
            ):
                return e
        if not alike:
            return None
        wide = [x for x in alike if x.shape]  # a 0-d operand does not decide
        e = (wide or alike)[0]


def _told(e: Event, names: Names) -> tuple[str, str] | None:
    """Why the event gave its dtype, and what to write instead ("" where nothing is wrong); None if it is no surprise."""
    usual = all_dtypes.get_default_dtype().np
    source = expression(e.place) or operation(e)
    if e.kind == "made":
        if e.p == "numpy" and e.dtype.kind == "f" and e.dtype != usual:
            keep = "from_numpy keeps" if e.op == "from_numpy" else "NumPy's numbers keep"
            return (
                f"{keep} NumPy's dtype, which is float64 unless you say otherwise",
                f"{atom(source)}.float()",
            )
        return None
    given = tensors_of(e)
    row = e.op.name
    if (
        row in ("div", "mean", "true_divide")
        and all(x.dtype.kind in "iub" for x in given)
        and e.dtype.kind == "f"
    ):
        sides = (
            f"{source} divides whole numbers" if row == "div" else f"{source} is a fraction of whole numbers"
        )
        return (
            f"{sides}, and / gives fractions ({dtype(e.dtype)})",
            "",
        )
    lifts = next((x for x in e.inputs if x.__class__ is float), None)
    if e.dtype.kind == "f" and lifts is not None and all(x.dtype.kind in "iub" for x in given) and e.op.types:
        return (
            f"{source} meets whole numbers with the float {number(lifts)}, and the result takes the default float dtype",
            "",
        )
    floats = {x.dtype for x in given if x.dtype.kind == "f"}
    if e.dtype.kind == "f" and len(floats) > 1 and e.op.types:
        dims = [x for x in given if x.shape]
        decisive = next((x for x in dims or given if x.dtype == e.dtype), given[0])
        other = next(x for x in given if x.dtype != e.dtype)
        if not other.shape and decisive.shape:
            return (
                f"in {source} {label(other, names)} ({dtype(other.dtype)}) has no dimensions: like a number it does not "
                f"widen {label(decisive, names)} ({dtype(decisive.dtype)})", "",
            )  # fmt: skip
        return (
            f"{source} met {label(decisive, names)} ({dtype(decisive.dtype)}) with {label(other, names)} "
            f"({dtype(other.dtype)}), and the wider dtype wins",
            f"{atom(label(decisive, names))}.to({atom(label(other, names))}.dtype)",
        )
    if row == "sum" and given[0].dtype == np.bool_ and e.dtype.kind == "i":
        return (
            f"{source} counts the True values of {label(given[0], names)}: sums of truth values are int64",
            "",
        )
    return None
