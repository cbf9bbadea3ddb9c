"""Joining and splitting: PyTorch's results and errors, promotion, and views of several outputs."""

import pytest

import autodiff_kernel as torch

from .expression_cases import check, families


@pytest.mark.parametrize("expression", families()["joining"])
def test_as_pytorch(expression: str) -> None:
    check(expression, torch)


def test_gradients_go_back_to_each_part_in_its_dtype() -> None:
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = torch.cat([a, b, a])
    assert y.dtype == torch.float64
    (y * torch.arange(7, dtype=torch.float64)).sum().backward()
    assert (a.grad.tolist(), a.grad.dtype) == ([5, 7], torch.float32)
    assert (b.grad.tolist(), b.grad.dtype) == ([2, 3, 4], torch.float64)


def test_an_empty_vector_goes_with_any_shape() -> None:
    e = torch.zeros(0, requires_grad=True)
    x = torch.ones(1, 2, requires_grad=True)
    y = torch.cat([e, x, e, x], 1)
    assert y.shape == (1, 4)
    y.sum().backward()
    assert e.grad.shape == (0,)
    assert x.grad.tolist() == [[2, 2]]


def test_stacking_single_values() -> None:
    w = [torch.tensor(float(i), requires_grad=True) for i in range(3)]
    y = torch.stack(w)
    assert y.grad_fn.name() == "StackBackward0"
    (y * y).sum().backward()
    assert [x.grad.item() for x in w] == [0, 2, 4]
    shared = torch.tensor(1.0)
    view = shared.view(1)
    view[0] = 5
    assert torch.stack([shared, shared]).tolist() == [5, 5]


def test_results_hold_memory_of_their_own() -> None:
    x = torch.ones(2)
    torch.cat([x]).zero_()
    torch.stack([x])[0].zero_()
    assert x.tolist() == [1, 1]


def test_joined_values_are_not_saved() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = torch.cat([y, y])
    y.add_(1)
    z.sum().backward()
    assert x.grad.tolist() == [4, 4]


@pytest.mark.parametrize(
    ("split", "name"),
    [
        (lambda x: x.split(1), "Split"),
        (lambda x: x.split([1, 1]), "SplitWithSizes"),
        (lambda x: x.chunk(2), "Split"),
        (lambda x: x.unbind(), "Unbind"),
    ],
)
def test_one_of_several_views_cannot_be_changed_in_place(split: object, name: str) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    parts = split(x * 1)
    assert [p.output_nr for p in parts] == [0, 1]
    with pytest.raises(RuntimeError, match=f"Output 1 of {name} is a view"):
        parts[1].mul_(2)
    plain = torch.ones(2, 2)
    split(plain)[1].fill_(3)
    assert plain.tolist() == [[1, 1], [3, 3]]


def test_parts_that_nobody_used_get_no_gradient() -> None:
    x = torch.arange(6.0, requires_grad=True)
    a, b, c = x.split(2)
    (b * 3).sum().backward()
    assert x.grad.tolist() == [0, 0, 3, 3, 0, 0]
    x = torch.arange(6.0, requires_grad=True)
    rows = x.view(2, 3).unbind(1)
    (rows[0] * rows[2]).sum().backward()
    assert x.grad.tolist() == [2, 0, 0, 5, 0, 3]


def test_slices_of_tensor_split_can_be_changed_in_place() -> None:
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    y.tensor_split(2)[1].mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 5, 5]


def test_views_of_several_outputs_follow_their_base() -> None:
    base = torch.zeros(4)
    a, b = base.split(2)
    w = torch.tensor(2.0, requires_grad=True)
    base.add_(w)
    assert b.requires_grad
    assert b.tolist() == [2, 2]


def test_iterating_gives_rows() -> None:
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    first, second = x
    (first * second).sum().backward()
    assert x.grad.tolist() == [[2, 3], [0, 1]]


def test_out_takes_the_result() -> None:
    out = torch.empty(4)
    assert torch.cat([torch.ones(2), torch.zeros(2)], out=out) is out
    assert out.tolist() == [1, 1, 0, 0]


def test_forward_mode() -> None:
    x, dx = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    value, rate = torch.func.jvp(lambda t: torch.cat([t, t * t]), (x,), (dx,))
    assert (value.tolist(), rate.tolist()) == ([1, 2, 1, 4], [3, 4, 6, 16])
    _, rate = torch.func.jvp(lambda t: torch.stack(t.unbind()[::-1]), (x,), (dx,))
    assert rate.tolist() == [4, 3]
