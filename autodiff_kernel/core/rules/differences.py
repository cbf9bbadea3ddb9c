"""Derivatives of sampled functions, gradient; and the parts of a floating-point number, frexp."""

from typing import Any

import numpy as np

from ..api import check_tensor, public
from ..errors import explain
from ..op import TABLE, Op
from ..return_types import return_type
from ..tensor import Tensor
from .cumulative import diff
from .dims import wrap_dim
from .elementwise import exp2
from .joining import cat
from .parts import narrow
from .shapes import reshaped
from .sorting import named

_Frexp = return_type("frexp", "mantissa exponent")


# ------------------------------------------------------------------------------------------------ frexp
def _frexp(a: Any) -> Any:
    mantissa, exponent = np.frexp(a)
    return mantissa, exponent.astype(np.int32)


def _power(n: Any) -> Any:
    """2^−exponent: the mantissa's derivative."""
    mantissa, exponent = n.y
    dtype = (mantissa.raw if isinstance(mantissa, Tensor) else mantissa).dtype
    return exp2(-TABLE["cast"](exponent, p=dtype))


frexp_row = Op("frexp", _frexp, lambda g, n: g[0] * _power(n), reads=("y",), jvp=lambda ts, n: (ts[0] * _power(n), None),
               outputs=True, partials=("2^−exponent",), latex=r"\text{{frexp}}({a})", batch="elementwise",
               doc="The mantissa, of size ½ to 1, and the exponent of 2 of each element.")  # fmt: skip


@public()
def frexp(input: Tensor, *, out: Any = None) -> Any:
    """(mantissa, exponent): input = mantissa · 2^exponent with ½ ≤ |mantissa| < 1.

    Raises RuntimeError for whole numbers.

    >>> import autodiff_kernel as torch
    >>> torch.frexp(torch.tensor([1., -3.5])).exponent
    tensor([1, 2], dtype=torch.int32)
    """
    check_tensor("frexp", input)
    if input.raw.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return named(_Frexp, frexp_row(input), out)


# ------------------------------------------------------------------------------------------------ gradient
def _step_sizes(x: Tensor, spacing: Any, dims: list[int] | None) -> tuple[list[int], list[Any]]:
    """The dimensions, and for each the distance of its samples or the tensor of their places."""
    chosen = list(range(x.raw.ndim)) if dims is None else dims
    if not isinstance(spacing, (list, tuple)):
        return chosen, [1 if spacing is None else spacing] * len(chosen)
    if len(spacing) != len(chosen):
        if dims is None:
            words = (
                f", or a list of length equal to 'self.dim() = {x.raw.ndim}', since dim argument was not given, but got a "
                f"list of length {len(spacing)}"
            )
        else:
            words = (
                " or it's spacing and dim arguments to have the same length, but got a spacing argument of length "
                f"{len(spacing)} and a dim argument of length {len(dims)}."
            )
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar{words}")
    return chosen, list(spacing)


def _check(x: Tensor, dims: list[int], steps: list[Any], edge_order: int) -> None:
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    for d, step in zip(dims, steps, strict=True):
        if x.raw.shape[d] < edge_order + 1:
            raise explain(
                RuntimeError,
                "torch.gradient expected each dimension size to be at least edge_order+1",
                f"dimension {d} has {x.raw.shape[d]} samples, and edge_order is {edge_order}.",
            )
        if isinstance(step, Tensor) and step.raw.ndim > 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an element with "
                f"{step.raw.ndim} dimensions!"
            )
        if isinstance(step, Tensor) and step.raw.ndim and step.raw.shape != (x.raw.shape[d],):
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have the same length as the corresponding dimension "
                f"of self, but got {step.raw.shape[0]} places for the {x.raw.shape[d]} samples of dimension {d}"
            )


def _along(x: Tensor, d: int, step: Any, edge_order: int) -> Tensor:
    """The derivative along one dimension: of the parabola through three neighbours, one-sided at the ends."""
    n = x.raw.shape[d]
    part = lambda start, size: narrow(x, d, start, size)  # noqa: E731
    if not (isinstance(step, Tensor) and step.raw.ndim):  # even spacing
        inner = (part(2, n - 2) - part(0, n - 2)) / (2 * step)  # type: ignore[operator]
        ends = [(part(at + 1, 1) - part(at, 1)) / step for at in (0, n - 2)]  # type: ignore[operator]
        if edge_order == 2:
            first = (part(1, 1) * 4 - part(0, 1) * 3 - part(2, 1)) / (2 * step)  # type: ignore[operator]
            last = (part(n - 1, 1) * 3 - part(n - 2, 1) * 4 + part(n - 3, 1)) / (2 * step)  # type: ignore[operator]
            ends = [first, last]
        return cat([ends[0], inner, ends[1]], d)
    gaps = reshaped(diff(step), (-1, *[1] * (x.raw.ndim - 1 - d)))
    slopes = diff(x, dim=d) / gaps  # type: ignore[operator]
    h, k = (narrow(gaps, 0, at, n - 2) for at in (0, 1))
    left, right = (narrow(slopes, d, at, n - 2) for at in (0, 1))
    inner = (left * k + right * h) / (h + k)  # type: ignore[operator]
    first, last = narrow(slopes, d, 0, 1), narrow(slopes, d, n - 2, 1)
    if (
        edge_order == 2
    ):  # the parabola's slope at the end: as far on the other side of the chord's as the middle's
        first, last = first * 2 - narrow(inner, d, 0, 1), last * 2 - narrow(inner, d, n - 3, 1)  # type: ignore[operator]
    return cat([first, inner, last], d)


@public(method=False)
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivative of a sampled function along each dimension (or those in `dim`), by central differences.

    spacing: the distance of samples, or one distance or 1-D tensor of places for each dimension.  edge_order: the order
    of the one-sided differences at the ends, 1 or 2.  This has nothing to do with autograd: see `torch.autograd.grad`.

    >>> import autodiff_kernel as torch
    >>> torch.gradient(torch.tensor([0., 1., 4., 9.]))
    (tensor([1., 2., 4., 5.]),)
    """
    check_tensor("gradient", input)
    given = None if dim is None else [dim] if isinstance(dim, int) else list(dim)
    dims = None if given is None else [wrap_dim(d, input.raw.ndim, "gradient") for d in given]
    chosen, steps = _step_sizes(input, spacing, dims)
    _check(input, chosen, steps, edge_order)
    return tuple(_along(input, d, step, edge_order) for d, step in zip(chosen, steps, strict=True))
