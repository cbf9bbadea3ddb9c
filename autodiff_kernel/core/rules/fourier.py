"""Discrete Fourier transforms: three rows, and PyTorch's twenty functions made of them.

`c2c` transforms complex values along dimensions, `r2c` real values along one (only half of the result, the other half
is its mirror), `c2r` goes the way back.  All are linear, none is scaled by itself: the factor is a parameter.  The
adjoint of c2c is c2c the other way round; r2c and c2r are each other's, with weights for the values that stand for
their mirror images too.
"""

from typing import Any

import numpy as np

from .. import device as devices
from .. import dtype as dtypes
from ..api import check_tensor, into
from ..op import TABLE, Op
from ..tensor import Tensor
from .dims import wrap_dim
from .joining import cat
from .parts import narrow

COMPLEX: dict[Any, Any] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}


def scaled(y: Any, scale: float) -> Any:
    return y if scale == 1 else y * y.real.dtype.type(scale)


def _c2c(a: Any, p: Any) -> Any:
    dims, scale, forward = p
    y = np.fft.fftn(a, axes=dims) if forward else np.fft.ifftn(a, axes=dims, norm="forward")
    return scaled(y.astype(a.dtype, copy=False), scale)


def _r2c(a: Any, p: Any) -> Any:
    dim, scale, _ = p
    return scaled(np.fft.rfft(a, axis=dim).astype(COMPLEX[a.dtype], copy=False), scale)


def _c2r(a: Any, p: Any) -> Any:
    dim, scale, n = p
    y = np.fft.irfft(a, n, axis=dim, norm="forward")
    return scaled(y.astype(a.real.dtype, copy=False), scale)


def mirrored(g: Any, p: Any, twice: float) -> Any:
    """g with the values weighted that stand for a mirror image too: all but the first and, of an even length, the last."""
    dim, _, n = p
    weights = np.full(n // 2 + 1, twice)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    raw = getattr(g, "raw", g)
    shape = [1] * raw.ndim
    shape[dim] = len(weights)
    w = devices.asarray(weights.reshape(shape).astype(np.zeros(0, raw.dtype).real.dtype), like=raw)
    return TABLE["mul"](g, w)


c2c: Op = Op(
    "fft_c2c", _c2c, a=lambda g, n: c2c(g, p=(n.p[0], n.p[1], not n.p[2])), mode="linear", params=True,
    node="FftC2CBackward0", symbol="ℱ", partials=("ℱ",), latex=r"\mathcal{{F}}\, {a}",
    batch="dims_first", doc="The discrete Fourier transform of complex values along some dimensions.",
)  # fmt: skip
r2c: Op = Op(
    "fft_r2c", _r2c, a=lambda g, n: c2r(mirrored(g, n.p, 0.5), p=n.p), mode="linear", params=True,
    node="FftR2CBackward0", symbol="ℱ", partials=("ℱ",), latex=r"\mathcal{{F}}\, {a}",
    batch="along", doc="The first half of the discrete Fourier transform of real values along a dimension.",
)  # fmt: skip
c2r: Op = Op(
    "fft_c2r", _c2r, a=lambda g, n: mirrored(r2c(g, p=n.p), n.p, 2.0), mode="linear", params=True,
    node="FftC2RBackward0", symbol="ℱ⁻¹", partials=("ℱ⁻¹",), latex=r"\mathcal{{F}}^{{-1}} {a}",
    batch="along", doc="Real values of which the first half of the transform is given.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ arguments
def prepared(name: str, x: Tensor, real: bool = False) -> Tensor:
    """x as floating point (integers become the default dtype), complex unless `real`."""
    check_tensor(name, x)
    if x.raw.dtype.kind in "biu":
        x = x.to(dtypes.get_default_dtype())  # type: ignore[attr-defined]
    if x.raw.dtype.itemsize < 4 or x.raw.dtype.name in ("bfloat16", "complex32"):
        raise RuntimeError(f"Unsupported dtype {x.dtype.scalar_type}")
    if real:
        if x.raw.dtype.kind == "c":
            raise RuntimeError(f"{name} expects a real input tensor, but got {x.dtype.scalar_type}")
        return x
    return x if x.raw.dtype.kind == "c" else x.to(dtypes.of(COMPLEX[x.raw.dtype]))  # type: ignore[attr-defined]


def resized(x: Any, dim: int, n: int) -> Any:
    """x cut off or filled with zeros to length n along dim."""
    size = x.raw.shape[dim]
    if n == size:
        return x
    if n < size:
        return narrow(x, dim, 0, n)
    fill = list(x.raw.shape)
    fill[dim] = n - size
    return cat([x, x.new_zeros(fill)], dim)


def factor(norm: str | None, n: int, forward: bool) -> float:
    """What the transform of n values is multiplied by."""
    if norm in (None, "backward"):
        return 1.0 if forward else 1.0 / n
    if norm == "ortho":
        return float(n) ** -0.5
    if norm == "forward":
        return 1.0 / n if forward else 1.0
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def flipped(norm: str | None) -> str | None:
    """The mode that scales a transform as `norm` scales its inverse."""
    return {"backward": "forward", None: "forward", "forward": "backward"}.get(norm, norm)


def checked_size(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


def one_dim(name: str, x: Tensor, dim: int) -> int:
    if not x.raw.ndim:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x.raw.ndim)


def several_dims(name: str, x: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions to transform and their lengths."""
    ndim = x.raw.ndim
    if dim is not None and not ndim and (isinstance(dim, int) or len(dim)):
        raise IndexError(
            f"{name}: Dimension specified as {dim if isinstance(dim, int) else dim[0]} but tensor has no dimensions"
        )
    if dim is not None:
        dims = tuple(wrap_dim(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim))
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
    elif s is not None:
        lengths = (s,) if isinstance(s, int) else tuple(s)
        if len(lengths) > ndim:
            raise RuntimeError(
                f"Got shape with {len(lengths)} values but input tensor only has {ndim} dimensions."
            )
        dims = tuple(range(ndim - len(lengths), ndim))
    else:
        dims = tuple(range(ndim))
    if s is None:
        sizes = tuple(x.raw.shape[d] for d in dims)
    else:
        sizes = (s,) if isinstance(s, int) else tuple(s)
        if len(sizes) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        sizes = tuple(x.raw.shape[d] if n == -1 else n for n, d in zip(sizes, dims))
    for n in sizes:
        checked_size(n)
    return dims, sizes


def product(sizes: tuple[int, ...]) -> int:
    count = 1
    for n in sizes:
        count *= n
    return count


# ------------------------------------------------------------------------------------------------ one dimension
def one(name: str, forward: bool, doc: str, example: str = "") -> Any:
    def function(
        input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
    ) -> Any:
        x = prepared(name, input)
        d = one_dim(name, x, dim)
        size = checked_size(x.raw.shape[d] if n is None else n)
        return into(out, c2c(resized(x, d, size), p=((d,), factor(norm, size, forward), forward)))

    return named(function, name, doc, example)


def named(function: Any, name: str, doc: str, example: str) -> Any:
    function.__name__ = function.__qualname__ = name.removeprefix("fft_")
    parts = [doc]
    if example:
        parts += ["", ">>> import autodiff_kernel as torch", *example.splitlines()]
    function.__doc__ = "\n".join(parts)
    return function


def rfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The first n/2 + 1 values of the transform of n real values; the others are their mirror images.

    >>> import autodiff_kernel as torch
    >>> torch.fft.rfft(torch.tensor([1., 2., 3., 4.]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    x = prepared("rfft", input, real=True)
    d = one_dim("rfft", x, dim)
    size = checked_size(x.raw.shape[d] if n is None else n)
    return into(out, r2c(resized(x, d, size), p=(d, factor(norm, size, True), size)))


def irfft(
    input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Any:
    """The n real values (by default an even number) of which `rfft` gave the first half of the transform.

    >>> import autodiff_kernel as torch
    >>> torch.fft.irfft(torch.fft.rfft(torch.tensor([1., 2., 3., 4.])))
    tensor([1., 2., 3., 4.])
    """
    x = prepared("irfft", input)
    d = one_dim("irfft", x, dim)
    size = checked_size(2 * (x.raw.shape[d] - 1) if n is None else n)
    return into(out, c2r(resized(x, d, size // 2 + 1), p=(d, factor(norm, size, False), size)))


def hfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Any:
    """The real transform of a signal of which the first half is given, the other half being its mirror image."""
    x = prepared("hfft", input)
    return into(out, irfft(TABLE["conj"](x), n, dim, flipped(norm)))


def ihfft(
    input: Any, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Any:
    """The inverse of `hfft`: half of the signal whose transform is real."""
    prepared("ihfft", input, real=True)
    return into(out, TABLE["conj"](rfft(input, n, dim, flipped(norm))))


# ------------------------------------------------------------------------------------------------ several dimensions
def fitted(x: Any, dims: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    for d, n in zip(dims, sizes):
        x = resized(x, d, n)
    return x


def several(name: str, forward: bool, doc: str, two: bool) -> Any:
    def function(
        input: Any,
        s: Any = None,
        dim: Any = (-2, -1) if two else None,
        norm: str | None = None,
        *,
        out: Any = None,
    ) -> Any:
        x = prepared(name, input)
        dims, sizes = several_dims(name, x, s, dim)
        if not dims:
            return into(out, x.clone())  # type: ignore[attr-defined]
        return into(
            out, c2c(fitted(x, dims, sizes), p=(dims, factor(norm, product(sizes), forward), forward))
        )

    return named(function, name, doc, "")


def _rfftn(name: str, input: Any, s: Any, dim: Any, norm: str | None) -> Any:
    x = prepared(name, input, real=True)
    dims, sizes = several_dims(name, x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    x = fitted(x, dims, sizes)
    y = r2c(x, p=(dims[-1], factor(norm, product(sizes), True), sizes[-1]))
    return c2c(y, p=(dims[:-1], 1.0, True)) if len(dims) > 1 else y


def _irfftn(name: str, input: Any, s: Any, dim: Any, norm: str | None) -> Any:
    x = prepared(name, input)
    dims, sizes = several_dims(name, x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = (
        2 * (x.raw.shape[dims[-1]] - 1)
        if s is None or (not isinstance(s, int) and s[-1] == -1)
        else sizes[-1]
    )
    sizes = (*sizes[:-1], checked_size(last))
    x = fitted(x, dims, (*sizes[:-1], last // 2 + 1))
    if len(dims) > 1:
        x = c2c(x, p=(dims[:-1], 1.0, False))
    return c2r(x, p=(dims[-1], factor(norm, product(sizes), False), last))


def real_several(name: str, doc: str, two: bool, to_real: bool, hermitian: bool) -> Any:
    def function(
        input: Any,
        s: Any = None,
        dim: Any = (-2, -1) if two else None,
        norm: str | None = None,
        *,
        out: Any = None,
    ) -> Any:
        if hermitian and to_real:
            return into(out, _irfftn(name, TABLE["conj"](prepared(name, input)), s, dim, flipped(norm)))
        if hermitian:
            return into(out, TABLE["conj"](_rfftn(name, input, s, dim, flipped(norm))))
        return into(out, (_irfftn if to_real else _rfftn)(name, input, s, dim, norm))

    return named(function, name, doc, "")


fft = one("fft", True, "The discrete Fourier transform of n values: Σ x[j]·exp(−2πi jk/n).",
          ">>> torch.fft.fft(torch.tensor([1., 2., 3., 4.]))\ntensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])")  # fmt: skip
ifft = one("ifft", False, "The inverse of `fft`.",
           ">>> torch.fft.ifft(torch.fft.fft(torch.tensor([1., 2.]))).real\ntensor([1., 2.])")  # fmt: skip
fft2 = several("fft2", True, "The transform along two dimensions.", two=True)
ifft2 = several("ifft2", False, "The inverse of `fft2`.", two=True)
fftn = several("fftn", True, "The transform along several dimensions (all by default).", two=False)
ifftn = several("ifftn", False, "The inverse of `fftn`.", two=False)
rfft2 = real_several(
    "rfft2", "`fft2` of real values: half of it along the last dimension.", True, False, False
)
rfftn = real_several(
    "rfftn", "`fftn` of real values: half of it along the last dimension.", False, False, False
)
irfft2 = real_several("irfft2", "The inverse of `rfft2`.", True, True, False)
irfftn = real_several("irfftn", "The inverse of `rfftn`.", False, True, False)
hfft2 = real_several("hfft2", "`hfft` along two dimensions.", True, True, True)
hfftn = real_several("hfftn", "`hfft` along several dimensions.", False, True, True)
ihfft2 = real_several("ihfft2", "The inverse of `hfft2`.", True, False, True)
ihfftn = real_several("ihfftn", "The inverse of `hfftn`.", False, False, True)
