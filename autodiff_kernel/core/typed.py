"""The old constructors: FloatTensor(2, 3), LongTensor([1, 2]), Tensor(…) and x.new(…)."""

from typing import Any

import numpy as np

from ..dialect import speaks_2017
from . import data, modes
from . import device as devices
from . import dtype as dtypes
from .api import attach
from .graph import new
from .tensor import Parameter, Size, Tensor, share, version_of

TYPES: dict[str, dtypes.dtype] = {
    "HalfTensor": dtypes.float16, "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64,
    "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8, "ShortTensor": dtypes.int16, "IntTensor": dtypes.int32,
    "LongTensor": dtypes.int64, "BoolTensor": dtypes.bool,
}  # fmt: skip


def typed(dtype: dtypes.dtype | None, args: Any, device: Any = None, kind: type = Tensor) -> Any:
    """Sizes give an uninitialised tensor, a sequence its values, a tensor an alias of it.

    dtype None: the default dtype, and a tensor of any dtype is taken.
    """
    home = devices.parse("cpu" if device is None else device)
    target = dtypes.get_default_dtype() if dtype is None else dtype
    first = args[0] if args else None
    version = None
    if not args:
        raw = devices.empty((0,), target.np, device=home)
    elif is_size(first) or len(args) > 1:
        raw = devices.empty(checked_size(args), target.np, device=home)
    elif isinstance(first, Size):
        raw = devices.empty(tuple(first), target.np, device=home)
    elif isinstance(first, Tensor):
        if dtype is not None and first.dtype != dtype or first.device != home and dtype is not None:
            raise TypeError(
                f"expected a tensor of dtype {dtype} on {home}, but got {first.dtype} on {first.device}; "
                "convert it with "
                f".to({dtype})"
            )
        raw, version = share(first), version_of(first)
    elif isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    elif not data.is_sequence(first) and not isinstance(first, np.ndarray):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    else:
        raw = devices.asarray(values(first, target), target.np, home)
    if isinstance(raw, np.generic):
        raw = np.asarray(raw)
    t: Any = new(kind)
    t.raw, t.node, t.version, t.family = raw, None, version, None
    t._grad = None
    if modes.watch[0] is not None:
        modes.watchers["created"]("Tensor", t, first)
    if not args and speaks_2017():
        t.__dict__["no_dimension"] = True
    return t


_PLAIN = {float, int, np.float64}


def values(sequence: Any, target: dtypes.dtype) -> Any:
    try:
        return data.to_raw(sequence, target, "cpu")
    except (ValueError, RuntimeError) as error:
        text = str(error)
        if speaks_2017() and "expected sequence of length" in text:
            raise ragged(sequence) from None
        if "too many dimensions" in text or "Could not infer" in text:
            element = next(
                x for x in data.walk(sequence) if not isinstance(x, (int, float, np.generic, Tensor))
            )
            expected = (
                "must be real number, not" if target.is_floating_point else "an integer is required, got"
            )
            raise TypeError(f"{expected} {type(element).__name__}") from None
        raise


def ragged(sequence: Any) -> Exception:
    """The error of 2017 for nested sequences of unequal lengths: it names the place where they first differ."""

    def shape(x: Any) -> tuple[int, ...]:
        return (len(x), *shape(x[0])) if data.is_sequence(x) and len(x) else ()

    def first(x: Any, sizes: tuple[int, ...], index: tuple[int, ...]) -> Exception | None:
        if not sizes or not data.is_sequence(x):
            return None
        if len(x) != sizes[0]:
            where = ", ".join(map(str, (*index, min(len(x), sizes[0]))))
            return RuntimeError(
                f"inconsistent sequence length at index ({where}) - expected {sizes[0]} but got {len(x)}"
            )
        found = (first(y, sizes[1:], (*index, i)) for i, y in enumerate(x))
        return next((e for e in found if e is not None), None)

    return first(sequence, shape(sequence), ()) or RuntimeError("inconsistent sequence length")


def is_size(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and x.__class__ is not bool


def checked_size(args: Any) -> tuple[int, ...]:
    for i, n in enumerate(args):
        if not is_size(n):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {i + 1} with error \"type must "
                "be tuple of "
                f'ints,but got {type(n).__name__}"'
            )
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(args)}")
    return tuple(int(n) for n in args)


def legacy(cls: type, args: Any, kwargs: Any) -> Any:
    """`torch.Tensor(…)`: a FloatTensor (of the default dtype)."""
    device = kwargs.pop("device", None)
    if kwargs:
        raise TypeError(f"new() got an unexpected keyword argument '{next(iter(kwargs))}'")
    kind = cls if issubclass(cls, Tensor) and cls is not Parameter else Tensor
    return typed(None, args, device, kind)


def new_method(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A new tensor of this one's dtype and device: from sizes (uninitialised) or from a sequence.

    >>> import autodiff_kernel as torch
    >>> torch.ones(1, dtype=torch.int64).new([1, 2])
    tensor([1, 2])
    """
    return typed(self.dtype, args, self.device if device is None else device)  # type: ignore[no-any-return]


attach("new", new_method)


class TypedMeta(type):
    """`isinstance(x, torch.FloatTensor)` asks for the dtype and the device."""

    dtype: dtypes.dtype
    home: str
    plain: Any  # the NumPy dtype, of a floating one on the CPU; else None

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.dtype == cls.dtype and x.device.type == cls.home

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if device is None and len(args) == 1 and cls.plain is not None and args[0].__class__ is list:
            numbers = args[0]
            if numbers and _PLAIN.issuperset(map(type, numbers)):  # a flat list needs no looking into
                t = new(Tensor)
                t.raw = np.array(numbers, cls.plain)
                t.node = t.version = t.family = t._grad = None
                if modes.watch[0] is not None:
                    modes.watchers["created"](cls.__name__, t, numbers)
                return t
        return typed(cls.dtype, args, cls.home if device is None else device)

    def __repr__(cls) -> str:
        return f"<class 'torch.{'cuda.' if cls.home == 'cuda' else ''}{cls.__name__}'>"


def typed_constructor(name: str, home: str = "cpu") -> Any:
    """The class that stands for one dtype on one kind of device."""
    full = f"torch.{'cuda.' if home == 'cuda' else ''}{name}"
    plain = TYPES[name].np if home == "cpu" and TYPES[name].is_floating_point else None
    doc = f"Old constructor of {TYPES[name]} tensors: sizes give an uninitialised tensor, a sequence its values."
    return TypedMeta(
        name, (), {"dtype": TYPES[name], "home": home, "plain": plain, "name": full, "__doc__": doc}
    )


TYPED = {name: typed_constructor(name) for name in TYPES}
