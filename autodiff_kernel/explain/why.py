"""`why(x)`: ask every diagnosis that knows something about x, and give the answer that matters most."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autodiff_kernel.core import modes
from autodiff_kernel.core.tensor import Tensor

from .answer import Answer
from .cuts import cut_from_a_gradient
from .discarded import copy_written, thrown_away
from .dtypes import changed_dtype
from .exceptions import mistake, newest_error
from .gradients import gradient, gradient_missed
from .graphs import hangs_on_freed, will_fail
from .indexes import counted_once, flipped, mask_of_numbers
from .kinks import kinks
from .lists import aliased_list
from .memory import growing
from .numbers import nonfinite
from .precision import compared, digits_lost, no_effect, underflow
from .shapes import batch_squeezed, both_enlarged, folded_dim, mixed_batch, wrong_axis
from .standing import nothing_at_hand, standing
from .training import not_updated, parameters
from .uninitialised import uninitialised
from .unseen import changed_unseen
from .values import one_question
from .whole_numbers import cut_off, divided, rounded, wrapped
from .words import checked_names, names_of_caller
from .writes import last_write, shared_memory, two_names, view_written

Diagnosis = Callable[[Any, Mapping[str, Any] | None], Iterator[Answer]]

# In order of weight: what makes a result wrong comes before what is merely good to know.
DIAGNOSES: list[Diagnosis] = [
    mistake,
    aliased_list,
    uninitialised,
    nonfinite,
    changed_unseen,
    growing,
    parameters,
    gradient_missed,
    will_fail,
    hangs_on_freed,
    not_updated,
    wrapped,
    counted_once,
    flipped,
    mask_of_numbers,
    both_enlarged,
    wrong_axis,
    mixed_batch,
    batch_squeezed,
    shared_memory,
    two_names,
    thrown_away,
    copy_written,
    underflow,
    no_effect,
    digits_lost,
    compared,
    cut_off,
    kinks,
    cut_from_a_gradient,
    divided,
    rounded,
    changed_dtype,
    folded_dim,
    view_written,
    gradient,
    standing,
    last_write,
]


def answers(x: Any, namespace: Mapping[str, Any] | None = None) -> list[Answer]:
    """Everything that is known about x, the most important first; see `why`."""
    return answers_to([x], names_of_caller() if namespace is None else namespace)


def answers_to(things: Sequence[Any], namespace: Mapping[str, Any]) -> list[Answer]:
    """Everything that is known about any of several things, the most important first; each answer once."""
    namespace = checked_names(namespace)
    ranked: list[tuple[int, Answer]] = []
    with modes.recording(False), one_question():
        for x in filter(_answers, things):  # (diagnoses share what they look up about one of them)
            for rank, diagnosis in enumerate(DIAGNOSES):
                ranked += [(rank, a) for a in diagnosis(x, namespace)]
    found: list[Answer] = []
    for _, a in sorted(ranked, key=lambda entry: entry[0]):
        if a not in found:
            found.append(a)
    return found


def _answers(x: Any) -> bool:
    """Can x be asked for an attribute at all?  (Objects of the user's may do as they like.)"""
    try:
        getattr(x, "fact", None)
    except Exception:
        return False
    return True


class _Newest:
    """What stands for `why()` without an argument."""


NEWEST = _Newest()


def why(x: Any = NEWEST, namespace: Mapping[str, Any] | None = None) -> Answer:
    """Why x is as it is: why its gradient is None, why it does not require grad, where its nan came from, …

    x: a Tensor, a list of tensors, an exception, a model, or anything with `named_parameters()` or `parameters()`; left
    out, the last exception that nobody caught.  namespace: the user's names, for the texts; the caller's by default.
    Returns: the most important Answer (`answers` gives all).  Nothing is changed by asking.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel import explain
    >>> explain.watch()
    >>> w = torch.ones(2, requires_grad=True)
    >>> h = (w * 2).detach()
    >>> answer = explain.why(h)
    >>> explain.watch(False)
    >>> answer.topic, answer.fix
    ('detach', 'h = w * 2   # if gradients should flow through it')
    """
    namespace = names_of_caller() if namespace is None else checked_names(namespace)
    if x is NEWEST:
        x = newest_error()
        if x is None:
            return Answer("nothing", "No exception was left uncaught so far: ask about a tensor, why(x).")
    found = answers_to([x], namespace)
    return found[0] if found else Answer("nothing", _nothing(x, namespace))


def _nothing(x: Any, namespace: Mapping[str, Any]) -> str:
    recorded = isinstance(x, Tensor) and getattr(x, "fact", None) is not None
    known = recorded or x is None or isinstance(x, BaseException)
    if not modes.keeps() and not known:
        return "Nothing was recorded about it: recording is off. Call explain.watch() before the code that you ask about."
    return nothing_at_hand(x, namespace)


def watch(flag: bool = True) -> None:
    """Record from now on what explanations need (values of at most 64 elements, lines, writes); False stops it."""
    modes.set_recording(flag)
