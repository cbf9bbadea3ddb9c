"""Arguments of the wrong kind, and of early PyTorch: what is taken, and which error the others get."""

import warnings

import pytest

import autodiff_kernel as torch

WHOLE, REAL = torch.tensor([[1, -2], [3, 0]]), torch.tensor([[1.5, -2.0], [0.25, 3.0]])


@pytest.mark.parametrize("name", ["abs", "neg", "sign", "floor", "ceil", "trunc", "round"])
def test_out_has_the_dtype_of_the_result(name):
    function = getattr(torch, name)
    with pytest.raises(RuntimeError, match="Found dtype Float but expected Long"):
        function(WHOLE, out=torch.empty(2, 2))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        function(REAL, out=torch.empty(2, 2, dtype=torch.float64))
    out = torch.empty(2, 2)
    assert function(REAL, out=out) is out and torch.equal(out, function(REAL))


def test_out_of_reductions_and_triangles():
    for name in ("argmax", "argmin"):
        with pytest.raises(
            RuntimeError, match="Expected out tensor to have dtype long int, but got float instead"
        ):
            getattr(torch, name)(REAL, out=torch.empty(()))
        assert getattr(torch, name)(REAL, out=torch.empty((), dtype=torch.int64)).dtype is torch.int64
    for name in ("tril", "triu"):
        with pytest.raises(
            RuntimeError, match="Expected out tensor to have dtype float, but got double instead"
        ):
            getattr(torch, name)(REAL, out=torch.empty(2, 2, dtype=torch.float64))
    for name in ("amax", "amin"):
        with pytest.raises(
            RuntimeError, match="Expected the dtype for input and out to match, but got Long for"
        ):
            getattr(torch, name)(WHOLE, 0, out=torch.empty(2))
    for name in ("all", "any"):
        with pytest.raises(RuntimeError, match=f"{name} only supports bool tensor for result, got: Float"):
            getattr(torch, name)(WHOLE, out=torch.empty(()))
        assert getattr(torch, name)(WHOLE, out=torch.empty((), dtype=torch.uint8)).dtype is torch.uint8
    with pytest.raises(RuntimeError, match="nonzero: Expected out tensor to have scalar type Long"):
        torch.nonzero(WHOLE, out=torch.empty(3, 2))
    with pytest.raises(RuntimeError, match="nan_to_num: dtype of out: Double should be same as input: Float"):
        torch.nan_to_num(REAL, out=torch.empty(2, 2, dtype=torch.float64))


def test_in_place_functions_ask_for_a_tensor():
    for value in (2.5, [REAL], None):
        with pytest.raises(TypeError, match=r"exp_\(\): argument 'input' \(position 1\) must be Tensor, not"):
            torch.exp_(value)
    x = torch.zeros(2)
    assert torch.exp_(input=x) is x and x.tolist() == [1.0, 1.0]


def test_casts_take_no_positions():
    for name in ("float", "long", "double", "half", "int", "bool"):
        with pytest.raises(TypeError, match="positional argument"):
            getattr(REAL, name)(0)
    with pytest.raises(TypeError, match="dtype must be a type, str, or dtype object"):
        REAL.type([0, 1])


@pytest.mark.parametrize("name", ["permute", "flip", "tile"])
def test_dims_by_name(name):
    method = getattr(REAL, name)
    assert torch.equal(method(dims=(1, 0)), method(1, 0))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        method(dim=0)


def test_copy_of_a_number_is_cast():
    assert torch.zeros(2, dtype=torch.uint8).copy_(300).tolist() == [44, 44]
    assert torch.zeros(2, dtype=torch.int64).copy_(2.7).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8"):
        torch.zeros(2, dtype=torch.uint8).fill_(300)


def test_the_order_of_early_pytorch():
    x, g = torch.ones(2), torch.tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.equal(x.clone().add_(-0.5, g), x - 0.5 * g)
        assert torch.equal(torch.add(x, 2, g), x + 2 * g) and torch.equal(x.sub(2, g), x - 2 * g)
        assert torch.equal(x.addcmul(0.5, g, g), x + 0.5 * g * g)
        assert torch.equal(x.clone().addcdiv_(0.5, g, g), x + 0.5)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        x.add(g, g)


def test_early_pytorch_warns_once(monkeypatch):
    monkeypatch.setattr("autodiff_kernel.core.once._told", set())
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        torch.ones(2).add_(2, torch.ones(2))
