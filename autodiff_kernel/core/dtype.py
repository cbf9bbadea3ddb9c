"""Data types: the `torch.float32` objects, PyTorch's promotion rules, `finfo` and `iinfo`.

PyTorch's promotion is not NumPy's.  Types fall into the categories bool < integer < floating < complex; a
tensor with dimensions decides the type inside its category, while 0-d tensors and Python numbers only lift
the category:

    int32 (2,)   * float32 (2,)  -> float32     NumPy would say float64
    float32 (2,) * float64 ()    -> float32     a 0-d tensor of the same category widens nothing
    int64 (2,)   * 1.5           -> float32     the number lifts the category; the size is the default dtype's
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any, Final, NoReturn

import numpy

__all__ = [
    *(
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "short",
        "int",
        "long",
        "uint16",
        "uint32",
        "uint64",
    ),
    *("float16", "bfloat16", "float32", "float64", "half", "float", "double"),
    *("complex64", "complex128", "cfloat", "cdouble"),
    *("can_cast", "dtype", "finfo", "get_default_dtype", "iinfo", "promote_types", "set_default_dtype"),
]

# The words of PyTorch's error messages: `expected scalar type Float but found Double`.
_SCALAR_TYPES: Final = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
C_NAMES: Final = {"float32": "float", "float64": "double", "float16": "c10::Half", "int64": "long int", "int32": "int",
                  "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
                  "bfloat16": "c10::BFloat16"}  # fmt: skip
"""The words of others of its messages: `expected m1 and m2 to have the same dtype, but got: float != double`."""
_BOOL, _INTEGER, _FLOATING, _COMPLEX = range(4)


class dtype:
    """The type of a tensor's elements, one object per type: `torch.float32`, `torch.int64`, ...

    Compare with `is` or `==`.  Beyond PyTorch's own attributes, `name` is the bare name and `np` is NumPy's
    dtype (`RuntimeError` for bfloat16 without the package `ml_dtypes`, which gives NumPy that type).

    >>> float32, float32.itemsize, float32.is_floating_point, float32.to_complex()
    (torch.float32, 4, True, torch.complex64)
    """

    __slots__ = (
        "category",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "np",
        "scalar_type",
    )
    name: str
    np: numpy.dtype[Any]
    scalar_type: str
    category: builtins.int
    itemsize: builtins.int
    is_floating_point: builtins.bool
    is_complex: builtins.bool
    is_signed: builtins.bool

    def __init__(self) -> None:
        raise TypeError(
            "cannot create 'torch.dtype' instances; use one of the existing ones, such as torch.float32"
        )

    def __getattr__(self, attribute: str) -> Any:
        # Only reached for what no slot holds: the NumPy type of bfloat16, until it is first asked for.
        if attribute == "np" and self.name == "bfloat16":
            object.__setattr__(self, "np", _bfloat16_of_numpy())
            return self.np
        raise AttributeError(f"'torch.dtype' object has no attribute '{attribute}'")

    def __setattr__(self, attribute: str, value: object) -> NoReturn:
        raise AttributeError(f"'torch.dtype' objects are read-only; cannot set '{attribute}'")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # a global of this module: pickling and copying give back the one object

    def to_real(self) -> dtype:
        """Return the type of the real part: complex128 -> float64; other types are returned unchanged."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """Return the complex type whose real part has this type.

        float16 and bfloat16 give complex64 (PyTorch's complex32 does not exist in NumPy).  Raises
        RuntimeError for integers and bool.
        """
        if self.category < _FLOATING:
            raise RuntimeError(
                f"Unknown Complex ScalarType for {self.scalar_type}: only floating types have one"
            )
        return complex128 if self in (float64, complex128) else complex64


def _make(name: str, category: builtins.int, itemsize: builtins.int) -> dtype:
    made = object.__new__(dtype)
    values = {
        "name": name,
        "scalar_type": _SCALAR_TYPES[name],
        "category": category,
        "itemsize": itemsize,
        "is_floating_point": category == _FLOATING,
        "is_complex": category == _COMPLEX,
        "is_signed": name != "bool" and not name.startswith("u"),
    }
    if name != "bfloat16":
        values["np"] = numpy.dtype(name)
    for slot, value in values.items():
        object.__setattr__(made, slot, value)
    return made


def _bfloat16_of_numpy() -> numpy.dtype[Any]:
    try:
        import ml_dtypes  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise RuntimeError(
            "torch.bfloat16 needs the package 'ml_dtypes', which is not installed: NumPy has no "
            "bfloat16 of its own. Install it (pip install ml_dtypes) or use torch.float16 or torch.float32."
        ) from None
    found = numpy.dtype(ml_dtypes.bfloat16)
    OF[found] = bfloat16
    BRAIN.append(found)
    return found


bool = _make("bool", _BOOL, 1)
uint8 = _make("uint8", _INTEGER, 1)
int8 = _make("int8", _INTEGER, 1)
int16 = short = _make("int16", _INTEGER, 2)
int32 = int = _make("int32", _INTEGER, 4)
int64 = long = _make("int64", _INTEGER, 8)
uint16 = _make("uint16", _INTEGER, 2)
uint32 = _make("uint32", _INTEGER, 4)
uint64 = _make("uint64", _INTEGER, 8)
float16 = half = _make("float16", _FLOATING, 2)
bfloat16 = _make("bfloat16", _FLOATING, 2)
float32 = float = _make("float32", _FLOATING, 4)
float64 = double = _make("float64", _FLOATING, 8)
complex64 = cfloat = _make("complex64", _COMPLEX, 8)
complex128 = cdouble = _make("complex128", _COMPLEX, 16)

ALL: Final[tuple[dtype, ...]] = (
    bool,
    uint8,
    int8,
    int16,
    int32,
    int64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
)

BARE: Final = (uint16, uint32, uint64)  # to store and convert: they meet no other whole numbers
OF: Final[dict[numpy.dtype[Any], dtype]] = {one.np: one for one in (*ALL, *BARE) if one is not bfloat16}
"""From NumPy's dtype to ours; bfloat16 joins when it is first used."""

BRAIN: Final[list[numpy.dtype[Any]]] = []
"""NumPy's bfloat16 once it has been used: empty in most programs, and then nobody looks for it."""

FLOATING: Final = "fcV"
"""The kinds of NumPy dtypes whose values can have gradients: V ("void") is what `ml_dtypes` gives to bfloat16."""


def is_floating(np_dtype: numpy.dtype[Any]) -> builtins.bool:
    """Whether a NumPy dtype holds real or complex numbers with a fraction, which can have gradients."""
    return np_dtype.kind in FLOATING


def of(np_dtype: Any) -> dtype:
    """Return the dtype for NumPy's `np_dtype` (a `numpy.dtype` or whatever `numpy.dtype()` takes).

    Raises TypeError for a type that tensors cannot hold, ValueError for a foreign byte order.

    >>> of("int32")
    torch.int32
    """
    np_dtype = numpy.dtype(np_dtype)
    found = OF.get(np_dtype)
    if found is not None:
        return found
    if np_dtype.name == "bfloat16" and bfloat16.np == np_dtype:
        return bfloat16
    if not np_dtype.isnative:
        raise ValueError(
            f"given numpy array has byte order different from the native byte order ({np_dtype.str}); "
            "convert it with array.astype(array.dtype.newbyteorder('='))"
        )
    raise TypeError(
        f"can't convert np.ndarray of type {_numpy_name(np_dtype)}. The only supported types are: "
        "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, "
        "and bool."
    )


def _numpy_name(np_dtype: numpy.dtype[Any]) -> str:
    return f"{np_dtype.type.__module__}.{np_dtype.type.__name__}"


# --- promotion ----------------------------------------------------------------------------------------------


def _join(a: dtype, b: dtype) -> dtype:
    low, high = sorted((a, b), key=lambda one: (one.category, one.itemsize))
    if low.category < high.category:
        return complex128 if (low, high) == (float64, complex64) else high
    if {low, high} == {uint8, int8}:
        return int16  # the smallest type that holds both
    if {low, high} == {float16, bfloat16}:
        return float32
    return high


class _Promoted(dict[tuple[dtype, dtype], dtype]):
    """PyTorch's table; it has no entry where a bare unsigned type meets another whole number."""

    def __missing__(self, pair: tuple[dtype, dtype]) -> dtype:
        if any(one in BARE for one in pair):
            a, b = (one.scalar_type for one in pair)
            raise RuntimeError(
                f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a} and {b}"
            )
        raise KeyError(pair)


_PROMOTED: Final = _Promoted({(a, b): _join(a, b) for a in ALL for b in ALL})
_PROMOTED.update({(a, a): a for a in BARE})
_PROMOTED.update({(a, b): a for a in ALL if a.is_floating_point for b in BARE})
_PROMOTED.update({(b, a): a for a in ALL if a.is_floating_point for b in BARE})


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the smallest dtype that holds both, by PyTorch's table.

    >>> promote_types(uint8, int8), promote_types(int64, float16)
    (torch.int16, torch.float16)
    """
    try:
        return _PROMOTED[type1, type2]
    except (KeyError, TypeError):
        _check_dtype("promote_types", "type1", 1, type1)
        _check_dtype("promote_types", "type2", 2, type2)
        raise


def _check_dtype(function: str, argument: str, position: builtins.int, value: object) -> None:
    if not isinstance(value, dtype):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be torch.dtype, "
            f"not {type(value).__name__}"
        )


def result_dtype(operands: Iterable[tuple[dtype, str]]) -> dtype:
    """Return the dtype of an operation on `operands`, pairs of a dtype and a kind.

    The kinds are "tensor" (one or more dimensions), "zerodim" (a 0-d tensor) and "number" (a Python number,
    whose dtype is `number_dtype` of it).  Each kind is promoted among its own; then tensors rule over 0-d
    tensors, and these over numbers: a lower kind counts only where its category is the higher one.

    >>> result_dtype([(float32, "tensor"), (float64, "zerodim")])
    torch.float32
    >>> result_dtype([(int64, "tensor"), (float32, "number")])
    torch.float32
    """
    joined: dict[str, dtype | None] = {"tensor": None, "zerodim": None, "number": None}
    for one, kind in operands:
        before = joined[kind]
        joined[kind] = one if before is None else _PROMOTED[before, one]
    result = _over(joined["tensor"], _over(joined["zerodim"], joined["number"]))
    if result is None:
        raise ValueError("result_dtype needs at least one operand")
    return result


def _over(ruling: dtype | None, other: dtype | None) -> dtype | None:
    """Combine two kinds of operand: the ruling one keeps its type unless the other's category is higher."""
    if ruling is None or other is None or other.category <= ruling.category:
        return other if ruling is None else ruling
    if ruling.category == _FLOATING:
        return ruling.to_complex()  # float64 (2,) * 1j is complex128, whatever the default dtype
    return other


def number_dtype(number: object) -> dtype:
    """Return the dtype that a Python (or NumPy) number stands for in promotion; TypeError for anything else.

    >>> number_dtype(True), number_dtype(3), number_dtype(2.5), number_dtype(1j)
    (torch.bool, torch.int64, torch.float32, torch.complex64)
    """
    if isinstance(number, builtins.bool | numpy.bool_):
        return bool
    if isinstance(number, builtins.int | numpy.integer):
        return int64
    if isinstance(number, builtins.float | numpy.floating):
        return _default
    if isinstance(number, complex | numpy.complexfloating):
        return _default.to_complex()
    raise TypeError(f"expected a Python number (bool, int, float or complex), not {type(number).__name__}")


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Say whether a result of type `from_` may be written into a tensor of type `to` (`x += y`).

    It may unless the category falls: a float never becomes an integer silently.

    >>> can_cast(float64, float16), can_cast(float32, int64)
    (True, False)
    """
    _check_dtype("can_cast", "from_", 1, from_)
    _check_dtype("can_cast", "to", 2, to)
    return from_.category <= to.category


# --- the default dtype --------------------------------------------------------------------------------------

_default = float32


def get_default_dtype() -> dtype:
    """Return the dtype of new floating-point tensors; float32 unless `set_default_dtype` was called."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make `d` the dtype of new floating-point tensors and of Python floats; TypeError unless it is floating.

    >>> set_default_dtype(float64); number_dtype(1.0), number_dtype(1j)
    (torch.float64, torch.complex128)
    >>> set_default_dtype(float32)
    """
    global _default
    if not isinstance(d, dtype):
        raise TypeError(
            f"invalid dtype object: only floating-point types are supported as the default type, not {d!r}"
        )
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {d!r}")
    of(d.np)  # bfloat16 says here, not at the next tensor, that its package is missing
    _default = d


# --- numerical limits ---------------------------------------------------------------------------------------


class finfo:
    """Numerical limits of a floating type.

    A complex type has the limits of its real part; without argument they are those of the default dtype.
    Attributes: `bits`, `eps`, `max`, `min`, `tiny` = `smallest_normal`, `resolution`, `dtype` (the name).

    >>> finfo(float16).max, finfo(float16).eps
    (65504.0, 0.0009765625)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    __hash__ = None  # type: ignore[assignment]  # as PyTorch's
    # mantissa bits, smallest normal exponent, largest exponent + 1, decimal digits
    _SHAPES: Final = {
        "float16": (10, -14, 16, 3),
        "bfloat16": (7, -126, 128, 2),
        "float32": (23, -126, 128, 6),
        "float64": (52, -1022, 1024, 15),
    }

    def __init__(self, type: dtype | None = None) -> None:
        if type is None:
            type = _default
        _check_dtype("finfo", "type", 1, type)
        if type.category < _FLOATING:
            raise TypeError(
                f"torch.finfo() requires a floating point input type, not {type!r}. "
                "Use torch.iinfo for integers."
            )
        real = type.to_real()
        mantissa, low, high, digits = self._SHAPES[real.name]
        self.bits = real.itemsize * 8
        self.eps = 2.0**-mantissa
        self.max = (2.0 - self.eps) * 2.0 ** (high - 1)
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = builtins.float(f"1e-{digits}")
        self.dtype = real.name

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer type.  Attributes: `bits`, `max`, `min`, `dtype` (the name).

    >>> iinfo(int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ("bits", "dtype", "max", "min")
    __hash__ = None  # type: ignore[assignment]  # as PyTorch's

    def __init__(self, type: dtype) -> None:
        _check_dtype("iinfo", "type", 1, type)
        if type.category > _INTEGER:
            raise TypeError(
                f"torch.iinfo() requires an integer input type, not {type!r}. Use torch.finfo instead."
            )
        if type is bool:
            raise TypeError("torch.bool is not supported by torch.iinfo; it holds False and True only")
        self.bits = type.itemsize * 8
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -self.max - 1 if type.is_signed else 0
        self.dtype = type.name

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
