"""torch.nn.init: PyTorch's values for the same seed (recorded by init_cases.py), and its refusals."""

import json

import numpy as np
import pytest

import autodiff_kernel as torch

from .init_cases import CALLS, DATA, answer

RECORDED = dict(zip(CALLS, json.loads(DATA.read_text())))


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
@pytest.mark.parametrize("call", CALLS)
def test_values_are_pytorch_s(call):
    got, following = answer(torch, call)
    if call.startswith("orthogonal_"):  # LAPACKs round differently
        np.testing.assert_allclose(got, RECORDED[call][0], atol=1e-6)
    else:
        assert got == RECORDED[call][0]
    assert following == RECORDED[call][1]


def test_a_parameter_is_filled_without_a_graph():
    w = torch.nn.Parameter(torch.empty(3, 2))
    assert torch.nn.init.xavier_uniform_(w) is w
    assert w.is_leaf and w.requires_grad and w.abs().max().item() <= (6 / 5) ** 0.5
    g = torch.Generator().manual_seed(0)
    first = torch.nn.init.normal_(torch.empty(3), generator=g).tolist()
    assert first == torch.nn.init.normal_(torch.empty(3), generator=torch.Generator().manual_seed(0)).tolist()


@pytest.mark.parametrize("name, value", [("linear", 1), ("tanh", 5 / 3), ("relu", 2**0.5), ("selu", 0.75)])
def test_gains(name, value):
    assert torch.nn.init.calculate_gain(name) == value
    assert torch.nn.init.calculate_gain("leaky_relu", 1) == 1
    assert torch.nn.init.calculate_gain("leaky_relu") == pytest.approx(1.4141428569978354)


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda i: i.kaiming_uniform_(torch.empty(3)),
            "Fan in and fan out can not be computed for tensor with fewer than 2",
        ),
        (
            lambda i: i.kaiming_normal_(torch.empty(2, 2), mode="in"),
            "Mode in not supported, please use one of",
        ),
        (lambda i: i.eye_(torch.empty(3)), "Only tensors with 2 dimensions are supported"),
        (lambda i: i.dirac_(torch.empty(3, 3)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda i: i.dirac_(torch.empty(3, 2, 2), 2), "dim 0 must be divisible by groups"),
        (lambda i: i.orthogonal_(torch.empty(3)), "Only tensors with 2 or more dimensions are supported"),
        (lambda i: i.calculate_gain("gelu"), "Unsupported nonlinearity gelu"),
        (lambda i: i.calculate_gain("leaky_relu", True), "negative_slope True not a valid number"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call(torch.nn.init)


def test_warnings():
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        torch.nn.init.trunc_normal_(torch.empty(2), 5.0)
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        torch.nn.init.kaiming_uniform_(torch.empty(0, 2))
    with pytest.warns(
        FutureWarning, match="`nn.init.normal` is now deprecated in favor of `nn.init.normal_`"
    ):
        torch.nn.init.normal(torch.empty(2))
