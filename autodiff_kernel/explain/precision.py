"""Numbers that got lost: too small for a dtype, or too small beside what they were added to."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core import dtype as dtypes
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, lines
from .history import fact
from .related import direct_uses, operations_around, tensors_of
from .values import Values, at, once, recall
from .words import Names, atom, dtype, expression, label, number, operation


def underflow(x: Any, names: Names) -> Iterator[Answer]:
    """A value that was not zero became zero because the dtype has no number so small."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in operations_around(x, "cast", "mul", "div", "square", "pow_number", "exp", "prod"):
        lost = recall("lost", e, _lost_anywhere)
        if lost is None or not (fact(x) is e or lost.mean() > 0.5):
            continue
        xs = values.inputs(e) or []
        index = tuple(int(i) for i in np.argwhere(lost)[0]) if lost.ndim else ()
        kind = dtype(e.dtype)
        info = dtypes.finfo(dtypes.of(e.dtype))
        small = float(info.smallest_normal) * float(info.eps)
        given = [number(at(v, index)) for v in xs] if e.op.name != "prod" else []
        source = expression(e.place) or operation(e)
        what = f"{operation(e)} of {' and '.join(given)}" if e.op.name != "cast" else given[0]
        if e.op.name == "prod":
            what = f"the product of {xs[0].size} values, the least of them {number(abs(xs[0]).min())},"
        first = label(tensors_of(e)[0], names)
        fix = f"{atom(first)}.float()" if e.dtype.itemsize == 2 else f"{atom(first)}.double()"
        if e.op.name == "prod":
            fix = f"{atom(first)}.log().sum()  # the logarithm of the product: sums do not underflow"
        if e.op.name == "cast":
            fix = f"{atom(first)}.bfloat16()  # reaches as far down as float32; or multiply by 1024 first (loss scaling)"
        yield Answer(
            "underflow",
            f"{source} gave 0: {what} is too small, {kind} has no number between 0 and {small:.2g}.",
            lines(("became 0 in", e)), fix, LESSONS["numbers"],
            about=tuple(t for t in (e.tensor(),) if t is not None),
        )  # fmt: skip


def _lost_anywhere(e: Event) -> Any:
    """Where the result is 0 although it is not in truth; None where it is nowhere, or not known."""
    if not isinstance(e.dtype, np.dtype) or e.dtype.kind != "f":
        return None
    values = Values()
    xs, y = values.inputs(e), values.of(e)
    if xs is None or y is None or not _from_numbers(e, xs, y):
        return None
    lost = _lost(e, xs, y)
    return lost if lost is not None and lost.any() else None


def _from_numbers(e: Event, xs: list[Any], y: Any) -> bool:
    return all(v.dtype.kind in "fiub" for v in xs) and (e.op.name != "exp" or e.dtype.itemsize == 2)


def _lost(e: Event, xs: list[Any], y: Any) -> Any:
    """Where the result is 0 although it is not in truth."""
    if e.op.name == "cast":
        return (y == 0) & (xs[0] != 0)
    if e.op.name == "prod":
        return (y == 0) & np.all(xs[0] != 0, axis=e.p[0], keepdims=e.p[1])
    with np.errstate(all="ignore"):
        a = xs[0].astype(np.float64)
        b: Any = xs[1].astype(np.float64) if len(xs) > 1 else None
        if e.op.name == "exp":
            true = np.where(a > -60, np.exp(a), 0)
        elif e.op.name == "square":
            true = a * a
        else:
            true = {"mul": np.multiply, "div": np.divide, "pow_number": np.power}[e.op.name](a, b)
    if e.dtype.itemsize == 8 or np.shape(true) != y.shape:
        return None
    return (y == 0) & (true != 0) & np.isfinite(true)


def compared(x: Any, names: Names) -> Iterator[Answer]:
    """Floats that were compared exactly: nearly equal ones differ, and nan equals nothing."""
    mine = fact(x) if isinstance(x, Tensor) else None
    if mine is None:
        return
    for e in [mine, *direct_uses(mine)]:
        if e.kind == "operation" and e.name in ("eq", "ne"):
            yield from _compared(e, names)


def _compared(e: Event, names: Names) -> Iterator[Answer]:
    values = Values()
    xs, y = values.inputs(e), values.of(e)
    if xs is None or y is None or len(xs) < 2 or not any(v.dtype.kind == "f" for v in xs):
        return
    a, b = np.broadcast_arrays(xs[0], xs[1])
    source, what = expression(e.place) or operation(e), "differ" if e.name == "eq" else "count as different"
    first = atom(label(tensors_of(e)[0], names))
    with np.errstate(all="ignore"):
        unknown = np.isnan(a.astype(float)) | np.isnan(b.astype(float))
        near = (y == (e.name == "ne")) & np.isclose(a.astype(float), b.astype(float), rtol=3e-6, atol=0)
    if unknown.any() and not _tests_nan(e):
        yield Answer(
            "nan compared", f"{source} compares with nan, and nan is equal to nothing, not even to itself.",
            lines(("compared in", e)), f"torch.isnan({first})", LESSONS["numbers"],
        )  # fmt: skip
    elif near.any():
        i = tuple(int(k) for k in np.argwhere(near)[0]) if near.ndim else ()
        second = e.inputs[1]
        other = atom(label(second, names)) if second.__class__ is Event else f"torch.tensor({number(second)})"
        yield Answer(
            "floats compared exactly",
            f"{source} compares floats to the last digit: {float(a[i]):.9g} and {float(b[i]):.9g} {what} by rounding only.",
            lines(("compared in", e)), f"torch.isclose({first}, {other})", LESSONS["numbers"],
        )  # fmt: skip


def _tests_nan(e: Event) -> bool:
    """Is it `x != x`, the old way to ask for nan?"""
    given = tensors_of(e)
    return len(given) == 2 and given[0].result is given[1].result and e.name == "ne"


def digits_lost(x: Any, names: Names) -> Iterator[Answer]:
    """A whole number that a float dtype cannot hold exactly."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in operations_around(x, "cast"):
        xs, y = values.inputs(e), values.of(e)
        if (
            xs is None
            or y is None
            or xs[0].dtype.kind not in "iu"
            or y.dtype.kind != "f"
            or not np.isfinite(y).all()
        ):
            continue
        bits = {2: 11, 4: 24, 8: 53}[y.dtype.itemsize] if y.dtype.kind == "f" else 8
        beyond = np.abs(xs[0].astype(np.float64)) > 2.0**bits
        if not beyond.any():
            continue
        for i in [tuple(int(k) for k in place) for place in np.argwhere(beyond)][:1000]:
            whole = int(xs[0][i])
            if whole != int(y[i]):
                yield Answer(
                    "digits lost",
                    f"{expression(e.place) or operation(e)} took {whole} to {int(y[i])}: {dtype(y.dtype)} holds every whole "
                    f"number only up to 2**{bits} = {2**bits}.",
                    lines(("converted in", e)), f"{atom(label(tensors_of(e)[0], names))}.double()" if bits < 53 else "",
                    LESSONS["numbers"], about=(x,),
                )  # fmt: skip
                break


def no_effect(x: Any, names: Names) -> Iterator[Answer]:
    """x + h is x: the sum's dtype has no number between x and the next one that h would reach."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in once("no effect", operations_around(x, "add", "sub")):
        if not isinstance(e.dtype, np.dtype) or e.dtype.kind != "f" or len(e.inputs) < 2:
            continue
        xs, y = values.inputs(e), values.of(e)
        if xs is None or y is None or not y.size or any(v.dtype.kind not in "fiu" for v in xs[:2]):
            continue
        if not np.isfinite(y).all():
            continue
        for big, small in ((0, 1), (1, 0)):
            a, h = xs[big], xs[small]
            if e.op.name == "sub" and big == 1 or np.shape(a) != y.shape or (h == 0).any() or (a == 0).all():
                continue
            if (a == y).all() and not _guards(e, small):
                yield _nothing_added(e, a, h, big, small, names)
                break


def _guards(e: Event, small: int) -> bool:
    """Is the small number there to keep a divisor, a root or a logarithm away from 0?"""
    if e.inputs[small].__class__ is Event:
        return False
    rows = ("div", "sqrt", "rsqrt", "log", "log2", "log10", "reciprocal", "addcdiv")
    for u in direct_uses(e):
        row = getattr(u.op, "name", "")
        if row in rows or row == "pow_number" and (u.inputs[1] < 0 or u.inputs[1] % 1):
            return True
    return False


def _nothing_added(e: Event, a: Any, h: Any, big: int, small: int, names: Names) -> Answer:
    index = (0,) * a.ndim
    v, step = at(a, index), at(h, index)
    source, kind = expression(e.place) or operation(e), dtype(e.dtype)
    gap = float(np.spacing(np.abs(v)))
    what = label(e.inputs[big], names) if e.inputs[big].__class__ is Event else number(v)
    added = label(e.inputs[small], names) if e.inputs[small].__class__ is Event else number(step)
    sign = "+" if e.op.name == "add" else "-"
    wide = f"{atom(what)}.double() {sign} {added}" if kind != "float64" else ""
    return Answer(
        "lost in rounding",
        f"{source} is still {what}: beside {number(v)} the next {kind} is {number(gap)} away, and {number(abs(step))} is "
        "less than half of that.",
        lines(("added in", e)), f"{wide}  # 16 digits instead of 7; or a larger step" if wide else "", LESSONS["numbers"],
        about=tuple(t for t in (e.tensor(),) if t is not None),
    )  # fmt: skip
