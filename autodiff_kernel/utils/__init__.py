"""torch.utils: tools around tensors and modules."""

from . import checkpoint as checkpoint

__all__ = ["checkpoint"]
