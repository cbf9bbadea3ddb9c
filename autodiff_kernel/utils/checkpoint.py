"""torch.utils.checkpoint: less memory for more computing.

A checkpointed part of a model keeps its inputs only.  What its operations would have saved for backward is computed
anew when backward comes by.  Two ways lead there:

  use_reentrant=False  the part records its graph as always, but hooks on saved values (see autograd.graph) keep an
                       empty Slot in the place of each value.  The first slot that backward opens makes the function
                       run again, up to the last value that is needed, and fills the others too.
  use_reentrant=True   the part is one Function whose forward records nothing and whose backward runs the function
                       again and calls `backward` on the result: the older way, with more limits.
"""

import contextlib
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from .. import random as _random
from ..autograd import backward as _backward
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..core import modes, places, running
from ..core.errors import explain
from ..core.generator import get_rng_state, set_rng_state
from ..core.graph import tick
from ..core.kept import SavedTensor
from ..core.packing import open_pairs
from ..core.tensor import Tensor

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """The function did something else when it ran again."""


class _Enough(BaseException):
    """Every value that backward needs has been computed: the rest of the function need not run."""


class _Here(threading.local):
    early_stop: bool | None = None  # what set_checkpoint_early_stop says
    debug: bool | None = None


_here = _Here()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """In the `with` block, whether a function that runs again stops at the last value that is needed (the default).

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> x = torch.ones(2, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(torch.sin, x, use_reentrant=False)
    """
    before, _here.early_stop = _here.early_stop, enable
    try:
        yield
    finally:
        _here.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """In the `with` block, whether an error lists the lines that saved values in both runs; None: as `debug=` says."""
    before, _here.debug = _here.debug, enabled
    try:
        yield
    finally:
        _here.debug = before


def noop_context_fn() -> Contexts:
    """Contexts that do nothing: the default of `context_fn`."""
    return contextlib.nullcontext(), contextlib.nullcontext()


# ------------------------------------------------------------------------------------------------ the public functions
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """function(*args, **kwargs), without keeping what backward needs of it: backward runs the function again.

    The function must do the same both times.  preserve_rng_state: it draws the same random numbers.  context_fn: gives
    the contexts that the first run and the second take place in.  determinism_check: "default" compares shape, dtype
    and device of what both runs save, "none" doesn't.  debug: errors list the lines of both runs.  early_stop: the
    second run stops where it has what is needed.  These need use_reentrant=False, as keyword arguments of the function
    do; it is the recommended way, and has to be chosen explicitly.

    Raises CheckpointError (a RuntimeError) in backward if the two runs differ.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.utils.checkpoint import checkpoint
    >>> def layer(x):
    ...     print("computing")
    ...     return x.exp().sin()
    >>> x = torch.zeros(2, requires_grad=True)
    >>> y = checkpoint(layer, x, use_reentrant=False).sum()
    computing
    >>> y.backward(); x.grad
    computing
    tensor([0.5403, 0.5403])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            "calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if "
            "you need to preserve the current default behavior, you can pass use_reentrant=True.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    if not modes.is_grad_enabled():
        return function(*args, **kwargs)
    first, second = context_fn()
    region = _Region(function, args, kwargs, second)
    region.generators = _States(args, kwargs) if preserve_rng_state else None
    region.compares = determinism_check == "default"
    region.traces = debug if _here.debug is None else _here.debug
    region.early_stop = early_stop if _here.early_stop is None else _here.early_stop
    pairs = open_pairs()
    depth = len(pairs)
    try:
        with saved_tensors_hooks(region.pack, region.unpack), first:
            out = function(*args, **kwargs)
    finally:
        del pairs[depth:]  # written out: an interrupt comes with calls
    region.complete = True
    return out


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Functions applied one after the other (a list, or an nn.Sequential), in `segments` checkpointed parts.

    The last part is not checkpointed: backward begins with it.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.utils.checkpoint import checkpoint_sequential
    >>> x = torch.zeros(2, requires_grad=True)
    >>> y = checkpoint_sequential([torch.exp, torch.sin, torch.exp], 3, x, use_reentrant=False)
    >>> y.sum().backward(); x.grad
    tensor([1.2534, 1.2534])
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In "
            "version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, "
            "but if you need to preserve the current default behavior, you can pass use_reentrant=True.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(steps) // segments

    def part(some: list[Any]) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for step in some:
                x = step(x)
            return x

        return forward

    done = 0
    for start in range(0, size * (segments - 1), size):
        done = start + size
        input = checkpoint(
            part(steps[start:done]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return part(steps[done:])(input)


# ------------------------------------------------------------------------------------------------ use_reentrant=False
class _Slot:
    """The place of one saved value: its number in the order of saving.  Nodes hold slots, the region knows them weakly."""

    __slots__ = ("number", "__weakref__")

    def __init__(self, number: int) -> None:
        self.number = number


class _Region:
    """One call of `checkpoint`: what runs again, and the values of the latest walk.

    slots: weak references to the slots of the first run; forms: shape, dtype and device of what would have been saved.
    values: number -> value, for the walk `task`; a value is handed out once and then forgotten.
    """

    generators: "_States | None" = None
    compares = True
    traces = False
    early_stop = True
    complete = False  # has the first run come to its end?

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, context: AbstractContextManager[Any]
    ) -> None:
        self.function, self.context = function, context
        self.args = [_kept(x) for x in args]
        self.kwargs = {k: _kept(x) for k, x in kwargs.items()}
        self.slots: list[weakref.ref[_Slot]] = []
        self.forms: list[Any] = []
        self.lines: tuple[list[Any], list[Any]] = [], []  # of the first run and of the second, with debug
        self.task: Any = None
        self.values: dict[int, Tensor] = {}
        self.lock = threading.RLock()

    def pack(self, t: Tensor) -> _Slot:
        """An operation of the first run saves t: keep nothing but its form."""
        slot = _Slot(len(self.slots))
        self.slots.append(weakref.ref(slot))
        self.forms.append((t.shape, t.dtype, t.device))
        if self.traces:
            self.lines[0].append(places.here())
        return slot

    def unpack(self, slot: _Slot) -> Tensor:
        """Backward needs a value: run the function again, unless this walk has done so already."""
        with self.lock:
            task = running.task() or ("outside of a walk", tick())
            if self.task != task:
                self.again(task)
            t = self.values.pop(slot.number, None)
        if t is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you "
                "are calling ctx.saved_tensors in backward, make sure to do so only once."
            )
        return t

    def again(self, task: Any) -> None:
        """The second run, for one walk: fill the slots that somebody still holds."""
        self.task, self.values, found = None, {}, _Found(self)
        args = [x.open("checkpoint") if isinstance(x, SavedTensor) else x for x in self.args]
        kwargs = {
            k: x.open("checkpoint") if isinstance(x, SavedTensor) else x for k, x in self.kwargs.items()
        }
        replay = contextlib.nullcontext() if self.generators is None else self.generators.replayed()
        self.lines[1].clear()
        pairs = open_pairs()
        depth = len(pairs)
        try:
            with replay, modes.enable_grad(), saved_tensors_hooks(found.pack, _itself), self.context:
                self.function(*args, **kwargs)
        except _Enough:
            pass
        finally:
            del pairs[depth:]
        self.check(found)
        self.task, self.values = task, found.values

    def check(self, found: "_Found") -> None:
        """Did both runs save the same?"""
        if found.count < len(self.slots) and not found.ignores:
            self.fail(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.slots)}\n"
                f"Number of tensors saved during recomputation: {found.count}."
            )
        if self.compares:
            names = ("shape", "dtype", "device")
            differ = [
                f"tensor at position {i}:\nsaved metadata: {dict(zip(names, self.forms[i], strict=True))}\n"
                f"recomputed metadata: {dict(zip(names, form, strict=True))}"
                for i, form in found.forms.items()
                if form != self.forms[i]
            ]
            if differ:
                self.fail(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                    "during the forward pass.\n" + "\n".join(differ)
                )

    def fail(self, phrase: str) -> NoReturn:
        lines = [
            (f"{which} run, value {i}, in", places.place_of(spot))
            for which, spots in zip(("first", "second"), self.lines, strict=True)
            for i, spot in enumerate(spots)
        ]
        raise explain(
            CheckpointError,
            phrase,
            "Backward ran the function again, and it did something else than the first time.",
            "let the function depend on its arguments only, not on what changes between forward and backward"
            + ("." if lines else "; pass debug=True to see the lines of both runs."),
            tuple(lines),
        )


class _Found:
    """What the second run of a region saves.

    The region is known weakly: the second run's own graph holds this, and would keep the region in a cycle.
    """

    def __init__(self, region: _Region) -> None:
        self.region = weakref.ref(region)
        self.values: dict[int, Tensor] = {}
        self.forms: dict[int, Any] = {}
        self.count = 0
        self.ignores = False  # a backward inside the function came before its end: more values follow

    def pack(self, t: Tensor) -> Tensor:
        region = self.region()
        assert region is not None
        number, expected = self.count, len(region.slots)
        self.count += 1
        if region.traces:
            region.lines[1].append(places.here())
        if number >= expected:
            if not region.complete:
                self.ignores = True
                return t
            region.fail(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                "forward pass."
            )
        self.forms[number] = (t.shape, t.dtype, t.device)
        if region.slots[number]() is not None:
            self.values[number] = t.detach()
        if region.early_stop and self.count == expected:
            raise _Enough
        return t


def _itself(t: Tensor) -> Tensor:
    return t


def _kept(x: Any) -> Any:
    """An argument for the second run: a tensor goes through the hooks of the checkpoint around, if there is one."""
    return SavedTensor(x, tick()) if isinstance(x, Tensor) else x


# ------------------------------------------------------------------------------------------------ random numbers
class _States:
    """Where the generators stood before the first run: the CPU's, and those of the GPUs among the arguments."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.cpu = get_rng_state()
        self.numbers, self.gpus = get_device_states(*args, *kwargs.values())

    @contextlib.contextmanager
    def replayed(self) -> Iterator[None]:
        """Inside, the same random numbers come again; afterwards the generators go on as if nothing had been."""
        with _random.fork_rng(devices=self.numbers):
            set_rng_state(self.cpu)
            set_device_states(self.numbers, self.gpus)
            yield


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """(the numbers of the GPUs that the tensors among the arguments are on, the states of their generators)."""
    numbers = sorted({x.get_device() for x in args if isinstance(x, Tensor) and x.device.type == "cuda"})
    if not numbers:
        return [], []
    from ..cuda import get_rng_state as gpu_state

    return numbers, [gpu_state(k) for k in numbers]


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Let the generators of these GPUs go on from these states."""
    if devices:
        from ..cuda import set_rng_state as set_gpu_state

        for k, state in zip(devices, states, strict=True):
            set_gpu_state(state, k)


# ------------------------------------------------------------------------------------------------ use_reentrant=True
def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same values as leaves of their own, each requiring grad as before; RuntimeError for what is no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Any) -> None:
    """Warn if no tensor among the inputs requires grad: then the checkpoint has no gradients."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2
        )


class CheckpointFunction(Function):
    """A checkpoint as one operation: backward runs the function again and calls `backward` on what it gives."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.states = _States(args, {}) if preserve_rng_state else None
        ctx.others = [None if isinstance(x, Tensor) else x for x in args]
        ctx.where = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.where])
        with modes.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if running.is_restricted():
            raise explain(
                RuntimeError,
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward().",
                "The second run adds gradients to the `.grad` of all tensors that the function uses.",
                "pass use_reentrant=False, or call .backward() without inputs.",
            )
        inputs = list(ctx.others)
        for i, t in zip(ctx.where, ctx.saved_tensors, strict=True):
            inputs[i] = t
        leaves = detach_variable(tuple(inputs))
        with contextlib.nullcontext() if ctx.states is None else ctx.states.replayed(), modes.enable_grad():
            outputs = ctx.run_function(*leaves)
        pairs = [
            (y, g)
            for y, g in zip(outputs if isinstance(outputs, tuple) else (outputs,), grads)
            if isinstance(y, Tensor) and y.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        _backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in leaves))
