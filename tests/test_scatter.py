"""Masks, gather, scatter and their kin: PyTorch's answers, gradients, in place, on a simulated GPU."""

from typing import Any

import pytest
from answers import check, lines

import autodiff_kernel as torch
from autodiff_kernel.core.rules.scatter import one_hot

T = torch.tensor


@pytest.mark.parametrize("code", lines("scatter"))
def test_answers(code: str) -> None:
    check("scatter", code)


NODES = {
    "y.masked_fill_(y > 3, 0)": "MaskedFillBackward0",
    "y.masked_fill_(y > 3, w[0])": "MaskedFillBackward1",
    "y.index_fill_(0, T([0]), 1)": "IndexFillBackward0",
    "y.index_fill_(0, T([0]), w[0])": "IndexFillBackward1",
    "y.index_add_(0, T([0]), w[None])": "IndexAddBackward0",
    "y.index_copy_(0, T([0]), w[None])": "IndexCopyBackward0",
    "y.index_put_((T([0]),), w)": "IndexPutBackward0",
    "y.index_put_((T([0, 0]),), w, accumulate=True)": "IndexPutBackward0",
    "y.scatter_(0, T([[0, 1]]), w[None])": "ScatterBackward0",
    "y.scatter_(0, T([[0, 1]]), 3.)": "ScatterBackward1",
    "y.scatter_add_(0, T([[0, 1]]), w[None])": "ScatterAddBackward0",
    "y.scatter_reduce_(0, T([[0, 1]]), w[None], 'sum')": "ScatterReduceBackward0",
    "y.masked_scatter_(y > 8, w)": "MaskedScatterBackward0",
    "y.put_(T([0, 1]), w[:2])": "PutBackward0",
    "y = y.select_scatter(w, 0, 1)": "SelectScatterBackward0",
    "y = y.slice_scatter(w[None], 0, 1, 2)": "SliceScatterBackward0",
    "y = y.diagonal_scatter(w[:3])": "DiagonalScatterBackward0",
    "y = y.masked_select(y > 3)": "MaskedSelectBackward0",
    "y = y.gather(0, T([[0, 1]]))": "GatherBackward0",
    "y = y.take(T([0, 1]))": "TakeBackward0",
    "y = y.take_along_dim(T([0, 1]))": "GatherBackward0",
    "y = y.index_select(0, T([0]))": "IndexSelectBackward0",
}


@pytest.mark.parametrize("code", NODES)
def test_names(code: str) -> None:
    x = torch.arange(12.0).reshape(3, 4).detach().requires_grad_()
    env: dict[str, Any] = {"y": x * 1, "w": torch.ones(4, requires_grad=True), "T": T}
    exec(code, env)
    assert env["y"].grad_fn.name() == NODES[code]
    assert env["y"]._version == (0 if code.startswith("y =") else 1)


def test_gradients_of_in_place_forms() -> None:
    x = torch.zeros(3, requires_grad=True)
    w = T([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.scatter_add_(0, T([0, 0]), w).index_add_(0, T([2, 2]), w, alpha=10).masked_fill_(
        T([False, True, False]), 5.0
    )
    (y * T([1.0, 2.0, 3.0])).sum().backward()
    assert y.tolist() == [3.0, 5.0, 30.0]
    assert (x.grad.tolist(), w.grad.tolist()) == ([2.0, 0.0, 6.0], [31.0, 31.0])


def test_equal_extremes_share_the_gradient() -> None:
    x, s = T([2.0, 0.0], requires_grad=True), T([2.0, 1.0, 5.0], requires_grad=True)
    torch.scatter_reduce(x, 0, T([0, 0, 1]), s, "amax").sum().backward()
    assert (x.grad.tolist(), s.grad.tolist()) == ([0.5, 0.0], [0.5, 0.0, 1.0])


def test_products_with_zeros_have_finite_gradients() -> None:
    x, s = T([2.0, 0.0], requires_grad=True), T([0.0, 3.0, 4.0], requires_grad=True)
    torch.scatter_reduce(x, 0, T([0, 0, 1]), s, "prod").sum().backward()
    assert (x.grad.tolist(), s.grad.tolist()) == ([0.0, 4.0], [6.0, 0.0, 0.0])


def test_a_repeated_index_of_index_fill_counts_once() -> None:
    value = T(1.0, requires_grad=True)
    torch.index_fill(torch.zeros(3), 0, T([1, 1]), value).sum().backward()
    assert value.grad.item() == 1.0


def test_in_place_forms_keep_shape_and_dtype() -> None:
    assert T([1, 2]).masked_fill_(T([True, False]), 7.9).tolist() == [7, 2]
    with pytest.raises(
        RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape \[3, 2\]"
    ):
        torch.ones(2).masked_fill_(torch.ones(3, 2, dtype=torch.bool), 0.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch.ones(2, requires_grad=True).scatter_(0, T([0]), 1.0)


def test_nonzero_as_tuple_indexes() -> None:
    x = T([[0.0, 1.0], [2.0, 0.0]])
    rows, columns = torch.nonzero(x, as_tuple=True)
    assert (rows.tolist(), columns.tolist(), x[rows, columns].tolist()) == ([0, 1], [1, 0], [1.0, 2.0])
    assert [i.tolist() for i in torch.where(x > 1)] == [[1], [0]]
    assert [i.tolist() for i in torch.unravel_index(T([3, 4]), (2, 3))] == [[1, 1], [0, 1]]


def test_take_along_dim_counts_from_the_end() -> None:
    x = T([[1.0, 2.0, 3.0]], requires_grad=True)
    y = torch.take_along_dim(x, T([[-1, 0]]), 1)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([[3.0, 1.0]], [[1.0, 0.0, 1.0]])


def test_one_hot_loops_back() -> None:
    labels = T([[2, 0], [1, 1]])
    assert one_hot(labels, 3).argmax(-1).tolist() == labels.tolist()


def test_on_a_simulated_gpu() -> None:
    torch.cuda.simulate(1)
    try:
        x = torch.arange(6.0).reshape(2, 3).cuda().requires_grad_()
        index = T([[0, 2], [1, 1]]).cuda()
        y = x.gather(1, index).sum() + x.scatter_reduce(0, T([[0, 0, 0]]).cuda(), x[:1] * 2, "prod").sum()
        y.backward()
        assert x.grad.tolist() == [[1.0, 4.0, 9.0], [1.0, 3.0, 1.0]]
        with pytest.raises(RuntimeError, match="device"):
            x.index_select(0, T([0]))
    finally:
        torch.cuda.simulate(0)


@pytest.mark.parametrize(
    "call",
    [
        "torch.gather(a, 0, zeros, out=a)",
        "torch.index_select(a, 0, zeros[0], out=a[:2])",
        "torch.masked_select(a > 0.5, mask, out=mask)",
        "torch.take(a, zeros[0], out=a[0])",
        "torch.cat([a[:1], a[1:]], out=a)",
        "torch.stack([a, a], out=a)",
        "torch.kthvalue(a, 1, out=(a[0], zeros[0]))",
        "torch.index_select(a, 0, zeros[0], out=torch.zeros(1, 1).expand(3, 2))",
    ],
)
def test_a_result_is_not_written_over_what_it_is_gathered_from(call):
    a, zeros, mask = (
        torch.rand(3, 3),
        torch.zeros(3, 3, dtype=torch.int64),
        torch.ones(3, 3, dtype=torch.bool),
    )
    with pytest.raises(RuntimeError, match="refers? to a single memory location. Please clone"):
        eval(call, {"torch": torch, "a": a, "zeros": zeros, "mask": mask})


def test_gather_writes_into_its_own_dtype_only():
    a, index = torch.rand(2, 2), torch.zeros(2, 2, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        torch.gather(a, 1, index, out=torch.zeros(2, 2, dtype=torch.float64))
