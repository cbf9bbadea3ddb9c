"""What happened to shapes: broadcasting that enlarged both operands, a batch that was cut anew, a dimension that went.

`shapes(x)` tells the shapes line by line; the diagnoses say where a shape is probably not what was meant.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, lines
from .causes import INFIX
from .history import fact
from .related import ancestors, direct_uses, is_operation, operations, operations_around, tensors_of, uses_of
from .values import once, recall
from .words import (
    Names,
    atom,
    check_asked,
    checked_names,
    expression,
    label,
    name_of_tensor,
    names_of_caller,
    operation,
    shape,
)

Shape = tuple[int, ...]
FOLDS = ("sum", "mean", "nansum", "prod", "amax", "amin", "max_dim", "min_dim", "argmax", "argmin", "std", "var", "any",
         "all", "median_dim", "logsumexp", "cumsum", "softmax", "log_softmax")  # fmt: skip
_KEEPING = ("cumsum", "softmax", "log_softmax")
LONGEST = 40  # steps that `shapes` shows
MANY = 8  # operands: of more, two are told


def shapes(x: Tensor, namespace: Names = None) -> Answer:
    """The shapes on the way to x, line by line, oldest first, as far as they were recorded.

    x: a tensor.  namespace: the user's names, for the texts; the caller's by default.  Returns an Answer whose trail has
    a line for each operation that led to x.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel import explain
    >>> explain.watch()
    >>> x = torch.ones(2, 3)
    >>> s = x.t().sum(dim=0)
    >>> explain.watch(False)
    >>> for step in explain.shapes(s).trail:
    ...     print(step)
    torch.ones(2, 3): [2, 3]
    x.t(): [2, 3] -> [3, 2]
    x.t().sum(dim=0): [3, 2] -> [2]
    """
    check_asked(x, "shapes")
    namespace = names_of_caller() if namespace is None else checked_names(namespace)
    events = [
        e for e in ancestors(x) if e.kind in ("operation", "write", "made") and isinstance(e.shape, tuple)
    ]
    name = name_of_tensor(x, namespace) or "it"
    trail = [_step(e, namespace) for e in events]
    told = f"{name} has the shape {shape(x.raw.shape)}."
    if not events:
        return Answer("shapes", f"{told} How it came to that was not recorded.", lesson=LESSONS["tensors"])
    if len(trail) > LONGEST:
        trail = [f"… {len(trail) - LONGEST} earlier steps", *trail[-LONGEST:]]
    return Answer("shapes", told, trail=tuple(trail), lesson=LESSONS["tensors"], about=(x,))


def shape_steps(events: Sequence[Event], names: Names) -> list[str]:
    """A line with the shapes before and after for each of these events that made or changed a tensor, oldest first."""
    kinds = ("operation", "write", "made")
    return [_step(e, names) for e in events if e.kind in kinds and isinstance(e.shape, tuple)]


def _step(e: Event, names: Names) -> str:
    place = e.place
    where = f"{place.number}, " if place is not None and place.in_cell else ""
    shapes = [shape(x.shape) for x in tensors_of(e) if isinstance(x.shape, tuple)]
    if len(shapes) > MANY:
        shapes = [*shapes[:2], f"{len(shapes) - 2} more"]
    given = " and ".join(shapes)
    change = f"{given} -> {shape(e.shape)}" if given else shape(e.shape)
    return f"{where}{expression(place) or operation(e)}: {change}"


# ------------------------------------------------------------------------------------------- both were enlarged
def both_enlarged(x: Any, names: Names) -> Iterator[Answer]:
    """An operation in which a column met a row: [n, 1] with [n] gives [n, n]."""
    if not isinstance(x, Tensor):
        return
    e0 = fact(x)
    for e in operations_around(x):
        pair = recall("column and row", e, column_and_row)
        if pair is None:
            continue
        a, b = pair
        fold = folded_whole(e)
        if fold is None and not (e is e0 or _is_input(e, e0) or a.tensor() is x or b.tensor() is x):
            continue
        explicit = len(a.shape) == len(b.shape)
        if explicit and fold is None:
            continue
        yield _enlarged(e, a, b, fold, names, certain=not explicit)


def column_and_row(e: Event) -> tuple[Event, Event] | None:
    """The two operands, if each was stretched by the other although both hold the same number of values in a line."""
    if not e.op.spreads or not isinstance(e.shape, tuple):
        return None
    found = [x for x in tensors_of(e) if isinstance(x.shape, tuple)]
    if len(found) != 2 or found[0].shape == found[1].shape:
        return None
    a, b = found
    if (
        a.shape == e.shape
        or b.shape == e.shape
        or np.prod(e.shape) <= max(np.prod(a.shape), np.prod(b.shape))
    ):
        return None
    if [n for n in a.shape if n != 1] != [n for n in b.shape if n != 1]:
        return None  # a table of all pairs, as of two different lists
    if any(_made_for_it(x, e) for x in found):
        return None
    return a, b


def _made_for_it(x: Event, e: Event) -> bool:
    """Was the operand shaped in the same line in order to be stretched, as in a[:, None] - a?"""
    reshaped = getattr(x.op, "name", "") in (
        "unsqueeze",
        "getitem",
        "reshape",
        "expand",
        "squeeze",
        "permute",
        "t",
        "transpose",
    )
    a, b = x.place, e.place
    return reshaped and a is not None and b is not None and (a.filename, a.line) == (b.filename, b.line)


def folded_whole(e: Event) -> Event | None:
    """The first use of the result that folds it, element by element worked upon at most, into one number."""
    known = {id(e.result)}
    for use in uses_of(e):
        if (
            use.op.__class__ is str
            or use.op is None
            or not any(id(x.result) in known for x in tensors_of(use))
        ):
            continue
        if use.op.name in ("mean", "sum") and use.shape == ():
            return use
        if pointwise(use) and use.shape == e.shape:
            known.add(id(use.result))
    return None


def pointwise(e: Event) -> bool:
    """Does the operation work element by element, or leave the values as they are?"""
    op = e.op
    return bool(op.mode == "elementwise" or op.spreads or op.name in ("cast", "clone", "move", "contiguous"))


def _is_input(e: Event, e0: Event | None) -> bool:
    """Did e come to e0 by operations element by element?"""
    while e0 is not None and not isinstance(e0.op, str | None) and pointwise(e0) and e0 is not e:
        e0 = next((x for x in tensors_of(e0) if x.shape == e0.shape), None)
    return e0 is e


def _enlarged(e: Event, a: Event, b: Event, fold: Event | None, names: Names, certain: bool) -> Answer:
    first, second = label(a, names), label(b, names)
    source = expression(e.place) or operation(e)
    n, most = int(np.prod(a.shape)), int(np.prod(e.shape))
    told = (
        f"{first} has the shape {shape(a.shape)} and {second} {shape(b.shape)}, so {source} pairs every element with every "
        f"other one: {shape(e.shape)}"
    )
    if fold is not None:
        told += f", and {operation(fold)} went over {most} values instead of {n}"
    longer, shorter = (a, b) if len(a.shape) >= len(b.shape) else (b, a)
    changed = f"{atom(label(shorter, names))}.reshape({atom(label(longer, names))}.shape)"
    sides = [changed if x is shorter else atom(label(x, names)) for x in (a, b)]
    sign = INFIX.get(e.op.name) or {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.get(
        e.op.name
    )
    code = f"{sides[0]} {sign} {sides[1]}" if sign else changed
    return Answer(
        "both were enlarged", f"{told}.",
        lines(("stretched in", e), *([(f"{operation(fold)} in", fold)] if fold is not None else [])),
        f"{code}  # both {shape(longer.shape)}", LESSONS["tensors"],
        about=tuple(x.tensor() for x in (a, b) if x.tensor() is not None), certain=certain,
    )  # fmt: skip


def wrong_axis(x: Any, names: Names) -> Iterator[Answer]:
    """One value for each row of a square table met its columns: x / x.sum(dim=1) without keepdim."""
    if not isinstance(x, Tensor):
        return
    for e in once("wrong axis", operations_around(x)):
        found = [i for i in tensors_of(e) if isinstance(i.shape, tuple) and i.shape]
        if not e.op.spreads or len(found) != 2 or len(found[0].shape) == len(found[1].shape):
            continue
        table, folded = sorted(found, key=lambda i: -len(i.shape))
        fold = _folding(folded) if table.shape == e.shape else None
        if fold is None or tensors_of(fold)[0].shape != table.shape:
            continue
        dims = _dims(fold)
        if folded.shape != fold.shape or dims == tuple(range(len(dims))) or set(folded.shape) == {1}:
            continue  # what was folded away stood in front: the rest lines up from the right
        source, what = expression(e.place) or operation(e), expression(fold.place) or operation(fold)
        kept = f"{what[:-1]}, keepdim=True)" if what.endswith(")") else "keepdim=True"
        lined = shape([1 if d in dims else n for d, n in enumerate(table.shape)])
        each, others = (
            ("each row", "the columns")
            if dims == (1,) and len(table.shape) == 2
            else ("each place", "other dimensions")
        )
        yield Answer(
            "met the wrong axis",
            f"{what} gives one value for {each} ({shape(folded.shape)}), but {source} lines them up with {others} of "
            f"{label(table, names)}: shapes are matched from the right.",
            lines(("folded in", fold), ("met in", e)), f"{kept}  # {lined}: lines up with what was folded",
            LESSONS["tensors"], about=tuple(t for t in (e.tensor(),) if t is not None),
        )  # fmt: skip


def _folding(e: Event) -> Event | None:
    """The reduction behind e, past operations element by element."""
    log = journal.LOG.events()
    if _reductions[0] is not log:
        _reductions[:] = log, {}
    known = _reductions[1]
    if id(e) not in known:
        known[id(e)] = e, _reduction(e)
    return known[id(e)][1]  # type: ignore[no-any-return]


_reductions: list[Any] = [None, {}]  # the log, and what was found for its events


def _reduction(e: Event) -> Event | None:
    while is_operation(e) and (given := tensors_of(e)):
        if e.op.name in FOLDS:
            return e
        if not pointwise(e):
            return None
        e = next((i for i in given if i.shape == e.shape), given[0])
    return None


# ------------------------------------------------------------------------------------------------ a batch cut anew
def mixed_batch(x: Any, names: Names) -> Iterator[Answer]:
    """A view that changed the first dimension and cut through what belonged together."""
    if not isinstance(x, Tensor):
        return
    for e in operations_around(x, "reshape", "unsafe_view"):
        if not e.inputs or e.inputs[0].__class__ is not Event:
            continue
        old, new = e.inputs[0].shape, e.shape
        if turned(old, new):
            yield _turned(e, old, new, names)
        elif mixes(old, new):
            yield _mixed(e, old, new, names)


def mixes(old: Shape, new: Shape) -> bool:
    """Does a row of the new shape hold parts of several samples, or of a line of one?

    >>> mixes((10, 3, 4), (15, 8)), mixes((10, 3, 4), (30, 4)), mixes((10, 3, 4), (10, 12)), mixes((12, 5), (3, 4, 5))
    (True, False, False, False)
    """
    if len(old) < 2 or len(new) < 2 or old[0] == new[0] or old[0] == 1 or not np.prod(old):
        return False
    row, row_now = int(np.prod(old[1:])), int(np.prod(new[1:]))
    return bool(row_now % row and row % row_now)


def turned(old: Shape, new: Shape) -> bool:
    """Are the sizes the same in another order, as if the view had exchanged dimensions?

    >>> turned((2, 3), (3, 2)), turned((8, 3, 4), (8, 4, 3)), turned((1, 3), (3, 1)), turned((4, 4), (4, 4))
    (True, True, False, False)
    """
    a, b = [n for n in old if n != 1], [n for n in new if n != 1]
    return a != b and sorted(a) == sorted(b)


def _mixed(e: Event, old: Shape, new: Shape, names: Names) -> Answer:
    before, source = label(e.inputs[0], names), expression(e.place) or operation(e)
    row, row_now = int(np.prod(old[1:])), int(np.prod(new[1:]))
    return Answer(
        "view mixes samples",
        f"{source} made {new[0]} rows of {row_now} values out of {old[0]} samples of {row}: the rows hold pieces of "
        f"different samples, because a view only cuts the memory of {before} anew.",
        lines((f"{shape(old)} became {shape(new)} in", e)),
        f"{atom(before)}.flatten(1)  # [{old[0]}, {row}]: one row for each sample",
        LESSONS["tensors"], about=tuple(t for t in (e.tensor(),) if t is not None),
    )  # fmt: skip


def _turned(e: Event, old: Shape, new: Shape, names: Names) -> Answer:
    before, source = label(e.inputs[0], names), expression(e.place) or operation(e)
    if len(old) == len(new) == 2:
        fix = f"{atom(before)}.t()"
    else:
        left = list(range(len(old)))
        order = (
            [left.pop(next(k for k, d in enumerate(left) if old[d] == n)) for n in new]
            if len(old) == len(new)
            else []
        )
        fix = (
            f"{atom(before)}.permute({', '.join(map(str, order))})" if order else f"{atom(before)}.permute(…)"
        )
    return Answer(
        "view is no transpose",
        f"{source} keeps the order of the values in memory and only cuts it anew, from {shape(old)} to {shape(new)}: rows "
        "did not become columns.",
        lines(("cut anew in", e)), f"{fix}  # exchanges dimensions", LESSONS["tensors"],
        about=tuple(t for t in (e.tensor(),) if t is not None), certain=len(old) > 2,
    )  # fmt: skip


# --------------------------------------------------------------------------------------------- a dimension that went
def batch_squeezed(x: Any, names: Names) -> Iterator[Answer]:
    """squeeze() without a dimension took the batch's too, because this batch had one sample."""
    if not isinstance(x, Tensor):
        return
    for e in operations_around(x, "squeeze"):
        axes, form = e.p
        before = e.inputs[0].shape
        if form != 0 or 0 not in axes or len(axes) < 2:
            continue
        usual = next((u for u in operations(_same_line(e), "squeeze") if u.inputs[0].shape[:1] != (1,)), None)
        source, rest = expression(e.place) or "squeeze()", [d for d in axes if d != 0]
        told = (
            f"{source} took {shape(before)} to {shape(e.shape)}: without a number it removes every dimension of size 1, "
            "the batch's too where the batch has one sample"
        )
        if usual is not None:
            told += f" (the same line took {shape(usual.inputs[0].shape)} to {shape(usual.shape)} before)"
        yield Answer(
            "squeeze took the batch", f"{told}.", lines(("squeezed in", e)),
            f"{atom(label(e.inputs[0], names))}.squeeze({rest[0] if len(rest) == 1 else tuple(rest)})  "
            f"# keeps the batch: {shape([n for d, n in enumerate(before) if d not in rest])}",
            LESSONS["tensors"], about=(x,), certain=usual is not None,
        )  # fmt: skip


def _same_line(e: Event) -> list[Event]:

    return [u for u in list(journal.LOG) if u.spot == e.spot]


def folded_dim(x: Any, names: Names) -> Iterator[Answer]:
    """Which dimension a reduction removed: `dim` names the one that disappears."""
    if not isinstance(x, Tensor):
        return
    mine = fact(x)
    if mine is None:
        return
    for e in [mine, *direct_uses(mine)]:
        t = e.tensor()
        if (
            t is not None
            and getattr(t, "fact", None) is e
            and list(operations([e], *FOLDS))
            and tensors_of(e)
        ):
            yield from _folded(t, e, names)


def _folded(x: Tensor, e: Event, names: Names) -> Iterator[Answer]:
    old, dims = tensors_of(e)[0].shape, _dims(e)
    if not dims or len(old) < 2 or len(dims) == len(old):
        return
    source, what = expression(e.place) or operation(e), label(tensors_of(e)[0], names)
    word = "dim" if len(dims) == 1 else "dims"
    which = ", ".join(map(str, dims))
    each = "each place in the other dimensions"
    if len(old) == 2:
        each = "each row" if dims == (1,) else "each column"
    if e.op.name in _KEEPING:
        told = f"{source} works along dim {which} of {what} ({shape(old)})" + (
            ": the values of " + each + " add up to 1" if e.op.name == "softmax" else f", on {each} by itself"
        )
    else:
        told = f"{source} took {shape(old)} to {shape(e.shape)}: {word} {which} disappeared, one value is left for {each}"
    trail: tuple[str, ...] = ()
    if len(old) == 2 and len(dims) == 1 and e.op.name not in _KEEPING:
        other = 1 - dims[0]
        rest = f"{'each row' if other else 'each column'}: {shape([old[1 - other]])}"
        trail = (
            f"{atom(what)}.{operation(e).removesuffix('_dim')}(dim={other}) leaves one value for {rest}",
        )
    yield Answer("reduced dim", f"{told}.", lines(("in", e)), "", LESSONS["tensors"], trail, (x,))


def _dims(e: Event) -> Shape:
    """The dimensions along which a row works."""
    axis = e.p[0] if isinstance(e.p, tuple) and e.p else e.p
    ndim = len(tensors_of(e)[0].shape)
    if axis is None or axis.__class__ is bool or not ndim:
        return ()
    dims = axis if isinstance(axis, tuple) else (axis,)
    return tuple(d % ndim for d in dims if isinstance(d, int))
