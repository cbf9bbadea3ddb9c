"""A tensor with a part replaced, as a new tensor: select_scatter, slice_scatter, diagonal_scatter."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, public
from ..errors import explain
from ..op import TABLE, Op
from ..tensor import Tensor
from .dims import whole, wrap_dim
from .slices import decode, getitem


def _patched(a: Any, b: Any, p: Any) -> Any:
    out = a.copy()
    out[decode(p[1])] = b
    return out


# p is (PyTorch's name, the part as parameters of `getitem`)
slice_scatter_row: Op = Op(
    "slice_scatter", _patched, a=lambda g, n: slice_scatter_row(g, 0, p=n.p), b=lambda g, n: getitem(g, p=n.p[1]) + 0,
    mode="joint", params=True, node=lambda p: p[0] + "ScatterBackward0", symbol="[ ]←",
    partials=("0 in the part, else 1", "1 in the part"), latex="{a}_{{[\\,]}} \\gets {b}",
    batch="written_part", doc="The first input with the second one in the place of a part.",
)  # fmt: skip


def _on_diagonal(a: Any, b: Any, p: Any) -> Any:
    out = a.copy()
    offset, dim1, dim2 = p
    size = TABLE["diagonal"].run((a,), p).shape[-1]
    steps = devices.arange(size, dtype=np.int64, like=a)
    np.moveaxis(out, (dim1, dim2), (-2, -1))[..., steps + max(-offset, 0), steps + max(offset, 0)] = b
    return out


diagonal_scatter_row: Op = Op(
    "diagonal_scatter", _on_diagonal, a=lambda g, n: diagonal_scatter_row(g, 0, p=n.p),
    b=lambda g, n: TABLE["diagonal"](g, p=n.p) + 0, mode="joint", params=True, symbol="diag←",
    partials=("0 on the diagonal, else 1", "1 on the diagonal"), latex="\\mathrm{{diag}}({a}) \\gets {b}",
    batch="written_diagonal", doc="The first input with the second one on its diagonal.",
)  # fmt: skip


def check_fit(src: Tensor, shape: tuple[int, ...]) -> None:
    if src.raw.shape != shape:
        raise explain(
            RuntimeError,
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.raw.shape)}, slice size = {list(shape)}",
        )


@public()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """The input with `src` in the place of `input.select(dim, index)`.

    >>> import autodiff_kernel as torch
    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    check_tensor("select_scatter", input)
    check_tensor("select_scatter", src, "src", 2)
    shape = input.raw.shape
    d, i = wrap_dim(dim, len(shape), "select_scatter"), whole(index, "select_scatter", "index")
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if not -shape[d] <= i < shape[d]:
        raise IndexError(
            f"select(): index {i} out of range for tensor of size {list(shape)} at dimension {d}"
        )
    check_fit(src, shape[:d] + shape[d + 1 :])
    return slice_scatter_row(input, alike(src, input), p=("Select", (*[()] * d, i % shape[d])))


@public()
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """The input with `src` in the place of the slice start:end:step along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    check_tensor("slice_scatter", input)
    check_tensor("slice_scatter", src, "src", 2)
    shape = input.raw.shape
    d = wrap_dim(dim, len(shape), "slice_scatter")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, step = slice(start, end, step).indices(shape[d])
    last = max(first, last)
    check_fit(src, (*shape[:d], len(range(first, last, step)), *shape[d + 1 :]))
    return slice_scatter_row(input, alike(src, input), p=("Slice", (*[()] * d, (first, last, step))))


@public()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The input with `src` on the diagonal of dimensions `dim1` and `dim2`.

    >>> import autodiff_kernel as torch
    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    from .parts import two_dims

    check_tensor("diagonal_scatter", input)
    check_tensor("diagonal_scatter", src, "src", 2)
    p = two_dims(offset, dim1, dim2, input.raw.ndim, "diagonal_scatter")
    check_fit(src, TABLE["diagonal"](input.detach(), p=p).raw.shape)
    return diagonal_scatter_row(input, alike(src, input), p=p)


def alike(src: Tensor, x: Tensor) -> Tensor:
    """The source in x's dtype."""
    return src if src.raw.dtype == x.raw.dtype else TABLE["cast"](src, p=(x.raw.dtype, src.raw.dtype))
