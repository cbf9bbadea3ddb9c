"""Images made larger or smaller or looked at from elsewhere, and channels turned into pixels."""

import warnings
from math import floor
from typing import Any

from ...core import api
from ...core.api import check_tensor
from ...core.errors import explain
from ...core.op import TABLE
from ...core.rules.forms import refuse
from ...core.rules.padding import copies_row
from ...core.rules.resampling import resample_row
from ...core.tensor import Tensor
from .pooling import adaptive_mean

__all__ = [
    "affine_grid", "channel_shuffle", "grid_sample", "interpolate", "native_channel_shuffle", "pixel_shuffle",
    "pixel_unshuffle", "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip


# ------------------------------------------------------------------------------------------------ channels and pixels
def _turned(x: Tensor, shape: tuple[int, ...], order: tuple[int, ...], result: tuple[int, ...]) -> Tensor:
    y = TABLE["permute"](TABLE["reshape"](x, p=shape), p=order)
    return TABLE["reshape"](y, p=result)  # type: ignore[no-any-return]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(…, C·r², H, W) to (…, C, H·r, W·r).  Raises RuntimeError where r² does not divide the channels.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.pixel_shuffle(torch.arange(4.).view(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    check_tensor("pixel_shuffle", input)
    r = upscale_factor
    if input.raw.ndim < 3:
        raise RuntimeError(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{input.raw.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, c, h, w = input.raw.shape
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {r * r}"
        )
    k, n = len(lead), c // (r * r)
    order = (*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return _turned(input, (*lead, n, r, r, h, w), order, (*lead, n, h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(…, C, H·r, W·r) to (…, C·r², H, W).  Raises RuntimeError where r does not divide height and width.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.pixel_unshuffle(torch.zeros(1, 4, 6), 2).shape
    torch.Size([4, 2, 3])
    """
    check_tensor("pixel_unshuffle", input)
    r = downscale_factor
    if input.raw.ndim < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{input.raw.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, c, h, w = input.raw.shape
    for name, n, d in (("height", h, -2), ("width", w, -1)):
        if n % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={n} is not "
                f"divisible by {r}"
            )
    k = len(lead)
    order = (*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return _turned(input, (*lead, c, h // r, r, w // r, r), order, (*lead, c * r * r, h // r, w // r))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """(N, C, …) with the channels of `groups` groups dealt out in turn, one of each group.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.channel_shuffle(torch.arange(4.).view(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    check_tensor("channel_shuffle", input)
    shape = input.raw.shape
    if len(shape) <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    n, c, *rest = shape
    if c % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups."
        )
    order = (0, 2, 1, *range(3, len(rest) + 3))
    return _turned(input, (n, groups, c // groups, *rest), order, shape)


def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The same as `channel_shuffle`."""
    return channel_shuffle(input, groups)


# ------------------------------------------------------------------------------------------------ another size
LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
KNOWN = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
TITLES = {
    "nearest": "UpsampleNearest{}DBackward0", "nearest-exact": "UpsampleNearestExact{}DBackward0",
    "linear": "UpsampleLinear{}DBackward0", "bilinear": "UpsampleBilinear{}DBackward0",
    "trilinear": "UpsampleTrilinear{}DBackward0", "bicubic": "UpsampleBicubic{}DBackward0",
}  # fmt: skip


def _sizes(shape: Any, size: Any, factor: Any, recompute: Any) -> tuple[list[int], list[float | None]]:
    """The sizes asked for, and the factors by which positions are counted (None: the quotient of the sizes)."""
    dims = len(shape)
    if size is not None and factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = list(size) if isinstance(size, (tuple, list)) else [size] * dims
        if len(sizes) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
                f"of {list(shape)} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
                "and output size in (o1, o2, ...,oK) format."
            )
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return [int(n) for n in sizes], [None] * dims
    if factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales: list[Any] = list(factor) if isinstance(factor, (tuple, list)) else [factor] * dims
    if len(scales) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(shape)} and scale_factor of shape {factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            "format and scale_factor in (s1, s2, ...,sK) format."
        )
    sizes = [floor(n * s) for n, s in zip(shape, scales)]
    return sizes, [None] * dims if recompute else [float(s) for s in scales]


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Images (N, C, …) in another size.

    mode: 'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.
    size or scale_factor: a number, or one for each dimension.  align_corners: the corners' pixels lie on each other, else
    the images' edges do.  Raises ValueError unless just one of size and scale_factor is given, NotImplementedError for a
    mode that does not fit the number of dimensions and for antialias.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 2.]]]), size=3, mode="linear", align_corners=True)
    tensor([[[1.0000, 1.5000, 2.0000]]])
    """
    check_tensor("interpolate", input)
    shape, ndim = input.raw.shape[2:], input.raw.ndim
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    sizes, scales = _sizes(shape, size, scale_factor, recompute_scale_factor)
    if antialias:
        if mode not in ("bilinear", "bicubic") or ndim != 4:
            raise ValueError(
                "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
            )
        raise explain(
            NotImplementedError, "interpolate: antialias=True is not available here",
            cure="mode='area' averages all pixels that a smaller image leaves out.",
        )  # fmt: skip
    if not 3 <= ndim <= 5 or mode not in (*TITLES, "area") or mode == "bicubic" and ndim != 4:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: {KNOWN} (got {mode})"
        )
    dims = ndim - 2
    if LINEAR.get(mode, dims) != dims:
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {LINEAR[mode] + 2}D input")
    if min(*shape, *sizes) <= 0:
        old, new = (", ".join(f"{c}: {n}" for c, n in zip("DHW"[3 - dims :], s)) for s in (shape, sizes))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({old}) output ({new})"
        )
    if mode == "area":
        return adaptive_mean(input, tuple(sizes), dims)
    kind, title = input.raw.dtype.kind, TITLES[mode].format(dims)
    if mode.startswith("nearest"):
        if kind in "ib" or kind == "u" and input.raw.dtype.itemsize > 1:
            refuse(f"upsample_nearest{dims}d_channels_last", input.raw)
        picks = tuple((i - dims, mode, n, m, s) for i, (n, m, s) in enumerate(zip(shape, sizes, scales)))
        return copies_row(input, p=(title, picks))  # type: ignore[no-any-return]
    if kind in "iub":
        refuse(f"upsample_{mode}{dims}d_channels_last", input.raw)
    how = "cubic" if mode == "bicubic" else "linear"
    plan = tuple(
        (i - dims, how, n, m, s, bool(align_corners)) for i, (n, m, s) in enumerate(zip(shape, sizes, scales))
    )
    return resample_row(input, p=(title, False, plan))  # type: ignore[no-any-return]


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The old name of `interpolate(…, mode="nearest")`."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The old name of `interpolate(…, mode="bilinear", align_corners=True)`."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# ------------------------------------------------------------------------------------------------ from elsewhere
CORNERS = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Where `grid_sample` has to look to show images turned, moved and scaled by theta.

    theta: (N, 2, 3) for images, (N, 3, 4) for volumes; size: that of the result, (N, C, H, W) or (N, C, D, H, W).  The
    grid is (N, H, W, 2) or (N, D, H, W, 3), its coordinates reach from −1 to 1.

    >>> import autodiff_kernel as torch
    >>> theta = torch.tensor([[[1., 0., 0.], [0., 1., 0.]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)[0, 0]
    tensor([[-1.,  0.],
            [ 1.,  0.]])
    """
    if align_corners is None:
        warnings.warn(CORNERS, UserWarning, stacklevel=2)
    size = tuple(size)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    dims = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    functions = api.FUNCTIONS
    lines = []
    for n in size[2:]:
        line = (
            functions["linspace"](-1, 1, n, dtype=theta.dtype, device=theta.device)
            if n > 1
            else theta.new_zeros(1)
        )
        lines.append(line if align_corners else line * ((n - 1) / n))
    meshes = functions["meshgrid"](*lines, indexing="ij")
    ones = meshes[0] * 0 + 1
    base = functions["stack"]([*reversed(meshes), ones], -1).reshape(1, -1, dims + 1)
    grid = base.expand(size[0], -1, dims + 1) @ theta.transpose(1, 2)
    return grid.reshape(size[0], *size[2:], dims)


def _check_grid(input: Any, grid: Any, mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    x, g = list(input.shape), list(grid.shape)
    if len(x) < 3 or g[-1:] != [len(x) - 2]:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {len(x) - 2} in last dimension, but got grid with sizes {g}"
        )
    if len(x) not in (4, 5) or len(g) != len(x):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{x} and grid with sizes {g}"
        )
    if x[0] != g[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {x} and grid with "
            f"sizes {g}"
        )
    if 0 in x[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {x}"
        )
    if mode == "bicubic" and len(x) == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _kept(at: Any, size: int, padding_mode: str, align: bool) -> Any:
    """Positions outside moved inside, for 'border' and 'reflection'."""
    if padding_mode == "border":
        return at.clamp(0, size - 1)
    if padding_mode != "reflection":
        return at
    low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
    if span == 0:
        return at * 0
    away = (at - low).abs()
    turns = (away / span).floor().detach()
    rest = away - turns * span
    even = (turns % 2 == 0).to(at.dtype)
    return (low + rest * even + (span - rest) * (1 - even)).clamp(0, size - 1)


def _looked_up(input: Any, places: list[Any], inside_only: bool) -> Any:
    """The values of (N, C, *sizes) at whole-number places, one tensor (N, *out) for each dimension; zeros outside."""
    sizes = input.shape[2:]
    flat: Any = 0
    inside: Any = None
    for at, n in zip(places, sizes):
        ok = (at >= 0) & (at <= n - 1)
        inside = ok if inside is None else inside & ok
        flat = flat * n + at.clamp(0, n - 1).to(api.FUNCTIONS["zeros"](0).long().dtype)
    n, c = input.shape[:2]
    index = flat.reshape(n, 1, -1).expand(n, c, -1)
    values = input.reshape(n, c, -1).gather(2, index).reshape(n, c, *flat.shape[1:])
    return values * inside.to(input.dtype).unsqueeze(1) if inside_only else values


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """The values of images (N, C, H, W) or volumes (N, C, D, H, W) at the places that a grid names.

    grid: (N, h, w, 2) or (N, d, h, w, 3), with (x, y) or (x, y, z) from −1 to 1.  mode: 'bilinear', 'nearest' or
    'bicubic'.  padding_mode: what lies outside: 'zeros', 'border' (the nearest pixel) or 'reflection'.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([[[[1., 2.], [3., 4.]]]])
    >>> torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[2.5000]]]])
    """
    if align_corners is None:
        warnings.warn(CORNERS, UserWarning, stacklevel=2)
    _check_grid(input, grid, mode, padding_mode)
    align, dims, sizes = bool(align_corners), input.dim() - 2, list(input.shape[2:])
    points = []
    for d, n in enumerate(sizes):
        g = grid[..., dims - 1 - d]
        at = (g + 1) * ((n - 1) / 2) if align else ((g + 1) * n - 1) / 2
        points.append(at if mode == "bicubic" else _kept(at, n, padding_mode, align))
    zeros = padding_mode == "zeros"
    if mode == "nearest":
        return _looked_up(input, [at.round() for at in points], zeros)
    low = [at.detach().floor() for at in points]
    parts = [at - b for at, b in zip(points, low)]
    if mode == "bilinear":
        choices = [[(b, 1 - t), (b + 1, t)] for b, t in zip(low, parts)]
    else:
        choices = [
            [(_kept(b + k, n, padding_mode, align), w) for k, w in zip(range(-1, 3), _cubic_weights(t))]
            for b, t, n in zip(low, parts, sizes)
        ]
    total: Any = None
    for spots in _combinations(choices):
        weight: Any = None
        for _, w in spots:
            weight = w if weight is None else weight * w
        term = _looked_up(input, [at for at, _ in spots], True) * weight.unsqueeze(1)
        total = term if total is None else total + term
    return total


def _combinations(choices: list[Any]) -> Any:
    if not choices:
        return [()]
    return [(first, *rest) for first in choices[0] for rest in _combinations(choices[1:])]


def _cubic_weights(t: Any) -> list[Any]:
    """Keys' weights of the four pixels around a place, with a = −0.75."""
    a = -0.75
    near = [((a + 2) * x - (a + 3)) * x * x + 1 for x in (t, 1 - t)]
    far = [((a * x - 5 * a) * x + 8 * a) * x - 4 * a for x in (t + 1, 2 - t)]
    return [far[0], near[0], near[1], far[1]]
