"""The functions behind the transforms: each takes a PIL image or a tensor (…, C, H, W) and gives one of the same kind."""

import math
import numbers
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from ...core import dtype as dtypes
from ...core.tensor import Tensor, wrap
from .resizing import resized


class InterpolationMode(Enum):
    """How values between pixels are found."""

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


_PIL = {InterpolationMode.NEAREST: 0, InterpolationMode.BILINEAR: 2, InterpolationMode.BICUBIC: 3}
_PADS = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def is_pil(image: Any) -> bool:
    """Is it a PIL image?  Pillow is loaded only if it has been already."""
    return type(image).__module__.startswith("PIL.")


def _checked(image: Any, function: str) -> Any:
    """The image, if it is one."""
    if is_pil(image) or (isinstance(image, Tensor) and image.ndim >= 2):
        return image
    got = f"a tensor with {image.ndim} dimensions" if isinstance(image, Tensor) else f"{type(image)}"
    raise TypeError(f"{function}: img should be PIL Image or Tensor Image (…, C, H, W). Got {got}")


def get_dimensions(image: Any) -> list[int]:
    """Channels, height and width of an image."""
    if is_pil(image):
        return [len(image.getbands()), image.height, image.width]
    shape = _checked(image, "get_dimensions()").shape
    return [1 if image.ndim == 2 else int(shape[-3]), int(shape[-2]), int(shape[-1])]


def get_image_size(image: Any) -> list[int]:
    """Width and height of an image."""
    _, height, width = get_dimensions(image)
    return [width, height]


# ------------------------------------------------------------------------------------------ between kinds of images
def pil_to_tensor(image: Any) -> Tensor:
    """A PIL image as a tensor (C, H, W) of the same numbers."""
    if not is_pil(image):
        raise TypeError(f"pic should be PIL Image. Got {type(image)}")
    array = np.array(image, copy=True)
    return wrap(np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1)))


def to_tensor(image: Any) -> Tensor:
    """A PIL image or an array (H, W) or (H, W, C) as a tensor (C, H, W); bytes become numbers from 0 to 1.

    Raises TypeError for what is neither, ValueError for an array with other dimensions.

    >>> import numpy as np
    >>> from autodiff_kernel.vision.transforms.functional import to_tensor
    >>> to_tensor(np.array([[0, 255]], dtype=np.uint8))
    tensor([[[0., 1.]]])
    """
    if is_pil(image):
        array = np.array(image, copy=True)
        if image.mode == "1":
            array = 255 * array.astype(np.uint8)
    elif isinstance(image, np.ndarray):
        if image.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {image.ndim} dimensions.")
        array = image
    else:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(image)}")
    array = np.array(array[None] if array.ndim == 2 else array.transpose(2, 0, 1), order="C")
    t = wrap(array)
    return t.to(dtypes.get_default_dtype()) / 255 if t.dtype is dtypes.uint8 else t


def to_pil_image(image: Any, mode: str | None = None) -> Any:
    """A tensor (C, H, W) or (H, W), or an array (H, W) or (H, W, C), as a PIL image; numbers from 0 to 1 become bytes.

    mode: PIL's name of the kind of pixels; L, LA, RGB or RGBA by the number of channels where it is not given.
    """
    from PIL import Image

    if isinstance(image, Tensor):
        if image.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {image.ndim} dimensions.")
        if image.is_floating_point() and mode != "F":
            image = image.mul(255).byte()
        array = image.detach().cpu().numpy()
        array = array.transpose(1, 2, 0) if array.ndim == 3 else array[..., None]
    elif isinstance(image, np.ndarray):
        if image.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {image.ndim} dimensions.")
        array = image if image.ndim == 3 else image[..., None]
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(image)}.")
    channels = array.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if array.dtype != np.uint8 and (channels > 1 or array.dtype not in (np.int16, np.int32, np.float32)):
        raise TypeError(f"Input type {array.dtype} is not supported")
    made = Image.fromarray(np.ascontiguousarray(array[..., 0] if channels == 1 else array))
    return made if mode is None or made.mode == mode else made.convert(mode)


def convert_image_dtype(image: Tensor, dtype: Any = dtypes.float32) -> Tensor:
    """A tensor in another dtype, its values in that dtype's range: 0 to 1 for floats, 0 to the largest for integers.

    Raises RuntimeError for float32 to int32 or int64, and float64 to int64, which would not be exact.
    """
    if image.dtype is dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        wide = (dtypes.int64,) if image.dtype is dtypes.float64 else (dtypes.int32, dtypes.int64)
        if dtype in wide:
            raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
        return image.mul(_largest(dtype) + 1.0 - 1e-3).to(dtype)
    highest = _largest(image.dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / highest
    wanted = _largest(dtype)
    if highest > wanted:
        return image.div((highest + 1) // (wanted + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((wanted + 1) // (highest + 1))


def _largest(dtype: Any) -> int:
    return 1 if dtype is dtypes.bool else int(dtypes.iinfo(dtype).max)


# ------------------------------------------------------------------------------------------------- values of pixels
def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """(tensor - mean) / std, channel by channel; the tensor is (…, C, H, W) and of a floating-point dtype.

    Raises TypeError for other dtypes, ValueError for fewer than three dimensions or a std of zero.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"img should be Tensor Image. Got {type(tensor)}. What to do: put ToTensor() before it."
        )
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.shape}"
        )
    out = tensor if inplace else tensor.clone()
    kind = tensor.dtype
    center, scale = (
        wrap(np.asarray(x, np.float64)).to(dtype=kind, device=tensor.device) for x in (mean, std)
    )
    if bool((scale == 0).any()):
        raise ValueError(f"std evaluated to zero after conversion to {kind}, leading to division by zero.")
    if center.ndim == 1:
        center = center.view(-1, 1, 1)
    if scale.ndim == 1:
        scale = scale.view(-1, 1, 1)
    return out.sub_(center).div_(scale)


def rgb_to_grayscale(image: Any, num_output_channels: int = 1) -> Any:
    """The brightness of a colour image, 0.2989 R + 0.587 G + 0.114 B, in one channel or in three equal ones."""
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if is_pil(image):
        grey = image.convert("L")
        return grey if num_output_channels == 1 else to_pil_image(np.stack([np.array(grey)] * 3, -1))
    channels = get_dimensions(image)[0]
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are 1 or 3, but found {channels}")
    if channels == 3:
        red, green, blue = image.unbind(dim=-3)
        image = (0.2989 * red + 0.587 * green + 0.114 * blue).to(image.dtype).unsqueeze(dim=-3)
    return image if num_output_channels == 1 else image.expand(*image.shape[:-3], 3, *image.shape[-2:])


to_grayscale = rgb_to_grayscale


# -------------------------------------------------------------------------------------------------- where pixels lie
def resize(
    image: Any,
    size: int | Sequence[int],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """The image in another size: (height, width), or the length of the shorter side, the longer one in proportion.

    antialias: average over what a smaller pixel covers (PIL does at all times).  max_size: limit of the longer side.
    """
    _, height, width = get_dimensions(_checked(image, "resize()"))
    new = _new_size(height, width, size, max_size)
    if new == (height, width):
        return image
    if is_pil(image):
        return image.resize(new[::-1], _PIL[interpolation])
    return resized(image, new, interpolation.value, bool(antialias))


def _new_size(height: int, width: int, size: int | Sequence[int], limit: int | None) -> tuple[int, int]:
    if not isinstance(size, int):
        if len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        if len(size) == 2:
            return int(size[0]), int(size[1])
        size = int(size[0])
    short, long = sorted((height, width))
    new_short, new_long = size, int(size * long / short)
    if limit is not None and new_long > limit:
        if limit <= size:
            raise ValueError(f"max_size = {limit} must be strictly greater than the requested size = {size}")
        new_short, new_long = int(limit * new_short / new_long), limit
    return (new_short, new_long) if height <= width else (new_long, new_short)


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part of an image that begins at (top, left); zeros where it reaches beyond it."""
    if is_pil(image):
        return image.crop((left, top, left + width, top + height))
    _, h, w = get_dimensions(_checked(image, "crop()"))
    inner = image[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    beyond = [max(-left, 0), max(-top, 0), max(left + width - w, 0), max(top + height - h, 0)]
    return pad(inner, beyond) if any(beyond) else inner


def center_crop(image: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of an image: (height, width), or a square; a smaller image gets a rim of zeros."""
    rows, columns = two(output_size)
    _, height, width = get_dimensions(image)
    if columns > width or rows > height:
        left, top = max((columns - width) // 2, 0), max((rows - height) // 2, 0)
        right, bottom = max((columns - width + 1) // 2, 0), max((rows - height + 1) // 2, 0)
        image = pad(image, [left, top, right, bottom])
        _, height, width = get_dimensions(image)
    return crop(image, int(round((height - rows) / 2.0)), int(round((width - columns) / 2.0)), rows, columns)


def two(size: int | Sequence[int]) -> tuple[int, int]:
    """(height, width) of a size; one number means a square."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)  # type: ignore[call-overload, arg-type]
    values = tuple(size)  # type: ignore[arg-type]
    if len(values) not in (1, 2):
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    return int(values[0]), int(values[-1])


def pad(image: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The image with a rim: one width, (left and right, top and bottom), or (left, top, right, bottom).

    padding_mode: "constant" (the value `fill`), "edge", "reflect" or "symmetric".
    """
    if padding_mode not in _PADS:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    rim = [padding] if isinstance(padding, int) else [int(n) for n in padding]
    if len(rim) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(rim)} element tuple"
        )
    left, top, right, bottom = rim * 4 if len(rim) == 1 else rim * 2 if len(rim) == 2 else rim
    if is_pil(image):
        if padding_mode == "constant":
            from PIL import ImageOps

            return ImageOps.expand(image, (left, top, right, bottom), fill=fill)
        array = np.array(image)
        wide = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
        return to_pil_image(np.pad(array, wide, mode=padding_mode))  # type: ignore[call-overload]
    _, height, width = get_dimensions(_checked(image, "pad()"))
    rows, columns = _places(height, top, bottom, padding_mode), _places(width, left, right, padding_mode)
    out = image.index_select(-2, wrap(rows.clip(0))).index_select(-1, wrap(columns.clip(0)))
    if padding_mode == "constant":
        outside = (rows < 0)[:, None] | (columns < 0)[None, :]
        out = out.masked_fill(wrap(outside), fill)
    return out


def _places(n: int, before: int, after: int, mode: str) -> Any:
    """For each place of a padded line, which of the n it is taken from; -1 for none."""
    if mode == "constant":
        return np.pad(np.arange(n), (max(before, 0), max(after, 0)), constant_values=-1)[
            max(-before, 0) : n + max(before, 0) + max(after, 0) - max(-after, 0)
        ]
    return np.pad(np.arange(n), (before, after), mode=mode)  # type: ignore[call-overload]


def hflip(image: Any) -> Any:
    """The image with left and right exchanged."""
    return image.transpose(0) if is_pil(image) else _checked(image, "hflip()").flip(-1)


def vflip(image: Any) -> Any:
    """The image with top and bottom exchanged."""
    return image.transpose(1) if is_pil(image) else _checked(image, "vflip()").flip(-2)


def rotate(
    image: Any,
    angle: float,
    interpolation: InterpolationMode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    """The image turned against the clock by an angle in degrees, about its middle or `center` (x, y).

    A tensor is turned with the nearest pixel, in its own size, and gets `fill` (zeros) where there was nothing.
    """
    if is_pil(image):
        return image.rotate(angle, _PIL[interpolation], expand, center, fillcolor=fill)
    if interpolation is not InterpolationMode.NEAREST or expand:
        raise NotImplementedError(
            "rotate(): a tensor is turned with InterpolationMode.NEAREST and expand=False here; other ways take a PIL image"
        )
    _, height, width = get_dimensions(_checked(image, "rotate()"))
    cx, cy = (0.0, 0.0) if center is None else (center[0] - width * 0.5, center[1] - height * 0.5)
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    # in float32 and in units of half an image, as torchvision has it: a pixel between two others goes the same way
    theta = np.array(
        [[cos, -sin, cx - cos * cx + sin * cy], [sin, cos, cy - sin * cx - cos * cy]], np.float32
    )
    theta /= np.array([[0.5 * width], [0.5 * height]], np.float32)
    x = np.arange(width, dtype=np.float32)[None, :] + np.float32(0.5 - width * 0.5)
    y = np.arange(height, dtype=np.float32)[:, None] + np.float32(0.5 - height * 0.5)
    half = np.float32(0.5)
    across, down = (row[0] * x + row[1] * y + row[2] for row in theta)
    columns = np.rint(((across + 1) * width - 1) * half).astype(np.int64)
    rows = np.rint(((down + 1) * height - 1) * half).astype(np.int64)
    outside = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
    out = image[..., wrap(rows.clip(0, height - 1)), wrap(columns.clip(0, width - 1))]
    return out.masked_fill(wrap(outside), 0 if fill is None else fill)
