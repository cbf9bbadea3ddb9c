"""`why(x)`: ask every diagnosis that knows something about x, and give the answer that matters most."""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autodiff_kernel.core import modes

from . import dtypes, kinks, numbers, precision, shapes, whole_numbers
from .answer import Answer

Diagnosis = Callable[[Any, Mapping[str, Any] | None], Iterator[Answer]]

# In order of weight: what makes a result wrong comes before what is merely good to know.
DIAGNOSES: list[Diagnosis] = [
    numbers.nonfinite,
    whole_numbers.wrapped,
    shapes.both_enlarged,
    shapes.mixed_batch,
    shapes.batch_squeezed,
    precision.underflow,
    precision.no_effect,
    whole_numbers.cut_off,
    kinks.kinks,
    whole_numbers.divided,
    dtypes.changed_dtype,
    shapes.folded_dim,
]


def answers(x: Any, namespace: Mapping[str, Any] | None = None) -> list[Answer]:
    """Everything that is known about x, the most important first."""
    found: list[Answer] = []
    with modes.recording(False):
        for diagnosis in DIAGNOSES:
            found += [a for a in diagnosis(x, namespace) if a not in found]
    return found


def why(x: Any, namespace: Mapping[str, Any] | None = None) -> Answer:
    """Why x is as it is: why its gradient is None, why it does not require grad, where its nan came from, …

    x: a Tensor, a list of tensors, an exception, a model, or anything with `named_parameters()`.
    namespace: the user's names, for the texts; the caller's by default.
    Returns: the most important Answer (`answers` gives all).  Nothing is changed by asking.
    """
    if namespace is None:
        frame = sys._getframe(1)
        namespace = {**frame.f_globals, **frame.f_locals}
    found = answers(x, namespace)
    return found[0] if found else Answer("nothing", _nothing(x))


def _nothing(x: Any) -> str:
    if not modes.keeps():
        return "Nothing was recorded about it: recording is off. Call explain.watch() before the code that you ask about."
    return "Nothing unusual was recorded about it."


def watch(flag: bool = True) -> None:
    """Record from now on what explanations need (values of at most 64 elements, lines, writes); False stops it."""
    modes.set_recording(flag)
