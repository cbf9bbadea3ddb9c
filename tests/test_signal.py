"""torch.signal.windows, stft and istft: values from PyTorch, inversion, gradients, refusals."""

import pytest

import autodiff_kernel as torch

W = torch.signal.windows
WINDOWS = {
    "exponential(5)": [0.135335283237, 0.367879441171, 1.0, 0.367879441171, 0.135335283237],
    "exponential(5,sym=False,center=1,tau=2.)": [
        0.606530659713,
        1.0,
        0.606530659713,
        0.367879441171,
        0.223130160148,
    ],
    "cosine(5)": [0.309016994375, 0.809016994375, 1.0, 0.809016994375, 0.309016994375],
    "cosine(5,sym=False)": [0.258819045103, 0.707106781187, 0.965925826289, 0.965925826289, 0.707106781187],
    "gaussian(5,std=1.5)": [0.411112290507, 0.800737402917, 1.0, 0.800737402917, 0.411112290507],
    "gaussian(5,sym=False)": [0.043936933623, 0.324652467358, 0.882496902585, 0.882496902585, 0.324652467358],
    "kaiser(5,beta=6.)": [0.014873337105, 0.482955606411, 1.0, 0.482955606411, 0.014873337105],
    "kaiser(5,sym=False)": [5.2773441e-05, 0.10171968771, 0.792939834101, 0.792939834101, 0.10171968771],
    "hamming(5)": [0.08, 0.54, 1.0, 0.54, 0.08],
    "hann(5,sym=False)": [0.0, 0.345491502813, 0.904508497187, 0.904508497187, 0.345491502813],
    "blackman(5)": [0.0, 0.34, 1.0, 0.34, 0.0],
    "bartlett(5)": [0.0, 0.5, 1.0, 0.5, 0.0],
    "bartlett(4,sym=False)": [0.0, 0.5, 1.0, 0.5],
    "general_cosine(5,a=[0.4,0.3,0.2])": [0.3, 0.2, 0.9, 0.2, 0.3],
    "general_hamming(5,alpha=0.7)": [0.4, 0.7, 1.0, 0.7, 0.4],
    "nuttall(5)": [0.0003628, 0.2269824, 1.0, 0.2269824, 0.0003628],
    "kaiser(1)": [1.0],
    "hann(0)": [],
}


@pytest.mark.parametrize("call", WINDOWS)
def test_windows(call):
    name, _, words = call.rstrip(")").partition("(")
    count, _, words = words.partition(",")
    window = eval(f"W.{name}({count}, {words}{', ' if words else ''}dtype=torch.float64)")
    assert window.tolist() == pytest.approx(WINDOWS[call], abs=1e-11)
    assert eval(f"W.{name}({count}, {words})").dtype is torch.float32


def test_windows_refuse():
    with pytest.raises(ValueError, match="general_cosine requires non-negative window length, got M=-1"):
        W.hann(-1)
    with pytest.raises(ValueError, match="cosine expects float32 or float64 dtypes, got: torch.float16"):
        W.cosine(3, dtype=torch.float16)
    with pytest.raises(ValueError, match="blackman expects float32 or float64 dtypes, got: torch.bfloat16"):
        W.blackman(3, dtype=torch.bfloat16)
    with pytest.raises(ValueError, match="Tau must be positive, got: -1 instead."):
        W.exponential(3, tau=-1)
    with pytest.raises(ValueError, match="Center must be None for symmetric windows"):
        W.exponential(3, center=1)
    with pytest.raises(ValueError, match="Coefficients cannot be empty"):
        W.general_cosine(3, a=[])


x = torch.tensor([1.0, 0, -2, 3, 0.5, 4, -1, 2, 0, 1], dtype=torch.float64)
w = torch.hann_window(4, dtype=torch.float64)


def flat(t):
    return (torch.view_as_real(t) if t.is_complex() else t).flatten().tolist()


def test_stft():
    y = torch.stft(x, 4, window=w, return_complex=True)
    assert y.shape == (3, 11) and y.dtype is torch.complex128
    assert flat(y[:, 1]) == pytest.approx([-0.5, 0, 0, -1.5, 0.5, 0])
    y = torch.stft(
        x, 4, hop_length=2, win_length=3, window=w[1:], center=False, normalized=True, return_complex=True
    )
    assert flat(y[:, 2]) == pytest.approx([1.875, 0, 0.375, -2, -2.125, 0])
    y = x.stft(4, window=w, onesided=False, pad_mode="constant", return_complex=True)
    assert flat(y[:, 0]) == pytest.approx([1, 0, -1, 0, 1, 0, -1, 0])
    y = torch.stft(x, 4, window=w, pad_mode="circular", return_complex=False)
    assert flat(y[0, :3]) == pytest.approx([1.5, 0, -0.5, 0, -0.5, 0])


def test_stft_has_a_gradient():
    a = x.clone().requires_grad_()
    torch.stft(a, 4, window=w, return_complex=True).abs().sum().backward()
    assert a.grad.tolist() == pytest.approx(
        [2.5, -0.3, -4.492307692, 3.869523532, 0.991558741, 5.689978968, -0.920518861, 6.61658911, 0.121267813, 4.0]
    )  # fmt: skip


@pytest.mark.parametrize("words", [{}, {"normalized": True}, {"onesided": False}, {"hop_length": 2}])
def test_istft_inverts(words):
    batch = torch.stack([x, x.flip(0)])
    there = torch.stft(batch, 4, window=w, return_complex=True, **words)
    assert torch.allclose(torch.istft(there, 4, window=w, length=10, **words), batch)


def test_istft_has_a_gradient():
    there = torch.stft(x, 4, window=w, return_complex=True).requires_grad_()
    back = torch.istft(there, 4, window=w)
    back.sum().backward()
    assert there.grad.shape == there.shape and back.shape == (10,)
    with pytest.warns(UserWarning, match="The length of signal is shorter than the length parameter"):
        assert torch.istft(there, 4, window=w, length=14).tolist()[-2:] == [0, 0]


@pytest.mark.parametrize(
    "call, phrase",
    [
        ("torch.stft(x, 4)", "stft requires the return_complex parameter be given for real inputs"),
        ("torch.stft(x.long(), 4, return_complex=True)", "expected a tensor of floating point or complex values"),
        ("torch.stft(x.reshape(1, 1, -1), 4, return_complex=True)", "expected a 1D or 2D tensor"),
        ("torch.stft(x, 30, window=w, win_length=4, return_complex=True)", "Padding size should be less than"),
        ("torch.stft(x, 30, window=w, win_length=4, center=False, return_complex=True)", "0 < n_fft < 10, but got n_fft=30"),
        ("torch.stft(x, 4, hop_length=0, return_complex=True)", "expected hop_length > 0, but got hop_length=0"),
        ("torch.stft(x, 4, win_length=5, return_complex=True)", "expected 0 < win_length <= n_fft, but got win_length=5"),
        ("torch.stft(x, 4, window=w[1:], return_complex=True)", "expected a 1D window tensor of size equal to win_length=4"),
        ("torch.istft(x.reshape(5, 2), 8)", "istft requires a complex-valued input tensor"),
        ("torch.istft(torch.zeros(3, 2, dtype=torch.complex64), 8, window=w)", "expected the frequency dimension"),
        ("torch.istft(torch.zeros(3, 2, dtype=torch.complex64), 4, window=w * 0)", "window overlap add min: 0"),
    ],
)  # fmt: skip
def test_refusals(call, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        eval(call)
