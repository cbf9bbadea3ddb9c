"""Functions of one number and activations give PyTorch's values, gradients, nodes and dtypes at all kinds of points."""

import json
import math
import pathlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import special
from autodiff_kernel.core.rules import activations, softmax

from .elementwise_cases import POINTS, UNARY, gradients, unary_dtypes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # pytest shows what the package silences
EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "elementwise.json").read_text())
F = SimpleNamespace(**{**vars(activations), **vars(softmax)})
# PyTorch's own gradient at nan depends on whether the element falls into a vector register
NAN_UNSPECIFIED = (
    "relu",
    "hardtanh",
    "elu",
    "celu",
    "selu",
    "hards",
    "softs",
    "threshold",
    "prelu",
    "logit",
    "clamp",
)


def compare(code: str, got: dict[str, Any], want: dict[str, Any], points: Any) -> None:
    """Values and gradients, elements one by one; what is huge (a pole hit by rounding) counts as infinite."""
    assert got["dtype"] == want["dtype"]
    assert got["node"] == want["node"]
    same(got["value"], want["value"])
    for g, w in zip(got.get("grad", []), want.get("grad", []), strict=True):
        if g is not None and w is not None and any(name in code for name in NAN_UNSPECIFIED):
            g, w = ([v for v, p in zip(vs, points, strict=True) if not math.isnan(p)] for vs in (g, w))
        same(g, w, 1e-7 if "hardsigmoid" in code else 1e-9)  # PyTorch's 1/6 has single precision there


def same(got: Any, want: Any, tolerance: float = 1e-9) -> None:
    if want is None or got is None:
        assert got == want
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if got.dtype == bool:
        np.testing.assert_array_equal(got, want)
        return
    got, want = (np.where(np.abs(v) > 1e12, np.inf, v) for v in (got, want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-11)


@pytest.mark.parametrize("code", EXPECTED["unary"])
def test_values_and_gradients(code: str) -> None:
    compare(code, gradients(code, torch, F, [("x", POINTS)]), EXPECTED["unary"][code], POINTS)


@pytest.mark.parametrize("code", UNARY)
def test_dtypes(code: str) -> None:
    assert unary_dtypes(code, torch, F) == EXPECTED["dtypes"][code]


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize("dtype,digits", [(np.float64, 1e-14), (np.float32, 3e-7), (np.float16, 1e-3)])
def test_erf_at_every_size_and_precision(size: int, dtype: Any, digits: float) -> None:
    x = np.linspace(-4, 4, size).astype(dtype)
    for f, reference in ((special.erf, math.erf), (special.erfc, math.erfc)):
        y = f(x)
        assert y.dtype == dtype
        np.testing.assert_allclose(y, [reference(float(v)) for v in x], rtol=digits, atol=digits)


def test_erfc_keeps_its_digits_far_out() -> None:
    x = np.linspace(0, 26, 2000)
    np.testing.assert_allclose(special.erfc(x), [math.erfc(v) for v in x], rtol=1e-13)


def test_erfinv_inverts_erf() -> None:
    y = np.concatenate([np.linspace(-0.999, 0.999, 999), [1 - 1e-12, 1e-20]])
    np.testing.assert_allclose([math.erf(v) for v in special.erfinv(y)], y, rtol=1e-14)


def test_lgamma_digamma_polygamma() -> None:
    x = np.linspace(0.05, 40, 2001)
    np.testing.assert_allclose(special.lgamma(x), [math.lgamma(v) for v in x], rtol=1e-13, atol=1e-14)
    # psi(x + 1) = psi(x) + 1/x, and the same for its derivatives
    np.testing.assert_allclose(special.digamma(x + 1), special.digamma(x) + 1 / x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        special.polygamma(1, x + 1), special.polygamma(1, x) - x**-2, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(special.digamma(np.array([1.0])), [-0.5772156649015329], rtol=1e-15)
    np.testing.assert_allclose(special.polygamma(1, np.array([1.0])), [math.pi**2 / 6], rtol=1e-15)


def test_softmax_does_not_overflow_and_takes_other_dtypes() -> None:
    x = torch.tensor([1000.0, 1000.0, -1000.0])
    assert torch.softmax(x, 0).tolist() == [0.5, 0.5, 0.0]
    assert torch.log_softmax(x, 0).tolist() == pytest.approx(
        [-math.log(2), -math.log(2), -2000 - math.log(2)]
    )
    assert torch.softmax(torch.tensor([1, 2]), 0, dtype=torch.float64).dtype is torch.float64
    half = torch.softmax(torch.ones(5000, dtype=torch.float16), 0)
    assert half.dtype is torch.float16 and half[0].item() == pytest.approx(1 / 5000, rel=1e-2)
    assert torch.softmax(torch.tensor(3.0), 0).item() == 1.0
    assert torch.softmax(torch.zeros(0, 3), 0).shape == (0, 3)
    assert torch.logsumexp(torch.zeros(2, 3, 4), (0, 2), keepdim=True).shape == (1, 3, 1)
    assert torch.logsumexp(torch.zeros(2, 0), 1).tolist() == [-math.inf, -math.inf]


def test_activations_in_place() -> None:
    x = torch.tensor([-2.0, 3.0])
    assert F.leaky_relu(x, 0.5, inplace=True) is x and x.tolist() == [-1.0, 3.0]
    y = torch.tensor([-1.0, 2.0], requires_grad=True)
    z = y * 1
    torch.selu_(z)
    z.sum().backward()
    assert y.grad.tolist() == pytest.approx([0.6467686, 1.0507010])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        F.elu(y, inplace=True)


def test_large_arrays_choose_by_bits() -> None:
    rng = np.random.default_rng(0)
    for dtype in (np.float16, np.float32, np.float64):
        a, b = rng.normal(size=(2, 50, 60)).astype(dtype)
        a[0, :3] = np.inf, -np.inf, np.nan
        mask = a > b
        t, u, c = (torch.from_numpy(v) for v in (a, b, mask))
        for got, want in (
            (torch.where(c, t, u), np.where(mask, a, b)),
            (torch.where(c, t, 0.0), np.where(mask, a, dtype(0))),
            (torch.where(c, -0.0, u), np.where(mask, dtype(-0.0), b)),
            (torch.where(c, t, u[:, :1]), np.where(mask, a, b[:, :1])),
            (torch.where(c[:1], t[:, :1], u[:1]), np.where(mask[:1], a[:, :1], b[:1])),
        ):
            assert got.numpy().dtype == dtype
            np.testing.assert_array_equal(got.numpy(), want)
            np.testing.assert_array_equal(np.signbit(got.numpy()), np.signbit(want))
