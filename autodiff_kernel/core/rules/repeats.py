"""Elements repeated and turned round: repeat, tile, repeat_interleave, flip, roll, rot90. All of these copy."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import FUNCTIONS, attach, check_tensor, public
from ..op import TABLE, Op
from ..single import plain
from ..storage import in_order, row_major
from ..tensor import Tensor, fresh
from .dims import axes, given_dims, is_whole, size_list, sizes, whole, wrap_dim
from .reductions import sum_row
from .shapes import ravel, reshape


# ------------------------------------------------------------------------------------------------ repeat
def _repeat_back(g: Any, n: Any) -> Any:
    """Sum over the repetitions: each dimension of g is (repetitions, size)."""
    lead = len(n.p) - len(n.sa)
    shape = [*n.p[:lead]]
    for times, size in zip(n.p[lead:], n.sa, strict=True):
        shape += [times, size]
    over = (*range(lead), *range(lead, len(shape), 2))
    g = reshape(g, p=tuple(shape))
    return sum_row(g, p=(over, False)) if over else g


repeat_row: Op = Op(
    "repeat", in_order(lambda a, p: np.tile(a, p)), a=_repeat_back, mode="linear", params=True, partials=("1 per copy",),
    batch="repeat", doc="The whole tensor several times along each dimension.",
)  # fmt: skip


def _interleave_back(g: Any, n: Any) -> Any:
    times, dim = n.p
    shape = g.shape
    g = reshape(g, p=(*shape[:dim], n.sa[dim], times, *shape[dim + 1 :]))
    return sum_row(g, p=((dim + 1,), False))


# p is (how often, dimension)
interleave_row: Op = Op(
    "repeat_interleave", lambda a, p: np.repeat(a, p[0], p[1]), a=_interleave_back, mode="linear", params=True,
    node="ViewBackward0", partials=("1 per copy",), batch="parts", doc="Each element several times in a row.",
)  # fmt: skip
_repeat, _interleave = plain(repeat_row), plain(interleave_row)


@public(function=False)
def repeat(self: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """The whole tensor, copied several times along each dimension; more numbers than dimensions add leading ones.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    if named.keys() - {"repeats"} or bool(named) == bool(repeats):
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    times = sizes((named["repeats"],) if named else repeats, "repeat", "repeats")
    return repeated(self, times)


def repeated(x: Tensor, times: tuple[int, ...]) -> Tensor:
    shape = x.raw.shape
    if len(times) < len(shape):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    if any(n < 0 for n in times):
        padded = (1,) * (len(times) - len(shape)) + tuple(shape)
        result = [n * size for n, size in zip(times, padded, strict=True)]
        negative = next((n for n in result if n < 0), min(times))
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {result}")
    return _repeat(x, times)


def tile_method(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """`repeat`, but numbers that are missing in front count as 1.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([[1, 2]]).tile(2)
    tensor([[1, 2, 1, 2]])
    """
    return tile(self, sizes(given_dims("tile", dims, named), "tile", "dims"))


@public(method=False)
def tile(input: Tensor, dims: Any) -> Tensor:
    """The whole tensor, copied several times along each dimension; numbers that are missing in front count as 1.

    >>> import autodiff_kernel as torch
    >>> torch.tile(torch.tensor([[1, 2]]), (2, 1))
    tensor([[1, 2],
            [1, 2]])
    """
    check_tensor("tile", input)
    times = size_list(dims, "tile", "dims")
    return repeated(input, (1,) * (input.raw.ndim - len(times)) + times)


attach("tile", tile_method)


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element `repeats` times in a row, along `dim` or of the flattened tensor.

    repeats: an int, or a 1-D integer tensor with a number for each place along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    >>> torch.tensor([[1, 2], [3, 4]]).repeat_interleave(torch.tensor([1, 2]), dim=0)
    tensor([[1, 2],
            [3, 4],
            [3, 4]])
    """
    check_tensor("repeat_interleave", input)
    if repeats is None:
        return counted(input)
    x = ravel(input) if dim is None or not input.raw.ndim else input
    d = wrap_dim(0 if dim is None else dim, x.raw.ndim, "repeat_interleave")
    size = x.raw.shape[d]
    if isinstance(repeats, Tensor) and repeats.raw.size == 1 and repeats.raw.dtype.kind in "iu":
        repeats = repeats.item()
    if is_whole(repeats):
        times = int(repeats)
        if times < 0:
            raise RuntimeError("Repeats must be non-negative")
        check_output_size(output_size, size * times)
        return _interleave(x, (times, d))
    if not isinstance(repeats, Tensor):
        raise TypeError(
            "repeat_interleave(): argument 'repeats' (position 2) must be Tensor, not "
            f"{type(repeats).__name__}"
        )
    if repeats.raw.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.raw.shape != (size,):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.raw.size} and input.size({d}) = {size}"
        )
    index = counted(repeats)
    check_output_size(output_size, index.raw.size)
    return TABLE["index"](x, index, p=((*[False] * d, True), False))  # type: ignore[no-any-return]


def counted(repeats: Tensor) -> Tensor:
    """[0] * repeats[0] + [1] * repeats[1] + …"""
    raw = repeats.raw
    if raw.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if raw.dtype.kind not in "iu":
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.scalar_type}'"
        )
    host = devices.to_numpy(raw)
    if (host < 0).any():
        raise RuntimeError("repeats can not be negative")
    index = np.repeat(np.arange(len(host), dtype=raw.dtype), host)
    return fresh(devices.asarray(index, raw.dtype, like=raw))


def check_output_size(given: int | None, right: int) -> None:
    if given is not None and given != right:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {right} but got {given}")


attach("repeat_interleave", repeat_interleave)
FUNCTIONS["repeat_interleave"] = repeat_interleave


# ------------------------------------------------------------------------------------------------ flip, roll, rot90
flip_row: Op = Op(
    "flip", lambda a, p: np.flip(a, p).copy("K") if a.ndim and p else a.copy(), a=lambda g, n: flip_row(g, p=n.p),
    mode="linear", params=True, partials=("1, turned back",), batch="dims",
    doc="The elements in reverse order along dimensions.",
)  # fmt: skip


def _roll(a: Any, p: Any) -> Any:
    shifts, dims = p
    return row_major(np.roll(a, shifts, dims)) if a.ndim else a.copy()


# p is (shifts, dims); dims None rolls the flattened tensor
roll_row: Op = Op(
    "roll", _roll, a=lambda g, n: roll_row(g, p=(tuple(-s for s in n.p[0]), n.p[1])), mode="linear", params=True,
    partials=("1, rolled back",), batch="turn",
    doc="The elements shifted along dimensions, those at the end coming back in front.",
)  # fmt: skip


def _rot90(a: Any, p: Any) -> Any:
    k, dims = p
    if k == 2:
        return np.flip(a, dims).copy("K")
    if k == 0:
        return a.copy()
    return np.flip(a, dims[1] if k == 1 else dims[0]).copy("K").swapaxes(*dims)


rot90_row: Op = Op(
    "rot90", _rot90, a=lambda g, n: rot90_row(g, p=(-n.p[0] % 4, n.p[1])), mode="linear", params=True,
    partials=("1, turned back",), batch="turn", doc="The plane of two dimensions turned by quarter turns.",
)  # fmt: skip
_flip, _roll_call, _rot90_call = plain(flip_row), plain(roll_row), plain(rot90_row)


def flip_method(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """A copy with the elements in reverse order along the dimensions `dims`.

    >>> import autodiff_kernel as torch
    >>> torch.tensor([1, 2, 3]).flip(0)
    tensor([3, 2, 1])
    """
    dims = sizes(given_dims("flip", dims, named), "flip", "dims")
    return _flip(self, axes(dims, self.raw.ndim, "flip") or ())


@public(method=False)
def flip(input: Tensor, dims: Any) -> Tensor:
    """A copy with the elements in reverse order along the dimensions `dims`.

    >>> import autodiff_kernel as torch
    >>> torch.flip(torch.tensor([[1, 2], [3, 4]]), (0, 1))
    tensor([[4, 3],
            [2, 1]])
    """
    check_tensor("flip", input)
    return flip_method(input, size_list(dims, "flip", "dims"))


attach("flip", flip_method)


@public()
def fliplr(input: Tensor) -> Tensor:
    """A copy with the elements in reverse order along dimension 1.

    >>> import autodiff_kernel as torch
    >>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    check_tensor("fliplr", input)
    if input.raw.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _flip(input, (1,))


@public()
def flipud(input: Tensor) -> Tensor:
    """A copy with the elements in reverse order along dimension 0.

    >>> import autodiff_kernel as torch
    >>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
    """
    check_tensor("flipud", input)
    if input.raw.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return _flip(input, (0,))


@public()
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """A copy with the elements shifted along `dims`; what leaves at the end comes back in front.

    Without `dims` the flattened tensor is rolled.  Several shifts go with as many dims.

    >>> import autodiff_kernel as torch
    >>> torch.roll(torch.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    check_tensor("roll", input)
    steps = sizes((shifts,), "roll", "shifts") if shifts != () else ()
    if not steps:
        raise RuntimeError("`shifts` required")
    ndim = input.raw.ndim
    places = () if dims is None else sizes((dims,), "roll", "dims")
    if len(places) != len(steps) and (places or len(steps) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(places)}")
    if not places:
        return _roll_call(input, (steps, None))
    if not ndim:
        raise IndexError(f"Dimension specified as {places[0]} but tensor has no dimensions")
    return _roll_call(input, (steps, tuple([wrap_dim(d, ndim, "roll") for d in places])))


@public()
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned by `k` quarter turns in the plane of two dimensions, from the first towards the second.

    >>> import autodiff_kernel as torch
    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    check_tensor("rot90", input)
    plane = size_list(dims, "rot90", "dims")
    ndim = input.raw.ndim
    if len(plane) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(plane)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    turn = tuple([wrap_dim(d, ndim, "rot90") for d in plane])
    if turn[0] == turn[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {plane[0]} and dim1 = {plane[1]}"
        )
    return _rot90_call(input, (whole(k, "rot90", "k") % 4, turn))
