"""Questions about tensors and dtypes: is_tensor, is_floating_point, numel, result_type; and the default tensor type."""

import warnings
from typing import Any

from . import device as devices
from . import dtype as dtypes
from .api import check_tensor, public
from .create import export
from .meeting import common_dtype
from .tensor import Tensor
from .typed import TYPES, TypedMeta


@export
def is_tensor(obj: Any) -> bool:
    """Whether the object is a Tensor.

    >>> import autodiff_kernel as torch
    >>> torch.is_tensor(torch.ones(1)), torch.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


@public(method=False)
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one.

    >>> import autodiff_kernel as torch
    >>> torch.is_floating_point(torch.ones(1))
    True
    """
    check_tensor("is_floating_point", input)
    return input.dtype.is_floating_point


@public(method=False)
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one.

    >>> import autodiff_kernel as torch
    >>> torch.is_complex(torch.ones(1))
    False
    """
    check_tensor("is_complex", input)
    return input.dtype.is_complex


@public(method=False)
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers.

    >>> import autodiff_kernel as torch
    >>> torch.is_signed(torch.ones(1, dtype=torch.uint8))
    False
    """
    check_tensor("is_signed", input)
    return input.dtype.is_signed


@public(method=False)
def numel(input: Tensor) -> int:
    """The number of elements.

    >>> import autodiff_kernel as torch
    >>> torch.numel(torch.ones(2, 3))
    6
    """
    check_tensor("numel", input)
    return input.numel()


@public()
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0; RuntimeError if there is another number of elements than one.

    >>> import autodiff_kernel as torch
    >>> torch.is_nonzero(torch.tensor([0.]))
    False
    """
    check_tensor("is_nonzero", input)
    return bool(input)


@public()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    >>> import autodiff_kernel as torch
    >>> torch.is_same_size(torch.ones(2), torch.zeros(2))
    True
    """
    check_tensor("is_same_size", input)
    check_tensor("is_same_size", other, "other", 2)
    return bool(input.raw.shape == other.raw.shape)


@export
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype that an operation on two tensors (or numbers) has.

    >>> import autodiff_kernel as torch
    >>> torch.result_type(torch.ones(2, dtype=torch.int32), 1.5)
    torch.float32
    """
    return common_dtype([x.raw if isinstance(x, Tensor) else x for x in (tensor1, tensor2)])


@export
def set_default_tensor_type(t: Any) -> None:
    """Make a type such as torch.DoubleTensor (or its name) the one of new floating point tensors.

    Deprecated: `set_default_dtype` and `set_default_device` say the same.

    >>> import autodiff_kernel as torch
    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    if isinstance(t, TypedMeta):
        dtype, home = t.dtype, t.home
    else:
        name = str(t)
        short, home = name.split(".")[-1], "cuda" if ".cuda." in name else "cpu"
        if short not in TYPES or not name.startswith("torch."):
            raise TypeError(f"invalid type object: {t!r} is no tensor type such as 'torch.DoubleTensor'")
        dtype = TYPES[short]
    if not dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {dtype}")
    dtypes.set_default_dtype(dtype)
    devices.set_default_device(None if home == "cpu" else home)
