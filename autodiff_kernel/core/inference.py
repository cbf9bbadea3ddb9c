"""Inference mode: no graphs, and results that can never get into one.

What an operation gives in inference mode is an inference tensor: nobody counts its writes, so it cannot be saved for
backward, and outside of the mode it cannot be changed in place.  Views of older tensors stay ordinary.  (In PyTorch
that makes the mode cheaper than no_grad.  Here it costs a little more: results have to be marked.)
"""

from typing import Any

from . import dual, journal, modes, places
from .api import public
from .modes import _Switch, _thread
from .sharing import INFERENCE
from .tensor import Tensor


class inference_mode(_Switch):
    """Operations inside record no graph, and their results are inference tensors; also a decorator.

    mode: False switches the mode off inside (and gradients on).  An inference tensor cannot be saved for backward, nor
    be changed in place outside; `clone()` makes an ordinary one.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference(), x.is_inference()
    (False, True, False)
    """

    __slots__ = ("mode", "_before")
    mode: bool
    _before: Any  # the modes before, and what was here before that: the same object may be entered again

    def __new__(cls, mode: Any = True) -> Any:
        made = object.__new__(cls)
        if not isinstance(mode, bool):  # `@torch.inference_mode` without parentheses
            made.mode, made._before = True, None
            return made(mode)
        made.mode, made._before = mode, None
        return made

    def _again(self) -> "inference_mode":
        return inference_mode(self.mode)  # type: ignore[no-any-return]

    def __enter__(self) -> None:
        at = places.here() if self.mode and modes.watch[0] is not None else None
        self._before = (
            _thread.inference,
            modes.is_grad_enabled(),
            dual.is_stopped(),
            _thread.off_at,
            self._before,
        )
        _thread.off_at = at
        modes.put_inference(self.mode)
        modes.put_grad(not self.mode)
        dual.stop(self.mode)

    def __exit__(self, *_: Any) -> None:
        mode, grad, stopped, _thread.off_at, self._before = self._before
        modes.put_inference(mode)
        modes.put_grad(grad)
        dual.stop(stopped)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode.

    >>> import autodiff_kernel as torch
    >>> with torch.inference_mode():
    ...     torch.is_inference_mode_enabled()
    True
    """
    return _thread.inference


@public()
def is_inference(input: Tensor) -> bool:
    """Whether this is an inference tensor: made in inference mode, and not as a view of an ordinary one.

    >>> import autodiff_kernel as torch
    >>> torch.ones(1).is_inference()
    False
    """
    return input.version is INFERENCE


# ------------------------------------------------------------------------------------------------ marking
def born(t: Any) -> None:
    """A tensor was made of data, on a thread that may be in inference mode."""
    if _thread.inference and t.version is None:
        t.version = INFERENCE


def inferred(op: Any, p: Any, xs: Any, out: Any, *happened: str) -> None:
    """An operation has just given `out`, while some thread is in inference mode."""
    if _thread.inference:
        for t in out if out.__class__ is tuple else (out,):
            if t.version is None and not any(t is x for x in xs):
                t.version = INFERENCE
    beneath = modes.beneath[0]
    if beneath is not None:
        beneath(op, p, xs, out, *happened)


_created = modes.watchers["created"]


def created(word: str, t: Tensor, data: Any = None) -> None:
    """The journal's `created`, and the mark."""
    born(t)
    _created(word, t, data)


modes.watchers.update(inferred=inferred, born=born, created=created)
_ = journal  # it fills `watchers`
