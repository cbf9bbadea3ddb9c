"""Modes of the current thread: is a graph recorded, and are values and lines kept for the pictures?

Each thread has its own modes, as in PyTorch: what a cell sets holds in the next cell of that thread, top-level
`await` included (a ContextVar set in a cell that awaits is lost with the cell's task), and a new thread starts
with gradients on.  Reading a thread-local costs 80 ns, so the hot path reads flags of the whole process instead
(10 ns): `departed[0]`, has any thread gradients off or hooks on saved values; `watch[0]`, the function that wants to
see every operation, or None; and `special[0]`, either of the two.  Where they are unset nobody asks further.
"""

import functools
import threading
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from . import places

F = TypeVar("F", bound=Callable[..., Any])
_GENERATOR = 0x20  # the mark of a generator function's code, see inspect.CO_GENERATOR

departed = [False]  # has any thread another grad mode than "on", or hooks on saved values?
watch: list[Any] = [None]  # what operations are shown to, see journal.py: `watch[0](op, p, inputs, result)`
special = [False]  # either of the two
recorded = [False]  # has any thread recorded yet?
saving = [False]  # has any thread hooks on saved values?
inferring = [False]  # is any thread in inference mode?
beneath: list[Any] = [None]  # what `watch` is apart from inference mode, which marks results by watching them
lines = [False]  # are only lines kept?  The hot path finds them itself
watchers: dict[str, Any] = {}  # journal.py puts its functions here
beside: list[Any] = [None]  # what `watch` is apart from the recording of steps, see the package `replay`
_lock = threading.Lock()


def _nothing(*_: Any) -> None:
    """Nobody asks."""


for _word in ("drawn", "walked", "derived", "read"):  # the package `replay` listens to these
    watchers[_word] = _nothing
_off: set[int] = set()  # the threads that have gradients off
_inferring: set[int] = set()  # the threads in inference mode
_saving: set[int] = set()  # the threads with hooks on saved values, see packing.py
_stepping: set[int] = set()  # the threads on which a step is recorded, see the package `replay`
_choices = 0  # how many `recording()` blocks are open, on all threads
_keep_everywhere = False
_provenance = False


class _Gone:
    """Lies among a thread's modes, and dies with the thread."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def __del__(self, forget: Any = (_off.discard, _inferring.discard, _saving.discard)) -> None:
        for one in forget:
            one(self.thread)


class _Thread(threading.local):
    grad = True
    inference = False
    keep: bool | None = None  # None: as the whole process does
    off_at: Any = None  # the user's instruction that switched gradients off, if recording was on then

    def __init__(self) -> None:
        self.gone = _Gone()


_thread = of_thread = _Thread()


def _set_flags(choices: int = 0) -> None:
    """Count who differs from the plain mode, and tell the hot path."""
    global _choices
    with _lock:
        _choices += choices
        departed[0] = not not _off or not not _saving
        recorded[0] = recorded[0] or _keep_everywhere or not not _choices
        if _choices:
            watch[0] = watchers["asking"]
        elif _keep_everywhere:
            watch[0] = watchers["operated"]
        else:
            watch[0] = watchers["marked"] if _provenance else None
        lines[0] = watch[0] is not None and watch[0] is watchers.get("marked")
        beneath[0], inferring[0] = watch[0], not not _inferring
        if _inferring:
            watch[0] = watchers["inferred"]
        if _stepping:
            beside[0], watch[0], lines[0] = watch[0], watchers["stepped"], False
        special[0] = departed[0] or watch[0] is not None


def is_grad_enabled() -> bool:
    """Whether operations on this thread record a graph.

    >>> import autodiff_kernel as torch
    >>> torch.is_grad_enabled()
    True
    """
    return _thread.grad


def put_grad(flag: bool) -> None:
    """Switch the recording of graphs on this thread; in inference mode it stays off.

    An interrupt comes after a call, never between two stores: wherever it comes here, the flags of the process are set
    if a thread has gradients off.
    """
    me = threading.get_ident()
    if flag and not _thread.inference:
        _thread.grad = True
        _off.discard(me)
        departed[0] = not not _off or not not _saving
        special[0] = departed[0] or watch[0] is not None
    else:
        departed[0] = special[0] = True
        _thread.grad = False
        _off.add(me)


def is_inferring() -> bool:
    """Whether this thread is in inference mode, see inference.py."""
    return _thread.inference


def put_inference(flag: bool) -> None:
    """Switch inference mode on this thread."""
    if flag != _thread.inference:
        (_inferring.add if flag else _inferring.discard)(threading.get_ident())
        _thread.inference = flag
        _set_flags()


def state() -> dict[str, Any]:
    """This thread's modes, for another thread that works in its place."""
    return {name: value for name, value in _thread.__dict__.items() if name != "gone"}


def put_state(modes: dict[str, Any]) -> None:
    """Take over another thread's modes."""
    put_inference(modes.get("inference", False))
    put_grad(modes.get("grad", True))
    _thread.__dict__.update(modes)


def put_saving(flag: bool) -> None:
    """Note whether this thread has hooks on saved values."""
    me = threading.get_ident()
    if flag:
        saving[0] = departed[0] = special[0] = True
        _saving.add(me)
    else:
        _saving.discard(me)
        saving[0] = not not _saving
        departed[0] = not not _off or not not _saving
        special[0] = departed[0] or watch[0] is not None


def put_stepping(flag: bool) -> None:
    """Let `watchers["stepped"]` see every operation, or (as far as this thread is concerned) no longer."""
    (_stepping.add if flag else _stepping.discard)(threading.get_ident())
    _set_flags()


def is_stepping() -> bool:
    """Whether a step is recorded on this thread."""
    return bool(_stepping) and threading.get_ident() in _stepping


def switched_off_at() -> Any:
    """The user's instruction that switched gradients off on this thread; None if recording was off then."""
    return _thread.off_at


def keeps() -> bool:
    """Whether operations on this thread keep values, gradients and lines for pictures and explanations."""
    return _keep_everywhere if _thread.keep is None else _thread.keep


def set_recording(flag: bool) -> None:
    """Keep (or no longer keep) small values, gradients and source lines of every operation, on all threads.

    The kernel switches this on; `%graph` uses `recording()` for its own expression.
    """
    global _keep_everywhere
    _keep_everywhere = bool(flag)
    _set_flags()


def provenance() -> bool:
    """Whether nodes and in-place writes keep the user's line."""
    return _provenance or keeps()


def set_provenance(flag: bool) -> None:
    """Keep (or no longer keep) the user's line on every new node and write, on all threads.  Recording includes it."""
    global _provenance
    _provenance = bool(flag)
    _set_flags()


class _Switch:
    """A context manager that also decorates functions (each call gets a fresh one)."""

    __slots__ = ()

    def _again(self) -> "_Switch":
        return type(self)()

    def __call__(self, function: F) -> F:
        if isinstance(function, type):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _GENERATOR:
            return _resumed(self, function)  # type: ignore[no-any-return]

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]

    def __enter__(self) -> Any:
        raise TypeError("use one of the subclasses")

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        return None


def _resumed(switch: _Switch, function: Any) -> Any:
    """A generator function whose body runs inside of the switch each time that it goes on, and only then."""

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        body = function(*args, **kwargs)
        go_on, given = body.send, None
        try:
            while True:
                with switch._again():
                    out = go_on(given)
                try:
                    go_on, given = body.send, (yield out)
                except GeneratorExit:
                    with switch._again():
                        body.close()
                    raise
                except BaseException as error:
                    go_on, given = body.throw, error
        except StopIteration as stop:
            return stop.value

    return inside


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
    _before: Any  # the mode before, and what was here before that: the same object may be entered again

    def __new__(cls, function: Any = None) -> Any:
        made = object.__new__(cls)
        made._before = None
        return made if function is None else made(function)  # `@torch.no_grad` without parentheses

    def __enter__(self) -> None:
        self._before = (_thread.grad, _thread.off_at, self._before)
        try:
            put_grad(self._flag)
            _thread.off_at = None if self._flag or watch[0] is None else places.here()
        except BaseException:  # an interrupt: the block is not entered
            self.__exit__(None, None, None)
            raise

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        before, _thread.off_at, self._before = self._before
        try:
            put_grad(before)
        except BaseException:  # an interrupt came before it
            put_grad(before)
            raise


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
        if mode is not True and mode is not False:
            kind = type(mode).__name__
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {kind}")
        self._mode = mode
        self._before = _thread.grad, _thread.off_at
        self.__enter__()

    def _switch(self, at: Any) -> None:
        put_grad(self._mode)
        _thread.off_at = at

    def _again(self) -> "set_grad_enabled":
        return set_grad_enabled(self._mode)

    def __call__(self, function: F) -> F:
        self.__exit__(None, None, None)  # a decorator's switch belongs to the calls, not to the definition
        return super().__call__(function)

    def __enter__(self) -> None:
        try:
            self._switch(None if self._mode or watch[0] is None else places.here())
        except BaseException:  # an interrupt: the block is not entered
            self.__exit__(None, None, None)
            raise

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        before, _thread.off_at = self._before
        try:
            put_grad(before)
        except BaseException:  # an interrupt came before it
            put_grad(before)
            raise


class recording(_Switch):
    """Keep small values, gradients and lines of the operations inside, on this thread."""

    def __init__(self, flag: bool = True) -> None:
        self._flag = flag
        self._before: list[bool | None] = []

    def _again(self) -> "recording":
        return recording(self._flag)

    def __enter__(self) -> None:
        before = _thread.keep
        self._before.append(before)
        _thread.keep = self._flag
        _set_flags(choices=1)

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        before = self._before.pop()
        _thread.keep = before
        _set_flags(choices=-1)
