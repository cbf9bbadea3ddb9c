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
