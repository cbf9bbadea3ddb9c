"""nn.functional: the names are there and compute what the table says."""

import pytest

import autodiff_kernel as torch
from autodiff_kernel.nn import Parameter, functional


def test_every_activation_is_a_function_with_a_gradient():
    x = torch.tensor([[-1.5, 0.5, 2.0, 0.25]], requires_grad=True)
    more = {
        "bilinear": (x, torch.ones(2, 4, 4)),
        "linear": (torch.ones(2, 4),),
        "prelu": (torch.tensor([0.25]),),
        "softmax": (1,),
        "log_softmax": (1,),
        "softmin": (1,),
        "threshold": (0.0, 1.0),
    }
    for name in ["bilinear", "linear", *functional.activations.__all__]:
        if name.endswith("_"):
            continue
        x.grad = None
        (getattr(functional, name)(x, *more.get(name, ())) ** 2).sum().backward()
        assert x.grad is not None and x.grad.shape == x.shape, name


def test_linear_and_one_hot():
    y = functional.linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([10.0]))
    assert y.tolist() == [[21]]
    assert functional.one_hot(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_parameters_require_grad_and_share_memory():
    x = torch.ones(2)
    p = Parameter(x)
    assert p.requires_grad and p.is_leaf and isinstance(p, torch.Tensor)
    with torch.no_grad():
        p.add_(1)
    assert x.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="leaf"):
        p.add_(1)
    assert (p * 2).sum().requires_grad and type(p * 2) is torch.Tensor


def test_relu_in_place_writes_over_its_input():
    x = torch.tensor([-1.0, 2.0])
    y = torch.nn.functional.relu(x, inplace=True)
    assert y is x and x.tolist() == [0.0, 2.0]
    w = torch.tensor([1.0, -3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch.nn.functional.relu(w, inplace=True)
    torch.nn.functional.relu(w * 2, inplace=True).sum().backward()
    assert w.grad.tolist() == [2.0, 0.0]
