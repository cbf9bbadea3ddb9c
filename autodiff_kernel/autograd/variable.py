"""Variable, the tensor of 2017 that could have a gradient: today every tensor can."""

from typing import Any

from ..core.sharing import share, version_of
from ..core.tensor import Tensor, wrap
from ..dialect import speaks_2017


class _VariableType(type):
    """Every tensor is a Variable; in the dialect of 2017 only those that were made one, and their results."""

    def __instancecheck__(cls, x: Any) -> bool:
        if speaks_2017():
            from ..core.year2017.variables import is_variable

            return isinstance(x, Tensor) and is_variable(x)
        return isinstance(x, Tensor)


class Variable(metaclass=_VariableType):
    """`Variable(t, requires_grad=True)` returns a tensor that shares t's memory.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        t = wrap(share(data), None, version_of(data))
        t._grad = None
        if speaks_2017():
            from ..core.year2017.variables import mark

            mark(t, volatile)
        return t.requires_grad_(requires_grad)
