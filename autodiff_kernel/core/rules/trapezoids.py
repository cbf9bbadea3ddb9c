"""The trapezoidal rule: integrals of sampled functions."""

from typing import Any

from .. import device as devices
from ..api import check_tensor, public
from ..tensor import Tensor, wrap
from .cumulative import cumsum, diff
from .dims import wrap_dim
from .parts import narrow
from .reductions import sum as total
from .shapes import reshaped


def panels(name: str, y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """Twice the areas between neighbouring samples along `dim`, and that dimension."""
    check_tensor(name, y, "y")
    if y.raw.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if not y.raw.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim, y.raw.ndim, name)
    count = y.raw.shape[d]
    size = max(count - 1, 0)
    sums = narrow(y, d, 0, size) + narrow(y, d, min(1, count), size)  # type: ignore[operator]
    if x is None:
        return sums * (1 if dx is None else dx), d
    if dx is not None:
        raise TypeError(
            f"{name}() takes either x, the places of the samples, or dx, their distance, not both"
        )
    check_tensor(name, x, "x", 2)
    if x.raw.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    if x.raw.ndim == 1:
        if x.raw.size != count:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        steps = reshaped(
            diff(x), (-1, *[1] * (y.raw.ndim - 1 - d)) if size else (0, *[1] * (y.raw.ndim - 1 - d))
        )
    else:
        missing = y.raw.ndim - x.raw.ndim
        x = reshaped(x, (*[1] * missing, *x.raw.shape)) if missing > 0 else x
        steps = diff(x, dim=d)
    return sums * steps, d


@public("trapezoid", "trapz", method=False)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of the samples `y` along `dim` by the trapezoidal rule.

    x: where the samples lie (1-D, or of y's shape); dx: their distance instead, 1 by default.

    >>> import autodiff_kernel as torch
    >>> torch.trapezoid(torch.tensor([1., 2., 4.]))
    tensor(4.5000)
    """
    areas, d = panels("trapezoid", y, x, dx, dim)
    if not y.raw.shape[d]:
        shape = (*y.raw.shape[:d], *y.raw.shape[d + 1 :])
        return wrap(devices.zeros(shape, areas.raw.dtype, like=y.raw))
    return total(areas, d) / 2  # type: ignore[no-any-return, operator]


@public(method=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of the samples `y` from the first one up to each later one; see `trapezoid`.

    >>> import autodiff_kernel as torch
    >>> torch.cumulative_trapezoid(torch.tensor([1., 2., 4.]))
    tensor([1.5000, 4.5000])
    """
    areas, d = panels("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, d) / 2  # type: ignore[no-any-return, operator]
