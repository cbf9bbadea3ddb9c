"""Pooling as layers."""

from typing import Any

from .. import functional as F
from .conv import several
from .module import Module
from .plain import Plain

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d",
    "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


class _MaxPool(Plain):
    stride: Any
    kernel_size: Any
    arguments: tuple[tuple[str, Any], ...] = (
        ("kernel_size", ...), ("stride", None), ("padding", 0), ("dilation", 1), ("return_indices", False),
        ("ceil_mode", False),
    )  # fmt: skip
    shown = ("kernel_size=", "stride=", "padding=", "dilation=", "ceil_mode=")

    def check(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class MaxPool1d(_MaxPool):
    """The greatest element of each window of (N, C, L)."""

    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The greatest element of each window of (N, C, H, W); the stride is the window's size unless it is named.

    >>> import autodiff_kernel as torch
    >>> torch.nn.MaxPool2d(2)
    MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    """

    function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The greatest element of each window of (N, C, D, H, W)."""

    function = staticmethod(F.max_pool3d)


class _AvgPool(Plain):
    stride: Any
    kernel_size: Any
    padding: Any
    arguments: tuple[tuple[str, Any], ...] = (
        ("kernel_size", ...), ("stride", None), ("padding", 0), ("ceil_mode", False), ("count_include_pad", True),
        ("divisor_override", None),
    )  # fmt: skip
    shown = ("kernel_size=", "stride=", "padding=")

    def check(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class AvgPool1d(_AvgPool):
    """The mean of each window of (N, C, L)."""

    arguments = _AvgPool.arguments[:5]
    function = staticmethod(F.avg_pool1d)

    def check(self) -> None:
        self.kernel_size, self.padding = several(self.kernel_size, 1), several(self.padding, 1)
        self.stride = self.kernel_size if self.stride is None else several(self.stride, 1)


class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W)."""

    function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W)."""

    function = staticmethod(F.avg_pool3d)


class _Adaptive(Plain):
    arguments: tuple[tuple[str, Any], ...] = (("output_size", ...),)
    shown = ("output_size=",)


class AdaptiveAvgPool1d(_Adaptive):
    """Means over windows such that the output has `output_size`."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_Adaptive):
    """Means over windows such that the output has `output_size`, whatever the input's size."""

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_Adaptive):
    """Means over windows such that the output has `output_size`."""

    function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMax(_Adaptive):
    arguments = (("output_size", ...), ("return_indices", False))


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima of windows such that the output has `output_size`."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima of windows such that the output has `output_size`."""

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Maxima of windows such that the output has `output_size`."""

    function = staticmethod(F.adaptive_max_pool3d)


class _LPPool(Plain):
    arguments = (("norm_type", ...), ("kernel_size", ...), ("stride", None), ("ceil_mode", False))
    shown = ("norm_type=", "kernel_size=", "stride=", "ceil_mode=")


class LPPool1d(_LPPool):
    """The p-norm of each window of (N, C, L)."""

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The p-norm of each window of (N, C, H, W)."""

    function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The p-norm of each window of (N, C, D, H, W)."""

    function = staticmethod(F.lp_pool3d)


class _MaxUnpool(Module):
    dims = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = several(kernel_size, self.dims)
        self.stride = several(kernel_size if stride is None else stride, self.dims)
        self.padding = several(padding, self.dims)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        unpool = getattr(F, f"max_unpool{self.dims}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Values back at the places that MaxPool1d took them from."""

    dims = 1


class MaxUnpool2d(_MaxUnpool):
    """Values back at the places that MaxPool2d took them from."""

    dims = 2


class MaxUnpool3d(_MaxUnpool):
    """Values back at the places that MaxPool3d took them from."""

    dims = 3
