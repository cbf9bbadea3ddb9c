"""Overwriting a tensor: copy_, fill_, zero_.

A tensor that is overwritten stays in the graph, with gradient zero for what was lost, as in PyTorch.
"""

import math
from typing import Any

import numpy as np

from .. import device as devices
from .. import dtype as dtypes
from .. import modes
from ..api import FUNCTIONS, attach, check_tensor
from ..errors import explain
from ..inplace import check_allowed, in_place, put, replace, stamp
from ..meeting import NUMBERS
from ..op import TABLE, Op
from ..overlap import check_overlap, check_partial_overlap
from ..tensor import Tensor, type_name, wrap
from .casting import cast, to_device

ndarray, generic = np.ndarray, np.generic


# ------------------------------------------------------------------------------------------------ rows
def _zero(a: Any) -> Any:
    return np.zeros_like(a) if a.ndim or not isinstance(a, generic) else a.dtype.type(0)


zero: Op = Op("zero", _zero, a=lambda g, n: zero(g), mode="elementwise", symbol="0", partials=("0",), latex="0",
          doc="Zeros in the place of the elements.")  # fmt: skip


def stretched(a: Any, b: Any) -> Any:
    """b in the shape and dtype of a."""
    if b.__class__ in NUMBERS:
        return np.full_like(a, b)
    return np.broadcast_to(b, a.shape).astype(a.dtype)


def _recast(g: Any, n: Any) -> Any:
    return cast(g, p=n.p) if n.p else g


# p is None, or (the second input's dtype, the first's) where they differ
copy_row: Op = Op(
    "copy", lambda a, b, p: stretched(a, b), a=lambda g, n: zero(g), b=_recast, mode="joint", params=True, spreads=True,
    node="CopyBackwards", symbol="←", partials=("0", "1"), latex="{b}", batch="overwrite",
    doc="The tensor overwritten with another.",
)  # fmt: skip
fill_row: Op = Op(
    "fill", lambda a, b, p: stretched(a, b), a=lambda g, n: zero(g), b=_recast, mode="joint", params=True, spreads=True,
    node="FillBackward3", symbol="←", partials=("0", "1"), latex="{b}",
    batch="overwrite", doc="The tensor with every element overwritten by a 0-d tensor.",
)  # fmt: skip
fill_number: Op = Op(
    "fill_number", lambda a, b: stretched(a, b), a=lambda g, n: zero(g), jvp=lambda ts, n: zero(ts[0]),
    node="FillBackward2", symbol="←", partials=("0",), latex="{b}",
    batch="overwrite", doc="The tensor with every element overwritten by a number.",
)  # fmt: skip


def dtypes_of(x: Tensor, value: Any) -> Any:
    """The parameters of a row that casts its second input to the first one's dtype."""
    if not isinstance(value, Tensor) or value.raw.dtype == x.raw.dtype:
        return None
    return value.raw.dtype, x.raw.dtype


# ------------------------------------------------------------------------------------------------ numbers that fit
_C_NAMES = {"int32": "int", "float16": "at::Half", "float32": "float", "float64": "double", "bool": "bool",
            "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}  # fmt: skip


def fitting(value: Any, np_dtype: Any) -> Any:
    """A Python number as NumPy can write it into that dtype without a complaint.

    Raises RuntimeError if the number does not fit.  (Negative numbers wrap in unsigned types, as in PyTorch.)
    """
    kind = np_dtype.kind
    if kind == "c":
        return value
    if isinstance(value, complex):
        if value.imag:
            raise no_fit(np_dtype)
        value = value.real
    if kind == "b":
        return bool(value)
    if kind in "iu":
        if isinstance(value, float) and not math.isfinite(value):
            raise no_fit(np_dtype)
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError("Overflow when unpacking long long")
        info = np.iinfo(np_dtype)
        if not (-info.max if kind == "u" else info.min) <= number <= info.max:
            raise no_fit(np_dtype)
        return number % (info.max + 1) if kind == "u" else number
    if np_dtype == np.float32 and 3.4028235677973366e38 < abs(value) < math.inf:
        raise no_fit(np_dtype)
    return value


def no_fit(np_dtype: Any) -> RuntimeError:
    name = dtypes.of(np_dtype).name
    return explain(
        RuntimeError,
        f"value cannot be converted to type {_C_NAMES.get(name, name + '_t')} without overflow",
        f"The tensor holds {name}, and this number is not one.",
        "convert the tensor to a dtype that can hold it.",
    )


# ------------------------------------------------------------------------------------------------ overwriting
def overwrite(x: Tensor, value: Any) -> None:
    """x[...] = value, recorded where a gradient is: a number that fits, or a tensor."""
    tracked = x.node is not None or getattr(value, "node", None) is not None
    if x.is_dual or getattr(value, "is_dual", False) or tracked and modes.is_grad_enabled():
        copy_in_place(x, value)
        return
    check_overlap(x)
    raw = value.raw if isinstance(value, Tensor) else value
    target = x.raw
    if isinstance(value, Tensor):
        check_sizes(target.shape, raw)
        if value.device != x.device:
            raw = to_device(value, x.device).raw
        check_partial_overlap(target, raw)
    if isinstance(target, generic):
        put(x, stretched(target, raw))
    else:
        stamp(x)
        target[...] = raw


def overwrite_part(view: Tensor, value: Any) -> None:
    """The same for a fresh view whose change is recorded: its base becomes a copy with the value in that part.

    What the part held has no gradient any more, so the value (expanded and cast) takes its place in the graph itself.
    """
    if view.is_dual or getattr(value, "is_dual", False):
        copy_in_place(view, value)
        return
    check_allowed(view)
    check_overlap(view)
    raw, node = value, None
    if isinstance(value, Tensor):
        check_sizes(view.raw.shape, value.raw)
        check_partial_overlap(view.raw, value.raw)
        if value.device != view.device:
            value = to_device(value, view.device)
        if value.raw.dtype != view.raw.dtype:
            value = cast(value, p=(view.raw.dtype, value.raw.dtype))
        if value.raw.shape != view.raw.shape:
            value = TABLE["expand"](value, p=view.raw.shape)
        raw, node = value.raw, value.node
    replace(view, raw, node)


def copied(input: Tensor, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        check_sizes(input.raw.shape, value.raw)
        check_partial_overlap(input.raw, value.raw)
        if value.device != input.device:
            value = to_device(value, input.device)
    return copy_row(input, value, p=dtypes_of(input, value))


copied.__name__ = "copy"
copy_in_place = in_place(copied, copy_row)


def check_sizes(target: tuple[int, ...], value: Any) -> None:
    """PyTorch's error where a value (a raw array) does not expand to the target."""
    source = value.shape
    if len(source) > len(target):
        raise explain(
            RuntimeError,
            f"expand({type_name(value)}{{{list(source)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(source)})",
            f"A value of shape {list(source)} does not go into a place of shape {list(target)}.",
        )
    lead = len(target) - len(source)
    for i, n in enumerate(source):
        if n != 1 and n != target[lead + i]:
            raise explain(
                RuntimeError,
                f"The expanded size of the tensor ({target[lead + i]}) must match the existing size ({n}) at "
                f"non-singleton dimension {lead + i}.  Target sizes: {list(target)}.  Tensor sizes: {list(source)}",
                f"A value of shape {list(source)} does not broadcast to a place of shape {list(target)}.",
            )


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Overwrite this tensor with the elements of `src`, which broadcasts and is cast; returns the tensor itself.

    `src` may live on another device.  Gradients flow to `src`; what was overwritten gets none.

    >>> import autodiff_kernel as torch
    >>> x = torch.zeros(2, 2)
    >>> x.copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if isinstance(src, Tensor):
        a, b = self.raw.shape, src.raw.shape
        if a != b:
            from ..failures import shape_clash

            clash = shape_clash([a, b])
            if clash is not None:
                raise clash
            if np.broadcast_shapes(a, b) != a:
                raise explain(
                    RuntimeError,
                    f"output with shape {list(a)} doesn't match the broadcast shape {list(np.broadcast_shapes(a, b))}",
                )
    elif isinstance(src, NUMBERS):  # a 0-d tensor for PyTorch here: cast, not refused if it does not fit
        src = wrap(np.asarray(src).astype(self.raw.dtype)[()])
    else:
        check_tensor("copy_", src, "other")
    overwrite(self, src)
    if modes.watch[0] is not None:
        modes.watchers["assigned"](self, None, src, "copy")
    return self


def filled(input: Tensor, value: Any) -> Tensor:
    """A tensor of the input's shape and dtype with every element equal to `value`, a number or a 0-d tensor.

    >>> import autodiff_kernel as torch
    >>> torch.fill(torch.ones(2), 3)
    tensor([3., 3.])
    """
    if not isinstance(value, Tensor):
        if not isinstance(value, NUMBERS):
            check_tensor("fill", value, "value", 2)
        return fill_number(input, fitting(value, input.raw.dtype))
    if value.raw.ndim:
        raise explain(
            RuntimeError,
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.raw.ndim} dimensions.",
            cure="use copy_() for a tensor of values.",
        )
    if value.device != input.device:
        value = to_device(value, input.device)
    return fill_row(input, value, p=dtypes_of(input, value))


def filled_with(input: Tensor, value: Any) -> Tensor:
    """x[...] = value, where it is a number or a 0-d tensor: PyTorch makes a 0-d tensor of a number first."""
    return (
        fill_row(input, value, p=dtypes_of(input, value))
        if not isinstance(value, Tensor)
        else filled(input, value)
    )


filled_with.__name__ = "fill"
fill_in_place = in_place(filled_with, fill_row)


def zeroed(input: Tensor) -> Tensor:
    """Zeros in the input's shape and dtype.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2).zero_()
    tensor([0., 0.])
    """
    return zero(input)


def _attach() -> None:
    filled.__name__, zeroed.__name__ = "fill", "zero"
    attach("copy_", copy_)
    FUNCTIONS["fill"] = filled
    for name, form in {
        "fill_": in_place(filled, fill_row, True),
        "zero_": in_place(zeroed, zero, True),
    }.items():
        attach(name, form)
        FUNCTIONS[name] = form


_attach()
_ = devices
