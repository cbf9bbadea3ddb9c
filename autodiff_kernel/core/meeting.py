"""How the inputs of an operation meet: one device, one dtype.

Same-dtype operands on the CPU pass straight through.  Promotion is PyTorch's, not NumPy's: a 0-d tensor or a Python
number widens the result only to another category (int32 tensor * 2.5 is float32).  An input that had to be cast
takes its cotangent back in its own dtype: the row's variant for these casts sees to that.
"""

from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from .errors import explain

ndarray, generic = np.ndarray, np.generic
NUMBERS = (bool, int, float, complex)
EXACT_NUMBERS = ("mul", "div", "floor_divide")


def meet(op: Any, xs: Any, raws: list[Any]) -> tuple[list[Any], Any]:
    """The raw inputs cast to a common dtype on one device, and the row that leads cotangents back."""
    first: Any = None  # the dtype of the first input that takes part in promotion
    same, host = True, True
    number = 0  # how far the numbers among them go: 1 an int, 2 a float, 3 something rarer
    start = op.types_from
    for i, r in enumerate(raws):
        kind = r.__class__
        if kind is ndarray:
            if not r.ndim and not op.view:
                raws[i] = r = r[()]
        elif kind in NUMBERS:
            number = max(number, 1 if kind is int else 2 if kind is float else 3)
            continue
        elif r is None:
            continue
        elif not isinstance(r, generic):
            host = False
        if i < start:
            continue
        if first is None:
            first = r.dtype
        elif r.dtype is not first:
            same = False
    if not host:
        raws = gather(op, raws)
    if not op.types or first is None:
        return raws, op
    kind = first.kind
    if same and number < 3 and (kind == "f" or kind in "iu" and number < 2 and op.types == "same"):
        if number:  # numbers do not widen these: they take the tensors' dtype
            for i, r in enumerate(raws):
                if r.__class__ in NUMBERS:
                    raws[i] = number_as(r, first)
        return raws, op
    if same and not number and (op.types == "same" or kind == "c"):
        return raws, op
    return promote(op, xs, raws)


def gather(op: Any, raws: list[Any]) -> list[Any]:
    """All on one device: a 0-d CPU tensor goes with any GPU as a number does; anything else is PyTorch's error."""
    homes = [None if r is None or r.__class__ in NUMBERS else devices.device_of(r) for r in raws]
    gpu = next((h for h in homes if h is not None and h.type != "cpu"), None)
    if gpu is None or op.view:
        return raws
    out = list(raws)
    for i, (r, home) in enumerate(zip(raws, homes)):
        if home is not None and home != gpu:
            if home.type == "cpu" and not np.ndim(r) and op.spreads:
                out[i] = r if isinstance(r, generic) else r[()]
            else:
                raise cross_device(op, homes)
    return out


def cross_device(op: Any, homes: list[Any]) -> RuntimeError:
    names = [str(h) for h in homes if h is not None]
    order = list(dict.fromkeys(names))
    first, second = order[0], order[1] if len(order) > 1 else order[0]
    return explain(
        RuntimeError,
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!",
        f"The inputs of {op.name} live on {', '.join(names)}.",
        f"move one of them first, for example with .to('{second}') or .cpu().",
        topic="two devices",
        homes=tuple(homes),
    )


def common_dtype(raws: list[Any]) -> dtypes.dtype:
    """PyTorch's result type of arrays, NumPy scalars (0-d tensors) and Python numbers."""
    operands = []
    for r in raws:
        if r is None:
            continue
        if r.__class__ in NUMBERS:
            operands.append((dtypes.number_dtype(r), "number"))
        else:
            operands.append((dtypes.of(r.dtype), "tensor" if np.ndim(r) else "zerodim"))
    return dtypes.result_dtype(operands)


def promote(op: Any, xs: Any, raws: list[Any]) -> tuple[list[Any], Any]:
    truths = [r.__class__ is bool or getattr(getattr(r, "dtype", None), "kind", "") == "b" for r in raws]
    if op.name in ("sub", "rsub") and any(truths) and not all(truths):
        raise explain(
            RuntimeError,
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead.",
            "Truth values are no numbers here.",
            "~mask for 1 - mask; mask.int() or mask.float() to count with them.",
        )
    target = common_dtype(raws[op.types_from :])
    if op.types == "float" and not (target.is_floating_point or target.is_complex):
        target = dtypes.get_default_dtype()
    # numbers that multiply bfloat16 are not rounded to it: that arithmetic is float32's (widening.py)
    single = np.dtype(np.float32) if target is dtypes.bfloat16 and op.name in EXACT_NUMBERS else None
    out: list[Any] = []
    casts: list[Any] = []
    for i, (x, r) in enumerate(zip(xs, raws)):
        if r is None or i < op.types_from:
            out.append(r)
            casts.append(None)
        elif r.__class__ in NUMBERS:
            out.append(number_as(r, single or target.np))
            casts.append(None)
        elif r.dtype is target.np or r.dtype == target.np:
            out.append(r)
            casts.append(None)
        else:
            out.append(r.astype(target.np if r.shape else single or target.np))
            casts.append(r.dtype if getattr(x, "node", None) is not None else None)
    return out, op.variant(tuple(casts)) if any(casts) else op


def number_as(number: Any, np_dtype: Any) -> Any:
    """A Python number as a NumPy scalar; an integer beyond the dtype's range wraps, as in PyTorch (int8 1+300 = 45)."""
    if np_dtype.kind in "iu" and number.__class__ is int:
        bits = 8 * np_dtype.itemsize
        number &= (1 << bits) - 1
        if np_dtype.kind == "i" and number >> (bits - 1):
            number -= 1 << bits
    try:
        return np_dtype.type(number)
    except OverflowError:
        raise RuntimeError(
            f"value cannot be converted to type {dtypes.of(np_dtype).name} without overflow"
        ) from None
