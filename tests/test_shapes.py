"""Shapes, orders and parts: PyTorch's layouts, errors and nodes; what shares memory; changes in place."""

import numpy as np
import pytest

import autodiff_kernel as torch

from .expression_cases import check, families


@pytest.mark.parametrize("expression", families()["shapes"])
def test_as_pytorch(expression: str) -> None:
    check(expression, torch)


VIEWS = {
    "view": lambda x: x.view(6),
    "reshape": lambda x: x.reshape(3, 2),
    "flatten": lambda x: x.flatten(),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
    "squeeze": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "movedim": lambda x: x.movedim(0, 1),
    "expand": lambda x: x.expand(2, 2, 3)[0],
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(0, 1),
    "select to 0-d": lambda x: x.select(0, 1).select(0, 2),
    "unfold": lambda x: x.unfold(1, 2, 1)[:, 0],
    "diagonal": lambda x: x.diagonal(),
    "as_strided": lambda x: x.as_strided((2, 2), (3, 1), 1),
    "chain": lambda x: x.t()[1:].unsqueeze(0).transpose(1, 2),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_share_memory_both_ways(name: str) -> None:
    base = torch.arange(6.0).reshape(2, 3).clone()
    view = VIEWS[name](base)
    assert view._is_view()
    assert view._base is base
    base.mul_(10)
    assert view.tolist() == VIEWS[name](base).tolist()
    view.fill_(7)
    expected = np.arange(6.0).reshape(2, 3) * 10
    where = VIEWS[name](torch.arange(6).reshape(2, 3).clone()).reshape(-1).tolist()
    expected.reshape(-1)[where] = 7
    assert base.tolist() == expected.tolist()
    assert view._version == base._version == 2


@pytest.mark.parametrize("name", VIEWS)
def test_writing_into_a_view_changes_the_gradient_of_its_base(name: str) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    base = x * 1
    view = VIEWS[name](base)
    view.mul_(3)
    base.sum().backward()
    expected = np.ones(6)
    expected[VIEWS[name](torch.arange(6).reshape(2, 3).clone()).reshape(-1).tolist()] = 3
    assert x.grad.reshape(-1).tolist() == expected.tolist()


def test_a_part_of_a_base_in_another_layout_is_overwritten() -> None:
    x, w = torch.ones(3, 2, requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
    base = x.t().contiguous().t() * 1  # strides (1, 3): a copy of it has (2, 1)
    base.t().view(-1)[:2].mul_(w)
    (base * torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    assert w.grad.tolist() == [1, 3]
    assert x.grad.tolist() == [[1, 2], [6, 4], [5, 6]]


def test_reshape_copies_where_it_must() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    y = x.t().reshape(6)
    assert not y._is_view()
    y.zero_()
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(RuntimeError, match=r"Use .reshape\(...\) instead"):
        x.t().view(6)
    assert x.t()[:, :1].view(3).tolist() == [0, 1, 2]  # one column is a view whatever the strides


@pytest.mark.parametrize(
    ("shape", "strides", "target", "possible"),
    [
        ((2, 3), (3, 1), (6,), True),
        ((3, 2), (1, 3), (6,), False),
        ((3, 2), (1, 3), (3, 1, 2), True),
        ((2, 3, 4), (12, 4, 1), (6, 4), True),
        ((2, 3, 4), (24, 4, 1), (6, 4), False),
        ((2, 3, 4), (24, 4, 1), (2, 12), True),
        ((4, 6), (12, 1), (2, 2, 3, 2), True),
        ((3, 4), (0, 0), (12,), True),
        ((3, 4), (0, 1), (12,), False),
        ((1, 3), (99, 1), (3,), True),
        ((2, 1, 3), (3, 7, 1), (6,), True),
    ],
)
def test_which_strides_allow_a_view(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], possible: bool
) -> None:
    x = torch.arange(100).as_strided(shape, strides)
    if possible:
        assert x.view(target).tolist() == np.array(x.tolist()).reshape(target).tolist()
    else:
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            x.view(target)


def test_addresses_and_offsets() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    assert x[1].data_ptr() == x.data_ptr() + 16
    assert (x[1].storage_offset(), x[1:, 2].storage_offset(), x.t().storage_offset()) == (4, 6, 0)
    assert x.view(torch.int32).data_ptr() == x.data_ptr()
    assert x.diagonal(1).storage_offset() == 1
    assert x.as_strided((2,), (5,), 3).storage_offset() == 3
    assert x[1].as_strided((2,), (1,)).tolist() == [4, 5]
    assert torch.tensor(1.0).view(1).storage_offset() == 0


@pytest.mark.parametrize(
    ("change", "shape", "node"),
    [
        (lambda x: x.t_(), (3, 2), "TBackward1"),
        (lambda x: x.transpose_(0, 1), (3, 2), "TransposeBackward1"),
        (lambda x: x.swapaxes_(0, 1), (3, 2), "TransposeBackward1"),
        (lambda x: x.unsqueeze_(0), (1, 2, 3), "UnsqueezeBackward1"),
        (lambda x: x.squeeze_(), (2, 3), "SqueezeBackward3"),
        (lambda x: x.as_strided_((2, 2), (1, 2)), (2, 2), "AsStridedBackward1"),
    ],
)
def test_a_tensor_takes_another_shape_in_place(change: object, shape: tuple[int, ...], node: str) -> None:
    x = torch.arange(6.0).reshape(2, 3).clone().requires_grad_()
    y = x * 2
    assert change(y) is y
    assert (y.shape, y.grad_fn.name(), y._version) == (shape, node, 1)
    weights = torch.arange(y.numel(), dtype=torch.float32).reshape(shape)
    (y * weights).sum().backward()
    z = (x * 2).detach().requires_grad_()
    out = change(z * 1)
    (expected,) = torch.autograd.grad((out * weights).sum(), z)
    assert x.grad.tolist() == (expected * 2).tolist()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        change(x)
    with torch.no_grad():
        change(x)
    assert x.is_leaf
    assert x.requires_grad
    assert x.shape == shape


def test_views_follow_a_base_that_took_another_shape() -> None:
    base = torch.zeros(2, 3)
    row = base[0]
    base.t_()
    row[1] = 5
    assert base.tolist() == [[0, 0], [5, 0], [0, 0]]
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    base[:, 0] = torch.stack([w[0], w[0], w[1]])
    assert row.requires_grad
    row.sum().backward()
    assert w.grad.tolist() == [2, 1]


def test_overlapping_elements_cannot_be_written_at_once() -> None:
    x = torch.zeros(1, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.expand(2, 3).add_(1)
    x.expand(1, 3).add_(1)
    x.expand(2, 3)[0].add_(1)
    assert x.tolist() == [[2, 2, 2]]


def test_0d_values_join_their_views() -> None:
    x = torch.tensor(3.0)
    v = x.view(1)
    v[0] = 4
    assert x.item() == 4
    x.mul_(2)
    assert v.tolist() == [8]
    assert x.expand(2).tolist() == [8, 8]


def test_in_place_triangles() -> None:
    x = torch.ones(2, 2)
    assert x.tril_() is x
    assert x.tolist() == [[1, 0], [1, 1]]
    assert x.triu_().tolist() == [[1, 0], [0, 1]]


def test_memory_formats() -> None:
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.tolist() == x.tolist()
    assert y.stride() == (24, 1, 8, 2)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert not y.is_contiguous()
    assert y.contiguous(memory_format=torch.channels_last) is y
    assert (repr(torch.channels_last), repr(torch.strided)) == ("torch.channels_last", "torch.strided")


def test_complex_parts_are_views() -> None:
    x = torch.tensor([1 + 2j, 3 - 1j])
    x.real = torch.tensor([5.0, 6.0])
    torch.view_as_real(x)[1, 1] = 9
    assert x.tolist() == [5 + 2j, 6 + 9j]
    assert torch.view_as_complex(torch.view_as_real(x)).tolist() == x.tolist()
    assert torch.polar(torch.tensor(2.0), torch.tensor(0.0)).item() == 2
    assert torch.tensor([1.0]).conj()[0].item() == 1


def test_shapes_on_a_simulated_gpu() -> None:
    torch.cuda.simulate(1)
    try:
        x = torch.arange(6.0).reshape(2, 3).cuda()
        for name, f in VIEWS.items():
            y = x.clone()
            v = f(y)
            assert v.tolist() == f(x.cpu()).tolist(), name
            v.zero_()
            assert y.sum().item() < 15, name
        assert x.as_strided((2, 2), (1, 1), 1).tolist() == [[1, 2], [2, 3]]
    finally:
        torch.cuda.simulate(0)
