"""What the element-by-element families share: results of the right kind, refusals, public forms of pairs."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .. import dtype as dtypes
from ..api import FUNCTIONS, attach, check_tensor, document, into
from ..dtype import is_floating
from ..hot import binary
from ..inplace import in_place
from ..op import TABLE, Op
from ..tensor import Tensor

ndarray = np.ndarray
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def settle(y: Any) -> Any:
    """A 0-d array of the CPU as the NumPy scalar that it is here (`np.where` of scalars gives arrays)."""
    return y[()] if y.__class__ is ndarray and not y.ndim else y


MANY = 1000  # elements from which choosing by bits is faster
_INTEGERS = {2: np.int16, 4: np.int32, 8: np.int64}


def choose(condition: Any, a: Any, b: Any) -> Any:
    """np.where for raw values.

    np.where branches at every element, which costs 12 ns where the mask looks random, as it does after a relu; bits
    cost 1 ns.
    """
    if condition.__class__ is ndarray and condition.size > MANY:
        dtype = np.result_type(a, b)
        if dtype.kind == "f" and condition.dtype == bool:
            return _by_bits(condition, a, b, dtype)
    return settle(np.where(condition, a, b))


def _by_bits(condition: Any, a: Any, b: Any, dtype: Any) -> Any:
    kind = _INTEGERS[dtype.itemsize]
    a, b = (np.asarray(x, dtype).view(kind) for x in (a, b))
    mask = condition.astype(kind)
    np.negative(mask, out=mask)  # all bits or none
    if not b.ndim and not b:  # 0.0 has no bits
        y = a & mask
    elif not a.ndim and not a:
        y = b & ~mask
    else:
        y = (a ^ b) & mask
        y = np.bitwise_xor(y, b, out=y if y.shape == np.broadcast_shapes(y.shape, b.shape) else None)
    return y.view(dtype)


def refuse(kernel: str, raw: Any) -> NoReturn:
    """PyTorch's error for a dtype that an operation does not take."""
    name = dtypes.of(raw.dtype).scalar_type
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def floats_only(kernel: str, fwd: Callable[..., Any]) -> Callable[..., Any]:
    """`fwd`, refusing integers and truth values."""

    def checked(a: Any, *rest: Any) -> Any:
        if not is_floating(a.dtype):
            refuse(kernel, a)
        return fwd(a, *rest)

    return checked


def conj(x: Any) -> Any:
    """The complex conjugate, in rules; a real value as it is."""
    if x.__class__ is ndarray and x.dtype is FLOAT32:  # most are
        return x
    raw = x.raw if isinstance(x, Tensor) else x
    return x.conj() if raw.dtype.kind == "c" else x


def gain(slope: Any, change: Any) -> Any:
    """What a real result gains where an input with that gradient changes: Re(slope* · change), their product if real."""
    product = conj(slope) * change
    raw = product.raw if isinstance(product, Tensor) else product
    return product.real if raw.dtype.kind == "c" else product


def numbers_only(kernel: str, fwd: Callable[..., Any]) -> Callable[..., Any]:
    """`fwd`, refusing truth values."""

    def checked(a: Any, *rest: Any) -> Any:
        if a.dtype.kind == "b":
            refuse(kernel, a)
        return fwd(a, *rest)

    return checked


def undefined(name: str) -> Callable[..., Any]:
    """The rule of an operation that PyTorch does not differentiate."""

    def rule(g: Any, n: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


def _zeros_like(a: Any) -> Any:
    return settle(np.zeros_like(a))


# What rules give for a derivative that is zero: g * 0 would be nan where g is infinite.
zeros_like = Op("zeros_like", _zeros_like, batch="elementwise", doc="Zeros of the same shape.")


def zero(g: Any, n: Any) -> Any:
    """The rule of a function that is constant wherever it has a derivative."""
    return zeros_like(g)


def where(condition: Any, a: Any, b: Any) -> Any:
    """In rules: a where the condition holds, else b."""
    return TABLE["where"](condition, a, b)


def pair_names(
    op: Op,
    *names: str,
    numbers: str = "",
    inplace: bool = True,
    number_row: Op | None = None,
    second: str = "other",
    example: str = "",
) -> Any:
    """Function, method and in-place form of a row with two inputs; returns the method.

    numbers: which operands may be Python numbers: "" (none), "second" or "both".  number_row: the row to use where
    the second one is.  second: PyTorch's name of the second argument.
    """
    first = names[0]
    fast = binary(op, op.types == "float")
    with_number = fast if number_row is None else binary(number_row, op.types == "float")

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return fast(self, other)
        result = with_number(self, other) if numbers else NotImplemented
        if result is NotImplemented:
            check_tensor(first, other, second, 2)
        return result

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if not isinstance(input, Tensor):
            if (
                numbers != "both"
                or not isinstance(other, Tensor)
                or not isinstance(input, (int, float, complex))
            ):
                check_tensor(first, input)
            return into(out, op(input, other), other)
        return method(input, other) if out is None else into(out, method(input, other), input, other)

    if second != "other":
        function = renamed(function, second)
    document(function, first, op, f"{first}(input, {second}) -> Tensor", example)
    document(method, first, op, f"x.{first}({second}) -> Tensor", example)
    changed = in_place(method, op) if inplace else None
    for name in names:
        FUNCTIONS[name] = function
        attach(name, method)
        if changed is not None:
            attach(name + "_", changed)
    return method


def renamed(function: Any, second: str) -> Any:
    """A function of (input, other) whose second argument has another name."""

    def named(input: Any, *values: Any, out: Any = None, **words: Any) -> Any:
        if second in words:
            values = (*values, words.pop(second))
        return function(input, *values, out=out, **words)

    return named
