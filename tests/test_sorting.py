"""sort, topk, kthvalue, searchsorted, isin, unique: PyTorch's answers, and what no table shows."""

import numpy as np
import pytest
from answers import check, lines

import autodiff_kernel as torch

T = torch.tensor


@pytest.mark.parametrize("code", lines("sorting"))
def test_answers(code: str) -> None:
    check("sorting", code)


def test_named_tuples() -> None:
    result = torch.sort(T([3.0, 1.0, 2.0]))
    assert repr(result) == (
        "torch.return_types.sort(\nvalues=tensor([1., 2., 3.]),\nindices=tensor([1, 2, 0]))"
    )
    values, indices = result
    assert values is result.values and indices is result[1]
    assert torch.topk(T([1, 2]), 1).indices.tolist() == [1]
    assert torch.kthvalue(T([3, 1, 2]), 2).values.item() == 2


def test_equal_elements_keep_their_order_both_ways() -> None:
    x = T([1, 0, 1, 0, 1])
    assert torch.argsort(x, stable=True).tolist() == [1, 3, 0, 2, 4]
    assert torch.argsort(x, descending=True, stable=True).tolist() == [0, 2, 4, 1, 3]


def test_topk_of_many_agrees_with_sort() -> None:
    x = torch.from_numpy(np.random.default_rng(0).permutation(5000).astype(np.float32))
    for largest in (True, False):
        top = torch.topk(x, 7, largest=largest)
        full = torch.sort(x, descending=largest)
        assert top.values.tolist() == full.values[:7].tolist()
        assert top.indices.tolist() == full.indices[:7].tolist()
    with_nan = torch.cat([x, T([float("nan")])])
    assert torch.topk(with_nan, 1).indices.item() == 5000


def test_gradients_go_where_the_elements_came_from() -> None:
    x = T([[3.0, 1.0, 2.0]], requires_grad=True)
    (torch.sort(x, descending=True).values * T([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [[1.0, 100.0, 10.0]]
    x.grad = None
    (torch.topk(x, 2).values.sum() + torch.kthvalue(x, 1).values.sum() * 5 + x.msort().sum()).backward()
    assert x.grad.tolist() == [[2.0, 6.0, 2.0]]
    assert torch.sort(x).indices.requires_grad is False
    assert [y.grad_fn.name() for y in (x.sort()[0], x.topk(1)[0], x.kthvalue(1)[0])] == [
        "SortBackward0", "TopkBackward0", "KthvalueBackward0",
    ]  # fmt: skip


def test_forward_mode() -> None:
    value, tangent = torch.func.jvp(
        lambda x: x.sort().values, (T([3.0, 1.0, 2.0]),), (T([1.0, 10.0, 100.0]),)
    )
    assert (value.tolist(), tangent.tolist()) == ([1.0, 2.0, 3.0], [10.0, 100.0, 1.0])


def test_errors_speak() -> None:
    with pytest.raises(
        RuntimeError, match="selected index k out of range\nk is 4, and dimension 0 has 3 elements"
    ):
        torch.topk(T([1.0, 2.0, 3.0]), 4)
    with pytest.raises(
        TypeError, match=r"sort\(\): argument 'input' \(position 1\) must be Tensor, not list"
    ):
        torch.sort([1, 2])


def test_on_a_simulated_gpu() -> None:
    torch.cuda.simulate(1)
    try:
        x = T([3.0, 1.0, 2.0]).cuda()
        assert (x.sort(descending=True)[1].tolist(), x.topk(2)[0].tolist()) == ([0, 2, 1], [3.0, 2.0])
        rows = T([[1.0, 3.0], [2.0, 4.0]]).cuda()
        assert torch.searchsorted(rows, T([[2.0, 9.0], [2.0, 3.0]]).cuda()).tolist() == [[1, 2], [0, 1]]
        assert torch.unique(T([2, 1, 2]).cuda()).tolist() == [1, 2]
    finally:
        torch.cuda.simulate(0)
