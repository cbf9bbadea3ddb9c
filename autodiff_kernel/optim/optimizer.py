"""torch.optim.Optimizer: the parameters in groups, the state of each, and what all optimizers have in common.

A group is a dict: its parameters under "params", and the settings that hold for them.  `state[p]` is a dict with what
the optimizer remembers of parameter p from one step to the next.
"""

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..core import modes
from ..core.errors import explain
from ..core.hooks import RemovableHandle
from ..core.tensor import Tensor, type_name

_before_all: "OrderedDict[int, Any]" = OrderedDict()  # hooks of every optimizer's step
_after_all: "OrderedDict[int, Any]" = OrderedDict()


class _RequiredParameter:
    """Stands for a setting without a default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()
_KINDS = (
    "step_pre",
    "step_post",
    "state_dict_pre",
    "state_dict_post",
    "load_state_dict_pre",
    "load_state_dict_post",
)


def _registered(hooks: "OrderedDict[int, Any]", hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return _registered(_before_all, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return _registered(_after_all, hook)


def _with_hooks(step: Any) -> Any:
    """A step that runs the hooks around itself."""

    @functools.wraps(step)
    def stepped(self: "Optimizer", *args: Any, **kwargs: Any) -> Any:
        if modes.is_stepping():  # torch.compile records the step as one line
            return modes.watchers["called"](run, self, args, kwargs)
        return run(self, *args, **kwargs)

    def run(self: "Optimizer", *args: Any, **kwargs: Any) -> Any:
        if not (self._hooks["step_pre"] or self._hooks["step_post"] or _before_all or _after_all):
            return step(self, *args, **kwargs)
        given: Any = ((self, *args), kwargs)
        for hook in (*_before_all.values(), *self._hooks["step_pre"].values()):
            changed = hook(self, *given)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                given = changed
        out = step(*given[0], **given[1])
        for hook in (*self._hooks["step_post"].values(), *_after_all.values()):
            hook(self, *given)
        return out

    stepped.hooked = True  # type: ignore[attr-defined]
    return stepped


class Optimizer:
    """What all optimizers are made from; an optimizer of your own gives it defaults and writes `step`.

    params: an iterable of tensors, of (name, tensor) pairs, or of dicts with "params" and settings of their own.
    defaults: the settings for groups that don't bring theirs.

    Raises TypeError for a tensor in the place of an iterable and for what is no tensor, ValueError for an empty list,
    for results of operations (they are no leaves) and for a parameter in two groups.

    >>> import autodiff_kernel as torch
    >>> class Descent(torch.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @torch.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> (x ** 2).sum().backward()
    >>> Descent([x], lr=0.1).step()
    >>> x
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    _hooks: dict[str, "OrderedDict[int, Any]"]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._prepare()
        if isinstance(params, Tensor):
            raise explain(
                TypeError,
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + type_name(params.raw),
                cure="put the tensor into a list: [x].",
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise explain(
                ValueError,
                "optimizer got an empty parameter list",
                "There is nothing to train: the model has no parameters, or the iterator that was given is used up.",
                "give model.parameters() anew (a generator can be read once), and check that the layers are attributes of "
                "the module: layers in a plain list belong into a ModuleList.",
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """The places for hooks, and `step` with hooks around it."""
        if "_hooks" not in self.__dict__:
            self._hooks = {kind: OrderedDict() for kind in _KINDS}
        kind = type(self)
        if not getattr(kind.step, "hooked", None):
            kind.step = _with_hooks(kind.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ---- groups
    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters from now on: a dict with "params", and settings that differ from the defaults.

        Raises as the constructor does; TypeError too for what is no dict.

        >>> import autodiff_kernel as torch
        >>> w, b = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
        >>> opt = torch.optim.SGD([w], lr=0.1)
        >>> opt.add_param_group({"params": [b], "lr": 0.01})
        >>> [group["lr"] for group in opt.param_groups]
        [0.1, 0.01]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise explain(
                TypeError,
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead.",
            )
        param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
        _take_names(param_group)
        for p in param_group["params"]:
            self._check_parameter(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    def _check_parameter(self, p: Any) -> None:
        if not isinstance(p, Tensor):
            name = (
                type(p).__name__
                if type(p).__module__ == "builtins"
                else f"{type(p).__module__}.{type(p).__name__}"
            )
            raise explain(
                TypeError,
                f"optimizer can only optimize Tensors, but one of the params is {name}",
                cure="give tensors with requires_grad=True, for example model.parameters().",
            )
        if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
            raise explain(
                ValueError,
                "can't optimize a non-leaf Tensor",
                f"The tensor is a result of {p.node.op.name if p.node is not None else 'an operation'}: backward leaves no "
                "gradient there, and a step would not change what it was computed from.",
                "give the leaves from which it was computed, or make it one: x = x.detach().requires_grad_().",
                tensor=p,
            )

    def _check_group(self, group: dict[str, Any]) -> None:
        params = group["params"]
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        taken: set[Any] = set()
        for other in self.param_groups:
            taken.update(other["params"])
            if ("param_names" in group) != ("param_names" in other):
                how = "with names" if "param_names" in group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {how} to the optimizer"
                )
        if not taken.isdisjoint(params):
            raise explain(
                ValueError,
                "some parameters appear in more than one parameter group",
                "They would be changed twice by one step.",
                "give each parameter in one group only.",
            )

    # ---- gradients and steps
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: each `p.grad` becomes None, or is filled with zeros (set_to_none=False)."""
        for group in self.param_groups:
            for p in group["params"]:
                g = p._grad_or_none()
                if g is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    if g.grad_fn is not None:
                        g.detach_()
                    else:
                        g.requires_grad_(False)
                    g.zero_()

    def step(self, closure: Any = None) -> Any:
        """Change the parameters by their gradients; each optimizer has its own way.

        closure: computes the loss anew, with gradients, and returns it; needed by those that do so several times.
        """
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return new (args, kwargs)."""
        return _registered(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _registered(self._hooks["step_post"], hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` is made."""
        return _registered(self._hooks["state_dict_pre"], hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict` is made; it may return another one."""
        return _registered(self._hooks["state_dict_post"], hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before a state is loaded; it may return another one."""
        return _registered(self._hooks["load_state_dict_pre"], hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` after a state was loaded."""
        return _registered(self._hooks["load_state_dict_post"], hook, prepend)

    # ---- saving
    def state_dict(self) -> dict[str, Any]:
        """The state and the settings, with the numbers of the parameters in the place of the parameters.

        >>> import autodiff_kernel as torch
        >>> x = torch.ones(1, requires_grad=True)
        >>> torch.optim.SGD([x], lr=0.1).state_dict()["param_groups"][0]["params"]
        [0]
        """
        for hook in self._hooks["state_dict_pre"].values():
            hook(self)
        numbers: dict[int, int] = {}
        groups, first = [], 0
        for group in self.param_groups:
            params = group["params"]
            for i, p in enumerate(params, first):
                numbers.setdefault(id(p), i)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in params]
            groups.append(packed)
            first += len(params)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        out = {"state": state, "param_groups": groups}
        for hook in self._hooks["state_dict_post"].values():
            out = hook(self, out) or out
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue with a state and settings that `state_dict` gave; the parameters are taken in their order.

        Raises ValueError unless the groups are as many and as long.
        """
        state_dict = state_dict.copy()
        for hook in self._hooks["load_state_dict_pre"].values():
            state_dict = hook(self, state_dict) or state_dict
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise explain(
                ValueError,
                "loaded state dict has a different number of parameter groups",
                f"This optimizer has {len(groups)}, the state {len(saved)}.",
                "make the optimizer with the groups that it had when its state was saved.",
            )
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise explain(
                ValueError,
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
                f"Parameters here: {[len(g['params']) for g in groups]}, in the state: {[len(s['params']) for s in saved]}.",
                "make the optimizer with the parameters that it had when its state was saved.",
            )
        places = dict(
            zip(
                chain.from_iterable(s["params"] for s in saved),
                chain.from_iterable(g["params"] for g in groups),
            )
        )
        state: defaultdict[Any, Any] = defaultdict(dict)
        for k, v in state_dict["state"].items():
            if k in places:
                state[places[k]] = _fitted(places[k], v)
            else:
                state[k] = v
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._hooks["load_state_dict_post"].values():
            hook(self)


def _take_names(group: dict[str, Any]) -> None:
    """Part (name, tensor) pairs into "params" and "param_names"."""
    pairs = [p for p in group["params"] if isinstance(p, tuple)]
    if not pairs:
        return
    if len(pairs) != len(group["params"]):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    group["params"] = [p for _, p in pairs]
    group["param_names"] = [name for name, _ in pairs]


def _fitted(p: Tensor, value: Any, key: Hashable = None) -> Any:
    """A loaded part of p's state: on p's device, and of p's dtype if that is floating; the count of steps stays."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        kind = {"dtype": p.dtype} if p.is_floating_point() else {}
        return value.to(device=p.device, **kind)  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {k: _fitted(p, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_fitted(p, v) for v in value)  # type: ignore[call-arg]
    return value
