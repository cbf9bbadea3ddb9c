"""The short-time Fourier transform and its inverse: which frequencies sound when."""

import warnings
from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, public
from ..dtype import is_floating
from ..tensor import Tensor, wrap
from .complexes import view_as_real
from .fourier import fft, ifft, irfft, rfft
from .joining import cat
from .orders import transpose
from .parts import narrow, unfold, unfold_back
from .repeats import flip
from .shapes import reshaped

_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied. To suppress this warning and use a rectangular "
    "window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


def _stretched(x: Tensor, pad: int, mode: str) -> Tensor:
    """The signals (rows of x) continued by `pad` samples on both sides."""
    n = x.raw.shape[-1]
    if mode == "constant":
        nothing = wrap(devices.zeros((x.raw.shape[0], pad), x.raw.dtype, like=x.raw))
        return cat([nothing, x, nothing], -1)
    if mode == "reflect":
        if pad >= n:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({pad}, {pad}) at dimension 2 of input {[1, *x.raw.shape]}"
            )
        return cat([flip(narrow(x, 1, 1, pad), [1]), x, flip(narrow(x, 1, n - 1 - pad, pad), [1])], -1)
    if mode == "circular":
        return cat([narrow(x, 1, n - pad, pad), x, narrow(x, 1, 0, pad)], -1)
    if mode == "replicate":
        return cat([narrow(x, 1, 0, 1)] * pad + [x] + [narrow(x, 1, n - 1, 1)] * pad, -1)
    raise NotImplementedError(f"Unrecognised padding mode {mode}")


def _in_the_middle(window: Any, n_fft: int, size: int, like: Any) -> Tensor:
    """The window (ones, if there is none) with zeros on both sides."""
    if window is None:
        dtype = like.real.dtype
        window = wrap(devices.ones((size,), dtype, like=like))
    left = (n_fft - size) // 2
    if size == n_fft:
        return window  # type: ignore[no-any-return]
    zeros = [wrap(devices.zeros((k,), window.raw.dtype, like=like)) for k in (left, n_fft - size - left)]
    return cat([zeros[0], window, zeros[1]], 0)


@public()
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of overlapping windows of a signal: shape ([B,] frequencies, windows), complex.

    input: one signal (N) or a batch of them (B, N).  n_fft: how long a window is; hop_length: how far apart they start,
    n_fft/4 by default; window: its weights, win_length of them.  center: window t is centred at sample t·hop_length, for
    which the signal is continued on both sides (`pad_mode`).  normalized: divide by √n_fft.  onesided: only frequencies
    up to the middle, the default for real signals.  return_complex has to be given for real signals; False gives pairs of
    real numbers.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 0., -1., 0., 1., 0., -1., 0.])
    >>> torch.stft(x, 4, center=False, window=torch.ones(4), return_complex=True).abs()[:, 0]
    tensor([0., 2., 0.])
    """
    check_tensor("stft", input)
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    complexes = input.raw.dtype.kind == "c" or window is not None and window.raw.dtype.kind == "c"
    if return_complex is None:
        if not complexes:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    _check_stft(input, n_fft, hop, size, window, center)
    if window is None:
        warnings.warn(_NO_WINDOW, UserWarning, stacklevel=2)
    x = reshaped(input, (1, -1)) if input.raw.ndim == 1 else input
    if center:
        x = _stretched(x, n_fft // 2, pad_mode)
    if not 0 < n_fft <= x.raw.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {x.raw.shape[-1]}, but got n_fft={n_fft}")
    frames = unfold(x, 1, n_fft, hop)
    if window is not None or size < n_fft:
        frames = frames * _in_the_middle(window, n_fft, size, x.raw)  # type: ignore[operator]
    if onesided and complexes:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    norm = "ortho" if normalized else None
    half = not complexes and onesided is not False
    result = transpose(rfft(frames, norm=norm) if half else fft(frames, norm=norm), 1, 2)
    if input.raw.ndim == 1:
        result = reshaped(result, result.raw.shape[1:])
    return result if return_complex else view_as_real(result)  # type: ignore[no-any-return]


def _check_stft(x: Tensor, n_fft: int, hop: int, size: int, window: Any, center: bool) -> None:
    if not is_floating(x.raw.dtype):
        raise RuntimeError("stft: expected a tensor of floating point or complex values")
    if x.raw.ndim not in (1, 2):
        raise RuntimeError("stft: expected a 1D or 2D tensor")
    if n_fft <= 0:
        raise RuntimeError(f"stft: expected 0 < n_fft < {x.raw.shape[-1]}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < size <= n_fft:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={size}")
    if window is not None and window.raw.shape != (size,):
        raise RuntimeError(
            f"stft: expected a 1D window tensor of size equal to win_length={size}, but got window with size "
            f"{list(window.raw.shape)}"
        )


@public()
def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal with these windowed Fourier transforms: the inverse of `stft`, whose words it takes.

    The windows' inverse transforms are weighted, added up at their places and divided by the sum of the squared windows.
    length: how many samples the signal has.  Raises RuntimeError where no window covers a sample.

    >>> import autodiff_kernel as torch
    >>> x, w = torch.tensor([1., 3., -1., 2., 5., 0., 4., 1.]), torch.hann_window(4)
    >>> torch.istft(torch.stft(x, 4, window=w, return_complex=True), 4, window=w)
    tensor([ 1.,  3., -1.,  2.,  5.,  0.,  4.,  1.])
    """
    check_tensor("istft", input)
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    half = onesided is not False
    _check_istft(input, n_fft, hop, size, window, half)
    if return_complex and (onesided or onesided is None):
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if window is None:
        warnings.warn(_NO_WINDOW, UserWarning, stacklevel=2)
    spectra = input if input.raw.ndim == 3 else reshaped(input, (1, *input.raw.shape))
    weights = _in_the_middle(window, n_fft, size, spectra.raw)
    norm = "ortho" if normalized else None
    frames = transpose(spectra, 1, 2)
    frames = irfft(frames, n_fft, norm=norm) if half else ifft(frames, norm=norm)
    if not half and not return_complex:
        frames = frames.real
    frames = frames * weights
    count = frames.raw.shape[1]
    total = n_fft + hop * (count - 1)
    places = ((1, n_fft, hop), (frames.raw.shape[0], total))
    signal = unfold_back(frames, p=places)
    squares = wrap(devices.ones((1, count, 1), weights.raw.dtype, like=weights.raw)) * (weights * weights)  # type: ignore[operator]
    envelope = unfold_back(squares, p=((1, n_fft, hop), (1, total)))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    stop = min(end, total)
    signal, envelope = (narrow(x, 1, start, max(stop - start, 0)) for x in (signal, envelope))
    least = devices.item(np.abs(envelope.raw).min()) if envelope.raw.size else 1.0
    if not least > 1e-11:
        raise RuntimeError(
            f"istft: window overlap add min: {least:g}; some samples lie in no window that counts them"
        )
    signal = signal / envelope
    if end > total:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings.", UserWarning, stacklevel=2,
        )  # fmt: skip
        signal = cat(
            [
                signal,
                wrap(devices.zeros((signal.raw.shape[0], end - total), signal.raw.dtype, like=signal.raw)),
            ],
            1,
        )
    return reshaped(signal, signal.raw.shape[1:]) if input.raw.ndim == 2 else signal


def _check_istft(x: Tensor, n_fft: int, hop: int, size: int, window: Any, half: bool) -> None:
    if x.raw.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if not x.raw.size:
        raise RuntimeError("istft: input tensor cannot be empty.")
    if x.raw.ndim not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {x.raw.ndim}")
    want = n_fft // 2 + 1 if half else n_fft
    if x.raw.shape[-2] != want:
        which = "n_fft / 2 + 1 when onesided=True" if half else "n_fft when onesided=False"
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match {which}, but got "
            f"{x.raw.shape[-2]}"
        )
    if not 0 < hop <= size:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    if not 0 < size <= n_fft:
        raise RuntimeError("istft: expected 0 < win_length <= n_fft")
    if window is not None and window.raw.shape != (size,):
        raise RuntimeError("istft: Invalid window shape. window has to be 1D and length of `win_length`")
