"""Many images in one picture, and images as files."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.api import FUNCTIONS
from ..core.modes import no_grad
from ..core.places import claim as _claim
from ..core.tensor import Tensor


def make_grid(
    tensor: Tensor | Sequence[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Images of one size side by side: a tensor (C, H, W) with `nrow` images a row and a rim around each.

    tensor: (B, C, H, W), one image (C, H, W) or (H, W), or a list of images; grey ones become three channels.
    normalize: values to the range from 0 to 1, from `value_range` or else from the smallest to the largest, of all
    images or with scale_each of each.  Raises TypeError for anything else.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.vision.utils import make_grid
    >>> make_grid(torch.zeros(10, 1, 28, 28), nrow=5).shape
    torch.Size([3, 62, 152])
    """
    if not isinstance(tensor, Tensor):
        if not isinstance(tensor, list | tuple) or not all(isinstance(t, Tensor) for t in tensor):
            raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
        given: Tensor = FUNCTIONS["stack"](list(tensor), dim=0)
    else:
        given = tensor
    with no_grad():
        images = _batch(given)
        if normalize:
            images = _normalized(images.clone(), value_range, scale_each)
        if len(images) == 1:
            return images.squeeze(0)
        count = len(images)
        columns = min(nrow, count)
        rows = math.ceil(count / columns)
        height, width = images.shape[2] + padding, images.shape[3] + padding
        grid = images.new_full(
            (images.shape[1], height * rows + padding, width * columns + padding), pad_value
        )
        for i, image in enumerate(images.unbind(0)):
            top, left = i // columns * height + padding, i % columns * width + padding
            grid[:, top : top + height - padding, left : left + width - padding] = image
        return grid


def _batch(tensor: Tensor) -> Tensor:
    """The images as (B, C, H, W) with at least three channels."""
    if tensor.ndim == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.ndim == 3:
        tensor = tensor.unsqueeze(0)
    if tensor.ndim != 4:
        raise TypeError(
            f"make_grid(): images are (B, C, H, W), (C, H, W) or (H, W), got shape {list(tensor.shape)}"
        )
    return tensor.expand(-1, 3, -1, -1) if tensor.shape[1] == 1 else tensor


def _normalized(images: Tensor, limits: tuple[float, float] | None, each: bool) -> Tensor:
    if limits is not None and not isinstance(limits, tuple):
        raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
    for part in images.unbind(0) if each else [images]:
        low, high = limits if limits is not None else (float(part.min()), float(part.max()))
        part.clamp_(min=low, max=high).sub_(low).div_(max(high - low, 1e-5))
    return images


def save_image(
    tensor: Tensor | Sequence[Tensor], fp: str | Path | Any, format: str | None = None, **kwargs: Any
) -> None:
    """Write images with values from 0 to 1 as one picture; kwargs go to `make_grid`.

    fp: a file's name, whose suffix says the format, or an open file with `format`.
    """
    from PIL import Image

    grid = make_grid(tensor, **kwargs)
    pixels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).cpu().byte().numpy()
    Image.fromarray(pixels).save(fp, format=format)


_claim()
