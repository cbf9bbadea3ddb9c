"""torch.nn.parameter: what modules hold. A Parameter is trained, a Buffer is kept; lazy ones wait for their shape."""

from typing import Any

from ..core import modes
from ..core.graph import new
from ..core.tensor import Parameter as Parameter
from ..core.tensor import Tensor, share, version_of

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]


class Buffer(Tensor):
    """A tensor that a module keeps and does not train; assigning one to a module registers it.

    persistent: is it part of the state_dict?

    >>> import autodiff_kernel as torch
    >>> m = torch.nn.Module()
    >>> m.mean = torch.nn.Buffer(torch.zeros(2))
    >>> [name for name, _ in m.named_buffers()]
    ['mean']
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        from ..core.api import FUNCTIONS

        data = FUNCTIONS["empty"](0) if data is None else data
        t: Any = new(cls)
        t.raw, t.version, t.node, t.family, t._grad = share(data), version_of(data), None, None, None
        t.persistent = persistent
        return t.requires_grad_(data.requires_grad)


class _Waiting:
    """A tensor whose shape is not known yet."""

    is_lazy = True

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Take a shape; the values are not set."""
        from ..core.api import FUNCTIONS

        with modes.no_grad():
            made = FUNCTIONS["empty"](tuple(shape), dtype=dtype or self.dtype, device=device or self.device)
            self.data = made
        self.__class__ = type(self)._then

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
            "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
            "parameters before accessing their attributes."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Waiting, Parameter):
    """A parameter that takes its shape from the first input (`LazyLinear`)."""

    _then: Any = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        from ..core.api import FUNCTIONS

        data = FUNCTIONS["empty"](0, dtype=dtype, device=device)
        return Parameter.__new__(cls, data, requires_grad)


class UninitializedBuffer(_Waiting, Tensor):
    """A buffer that takes its shape from the first input."""

    _then: Any = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        from ..core.api import FUNCTIONS

        t: Any = new(cls)
        data = FUNCTIONS["empty"](0, dtype=dtype, device=device)
        t.raw, t.version, t.node, t.family, t._grad = data.raw, None, None, None, None
        return t


def is_lazy(t: Any) -> bool:
    """Does this parameter still wait for its shape?"""
    return isinstance(t, _Waiting)
