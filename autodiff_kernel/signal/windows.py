"""torch.signal.windows: windows of M points, symmetric or (sym=False) periodic.

>>> import autodiff_kernel as torch
>>> torch.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from ..core import device as devices
from ..core.bessel import i0
from ..core.create import home_of, made
from ..core.data import as_dtype
from ..core.dtype import float32, float64, get_default_dtype
from ..core.formats import strided
from ..core.tensor import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _window(
    name: str, M: int, shape: Callable[[Any], Any], dtype: Any, layout: Any, device: Any, requires_grad: bool
) -> Tensor:
    """The window whose values at the points 0 … M − 1 are shape(points)."""
    kind = as_dtype(dtype, name) or get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if kind is not float32 and kind is not float64:
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {kind}")
    values = shape(np.arange(M, dtype=np.float64)) if M else np.zeros(0)
    return made(devices.asarray(values.astype(kind.np), kind.np, home_of(device)), requires_grad)


def _period(M: int, sym: bool) -> int:
    """How many steps bring a window back to its start."""
    return M - 1 if sym else M


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """exp(−|n − center|/tau); center: the middle unless given, which only sym=False allows.

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M if not sym and M > 1 else M - 1) / 2 if center is None else center
    return _window(
        "exponential", M, lambda n: np.exp(-abs(n - middle) / tau), dtype, layout, device, requires_grad
    )


def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """Half a sine wave: sin(π(n + ½)/M).

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    size = M + 1 if not sym and M > 1 else M
    return _window(
        "cosine", M, lambda n: np.sin(np.pi * (n + 0.5) / size), dtype, layout, device, requires_grad
    )


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A bell curve of standard deviation `std`, in points.

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    middle = (M if not sym and M > 1 else M - 1) / 2
    shape = lambda n: np.exp(-(((n - middle) / (std * sqrt(2))) ** 2))  # noqa: E731
    return _window("gaussian", M, shape, dtype, layout, device, requires_grad)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Kaiser's window I₀(β√(1 − t²))/I₀(β), t from −1 to 1.

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.kaiser(3, beta=1.)
    tensor([0.7898, 1.0000, 0.7898])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(n: Any) -> Any:
        t = np.minimum(2 * n / _period(M, sym) - 1, 1.0) if M > 1 else 0 * n
        return i0(beta * np.sqrt(1 - t * t)) / i0(np.float64(beta))

    return _window("kaiser", M, shape, dtype, layout, device, requires_grad)


def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """A triangle from 0 over 1 to 0.

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.bartlett(3)
    tensor([0., 1., 0.])
    """
    shape = lambda n: 1 - abs(2 * n / _period(M, sym) - 1) if M > 1 else n + 1  # noqa: E731
    return _window("bartlett", M, shape, dtype, layout, device, requires_grad)


def _cosines(
    name: str,
    M: int,
    a: Sequence[float],
    sym: bool,
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    def shape(n: Any) -> Any:
        angle = 2 * np.pi * n / _period(M, sym) if M > 1 else n
        waves = sum((-1) ** k * weight * np.cos(k * angle) for k, weight in enumerate(a))
        return waves if M > 1 else n + 1

    return _window(name, M, shape, dtype, layout, device, requires_grad)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A sum of cosines with the weights a₀, −a₁, a₂ ….

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if M > 1 and not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = list(a) if M > 1 else []
    if M > 1 and not weights:
        raise ValueError("Coefficients cannot be empty")
    return _cosines("general_cosine", M, weights, sym, dtype, layout, device, requires_grad)


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """α − (1 − α)·cos(2πn/(M − 1)).

    >>> import autodiff_kernel as torch
    >>> torch.signal.windows.general_hamming(3, alpha=0.6)
    tensor([0.2000, 1.0000, 0.2000])
    """
    return _cosines("general_cosine", M, [alpha, 1 - alpha], sym, dtype, layout, device, requires_grad)


def _fixed(name: str, whose: str, weights: list[float], example: str) -> Any:
    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        # PyTorch names blackman in its errors, and general_cosine in those of the others
        word = name if name == "blackman" else "general_cosine"
        return _cosines(word, M, weights, sym, dtype, layout, device, requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = (
        f"{whose} window: `general_cosine` with the weights {weights}.\n\n"
        f">>> import autodiff_kernel as torch\n>>> torch.signal.windows.{name}{example}"
    )
    return window


hamming = _fixed("hamming", "Hamming's", [0.54, 0.46], "(3)\ntensor([0.0800, 1.0000, 0.0800])")
hann = _fixed("hann", "Hann's", [0.5, 0.5], "(3)\ntensor([0., 1., 0.])")
blackman = _fixed("blackman", "Blackman's", [0.42, 0.5, 0.08], "(5)[1:4]\ntensor([0.3400, 1.0000, 0.3400])")
_NUTTALL = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
nuttall = _fixed("nuttall", "Nuttall's", _NUTTALL, "(5)[1:4]\ntensor([0.2270, 1.0000, 0.2270])")
