"""Convolutions, windows as columns, and borders."""

from typing import Any

from ...core.api import check_tensor
from ...core.errors import explain
from ...core.rules.convolutions import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    is_whole,
)
from ...core.rules.image_columns import col2im_row, im2col_row
from ...core.rules.padding import constant_pad_row, copies_row
from ...core.tensor import Tensor

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "pad",
    "unfold",
]  # fmt: skip


# ------------------------------------------------------------------------------------------------ columns
def _two(value: Any, name: str) -> tuple[int, int]:
    """A number for each dimension of an image, from one or from two."""
    if is_whole(value):
        return int(value), int(value)
    if len(value) == 1:
        return int(value[0]), int(value[0])
    if len(value) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    return int(value[0]), int(value[1])


def _checked(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    kernel, gaps = _two(kernel_size, "kernel_size"), _two(dilation, "dilation")
    border, steps = _two(padding, "padding"), _two(stride, "stride")
    for name, values, least in (
        ("kernel size", kernel, 1),
        ("dilation", gaps, 1),
        ("stride", steps, 1),
        ("padding", border, 0),
    ):
        if min(values) < least:
            word = "greater than zero" if least else "non-negative"
            raise RuntimeError(f"{name} should be {word}, but got {list(values)}")
    return kernel, gaps, border, steps


def _count(sizes: Any, kernel: Any, gaps: Any, border: Any, steps: Any) -> tuple[int, ...]:
    return tuple(
        (n + 2 * q - d * (k - 1) - 1) // s + 1 for n, k, d, q, s in zip(sizes, kernel, gaps, border, steps)
    )


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images (N, C, H, W) as columns (N, C·kH·kW, number of windows).

    A convolution is a product of the weight, one row for each output channel, with these.  Raises RuntimeError where no
    window fits.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.unfold(torch.arange(9.).view(1, 1, 3, 3), 2)[0, :, 0]
    tensor([0., 1., 3., 4.])
    """
    check_tensor("unfold", input)
    shape = input.raw.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    kernel, gaps, border, steps = _checked(kernel_size, dilation, padding, stride)
    out = _count(shape[-2:], kernel, gaps, border, steps)
    if min(out) < 1:
        raise explain(
            RuntimeError,
            f"Given input with spatial size ({shape[-2]}, {shape[-1]}), kernel_size={kernel}, dilation={gaps}, "
            f"padding={border}, calculated shape of the array of sliding blocks as {out}, but its components must be at "
            "least one.",
            cure="a smaller kernel, or more padding.",
        )
    return im2col_row(input, p=(kernel, steps, border, gaps, out, shape[-2:]))  # type: ignore[no-any-return]


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns (N, C·kH·kW, windows) added up at their windows' places in images (N, C, *output_size).

    Raises RuntimeError where there are not as many columns as windows.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.fold(torch.ones(1, 2, 2), (1, 3), (1, 2))
    tensor([[[[1., 2., 1.]]]])
    """
    check_tensor("fold", input)
    shape = input.raw.shape
    size = _two(output_size, "output_size")
    kernel, gaps, border, steps = _checked(kernel_size, dilation, padding, stride)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    if shape[-2] % (kernel[0] * kernel[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
            f"{shape[-2]} and kernel_size={kernel}."
        )
    out = _count(size, kernel, gaps, border, steps)
    if min(out) < 1 or shape[-1] != out[0] * out[1]:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={gaps}, padding={border}, stride={steps}, expected "
            f"size of input's dimension 2 to match the calculated number of sliding blocks {out[0]} * {out[1]} = "
            f"{out[0] * out[1]}, but got input.size(2)={shape[-1]}."
        )
    return col2im_row(input, p=(kernel, steps, border, gaps, out, size))  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ borders
NODES = {
    "reflect": "ReflectionPad{}DBackward0",
    "replicate": "ReplicationPad{}DBackward0",
    "circular": "CopySlices",
}


def _sides(pad: Any) -> list[int]:
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    for i, n in enumerate(pad):
        if not is_whole(n):
            raise TypeError(
                "pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type "
                f"{type(n).__name__} at pos {i}"
            )
    return [int(n) for n in pad]


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """A border around the last dimensions: pad = (before, after) of the last one, then of the one before it, …

    mode: 'constant' (value, 0 by default), 'reflect', 'replicate' or 'circular'.  Negative numbers cut off.  Raises
    RuntimeError for borders that do not fit, NotImplementedError for another mode.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.pad(torch.tensor([1., 2.]), (1, 2))
    tensor([0., 1., 2., 0., 0.])
    >>> torch.nn.functional.pad(torch.tensor([[1., 2., 3.]]), (1, 1), mode="reflect")
    tensor([[2., 1., 2., 3., 2.]])
    """
    check_tensor("pad", input)
    sides, shape = _sides(pad), input.raw.shape
    if len(sides) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(sides) // 2 > len(shape):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(sides)} and input of dimension {len(shape)}"
        )
    pairs = tuple((sides[k], sides[k + 1]) for k in range(len(sides) - 2, -1, -2))
    sizes = shape[len(shape) - len(pairs) :]
    if mode == "constant":
        for d, (n, (b, e)) in enumerate(zip(sizes, pairs), len(shape) - len(pairs)):
            if n + b + e < 0 or n + min(b, 0) + min(e, 0) < 0:
                raise RuntimeError(
                    f"The input size {n}, plus negative padding {b} and {e} resulted in a negative output size, which is "
                    f"invalid. Check dimension {d} of your input."
                )
        return constant_pad_row(input, p=(pairs, 0 if value is None else value))  # type: ignore[no-any-return]
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in NODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return _own_elements(input, mode, pairs, sizes)


def _own_elements(input: Tensor, mode: str, pairs: Any, sizes: Any) -> Tensor:
    """A border of the input's own elements."""
    shape, dims = input.raw.shape, len(pairs)
    if len(shape) not in (dims + 1, dims + 2) or dims > 3:
        raise NotImplementedError(
            f"Padding size {2 * dims} is not supported for {len(shape)}D input tensor.\nSupported combinations for "
            "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: "
            "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if 0 in shape[-dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    picks = []
    for i, (n, (before, after)) in enumerate(zip(sizes, pairs)):
        if mode == "reflect" and (before >= n or after >= n):
            raise explain(
                RuntimeError,
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {len(shape) - dims + i} of input {list(shape)}",
                cure="a reflection cannot reach further than the other end.",
            )
        if mode == "circular" and (before > n or after > n):
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if n + before + after < 1:
            raise RuntimeError(
                f"input (size: {n}) is too small for the padding: calculated output size {n + before + after}"
            )
        picks.append((i - dims, mode, n, before, after))
    return copies_row(input, p=(NODES[mode].format(dims), tuple(picks)))  # type: ignore[no-any-return]
