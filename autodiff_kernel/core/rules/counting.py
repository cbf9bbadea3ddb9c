"""How often values occur: bincount, histc; and the powers of a Vandermonde matrix."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..op import Op
from ..outline import of_all
from ..tensor import Tensor, fresh, wrap
from .dims import whole
from .joining import stack


def _bincount(a: Any, b: Any, p: Any) -> Any:
    least, dtype = p
    if not a.size:
        return devices.zeros((least,), dtype, like=a)
    return np.bincount(a, b, least).astype(dtype)


bincount_row = Op("bincount", _bincount, params=True,
                  doc="How often each whole number occurs, or the sum of weights there.")  # fmt: skip


@public()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number occurs in a 1-D tensor of non-negative integers; or the sum of the weights there.

    >>> import autodiff_kernel as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    check_tensor("bincount", input)
    raw = input.raw
    if raw.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{input.dtype.scalar_type}'")
    if whole(minlength, "bincount", "minlength") < 0:
        raise RuntimeError("minlength should be >= 0")
    if raw.ndim != 1 or raw.size and devices.item(of_all(raw).min()) < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return bincount_row(input, None, p=(minlength, np.dtype(np.int64)))  # type: ignore[no-any-return]
    if weights.raw.shape != raw.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    dtype = weights.raw.dtype if weights.raw.dtype == np.float32 else np.dtype(np.float64)
    return bincount_row(input, weights.detach(), p=(minlength, dtype))  # type: ignore[no-any-return]


def _histc(a: Any, p: Any) -> Any:
    bins, low, high = p
    flat = a.reshape(-1)
    if low == high and flat.size:
        low, high = devices.item(flat.min()), devices.item(flat.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    inside = flat[(flat >= low) & (flat <= high)]
    place = ((inside - low) * bins / (high - low)).astype(np.int64)
    return np.bincount(np.minimum(place, bins - 1), None, bins).astype(a.dtype)


histc_row = Op(
    "histc", _histc, params=True, doc="How many elements lie in each of several bins of equal width."
)


@public()
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Any = None) -> Tensor:
    """How many elements lie in each of `bins` bins of equal width from `min` to `max` (of the data, if both are 0).

    >>> import autodiff_kernel as torch
    >>> torch.histc(torch.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    check_tensor("histc", input)
    if input.raw.dtype.kind not in "fV":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{input.dtype.scalar_type}'")
    if whole(bins, "histc", "bins") <= 0:
        raise RuntimeError("bins must be > 0")
    if max < min:
        raise RuntimeError("torch.histc: max must be larger than min")
    result = histc_row(input.detach(), p=(bins, float(min), float(max)))
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public(method=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix of a 1-D tensor: its powers as columns, the highest first unless `increasing`.

    >>> import autodiff_kernel as torch
    >>> torch.vander(torch.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    check_tensor("vander", x, "x")
    if x.raw.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.raw.size if N is None else whole(N, "vander", "N")
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    if not n:
        return fresh(devices.zeros((x.raw.size, 0), x.raw.dtype, like=x.raw))
    powers: list[Any] = [wrap(devices.ones(x.raw.shape, x.raw.dtype, like=x.raw))]
    for _ in range(n - 1):
        powers.append(powers[-1] * x)
    return stack(powers if increasing else powers[::-1], 1)
