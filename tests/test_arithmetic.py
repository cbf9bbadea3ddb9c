"""Operators and functions of two numbers give PyTorch's values and gradients on a grid of points, and its errors."""

import itertools
import json
import pathlib

import numpy as np
import pytest

import autodiff_kernel as torch

from .elementwise_cases import BINARY, ERRORS, GRID, gradients, refusal
from .test_elementwise import F, compare

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # pytest shows what the package silences
EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "elementwise.json").read_text())
PAIRS = list(itertools.product(GRID, GRID))
WORDED_OTHERWISE = {  # the type is PyTorch's; the text lists overloads there
    "torch.eq(1, f)", "torch.where(True, f, f)", "torch.where(b, f)", "torch.clamp(f, min='a')", "f + 'a'", "f + None",
    "torch.clamp(f, min=f, max=2)", "torch.pow(2, 3)", "F.softshrink(f, -1)", "torch.addcdiv(i, i, i)",
}  # fmt: skip


@pytest.mark.parametrize("code", BINARY)
def test_values_and_gradients(code: str) -> None:
    got = gradients(code, torch, F, [("x", [a for a, _ in PAIRS]), ("y", [b for _, b in PAIRS])])
    compare(code, got, EXPECTED["binary"][code], [a + b for a, b in PAIRS])


@pytest.mark.parametrize("code", ERRORS)
def test_errors(code: str) -> None:
    got, want = refusal(code, torch, F), EXPECTED["errors"][code]
    if code in WORDED_OTHERWISE:
        assert got.split(":")[0] == want.split(":")[0]
    else:
        assert got == want or got.startswith(want.rstrip(".")) or want.startswith(got.rstrip("."))


def test_operators_of_numbers_and_numpy() -> None:
    x = torch.tensor([1.0, 2.0, 4.0])
    assert (8 / x).tolist() == [8.0, 4.0, 2.0]
    assert (7 // torch.tensor([2, 3])).tolist() == [3, 2]
    assert (7 % torch.tensor([2, 4])).tolist() == [1, 3]
    assert (2**x).tolist() == [2.0, 4.0, 16.0]
    assert (np.float32(2) * x).tolist() == [2.0, 4.0, 8.0]
    assert (x > np.float64(1.5)).tolist() == [False, True, True]
    assert (np.float64(1.5) < x).tolist() == [False, True, True]
    assert (x == np.array([1.0, 0.0, 4.0], np.float32)).tolist() == [True, False, True]
    assert abs(-x).tolist() == [1.0, 2.0, 4.0]
    assert (+x) is x


def test_operators_in_place() -> None:
    i = torch.tensor([7, -7])
    i //= 2
    assert i.tolist() == [3, -4]
    i %= 3
    assert i.tolist() == [0, 2]
    i <<= 2
    i |= 1
    i &= 9
    i ^= 3
    i >>= 1
    assert i.tolist() == [1, 5]
    x = torch.tensor([2.0, 3.0])
    x **= 2
    x /= 2
    assert x.tolist() == [2.0, 4.5]


def test_shifts_beyond_the_bits() -> None:
    i = torch.tensor([1, -5])
    assert (i << 70).tolist() == [0, 0]
    assert (i << -1).tolist() == [0, 0]
    assert (i >> 70).tolist() == [0, -1]
    assert (i >> -1).tolist() == [0, -1]
    assert (torch.tensor([1, 3], dtype=torch.uint8) << 7).tolist() == [128, 128]


def test_integer_powers() -> None:
    i = torch.tensor([-2, -1, 0, 1, 2])
    assert (i ** torch.tensor(-3)).tolist() == [0, -1, 0, 1, 0]
    assert (i ** torch.tensor(-2)).tolist() == [0, 1, 0, 1, 0]
    assert (2 ** torch.tensor([3, -1])).tolist() == [8, 0]


def test_numbers_come_first() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.add(1, x) + torch.sub(2, x) + torch.mul(3, x) + torch.div(4, x) + torch.pow(2, x)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([3 - 4 + 2 * np.log(2), 3 - 1 + 4 * np.log(2)])


def test_out() -> None:
    x, out = torch.tensor([1.0, 2.0]), torch.empty(0)
    assert torch.add(x, 1, out=out) is out and out.tolist() == [2.0, 3.0]
    assert torch.exp(x, out=out) is out and out.tolist() == pytest.approx([np.e, np.e**2], rel=1e-6)
    truth = torch.empty(0, dtype=torch.bool)
    assert torch.gt(x, 1, out=truth).tolist() == [False, True]


def test_where_without_values_gives_indices() -> None:
    rows, columns = torch.where(torch.tensor([[True, False], [True, True]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 1], [0, 0, 1])


def test_comparisons_carry_no_gradient() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for y in (x > 1, x == x, torch.isnan(x), torch.logical_not(x), torch.isclose(x, x)):
        assert y.dtype is torch.bool and not y.requires_grad
    assert torch.equal(x, x) and not torch.equal(x, x[:1])
    assert torch.allclose(x, x + 1e-9)


def test_addcmul_addcdiv_lerp() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = torch.tensor([3.0, 4.0]), torch.tensor([[2.0], [8.0]])
    y = (
        torch.addcmul(x, a, b, value=2)
        + torch.addcdiv(x, a, b)
        + torch.lerp(x, a, 0.25)
        + torch.lerp(x, a, b)
    )
    assert y.shape == (2, 2)
    y.sum().backward()
    assert x.grad.tolist() == [2 + 2 + 1.5 + (1 - 2) + (1 - 8)] * 2
    z = torch.ones(2)
    assert z.addcmul_(a, a, value=0.5) is z and z.tolist() == [5.5, 9.0]
    assert z.lerp_(a, 1.0).tolist() == [3.0, 4.0]


COMPLEX = {
    "mul": lambda z, w: (z * w).real,
    "div": lambda z, w: (z / w).imag,
    "pow": lambda z, w: (z**w).real,
    "number ** z": lambda z, w: ((1 + 2j) ** z).real,
    "abs": lambda z, w: (z * w).abs(),
    "sgn": lambda z, w: (z * w).sgn().real,
    "exp of sin": lambda z, w: (z.exp() * w.sin()).imag,
    "sqrt": lambda z, w: (z + w).sqrt().real,
    "prod": lambda z, w: (z * w).prod().real,
    "logsumexp": lambda z, w: (z * w).logsumexp(0).imag,
    "cumprod": lambda z, w: (z * w).cumprod(0).imag,
    "real times complex": lambda z, w: (z.real * w).imag,
    "in place": lambda z, w: (z * 1j).mul_(w).real,
    "0-d": lambda z, w: (z.sum() * w.sum()).real,
    "second order": lambda z, w: torch.autograd.grad((z * z * w).real.sum(), z, create_graph=True)[0].imag,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_a_complex_gradient_is_the_direction_of_steepest_ascent(name):
    """Its real part is the slope for the real part of the input, its imaginary part that for the imaginary part."""
    f = COMPLEX[name]
    start = [np.array([0.5 + 0.3j, 1 - 2j]), np.array([1.5 - 0.3j, 2 + 0.1j])]

    def value(parts):
        return f(*[torch.tensor(p, requires_grad=True) for p in parts]).sum()

    leaves = [torch.tensor(p, requires_grad=True) for p in start]
    grads = torch.autograd.grad(f(*leaves).sum(), leaves, materialize_grads=True)
    for i, g in enumerate(grads):
        for k in range(2):
            for direction, slope in ((1, g[k].item().real), (1j, g[k].item().imag)):
                step = np.zeros(2, complex)
                step[k] = 1e-6 * direction
                up, down = ([s + sign * step * (j == i) for j, s in enumerate(start)] for sign in (1, -1))
                assert (value(up) - value(down)).item() / 2e-6 == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_a_second_gradient_has_its_input_s_dtype():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad((x * x * y * x).sum(), x, create_graph=True)
    gx, gy = torch.autograd.grad(g.sum(), [x, y])
    assert (gx.dtype, gx.tolist()) == (torch.float32, [18, 48])
    assert (gy.dtype, gy.tolist()) == (torch.float64, [3, 12])


def test_where_of_two_numbers_has_the_default_dtype():
    c = torch.tensor([True])
    assert [torch.where(c, a, b).dtype for a, b in ((1, 2), (1, 2.5), (1, 2j), (True, False))] == [
        torch.int64, torch.float32, torch.complex64, torch.bool,
    ]  # fmt: skip
