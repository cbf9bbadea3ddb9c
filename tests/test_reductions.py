"""Reductions and running results: PyTorch's values, dtypes, errors and nodes, and the gradients at their kinks."""

import math
import pickle
import warnings

import numpy as np
import pytest

import autodiff_kernel as torch

from .expression_cases import check, families


@pytest.mark.parametrize("expression", families()["reductions"] + families()["cumulative"])
def test_as_pytorch(expression: str) -> None:
    check(expression, torch)


def leaf(values: object) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def gradient(y: torch.Tensor, x: torch.Tensor) -> object:
    return torch.autograd.grad(y, x)[0].tolist()


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("max", [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
        ("min", [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
        ("amax", [3.0, 3.0, 3.0, 3.0], [0.25, 0.25, 0.25, 0.25]),
        ("amin", [2.0, 1.0, 1.0], [0.0, 0.5, 0.5]),
        ("median", [1.0, 2.0, 2.0], [0.0, 0.5, 0.5]),
        ("max", [1.0, math.nan, math.nan], [0.0, 0.5, 0.5]),
    ],
)
def test_equal_extremes_share_the_gradient(name: str, values: list[float], expected: list[float]) -> None:
    x = leaf(values)
    assert gradient(getattr(torch, name)(x), x) == expected


def test_along_a_dimension_the_index_gets_the_gradient() -> None:
    x = leaf([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])
    values, indices = x.max(1)
    assert indices.tolist() == [1, 0]
    assert gradient(values.sum(), x) == [[0, 1, 0], [1, 0, 0]]
    x = leaf([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])
    assert gradient(x.min(0, keepdim=True).values.sum(), x) == [[1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]),
        ([2.0, 0.0, 4.0], [0.0, 8.0, 0.0]),
        ([0.0, 0.0, 4.0], [0.0, 0.0, 0.0]),
    ],
)
def test_the_gradient_of_a_product_is_right_at_zeros(values: list[float], expected: list[float]) -> None:
    x = leaf(values)
    assert gradient(x.prod(), x) == expected
    x = leaf([values])
    assert gradient(x.prod(1).sum(), x) == [expected]
    x = leaf(values)
    assert gradient(x.cumprod(0)[-1], x) == expected


def test_second_derivatives_of_a_product_with_a_zero() -> None:
    x = leaf([2.0, 0.0, 4.0])
    assert torch.autograd.functional.hessian(lambda t: t.prod(), x).tolist() == [
        [0, 4, 0],
        [4, 0, 2],
        [0, 2, 0],
    ]


def test_norms_have_gradient_zero_at_zero() -> None:
    for p in (1, 2, 3, 1.5):
        x = leaf([0.0, 0.0])
        assert gradient(x.norm(p), x) == [0, 0]
    x = leaf([0.0, 0.0])
    assert gradient(x.std(), x) == [0, 0]


def test_nansum_gives_nan_no_gradient() -> None:
    x = leaf([1.0, math.nan, 3.0])
    assert gradient(x.nansum() * 2, x) == [2, 0, 2]
    x = leaf([1.0, math.nan, 3.0])
    assert gradient(x.nanmean(), x) == [0.5, 0, 0.5]


def test_half_precision_is_summed_in_single() -> None:
    x = torch.ones(4096, dtype=torch.float16)
    assert x.sum().item() == 4096  # one after the other it would stop at 2048
    assert x.mean().item() == 1
    assert x.cumsum(0)[-1].item() == 4096
    assert x.sum().dtype == torch.float16


def test_single_precision_sums_are_exact_to_rounding() -> None:
    x = torch.full((1_000_000,), 0.1)
    assert abs(x.sum().item() - 100_000) < 0.1
    assert abs((x + 1000).var().item()) < 1e-6


def test_results_are_not_views_of_their_input() -> None:
    x = torch.tensor(3.0)
    y = x.sum()
    y.add_(1)
    assert (x.item(), y.item()) == (3, 4)
    x = torch.ones(3)
    x.cumsum(0).zero_()
    assert x.tolist() == [1, 1, 1]


def test_what_a_sum_does_not_read_may_change() -> None:
    x = leaf([1.0, 2.0])
    y = x * 2
    s = y.sum()
    y.add_(1)
    s.backward()
    assert x.grad.tolist() == [2, 2]


def test_what_a_rule_reads_may_not_change() -> None:
    for reduce in (torch.prod, torch.std, torch.amax, torch.norm):
        y = leaf([1.0, 2.0]) * 2
        s = reduce(y)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            s.backward()


def test_results_of_two_parts_have_names() -> None:
    r = torch.tensor([[1.0, 3.0], [2.0, 0.0]]).max(1)
    values, indices = r
    assert r.values is values is r[0]
    assert r.indices is indices is r[1]
    assert isinstance(r, tuple)
    assert isinstance(r, torch.return_types.max)
    assert repr(r) == "torch.return_types.max(\nvalues=tensor([3., 2.]),\nindices=tensor([1, 0]))"
    again = pickle.loads(pickle.dumps(r))
    assert type(again) is type(r)
    assert again.indices.tolist() == [1, 0]
    with pytest.raises(AttributeError):
        r.values = values


def test_out_takes_the_result() -> None:
    out = torch.empty(0)
    assert torch.sum(torch.ones(2, 3), 0, out=out) is out
    assert out.tolist() == [2, 2, 2]
    v, i = torch.empty(2), torch.empty(2, dtype=torch.int64)
    torch.max(torch.tensor([[1.0, 3.0], [2.0, 0.0]]), 1, out=(v, i))
    assert (v.tolist(), i.tolist()) == ([3, 2], [1, 0])


def test_too_few_numbers_for_a_variance_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert math.isnan(torch.ones(1).var().item())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert torch.ones(1).var(correction=0).item() == 0


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "var", "prod", "argmax", "all", "median"])
def test_numpy_words_are_understood(name: str) -> None:
    x = torch.tensor([[1.0, 3.0], [2.0, 5.0]])
    ours, theirs = getattr(x, name)(dim=1, keepdim=True), getattr(x, name)(axis=1, keepdims=True)
    ours, theirs = (ours[0], theirs[0]) if isinstance(ours, tuple) else (ours, theirs)
    assert ours.tolist() == theirs.tolist()
    assert ours.shape == (2, 1)


def test_gradients_through_indices_add_up() -> None:
    x = leaf([1.0, 3.0, 2.0])
    assert gradient(x.cummax(0).values.sum(), x) == [1, 2, 0]
    x = leaf([1.0, 3.0, 2.0])
    y = x.logcumsumexp(0)
    np.testing.assert_allclose(y.tolist(), np.logaddexp.accumulate([1.0, 3.0, 2.0]))
    torch.autograd.gradcheck(lambda t: t.logcumsumexp(0), [x]) if hasattr(
        torch.autograd, "gradcheck"
    ) else None


def test_counting() -> None:
    assert torch.bincount(torch.tensor([], dtype=torch.int64)).tolist() == []
    assert torch.bincount(torch.tensor([1, 3, 1]), minlength=6).tolist() == [0, 2, 0, 1, 0, 0]
    assert torch.histc(torch.tensor([1.0, 1.0]), bins=2).tolist() == [0, 2]
    assert torch.vander(torch.tensor([2, 3]), 2, increasing=True).tolist() == [[1, 2], [1, 3]]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.sum(0),
        lambda x: x.mean(0),
        lambda x: x.var(0),
        lambda x: x.prod(0),
        lambda x: x.max(0).values,
        lambda x: x.amin(0),
        lambda x: x.any(0),
        lambda x: x.argmax(0),
        lambda x: x.norm(dim=0),
        lambda x: x.median(0).values,
        lambda x: x.cumsum(1),
        lambda x: x.cummax(1).indices,
        lambda x: torch.cat([x, x], 1),
        lambda x: torch.stack([x, x], 1),
        lambda x: x.roll(1, 0),
        lambda x: x.tril(),
    ],
)
def test_results_are_row_major_whatever_the_input_is(make: object) -> None:
    for x in (torch.ones(2, 3, 4).transpose(1, 2), torch.ones(2, 3, 4).permute(2, 0, 1)):
        y = make(x)
        assert y.is_contiguous()
        assert y.view(-1).numel() == y.numel()


def test_sums_and_products_have_the_dtype_that_is_asked_for() -> None:
    b, n = torch.tensor([[True, False], [True, True]]), torch.tensor([100, 100])
    assert torch.prod(b, 1, dtype=torch.bool).tolist() == [False, True]
    assert (
        torch.sum(b, 1, dtype=torch.bool).tolist() == [True, True] and b.sum(dtype=torch.bool).item() is True
    )
    assert torch.prod(n, dtype=torch.int8).item() == 16 and torch.sum(n, 0, dtype=torch.int8).item() == -56
    assert (
        n.prod(0, dtype=torch.int8).dtype is torch.int8 and n.sum(dtype=torch.float64).dtype is torch.float64
    )
