"""Variables of 2017: the tensors that take part in differentiation, beside plain tensors that do not."""

from typing import Any

from ..tensor import Tensor

_grad: Any = vars(Tensor)["grad"]


def is_variable(t: Tensor) -> bool:
    return t.node is not None or "variable" in t.__dict__


def is_volatile(t: Tensor) -> bool:
    return bool(t.__dict__.get("volatile"))


def mark(t: Tensor, volatile: bool = False) -> Tensor:
    """t is a Variable; a volatile one records nothing, and neither does what is computed from it."""
    t.__dict__["variable"] = True
    if volatile:
        t.__dict__["volatile"] = True
    return t


def _get_grad(self: Tensor) -> Any:
    """A Variable's gradient is a Variable."""
    g = self._grad_or_none()
    return None if g is None else mark(g)


MEMBERS = {"grad": property(_get_grad, _grad.fset, _grad.fdel, _grad.__doc__)}
