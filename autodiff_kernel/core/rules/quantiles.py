"""Quantiles: sorted, interpolated between the two elements around the place q·(n − 1)."""

from typing import Any

from .. import device as devices
from ..api import check_tensor, into, public
from ..op import Op
from ..outline import of_all
from ..tensor import Tensor, wrap
from .along import take_along
from .dims import wrap_dim
from .forms import where
from .orders import movedim
from .rounding import ceil, floor, round_row
from .shapes import reshaped
from .sorting import sort
from .two_numbers import lerp

WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked(name: str, input: Tensor, q: Any, way: str) -> Tensor:
    """q as a tensor; PyTorch's errors."""
    check_tensor(name, input)
    if not input.raw.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    kind = input.raw.dtype
    if kind.kind != "f" or kind.itemsize < 4:
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if way not in WAYS:
        raise RuntimeError(
            f"{name}() interpolation must be one of {', '.join(WAYS[:-1])} or {WAYS[-1]}, but got {way}"
        )
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
        return wrap(devices.full((), q, kind, like=input.raw)[()])
    if q.raw.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.raw.dtype != kind:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    levels = of_all(q.raw)
    if not devices.item(((levels >= 0) & (levels <= 1)).all()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def _quantile(
    name: str, x: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, skip_nan: bool, out: Any
) -> Tensor:
    q = _checked(name, x, q, interpolation)
    ndim, many = x.raw.ndim, bool(q.raw.ndim)
    d = 0 if dim is None else wrap_dim(dim, ndim, name)
    rows = reshaped(x, (-1,)) if dim is None else movedim(x, d, -1) if ndim else reshaped(x, (1,))
    ranked: Tensor = sort(rows)[0]
    known: Any = ranked.detach()
    missing = (known != known).sum(-1, keepdim=True)
    last = ranked.raw.shape[-1] - 1
    levels = reshaped(q, (-1,))
    if skip_nan:  # they are sorted behind the numbers
        places = levels * (last - missing).clamp(min=0).to(q.dtype)
    else:
        places = where(missing > 0, last, levels * last)
    result = _between(ranked, places, interpolation)
    shape = _shape(x.raw.shape, None if dim is None else d, keepdim)
    result = movedim(result, -1, 0) if many else result
    result = reshaped(result, (q.raw.size, *shape) if many else shape)
    return into(out, result)  # type: ignore[no-any-return]


def _between(ranked: Tensor, places: Tensor, way: str) -> Tensor:
    """The elements at places between whole numbers."""

    place: Any = places.detach()

    def at(row: Op) -> Tensor:
        return take_along(ranked, row(place).long(), p=ranked.raw.ndim - 1)  # type: ignore[no-any-return]

    if way == "nearest":
        return at(round_row)
    if way == "lower":
        return at(floor)
    if way == "higher":
        return at(ceil)
    return lerp(at(floor), at(ceil), 0.5 if way == "midpoint" else places - floor(place))


def _shape(shape: tuple[int, ...], d: int | None, keepdim: bool) -> tuple[int, ...]:
    if d is None or not shape:
        return (1,) * len(shape) if keepdim else ()
    return (*shape[:d], *((1,) if keepdim else ()), *shape[d + 1 :])


@public()
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Tensor:
    """The q-th quantile of all elements, or along `dim`; for a 1-D tensor q its quantiles are the first dimension.

    interpolation: what counts between two elements: "linear", "lower", "higher", "midpoint" or "nearest".  Raises
    RuntimeError unless 0 <= q <= 1, and for tensors that are empty or neither float nor double.

    >>> import autodiff_kernel as torch
    >>> torch.quantile(torch.tensor([3., 1., 2., 5.]), torch.tensor([0.5, 0.75]))
    tensor([2.5000, 3.5000])
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False, out)


@public()
def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Tensor:
    """The q-th quantile of the elements that are not nan; see `quantile`.

    >>> import autodiff_kernel as torch
    >>> torch.nanquantile(torch.tensor([3., float('nan'), 2.]), 0.5)
    tensor(2.5000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, True, out)
