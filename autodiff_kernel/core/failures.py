"""What NumPy says of inputs that do not fit, in PyTorch's words and types, with what to do."""

from typing import Any

import numpy as np

from .errors import explain
from .meeting import NUMBERS
from .tensor import Tensor


def translate(op: Any, xs: Any, raws: Any, p: Any, error: BaseException) -> BaseException:
    """The exception to raise for `error`, which the forward of `op` raised on these inputs."""
    if getattr(error, "explanation", None) is not None or error.__class__ in (IndexError,):
        return error
    if op.spreads:
        clash = shape_clash([np.shape(r) for r in raws])
        if clash is not None:
            return clash
    if op.name in ("sub", "rsub") and all(
        getattr(getattr(r, "dtype", None), "kind", "") == "b" for r in raws
    ):
        return explain(
            RuntimeError,
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead.",
            "Truth values have no difference, only whether they differ.",
            "a ^ b is true where they differ; a.int() - b.int() counts with 0 and 1.",
        )
    if op.name == "neg" and getattr(getattr(raws[0], "dtype", None), "kind", "") == "b":
        return explain(
            RuntimeError,
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead.",
            "A truth value has an opposite, but no sign.",
            "~mask turns every truth value round.",
        )
    text = str(error)
    if "Integers to negative integer powers" in text:
        return explain(
            RuntimeError,
            "Integers to negative integer powers are not allowed.",
            "The result would be a fraction, and whole numbers stay whole.",
            "x.float() ** -1 gives fractions.",
        )
    if isinstance(error, TypeError) and "not supported for the input types" in text:
        kinds = ", ".join(str(x.dtype) if isinstance(x, Tensor) else type(x).__name__ for x in xs)
        return explain(
            NotImplementedError,
            f"{op.name} is not implemented for {kinds}",
            cure="convert to another dtype first.",
        )
    if isinstance(error, (ValueError, OverflowError)):
        return explain(RuntimeError, f"{op.name}: {text}", describe(xs))
    return error


def describe(xs: Any) -> str:
    """The shapes and dtypes of the operands, in words."""
    parts = [
        f"{list(x.shape)} {x.dtype}"
        if isinstance(x, Tensor)
        else repr(x)
        if x.__class__ in NUMBERS
        else type(x).__name__
        for x in xs
    ]
    return "The operands: " + "; ".join(parts) + "."


def shape_clash(shapes: list[tuple[int, ...]]) -> BaseException | None:
    """PyTorch's error if the shapes do not broadcast, else None."""
    result: list[int] = []
    for shape in shapes:
        size = max(len(result), len(shape))
        left = [1] * (size - len(result)) + result
        right = [1] * (size - len(shape)) + list(shape)
        for dim in reversed(range(size)):
            if left[dim] != right[dim] and 1 not in (left[dim], right[dim]):
                return explain(
                    RuntimeError,
                    f"The size of tensor a ({left[dim]}) must match the size of tensor b ({right[dim]}) at non-singleton "
                    f"dimension {dim}",
                    f"The shapes {' and '.join(str(list(s)) for s in shapes)} do not broadcast: aligned from the right, "
                    f"sizes must be equal or 1.",
                    "reshape one of them, for example with unsqueeze(), so that equal sizes stand under each other.",
                    topic="shapes do not broadcast",
                    shapes=tuple(map(tuple, shapes)),
                )
        result = [b if a == 1 else a for a, b in zip(left, right)]
    return None
