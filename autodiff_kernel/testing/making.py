"""make_tensor: a tensor of random numbers to try a function on."""

import math
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core.api import FUNCTIONS
from ..core.tensor import Tensor


def make_tensor(
    *shape: Any, dtype: dtypes.dtype, device: Any = "cpu", low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of numbers drawn evenly from [low, high): by default from -9 to 9, for uint8 from 0 to 9.

    shape: sizes, or one sequence of them.  noncontiguous: its elements lie two apart.  exclude_zero: 0 is replaced by 1,
    or by the smallest normal number of a floating dtype.  Raises ValueError for bounds that make no sense.

    >>> import autodiff_kernel as torch
    >>> torch.testing.make_tensor(2, 3, dtype=torch.int32, device="cpu", low=0, high=5).shape
    torch.Size([2, 3])
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    floating = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not floating:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive")
    start, stop = bounds(dtype, low, high)
    apart = noncontiguous and math.prod(shape) > 1
    if apart:
        shape = (*shape[:-1], 2 * shape[-1])
    if floating:
        t = FUNCTIONS["empty"](*shape, dtype=dtype, device=device)
        (FUNCTIONS["view_as_real"](t) if dtype.is_complex else t).uniform_(start, stop)
    elif dtype is dtypes.bool:
        t = FUNCTIONS["randint"](int(start), int(stop), shape, device=device, dtype=dtype)
    else:
        t = FUNCTIONS["randint"](math.floor(start), math.ceil(stop), shape, device=device, dtype=dtype)
    if apart:
        t = t[..., 1::2]
    elif memory_format is not None:
        t = t.clone(memory_format=memory_format)
    if exclude_zero:
        t[t == 0] = dtypes.finfo(dtype).tiny if floating else 1
    return t.requires_grad_() if requires_grad else t  # type: ignore[no-any-return]


def bounds(dtype: dtypes.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """The range to draw from: defaults filled in, and cut to what the dtype can hold."""
    floating = dtype.is_floating_point or dtype.is_complex
    if dtype is dtypes.bool:
        least, most, own = 0.0, 2.0, (0.0, 2.0)
    elif floating:
        most = float(np.finfo(np.float32).max if dtype is dtypes.bfloat16 else np.finfo(dtype.np).max)
        least, own = -most, (-9.0, 9.0)
    else:
        info = np.iinfo(dtype.np)
        least, most = float(info.min), float(info.max) + (dtype is not dtypes.int64)
        own = (0.0, 10.0) if dtype is dtypes.uint8 else (-9.0, 10.0)
    low, high = own[0] if low is None else low, own[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        shown = [int(x) if isinstance(x, float) and x.is_integer() else x for x in (low, high)]
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={shown[0]} and high={shown[1]}")
    if low > high or low == high and not floating:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    return max(low, least), min(high, most)
