"""torch.fft: discrete Fourier transforms with gradients.

>>> import autodiff_kernel as torch
>>> torch.fft.fftfreq(4)
tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
"""

from typing import Any

from .core.api import into
from .core.create import made
from .core.data import as_dtype
from .core.device import asarray, default_device, parse
from .core.dtype import get_default_dtype
from .core.rules.fourier import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from .core.rules.repeats import roll
from .core.tensor import Tensor

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _shift(input: Tensor, dim: Any, back: bool) -> Tensor:
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [d % max(input.dim(), 1) for d in dims]
    steps = [(input.shape[d] + back) // 2 for d in dims]
    return roll(input, steps, dims) if dims else input.clone()  # type: ignore[attr-defined,no-any-return]


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The frequencies in rising order: zero moves to the middle.

    >>> import autodiff_kernel as torch
    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shift(input, dim, False)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shift(input, dim, True)


def _frequencies(steps: Any, n: int, d: float, dtype: Any, device: Any, requires_grad: bool, out: Any) -> Any:
    import numpy as np

    kind = (as_dtype(dtype, "fftfreq") or get_default_dtype()).np
    raw = np.asarray(steps, kind) * kind.type(1.0 / (n * d))
    home = default_device() if device is None else parse(device)
    return into(out, made(asarray(raw.astype(kind), kind, home), requires_grad))


def fftfreq(
    n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of `fft`'s n values, for samples that are d apart, in cycles per unit.

    >>> import autodiff_kernel as torch
    >>> torch.fft.fftfreq(5)
    tensor([ 0.0000,  0.2000,  0.4000, -0.4000, -0.2000])
    """
    steps = [*range((n - 1) // 2 + 1), *range(-(n // 2), 0)]
    return _frequencies(steps, n, d, dtype, device, requires_grad, out)  # type: ignore[no-any-return]


def rfftfreq(
    n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of `rfft`'s n/2 + 1 values.

    >>> import autodiff_kernel as torch
    >>> torch.fft.rfftfreq(5)
    tensor([0.0000, 0.2000, 0.4000])
    """
    return _frequencies(range(n // 2 + 1), n, d, dtype, device, requires_grad, out)  # type: ignore[no-any-return]
