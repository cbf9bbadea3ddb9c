"""torch.autograd.forward_ad: forward mode by hand, with dual numbers inside a level.

A dual tensor is a value with a tangent, its rate of change along a direction of your choice.  Operations carry both
forward, so one run of the function gives the Jacobian times that direction, and no graph is recorded for it.
"""

from typing import Any, NamedTuple

from ..core import dual
from ..core.errors import explain
from ..core.modes import _Switch
from ..core.tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_open: list[dual.level] = []  # the level that is open; PyTorch numbers it 0 and has no second one


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: the value, and its tangent or None."""

    primal: Tensor
    tangent: Any


def enter_dual_level() -> int:
    """Open a level of dual tensors; returns its number, 0.

    Raises RuntimeError if one is open already.  `with dual_level():` closes it for sure.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.forward_ad.enter_dual_level()
    0
    >>> torch.autograd.forward_ad.exit_dual_level()
    """
    if _open:
        raise explain(
            RuntimeError,
            "Nested forward mode AD is not supported at the moment",
            "A level of dual tensors is open already.",
            "take the inner derivative with torch.func.jvp, which nests, or leave the outer level first.",
        )
    opened = dual.level()
    opened.__enter__()
    _open.append(opened)
    return len(_open) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: dual tensors made in it are plain from now on, their tangents are gone.

    >>> import autodiff_kernel as torch
    >>> level = torch.autograd.forward_ad.enter_dual_level()
    >>> torch.autograd.forward_ad.exit_dual_level(level=level)
    """
    if level is None:
        level = len(_open) - 1
    if level != len(_open) - 1:
        raise explain(
            RuntimeError,
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported.",
            f"Level {level} is not the one that is open.",
        )
    if not _open:
        raise explain(
            RuntimeError,
            "Dual level must be a positive number.",
            "There is no level to leave: none is open.",
            "call enter_dual_level() first, or write `with dual_level():`.",
        )
    _open.pop().__exit__()


class dual_level(_Switch):
    """`with dual_level():` is where dual tensors live; also a decorator.

    >>> import autodiff_kernel as torch
    >>> import autodiff_kernel.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    ...     fwAD.unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor([1., 4.]), tangent=tensor([2., 0.]))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Tensor:
    """The tensor as a dual one: the same memory, with a tangent of the tensor's shape.

    Operations on the result carry the tangent along.  In-place operations on it change the memory of both.

    Raises RuntimeError outside a level, for a tangent of another shape, and for a tensor that has a tangent already;
    ValueError for integers and truth values, which cannot change by a little.

    >>> import autodiff_kernel as torch
    >>> import autodiff_kernel.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor(3.), torch.tensor(1.))
    ...     fwAD.unpack_dual(x ** 2).tangent
    tensor(6.)
    """
    if level is None:
        level = len(_open) - 1
    if level < 0:
        raise explain(
            RuntimeError,
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
            "A tangent belongs to a level, which says when its derivative is complete.",
            "write `with torch.autograd.forward_ad.dual_level():` around the computation.",
        )
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, Tensor):
            raise explain(
                AttributeError,
                f"{type(x).__name__!r} object has no attribute 'is_floating_point'",
                f"The {what} must be a Tensor.",
                "write torch.tensor(…) around it.",
            )
        if not (x.is_floating_point() or x.is_complex()):
            raise explain(
                ValueError,
                f"Expected {what} to be floating point or complex, but got: {x.dtype}",
                "Whole numbers and truth values cannot change by a little.",
                "convert first, for example with .float().",
                tensor=x,
            )
    if level >= len(_open):
        raise explain(RuntimeError, "Invalid level given to _make_dual", f"No level {level} is open.")
    k = _open[level].k
    if dual.split(tensor, k)[1] is not None:
        raise explain(
            RuntimeError,
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{level} is not supported.",
            cure="take the value alone: unpack_dual(x).primal.",
            tensor=tensor,
        )
    if dual.split(tangent, k)[1] is not None:
        raise explain(
            RuntimeError,
            f"Setting a forward grad that itself has a forward gradient at the same level{level} is not supported.",
            "A tangent that changes along the same direction would be a second derivative.",
            "take the tangent's value alone, unpack_dual(t).primal, or nest torch.func.jvp for second derivatives.",
            tensor=tangent,
        )
    if tensor.raw.shape != tangent.raw.shape:
        raise explain(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.raw.shape)} while the given forward gradient is of size "
            f"{list(tangent.raw.shape)}.",
            "The tangent says how fast each element changes: one number for each.",
            "give it the tensor's shape, for example torch.ones_like(x).",
            tensor=tensor,
        )
    primal: Any = tensor.view_as(tensor)
    if tangent.raw.shape and tangent.raw.strides != primal.raw.strides:
        tangent = dual.laid_out(tangent, primal.raw.strides)
    return dual.make(primal, tangent, k)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a dual tensor; the tangent is None where nothing moves.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.forward_ad.unpack_dual(torch.tensor(1.))
    UnpackedDualTensor(primal=tensor(1.), tangent=None)
    """
    if level is None:
        level = len(_open) - 1
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    if level >= len(_open):
        raise explain(RuntimeError, "Invalid level given to _fw_primal", f"No level {level} is open.")
    primal, rate = dual.split(tensor, _open[level].k)
    return UnpackedDualTensor(
        primal.view_as(primal) if rate is None else primal, rate
    )  # always another tensor


class _set_fwd_grad_enabled(_Switch):
    """Switch forward mode on or off on this thread: at once, and back at the end of a `with` block."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before = dual.is_stopped()
        dual.stop(not mode)

    def _again(self) -> "_set_fwd_grad_enabled":
        return _set_fwd_grad_enabled(self._mode)

    def __enter__(self) -> None:
        dual.stop(not self._mode)

    def __exit__(self, *_: Any) -> None:
        dual.stop(self._before)


def _is_fwd_grad_enabled() -> bool:
    return not dual.is_stopped()
