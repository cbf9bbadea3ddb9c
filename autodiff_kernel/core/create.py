"""Tensors from data and from sizes: tensor, as_tensor, from_numpy, zeros, ones, empty, full and their relatives.

Counted sequences (arange, linspace, eye) are in sequences.py, the old typed constructors in typed.py.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from . import formats, modes, storage
from .api import FUNCTIONS, attach, check_tensor, into
from .data import as_dtype, cast, check_array, natural, to_raw
from .dtype import is_floating
from .tensor import Size, Tensor, share, wrap
from .tensor_errors import whole_numbers
from .typed import TYPED as TYPED
from .typed import TYPES as TYPES
from .typed import legacy as legacy
from .typed import typed as typed
from .typed import typed_constructor as typed_constructor

ndarray, generic = np.ndarray, np.generic
FLOATS = {float, np.float64}


def made(raw: Any, requires_grad: bool = False, word: str = "", data: Any = None) -> Tensor:
    """A new leaf.  (The function's name and its data are for the journal.)"""
    t = wrap(raw[()] if raw.__class__ is ndarray and not raw.ndim else raw)
    t._grad = None
    if modes.watch[0] is not None:
        modes.watchers["created"](word, t, data)
    if not requires_grad:
        return t
    if not is_floating(raw.dtype):
        raise whole_numbers(t, "Only Tensors of floating point and complex dtype can require gradients")
    return t.requires_grad_()


def pinned(t: Tensor) -> Tensor:
    """A new tensor in page-locked memory: what `pin_memory=True` asks a constructor for."""
    if not devices.cuda_count():
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
            "this system. torch.cuda.simulate(2) gives two simulated GPUs."
        )
    return t.pin_memory().requires_grad_(t.requires_grad)  # type: ignore[attr-defined, no-any-return]


def beside(x: Tensor, t: Tensor) -> Tensor:
    """The new tensor t, made after x: inside vmap it has a place for each sample if x differs from sample to sample."""
    if not x.is_dual:
        return t
    from .dual import plain
    from .samplewise import for_samples

    return for_samples(t, plain(x))  # where only the tangent differs, a write of it makes the place


def export(f: Any, name: str = "", doc: str = "") -> Any:
    f.__name__ = f.__qualname__ = name or f.__name__
    f.__doc__ = doc or f.__doc__
    FUNCTIONS[f.__name__] = f
    return f


def home_of(device: Any) -> Any:
    return devices.default_device() if device is None else devices.parse(device)


# ------------------------------------------------------------------------------------------------ from data
@export
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor with a copy of the data: numbers, nested sequences of any kind, arrays.

    Python floats give the default dtype (float32), ints int64, bools bool; arrays keep their dtype.  Raises ValueError
    for ragged sequences, TypeError for data that are no numbers, RuntimeError for requires_grad on integers.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    kind = data.__class__
    if dtype is None and device is None and (kind is list or kind is float):
        # numbers as they stand in most code: the same result without looking at every case
        kinds = {kind} if kind is float else set(map(type, data))
        if kinds and kinds <= FLOATS and devices.default_device() is devices.CPU:
            raw = np.array(data, np.float64 if np.float64 in kinds else dtypes.get_default_dtype().np)
            t = wrap(raw if kind is list else raw[()])
            t._grad = None
            if modes.watch[0] is not None:
                modes.watchers["created"]("tensor", t, data)
            if pin_memory:
                t = pinned(t)
            return t.requires_grad_() if requires_grad else t
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    t = made(to_raw(data, as_dtype(dtype, "tensor"), device), requires_grad, "tensor", data)
    return pinned(t) if pin_memory else t


@export
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, sharing memory with a NumPy array or returning a tensor itself where nothing changes.

    >>> import autodiff_kernel as torch
    >>> torch.as_tensor([1., 2.])
    tensor([1., 2.])
    """
    dtype = as_dtype(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)  # type: ignore[attr-defined,no-any-return]
    if (
        isinstance(data, ndarray)
        and (dtype is None or data.dtype == dtype.np)
        and home_of(device) is devices.CPU
    ):
        return from_numpy(data)
    return made(to_raw(data, dtype, device), word="as_tensor", data=data)


@export
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """The object as a tensor: a tensor or a NumPy array shares its memory unless `copy` or a conversion is needed.

    copy: True always copies, False raises ValueError where a copy would be needed.

    >>> import autodiff_kernel as torch
    >>> torch.asarray([1, 2])
    tensor([1, 2])
    """
    dtype = as_dtype(dtype, "asarray")
    if isinstance(obj, (Tensor, ndarray)):
        shared = as_tensor(obj, dtype, device)
        same = shared is obj or isinstance(obj, ndarray) and shared.raw is obj
        if not same and copy is False:
            raise ValueError(
                "can't alias tensor with the dtype or device asked for: a copy is needed, and copy=False"
            )
        out = shared.clone() if copy and same else shared  # type: ignore[attr-defined]
        if isinstance(obj, Tensor) and obj.node is not None and not requires_grad:
            return out.detach() if out is not obj else obj
        return out.requires_grad_() if requires_grad else out
    buffer = None if isinstance(obj, (generic, list, tuple)) else as_buffer(obj)
    if buffer is not None:
        t = frombuffer(buffer, dtype=dtype or dtypes.get_default_dtype()).to(device)  # type: ignore[attr-defined]
        t = t.clone() if copy else t
        return t.requires_grad_() if requires_grad else t  # type: ignore[no-any-return]
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor: a copy is needed, and copy=False")
    return made(to_raw(obj, dtype, device), requires_grad)


def as_buffer(obj: Any) -> memoryview | None:
    """The memory of an object with the buffer protocol (bytearray, memoryview, array.array, mmap …), else None."""
    try:
        return memoryview(obj)
    except TypeError:
        return None


@export
def from_numpy(array: Any) -> Tensor:
    """A tensor that shares memory with a NumPy array: a change of one shows in the other.

    >>> import numpy, autodiff_kernel as torch
    >>> a = numpy.ones(2); b = torch.from_numpy(a); _ = b.sub_(b); a
    array([0., 0.])
    """
    if not isinstance(array, ndarray):
        kind = type(array)
        name = f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
        raise TypeError(f"expected np.ndarray (got {name})")
    check_array(array)
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. "
            "Writing to this "
            "tensor will fail; copy the array first (array.copy()) to protect its data or make it writable.",
            UserWarning,
            stacklevel=2,
        )
    t = wrap(array if array.__class__ is ndarray else array.view(ndarray))
    t._grad = None
    if modes.watch[0] is not None:
        modes.watchers["created"]("from_numpy", t, array)
    return t


@export
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-D tensor that shares the memory of an object with the buffer protocol (bytearray, memoryview, mmap …).

    >>> import autodiff_kernel as torch
    >>> torch.frombuffer(bytearray(b"ab"), dtype=torch.uint8)
    tensor([97, 98], dtype=torch.uint8)
    """
    memory = memoryview(buffer)
    size, length = dtype.itemsize, memory.nbytes
    if not length and count or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
            "bytes) minus 1"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
            "greater than actual "
            f"buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({size})"
        )
    if memory.readonly:
        warnings.warn(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. Writing "
            "to this tensor "
            "will fail; copy the buffer first to protect its data or make it writable.",
            UserWarning,
            stacklevel=2,
        )
    t = wrap(np.frombuffer(memory, dtype.np, count, offset))
    t._grad = None
    if modes.inferring[0]:
        modes.watchers["born"](t)
    return t.requires_grad_() if requires_grad else t


# ------------------------------------------------------------------------------------------------ from sizes
def shape_of(size: Any, name: str) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence, checked."""
    if len(size) == 1 and not isinstance(size[0], (int, np.integer)):
        if isinstance(size[0], Tensor) and not size[0].ndim:
            size = (int(size[0]),)
        elif isinstance(size[0], (tuple, list, Size)):
            size = size[0]
    elif len(size) > 1 and isinstance(size[0], (tuple, list)):
        raise TypeError(f"{name}() takes 1 positional argument but {len(size)} were given")
    out = []
    for i, n in enumerate(size):
        if n.__class__ is int and n >= 0:
            out.append(n)
            continue
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{name}(): argument 'size' (position {i + 1}) must be tuple of ints, not {type(n).__name__}"
            )
        n = int(n)
        if n < 0:
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(map(int, size))}")
        out.append(n)
    return tuple(out)


def np_dtype(dtype: Any, function: str) -> Any:
    """NumPy's dtype for `dtype=`; the default dtype for None."""
    return (dtypes.get_default_dtype() if dtype is None else as_dtype(dtype, function)).np


def _sized(name: str, maker: Callable[..., Any], what: str, example: str) -> None:
    on_cpu = getattr(np, name)

    def function(
        *size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False, pin_memory: bool = False, memory_format: Any = None, **named: Any,
    ) -> Any:  # fmt: skip
        if "size" in named and not size:
            size = (named.pop("size"),)
        if named:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
        if not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        shape, d = shape_of(size, name), np_dtype(dtype, name)
        if (
            device is None and out is None and shape and devices.default_device() is devices.CPU
        ):  # where most tensors are made
            raw = on_cpu(shape, d)
        else:
            raw = maker(
                shape, d, device=out.device if device is None and out is not None else home_of(device)
            )
        if memory_format is not None:
            if name != "empty":
                raise TypeError(f"{name}() got an unexpected keyword argument 'memory_format'")
            if memory_format is formats.preserve_format:
                raise RuntimeError("unsupported memory format Preserve")
            raw = formats.copied(raw, memory_format)
        result = made(raw, requires_grad, name)
        if pin_memory:
            result = pinned(result)
        return result if out is None else into(out, result)

    def like(
        input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
        memory_format: Any = None, pin_memory: bool = False,
    ) -> Tensor:  # fmt: skip
        check_tensor(f"{name}_like", input)
        d = input.raw.dtype if dtype is None else np_dtype(dtype, f"{name}_like")
        home = input.device if device is None else devices.parse(device)
        raw = formats.like(input.raw, memory_format, lambda shape: maker(shape, d, device=home))
        result = made(raw, requires_grad, name)
        return beside(input, pinned(result) if pin_memory else result)

    def new_(
        self: Tensor, *size: Any, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False, pin_memory: bool = False, **named: Any,
    ) -> Tensor:  # fmt: skip
        if "size" in named and not size:
            size = (named["size"],)
        d = self.raw.dtype if dtype is None else np_dtype(dtype, f"new_{name}")
        home = self.device if device is None else devices.parse(device)
        result = made(maker(shape_of(size, f"new_{name}"), d, device=home), requires_grad, name)
        return beside(self, pinned(result) if pin_memory else result)

    export(
        function,
        name,
        f"A tensor of the given size, {what}.\n\n>>> import autodiff_kernel as torch\n{example}",
    )
    export(like, f"{name}_like", f"A tensor of the shape, dtype and device of `input`, {what}.")
    new_.__name__ = f"new_{name}"
    new_.__doc__ = f"A tensor of the given size and of this tensor's dtype and device, {what}."
    attach(f"new_{name}", new_)


_sized(
    "zeros",
    devices.zeros,
    "filled with 0",
    ">>> torch.zeros(2, 3)\ntensor([[0., 0., 0.],\n        [0., 0., 0.]])",
)
_sized("ones", devices.ones, "filled with 1", ">>> torch.ones(3)\ntensor([1., 1., 1.])")
_sized("empty", devices.empty, "not initialised", ">>> torch.empty(2, 3).shape\ntorch.Size([2, 3])")


# ------------------------------------------------------------------------------------------------ full
def fill_number(value: Any, function: str) -> Any:
    """The Python number to fill with."""
    if isinstance(value, Tensor) and not value.raw.ndim:
        return value.item()
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, generic):
        return value.item()
    raise TypeError(
        f"{function}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}"
    )


def filled(shape: tuple[int, ...], value: Any, dtype: Any, home: Any, requires_grad: bool) -> Tensor:
    number = cast(natural(value), dtype)[()]
    return made(devices.full(shape, number, dtype.np, device=home), requires_grad, "full", value)


@export
def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of the given size (a tuple), filled with one number, which decides the dtype if none is given.

    >>> import autodiff_kernel as torch
    >>> torch.full((2,), 1.5)
    tensor([1.5000, 1.5000])
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    number = fill_number(fill_value, "full")
    d = as_dtype(dtype, "full") or (out.dtype if out is not None else dtypes.number_dtype(number))
    home = out.device if device is None and out is not None else home_of(device)
    result = filled(shape_of((size,), "full"), number, d, home, requires_grad)
    if pin_memory:
        result = pinned(result)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@export
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of the shape, dtype and device of `input`, filled with one number.

    >>> import autodiff_kernel as torch
    >>> torch.full_like(torch.ones(2), 7)
    tensor([7., 7.])
    """
    check_tensor("full_like", input)
    d = as_dtype(dtype, "full_like") or input.dtype
    home = input.device if device is None else devices.parse(device)
    number = fill_number(fill_value, "full_like")
    raw = formats.like(input.raw, memory_format, lambda shape: filled(shape, number, d, home, False).raw)
    result = made(raw, requires_grad, "full", number)
    return beside(input, pinned(result) if pin_memory else result)


def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of the given size and of this tensor's dtype and device, filled with one number.

    >>> import autodiff_kernel as torch
    >>> torch.ones(1).new_full((2,), 7)
    tensor([7., 7.])
    """
    d = as_dtype(dtype, "new_full") or self.dtype
    home = self.device if device is None else devices.parse(device)
    number = fill_number(fill_value, "new_full")
    return beside(self, filled(shape_of((size,), "new_full"), number, d, home, requires_grad))


def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A new tensor with a copy of the data, of this tensor's dtype and device.

    >>> import autodiff_kernel as torch
    >>> torch.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    d = as_dtype(dtype, "new_tensor") or self.dtype
    raw = to_raw(data, d, self.device if device is None else device)
    return made(raw, requires_grad, "new_tensor", data)


attach("new_full", new_full)
attach("new_tensor", new_tensor)


# ------------------------------------------------------------------------------------------------ other layouts
def strided(function: str, size: Any, stride: Any, dtype: Any, home: Any, requires_grad: bool) -> Tensor:
    shape, steps = shape_of((tuple(size),), function), tuple(int(s) for s in stride)
    if len(shape) != len(steps):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) if 0 not in shape else 0
    memory = share(made(devices.empty((extent,), dtype, device=home)))
    return made(storage.as_strided(memory, shape, tuple(s * dtype.itemsize for s in steps), 0), requires_grad)


@export
def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of the given size and strides, not initialised.

    >>> import autodiff_kernel as torch
    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return strided(
        "empty_strided", size, stride, np_dtype(dtype, "empty_strided"), home_of(device), requires_grad
    )


@export
def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor whose dimensions lie in memory in the order `physical_layout`, the last one densest; not initialised.

    >>> import autodiff_kernel as torch
    >>> torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    (3, 1, 6)
    """
    shape, order = shape_of((tuple(size),), "empty_permuted"), tuple(int(d) for d in physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    if any(not 0 <= d < len(shape) for d in order):
        raise RuntimeError(
            f"Dimension out of range (expected to be between 0 and {len(shape) - 1}): {list(order)}"
        )
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= shape[d]
    return strided(
        "empty_permuted", shape, strides, np_dtype(dtype, "empty_permuted"), home_of(device), requires_grad
    )


def new_empty_strided(
    self: Tensor, size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of the given size and strides and of this tensor's dtype and device, not initialised."""
    d = self.raw.dtype if dtype is None else np_dtype(dtype, "new_empty_strided")
    home = self.device if device is None else devices.parse(device)
    return strided("new_empty_strided", size, stride, d, home, requires_grad)


attach("new_empty_strided", new_empty_strided)
