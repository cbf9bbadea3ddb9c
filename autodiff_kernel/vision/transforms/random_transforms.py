"""Transforms that draw lots, with torch's own random numbers and in torchvision's order: the same seed, the same crops."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.api import FUNCTIONS
from . import functional as F
from .functional import InterpolationMode
from .transforms import Transform

empty, rand, randint = FUNCTIONS["empty"], FUNCTIONS["rand"], FUNCTIONS["randint"]


def _below(n: int) -> int:
    """A whole number from 0 to n - 1."""
    return int(randint(0, n, size=(1,)).item())


def _between(low: float, high: float) -> float:
    return float(empty(1).uniform_(low, high).item())


class RandomHorizontalFlip(Transform):
    """Exchanges left and right with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def forward(self, image: Any) -> Any:
        return F.hflip(image) if rand(1) < self.p else image

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(RandomHorizontalFlip):
    """Exchanges top and bottom with probability p."""

    def forward(self, image: Any) -> Any:
        return F.vflip(image) if rand(1) < self.p else image


class RandomApply(Transform):
    """Applies some transforms, all of them with probability p or none."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: float = 0.5) -> None:
        self.transforms, self.p = transforms, p

    def forward(self, image: Any) -> Any:
        if self.p < rand(1):
            return image
        for transform in self.transforms:
            image = transform(image)
        return image

    def __repr__(self) -> str:
        return "\n".join(
            [f"{type(self).__name__}(", f"    p={self.p}", *(f"    {t}" for t in self.transforms), ")"]
        )


class RandomCrop(Transform):
    """A part of the image, (height, width) or a square, from a random place; with `padding` of the image with a rim.

    pad_if_needed: a smaller image gets a rim.  Raises ValueError if the image is smaller and gets none.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        self.size, self.padding, self.pad_if_needed = F.two(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    @staticmethod
    def get_params(image: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Top, left, height and width of a random part."""
        _, height, width = F.get_dimensions(image)
        rows, columns = output_size
        if height < rows or width < columns:
            raise ValueError(
                f"Required crop size {output_size} is larger than input image size {(height, width)}"
            )
        if (height, width) == (rows, columns):
            return 0, 0, height, width
        top = _below(height - rows + 1)
        return top, _below(width - columns + 1), rows, columns

    def forward(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        _, height, width = F.get_dimensions(image)
        if self.pad_if_needed and width < self.size[1]:
            image = F.pad(image, [self.size[1] - width, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            image = F.pad(image, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(image, *self.get_params(image, self.size))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(Transform):
    """A part of random area (a share of the image's, between `scale`) and shape (`ratio`), resized to `size`."""

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        self.size, self.scale, self.ratio = F.two(size), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    @staticmethod
    def get_params(image: Any, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """Top, left, height and width of a random part; the middle of the image if ten tries did not fit."""
        _, height, width = F.get_dimensions(image)
        low, high = math.log(ratio[0]), math.log(ratio[1])
        for _ in range(10):
            area = height * width * _between(scale[0], scale[1])
            shape = float(empty(1).uniform_(low, high).exp().item())
            columns, rows = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if 0 < columns <= width and 0 < rows <= height:
                top = _below(height - rows + 1)
                return top, _below(width - columns + 1), rows, columns
        columns, rows = width, height
        if width / height < min(ratio):
            rows = round(width / min(ratio))
        elif width / height > max(ratio):
            columns = round(height * max(ratio))
        return (height - rows) // 2, (width - columns) // 2, rows, columns

    def forward(self, image: Any) -> Any:
        part = F.crop(image, *self.get_params(image, self.scale, self.ratio))
        return F.resize(part, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self) -> str:
        scale, ratio = (tuple(round(x, 4) for x in pair) for pair in (self.scale, self.ratio))
        words = f"size={self.size}, scale={scale}, ratio={ratio}, interpolation={self.interpolation.value}"
        return f"{type(self).__name__}({words}, antialias={self.antialias})"


class RandomRotation(Transform):
    """The image turned by a random angle between -degrees and degrees, or between the two numbers given."""

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
    ) -> None:
        if isinstance(degrees, int | float):
            if degrees < 0:
                raise ValueError("If degrees is a single number, it must be positive.")
            degrees = (-degrees, degrees)
        self.degrees = [float(d) for d in degrees]
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def forward(self, image: Any) -> Any:
        angle = _between(self.degrees[0], self.degrees[1])
        return F.rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self) -> str:
        words = f"degrees={self.degrees}, interpolation={self.interpolation.value}, expand={self.expand}, fill={self.fill}"
        return f"{type(self).__name__}({words})"
