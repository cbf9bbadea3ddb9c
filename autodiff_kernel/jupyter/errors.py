"""The error view: what one of our exceptions knows, shown above a short traceback; and misused magics as errors.

Ours is an exception that carries an `.explanation` (see `autodiff_kernel.core.errors`), or that this package has raised
without one. All others look exactly as in a plain IPython, because they go to the shell's own `showtraceback` with their
arguments untouched; only one that came through our code (out of a hook, a magic, an interrupt) is told without our frames,
and a failed import of PyTorch with what to write in its place.
Nothing here may raise: the user's own error is what matters.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from IPython import version_info
from IPython.core.error import UsageError
from IPython.display import display

from autodiff_kernel.core.places import HOME, is_cell

from .base import visible

# What this package raises to say that it was called wrongly; others (KeyError, OSError, …) speak for themselves.
_REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError)


def ours(value: BaseException | None) -> bool:
    """Is the exception one of this package's?"""
    try:
        if hasattr(value, "explanation"):
            return True
        if (
            not isinstance(value, _REFUSALS)
            or isinstance(value, RecursionError)
            or not _came_through_us(value)
        ):
            return False
        from autodiff_kernel.explain.raised import Raised

        return Raised(value, {}).ours
    except BaseException:  # somebody else's exception, whose attributes do what they like
        return False


def fold(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without this package's own frames, unless nothing would be left.

    The frames before the user's first one stay: they are IPython's own, which it leaves out itself. NumPy's go with
    ours where we called it.
    """
    kept = []
    step, inside = trace, False
    while step is not None:
        inside = _is_ours(step) or inside and _is_numpys(step)
        if not inside:
            kept.append(step)
        step = step.tb_next
    folded: TracebackType | None = None
    for step in reversed(kept):
        folded = TracebackType(folded, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return folded or trace


def _explained(shell: Any, show: Callable[..., None], info: tuple[Any, ...], args: Any, kwargs: Any) -> None:
    """Show what the exception knows, then its traceback without our frames."""
    try:
        _show_view(shell, info[1])
    except BaseException as failure:  # whatever a picture stumbles over, or an impatient user interrupts
        print(f"(the error view could not be drawn: {_told(failure)})")
    _short(show, info, args, kwargs)


def _short(show: Callable[..., None], info: tuple[Any, ...], args: Any, kwargs: Any) -> None:
    """Show the traceback without our frames."""
    kind, value, trace = info
    with _without_our_causes(value):
        show((kind, value, fold(trace)), *args, **kwargs)
    sys.last_traceback = trace  # `%tb` and `%debug` see every frame


def _is_ours(step: TracebackType) -> bool:
    return step.tb_frame.f_code.co_filename.startswith(HOME)


def _is_numpys(step: TracebackType) -> bool:
    return str(step.tb_frame.f_globals.get("__name__")).partition(".")[0] == "numpy"


def _came_through_us(value: BaseException) -> bool:
    """Has any function of this package been on the way? (Of most exceptions none has, and that is seen at once.)"""
    step = value.__traceback__
    while step is not None:
        if _is_ours(step):
            return True
        step = step.tb_next
    return False


@contextmanager
def _without_our_causes(value: BaseException) -> Iterator[None]:
    """Leave out, while the traceback is shown, what NumPy or our own code raised on the way to the exception."""
    cause, context, hidden = value.__cause__, value.__context__, value.__suppress_context__
    if _caught_inside(cause or context):
        value.__cause__, value.__suppress_context__ = None, True
    try:
        yield
    finally:
        value.__cause__, value.__context__, value.__suppress_context__ = cause, context, hidden


def _caught_inside(error: BaseException | None) -> bool:
    """Whether an exception was caught in this package and never passed through the user's code."""
    trace = error.__traceback__ if error is not None else None
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(HOME)


def _show_view(shell: Any, value: BaseException) -> None:
    from autodiff_kernel.views.error import error

    view = error(value, namespace=visible(shell.user_ns))
    explained = hasattr(value, "explanation") and hasattr(shell, "kernel")
    if explained or view.model.says_more:
        display(view)  # a terminal reads the finding and the cure in the exception's own text


def _told(failure: BaseException) -> str:
    try:
        return f"{type(failure).__name__}: {failure}"
    except BaseException:
        return type(failure).__name__


def _name_what_stands_for_torch(value: ModuleNotFoundError) -> None:
    """Add to a failed import of PyTorch what to write in its place; it stands below the error, in a terminal too."""
    from autodiff_kernel.explain.foreign import imports_torch, torch_is_missing
    from autodiff_kernel.explain.raised import Raised

    if imports_torch(value) and not getattr(value, "__notes__", None):
        answer = torch_is_missing(Raised(value, {}))
        words = f"{answer.finding}\nWhat to write: {answer.fix}"
        if version_info < (8, 17):  # old ones show no notes
            value.msg = f"{value.msg}\n{words}"
        else:
            value.add_note(words)


def _misspelt(value: BaseException | None) -> bool:
    """Is it a syntax error in what was given to a magic of ours, and not one that the user's code ran into?"""
    if not isinstance(value, SyntaxError) or not _came_through_us(value):
        return False
    step, last = value.__traceback__, False
    while step is not None:
        last = _is_ours(step) or last and not is_cell(step.tb_frame.f_code.co_filename)
        step = step.tb_next
    return last


def _usage(shell: Any, show: Callable[..., None], value: Any, is_kernel: bool) -> None:
    """Report a misused magic as an error. IPython only prints it, and whoever runs a notebook unattended goes on."""
    lines = [f"UsageError: {value}"]
    unknown = re.match(r"(?:Line magic function|Cell magic) `(%%?)(\w+)` not found\.$", str(value))
    if unknown:
        import difflib

        kind = "cell" if unknown[1] == "%%" else "line"
        close = difflib.get_close_matches(unknown[2], list(shell.magics_manager.magics[kind]), n=1)
        lines += [f"Did you mean {unknown[1]}{name}?" for name in close]
    if is_kernel:
        shell._showtraceback(UsageError, value, lines)
    else:
        show()
        print(*lines[1:], sep="\n", end="\n" if lines[1:] else "", file=sys.stderr)


def load(shell: Any) -> Callable[[], None]:
    """Put the error view in front of the shell's `showtraceback`; returns what takes it away.

    `set_custom_exc` would be IPython's own way, but it has one place for all extensions, and it is not asked about
    errors inside `%%time`, `%run` and while a value is displayed.
    """
    show = shell.showtraceback
    is_kernel = hasattr(shell, "kernel")

    def showtraceback(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        info = sys.exc_info() if exc_tuple is None else exc_tuple
        if ours(info[1]):
            _explained(shell, show, info, args, kwargs)
        elif isinstance(info[1], ModuleNotFoundError):
            _name_what_stands_for_torch(info[1])
            show(exc_tuple, *args, **kwargs)
        elif info[0] is UsageError:
            _usage(shell, show, info[1], is_kernel)
        elif _misspelt(info[1]):
            shell.showsyntaxerror()  # as in a cell without a magic: the line, and no way that led to it
        elif info[1] is not None and _came_through_us(info[1]):
            _short(show, info, args, kwargs)
        else:
            show(exc_tuple, *args, **kwargs)

    shell.showtraceback = showtraceback

    def undo() -> None:
        if shell.__dict__.get("showtraceback") is showtraceback:
            del shell.showtraceback

    return undo
