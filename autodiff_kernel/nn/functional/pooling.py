"""Pooling: the greatest element, the mean or a norm of each window."""

from math import prod
from typing import Any, NoReturn

from ...core.api import check_tensor
from ...core.errors import explain
from ...core.rules.convolutions import is_whole
from ...core.rules.forms import refuse
from ...core.rules.pooling import Windows, adaptive_max_row, avg_pool_row, max_pool_row, max_unpool_row
from ...core.rules.resampling import resample_row
from ...core.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d",
    "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip
WORDS = ("", "one int", "two ints", "three ints")


# ------------------------------------------------------------------------------------------------ where windows lie
def _each(value: Any, dims: int, name: str, what: str) -> tuple[int, ...]:
    """A number for each dimension, from one or from several."""
    if is_whole(value):
        return (int(value),) * dims
    if not isinstance(value, (tuple, list)) or not all(map(is_whole, value)):
        raise TypeError(f"{name}(): argument '{what}' must be tuple of ints, not {type(value).__name__}")
    if len(value) == 1:
        return (int(value[0]),) * dims
    if len(value) != dims:
        must = "either be omitted, a single int," if what == "stride" else "either be a single int,"
        raise RuntimeError(f"{name}: {what} must {must} or a tuple of {WORDS[dims]}")
    return tuple(int(v) for v in value)


def _check_dims(shape: tuple[int, ...], dims: int, name: str) -> None:
    if len(shape) not in (dims + 1, dims + 2):
        text = f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input"
        if dims == 1:
            text = (
                "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                f"{list(shape)}"
                if name == "max_pool1d"
                else f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' (while "
                f"checking arguments for {name})"
            )
        kind = IndexError if name == "avg_pool2d" and len(shape) < 3 else RuntimeError
        raise explain(
            kind,
            text,
            f"The input of {name} is (samples, channels, …) or (channels, …), not {list(shape)}.",
            "x.unsqueeze(0) adds a dimension of one channel.",
            topic="dimensions",
            shapes=(shape,),
        )
    if 0 in shape[-dims - 1 :]:
        empty = next(i for i in range(len(shape) - dims - 1, len(shape)) if not shape[i])
        raise RuntimeError(
            f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)} and non-batch dimension {shape[empty]} has length zero!"
            if dims == 3
            else f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(shape)}"
        )


def _check_numbers(p: Windows, own: bool) -> None:
    """PyTorch's refusals, which max_pool1d words in its own way."""
    dims = len(p.kernel)
    for what, values in (("kernel_size", p.kernel), ("stride", p.stride), ("dilation", p.dilation)):
        if min(values) > 0:
            continue
        if own:
            raise RuntimeError(f"max_pool1d() {what} must be greater than zero, but got {min(values)}")
        if what == "dilation":
            letters = zip("THW"[3 - dims :], values)
            raise RuntimeError(
                "dilation should be greater than zero, but got "
                + " ".join(f"dilation{c}: {v}" for c, v in letters)
            )
        raise RuntimeError(
            "stride should not be zero" if what == "stride" else "kernel size should be greater than zero"
        )
    for q, k, d in zip(p.padding, p.kernel, p.dilation):
        if q < 0:
            raise RuntimeError(
                f"max_pool1d() padding must be non-negative, but got {q}"
                if own
                else f"pad must be non-negative, but got pad: {q}"
            )
        if q > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"max_pool1d() padding should be at most half of kernel size, but got padding={q} and kernel_size={k}"
                if own
                else f"pad should be at most half of effective kernel size, but got pad={q}, kernel_size={k} and dilation={d}"
            )


def _too_small(shape: tuple[int, ...], out: tuple[int, ...], name: str) -> NoReturn:
    """No window fits."""
    dims = len(out)
    one = (1,) if dims == 1 else ()  # avg_pool1d goes through avg_pool2d there
    sizes = ["x".join(map(str, (shape[-dims - 1], *one, *s))) for s in (shape[-dims:], out)]
    raise explain(
        RuntimeError,
        f"max_pool1d() Invalid computed output size: {out[0]}"
        if name == "max_pool1d"
        else f"Given input size: ({sizes[0]}). Calculated output size: ({sizes[1]}). Output size is too small",
        f"The window is greater than what is left of the input, {' x '.join(map(str, shape[-dims:]))}.",
        "take away a pooling layer, or pad.",
        topic="kernel",
        sizes=(shape[-dims:],),
    )


def _windows(
    input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, dims: int, name: str,
    own: bool = False,
) -> Windows:  # fmt: skip
    check_tensor(name, input)
    shape = input.raw.shape
    size = _each(kernel, dims, name, "kernel_size")
    step = size if stride is None or stride == [] or stride == () else _each(stride, dims, name, "stride")
    p = Windows(
        size,
        step,
        _each(padding, dims, name, "padding"),
        _each(dilation, dims, name, "dilation"),
        (),
        shape[-dims:],
    )
    _check_numbers(p, own)
    _check_dims(shape, dims, name)
    out = []
    for n, k, s, q, d in zip(p.input, p.kernel, p.stride, p.padding, p.dilation):
        span = n + 2 * q - d * (k - 1) - 1
        count = -(-span // s) + 1 if ceil_mode else span // s + 1
        if ceil_mode and (count - 1) * s >= n + q:  # a window that begins in the border behind holds nothing
            count -= 1
        out.append(count)
    if min(out) < 1:
        _too_small(shape, tuple(out), name)
    return p._replace(output=tuple(out))


# ------------------------------------------------------------------------------------------------ the greatest
def _max(
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
    dims: int,
) -> Any:
    p = _windows(
        input,
        kernel,
        stride,
        padding,
        dilation,
        ceil_mode,
        dims,
        f"max_pool{dims}d",
        dims == 1 and not return_indices,
    )
    y = max_pool_row(input, p=p)
    return y if return_indices else y[0]


def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of (N, C, L) or (C, L); see `max_pool2d`.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.max_pool1d(torch.tensor([[3., 1., 2., 5.]]), 2)
    tensor([[3., 5.]])
    """
    return _max(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 1)


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of (N, C, H, W) or (C, H, W); the stride is the window's size unless it is given.

    ceil_mode: also windows that reach over the end.  return_indices: also where in its plane each was.  The gradient goes
    to the greatest element, of equal ones to the first.  Raises RuntimeError for padding above half of the window, or a
    window greater than the image.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.max_pool2d(torch.arange(16.).view(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    return _max(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2)


def max_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of (N, C, D, H, W) or (C, D, H, W); see `max_pool2d`.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.max_pool3d(torch.arange(8.).view(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    return _max(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 3)


def max_pool1d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """max_pool1d, and where each greatest element was."""
    return _max(input, kernel_size, stride, padding, dilation, ceil_mode, True, 1)


def max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """max_pool2d, and where in its plane each greatest element was."""
    return _max(input, kernel_size, stride, padding, dilation, ceil_mode, True, 2)


def max_pool3d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """max_pool3d, and where in its volume each greatest element was."""
    return _max(input, kernel_size, stride, padding, dilation, ceil_mode, True, 3)


def _unpool(
    input: Tensor, indices: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any, dims: int
) -> Tensor:
    name = f"max_unpool{dims}d"
    size = _each(kernel, dims, name, "kernel_size")
    step = size if stride is None or stride == [] or stride == () else _each(stride, dims, name, "stride")
    border, shape = _each(padding, dims, name, "padding"), input.raw.shape
    usual = [(n - 1) * s - 2 * q + k for n, s, q, k in zip(shape[-dims:], step, border, size)]
    sizes = usual
    if output_size is not None:
        sizes = list(output_size)
        if len(sizes) == dims + 2:
            sizes = sizes[2:]
        if len(sizes) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(output_size)}'"
            )
        for d, (n, u, s) in enumerate(zip(sizes, usual, step)):
            if not u - s < n < u + s:
                raise ValueError(
                    f'invalid output_size "{tuple(sizes)}" (dim {d} must be between {u - s} and {u + s})'
                )
    if indices.raw.dtype.name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.scalar_type}")
    if indices.raw.shape != shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got indices tensor with "
            f"shape: {list(indices.raw.shape)}"
        )
    return max_unpool_row(input, indices, p=(dims, tuple(int(n) for n in sizes)))  # type: ignore[no-any-return]


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values back at the places that max_pool1d took them from, zeros elsewhere.

    >>> import autodiff_kernel as torch
    >>> F = torch.nn.functional
    >>> y, at = F.max_pool1d(torch.tensor([[3., 1., 2., 5.]]), 2, return_indices=True)
    >>> F.max_unpool1d(y, at, 2)
    tensor([[3., 0., 0., 5.]])
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values back at the places that max_pool2d took them from, zeros elsewhere; see `max_unpool1d`."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Values back at the places that max_pool3d took them from, zeros elsewhere; see `max_unpool1d`."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)


# ------------------------------------------------------------------------------------------------ means and norms
def _avg(
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    include: bool,
    divisor: Any,
    dims: int,
) -> Tensor:
    p = _windows(input, kernel, stride, padding, 1, ceil_mode, dims, f"avg_pool{dims}d")
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    return avg_pool_row(input, p=(p, bool(include), divisor))  # type: ignore[no-any-return]


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, L) or (C, L); see `avg_pool2d`.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.avg_pool1d(torch.tensor([[3., 1., 2., 5.]]), 2)
    tensor([[2.0000, 3.5000]])
    """
    return _avg(input, kernel_size, stride, padding, ceil_mode, count_include_pad, None, 1)


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Any = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, H, W) or (C, H, W); the stride is the window's size unless it is given.

    count_include_pad: zeros of the border count as elements.  divisor_override: divide by this instead of their number.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(4.).view(1, 1, 2, 2), 2)
    tensor([[[[1.5000]]]])
    """
    return _avg(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Any = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W); see `avg_pool2d`."""
    return _avg(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 3)


def _lp(input: Any, norm_type: float, kernel: Any, stride: Any, ceil_mode: bool, dims: int) -> Tensor:
    sizes = _each(kernel, dims, f"lp_pool{dims}d", "kernel_size")
    mean = _avg(input**norm_type, sizes, stride, 0, ceil_mode, True, None, dims)
    total: Any = mean.sign() * mean.abs().relu() * prod(sizes)  # type: ignore[attr-defined]
    return total ** (1.0 / norm_type)  # type: ignore[no-any-return]


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, L).

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3., 4.]]), 2, 2)
    tensor([[5.]])
    """
    return _lp(input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, H, W); see `lp_pool1d`."""
    return _lp(input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, D, H, W); see `lp_pool1d`."""
    return _lp(input, norm_type, kernel_size, stride, ceil_mode, 3)


# ------------------------------------------------------------------------------------------------ adaptive
def _wanted(input: Tensor, output_size: Any, dims: int, name: str) -> tuple[int, ...]:
    """The result's sizes; None keeps the input's."""
    check_tensor(name, input)
    shape = input.raw.shape
    sizes = list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * dims
    if dims > 1 and isinstance(output_size, (tuple, list)) and len(shape) <= len(sizes):
        raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
    if len(sizes) != dims:
        raise RuntimeError(
            f"{name}() argument 'output_size' should contain one int (got {len(sizes)})"
            if dims == 1
            else f"{name}: output_size must be {dims}"
        )
    if len(shape) not in (dims + 1, dims + 2):
        colon = ":" if "max" in name else ""
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' (while checking "
            f"arguments for {name})"
            if dims == 1
            else f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(shape)}"
        )
    made = tuple(n if s is None else int(s) for s, n in zip(sizes, shape[-dims:]))
    if min(made) < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(made)}: {[*shape[:-dims], *made]}"
            if "max" in name
            else f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{', '.join(map(str, made))}}}"
        )
    if 0 in shape[-dims:]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)} "
            f"with dimension {next(i for i in range(len(shape) - dims, len(shape)) if not shape[i])} being empty"
        )
    return made


def adaptive_mean(input: Tensor, output_size: Any, dims: int) -> Tensor:
    sizes = _wanted(input, output_size, dims, f"adaptive_avg_pool{dims}d")
    shape = input.raw.shape[-dims:]
    if input.raw.dtype.kind in "iub":
        refuse(f"adaptive_avg_pool{max(dims, 2)}d", input.raw)
    if dims > 1 and set(sizes) == {1}:
        return input.mean(tuple(range(-dims, 0)), keepdim=True)  # type: ignore[attr-defined, no-any-return]
    plan = tuple((i - dims, "area", n, m, None, False) for i, (n, m) in enumerate(zip(shape, sizes)))
    return resample_row(  # type: ignore[no-any-return]
        input, p=(f"AdaptiveAvgPool{max(dims, 2)}DBackward0", False, plan)
    )


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as `output_size` says; see `adaptive_avg_pool2d`."""
    return adaptive_mean(input, output_size, 1)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows that cover (N, C, H, W), as many as `output_size` says; None keeps a dimension.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(4.).view(1, 1, 2, 2), 1)
    tensor([[[[1.5000]]]])
    """
    return adaptive_mean(input, output_size, 2)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as `output_size` says; see `adaptive_avg_pool2d`."""
    return adaptive_mean(input, output_size, 3)


def _adaptive_max(input: Tensor, output_size: Any, return_indices: bool, dims: int) -> Any:
    sizes = _wanted(input, output_size, dims, f"adaptive_max_pool{dims}d")
    y = adaptive_max_row(input, p=(input.raw.shape[-dims:], sizes))
    return y if return_indices else y[0]


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest element of as many windows as `output_size` says; see `adaptive_max_pool2d`."""
    return _adaptive_max(input, output_size, return_indices, 1)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest element of windows that cover (N, C, H, W), as many as `output_size` says; None keeps a dimension.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(4.).view(1, 1, 2, 2), 1)
    tensor([[[[3.]]]])
    """
    return _adaptive_max(input, output_size, return_indices, 2)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest element of as many windows as `output_size` says; see `adaptive_max_pool2d`."""
    return _adaptive_max(input, output_size, return_indices, 3)


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """adaptive_max_pool1d, and where each greatest element was."""
    return _adaptive_max(input, output_size, True, 1)


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """adaptive_max_pool2d, and where in its plane each greatest element was."""
    return _adaptive_max(input, output_size, True, 2)


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """adaptive_max_pool3d, and where in its volume each greatest element was."""
    return _adaptive_max(input, output_size, True, 3)
