"""Fractional max pooling: images shrunk by any factor, with windows at random steps."""

from typing import Any

from ...core.api import FUNCTIONS, check_tensor
from ...core.op import TABLE
from ...core.rules.forms import refuse
from ...core.rules.fractional import fractional_row
from ...core.tensor import Tensor

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]  # fmt: skip
AXES = ("time", "height", "width")


def _several(value: Any, dims: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


def _fractional(x: Any, kernel: Any, output_size: Any, output_ratio: Any, samples: Any, dims: int) -> Any:
    name = f"fractional_max_pool{dims}d"
    check_tensor(name, x)
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    shape = x.raw.shape
    if len(shape) not in (dims + 1, dims + 2):
        raise IndexError(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got {list(shape)}")
    sizes = shape[-dims:]
    if output_size is None:
        out = tuple(int(n * r) for n, r in zip(sizes, _several(output_ratio, dims)))
    else:
        out = tuple(int(n) for n in _several(output_size, dims))
    window = tuple(int(k) for k in _several(kernel, dims))
    if x.raw.dtype.kind in "iub":
        refuse("check_uniform_bounds", x.raw)
    for axis, n, m, k in zip(AXES[3 - dims :], sizes, out, window):
        if m + k - 1 > n:
            raise RuntimeError(f"{name}(): pool {axis} {k} too large relative to input {axis} {n}")
    batch = TABLE["unsqueeze"](x, p=0) if len(shape) == dims + 1 else x
    lead = batch.raw.shape[:2]
    if samples is None:
        samples = FUNCTIONS["rand"](*lead, dims, dtype=x.dtype, device=x.device)
    if len(shape) == dims + 1:
        samples = samples[:1]
    for i, what, n in ((0, "batch", lead[0]), (1, "channel", lead[1]), (2, "dimension", dims)):
        if samples.raw.shape[i] != n:
            raise RuntimeError(f"Expect _random_samples.size({i}) equals to input {what} size.")
    y = fractional_row(batch, samples, p=(window, sizes, out))
    return tuple(v.squeeze(0) for v in y) if len(shape) == dims + 1 else y


def fractional_max_pool2d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """The greatest elements of windows at random steps: (N, C, H, W) shrunk to `output_size`, or by `output_ratio`.

    Raises ValueError without both, RuntimeError for windows that are too large.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.fractional_max_pool2d(torch.arange(16.).view(1, 4, 4), 2, output_size=3).shape
    torch.Size([1, 3, 3])
    """
    y = _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)
    return y if return_indices else y[0]


def fractional_max_pool3d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """The same for volumes (N, C, T, H, W); see `fractional_max_pool2d`."""
    y = _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)
    return y if return_indices else y[0]


def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """fractional_max_pool2d, and where in its plane each greatest element was."""
    return _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)


def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """fractional_max_pool3d, and where in its volume each greatest element was."""
    return _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)
