"""Functions that users hang on tensors and nodes, and the handles that take them off again."""

from functools import wraps
from typing import Any

from .errors import explain


class RemovableHandle:
    """What registering a hook returns; `.remove()` takes the hook off (also at the end of a `with` block)."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks, self._hook = hooks, hook

    def remove(self) -> None:
        """Take the hook off; a second call does nothing."""
        self._hooks[:] = [h for h in self._hooks if h is not self._hook]

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def check_answer(hook: Any, seen: Any, answer: Any) -> None:
    """What a hook returns takes the gradient's place, so it must be a tensor of the same shape, dtype and device."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not hasattr(answer, "raw"):
        raise explain(
            TypeError,
            f"expected Variable, but hook returned '{type(answer).__name__}'",
            f"The hook {name!r} must return the new gradient as a Tensor, or None to leave it as it is.",
        )
    for what, of in (("size", "shape"), ("type", "dtype"), ("device", "device")):
        was, got = getattr(seen, of), getattr(answer, of)
        if was != got:
            was, got = (list(was), list(got)) if what == "size" else (was, got)
            raise explain(
                RuntimeError,
                f"hook {name!r} has changed the {what} of value (was {was} got {got})",
                "The rest of the graph goes on with what the hook returns.",
                f"return a tensor of the same {of} as the gradient that the hook was given.",
            )


def add_hook(hooks: list[Any], hook: Any) -> RemovableHandle:
    if not callable(hook):
        raise TypeError(f"a hook must be callable, but got {type(hook).__name__}")

    @wraps(hook, ("__name__", "__qualname__", "__doc__"), ())
    def call(*args: Any) -> Any:  # an object of its own: the same function may be registered twice
        return hook(*args)

    hooks.append(call)
    return RemovableHandle(hooks, call)
