"""torch.utils: tools around tensors and modules."""

from . import checkpoint as checkpoint
from . import hooks as hooks

__all__ = ["checkpoint", "hooks"]
