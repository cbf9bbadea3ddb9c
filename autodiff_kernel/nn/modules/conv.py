"""Convolutions as layers."""

from typing import Any

from .. import functional as F
from . import filling
from .filling import parameter
from .module import Module
from .plain import name_layer

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


def several(value: Any, dims: int) -> tuple[Any, ...]:
    """A value for each dimension."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class _ConvNd(Module):
    """What all convolutions have in common: weight (out, in/groups, kernel) and bias (out)."""

    dims = 0
    transposed = False
    output_padding: tuple[Any, ...]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
        output_padding: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string '{padding}', should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in several(stride, self.dims)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = {"zeros", "reflect", "replicate", "circular"}
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        if self.transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = self.dims
        self.in_channels, self.out_channels, self.groups, self.padding_mode = (
            in_channels,
            out_channels,
            groups,
            padding_mode,
        )
        self.kernel_size, self.stride, self.dilation = (
            several(kernel_size, n),
            several(stride, n),
            several(dilation, n),
        )
        self.padding: Any = padding if isinstance(padding, str) else several(padding, n)
        self.output_padding = several(output_padding, n)
        pair = (
            (in_channels, out_channels // groups)
            if self.transposed
            else (out_channels, in_channels // groups)
        )
        self.weight = parameter(*pair, *self.kernel_size, device=device, dtype=dtype)
        if bias:
            self.bias = parameter(out_channels, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        filling.layer(self.weight, self.bias)

    def _border(self) -> tuple[int, ...]:
        """The padding in the order that F.pad takes."""
        if self.padding == "valid":
            return (0,) * (2 * self.dims)
        if self.padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return tuple([n for t in reversed(total) for n in (t // 2, t - t // 2)])
        return tuple([n for q in reversed(self.padding) for n in (q, q)])

    def forward(self, input: Any) -> Any:
        convolve: Any = getattr(F, f"conv{self.dims}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._border(), mode=self.padding_mode), 0
        try:
            return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
        except RuntimeError as error:
            name_layer(error, self)
            raise

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * self.dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.dims:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class Conv1d(_ConvNd):
    """Slide a window over (N, in, L): weight (out, in/groups, k)."""

    dims = 1


class Conv2d(_ConvNd):
    """Slide a window over (N, in, H, W): weight (out, in/groups, kH, kW), bias (out).

    padding: numbers, 'same' or 'valid'; padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Conv2d(1, 6, 5)
    Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1))
    >>> torch.nn.Conv2d(1, 6, 5)(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 6, 24, 24])
    """

    dims = 2


class Conv3d(_ConvNd):
    """Slide a window over (N, in, D, H, W): weight (out, in/groups, kD, kH, kW)."""

    dims = 3


class _ConvTransposeNd(_ConvNd):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype,
            output_padding,
        )  # fmt: skip

    def forward(self, input: Any, output_size: Any = None) -> Any:
        more = self.output_padding if output_size is None else self._for_size(input, output_size)
        spread = getattr(F, f"conv_transpose{self.dims}d")
        try:
            return spread(
                input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation
            )
        except RuntimeError as error:
            name_layer(error, self)
            raise

    def _for_size(self, input: Any, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives `output_size`. Raises ValueError for a size that none gives."""
        n = self.dims
        lead = input.dim() - n
        if len(output_size) not in (n, n + lead):
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {n + lead} elements (got "
                f"{len(output_size)})"
            )
        wanted = list(output_size)[-n:]
        least = [
            (m - 1) * s - 2 * q + d * (k - 1) + 1
            for m, s, q, d, k in zip(
                input.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]
        most = [a + s - 1 for a, s in zip(least, self.stride)]
        if any(not a <= w <= b for a, w, b in zip(least, wanted, most)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return tuple([w - a for w, a in zip(wanted, least)])


class ConvTranspose1d(_ConvTransposeNd):
    """The transposed convolution of (N, in, L): weight (in, out/groups, k)."""

    dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transposed convolution of (N, in, H, W), which makes images larger: weight (in, out/groups, kH, kW).

    >>> import autodiff_kernel as torch
    >>> torch.nn.ConvTranspose2d(3, 1, 4, stride=2, padding=1)(torch.zeros(1, 3, 8, 8)).shape
    torch.Size([1, 1, 16, 16])
    """

    dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transposed convolution of (N, in, D, H, W): weight (in, out/groups, kD, kH, kW)."""

    dims = 3
