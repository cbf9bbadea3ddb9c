"""Tensors that count: arange, range, linspace, logspace, eye, the indices of triangles; and single numbers."""

import math
import warnings
from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from .api import into
from .create import export, home_of, made, np_dtype
from .data import as_dtype
from .tensor import Tensor


def number(function: str, argument: str, position: int, x: Any) -> Any:
    """A Python number from a number or a 0-d tensor; PyTorch's TypeError for anything else."""
    if isinstance(x, Tensor):
        if not x.raw.ndim:
            return x.item()
        raise RuntimeError(
            f"{function} only supports 0-dimensional start and end tensors, but got {argument} with "
            f"{x.raw.ndim} "
            "dimension(s)."
        )
    if isinstance(x, np.generic):
        x = x.item()
    if not isinstance(x, (bool, int, float, complex)):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be Number, not "
            f"{type(x).__name__}"
        )
    return int(x) if x.__class__ is bool else x


def counted(function: str, start: Any, end: Any, step: Any, inclusive: bool) -> int:
    """How many numbers there are from start to end."""
    for x in (start, end, step):
        if isinstance(x, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if inclusive:
        return int((end - start) / step) + 1
    if all(x.__class__ is int for x in (start, end, step)):
        return -((start - end) // step)
    return math.ceil((end - start) / step)


def steps(count: int, start: Any, step: Any, dtype: Any, home: Any) -> Any:
    """start + step k for k below count; floating numbers are computed in float64."""
    if dtype.kind == "b":
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    if dtype.kind in "iu":
        out = devices.arange(count, dtype=np.dtype(np.int64), device=home)
        return (out * int(step) + int(start)).astype(dtype)
    return (devices.arange(count, dtype=np.dtype(np.float64), device=home) * step + start).astype(dtype)


@export
def arange(
    *bounds: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, **named: Any,
) -> Tensor:  # fmt: skip
    """The numbers from `start` (0) to `end`, without it, by `step` (1): arange(end), arange(start, end, step).

    int64 if all are ints, else the default dtype.  Raises RuntimeError if the step is 0 or leads away from the end.

    >>> import autodiff_kernel as torch
    >>> torch.arange(3), torch.arange(1, 2, 0.5)
    (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    if dtype is None and out is None and device is None and not named and plainly(bounds):
        return made(np.arange(*bounds, dtype=np.int64), requires_grad)
    start, end, step = ends("arange", bounds, named)
    if start.__class__ is int and end.__class__ is int and step.__class__ is int:
        d = np.dtype(np.int64) if dtype is None else np_dtype(dtype, "arange")
    else:
        d = np_dtype(dtype, "arange")
    if out is not None and dtype is None:
        d = out.raw.dtype
    if d == np.int64 and not any(isinstance(x, complex) or not math.isfinite(x) for x in (start, end, step)):
        if step and not int(step):
            raise ValueError("step must be nonzero")
        start, end, step = int(start), int(end), int(step)
    count = counted("arange", start, end, step, False)
    result = made(steps(count, start, step, d, home_of(device)), requires_grad)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


def plainly(bounds: tuple[Any, ...]) -> bool:
    """arange(n) or arange(m, n) with m <= n, of ints, on the CPU: what most calls are."""
    if len(bounds) == 1:
        usual = bounds[0].__class__ is int and bounds[0] >= 0
    else:
        usual = (
            len(bounds) == 2 and bounds[0].__class__ is bounds[1].__class__ is int and bounds[0] <= bounds[1]
        )
    return usual and devices.default_device() is devices.CPU and bounds[-1] < 2**63


def ends(function: str, bounds: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any, Any]:
    """start, end and step from positional and named arguments."""
    names = (
        ["end"]
        if len(bounds) == 1 and "start" not in named and "end" not in named
        else ["start", "end", "step"]
    )
    if len(bounds) > 3:
        raise TypeError(f"{function}() takes 1 to 3 positional arguments but {len(bounds)} were given")
    given = dict(zip(names, bounds, strict=False))
    for name, value in named.items():
        if name not in ("start", "end", "step"):
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        given[name] = value
    if "end" not in given:
        raise TypeError(
            f"{function}() received an invalid combination of arguments - got (), but expected (Number end), "
            "(Number start, Number end) or (Number start, Number end, Number step)"
        )
    where = {name: i + 1 for i, name in enumerate(names)}
    return tuple(
        number(function, name, where.get(name, 1), given.get(name, default))
        for name, default in (("start", 0), ("end", None), ("step", 1))
    )  # type: ignore[return-value]


@export
def range(
    start: Any, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers from `start` to `end`, with it, by `step`.  Deprecated: `arange` counts as Python does.

    >>> import warnings, autodiff_kernel as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.range(1, 3)
    tensor([1., 2., 3.])
    """
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    first, last, by = (number("range", name, i, x) for i, (name, x) in
                       enumerate((("start", start), ("end", end), ("step", step)), 1))  # fmt: skip
    count = counted("range", first, last, by, True)
    result = made(steps(count, first, by, np_dtype(dtype, "range"), home_of(device)), requires_grad)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ between two ends
def between(function: str, start: Any, end: Any, count: Any, dtype: Any) -> tuple[Any, Any]:
    """Evenly spaced numbers, on the CPU; from both ends towards the middle, as PyTorch computes them."""
    a, b = number(function, "start", 1, start), number(function, "end", 2, end)
    if count.__class__ is bool or not hasattr(count, "__index__"):
        raise TypeError(
            f"{function}(): argument 'steps' (position 3) must be int, not {type(count).__name__}"
        )
    n = int(count)
    if n < 0:
        raise RuntimeError("number of steps must be non-negative")
    if dtype is None:
        default = dtypes.get_default_dtype()
        dtype = default.to_complex() if isinstance(a, complex) or isinstance(b, complex) else default
    d = as_dtype(dtype, function).np
    kind: Any = np.float64 if d.kind in "iub" or d == np.float16 else d.type
    if n < 2:
        return np.full(n, a, d.type if d.kind != "f" else kind), d
    if d.kind in "iu":
        a, b = int(a), int(b)
    step = (kind(b) - kind(a)) / kind(n - 1)
    k = np.arange(n)
    low = kind(a) + step * k.astype(kind)
    high = kind(b) - step * (n - 1 - k).astype(kind)
    return np.where(k < n // 2, low, high), d


@export
def linspace(
    start: Any, end: Any, steps: int, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` evenly spaced numbers from `start` to `end`, both included.

    >>> import autodiff_kernel as torch
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    values, d = between("linspace", start, end, steps, dtype)
    result = made(devices.asarray(values.astype(d), d, home_of(device)), requires_grad)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@export
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """`base` to the power of `steps` evenly spaced numbers from `start` to `end`, both included.

    >>> import autodiff_kernel as torch
    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    values, d = between("logspace", start, end, steps, dtype)
    powers = base ** values.astype(np.result_type(values, np.float64))
    result = made(devices.asarray(powers.astype(d), d, home_of(device)), requires_grad)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ matrices
def extent(function: str, name: str, n: Any, position: int) -> int:
    if n.__class__ is bool or not hasattr(n, "__index__"):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be int, not {type(n).__name__}"
        )
    return int(n)


@export
def eye(
    n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The n × m matrix (n × n without `m`) with ones on the diagonal and zeros elsewhere.

    >>> import autodiff_kernel as torch
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    rows = extent("eye", "n", n, 1)
    columns = rows if m is None else extent("eye", "m", m, 2)
    for name, k in (("n", rows), ("m", columns)):
        if k < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {k}")
    result = made(
        devices.eye(rows, columns, dtype=np_dtype(dtype, "eye"), device=home_of(device)), requires_grad
    )
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


def _triangle(name: str, side: str, find: Any, example: str) -> None:
    def indices(
        row: int,
        col: int,
        offset: int = 0,
        *,
        dtype: Any = dtypes.int64,
        device: Any = None,
        layout: Any = None,
    ) -> Tensor:
        for label, k in (("row", row), ("col", col)):
            if k < 0:
                raise RuntimeError(f"{label} must be non-negative, got{k}")
        d = np_dtype(dtype, name)
        return made(devices.asarray(np.stack(find(row, offset, col)).astype(d), d, home_of(device)))

    doc = f"The row and column numbers of a matrix's {side} triangle, as a 2 × N tensor."
    export(indices, name, f"{doc}\n\n>>> import autodiff_kernel as torch\n{example}")


_triangle(
    "tril_indices", "lower", np.tril_indices,
    ">>> torch.tril_indices(2, 2)\ntensor([[0, 1, 1],\n        [0, 0, 1]])",
)  # fmt: skip
_triangle(
    "triu_indices", "upper", np.triu_indices,
    ">>> torch.triu_indices(2, 2)\ntensor([[0, 0, 1],\n        [0, 1, 1]])",
)  # fmt: skip


@export
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A 0-d tensor of one number, in the default dtype if none is given.

    >>> import autodiff_kernel as torch
    >>> torch.scalar_tensor(3)
    tensor(3.)
    """
    d = np_dtype(dtype, "scalar_tensor")
    value = number("scalar_tensor", "s", 1, s)
    return made(devices.asarray(np.asarray(value).astype(d), d, home_of(device)), requires_grad)


# ------------------------------------------------------------------------------------------------ windows
def _window(name: str, terms: Any, title: str, example: str) -> None:
    def window(
        window_length: int, periodic: bool = True, *parameters: float, dtype: Any = None, layout: Any = None,
        device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **named: float,
    ) -> Tensor:  # fmt: skip
        n = extent(name, "window_length", window_length, 1)
        d = np_dtype(dtype, name)
        if d.kind != "f":
            raise RuntimeError(f"{name} expects floating point dtypes, got: {dtypes.of(d)}")
        if n < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={n}")
        size = n + 1 if periodic else n
        t = np.arange(n, dtype=np.float64) / max(size - 1, 1)
        values = np.ones(n) if n == 1 else terms(t, *parameters, **named)
        return made(devices.asarray(values.astype(d), d, home_of(device)), requires_grad)

    doc = f"The {title} window of `window_length` points; `periodic` leaves out the last of one more."
    export(window, name, f"{doc}\n\n>>> import autodiff_kernel as torch\n{example}")


def _cosines(t: Any, *weights: float) -> Any:
    return sum(w * np.cos(2 * np.pi * k * t) for k, w in enumerate(weights))


def _kaiser(t: Any, beta: float = 12.0) -> Any:
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * t - 1) ** 2, 0))) / np.i0(beta)


_window(
    "bartlett_window", lambda t: 1 - np.abs(2 * t - 1), "triangular (Bartlett)",
    ">>> torch.bartlett_window(4)\ntensor([0.0000, 0.5000, 1.0000, 0.5000])",
)  # fmt: skip
_window(
    "hann_window", lambda t: _cosines(t, 0.5, -0.5), "Hann",
    ">>> torch.hann_window(4)\ntensor([0.0000, 0.5000, 1.0000, 0.5000])",
)  # fmt: skip
_window(
    "hamming_window", lambda t, alpha=0.54, beta=0.46: _cosines(t, alpha, -beta), "Hamming",
    ">>> torch.hamming_window(4)\ntensor([0.0800, 0.5400, 1.0000, 0.5400])",
)  # fmt: skip
_window(
    "blackman_window", lambda t: _cosines(t, 0.42, -0.5, 0.08), "Blackman",
    ">>> torch.blackman_window(3, periodic=False)[1]\ntensor(1.)",
)  # fmt: skip
_window("kaiser_window", _kaiser, "Kaiser", ">>> torch.kaiser_window(3, periodic=False)[1]\ntensor(1.)")
