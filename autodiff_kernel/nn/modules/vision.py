"""Images made larger, channels turned into pixels, windows as columns; and distances as layers."""

from typing import Any

from .. import functional as F
from .module import Module
from .plain import Plain, made

__all__ = [
    "ChannelShuffle", "CosineSimilarity", "Fold", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle", "Unfold", "Upsample",
    "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip


def _layer(name: str, function: Any, arguments: str, shown: str, doc: str) -> Any:
    return made(name, function, arguments, shown, doc, __name__)


PixelShuffle = _layer(
    "PixelShuffle",
    F.pixel_shuffle,
    "upscale_factor",
    "upscale_factor=",
    "(…, C·r², H, W) to (…, C, H·r, W·r).",
)
PixelUnshuffle = _layer(
    "PixelUnshuffle",
    F.pixel_unshuffle,
    "downscale_factor",
    "downscale_factor=",
    "(…, C, H·r, W·r) to (…, C·r², H, W).",
)
ChannelShuffle = _layer(
    "ChannelShuffle", F.channel_shuffle, "groups", "groups=", "Channels dealt out over the groups."
)
Unfold = _layer(
    "Unfold", F.unfold, "kernel_size dilation=1 padding=0 stride=1", "kernel_size= dilation= padding= stride=",
    "The windows of images (N, C, H, W) as columns (N, C·kH·kW, windows).",
)  # fmt: skip
Fold = _layer(
    "Fold", F.fold, "output_size kernel_size dilation=1 padding=0 stride=1",
    "output_size= kernel_size= dilation= padding= stride=", "Columns added up at their places in images.",
)  # fmt: skip


class Upsample(Module):
    """Images in another size: see functional.interpolate.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.zeros(1, 1, 2, 2)).shape
    torch.Size([1, 1, 4, 4])
    """

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple([float(s) for s in scale_factor])
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        size = (
            f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None else f"size={self.size!r}"
        )
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample with mode 'nearest'."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Upsample with mode 'bilinear' and aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class _Pair(Plain):
    def forward(self, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        return type(self).function(x1, x2, **self.given())

    def extra_repr(self) -> str:
        return ""


class CosineSimilarity(_Pair):
    """The cosine of the angle between vectors along `dim`."""

    function = staticmethod(F.cosine_similarity)
    arguments = (("dim", 1), ("eps", 1e-8))


class PairwiseDistance(_Pair):
    """The p-norm of the difference along the last dimension."""

    function = staticmethod(F.pairwise_distance)
    arguments = (("p", 2.0), ("eps", 1e-6), ("keepdim", False))

    def given(self) -> dict[str, Any]:
        return {"p": self.p, "eps": self.eps, "keepdim": self.keepdim}
