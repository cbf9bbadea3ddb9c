"""Tensors from data and from sizes: tensor, zeros, arange, … and the old typed constructors."""

import array as arrays
from typing import Any, Callable

import numpy as np

from . import device as devices
from . import dtype as dtypes
from .api import FUNCTIONS, attach, check_tensor
from .graph import new
from .tensor import Parameter, Size, Tensor, share, version_of, wrap

ndarray, generic = np.ndarray, np.generic
TYPES: dict[str, dtypes.dtype] = {
    "HalfTensor": dtypes.float16, "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64,
    "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8, "ShortTensor": dtypes.int16, "IntTensor": dtypes.int32,
    "LongTensor": dtypes.int64, "BoolTensor": dtypes.bool,
}  # fmt: skip


def made(raw: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf."""
    t = wrap(raw[()] if raw.__class__ is ndarray and not raw.ndim else raw)
    t._grad = None
    return t.requires_grad_() if requires_grad else t


def to_raw(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """A new raw array from nested sequences, numbers, arrays or tensors, with PyTorch's choice of dtype."""
    if isinstance(data, Tensor):
        raw = data.raw
        target = raw.dtype if dtype is None else dtype.np
        out = raw.astype(target) if raw.dtype != target else raw.copy() if raw.ndim else raw
        return out if device is None else devices.asarray(out, target, devices.parse(device))
    host = host_array(data)
    target = dtype.np if dtype is not None else default_for(data, host)
    if host.dtype != target:
        host = np.array(cast_host(host, target))
    elif isinstance(data, (ndarray, generic)) or host.base is not None:
        host = np.array(host)
    return devices.asarray(host, target, devices.default_device() if device is None else devices.parse(device))


def cast_host(host: ndarray, target: Any) -> ndarray:
    if host.dtype == object:
        return np.array([complex(x) if target.kind == "c" else x for x in host.ravel()], target).reshape(host.shape)
    if target.kind in "iu" and host.dtype.kind == "f" and host.size and not np.isfinite(host).all():
        raise RuntimeError("value cannot be converted to an integer type without overflow")
    return host.astype(target)


def default_for(data: Any, host: ndarray) -> Any:
    """Python floats become the default dtype, ints int64; arrays keep their own dtype."""
    if isinstance(data, (ndarray, generic)):
        dtypes.of(host.dtype)  # raises PyTorch's TypeError for what it does not know
        return host.dtype
    kind = host.dtype.kind
    if kind == "f":
        leaf = first_element(data)
        return host.dtype if isinstance(leaf, generic) and not isinstance(leaf, float) else dtypes.get_default_dtype().np
    if kind == "c":
        return dtypes.get_default_dtype().to_complex().np
    if kind in "iu":
        leaf = first_element(data)
        return host.dtype if isinstance(leaf, generic) else np.dtype(np.int64)
    if kind == "b":
        return host.dtype
    raise bad_element(first_element(data))


def first_element(data: Any) -> Any:
    while isinstance(data, (list, tuple, range)) and len(data):
        data = data[0]
    return data.raw if isinstance(data, Tensor) else data


def bad_element(x: Any) -> Exception:
    if isinstance(x, int):
        return RuntimeError("Overflow when unpacking long long")
    return TypeError(f"new(): invalid data type '{type(x).__name__}'" if isinstance(x, str) else
                     f"Could not infer dtype of {type(x).__name__}")  # fmt: skip


def host_array(data: Any) -> ndarray:
    """Nested sequences as an ndarray; ragged ones are PyTorch's ValueError."""
    if isinstance(data, ndarray):
        return data.astype(data.dtype.newbyteorder("=")) if not data.dtype.isnative else data
    if isinstance(data, arrays.array):
        return np.array(data, np.int64 if data.typecode in "bBhHiIlLqQ" else dtypes.get_default_dtype().np)
    if isinstance(data, (bool, int, float, complex, generic)):
        return np.asarray(data)
    if isinstance(data, (str, bytes, dict, set)) or data is None:
        raise bad_element(data)
    if hasattr(data, "__array__") and not isinstance(data, (list, tuple)):
        return np.asarray(data)
    if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise bad_element(data)
    check_ragged(data)
    try:
        plain = unwrap_all(data)
        host = np.array(plain)
    except OverflowError:
        raise RuntimeError("Overflow when unpacking long long") from None
    if host.dtype.kind in "OU":
        element = host.ravel()[0] if host.size else None
        raise bad_element(element if host.dtype.kind == "O" else first_element(data))
    return host.astype(dtypes.get_default_dtype().np) if not host.size and host.dtype == np.float64 else host


def unwrap_all(data: Any) -> Any:
    if isinstance(data, Tensor):
        return devices.to_numpy(data.raw)
    if isinstance(data, (list, tuple)):
        return [unwrap_all(x) for x in data] if any(isinstance(x, (Tensor, list, tuple)) for x in data) else data
    return list(data) if isinstance(data, range) else data


def check_ragged(data: Any, dim: int = 0) -> None:
    """Every sequence of a level must have the same length."""
    if not is_sequence(data):
        return
    lengths = [len(x) if is_sequence(x) else None for x in data]
    if not lengths or lengths[0] is None and not any(n is not None for n in lengths):
        return
    for i, n in enumerate(lengths):
        if n != lengths[0]:
            if n is None:
                raise TypeError(f"expected a sequence of length {lengths[0]} at dim {dim + 1}, got {type(data[i]).__name__}")
            raise ValueError(f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {n})") if lengths[0] is not None else TypeError(f"not a sequence: element {i - 1} at dim {dim + 1}")  # fmt: skip
    for x in data:
        check_ragged(x, dim + 1)


def is_sequence(x: Any) -> bool:
    if isinstance(x, (Tensor, ndarray)):
        return x.ndim > 0
    return hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, (str, bytes, dict))


# ------------------------------------------------------------------------------------------------ from data
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of the data: numbers, nested sequences of any kind, arrays.

    Python floats give the default dtype (float32), ints int64, bools bool; arrays keep their dtype.  Raises ValueError
    for ragged sequences, TypeError for data that are no numbers, RuntimeError for requires_grad on integers.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """  # fmt: skip
    kind = data.__class__
    if dtype is None and device is None and (kind is list or kind is float):
        # numbers as they stand in most code: the same result without looking at every case
        if kind is float or data and all([x.__class__ is float for x in data]):
            home = devices.default_device()
            if home.type == "cpu":
                raw = np.array(data, dtypes.get_default_dtype().np)
                t = wrap(raw if kind is list else raw[()])
                t._grad = None
                return t.requires_grad_() if requires_grad else t
    if isinstance(data, Tensor):
        import warnings

        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    return made(to_raw(data, dtype, device), requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, sharing memory with a NumPy array or returning a tensor itself where nothing changes.

    >>> import autodiff_kernel as torch
    >>> torch.as_tensor([1., 2.])
    tensor([1., 2.])
    """
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)  # type: ignore[attr-defined,no-any-return]
    if isinstance(data, ndarray) and (dtype is None or data.dtype == dtype.np) and (device is None or str(device) == "cpu"):
        return from_numpy(data)
    return made(to_raw(data, dtype, device))


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares memory with a NumPy array: a change of one shows in the other.

    >>> import numpy, autodiff_kernel as torch
    >>> a = numpy.ones(2); b = torch.from_numpy(a); _ = b.sub_(b); a
    array([0., 0.])
    """
    if not isinstance(array, ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array.dtype)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with array.copy().) "
        )
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    t = wrap(array)
    t._grad = None
    return t


# ------------------------------------------------------------------------------------------------ from sizes
def shape_of(size: Any, name: str) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence, checked."""
    if len(size) == 1 and not isinstance(size[0], (int, np.integer)):
        if isinstance(size[0], Tensor) and not size[0].ndim:
            size = (int(size[0]),)
        elif isinstance(size[0], (tuple, list, Size)):
            size = size[0]
    out = []
    for i, n in enumerate(size):
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(f"{name}(): argument 'size' (position {i + 1}) must be tuple of ints, not {type(n).__name__}")
        n = int(n)
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(map(int, size))}")
        out.append(n)
    return tuple(out)


def _home(device: Any) -> Any:
    return devices.default_device() if device is None else devices.parse(device)


def _np(dtype: Any) -> Any:
    return (dtypes.get_default_dtype() if dtype is None else dtype).np


def _sized(name: str, maker: Callable[..., Any], what: str, example: str) -> None:
    def function(*size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
                 requires_grad: bool = False, pin_memory: bool = False, memory_format: Any = None, **named: Any) -> Any:  # fmt: skip
        if "size" in named and not size:
            size = (named.pop("size"),)
        if named:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
        if not size:
            raise TypeError(f"{name}() received an invalid combination of arguments - got (), but expected a size")
        result = made(maker(shape_of(size, name), _np(dtype), device=_home(device)), requires_grad)
        if out is None:
            return result
        from .api import into

        return into(out, result)

    def like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
             memory_format: Any = None) -> Tensor:  # fmt: skip
        check_tensor(f"{name}_like", input)
        d = input.raw.dtype if dtype is None else dtype.np
        home = input.device if device is None else devices.parse(device)
        return made(maker(input.raw.shape, d, device=home), requires_grad)

    def new_(self: Tensor, *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False, **named: Any) -> Tensor:  # fmt: skip
        if "size" in named and not size:
            size = (named["size"],)
        d = self.raw.dtype if dtype is None else dtype.np
        home = self.device if device is None else devices.parse(device)
        return made(maker(shape_of(size, f"new_{name}"), d, device=home), requires_grad)

    _export(function, name, f"A tensor of the given size, {what}.\n\n>>> import autodiff_kernel as torch\n{example}")
    _export(like, f"{name}_like", f"A tensor of the shape, dtype and device of `input`, {what}.")
    new_.__name__, new_.__doc__ = f"new_{name}", f"A tensor of the given size and of this tensor's dtype and device, {what}."
    attach(f"new_{name}", new_)


def _export(f: Any, name: str, doc: str = "") -> None:
    f.__name__ = f.__qualname__ = name
    if doc:
        f.__doc__ = doc
    FUNCTIONS[name] = f


_sized("zeros", devices.zeros, "filled with 0", ">>> torch.zeros(2, 3)\ntensor([[0., 0., 0.],\n        [0., 0., 0.]])")
_sized("ones", devices.ones, "filled with 1", ">>> torch.ones(3)\ntensor([1., 1., 1.])")
_sized("empty", devices.empty, "not initialised", ">>> torch.empty(2, 3).shape\ntorch.Size([2, 3])")
for _f in (tensor, as_tensor, from_numpy):
    FUNCTIONS[_f.__name__] = _f


# ------------------------------------------------------------------------------------------------ the old constructors
def typed(dtype: dtypes.dtype, args: Any, device: Any = None, kind: type = Tensor) -> Any:
    """`FloatTensor(…)` and its like: sizes give an uninitialised tensor, a sequence its values, a tensor itself."""
    home = devices.parse("cpu" if device is None else device)
    if not args:
        raw = devices.empty((0,), dtype.np, device=home)
    elif all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in args):
        raw = devices.empty(shape_of(args, "Tensor"), dtype.np, device=home)
    elif len(args) != 1:
        raise TypeError(f"new() received an invalid combination of arguments - got {len(args)} arguments")
    elif isinstance(args[0], Size):
        raw = devices.empty(tuple(args[0]), dtype.np, device=home)
    elif isinstance(args[0], Tensor):
        t = args[0]
        if t.dtype != dtype:
            raise TypeError(f"expected a {dtype} tensor, but got {t.dtype}; convert it with .to({dtype})")
        return wrap(share(t), None, version_of(t))
    elif isinstance(args[0], (float, bool, complex)):
        raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
    else:
        raw = devices.asarray(to_raw(args[0], dtype, "cpu"), dtype.np, home)
    if isinstance(raw, generic):
        raw = np.asarray(raw)
    t = new(kind)
    t.raw, t.node, t.version, t.family = raw, None, None, None
    t._grad = None
    return t


def legacy(cls: type, args: Any, kwargs: Any) -> Any:
    """`torch.Tensor(…)`: a FloatTensor (of the default dtype)."""
    device = kwargs.pop("device", None)
    if kwargs:
        raise TypeError(f"new() got an unexpected keyword argument '{next(iter(kwargs))}'")
    kind = cls if issubclass(cls, Tensor) and cls is not Parameter else Tensor
    return typed(dtypes.get_default_dtype(), args, device, kind)


class TypedMeta(type):
    """`isinstance(x, torch.FloatTensor)` asks for the dtype and the device."""

    dtype: dtypes.dtype
    home: str

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype == cls.dtype and x.device.type == cls.home

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        return typed(cls.dtype, args, cls.home if device is None else device)

    def __repr__(cls) -> str:
        return f"<class 'torch.{'cuda.' if cls.home == 'cuda' else ''}{cls.__name__}'>"


def typed_constructor(name: str, home: str = "cpu") -> Any:
    """The class that stands for one dtype on one kind of device."""
    full = f"torch.{'cuda.' if home == 'cuda' else ''}{name}"
    doc = f"Old constructor of {TYPES[name]} tensors: sizes give an uninitialised tensor, a sequence its values."
    return TypedMeta(name, (), {"dtype": TYPES[name], "home": home, "name": full, "__doc__": doc})


TYPED = {name: typed_constructor(name) for name in TYPES}
