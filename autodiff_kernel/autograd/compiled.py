"""`torch.compile`: the function that records itself, and its result's place in the graph.

The work is done by the package `core/replay`, whose docstring says how.  Here is what is called: which program fits, when
to record, and a Function that gives the results of a program a backward.
"""

import functools
import threading
import types
from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import signature
from typing import Any

from ..core import custom, levels, modes, places
from ..core.once import warn
from ..core.pytree import leaves_of
from ..core.replay.program import Attempt, Program, record
from ..core.replay.state import State, Unseen, look
from ..core.tensor import Tensor
from .function import Function

__all__ = ["Compiled", "compile"]
FORMS = 8  # programs of one function; PyTorch gives up at as many
places.claim()


class CompiledFunction(Function):
    """One run of a program whose results require grad."""

    @staticmethod
    def forward(ctx: Any, program: Program, tensors: Any, *sources: Any) -> Any:
        outs, saved = program.run(tensors)
        ctx.program = program
        ctx.save_for_backward(*saved)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[t for k, t in enumerate(outs) if k not in program.learns])
        return tuple(outs)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        program = ctx.program
        asked = tuple([gradients[k] for k in program.learns])
        if all(g is None for g in asked):
            return (None, None, *[None] * len(program.sources))
        grad = modes.is_grad_enabled()
        modes.put_grad(False)
        try:
            found = program.carry(asked, ctx.saved_tensors)
        finally:
            modes.put_grad(grad)
        if grad:  # create_graph: these gradients have no graph, and whoever asks for one is told
            found = tuple([None if g is None else custom.poisoned(g) for g in found])
        return (None, None, *found)


class Compiled:
    """A function that is recorded on its first calls and then runs as one flat program; see `compile`.

    source: the program's text.  reason: why the function runs eagerly, '' if it does not.
    """

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        own = self.__dict__
        own["_replays"] = own["_torchdynamo_orig_callable"] = function
        own["_fullgraph"], own["_lock"] = fullgraph, threading.RLock()
        own["_programs"], own["reason"] = [], ""
        own["_newest"] = None
        if isinstance(function, types.FunctionType):
            functools.update_wrapper(self, function)
        else:
            own["__name__"] = getattr(function, "__name__", type(function).__name__)

    # ---- what it was made from
    @property
    def _of_module(self) -> bool:
        return hasattr(type(self._replays), "named_parameters")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """A compiled module counts as a module."""
        return type(self._replays) if self._of_module else Compiled

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_replays" not in self.__dict__:
            raise AttributeError(name)
        if name == "_orig_mod":
            return self._replays
        return getattr(self._replays, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._of_module and name not in self.__dict__:
            setattr(self._replays, name, value)
        else:
            object.__setattr__(self, name, value)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __repr__(self) -> str:
        if self._of_module:
            inside = repr(self._replays).replace("\n", "\n  ")
            return f"OptimizedModule(\n  (_orig_mod): {inside}\n)"
        return f"<compiled {self.__name__}>"

    # ---- what it does
    @property
    def source(self) -> str:
        """The text of the program that was recorded last; '' before the first call, and where the function runs eagerly."""
        return "" if self._newest is None or self.reason else self._newest.source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._replays
        if self.reason or modes.is_stepping() or at_work(args, kwargs):
            return function(*args, **kwargs)
        with self._lock:
            names = self._names(len(args))
            try:
                state = look(function, args, kwargs, names)
            except Unseen as unseen:
                self._give_up(str(unseen))
                return function(*args, **kwargs)
            except Exception as error:  # of an object that does not like to be looked at
                self._give_up(f"what it can reach cannot be followed ({type(error).__name__}: {error})")
                return function(*args, **kwargs)
            program = next((p for p in self._programs if p.fits(state)), None)
            if program is None or program.tried < 2:
                return self._record(function, args, kwargs, names, state, program)
            self.__dict__["_newest"] = program
        try:
            return run(program, state)
        except Exception:
            if program.pure:
                function(*args, **kwargs)  # raises too, at the user's own line
            raise

    def _names(self, count: int) -> list[str]:
        """What the function calls its positional arguments."""
        found: list[str] = []
        function = self._replays.forward if self._of_module else self._replays
        try:
            for a in signature(function).parameters.values():
                if a.kind is Argument.VAR_POSITIONAL:
                    found += [f"{a.name}[{i}]" for i in range(count - len(found))]
                elif a.kind is not Argument.VAR_KEYWORD:
                    found.append(a.name)
        except (TypeError, ValueError):
            pass
        return [*found, *[f"argument{i}" for i in range(len(found), count)]][:count]

    def _record(self, function: Any, args: Any, kwargs: Any, names: Any, state: State, known: Any) -> Any:
        if known is None and len(self._programs) >= FORMS:
            self._give_up(f"its inputs had {FORMS} forms already")
            return function(*args, **kwargs)
        attempt: Attempt = record(function, args, kwargs, names, state)
        program = attempt.program
        if program is None:
            self._give_up(attempt.reason)
        elif known is None:
            program.tried = 1
            self._programs.append(program)
            self.__dict__["_newest"] = program
        else:
            changed = known.changed(program)
            if changed:
                self._give_up(f"it does something else at its second call: {changed}")
            else:
                known.tried += 1
        return attempt.result

    def _give_up(self, reason: str) -> None:
        """Eager from now on, or an error where the whole function was to be one program."""
        if self._fullgraph:
            raise RuntimeError(
                f"torch.compile(fullgraph=True): {self.__name__} cannot be one program: {reason}"
            )
        self.__dict__["reason"] = reason
        self._programs.clear()
        if not self.__dict__.get("_told"):
            warn(f"torch.compile: {self.__name__} runs eagerly, since {reason}")


def at_work(args: Any, kwargs: Any) -> bool:
    """Is something going on for which a program was not recorded: a transformation, hooks on saved values, …?"""
    if levels.is_transforming() or modes.is_inferring() or modes.saving[0]:
        return True
    return any(isinstance(x, Tensor) and x.is_dual for x in leaves_of((args, kwargs)))


def run(program: Program, state: State) -> Any:
    """The program on the tensors of this call."""
    tensors = program.inputs(state)
    if program.learns:
        sources = [state.tensors[path] for path in program.sources]
        outs: Any = CompiledFunction.apply(program, tensors, *sources)
    else:
        outs = program.run(tensors)[0]
    return program.assembled(outs, state)


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: Any = None, backend: Any = "inductor", mode: Any = None,
    options: Any = None, disable: bool = False, **_: Any,
) -> Any:  # fmt: skip
    """The function (or module) as one that records its tensor operations and then replays them as one flat program.

    The first two calls for inputs of one form run eagerly and are recorded; the forms of all tensors and the values of all
    Python numbers that the function can reach are compared at each call, and others are recorded anew.  Results,
    gradients, in-place changes and random numbers are eager's.  `.source` is the program, each line with the user's
    line that it comes from.  A function that reads a tensor's value, prints, or changes Python's state goes on eagerly:
    `.reason` says why, and a warning once.  fullgraph: RuntimeError instead.  disable: the function itself.  The other
    arguments are PyTorch's; they change nothing here.

    >>> import autodiff_kernel as torch
    >>> @torch.compile
    ... def f(x, w):
    ...     return (x * w).sum()
    >>> x, w = torch.tensor([1., 2.]), torch.tensor([3., 4.], requires_grad=True)
    >>> for _ in range(3):
    ...     f(x, w).backward()
    >>> w.grad, f.reason
    (tensor([3., 6.]), '')
    """
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )  # fmt: skip
    if not callable(model):
        raise TypeError(f"torch.compile takes a function or a module, not {type(model).__name__}")
    return model if disable else Compiled(model, fullgraph)
