"""torch.signal: windows for the analysis of signals."""

from . import windows as windows

__all__ = ["windows"]
