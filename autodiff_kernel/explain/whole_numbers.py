"""Whole numbers: dtypes that wrap around, fractions that were cut off, and the three ways to divide."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .answer import LESSONS, Answer, lines
from .causes import INFIX
from .history import fact
from .related import around, direct_uses, operations, operations_around, tensors_of
from .values import Array, Values, at, once
from .words import Names, atom, dtype, expression, label, name_of_tensor, number, operation

_EXACT: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "rsub": lambda a, b: np.subtract(b, a), "neg": np.negative,
    "square": np.square, "pow": np.power, "pow_number": np.power, "abs": np.abs,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------- wrapping around
def wrapped(x: Any, names: Names) -> Iterator[Answer]:
    """An integer result that its dtype cannot hold: it wraps around."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in once("wrapped", operations_around(x)):
        if not isinstance(e.dtype, np.dtype) or e.dtype.kind not in "iu":
            if e.op.name == "add" and e.dtype == np.bool_:
                yield from _truths(e, values, names)
            continue
        exact, got = _exactly(e, values), values.of(e)
        if exact is None or got is None or exact.shape != got.shape or not exact.size:
            continue
        wrong = exact != got.astype(exact.dtype)
        if wrong.any():
            yield _wrapped(e, exact, got, wrong, values, names)


def _truths(e: Event, values: Values, names: Names) -> Iterator[Answer]:
    """True + True is True: truth values do not count."""
    xs = values.inputs(e)
    if xs is None or not np.logical_and(*np.broadcast_arrays(*xs[:2])).any():
        return
    given = [atom(label(i, names)) for i in tensors_of(e)]
    yield Answer(
        "truth values added",
        f"{expression(e.place) or operation(e)} adds truth values, and True + True is True: a sum of bool tensors does not "
        "count.",
        lines(("added in", e)), f"{given[0]}.int() + {given[-1]}  # counts", LESSONS["tensors"],
        about=tuple(t for t in (e.tensor(),) if t is not None),
    )  # fmt: skip


def _exactly(e: Event, values: Values) -> Array | None:
    """The result in whole numbers without limits; None for operations that cannot leave the range."""
    if e.op.name == "cast":
        source = values.inputs(e)
        if source is None or source[0].dtype.kind not in "iuf":
            return None
        whole = np.trunc(source[0]) if source[0].dtype.kind == "f" else source[0]
        return whole.astype(object).astype(object) if np.isfinite(whole.astype(float)).all() else None
    if e.op.name == "prod":
        xs = values.inputs(e)
        if xs is None or xs[0].dtype.kind not in "iu" or xs[0].size > 1000:
            return None
        return np.asarray(np.prod(_integers(xs[0], object), axis=e.p[0], keepdims=e.p[1]), dtype=object)
    function = _EXACT.get(e.op.name)
    xs = values.inputs(e) if function is not None else None
    if function is None or xs is None or any(x.dtype.kind not in "iub" for x in xs):
        return None
    if e.op.name in ("pow", "pow_number") and (xs[1] < 0).any():
        return None
    if max(x.size for x in xs) > 1_000_000 and e.dtype.itemsize == 8:
        return None
    wide: Any = np.float64 if e.dtype.itemsize < 8 and max(x.size for x in xs) > 10_000 else object
    operands = [_integers(x, wide) for x in xs]
    return np.asarray(function(*operands), dtype=wide)


def _integers(x: Array, wide: Any) -> Array:
    return (
        x.astype(wide)
        if wide is not object
        else np.asarray(x.astype(object) if x.ndim else int(x), dtype=object)
    )


def _wrapped(e: Event, exact: Array, got: Array, wrong: Array, values: Values, names: Names) -> Answer:
    index = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    should, is_ = int(at(exact, index)), int(at(got, index))
    limits, kind = np.iinfo(e.dtype), dtype(e.dtype)
    source = expression(e.place) or operation(e)
    xs = values.inputs(e) or []
    index = index if e.op.name != "prod" else ()
    numbers = [number(at(v, index)) for v in xs] if e.op.name != "prod" else []
    if e.op.name == "rsub":
        numbers.reverse()
    sign = "-" if e.op.name == "rsub" else INFIX.get(e.op.name, "")
    sum_ = f"{numbers[0]} {sign} {numbers[1]} = {should}" if sign and len(numbers) == 2 else f"{should}"
    span = int(limits.max) - int(limits.min) + 1
    steps = (is_ - should) // span
    turn = f"{should} {'+' if steps > 0 else '-'} {span} = {is_}"
    if abs(steps) > 1:
        turn = f"{is_} (what is left after going round {abs(steps)} times)"
    count = "" if exact.size == 1 else f" ({int(wrong.sum())} of {exact.size} values)"
    first = label(tensors_of(e)[0], names)
    wide = "int()" if e.dtype.itemsize < 4 else "long()" if e.dtype.itemsize < 8 else "double()"
    if e.op.name == "cast":
        fix = f"{atom(first)}.clamp({limits.min}, {limits.max}).to(torch.{kind})  # or a wider dtype"
        finding = f"{source} wrapped around{count}: {kind} holds {limits.min} to {limits.max}, so {should} became {is_}"
    else:
        other = e.inputs[1] if len(e.inputs) > 1 else None
        right = (
            label(other, names) if other.__class__ is Event else number(other) if other is not None else ""
        )
        code = f"{atom(first)}.{wide}"
        fix = f"{code} {INFIX[e.op.name]} {atom(right)}" if e.op.name in INFIX else f"{code}.{operation(e)}()"
        if e.op.name == "rsub":
            fix = f"{right} - {code}"
        fix += (
            f"  # a dtype that can hold it; for images {atom(first)}.float() / 255"
            if kind == "uint8"
            else ("  # a dtype that can hold it")
        )
        finding = (
            f"{source} wrapped around{count}: {sum_} does not fit {kind} ({limits.min} to {limits.max}), so it became "
            f"{turn}"
        )
    return Answer(
        "wrapped around", f"{finding}.", lines(("computed in", e)), fix, LESSONS["tensors"],
        about=tuple(t for t in (e.tensor(),) if t is not None),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- three divisions
def divided(x: Any, names: Names) -> Iterator[Answer]:
    """Division of whole numbers: / gives fractions, // rounds down, trunc rounds towards zero."""
    if not isinstance(x, Tensor):
        return
    mine = fact(x)
    if mine is None:
        return
    for e in [mine, *direct_uses(mine)]:
        t = e.tensor()
        if t is not None and getattr(t, "fact", None) is e and list(operations([e], *_DIVISIONS)):
            yield from _divided(t, e, names)


_DIVISIONS = (
    "div",
    "floor_divide",
    "div_floor",
    "div_trunc",
    "remainder",
    "fmod",
    "remainder_number",
    "fmod_number",
)


def _divided(x: Tensor, e: Event, names: Names) -> Iterator[Answer]:
    values = Values()
    xs, y = values.inputs(e), values.of(e)
    if xs is None or y is None or len(xs) < 2 or any(v.dtype.kind not in "iu" for v in xs[:2]) or not y.size:
        return
    a, b = np.broadcast_arrays(xs[0].astype(float), xs[1].astype(float))
    if (b == 0).any():
        return
    down, cut = np.floor(a / b), np.trunc(a / b)
    telling = np.argwhere(down != cut) if (down != cut).any() else np.argwhere(a / b != down)
    if not len(telling):
        return
    i = tuple(int(k) for k in telling[0])
    n, d = number(int(a[i])), number(int(b[i]))
    top, below = n, d
    n, d = (f"({v})" if v.startswith("-") else v for v in (n, d))
    row = e.op.name
    title = name_of_tensor(x, names) or label(e, names)
    source = expression(e.place) or operation(e)
    trail = (
        f"{n} / {d} = {number(float(a[i] / b[i]))}: / gives fractions",
        f"{n} // {d} = {number(int(down[i]))}: // rounds down",
        f"torch.div({top}, {below}, rounding_mode='trunc') = {number(int(cut[i]))}: towards zero, as in C",
    )
    if row in ("remainder", "remainder_number", "fmod", "fmod_number"):
        if down[i] == cut[i]:
            return
        kept = "divisor" if row.startswith("remainder") else "dividend"
        told = f"{source} takes the sign of the {kept}: {n} % {d} = {number(int(np.mod(a[i], b[i])))}, fmod gives "
        told += number(int(np.fmod(a[i], b[i])))
        yield Answer(
            "division of whole numbers", f"{told}.", lines(("in", e)), "", LESSONS["tensors"], about=(x,)
        )
        return
    if row != "div" and down[i] == cut[i]:
        return  # nothing to wonder at: both roundings agree
    how = {
        "div": "/ turns whole numbers into fractions",
        "div_trunc": "rounding_mode='trunc' rounds towards zero",
    }
    what = how.get(row, "// rounds down, also below zero")
    yield Answer(
        "division of whole numbers", f"{title} is {number(at(y, i))} for {top} divided by {below}, because {what}.",
        lines(("divided in", e)), "", LESSONS["tensors"], trail, (x,),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ fractions cut off
def cut_off(x: Any, names: Names) -> Iterator[Answer]:
    """A fraction that an integer dtype cut off: by a cast, or by an assignment into an integer tensor."""
    if not isinstance(x, Tensor):
        return
    values = Values()
    for e in once("cut off", around(x)):
        if not isinstance(e.dtype, np.dtype) or e.dtype.kind not in "iu" or e.op is None:
            continue
        if e.kind == "made" and e.p.__class__ is float:
            given: Any = np.asarray(e.p)
        elif e.kind == "write" and (
            e.op in ("setitem", "copy") or e.name in ("copy", "fill", "fill_number", "masked_fill")
        ):
            given = values.of(e.inputs[1])
        elif e.kind == "operation" and e.name in ("fill", "fill_number", "masked_fill"):
            given = values.of(e.inputs[-1])
        else:
            continue
        if given is None or given.dtype.kind != "f" or not (given != np.trunc(given)).any():
            continue
        v = given[given != np.trunc(given)].ravel()[0] if given.ndim else given[()]
        what = label(e, names)
        yield Answer(
            "fraction cut off",
            f"{what} holds whole numbers ({dtype(e.dtype)}), so {number(v)} was stored as {number(int(v))}.",
            lines(("stored in", e)),
            f"{what} = {atom(what)}.float()  # before that line: a dtype with fractions" if e.kind == "write" else
            "dtype=torch.float32  # given where the tensor is made",
            LESSONS["tensors"], about=(x,),
        )  # fmt: skip


def rounded(x: Any, names: Names) -> Iterator[Answer]:
    """How fractions became whole numbers: a cast cuts towards zero, and round takes halves to the even neighbour."""
    e = fact(x) if isinstance(x, Tensor) else None
    if e is None or not list(operations([e], "cast", "round")):
        return
    xs = Values().inputs(e)
    if xs is None or xs[0].dtype.kind != "f" or not np.isfinite(xs[0]).all():
        return
    a, source = xs[0].ravel(), expression(e.place) or operation(e)
    first = atom(label(tensors_of(e)[0], names))
    down = np.floor(a)
    halves, cut = a[(a - down == 0.5) & (down % 2 == 0)], a[np.trunc(a) != np.round(a)]
    topic = told = other = ""
    if e.op.name == "round" and halves.size:
        topic, other = "rounded", f"({first} + 0.5).floor() rounds halves up"
        told = f"{source} took {number(halves[0])} to {number(float(np.round(halves[0])))}: halves go to the even neighbour"
    elif e.op.name == "cast" and e.dtype.kind in "iu" and cut.size:
        topic, other = "cut by a cast", f"{first}.round().{source.rpartition('.')[2]} rounds first"
        told = (
            f"{source} took {number(cut[0])} to {int(cut[0])}: a cast drops the fraction and does not round"
        )
    if told:
        yield Answer(topic, f"{told}.", lines(("in", e)), "", LESSONS["tensors"], (other,), (x,))
