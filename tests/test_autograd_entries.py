"""torch.autograd.grad, backward and out= with unusual arguments; the answers are PyTorch's."""

import math
import warnings

import pytest

import autodiff_kernel as torch
import autodiff_kernel.autograd.forward_ad as fwAD
from autodiff_kernel.autograd import backward, grad


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_zeros_for_what_nothing_depends_on():
    x, y = leaf(1.0, math.inf), leaf(1.0, 2.0)
    (g,) = grad(y.sum(), x, materialize_grads=True)
    assert g.tolist() == [0, 0] and not g.requires_grad
    (g,) = grad(y.sum(), x, materialize_grads=True, create_graph=True)
    assert g.tolist() == [0, 0] and g.requires_grad and g.is_leaf
    (g,) = grad(y * 1, x, torch.eye(2), is_grads_batched=True, materialize_grads=True)
    assert g.tolist() == [0, 0]


def test_a_leaf_as_root_that_nobody_asks_for():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seen = []
    y.register_hook(seen.append)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        grad(y, x, torch.ones(2))
    assert grad(y, x, torch.ones(2), allow_unused=True) == (None,)
    backward([y, x], [torch.ones(2), torch.ones(2)], inputs=[x])
    assert x.grad.tolist() == [1, 1] and y.grad is None and not seen


@pytest.mark.parametrize("wrong", (3.0, "x", None, [1.0]))
def test_inputs_that_are_no_tensors(wrong):
    x = leaf(1.0, 2.0)
    words = f"all inputs have to be Tensors or GradientEdges, but got {type(wrong).__name__}"
    with pytest.raises(RuntimeError, match=words):
        grad(x.sum(), [x, wrong])
    with pytest.raises(RuntimeError, match=words):
        backward(x.sum(), inputs=[wrong])
    assert x.grad is None


def test_the_name_of_2017_for_cotangents():
    x = leaf(1.0, 2.0)
    with pytest.warns(FutureWarning, match="Use `grad_tensors` instead"):
        backward(x * 1, grad_variables=torch.ones(2))
    assert x.grad.tolist() == [1, 1]
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="arguments both passed"):
        warnings.simplefilter("ignore")
        backward(x * 1, torch.ones(2), grad_variables=torch.ones(2))


def test_batched_cotangents_that_do_not_fit():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        grad(x * 1, x, is_grads_batched=True)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        grad(x * 1, x, torch.tensor(1.0), is_grads_batched=True)
    with pytest.raises(
        ValueError, match="Expected all tensors to have the same size in the mapped dimension"
    ):
        grad((x * 1, x * 2), x, (torch.ones(3, 2), torch.ones(2, 2)), is_grads_batched=True)


def test_out_has_no_history_whatever_its_shape():
    x, c = leaf(1.0, 2.0, 3.0), torch.ones(3)
    for out in (torch.zeros(2), torch.zeros(3)):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            torch.exp(x, out=out)
        with torch.no_grad():
            torch.add(x, 1, out=out)
        assert out.tolist() == [2, 3, 4] and not out.requires_grad
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.exp(torch.ones(2), out=x)
    with torch.no_grad():
        torch.add(c, 1, out=x)
    assert x.tolist() == [2, 2, 2] and x.requires_grad
    with pytest.raises(TypeError, match="argument 'out' must be Tensor, not int"):
        torch.add(c, 1, out=3)


def test_unpacked_values_are_tensors_of_their_own():
    x = leaf(1.0, 2.0)
    with fwAD.dual_level():
        primal, tangent = fwAD.unpack_dual(x)
        assert primal is not x and not primal.is_leaf and tangent is None
        d = fwAD.make_dual(torch.ones(2, 3), torch.arange(6.0).reshape(2, 3))
        row = d[0]
        d.t_()
        row.mul_(2)
        assert d._version == 2 and fwAD.unpack_dual(d).tangent.tolist() == [[0, 3], [2, 4], [4, 5]]
        d = fwAD.make_dual(x, torch.ones(2))
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            d.unsqueeze_(0)
        assert d.shape == (2,)


def test_in_place_with_the_same_memory_in_another_dress():
    x = torch.ones(3)
    rows = x.unflatten(0, (1, -1)).chunk(2)[0]
    rows += x[None]  # the same elements in the same order
    x.view(3, 1).add_(x[:, None])
    assert x.tolist() == [4, 4, 4]
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:].add_(x[:-1])


def test_truth_values_are_not_subtracted_with_a_factor():
    for f in (
        lambda x, m: x.sub_(m, alpha=2),
        lambda x, m: torch.sub(x, m, alpha=2),
        lambda x, m: m.sub(x, alpha=3),
    ):
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            f(torch.ones(3), torch.tensor(True))
