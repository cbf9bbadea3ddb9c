"""torch.nn, as far as it needs no modules: Parameter, and the functions of `nn.functional` that the table has."""

from ..core.tensor import Parameter as Parameter
from . import functional as functional
from . import init as init

__all__ = ["Parameter", "functional", "init"]
