"""`why(x)`: ask every diagnosis that knows something about x, and give the answer that matters most."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autodiff_kernel.core import modes

from .answer import Answer
from .discarded import thrown_away
from .dtypes import changed_dtype
from .kinks import kinks
from .lists import aliased_list
from .memory import growing
from .numbers import nonfinite
from .precision import no_effect, underflow
from .shapes import batch_squeezed, both_enlarged, folded_dim, mixed_batch
from .unseen import changed_unseen
from .whole_numbers import cut_off, divided, wrapped
from .words import names_of_caller
from .writes import last_write, shared_memory, view_written

Diagnosis = Callable[[Any, Mapping[str, Any] | None], Iterator[Answer]]

# In order of weight: what makes a result wrong comes before what is merely good to know.
DIAGNOSES: list[Diagnosis] = [
    nonfinite,
    changed_unseen,
    wrapped,
    both_enlarged,
    mixed_batch,
    batch_squeezed,
    aliased_list,
    shared_memory,
    thrown_away,
    growing,
    underflow,
    no_effect,
    cut_off,
    kinks,
    divided,
    changed_dtype,
    folded_dim,
    view_written,
    last_write,
]


def answers(x: Any, namespace: Mapping[str, Any] | None = None) -> list[Answer]:
    """Everything that is known about x, the most important first; see `why`."""
    namespace = names_of_caller() if namespace is None else namespace
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
    found = answers(x, names_of_caller() if namespace is None else namespace)
    return found[0] if found else Answer("nothing", _nothing(x))


def _nothing(x: Any) -> str:
    if not modes.keeps():
        return "Nothing was recorded about it: recording is off. Call explain.watch() before the code that you ask about."
    return "Nothing unusual was recorded about it."


def watch(flag: bool = True) -> None:
    """Record from now on what explanations need (values of at most 64 elements, lines, writes); False stops it."""
    modes.set_recording(flag)
