"""Saving a module's state in a dictionary, and loading it: names, checks, and the report of what does not fit."""

from collections import OrderedDict, namedtuple
from typing import Any

from ...core import modes
from ...core.errors import explain
from ...core.tensor import Parameter, Tensor

EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns: the names that it missed, and those that it had no use for."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def has_extra(module: Any, base: type) -> bool:
    return getattr(type(module), "get_extra_state", None) is not getattr(base, "get_extra_state", None)


def collect(module: Any, base: type, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """`state_dict` of a module and of those below it."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in list(module._state_dict_pre_hooks.values()):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in list(module._state_dict_hooks.values()):
        answer = hook(module, destination, prefix, metadata)
        if getattr(hook, "_from_public_api", False):
            if answer is not None:
                raise RuntimeError("state_dict post-hook must return None")
        elif answer is not None:
            destination = answer
    return destination


def save_own(module: Any, base: type, destination: Any, prefix: str, keep_vars: bool) -> None:
    for name, value in module._parameters.items():
        if value is not None:
            destination[prefix + name] = value if keep_vars else value.detach()
    for name, value in module._buffers.items():
        if value is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = value if keep_vars else value.detach()
    if has_extra(module, base):
        destination[prefix + EXTRA] = module.get_extra_state()


def load(module: Any, state_dict: Any, strict: bool, assign: bool) -> Any:
    """`load_state_dict`."""
    try:
        items = OrderedDict(state_dict)
    except (TypeError, ValueError):
        raise explain(
            TypeError,
            f"Expected state_dict to be dict-like, got {type(state_dict)}.",
            cure="pass what state_dict() gave, or torch.load(file).",
        ) from None
    metadata = getattr(state_dict, "_metadata", None)
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []

    def into(m: Any, part: Any, prefix: str) -> None:
        local = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local["assign_to_params_buffers"] = assign
        m._load_from_state_dict(part, prefix, local, True, missing, unexpected, errors)
        for name, child in m._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                into(child, {k: v for k, v in part.items() if k.startswith(below)}, below)
        report = IncompatibleKeys(missing, unexpected)
        for hook in list(m._load_state_dict_post_hooks.values()):
            assert hook(m, report) is None, (
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                "incompatible_keys need to be modified, it should be done inplace."
            )

    into(module, items, "")
    if strict:
        for what, names in (("Unexpected", unexpected), ("Missing", missing)):
            if names:
                quoted = ", ".join(f'"{name}"' for name in names)
                errors.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if errors:
        kind = type(module).__name__
        raise explain(
            RuntimeError,
            "Error(s) in loading state_dict for {}:\n\t{}".format(kind, "\n\t".join(errors)),
            cure=_cure(missing if strict else [], unexpected if strict else [], list(items)),
            topic="state dict",
            missing=tuple(missing),
            unexpected=tuple(unexpected),
        )
    return IncompatibleKeys(missing, unexpected)


def _cure(missing: list[str], unexpected: list[str], given: list[str]) -> str:
    """What helps: names that differ by a prefix are the most frequent case."""
    for name in unexpected:
        for other in missing:
            if name.endswith("." + other):
                prefix = name[: -len(other)]
                return (
                    f"the saved names start with {prefix!r}: take it off, "
                    f"{{k.removeprefix({prefix!r}): v for k, v in state.items()}}."
                )
            if other.endswith("." + name):
                prefix = other[: -len(name)]
                return (
                    f"the model's names start with {prefix!r}: put it before the saved ones, or load "
                    "into that part of the model."
                )
    if missing or unexpected:
        return (
            "build the model as it was when it was saved; strict=False loads the names that both "
            "have and leaves the others."
        )
    return "build the model with the sizes that it had when it was saved."


def load_own(
    module: Any,
    base: type,
    state: Any,
    prefix: str,
    metadata: Any,
    strict: bool,
    missing: Any,
    unexpected: Any,
    errors: Any,
) -> None:
    """`_load_from_state_dict`: the module's own parameters and buffers."""
    for hook in list(module._load_state_dict_pre_hooks.values()):
        hook(state, prefix, metadata, strict, missing, unexpected, errors)
    kept = {k: v for k, v in module._buffers.items() if k not in module._non_persistent_buffers_set}
    own = {k: v for k, v in [*module._parameters.items(), *kept.items()] if v is not None}
    assign = metadata.get("assign_to_params_buffers", False)
    for name, value in own.items():
        key = prefix + name
        if key not in state:
            if strict:
                missing.append(key)
            continue
        given = state[key]
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(given)}"
            )
            continue
        lazy = getattr(value, "is_lazy", False)
        if not lazy and not value.dim() and given.dim() == 1 and len(given) == 1:
            given = given[0]  # so were 0-d tensors saved by PyTorch 0.3
        if not lazy and given.shape != value.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current "
                f"model is {value.shape}."
            )
            continue
        with modes.no_grad():
            if assign:
                is_parameter = isinstance(value, Parameter)
                if is_parameter and not isinstance(given, Parameter):
                    given = Parameter(given, requires_grad=value.requires_grad)
                setattr(module, name, given)
            elif lazy:
                value.materialize(given.shape, dtype=given.dtype)
                value.copy_(given)
            else:
                value.copy_(given)
    extra = prefix + EXTRA
    if has_extra(module, base):
        if extra in state:
            module.set_extra_state(state[extra])
        elif strict:
            missing.append(extra)
    elif strict and extra in state:
        unexpected.append(extra)
    if strict:
        for key in state:
            if key.startswith(prefix) and key != extra:
                first, *rest = key[len(prefix) :].split(".", 1)
                if (rest and first not in module._modules) or (not rest and first not in own):
                    unexpected.append(key)
