"""torch.utils.hooks: what registering a hook returns, and what pickling does with hooks."""

from ..core.hooks import RemovableHandle as RemovableHandle
from ..core.hooks import unserializable_hook as unserializable_hook
from ..core.hooks import warn_if_has_hooks as warn_if_has_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
