"""Modules as functions of their parameters: functional_call, and stack_module_state for ensembles.

A module is anything that can be called and has `named_parameters()`; `named_buffers()` is optional.  Names with dots
lead through submodules.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.api import FUNCTIONS
from ..core.tensor import Tensor


def named(module: Any) -> dict[str, Any]:
    """All parameters and buffers by name, one that has several names under each of them."""
    found: dict[str, Any] = {}
    for method in ("named_parameters", "named_buffers"):
        each = getattr(module, method, None)
        if each is None:
            continue
        try:
            pairs = list(each(remove_duplicate=False))
        except TypeError:  # a module of somebody's own, which does not know the word
            pairs = list(each())
        found.update(pairs)
    return found


def merged(dicts: Any) -> dict[str, Any]:
    """Parameters and buffers in one dict; PyTorch's errors for what is none, and for a name that occurs twice."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if twice:
        raise ValueError(
            f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: value for d in dicts for name, value in d.items()}


def with_ties(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """`given`, completed: one tensor of the module that has several names takes one value under all of them."""
    names: dict[int, list[str]] = {}
    for name, t in named(module).items():
        names.setdefault(id(t), []).append(name)
    out = dict(given)
    for tied in names.values():
        values = [given[name] for name in tied if name in given]
        if len(tied) < 2 or not values:
            continue
        if any(v is not values[0] for v in values):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        out.update(dict.fromkeys(tied, values[0]))
    return out


def check_names(module: Any, given: dict[str, Any]) -> None:
    have = named(module)
    unexpected = sorted(name for name in given if name not in have)
    missing = sorted(name for name in have if name not in given)
    lines = []
    if unexpected:
        lines.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing:
        lines.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if lines:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(lines)
        )


# ------------------------------------------------------------------------------------------------ one tensor by name
MISSING: Any = object()


def owner_of(module: Any, name: str) -> tuple[Any, str]:
    """The submodule that holds the tensor `name`, and its name there."""
    *path, last = name.split(".")
    for part in path:
        if not hasattr(module, part):
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
        module = getattr(module, part)
    return module, last


def shelf_of(owner: Any, name: str) -> Any:
    """Where the owner keeps it: PyTorch's modules in dicts of their own, others among their attributes."""
    for shelf in ("_parameters", "_buffers"):
        held = owner.__dict__.get(shelf) if hasattr(owner, "__dict__") else None
        if isinstance(held, dict) and name in held:
            return held
    return None


def swap(module: Any, name: str, value: Any) -> Any:
    """Put a value in the place of the tensor `name`; returns what was there (MISSING: nothing)."""
    owner, last = owner_of(module, name)
    shelf = shelf_of(owner, last)
    if shelf is not None:
        before = shelf[last]
        shelf[last] = value
        return before
    before = getattr(owner, last, MISSING)
    if value is MISSING:
        object.__delattr__(owner, last)
    else:
        object.__setattr__(owner, last, value)
    return before


@contextmanager
def swapped(module: Any, values: dict[str, Any]) -> Iterator[None]:
    """The module with these tensors, for the time of a `with`; what it puts in their place is found in `values`."""
    before: dict[str, Any] = {}
    try:
        for name, value in values.items():
            if not isinstance(value, Tensor) and value is not None:
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            before[name] = swap(module, name, value)
        yield
    finally:
        for name in reversed(before):
            values[name] = swap(module, name, before[name])


# ------------------------------------------------------------------------------------------------ public
def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with other parameters and buffers, by name; the module itself stays as it was.

    parameter_and_buffer_dicts: a dict of tensors, or a tuple of such dicts with distinct names.  Names that are left
    out keep the module's own tensor, unless `strict`.  args: a tuple, or the only argument.  A buffer that the module
    replaces during the call is found replaced in the dict.  tie_weights: a tensor that the module has under several
    names takes one value under all of them; two values are a ValueError.

    >>> import autodiff_kernel as torch
    >>> class Line:
    ...     def __init__(self):
    ...         self.slope = torch.tensor(2.)
    ...     def named_parameters(self):
    ...         return [("slope", self.slope)]
    ...     def __call__(self, x):
    ...         return self.slope * x
    >>> torch.func.functional_call(Line(), {"slope": torch.tensor(10.)}, torch.tensor(3.))
    tensor(30.)
    """
    given = merged(parameter_and_buffer_dicts)
    whole = with_ties(module, given) if tie_weights else dict(given)
    if strict:
        check_names(module, whole)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        with swapped(module, whole):
            return module(*arguments, **(kwargs or {}))
    finally:
        for d in (given,) if isinstance(parameter_and_buffer_dicts, dict) else parameter_and_buffer_dicts:
            if isinstance(d, dict):
                d.update({name: whole[name] for name in d if name in whole})


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(parameters, buffers) of modules of one kind, stacked by name: what vmap maps over to run an ensemble.

    The stacked parameters are leaves of their own.  Raises RuntimeError for no models, for models of several classes or
    modes, and for parameters of different shapes.

    >>> import autodiff_kernel as torch
    >>> class Line:
    ...     training = True
    ...     def __init__(self, slope):
    ...         self.slope = torch.tensor(slope)
    ...     def named_parameters(self):
    ...         return [("slope", self.slope)]
    >>> torch.func.stack_module_state([Line(1.), Line(2.)])
    ({'slope': tensor([1., 2.])}, {})
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(getattr(m, "training", True)) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return tuple(  # type: ignore[return-value]
        {
            name: stacked([states[name] for states in every], name)
            for every in [[dict(getattr(m, method, dict)()) for m in models]]
            for name in every[0]
        }
        for method in ("named_parameters", "named_buffers")
    )


def stacked(tensors: list[Any], name: str) -> Any:
    if len({t.requires_grad for t in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    out = FUNCTIONS["stack"](tensors)
    return out.detach().requires_grad_() if tensors[0].requires_grad else out
