"""Functions that users hang on tensors and nodes, and the handles that take them off again."""

from typing import Any


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


def add_hook(hooks: list[Any], hook: Any) -> RemovableHandle:
    if not callable(hook):
        raise TypeError(f"a hook must be callable, but got {type(hook).__name__}")

    def call(*args: Any) -> Any:  # an object of its own: the same function may be registered twice
        return hook(*args)

    hooks.append(call)
    return RemovableHandle(hooks, call)
