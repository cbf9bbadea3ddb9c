"""Module: the base of everything that has parameters. It holds them; what it computes is `forward`."""

from collections.abc import Callable, Iterator
from typing import Any

from ...core import modes
from ...core.errors import explain
from ...core.hooks import RemovableHandle
from ...core.tensor import Parameter, Tensor
from ..parameter import Buffer
from . import state
from .calling import anywhere, no_init, registered, watched_call
from .checks import SHELVES, check_name, destination, indented, too_early, type_text

watch = modes.watch


class Module:
    """A part of a model: parameters, buffers and modules by name, and `forward`, which computes with them.

    A class of one's own calls `super().__init__()` first, then assigns its parts; `forward` says what a call computes.

    >>> import autodiff_kernel as torch
    >>> class Line(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = torch.nn.Parameter(torch.tensor(2.))
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> line = Line()
    >>> line(torch.tensor(3.))
    tensor(6., grad_fn=<MulBackward0>)
    >>> [name for name, _ in line.named_parameters()]
    ['slope']
    """

    _version = 1
    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if args and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        own = self.__dict__
        own["training"] = True
        for name, kind in SHELVES.items():
            own[name] = kind()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---------------------------------------------------------------------------------------- calling
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call computes; a class of one's own says it."""
        raise explain(
            NotImplementedError,
            f'Module [{type(self).__name__}] is missing the required "forward" function',
            cure=f"define forward(self, x) in class {type(self).__name__} (mind its indentation and spelling).",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        try:
            if (
                watch[0] is None
                and not own["_forward_hooks"]
                and not own["_forward_pre_hooks"]
                and not own["_backward_hooks"]
                and not own["_backward_pre_hooks"]
                and not anywhere[0]
            ):
                return self.forward(*args, **kwargs)
        except KeyError:
            if "_forward_hooks" not in own:
                raise no_init(self) from None
            raise
        return watched_call(self, args, kwargs)

    # ---------------------------------------------------------------------------------------- attributes
    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters = own.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise too_early(self, "parameters", name)
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise explain(
                    TypeError,
                    f"cannot assign '{type_text(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)",
                    f"{type(self).__name__} trains what it has under this name.",
                    f"change its values in place (with torch.no_grad(): module.{name}.copy_(…)), or assign "
                    "torch.nn.Parameter(value).",
                )
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise too_early(self, "module", name)
            self._forget(name, "_modules")
            own["_modules"][name] = registered("module", self, name, value)
        elif "_modules" in own and name in own["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_text(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            own["_modules"][name] = registered("module", self, name, value)
        elif "_buffers" in own and (isinstance(value, Buffer) or name in own["_buffers"]):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type_text(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            if isinstance(value, Buffer) and name not in own["_buffers"]:
                self._forget(name, "_buffers")
                self.register_buffer(name, value, value.persistent)
            else:
                own["_buffers"][name] = registered("buffer", self, name, value)
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, but: str) -> None:
        """Take the name out of every place but one."""
        own = self.__dict__
        own.pop(name, None)
        for shelf in ("_parameters", "_buffers", "_modules"):
            if shelf != but:
                own[shelf].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for shelf in ("_parameters", "_buffers", "_modules"):
            held = own.get(shelf)
            if held is not None and name in held:
                return held[name]
        if name in SHELVES or name == "training":
            if name not in own and "_modules" not in own:
                raise explain(
                    AttributeError,
                    f"'{type(self).__name__}' object has no attribute '{name}'",
                    f"Module.__init__() has not run: {type(self).__name__}.__init__ does not call it.",
                    f"make `super().__init__()` the first line of {type(self).__name__}.__init__.",
                    topic="module without init",
                )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __delattr__(self, name: str) -> None:
        for shelf in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(shelf, ()):
                del self.__dict__[shelf][name]
                self._non_persistent_buffers_set.discard(name)  # type: ignore[operator]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*object.__dir__(self), *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if name and not name[0].isdigit())

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        for name, kind in SHELVES.items():
            self.__dict__.setdefault(name, kind())

    # ---------------------------------------------------------------------------------------- registering
    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter under a name; None keeps the name without one.

        Raises AttributeError before `super().__init__()`, KeyError for a name that is taken or has a dot, TypeError for what
        is no Parameter, ValueError for a Parameter that was computed.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        check_name(self, "parameter", name, "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{type_text(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                    f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
            param = registered("parameter", self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not trained; not persistent: state_dict leaves it out.

        Raises KeyError for a name that is taken or has a dot, TypeError for what is no Tensor.

        >>> import autodiff_kernel as torch
        >>> m = torch.nn.Module()
        >>> m.register_buffer("mean", torch.zeros(2))
        >>> list(m.state_dict())
        ['mean']
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        check_name(self, "buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_text(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        skipped: Any = self._non_persistent_buffers_set
        skipped.discard(name) if persistent else skipped.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a module under a name; None keeps the name without one. Raises TypeError for what is no Module."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_text(module)} is not a Module subclass")
        check_name(self, "module", name, "_modules")
        self._modules[name] = registered("module", self, name, module)

    register_module = add_module

    # ---------------------------------------------------------------------------------------- looking up
    def get_submodule(self, target: str) -> Any:
        """The module under a path such as 'layers.0'. Raises AttributeError where there is none."""
        found: Any = self
        for part in target.split(".") if target else ():
            if not hasattr(found, part):
                raise AttributeError(f"{type(found).__name__} has no attribute `{part}`")
            found = getattr(found, part)
            if not isinstance(found, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module in the place of the one under a path. Raises ValueError for an empty path."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, last = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, last):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{last}`")
        setattr(parent, last, module)

    def _held(self, target: str, shelf: str, what: str) -> Any:
        path, _, last = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, last):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{last}`")
        if last not in owner.__dict__[shelf]:
            raise AttributeError(f"`{last}` is not {what}")
        return getattr(owner, last)

    def get_parameter(self, target: str) -> Any:
        """The parameter under a path such as 'layers.0.weight'. Raises AttributeError where there is none."""
        return self._held(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer under a path. Raises AttributeError where there is none."""
        return self._held(target, "_buffers", "a buffer")

    def named_modules(
        self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it, with their paths (its own is '')."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules directly below this one, with their names, each once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Any]:
        """The modules directly below this one."""
        for _, child in self.named_children():
            yield child

    def _named(self, shelf: str, prefix: str, recurse: bool, once: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in module.__dict__[shelf].items():
                if value is None or once and id(value) in seen:
                    continue
                seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """All parameters with their paths; a parameter that occurs twice comes once."""
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """All parameters: what an optimizer takes.

        >>> import autodiff_kernel as torch
        >>> [p.numel() for p in torch.nn.Linear(3, 2).parameters()]
        [6, 2]
        """
        for _, value in self.named_parameters(recurse=recurse):
            yield value

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """All buffers with their paths."""
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """All buffers."""
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    # ---------------------------------------------------------------------------------------- changing all
    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call fn on every module, those below first; returns self.

        >>> import autodiff_kernel as torch
        >>> def ones(m):
        ...     if isinstance(m, torch.nn.Linear):
        ...         torch.nn.init.ones_(m.weight)
        >>> _ = torch.nn.Sequential(torch.nn.Linear(2, 2)).apply(ones)
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Put fn(tensor) in the place of every parameter, gradient and buffer."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with modes.no_grad():
                parameter_grad = parameter.grad
                new = fn(parameter)
                if new is not parameter:
                    parameter.grad = None
                    parameter.data = new
                    if parameter_grad is not None:
                        parameter.grad = fn(parameter_grad).requires_grad_(parameter_grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move all parameters and buffers to a device, a floating-point dtype, or both; returns self.

        Raises TypeError for an integer dtype.

        >>> import autodiff_kernel as torch
        >>> torch.nn.Linear(1, 1).to(torch.float64).weight.dtype
        torch.float64
        """
        place, kind = destination(*args, **kwargs)
        if kind is not None and not (kind.is_floating_point or kind.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={kind}"
            )

        def moved(t: Any) -> Any:
            floats = t.is_floating_point() or t.is_complex()
            if place is None:
                return t.to(kind) if floats else t
            return t.to(place, kind) if kind is not None and floats else t.to(place)

        return self._apply(moved)

    def cuda(self, device: Any = None) -> Any:
        """Move all parameters and buffers to a GPU; returns self."""
        return self._apply(lambda t: t.cuda() if device is None else t.cuda(device))

    def cpu(self) -> Any:
        """Move all parameters and buffers to the CPU; returns self."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type: Any) -> Any:
        """Cast all parameters and buffers; returns self."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Cast all floating-point parameters and buffers to float32; returns self."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Cast all floating-point parameters and buffers to float64; returns self."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        """Cast all floating-point parameters and buffers to float16; returns self."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """Cast all floating-point parameters and buffers to bfloat16; returns self."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def train(self, mode: bool = True) -> Any:
        """Switch to training (dropout drops, batch norm takes the batch's statistics); returns self.

        Raises ValueError for a mode that is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Any:
        """Switch to evaluation: `train(False)`; returns self."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Say of all parameters whether they are trained (False freezes the module); returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all parameters' gradients (or set them to zero)."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad = parameter.grad.detach() * 0

    def share_memory(self) -> Any:
        """Here processes share nothing: returns self."""
        return self

    # ---------------------------------------------------------------------------------------- state
    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by path, as an OrderedDict; its tensors share memory with the module's.

        >>> import autodiff_kernel as torch
        >>> list(torch.nn.Linear(2, 1).state_dict())
        ['weight', 'bias']
        """
        if args:
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and not prefix else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        return state.collect(self, Module, destination, prefix, keep_vars)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        state.save_own(self, Module, destination, prefix, keep_vars)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Copy what `state_dict()` gave into this module's parameters and buffers.

        strict: the names must be the same ones. assign: take the tensors themselves instead of copying. Returns
        (missing_keys, unexpected_keys). Raises RuntimeError with all that does not fit, TypeError for what is no dict.
        """
        return state.load(self, state_dict, strict, assign)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:  # fmt: skip
        state.load_own(
            self,
            Module,
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )

    def get_extra_state(self) -> Any:
        """What a class of one's own adds to its state_dict."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # ---------------------------------------------------------------------------------------- hooks
    def _hang(
        self, shelf: str, hook: Any, flags: tuple[str, ...] = (), first: bool = False
    ) -> RemovableHandle:
        hooks = self.__dict__[shelf]
        handle = RemovableHandle(hooks, extra_dict=[self.__dict__[flag] for flag in flags])
        hooks[handle.id] = hook
        for flag in flags:
            self.__dict__[flag][handle.id] = True
        if first:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before each forward; what it returns replaces the arguments.

        with_kwargs: hook(module, args, kwargs), which returns both. prepend: before the hooks that are there.
        """
        flags = ("_forward_pre_hooks_with_kwargs",) if with_kwargs else ()
        return self._hang("_forward_pre_hooks", hook, flags, prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call hook(module, args, output) after each forward; what it returns replaces the output.

        with_kwargs: hook(module, args, kwargs, output). always_call: also when forward raises.

        >>> import autodiff_kernel as torch
        >>> layer = torch.nn.Flatten()
        >>> handle = layer.register_forward_hook(lambda m, args, out: print(args[0].shape, "->", out.shape))
        >>> _ = layer(torch.zeros(2, 3, 4))
        torch.Size([2, 3, 4]) -> torch.Size([2, 12])
        """
        flags = ("_forward_hooks_with_kwargs",) * with_kwargs + (
            "_forward_hooks_always_called",
        ) * always_call
        return self._hang("_forward_hooks", hook, flags, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call hook(module, grad_output) in backward when the gradients of the outputs are there; it may replace them."""
        return self._hang("_backward_pre_hooks", hook, (), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) in backward; what it returns replaces grad_input."""
        return self._hang("_backward_hooks", hook, (), prepend)

    register_backward_hook = register_full_backward_hook

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, prefix, keep_vars) before `state_dict` collects this module."""
        return self._hang("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) after `state_dict` collected this module."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return self._hang("_state_dict_hooks", hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return self._hang("_state_dict_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)."""
        return self._hang("_load_state_dict_pre_hooks", lambda *args: hook(self, *args))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, incompatible_keys) after loading; it may change the lists of names."""
        return self._hang("_load_state_dict_post_hooks", hook)

    # ---------------------------------------------------------------------------------------- text
    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands in the parentheses of the module's text."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        head = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(child))}" for name, child in self._modules.items()]
        if not children and len(head) <= 1:
            return f"{self._get_name()}({''.join(head)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(head + children) + "\n)"
