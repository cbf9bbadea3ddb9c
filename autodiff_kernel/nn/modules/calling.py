"""What a call of a module does where something watches it: a scope for the pictures, and the hooks, in their order.

  1. forward pre-hooks     hook(module, args)                      may replace the arguments
  2. forward               inside of the module's scope
  3. forward hooks         hook(module, args, output)              may replace the output
  4. in backward: full backward pre-hooks   hook(module, grad_output)
     and at the end: full backward hooks    hook(module, grad_input, grad_output)

Hooks for every module (`register_module_forward_hook`, …) come before those of the module itself.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.errors import explain
from ...core.hooks import RemovableHandle
from ...core.scopes import scope
from ...core.tensor import Tensor


class Hooks:
    """The hooks of one kind: functions by number, and which of them have a flag."""

    def __init__(self) -> None:
        self.functions: OrderedDict[int, Any] = OrderedDict()
        self.with_kwargs: dict[int, bool] = {}
        self.always: dict[int, bool] = {}


EVERYWHERE = {"pre": Hooks(), "post": Hooks(), "backward": Hooks(), "backward_pre": Hooks()}
anywhere = [False]  # is there a hook for every module?
REGISTRATION: dict[str, OrderedDict[int, Any]] = {
    "parameter": OrderedDict(),
    "buffer": OrderedDict(),
    "module": OrderedDict(),
}


def everywhere(kind: str, hook: Callable[..., Any], with_kwargs: bool = False, always: bool = False) -> Any:
    """Hang a hook on every module."""
    hooks = EVERYWHERE[kind]
    handle = RemovableHandle(hooks.functions, extra_dict=[])
    hooks.functions[handle.id] = hook
    if with_kwargs:
        hooks.with_kwargs[handle.id] = True
    if always:
        hooks.always[handle.id] = True
    anywhere[0] = True
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, args) before the forward of every module; what it returns replaces the arguments."""
    made: RemovableHandle = everywhere("pre", hook)
    return made


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call hook(module, args, output) after the forward of every module; what it returns replaces the output."""
    made: RemovableHandle = everywhere("post", hook, with_kwargs, always_call)
    return made


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, grad_input, grad_output) in the backward of every module."""
    made: RemovableHandle = everywhere("backward", hook)
    return made


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, grad_output) before the backward of every module."""
    made: RemovableHandle = everywhere("backward_pre", hook)
    return made


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, name, parameter) whenever a module is given a parameter."""
    return _registration("parameter", hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, name, buffer) whenever a module is given a buffer."""
    return _registration("buffer", hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(module, name, submodule) whenever a module is given a submodule."""
    return _registration("module", hook)


def _registration(kind: str, hook: Any) -> RemovableHandle:
    handle = RemovableHandle(REGISTRATION[kind])
    REGISTRATION[kind][handle.id] = hook
    return handle


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """What the registration hooks make of a value."""
    for hook in list(REGISTRATION[kind].values()):
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value


# ------------------------------------------------------------------------------------------------ the call
def watched_call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call of a module in full: scope and hooks."""
    own = module.__dict__
    if "_forward_hooks" not in own:
        raise no_init(module)
    if modes.watch[0] is None:
        return _hooked_call(module, own, args, kwargs)
    with scope(module):
        return _hooked_call(module, own, args, kwargs)


def _hooked_call(module: Any, own: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    everyone = EVERYWHERE
    before, pre = everyone["backward"].functions, everyone["backward_pre"].functions
    backward = [*before.values(), *own["_backward_hooks"].values()]
    backward_pre = [*pre.values(), *own["_backward_pre_hooks"].values()]
    called: set[int] = set()
    try:
        for number, hook in [*everyone["pre"].functions.items(), *own["_forward_pre_hooks"].items()]:
            args, kwargs = _before(
                module, hook, number in own["_forward_pre_hooks_with_kwargs"], args, kwargs
            )
        around = Around(module, backward, backward_pre) if backward or backward_pre else None
        if around is not None:
            args = around.inputs(args)
        result = module.forward(*args, **kwargs)
        for number, hook, with_kwargs, _ in _after(own):
            called.add(number)
            answer = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
            if answer is not None:
                result = answer
        return result if around is None else around.outputs(result)
    except BaseException:
        for number, hook, with_kwargs, always in _after(own):
            if always and number not in called:
                try:
                    hook(module, args, kwargs, None) if with_kwargs else hook(module, args, None)
                except Exception as error:
                    import warnings

                    warnings.warn(
                        f"module forward hook with ``always_call=True`` raised an exception that was silenced: {error}",
                        stacklevel=2,
                    )
        raise


def _after(own: dict[str, Any]) -> list[tuple[int, Any, bool, bool]]:
    post = EVERYWHERE["post"]
    return [
        *[(k, f, k in post.with_kwargs, k in post.always) for k, f in post.functions.items()],
        *[
            (k, f, k in own["_forward_hooks_with_kwargs"], k in own["_forward_hooks_always_called"])
            for k, f in own["_forward_hooks"].items()
        ],
    ]


def _before(module: Any, hook: Any, with_kwargs: bool, args: Any, kwargs: Any) -> Any:
    if not with_kwargs:
        answer = hook(module, args)
        return (args if answer is None else answer if isinstance(answer, tuple) else (answer,)), kwargs
    answer = hook(module, args, kwargs)
    if answer is None:
        return args, kwargs
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(
            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {answer}."
        )
    return answer


def no_init(module: Any) -> AttributeError:
    """For a module whose class forgot `super().__init__()`."""
    kind = type(module).__name__
    return explain(
        AttributeError,
        f"'{kind}' object has no attribute '_forward_hooks'",
        f"Module.__init__() has not run: {kind}.__init__ does not call it, so the module has nowhere to keep its parameters.",
        f"make `super().__init__()` the first line of {kind}.__init__.",
        topic="module without init",
    )


# ------------------------------------------------------------------------------------------------ backward hooks
class Around:
    """Two identities around a module's forward: where gradients pass them, its backward hooks are called."""

    def __init__(self, module: Any, hooks: list[Any], pre_hooks: list[Any]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_output: Any = None
        self.places: list[int] = []  # of the tensors among the inputs
        self.count = 0
        self.has_inputs = False

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments behind an identity, whose node says when the gradients of all inputs are there."""
        self.count = len(args)
        self.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        made, node = _identity([args[i] for i in self.places])
        if node is None:
            return args
        self.has_inputs = True
        node.register_hook(self._gone_through)
        out = list(args)
        for i, x in zip(self.places, made):
            out[i] = x
        return tuple(out)

    def outputs(self, result: Any) -> Any:
        """The result behind an identity, whose node says when the gradients of all outputs are there."""
        several = isinstance(result, (tuple, list))
        items = list(result) if several else [result]
        places = [i for i, x in enumerate(items) if isinstance(x, Tensor)]
        made, node = _identity([items[i] for i in places])
        if node is None:
            return result
        width = len(items)

        def arrived(grads: Any) -> Any:
            full: list[Any] = [None] * width
            for i, g in zip(places, grads):
                full[i] = g
            given = tuple(full)
            for hook in self.pre_hooks:
                answer = hook(self.module, given)
                if answer is not None:
                    given = _fitting(answer, width, "Backward pre hook", "grad_output")
            self.grad_output = given
            if not self.has_inputs:
                for hook in self.hooks:
                    if hook(self.module, (None,) * max(self.count, 1), given) is not None:
                        raise RuntimeError(
                            "Backward hook for Modules where no input requires gradient should always return None or "
                            "None for all gradients."
                        )
            return tuple([given[i] for i in places])

        node.register_prehook(arrived)
        for i, x in zip(places, made):
            items[i] = x
        return (
            type(result)(items)
            if several and type(result) in (tuple, list)
            else tuple(items)
            if several
            else items[0]
        )

    def _gone_through(self, grads: Any, _: Any) -> Any:
        full: list[Any] = [None] * self.count
        for i, g in zip(self.places, grads):
            full[i] = g
        given = tuple(full)
        for hook in self.hooks:
            answer = hook(self.module, given, self.grad_output)
            if answer is not None:
                given = _fitting(answer, self.count, "Backward hook", "grad_input")
        self.grad_output = None
        return tuple([given[i] for i in self.places])


def _fitting(answer: Any, count: int, what: str, gradients: str) -> tuple[Any, ...]:
    answer = answer if isinstance(answer, tuple) else (answer,)
    if len(answer) != count:
        raise RuntimeError(
            f"{what} returned an invalid number of {gradients}, got {len(answer)}, but expected {count}"
        )
    return answer


def _identity(tensors: list[Any]) -> tuple[Any, Any]:
    """The same tensors behind one node, and that node (None where no gradient can come)."""
    if not any(t.requires_grad for t in tensors) or not modes.is_grad_enabled():
        return tensors, None
    made = pass_function().apply(*tensors)
    made = made if isinstance(made, tuple) else (made,)
    for t in made:
        if t.grad_fn is not None:
            return made, t.grad_fn
    return tensors, None


_made: list[Any] = []


def pass_function() -> Any:
    """The Function that passes all on, made with the first backward hook."""
    if not _made:
        from ...autograd.function import Function

        class BackwardHookFunction(Function):
            @staticmethod
            def forward(ctx: Any, *xs: Any) -> Any:
                ctx.mark_non_differentiable(*[x for x in xs if not x.requires_grad])
                return tuple([x.view_as(x) for x in xs])

            @staticmethod
            def backward(ctx: Any, *gs: Any) -> Any:
                return gs

        _made.append(BackwardHookFunction)
    return _made[0]
