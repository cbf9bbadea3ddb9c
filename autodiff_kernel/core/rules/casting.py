"""Other dtypes, other devices, copies: the value stays, its form changes."""

from typing import Any

import numpy as np

from .. import device as devices
from .. import dtype as dtypes
from .. import formats
from ..api import attach, public
from ..op import TABLE, Op
from ..tensor import Tensor, type_name


def _cast_back(g: Any, n: Any) -> Any:
    return recast(g, n.p[1]) if n.p.__class__ is tuple else g


def recast(x: Any, to: Any) -> Any:
    """x (raw, Tensor or dual number) in a NumPy dtype; its gradient goes back to the dtype that it has."""
    return cast(x, p=(to, (x.raw if isinstance(x, Tensor) else x).dtype))


# p is the NumPy dtype to cast to, or (to, from) where the operation is recorded
cast = Op(
    "cast", lambda a, p: a.astype(p[0] if p.__class__ is tuple else p), a=_cast_back, mode="linear", params=True,
    node="ToCopyBackward0", symbol="dtype", partials=("1",), latex="{a}", batch="elementwise",
    doc="The same values in another dtype.",
)  # fmt: skip
# p is (to, from): devices
move: Op = Op(
    "move", lambda a, p: devices.copy_to(a, p[0]), a=lambda g, n: move(g, p=(n.p[1], n.p[0])), mode="linear",
    params=True, node="ToCopyBackward0", symbol="→ device", partials=("1",), latex="{a}",
    batch="elementwise", doc="The same values on another device.",
)  # fmt: skip
clone_row = Op("clone", lambda a: formats.preserved(a) if hasattr(a, "base") else a, a=lambda g, n: g, mode="linear",
               symbol="copy", partials=("1",), latex="{a}", batch="elementwise",
               doc="A copy with memory of its own.")  # fmt: skip


@public()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy with memory of its own; gradients flow through it.

    Its dimensions lie in memory in the order of the input's, unless a `memory_format` is asked for.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([1., 2.]).clone()
    tensor([1., 2.])
    """
    if memory_format is None or memory_format is formats.preserve_format:
        return clone_row(input)
    return TABLE["contiguous"](input, p=memory_format)


def to_dtype(x: Tensor, dtype: dtypes.dtype, copy: bool = False) -> Tensor:
    """x in another dtype; x itself if it has that dtype already and no copy is asked for."""
    now = x.raw.dtype
    if now == dtype.np:
        return clone(x) if copy else x
    return cast(x, p=(dtype.np, now))


def to_device(x: Tensor, where: Any, copy: bool = False) -> Tensor:
    """x on another device; x itself if it is there already and no copy is asked for."""
    target, now = devices.parse(where), x.device
    if target == now:
        return clone(x) if copy else x
    return move(x, p=(target, now))


def in_format(x: Tensor, format: Any) -> Tensor:
    """x with its elements in memory in the order of a memory format; x itself if they lie so already."""
    if format is None or format is formats.preserve_format or formats.lies_in(x.raw, format):
        return x
    if format is formats.contiguous_format and not any(
        formats.lies_in(x.raw, other) for other in (formats.channels_last, formats.channels_last_3d)
    ):
        return x  # PyTorch takes every other order for a contiguous tensor's view
    return TABLE["contiguous"](x, p=format)  # type: ignore[no-any-return]


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype and/or on another device: to(dtype), to(device), to(device, dtype), to(other).

    Returns the tensor itself if nothing changes and `copy` is not asked for.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([1, 2]).to(torch.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    dtype, where, copy = (
        kwargs.pop("dtype", None),
        kwargs.pop("device", None),
        bool(kwargs.pop("copy", False)),
    )
    kwargs.pop("non_blocking", None)
    format = kwargs.pop("memory_format", None)
    other = kwargs.pop("other", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    seen_dtype = False
    for arg in args:
        if isinstance(arg, dtypes.dtype):
            dtype, seen_dtype = arg, True
        elif isinstance(arg, Tensor):
            other = arg
        elif isinstance(arg, bool):
            copy = copy or (arg and seen_dtype and arg is args[-1] and len(args) > 2)
        elif isinstance(arg, (str, int, devices.device)):
            where = arg
        elif arg is not None:
            raise TypeError(
                f"to() received an invalid combination of arguments - got ({type(arg).__name__}), but expected a dtype, a "
                "device, or a tensor"
            )
    if other is not None:
        dtype, where = other.dtype, other.device
    out = self
    if where is not None:
        out = to_device(out, where)
    if dtype is not None:
        out = to_dtype(out, dtype)
    out = in_format(out, format)
    return clone(out) if copy and out is self else out


attach("to", to)


def _named_cast(name: str, dtype: dtypes.dtype) -> None:
    def method(self: Tensor, *, memory_format: Any = None) -> Tensor:
        return in_format(to_dtype(self, dtype), memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor as {dtype}; the tensor itself if it is that already."
    attach(name, method)


for _name, _dtype in {
    "bool": dtypes.bool, "byte": dtypes.uint8, "char": dtypes.int8, "short": dtypes.int16, "int": dtypes.int32,
    "long": dtypes.int64, "half": dtypes.float16, "float": dtypes.float32, "double": dtypes.float64,
    "bfloat16": dtypes.bfloat16,
    "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    _named_cast(_name, _dtype)


@public(function=False)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of `other`."""
    return to(self, other)


@public(function=False)
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor on the CPU; the tensor itself if it is there."""
    return in_format(to_device(self, "cpu"), memory_format)


@public(function=False)
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, **old: Any) -> Tensor:
    """A copy of the tensor on a GPU (the current one by default); the tensor itself if it is there.

    `non_blocking` (once called `async`) has no effect unless the memory is pinned, and raises no error.
    """
    old.pop("async", None)
    format = old.pop("memory_format", None)
    if old:
        raise TypeError(f"cuda() got an unexpected keyword argument '{next(iter(old))}'")
    where = (
        "cuda" if device is None else devices.device("cuda", device) if isinstance(device, int) else device
    )
    return in_format(to_device(self, where), format)


@public("type", function=False)
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The old name of the tensor's type, such as 'torch.FloatTensor'; or the tensor cast to a type or dtype."""
    if dtype is None:
        return type_name(self.raw)
    if isinstance(dtype, dtypes.dtype):
        return to_dtype(self, dtype)
    if not isinstance(dtype, (str, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", str(dtype))
    from ..create import TYPES

    short = name.split(".")[-1]
    if short not in TYPES:
        raise ValueError(f"invalid type: '{name}'")
    return to(self, TYPES[short], device="cuda" if ".cuda." in name else "cpu")


_ = (np, TABLE)
