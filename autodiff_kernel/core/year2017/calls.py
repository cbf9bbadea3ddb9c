"""A function as it was called in 2017: stricter about types, without 0-d tensors and without bool."""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from .. import modes
from ..places import MARK
from ..tensor import Tensor
from . import strict, variables

DIVISIONS = {"div", "div_", "__truediv__", "__rtruediv__", "__itruediv__"}
MASKED = {"masked_fill", "masked_fill_", "masked_select", "masked_scatter", "masked_scatter_", "__getitem__", "__setitem__",
          "where"}  # fmt: skip
REDUCTIONS = {"sum", "mean", "std", "var", "median", "prod", "max", "min", "norm", "mode", "all", "any", "cumsum",
              "cumprod", "sort", "topk", "kthvalue"}  # fmt: skip
KEEP_DTYPE = {"sum", "prod", "cumsum", "cumprod"}
ASKING = {
    "type",
    "type_as",
    "resize_",
    "set_",
    "is_pinned",
    "to",
    "cpu",
    "cuda",
    "clone",
    "contiguous",
    "new",
    "detach",
}


def old(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as users of 2017 knew it.  Calls from the library's own code go to `f` itself."""

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if MARK in sys._getframe(1).f_globals:
            return f(*args, **kwargs)
        tensors = list(_tensors(args)) + list(_tensors(kwargs.values()))
        if name not in ASKING:
            _check_dimensions(name, tensors)
        strict.check(name, args, tensors)
        if name in MASKED:
            at = 0 if name == "where" else 1  # where the mask stands
            args = (*args[:at], *[_as_mask(x) for x in args[at : at + 1]], *args[at + 1 :])
            kwargs = {k: _as_mask(x) if k in ("mask", "condition") else x for k, x in kwargs.items()}
        if name.endswith("_") and len(tensors) > 1 and not name.endswith("__"):
            strict.check_expansion(tensors[0], tensors[1])
        is_variable = any(variables.is_variable(t) for t in tensors)
        volatile = is_variable and any(variables.is_volatile(t) for t in tensors)
        if name in MASKED:  # catching warnings takes as long as an operation, so only where one can come
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*uint8.*")
                result = _recorded(f, args, kwargs, not volatile)
        elif name in DIVISIONS:
            result = _recorded(_divide, (name, f, args, kwargs), {}, not volatile)
        else:
            result = _recorded(f, args, kwargs, not volatile)
        if name in ("all", "any") and isinstance(result, Tensor) and not result.raw.ndim and not is_variable:
            return bool(result)
        along = name in REDUCTIONS and (len(args) > 1 or "dim" in kwargs)
        kept = tensors[0].raw.dtype if name in KEEP_DTYPE and along and tensors else None
        return _result(result, tensors, is_variable, volatile, along, kept)

    return call


def _recorded(f: Callable[..., Any], args: Any, kwargs: Any, records: bool) -> Any:
    """f(*args, **kwargs); volatile Variables record nothing."""
    before = modes.is_grad_enabled()
    if records or not before:
        return f(*args, **kwargs)
    modes.put_grad(False)
    try:
        return f(*args, **kwargs)
    finally:
        modes.put_grad(before)


def _tensors(values: Any) -> Iterator[Tensor]:
    for x in values:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from (y for y in x if isinstance(y, Tensor))


def _check_dimensions(name: str, tensors: list[Tensor]) -> None:
    for t in tensors:
        if has_no_dimension(t):
            raise RuntimeError(
                f"{name.strip('_')}: a {strict.type_of(t)} with no dimension can be used in no operation. "
                "Give it a size, for example torch.FloatTensor(2, 3)."
            )


def has_no_dimension(t: Tensor) -> bool:
    """Was t made of nothing, `FloatTensor()`?"""
    return "no_dimension" in t.__dict__ and not t.raw.size


def _as_mask(x: Any) -> Any:
    """A ByteTensor among indices or masks selects, as bool does today."""
    if isinstance(x, Tensor) and x.raw.dtype.name == "uint8" and x.raw.ndim:
        return x.bool()  # type: ignore[attr-defined]
    return tuple([_as_mask(y) for y in x]) if x.__class__ is tuple else x


def _divide(name: str, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Division of integers gives integers, rounded towards 0."""
    operands = [x for x in args[:2] if isinstance(x, Tensor)]
    whole = all(x.raw.dtype.kind in "iu" for x in operands) and all(
        isinstance(x, (Tensor, int)) for x in args[:2]
    )
    if not whole or len(args) < 2 or kwargs:
        return f(*args, **kwargs)
    a, b = args[:2] if name != "__rtruediv__" else (args[1], args[0])
    if name in ("div_", "__itruediv__"):
        return a.div_(b, rounding_mode="trunc")
    if not isinstance(a, Tensor):
        a = b.new([a])  # a number in front
    return a.div(b, rounding_mode="trunc")


def _result(x: Any, inputs: list[Tensor], is_variable: bool, volatile: bool, along: bool, kept: Any) -> Any:
    """What today's result was in 2017."""
    if isinstance(x, tuple):
        parts = [_result(y, inputs, is_variable, volatile, True, None) for y in x]
        return tuple(parts)
    if isinstance(x, list):
        return [_result(y, inputs, is_variable, volatile, True, None) for y in x]
    if not isinstance(x, Tensor):
        return x
    if any(x is t for t in inputs):
        return x
    if not x.raw.ndim and not (is_variable or x.node is not None or along):
        return x.item()
    if x.raw.dtype.kind == "b":
        x = x.byte()  # type: ignore[attr-defined]
    elif kept is not None and x.raw.dtype != kept:
        x = x.to(inputs[0].dtype)  # type: ignore[attr-defined]
    if not x.raw.ndim:
        x = x.view(1)  # type: ignore[attr-defined]
    if is_variable:
        variables.mark(x, volatile)
    return x


def iterate(self: Tensor) -> Iterator[Any]:
    """The elements: numbers of a vector, rows of a matrix."""
    is_variable = variables.is_variable(self)
    for row in self.unbind(0):  # type: ignore[attr-defined]
        yield _result(row, [], is_variable, False, False, None)
