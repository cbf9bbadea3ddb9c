"""Data of all kinds as raw arrays: numbers, nested sequences, arrays, tensors; with PyTorch's choice of dtype.

Python floats count as the default dtype, ints as int64, bools as bool; NumPy's numbers and 0-d tensors bring their
own dtype, and a sequence has what all of its elements promote to.
"""

from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from . import modes
from .errors import explain
from .once import TO_SCALAR, warn_once
from .tensor import Tensor

generic = np.generic
SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
    "numpy.ndarray with numpy.array() before converting to a tensor."
)
PLAIN = {bool, int, float, complex}
PYTHON_TYPES = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


def as_dtype(dtype: Any, function: str) -> Any:
    """The dtype that `dtype=` means: a torch.dtype, Python's int, float, bool or complex, or None."""
    if dtype is None or dtype.__class__ is dtypes.dtype:
        return dtype
    found = PYTHON_TYPES.get(dtype) if isinstance(dtype, type) else None
    if found is None:
        raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return found


def to_raw(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """A new raw array of the data, in `dtype` or in the dtype that the data have by themselves.

    Raises ValueError for ragged sequences and for integers beyond int64, TypeError for what is no number, RuntimeError
    for a number that does not fit the dtype and for elements of an unknown kind.
    """
    if isinstance(data, Tensor):
        raw = data.raw
        target = raw.dtype if dtype is None else dtype.np
        out = raw.astype(target) if raw.dtype != target else raw.copy() if raw.ndim else raw
        return out if device is None else devices.asarray(out, target, devices.parse(device))
    if isinstance(data, (np.ndarray, generic)):
        check_array(data)
        host: Any = np.array(data, data.dtype if dtype is None else dtype.np)
    else:
        host = from_python(data, dtype)
    return devices.asarray(
        host, host.dtype, devices.default_device() if device is None else devices.parse(device)
    )


def check_array(array: Any) -> None:
    """PyTorch's errors for a NumPy array that no tensor can hold."""
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between "
            "byte orders is "
            "currently not supported."
        )
    dtypes.of(array.dtype)
    if any(step % array.itemsize for step in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )
    if array.ndim and min(array.strides) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides "
            "are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )


# ------------------------------------------------------------------------------------------------ Python data
def from_python(data: Any, dtype: Any) -> Any:
    """A NumPy array of a Python number or of nested sequences."""
    kind = data.__class__
    if kind in PLAIN:
        return cast(natural(data), dtype or dtypes.number_dtype(data))
    if kind is list or kind is tuple:
        found: set[type] = set()
        if collect_types(data, found):
            return from_numbers(data, found, dtype)
    if kind is range:
        return cast(np.arange(data.start, data.stop, data.step, dtype=np.int64), dtype or dtypes.int64)
    if isinstance(data, (str, bytes)):
        raise explain(
            TypeError,
            f"new(): invalid data type '{kind.__name__}'",
            "Tensors hold numbers and truth values, no text.",
            "give every letter or word a number first, for example [ord(c) for c in text].",
        )
    if not is_sequence(data):
        if hasattr(data, "__array__"):
            array = np.asarray(data)
            check_array(array)
            return np.array(array, array.dtype if dtype is None else dtype.np)
        raise unknown(data)
    return from_anything(data, dtype)


def natural(number: Any) -> Any:
    """A number or nested list of numbers as NumPy has it by itself."""
    try:
        return np.asarray(number, np.int64) if number.__class__ is int else np.asarray(number)
    except OverflowError:
        return np.asarray(number, object)


def collect_types(data: Any, found: set[type]) -> bool:
    """Are these nested lists of plain Python numbers?  Their types are added to `found`."""
    kinds = set(map(type, data))
    if kinds <= PLAIN:
        found |= kinds
        return True
    return kinds <= {list, tuple} and all(collect_types(x, found) for x in data)


def from_numbers(data: Any, found: set[type], dtype: Any) -> Any:
    """Nested lists of plain numbers, which NumPy reads at once."""
    default = dtypes.get_default_dtype()
    if not found:
        own = default
    elif complex in found:
        own = default.to_complex()
    else:
        own = default if float in found else dtypes.int64 if int in found else dtypes.bool
    target = dtype or own
    wide = np.complex128 if complex in found else np.float64 if float in found or not found else \
        np.int64 if int in found else np.bool_  # fmt: skip
    try:
        if wide is np.float64 and target.is_floating_point:
            return np.array(data, target.np)
        host: Any = np.array(data, wide)
    except OverflowError:
        if not (target.is_floating_point or target.is_complex):
            raise too_big() from None
        host = np.array(data, np.float64)
    except ValueError as error:
        check_ragged(data, sizes_of(data), 0)
        raise error
    return cast(host, target)


def too_big() -> ValueError:
    return explain(ValueError, "Overflow when unpacking long long", "Integers beyond 64 bits have no dtype.",
                   "use a floating dtype, for example dtype=torch.float64.")  # fmt: skip


def cast(host: Any, target: dtypes.dtype) -> Any:
    """Numbers that Python gave, in the dtype; RuntimeError where one does not fit."""
    if host.dtype == target.np:
        return host
    kind, into = host.dtype.kind, target.np.kind
    if kind == "O":  # an integer beyond 64 bits
        if into in "biu":
            raise too_big()
        host = host.astype(np.float64)
    elif kind == "c" and into != "c":
        if into in "iu":
            raise TypeError("'complex' object cannot be interpreted as an integer")
        if into != "b":
            raise TypeError("must be real number, not complex")
    if into in "iu" and host.size and kind != "b":
        check_range(host, target)
    return np.asarray(host != 0) if into == "b" and kind != "b" else host.astype(target.np)


def check_range(host: Any, target: dtypes.dtype) -> None:
    limits = np.iinfo(target.np)
    low, high = host.min(), host.max()
    least = limits.min if limits.min else -limits.max  # negative numbers wrap in uint8, as in PyTorch
    if (
        not (float(low) >= least and float(high) <= limits.max)
        or host.dtype.kind == "f"
        and float(high) >= 2.0**63
    ):
        raise RuntimeError(f"value cannot be converted to type {target.name} without overflow")


# ------------------------------------------------------------------------------------------------ any sequences
def is_sequence(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.ndim > 0
    return (
        hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, (str, bytes, dict, Tensor))
    )


def sizes_of(data: Any) -> tuple[int, ...]:
    """The shape that the first elements say."""
    sizes = []
    while is_sequence(data):
        sizes.append(len(data))
        if len(sizes) > 64:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not sizes[-1]:
            break
        data = data[0]
    return tuple(sizes)


def check_ragged(data: Any, sizes: tuple[int, ...], dim: int) -> None:
    """PyTorch's errors for sequences that are not all as long, or not all as deep, as the first ones."""
    if dim == len(sizes):
        if is_sequence(data):
            raise explain(
                TypeError,
                f"'{type(data).__name__}' object cannot be interpreted as an integer",
                f"At dimension {dim - 1} numbers were expected, and there is {data!r}.",
                "all elements of one level must be numbers, or all sequences of one length.",
            )
        return
    if not is_sequence(data):
        raise explain(
            TypeError,
            "not a sequence",
            f"At dimension {dim} a sequence of {sizes[dim]} elements was expected, and there is {data!r}.",
            "all elements of one level must be numbers, or all sequences of one length.",
        )
    if len(data) != sizes[dim]:
        raise explain(
            ValueError,
            f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})",
            "A tensor is a rectangle: all sequences of one level must have the length of the first one.",
        )
    for x in data:
        check_ragged(x, sizes, dim + 1)


def from_anything(data: Any, dtype: Any) -> Any:
    """Nested sequences of any kind, with tensors, arrays and NumPy's numbers among them."""
    sizes = sizes_of(data)
    own = None
    leaves: list[Any] = []
    for leaf in walk(data):
        one = leaf_dtype(leaf)
        own = one if own is None else dtypes.promote_types(own, one)
    check_ragged(data, sizes, 0)
    own = dtypes.get_default_dtype() if own is None else own
    target = dtype or own
    for leaf in walk(data):
        leaves.append(number_of(leaf, target))
    if isinstance(data[0] if len(data) else None, np.ndarray):
        warn_once(SLOW)
    try:
        host = np.array(
            leaves, np.complex128 if own.is_complex else np.float64 if own.is_floating_point else None
        )
    except OverflowError:
        host = np.array(leaves, object)
    if not leaves:
        host = host.astype(np.float64)
    if host.dtype == np.uint64:
        host = host.astype(object)
    return cast(host.reshape(sizes), target)


def walk(data: Any) -> Any:
    """All elements, in order."""
    for i in range(len(data)):
        x = data[i]
        if is_sequence(x):
            yield from walk(x)
        else:
            yield x


def leaf_dtype(x: Any) -> dtypes.dtype:
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (generic, np.ndarray)):
        return dtypes.of(x.dtype)
    if isinstance(x, (bool, int, float, complex)):
        return dtypes.number_dtype(x)
    if isinstance(x, (str, bytes)):
        raise ValueError(f"too many dimensions '{type(x).__name__}'")
    raise unknown(x)


def number_of(x: Any, target: dtypes.dtype) -> Any:
    if isinstance(x, Tensor):
        if x.raw.size != 1:
            floating = target.is_floating_point or target.is_complex
            raise explain(
                ValueError if floating else TypeError,
                "only one element tensors can be converted to Python scalars"
                if floating
                else "only integer tensors of a single element can be converted to an index",
                f"There is a tensor of shape {list(x.raw.shape)} among the data.",
                "use torch.stack(tensors), which also lets gradients through.",
            )
        if x.node is not None and modes.is_grad_enabled():
            warn_once(TO_SCALAR)
        return x.item()
    return x.item() if isinstance(x, (generic, np.ndarray)) else x


def unknown(x: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        f"Could not infer dtype of {type(x).__name__}",
        cure="a tensor is made of numbers, nested sequences of numbers, arrays or tensors.",
    )
