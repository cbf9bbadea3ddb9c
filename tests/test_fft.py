"""torch.fft against NumPy's transforms, and its arguments and errors."""

import numpy as np
import pytest

import autodiff_kernel as torch

RNG = np.random.default_rng(0)
REAL, PLANE = RNG.normal(size=(3, 4, 5)), RNG.normal(size=(3, 4, 5)) + 1j * RNG.normal(size=(3, 4, 5))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 5, 8])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension(name, n, norm):
    x = REAL if name in ("rfft", "ihfft") else PLANE
    for dim in (-1, 0):
        ours = getattr(torch.fft, name)(torch.from_numpy(x.copy()), n, dim, norm)
        np.testing.assert_allclose(ours.numpy(), getattr(np.fft, name)(x, n, dim, norm), atol=1e-12)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("s", [None, (2, 6)])
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_dimensions(name, s, norm):
    x = REAL if name == "rfft2" else PLANE
    for dim in ((-2, -1), (0, 2)):
        ours = getattr(torch.fft, name)(torch.from_numpy(x.copy()), s, dim, norm)
        np.testing.assert_allclose(ours.numpy(), getattr(np.fft, name)(x, s, dim, norm), atol=1e-12)


def test_all_dimensions():
    for name, x in (("fftn", PLANE), ("ifftn", PLANE), ("rfftn", REAL), ("irfftn", PLANE)):
        np.testing.assert_allclose(
            getattr(torch.fft, name)(torch.from_numpy(x.copy())).numpy(), getattr(np.fft, name)(x), atol=1e-12
        )
    x = torch.from_numpy(PLANE.copy())
    np.testing.assert_allclose(
        torch.fft.hfftn(torch.fft.ihfftn(torch.from_numpy(REAL.copy())), s=(3, 4, 5)).numpy(),
        REAL,
        atol=1e-12,
    )
    np.testing.assert_allclose(torch.fft.fftn(x, dim=()).numpy(), PLANE)


def test_dtypes():
    assert torch.fft.fft(torch.ones(4)).dtype is torch.complex64
    assert torch.fft.rfft(torch.ones(4, dtype=torch.float64)).dtype is torch.complex128
    assert torch.fft.fft(torch.ones(4, dtype=torch.int64)).dtype is torch.complex64
    assert torch.fft.irfft(torch.ones(3)).dtype is torch.float32
    with pytest.raises(RuntimeError, match="Unsupported dtype"):
        torch.fft.fft(torch.ones(4, dtype=torch.float16))


def test_parseval_gradient():
    x = torch.from_numpy(REAL[0, 0].copy()).requires_grad_()
    (torch.fft.fft(x).abs() ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 5 * REAL[0, 0], atol=1e-12)  # Σ|X|² = n Σ x²


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda t: torch.fft.fft(t, 0), RuntimeError, "Invalid number of data points"),
        (lambda t: torch.fft.fft(t, norm="loud"), RuntimeError, "Invalid normalization mode"),
        (lambda t: torch.fft.fft(t, dim=3), IndexError, "Dimension out of range"),
        (lambda t: torch.fft.fft2(t, dim=(0, 0)), RuntimeError, "must be unique"),
        (lambda t: torch.fft.fft2(t, s=(2,)), RuntimeError, "same length"),
        (lambda t: torch.fft.rfft(t + 1j), RuntimeError, "real input"),
        (lambda t: torch.fft.fftn(t.sum(), dim=0), IndexError, "no dimensions"),
        (lambda t: torch.fft.fft([1.0]), TypeError, "must be Tensor"),
    ],
)
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call(torch.ones(2, 3))


def test_frequencies_and_shifts():
    for n in (4, 5):
        np.testing.assert_allclose(torch.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5), rtol=1e-6)
        np.testing.assert_allclose(torch.fft.rfftfreq(n).numpy(), np.fft.rfftfreq(n), rtol=1e-6)
        x = torch.arange(3 * n).reshape(3, n)
        np.testing.assert_array_equal(torch.fft.fftshift(x).numpy(), np.fft.fftshift(x.numpy()))
        np.testing.assert_array_equal(torch.fft.ifftshift(torch.fft.fftshift(x, 1), 1).numpy(), x.numpy())
