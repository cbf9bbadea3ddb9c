"""Result dtypes of mixed operands, tensors, 0-d tensors and numbers, as PyTorch wrote them down."""

import json
import pathlib

import pytest

import autodiff_kernel as torch

from .elementwise_cases import DTYPES, MIXED, NUMBERS, mixed_dtypes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # pytest shows what the package silences
EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "elementwise.json").read_text())["mixed"]


@pytest.mark.parametrize("code", MIXED)
def test_dtypes_of_mixed_operands(code: str) -> None:
    got = mixed_dtypes(code, torch)
    for kinds, want in EXPECTED[code].items():
        columns = NUMBERS if kinds.endswith("number") else DTYPES
        wrong = {
            (i // len(columns), columns[i % len(columns)]): (g, w)
            for i, (g, w) in enumerate(zip(got[kinds], want, strict=True))
            if g != w
        }
        assert wrong == {}, f"{code} of {kinds}"


def test_gradients_come_back_in_the_dtype_of_the_input() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    i = torch.tensor([5, 6])
    total = (x * y + x * z + x * i + torch.where(i > 5, x, y) + torch.maximum(x, y) + torch.atan2(x, i)).sum()
    assert total.dtype is torch.float64
    total.backward()
    assert (x.grad.dtype, y.grad.dtype, z.grad.dtype) == (torch.float32, torch.float64, torch.float64)
    assert z.grad.item() == 3.0
    assert y.grad.tolist() == [1 + 1 + 1, 2 + 0 + 1]


def test_default_dtype_decides_what_integers_become() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.exp(torch.tensor([1, 2])).dtype is torch.float64
        assert (torch.tensor([1, 2]) / 2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.exp(torch.tensor([1, 2])).dtype is torch.float32
