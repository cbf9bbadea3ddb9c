"""What Module checks: names, assignments that come too early, the arguments of `to`; and its texts."""

from collections import OrderedDict
from typing import Any

from ...core.device import device as device_type
from ...core.dtype import dtype as dtype_type
from ...core.errors import explain
from ...core.tensor import Tensor

# name of the attribute: what a new module has there
SHELVES = {
    "_parameters": dict, "_buffers": dict, "_non_persistent_buffers_set": set, "_backward_pre_hooks": OrderedDict,
    "_backward_hooks": OrderedDict, "_forward_hooks": OrderedDict, "_forward_hooks_with_kwargs": OrderedDict,
    "_forward_hooks_always_called": OrderedDict, "_forward_pre_hooks": OrderedDict,
    "_forward_pre_hooks_with_kwargs": OrderedDict, "_state_dict_hooks": OrderedDict,
    "_state_dict_pre_hooks": OrderedDict, "_load_state_dict_pre_hooks": OrderedDict,
    "_load_state_dict_post_hooks": OrderedDict, "_modules": dict,
}  # fmt: skip


def indented(text: str) -> str:
    """A text of several lines, all but the first moved by two columns."""
    return text.replace("\n", "\n  ")


def type_text(x: Any) -> str:
    """The type's full name as PyTorch's errors write it."""
    kind = type(x)
    return (
        kind.__name__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__name__}".replace("autodiff_kernel.core.tensor.", "torch.")
    )


def too_early(module: Any, what: str, name: str) -> AttributeError:
    """For an assignment before `super().__init__()`."""
    kind = type(module).__name__
    return explain(
        AttributeError,
        f"cannot assign {what} before Module.__init__() call",
        f"`self.{name} = …` in {kind} comes before Module.__init__() has run, so there is nowhere to keep it.",
        f"make `super().__init__()` the first line of {kind}.__init__.",
        topic="module without init",
    )


def check_name(module: Any, what: str, name: Any, shelf: str) -> None:
    """PyTorch's errors for a name that cannot be one."""
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {type_text(name)}")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."{", got: " + name if what == "module" else ""}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if hasattr(module, name) and name not in module.__dict__[shelf]:
        raise KeyError(f"attribute '{name}' already exists")


def destination(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(device, dtype) that `module.to(…)` names, None for what it leaves as it is."""
    place, kind = kwargs.get("device"), kwargs.get("dtype")
    for arg in args:
        if isinstance(arg, dtype_type):
            kind = arg
        elif isinstance(arg, Tensor):
            place, kind = arg.device, arg.dtype
        elif isinstance(arg, (str, int, device_type)) and not isinstance(arg, bool):
            place = arg
    if isinstance(kwargs.get("tensor"), Tensor):
        place, kind = kwargs["tensor"].device, kwargs["tensor"].dtype
    return place, kind
