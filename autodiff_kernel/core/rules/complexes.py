"""Complex numbers and their parts: complex, polar, real, imag, conj, angle, view_as_real, view_as_complex."""

import builtins
from typing import Any

import numpy as np

from .. import device as devices
from ..api import attach, check_tensor, into, public
from ..failures import shape_clash
from ..op import TABLE, Op
from ..single import viewing
from ..tensor import Tensor

number = builtins.complex
PAIRS: dict[Any, Any] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}


def _complex(a: Any, b: Any) -> Any:
    dtype = PAIRS[a.dtype]
    shape = np.broadcast_shapes(a.shape, b.shape)
    if not shape and isinstance(a, (np.generic, np.ndarray)):
        return dtype.type(number(a, b))
    out = devices.empty(shape, dtype, like=a)  # a + 1j * b would make nan of an infinite part
    out.real[...] = a
    out.imag[...] = b
    return out


complex_row: Op = Op(
    "complex", _complex, a=lambda g, n: real_row(g), b=lambda g, n: imag_row(g), mode="joint", spreads=True,
    symbol="+ i", partials=("1", "i"), latex="{a} + i {b}",
    doc="The complex number with given real and imaginary parts.",
)  # fmt: skip
real_row: Op = Op(
    "real", lambda a, p: a.real, a=lambda g, n: complex_row(g, g * 0), mode="linear", params=True, view=True,
    node="SelectBackward0", symbol="Re", partials=("1",), latex=r"\operatorname{{Re}} {a}", batch="elementwise",
    doc="The real part.",
)  # fmt: skip
imag_row: Op = Op(
    "imag", lambda a, p: a.imag, a=lambda g, n: complex_row(g * 0, g), mode="linear", params=True, view=True,
    node="SelectBackward0", symbol="Im", partials=("i",), latex=r"\operatorname{{Im}} {a}", batch="elementwise",
    doc="The imaginary part.",
)  # fmt: skip
conj_row: Op = Op(
    "conj", lambda a: np.conj(a), a=lambda g, n: conj_row(g), mode="linear", symbol="conj", partials=("conjugated",),
    latex=r"\overline{{{a}}}", batch="elementwise", doc="The complex conjugate.",
)  # fmt: skip
conj_physical_row: Op = Op(
    "conj_physical", lambda a: np.conj(a) if a.dtype.kind == "c" else a.copy(), a=lambda g, n: conj_row(g),
    mode="linear", symbol="conj", partials=("conjugated",), latex=r"\overline{{{a}}}",
    batch="elementwise", doc="The complex conjugate, as a copy.",
)  # fmt: skip
view_as_real_row: Op = Op(
    "view_as_real", lambda a, p: a.reshape((*a.shape, 1)).view(a.real.dtype), a=lambda g, n: _from_pairs(g),
    mode="linear", params=True, view=True, symbol="(Re, Im)", partials=("1",),
    batch="leading", doc="Real and imaginary parts along a new last dimension.",
)  # fmt: skip
view_as_complex_row: Op = Op(
    "view_as_complex", lambda a, p: a.view(PAIRS[a.dtype])[..., 0], a=lambda g, n: view_as_real_row(g),
    jvp=lambda ts, n: _pairs_along(ts[0]), params=True, view=True, symbol="+ i", partials=("1",),
    batch="leading", doc="Pairs in the last dimension as complex numbers.",
)  # fmt: skip


def _from_pairs(g: Any) -> Any:
    """view_as_complex for a gradient or tangent, whose pairs need not be neighbours in memory."""
    return complex_row(g[..., 0], g[..., 1])


def _pairs_along(t: Any) -> Any:
    """The tangent of view_as_complex: a view like the value, where the pairs are neighbours."""
    raw = t.raw if isinstance(t, Tensor) else t
    return view_as_complex_row(t) if raw.strides[-1] == raw.itemsize else _from_pairs(t)


def _polar(a: Any, b: Any) -> Any:
    return _complex(a * np.cos(b), a * np.sin(b))


def _turned(n: Any) -> tuple[Any, Any]:
    return TABLE["cos"](n.b), TABLE["sin"](n.b)


def _size_back(g: Any, n: Any) -> Any:
    cos, sin = _turned(n)
    return real_row(g) * cos + imag_row(g) * sin


def _turn_back(g: Any, n: Any) -> Any:
    cos, sin = _turned(n)
    return n.a * (imag_row(g) * cos - real_row(g) * sin)


def _polar_tangent(ts: Any, n: Any) -> Any:
    (da, db), (cos, sin) = ts, _turned(n)
    along = None if da is None else complex_row(da * cos, da * sin)
    across = None if db is None else complex_row(-n.a * sin * db, n.a * cos * db)
    return across if along is None else along if across is None else along + across


polar_row = Op(
    "polar", _polar, a=_size_back, b=_turn_back, reads=("b", "ab"), jvp=_polar_tangent, spreads=True,
    symbol="∠", partials=("{y}/{a}", "i {y}"), latex="{a} e^{{i {b}}}",
    doc="The complex number with given absolute value and angle.",
)  # fmt: skip


def _angle(a: Any) -> Any:
    if a.dtype.kind == "c":
        return np.arctan2(a.imag, a.real)
    out = a.astype(np.float32) if a.dtype.kind in "biu" else a
    return np.where(out < 0, out.dtype.type(np.pi), out * 0)  # nan stays nan


def _is_complex(n: Any) -> bool:
    return bool(getattr(n.a, "raw", n.a).dtype.kind == "c")


def _angle_back(g: Any, n: Any) -> Any:
    if not _is_complex(n):
        return g * 0
    re, im = real_row(n.a), imag_row(n.a)
    size = re * re + im * im
    size = size + (size == 0)
    return complex_row(-g * im / size, g * re / size)


def _angle_tangent(ts: Any, n: Any) -> Any:
    if not _is_complex(n):
        return ts[0] * 0
    re, im = real_row(n.a), imag_row(n.a)
    size = re * re + im * im
    return (re * imag_row(ts[0]) - im * real_row(ts[0])) / (size + (size == 0))


angle_row: Op = Op(
    "angle", _angle, a=_angle_back, reads=("a",), jvp=_angle_tangent, partials=("i {a}/|{a}|²",),
    latex=r"\arg {a}", batch="elementwise", doc="The angle in the complex plane, from −π to π.",
)  # fmt: skip
_real, _imag = viewing(real_row), viewing(imag_row)
_as_real, _as_complex = viewing(view_as_real_row), viewing(view_as_complex_row)


# ------------------------------------------------------------------------------------------------ their forms
def two_parts(name: str, a: Any, b: Any, first: str, second: str) -> None:
    check_tensor(name, a, first)
    check_tensor(name, b, second, 2)
    kinds = a.dtype, b.dtype
    if any(not k.is_floating_point for k in kinds):
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{kinds[0].scalar_type} and {kinds[1].scalar_type}"
        )
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            f"Expected object of scalar type {kinds[0].scalar_type} but got scalar type "
            f"{kinds[1].scalar_type} for second "
            "argument"
        )
    clash = shape_clash([tuple(a.raw.shape), tuple(b.raw.shape)])
    if clash is not None:
        raise clash


@public(method=False)
def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """The complex tensor with the given real and imaginary parts, of one floating dtype.

    >>> import autodiff_kernel as torch
    >>> torch.complex(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor([1.+3.j, 2.+4.j])
    """
    two_parts("complex", real, imag, "real", "imag")
    result = complex_row(real, imag)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public(method=False)
def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """The complex tensor with the given absolute values and angles: abs·(cos angle + i sin angle).

    >>> import autodiff_kernel as torch
    >>> torch.polar(torch.tensor([1., 2.]), torch.tensor([0., 0.]))
    tensor([1.+0.j, 2.+0.j])
    """
    two_parts("polar", abs, angle, "abs", "angle")
    result = polar_row(abs, angle)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public(method=False)
def real(input: Tensor) -> Tensor:
    """The real parts of a complex tensor, as a view; a real tensor itself.

    >>> import autodiff_kernel as torch
    >>> torch.real(torch.tensor([1+2j, 3-1j]))
    tensor([1., 3.])
    """
    check_tensor("real", input)
    return _real(input) if input.raw.dtype.kind == "c" else input


@public(method=False)
def imag(input: Tensor) -> Tensor:
    """The imaginary parts of a complex tensor, as a view; RuntimeError for a real one.

    >>> import autodiff_kernel as torch
    >>> torch.imag(torch.tensor([1+2j, 3-1j]))
    tensor([ 2., -1.])
    """
    check_tensor("imag", input)
    if input.raw.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(input)  # type: ignore[no-any-return]


def _set_real(self: Tensor, values: Any) -> None:
    real(self).copy_(values)  # type: ignore[attr-defined]


def _set_imag(self: Tensor, values: Any) -> None:
    imag(self).copy_(values)  # type: ignore[attr-defined]


attach("real", property(real, _set_real))
attach("imag", property(imag, _set_imag))


@public()
def conj(input: Tensor) -> Tensor:
    """The complex conjugates; a real tensor itself.

    >>> import autodiff_kernel as torch
    >>> torch.conj(torch.tensor([1+2j]))
    tensor([1.-2.j])
    """
    check_tensor("conj", input)
    return conj_row(input) if input.raw.dtype.kind == "c" else input


@public(inplace=True, row=conj_physical_row)
def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """The complex conjugates, in memory of their own.

    >>> import autodiff_kernel as torch
    >>> torch.conj_physical(torch.tensor([1+2j]))
    tensor([1.-2.j])
    """
    check_tensor("conj_physical", input)
    result = conj_physical_row(input)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public()
def angle(input: Tensor, *, out: Any = None) -> Tensor:
    """The angle of each number in the complex plane; of real numbers 0 or π.

    >>> import autodiff_kernel as torch
    >>> torch.angle(torch.tensor([1j, -1+0j]))
    tensor([1.5708, 3.1416])
    """
    check_tensor("angle", input)
    result = angle_row(input)
    return result if out is None else into(out, result)  # type: ignore[no-any-return]


@public(method=False)
def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts of a complex tensor as a view with a new last dimension of size 2.

    >>> import autodiff_kernel as torch
    >>> torch.view_as_real(torch.tensor([1+2j]))
    tensor([[1., 2.]])
    """
    check_tensor("view_as_real", input)
    if input.raw.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return _as_real(input)  # type: ignore[no-any-return]


@public(method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs in the last dimension of a floating tensor as complex numbers, as a view.

    >>> import autodiff_kernel as torch
    >>> torch.view_as_complex(torch.tensor([[1., 2.]]))
    tensor([1.+2.j])
    """
    check_tensor("view_as_complex", input)
    raw = input.raw
    if raw.dtype not in PAIRS:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            "scalar type: "
            f"{input.dtype.scalar_type}"
        )
    if not raw.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if raw.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if input.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    return _as_complex(input)  # type: ignore[no-any-return]


def _plain_answer(name: str, answer: Any, doc: str) -> None:
    def form(input: Tensor) -> Any:
        check_tensor(name, input)
        return answer(input)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = doc
    public()(form)


_plain_answer("is_conj", lambda x: False, "Whether the tensor conjugates when it is read: never here.")
_plain_answer("is_neg", lambda x: False, "Whether the tensor changes its sign when it is read: never here.")
_plain_answer("resolve_conj", lambda x: x, "The tensor itself: conjugates are computed at once here.")
_plain_answer("resolve_neg", lambda x: x, "The tensor itself: negatives are computed at once here.")
