"""torch.autograd.function: operations of your own, with a backward of your own.

A Function is a class that nobody instantiates: `forward` computes, `backward` gives the gradients of the inputs from
those of the outputs, and `ctx` carries over what backward needs.  The engine's part is `core/custom.py`.
"""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ..core import custom, levels, modes
from ..core.graph import as_edge, shown
from ..core.tensor import Tensor

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]

F = TypeVar("F", bound=Callable[..., Any])


class FunctionCtx:
    """What `forward` writes down and `backward` (or `jvp`) reads: the `ctx` of a Function's methods.

    Tensors go through `save_for_backward`; anything else may be set as an attribute.
    """

    to_save: Any = None
    saved_for_forward: Any = None
    dirty_tensors: Any = None
    non_differentiable: Any = None
    materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or Nones) for `backward`, which finds them in `ctx.saved_tensors`.

        Inputs and outputs keep their place in the graph, so backward can be differentiated again.  A tensor that is
        changed in place afterwards is refused.  To be called once, with tensors only: RuntimeError or TypeError else.

        >>> import autodiff_kernel as torch
        >>> class Cube(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x ** 3
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         x, = ctx.saved_tensors
        ...         return grad * 3 * x ** 2
        >>> x = torch.tensor(2., requires_grad=True)
        >>> Cube.apply(x).backward(); x.grad
        tensor(12.)
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or Nones) for `jvp`, which finds them in `ctx.saved_tensors`."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                    "ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` changed in place; it must return them."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient; `backward` gets zeros for them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` and `jvp` get zeros (the default) or None where no gradient came."""
        if not isinstance(value, bool):
            raise TypeError(f"set_materialize_grads(): argument must be bool, not {type(value).__name__}")
        self.materialize_grads = value


class BackwardCFunction(FunctionCtx):
    """A `ctx` as the result's `grad_fn`: what there is of a node on it.

    Each Function has a subclass of its own, named after it: MyFunction's results have a `<MyFunctionBackward>`.
    """

    __slots__ = (
        "needs_input_grad",
        *("_kept", "_gone", "_node", "_edges", "_inputs", "_outputs", "_flat", "_forward", "_metadata"),
    )

    needs_input_grad: tuple[bool, ...]
    _forward_cls: Any
    _rows: dict[bool, Any] = {}
    _edges: tuple[Any, ...]
    _metadata: Any
    _kept: tuple[Any, ...]
    _node: Any
    _forward: Any

    # ---- what the engine asks (see core/custom.py)
    def _prepare(self, args: tuple[Any, ...]) -> None:
        """A fresh ctx for these arguments."""
        self.needs_input_grad = tuple([isinstance(x, Tensor) and x.node is not None for x in args])
        self._kept, self._gone, self._node, self._edges = (), False, None, ()
        self._forward = self._metadata = None

    def _forget_marks(self) -> None:
        """Drop what forward marked: outputs among it would close cycles."""
        for name in ("to_save", "dirty_tensors", "non_differentiable"):
            self.__dict__.pop(name, None)

    def _free_saved(self) -> None:
        """A backward is through: the saved tensors are needed no more."""
        if self._kept:
            self._kept, self._gone = (), True

    def _hidden_node(self) -> Any:
        """The engine's node."""
        node = self._node and self._node()
        if node is None:
            raise RuntimeError(
                f"the graph of this {type(self).__name__} is gone: nobody holds its results any more"
            )
        return node

    # ---- what users ask
    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept (in `jvp`: `save_for_forward`).

        Raises RuntimeError if a backward has freed them, or if one of them was changed in place.
        """
        if self._forward is not None:
            return tuple(self._forward)
        once = self._forward_cls.clear_saved_tensors_on_access
        if once and self._gone:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        found = custom.opened(self)
        if once:
            self._free_saved()
        return found

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes of the tensors among the inputs, each with the number of the output that was used."""
        return tuple((shown(n), k) for n, k in map(as_edge, self._edges))

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary of your own on this node."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        return any(self.needs_input_grad)

    def name(self) -> str:
        """The node's name: that of the Function with 'Backward' behind it."""
        return type(self).__name__

    def apply(self, *args: Any) -> Any:
        """Call the Function's `backward` (or `vjp`) with these gradients of the outputs."""
        cls = self._forward_cls
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                "one of them."
            )
        user = cls.vjp if cls.vjp is not Function.vjp else cls.backward
        return user(self, list(args)) if cls.boxed_grads_call else user(self, *args)

    def apply_jvp(self, *args: Any) -> Any:
        """Call the Function's `jvp` with these tangents of the inputs."""
        return self._forward_cls.jvp(self, *args)

    def register_hook(self, fn: Any) -> Any:
        """Call `fn(gradients of the inputs, gradients of the outputs)` when this node has been walked."""
        return self._hidden_node().register_hook(fn)

    def register_prehook(self, fn: Any) -> Any:
        """Call `fn(gradients of the outputs)` before this node is walked."""
        return self._hidden_node().register_prehook(fn)

    def _sequence_nr(self) -> int:
        """The stamp of the node: a later one is greater."""
        return self._hidden_node().seq  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


class FunctionMeta(type):
    """Makes with each Function the class of its nodes."""

    _backward_cls: Any

    @property
    def setup_context_defined(cls) -> bool:
        """Does the Function save in a `setup_context` of its own?"""
        return cls.setup_context is not Function.setup_context  # type: ignore[attr-defined, no-any-return]

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(name, bases, attributes, **kwargs)
        cls._backward_cls = type(
            f"{name}Backward",
            (BackwardCFunction,),
            {"__slots__": (), "_forward_cls": cls, "_rows": {}, "__module__": __name__},
        )


class Function(metaclass=FunctionMeta):
    """The base class of operations of your own: override `forward` and `backward`, and call `apply`.

    `forward(ctx, ...)` computes and saves; or `forward(...)` computes and `setup_context(ctx, inputs, output)` saves,
    which nested derivatives and vmap need.  `backward(ctx, *grads)` gets the gradient of each output and returns one
    for each argument of forward, None for what is no tensor.  `jvp(ctx, *tangents)` is forward mode's part.

    >>> import autodiff_kernel as torch
    >>> class Exp(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         y, = ctx.saved_tensors
    ...         return grad * y
    >>> x = torch.tensor(0., requires_grad=True)
    >>> y = Exp.apply(x); y
    tensor(1., grad_fn=<ExpBackward>)
    >>> y.backward(); x.grad
    tensor(1.)
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
            "them on the class itself. Instantiating an autograd function will raise an error in a future version of "
            "PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            f"function with static forward method.\nWhat to do: call {type(self).__name__}.apply(...) on the class, and "
            "make forward and backward static methods that take ctx first."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """To be overridden: compute the result.  First argument ctx, unless `setup_context` is overridden too."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """To be overridden if `forward` takes no ctx: save here what backward needs."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """To be overridden: the gradients of the inputs, from those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """To be overridden for forward mode: the tangents of the outputs, from those of the inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """To be overridden for vmap, or set generate_vmap_rule = True: (output, its batch dimensions).

        info: has `batch_size` and `randomness`.  in_dims: the batch dimension of each argument, or None.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the Function: what `forward` returns, with this Function as its `grad_fn`."""
        own = cls.setup_context_defined
        if not own and levels.is_differentiating():
            raise custom.needs_setup_context()
        if kwargs or own:
            args = bound(cls, args, kwargs)
        for x in args:
            if isinstance(x, Tensor) and x.is_dual:
                from ..core.custom_dual import lifted

                return lifted(cls, args)
        return custom.run(cls, args)[0]

    @classmethod
    def _apply_mapped(cls, args: tuple[Any, ...], level: int) -> Any:
        """Under vmap: arguments are batched tensors of this level."""
        from .function_vmap import apply_mapped

        return apply_mapped(cls, args, level)


# ------------------------------------------------------------------------------------------------ arguments
@functools.lru_cache(1024)
def signature_of(forward: Any) -> inspect.Signature:
    return inspect.signature(forward)


def bound(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of forward by position: keywords put in their places, and with `setup_context` the defaults too."""
    signature = signature_of(cls.forward)
    if cls.setup_context_defined:
        made = signature.bind(*args, **kwargs)
        made.apply_defaults()
        for name in made.kwargs:  # a keyword-only parameter
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        return made.args
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in signature.parameters.values() if p.kind in kinds][1:]  # without ctx
    out = list(args)
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[: len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    for name in names[len(args) : len(args) + len(kwargs)]:
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {len(out)})")
        out.append(kwargs[name])
    return tuple(out)


# ------------------------------------------------------------------------------------------------ decorators and kin
def once_differentiable(fn: F) -> F:
    """Decorate a `backward` that computes with more than tensor operations: it cannot be differentiated again.

    The gradients are right; a backward through them raises RuntimeError instead of leaving out a part silently.

    >>> import autodiff_kernel as torch
    >>> class Sine(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return torch.from_numpy(np.sin(x.detach().numpy()))
    ...     @staticmethod
    ...     @torch.autograd.function.once_differentiable
    ...     def backward(ctx, grad):
    ...         return grad * torch.from_numpy(np.cos(ctx.saved_tensors[0].detach().numpy()))
    >>> import numpy as np
    >>> x = torch.zeros(2, requires_grad=True)
    >>> Sine.apply(x).sum().backward(); x.grad
    tensor([1., 1.])
    """

    @functools.wraps(fn)
    def once(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with modes.no_grad():
            outputs = fn(ctx, *args, **kwargs)
        if not modes.is_grad_enabled() or not any(isinstance(x, Tensor) and x.requires_grad for x in args):
            return outputs
        many = isinstance(outputs, tuple)
        made = [custom.poisoned(t) if isinstance(t, Tensor) else t for t in (outputs if many else (outputs,))]
        return tuple(made) if many else made[0]

    return once  # type: ignore[return-value]


class InplaceFunction(Function):
    """A Function of 2017 that says at construction whether it works in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
