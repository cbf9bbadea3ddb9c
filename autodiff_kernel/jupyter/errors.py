"""The error view: what one of our exceptions knows, shown above a short traceback; and misused magics as errors.

Any exception may carry an `.explanation` (see `autodiff_kernel.core.errors`); all others look exactly as in a plain
IPython, because they go to the shell's own `showtraceback` with their arguments untouched.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from autodiff_kernel.core.places import HOME


def fold(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without this package's own frames, unless nothing would be left.

    The frames before the user's first one stay: they are IPython's own, which it leaves out itself.
    """
    kept = []
    step = trace
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(HOME):
            kept.append(step)
        step = step.tb_next
    folded: TracebackType | None = None
    for step in reversed(kept):
        folded = TracebackType(folded, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return folded or trace


def _explained(shell: Any, show: Callable[..., None], info: tuple[Any, ...], args: Any, kwargs: Any) -> None:
    """Show what the exception knows, then its traceback without our frames."""
    kind, value, trace = info
    try:
        _show_view(shell, value)
    except Exception as failure:  # whatever a picture stumbles over, the user's own error is what matters
        print(f"(the error view could not be drawn: {type(failure).__name__}: {failure})")
    with _without_our_causes(value):
        show((kind, value, fold(trace)), *args, **kwargs)
    sys.last_traceback = trace  # `%tb` and `%debug` see every frame


@contextmanager
def _without_our_causes(value: BaseException) -> Iterator[None]:
    """Leave out, while the traceback is shown, what NumPy or our own code raised on the way to the exception."""
    cause, context, hidden = value.__cause__, value.__context__, value.__suppress_context__
    if _is_ours(cause or context):
        value.__cause__, value.__suppress_context__ = None, True
    try:
        yield
    finally:
        value.__cause__, value.__context__, value.__suppress_context__ = cause, context, hidden


def _is_ours(error: BaseException | None) -> bool:
    """Whether an exception was caught in this package and never passed through the user's code."""
    trace = error.__traceback__ if error is not None else None
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(HOME)


def _show_view(shell: Any, value: BaseException) -> None:
    from autodiff_kernel.views.error import error

    view = error(value, namespace=shell.user_ns)
    if hasattr(shell, "kernel") or view.model.excerpts or view.model.graph:
        display(view)  # a terminal reads the finding and the cure in the exception's own text


def _usage(shell: Any, value: Any) -> None:
    """Report a misused magic as an error. IPython only prints it, and whoever runs a notebook unattended goes on."""
    lines = [f"UsageError: {value}"]
    unknown = re.match(r"(?:Line magic function|Cell magic) `(%%?)(\w+)` not found\.$", str(value))
    if unknown:
        import difflib

        kind = "cell" if unknown[1] == "%%" else "line"
        close = difflib.get_close_matches(unknown[2], list(shell.magics_manager.magics[kind]), n=1)
        lines += [f"Did you mean {unknown[1]}{name}?" for name in close]
    shell._showtraceback(UsageError, value, lines)


def load(shell: Any) -> Callable[[], None]:
    """Put the error view in front of the shell's `showtraceback`; returns what takes it away.

    `set_custom_exc` would be IPython's own way, but it has one place for all extensions, and it is not asked about
    errors inside `%%time`, `%run` and while a value is displayed.
    """
    show = shell.showtraceback
    is_kernel = hasattr(shell, "kernel")

    def showtraceback(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        info = sys.exc_info() if exc_tuple is None else exc_tuple
        if hasattr(info[1], "explanation"):
            _explained(shell, show, info, args, kwargs)
        elif info[0] is UsageError and is_kernel:
            _usage(shell, info[1])
        else:
            show(exc_tuple, *args, **kwargs)

    shell.showtraceback = showtraceback

    def undo() -> None:
        if shell.__dict__.get("showtraceback") is showtraceback:
            del shell.showtraceback

    return undo
