"""Transforms that do the same to every image."""

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from . import functional as F
from .functional import InterpolationMode


class Transform:
    """A function of an image with settings: calling it calls `forward`."""

    def __call__(self, image: Any) -> Any:
        return self.forward(image)

    def forward(self, image: Any) -> Any:
        """The image, transformed."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Compose:
    """Transforms one after the other.

    >>> import numpy as np
    >>> from autodiff_kernel.vision import transforms
    >>> t = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
    >>> t(np.array([[0, 255]], dtype=np.uint8))
    tensor([[[-1.,  1.]]])
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class ToTensor(Transform):
    """PIL image or array (H, W, C) of bytes to a tensor (C, H, W) with numbers from 0 to 1."""

    def forward(self, image: Any) -> Tensor:
        return F.to_tensor(image)


class PILToTensor(Transform):
    """PIL image to a tensor (C, H, W) of the same numbers."""

    def forward(self, image: Any) -> Tensor:
        return F.pil_to_tensor(image)


class ToPILImage(Transform):
    """Tensor (C, H, W) or array (H, W, C) to a PIL image."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def forward(self, image: Any) -> Any:
        return F.to_pil_image(image, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(Transform):
    """A tensor in another dtype, its values in that dtype's range."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Transform):
    """(image - mean) / std, channel by channel."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor: Tensor) -> Tensor:
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Lambda(Transform):
    """A function of the user's own as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def forward(self, image: Any) -> Any:
        return self.lambd(image)


class Grayscale(Transform):
    """A colour image in grey, in one channel or in three equal ones."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = num_output_channels

    def forward(self, image: Any) -> Any:
        return F.rgb_to_grayscale(image, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class Resize(Transform):
    """The image in another size: (height, width), or the length of the shorter side."""

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        self.size, self.interpolation, self.max_size, self.antialias = (
            size,
            interpolation,
            max_size,
            antialias,
        )

    def forward(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        words = f"size={self.size}, interpolation={self.interpolation.value}, max_size={self.max_size}"
        return f"{type(self).__name__}({words}, antialias={self.antialias})"


class CenterCrop(Transform):
    """The middle of an image."""

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = F.two(size)

    def forward(self, image: Any) -> Any:
        return F.center_crop(image, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(Transform):
    """The image with a rim."""

    def __init__(self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> None:
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        words = f"padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode}"
        return f"{type(self).__name__}({words})"
