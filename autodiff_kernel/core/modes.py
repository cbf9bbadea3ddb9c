"""Modes of the current thread: is a graph recorded, and are values and lines kept for the pictures?

Each thread has its own modes, as in PyTorch: what a cell sets holds in the next cell of that thread, top-level
`await` included (a ContextVar set in a cell that awaits is lost with the cell's task), and a new thread starts
with gradients on.  Reading a thread-local costs 80 ns, so the hot path reads `special[0]` instead (10 ns): False
means that every thread is in the plain mode, and only then does nobody ask further.
"""

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

special = [False]  # is any thread in another mode than "gradients on, nothing kept"?
_lock = threading.Lock()
_departures = 0  # how many (thread, mode) pairs differ from the plain mode
_keep_everywhere = False


class _Thread(threading.local):
    grad = True
    inference = False
    keep: bool | None = None  # None: as the whole process does


_thread = _Thread()


def _depart(step: int) -> None:
    global _departures
    with _lock:
        _departures += step
        special[0] = _departures > 0 or _keep_everywhere


def is_grad_enabled() -> bool:
    """Whether operations on this thread record a graph.

    >>> import autodiff_kernel as torch
    >>> torch.is_grad_enabled()
    True
    """
    return _thread.grad


def put_grad(flag: bool) -> None:
    """Switch the recording of graphs on this thread."""
    if flag != _thread.grad:
        _thread.grad = flag
        _depart(-1 if flag else 1)


def keeps() -> bool:
    """Whether nodes made on this thread keep values, gradients and lines for the pictures."""
    return _keep_everywhere if _thread.keep is None else _thread.keep


def set_recording(flag: bool) -> None:
    """Keep (or no longer keep) small values, gradients and source lines on every new node, on all threads.

    The kernel switches this on; `%graph` uses `recording()` for its own expression.
    """
    global _keep_everywhere
    _keep_everywhere = bool(flag)
    _depart(0)


class _Switch:
    """A context manager that also decorates functions (each call gets a fresh one)."""

    __slots__ = ()

    def _again(self) -> "_Switch":
        return type(self)()

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]

    def __enter__(self) -> Any:
        raise TypeError("use one of the subclasses")

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        return None


class no_grad(_Switch):
    """Operations inside record no graph; their results do not require grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ("_before",)
    _flag = False
    _before: Any  # the flag before, and what was here before that: the same object may be entered again

    def __new__(cls, function: Any = None) -> Any:
        made = object.__new__(cls)
        made._before = None
        return made if function is None else made(function)  # `@torch.no_grad` without parentheses

    def __enter__(self) -> None:
        self._before = (_thread.grad, self._before)
        put_grad(self._flag)

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        before, self._before = self._before
        put_grad(before)


class enable_grad(no_grad):
    """Operations inside record a graph, also within `no_grad`.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __slots__ = ()
    _flag = True


class set_grad_enabled(_Switch):
    """Switch the recording of graphs on or off: at once as a function call, or for a `with` block.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, mode: bool) -> None:
        self._mode = bool(mode)
        self._before = _thread.grad
        put_grad(self._mode)

    def _again(self) -> "set_grad_enabled":
        return set_grad_enabled(self._mode)

    def __call__(self, function: F) -> F:
        put_grad(self._before)  # used as a decorator: the switch belongs to the calls, not to the definition
        return super().__call__(function)

    def __enter__(self) -> None:
        put_grad(self._mode)

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        put_grad(self._before)


class recording(_Switch):
    """Keep small values, gradients and lines on the nodes made inside, on this thread."""

    def __init__(self, flag: bool = True) -> None:
        self._flag = flag
        self._before: list[bool | None] = []

    def _again(self) -> "recording":
        return recording(self._flag)

    def __enter__(self) -> None:
        before = _thread.keep
        self._before.append(before)
        _thread.keep = self._flag
        _depart((1 if self._flag else 0) - (1 if before else 0))

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        before = self._before.pop()
        _thread.keep = before
        _depart((1 if before else 0) - (1 if self._flag else 0))
