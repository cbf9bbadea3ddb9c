"""quantile, nanquantile, histogram, histogramdd, gradient, frexp: values from PyTorch, gradients, refusals."""

from math import inf, nan

import pytest

import autodiff_kernel as torch

y = torch.tensor([3.0, 1, 2, 4, 5])


# ------------------------------------------------------------------------------------------------ quantiles
@pytest.mark.parametrize(
    "way, value", [("linear", 2.2), ("lower", 2), ("higher", 3), ("midpoint", 2.5), ("nearest", 2)]
)
def test_interpolation(way, value):
    assert torch.quantile(y, 0.3, interpolation=way).item() == pytest.approx(value)


def test_quantiles_of_slices():
    x = torch.tensor([[1.0, 5, 3], [nan, 2, 4]])
    q = torch.tensor([0.0, 0.5, 1.0])
    assert str(torch.quantile(x, q, dim=1).tolist()) == "[[1.0, nan], [3.0, nan], [5.0, nan]]"
    assert torch.nanquantile(x, q, dim=1).tolist() == [[1, 2], [3, 3], [5, 4]]
    assert torch.quantile(x, q, dim=1, keepdim=True).shape == (3, 2, 1)
    assert torch.nanquantile(x, 0.5, keepdim=True).tolist() == [[3.0]]
    assert torch.nanquantile(torch.tensor([nan, nan]), 0.5).isnan()
    assert torch.quantile(torch.tensor(2.0), q).tolist() == [2, 2, 2]


def test_quantile_has_gradients():
    x, q = y.clone().requires_grad_(), torch.tensor([0.3, 0.6], requires_grad=True)
    torch.quantile(x, q).sum().backward()
    assert x.grad.tolist() == pytest.approx([0.2 + 0.6, 0, 0.8, 0.4, 0])
    assert q.grad.tolist() == pytest.approx([4, 4])


@pytest.mark.parametrize(
    "call, phrase",
    [
        ("torch.quantile(y, 0.5, interpolation='foo')", "one of linear, lower, higher, midpoint or nearest, but got foo"),
        ("torch.quantile(y, 1.5)", r"q must be in the range \[0, 1\] but got 1.5"),
        ("torch.quantile(y, torch.tensor([1.5]))", r"q values must be in the range \[0, 1\]"),
        ("torch.quantile(y.long(), 0.5)", "input tensor must be either float or double dtype"),
        ("torch.quantile(torch.zeros(0), 0.5)", "input tensor must be non-empty"),
        ("torch.quantile(y, torch.tensor([0.5], dtype=torch.float64))", "q tensor must be same dtype as the input tensor"),
        ("torch.quantile(y, torch.zeros(2, 2))", "q must be a scalar or 1D tensor"),
    ],
)  # fmt: skip
def test_quantile_refuses(call, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        eval(call)


# ------------------------------------------------------------------------------------------------ histograms
def test_histogram():
    hist, edges = torch.histogram(y, 3)
    assert hist.tolist() == [2, 1, 2] and edges.tolist() == pytest.approx([1, 2.3333333, 3.6666667, 5])
    assert torch.histogram(y, torch.tensor([1.0, 2, 6])).hist.tolist() == [1, 4]
    found = y.histogram(3, range=(0.0, 4.0), weight=torch.ones(5), density=True)
    assert found.hist.tolist() == pytest.approx([0.1875, 0.1875, 0.375])
    assert torch.histogram(torch.ones(3), 3).bin_edges.tolist() == pytest.approx(
        [0.5, 0.8333333, 1.1666666, 1.5]
    )
    assert torch.histogram(torch.zeros(0), 2).bin_edges.tolist() == [0, 0.5, 1]
    assert repr(found).startswith(
        "torch.return_types.histogram(\nhist=tensor([0.1875, 0.1875, 0.3750]),\nbin_edges="
    )


def test_histogramdd():
    points = torch.tensor([[0.0, 1], [2, 3], [1, 1]])
    found = torch.histogramdd(points, [2, 2])
    assert found.hist.tolist() == [[1, 0], [1, 1]] and [e.tolist() for e in found.bin_edges] == [
        [0, 1, 2],
        [1, 2, 3],
    ]
    found = torch.histogramdd(points, 2, range=[0.0, 2, 0, 4], weight=torch.tensor([1.0, 2, 3]), density=True)
    assert found.hist.flatten().tolist() == pytest.approx([1 / 12, 0, 0.25, 1 / 6])
    edges = [torch.tensor([0.0, 1, 2]), torch.tensor([0.0, 1, 2])]
    assert torch.histogramdd(points, edges).hist.tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    "call, kind, phrase",
    [
        ("torch.histogram(y, 0)", RuntimeError, "bins must be > 0, but got 0 for dimension 0"),
        ("torch.histogram(y.long(), 3)", NotImplementedError, '"histogramdd" not implemented for \'Long\''),
        ("torch.histogram(y, 3, range=(4., 1.))", RuntimeError, "but got min 4 max 1 for dimension 0"),
        ("torch.histogram(y, torch.zeros(2, 2))", RuntimeError, "should have one dimension, but got 2 dimensions"),
        ("torch.histogram(torch.tensor([nan]), 3)", RuntimeError, r"dimension 0's range \[nan, nan\] is not finite"),
        ("torch.histogram(y, 3, weight=torch.ones(4))", RuntimeError, r"shape \[5, 1\] and weight with shape \[4\]"),
        ("torch.histogramdd(y, 3)", RuntimeError, "input tensor should have at least 2 dimensions"),
        ("torch.histogramdd(torch.zeros(3, 2), [3])", RuntimeError, "size of bins must be equal to the innermost dimension"),
    ],
)  # fmt: skip
def test_histogram_refuses(call, kind, phrase):
    with pytest.raises(kind, match=phrase):
        eval(call)


# ------------------------------------------------------------------------------------------------ gradient, frexp
def test_gradient():
    squares = torch.arange(5.0) ** 2
    assert torch.gradient(squares)[0].tolist() == [1, 2, 4, 6, 7]
    assert torch.gradient(squares, spacing=2.0, edge_order=2)[0].tolist() == [0, 1, 2, 3, 4]
    assert torch.gradient(torch.arange(4), spacing=2)[0].tolist() == [0.5] * 4
    places = torch.tensor([0.0, 1, 3, 4])
    assert torch.gradient(torch.arange(4.0), spacing=(places,))[0].tolist() == pytest.approx(
        [1, 5 / 6, 5 / 6, 1]
    )
    assert torch.gradient(places**2, spacing=(places,), edge_order=2)[0].tolist() == pytest.approx(
        [0, 2, 6, 8]
    )
    grid = torch.arange(9.0).reshape(3, 3) ** 2
    down, right = torch.gradient(grid)
    assert right.tolist() == [[1, 2, 3], [7, 8, 9], [13, 14, 15]] and down[:, 0].tolist() == [9, 18, 27]
    x = torch.arange(4.0, requires_grad=True)
    torch.gradient(x**2)[0].sum().backward()
    assert x.grad.tolist() == [0, 1, -2, 9]


@pytest.mark.parametrize(
    "call, phrase",
    [
        ("torch.gradient(torch.ones(1))", r"expected each dimension size to be at least edge_order\+1"),
        ("torch.gradient(y, edge_order=3)", "only supports edge_order=1 and edge_order=2."),
        ("torch.gradient(y, spacing=[1., 2.])", "since dim argument was not given, but got a list of length 2"),
        ("torch.gradient(torch.ones(3, 3), spacing=(0.1,), dim=(1, 0))", "length 1 and a dim argument of length 2"),
        ("torch.gradient(torch.ones(3, 3), dim=(0, 0))", "dim 0 appears multiple times in the list of dims"),
        ("torch.gradient(y, spacing=(y[1:],))", "to have the same length as the corresponding dimension"),
    ],
)  # fmt: skip
def test_gradient_refuses(call, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        eval(call)


def test_frexp():
    mantissa, exponent = torch.frexp(torch.tensor([0.0, 1, -3.5, inf, nan]))
    assert str(mantissa.tolist()) == "[0.0, 0.5, -0.875, inf, nan]" and exponent.tolist() == [0, 1, 2, 0, 0]
    assert exponent.dtype is torch.int32
    x = torch.tensor([3.0, 1.0, 5.0], requires_grad=True)
    torch.frexp(x).mantissa.sum().backward()
    assert x.grad.tolist() == [0.25, 0.5, 0.125]
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        torch.frexp(torch.tensor([1]))


# ------------------------------------------------------------------------------------------------ vmap, simulated GPU
CALLS = [
    "torch.quantile(x, 0.3)", "torch.nanquantile(x, q)", "torch.quantile(x, q, interpolation='nearest')",
    "torch.frexp(x).mantissa", "torch.gradient(x, spacing=2.)[0]", "torch.special.i1e(x)", "torch.special.zeta(2, x)",
    "torch.special.hermite_polynomial_h(x, 3)", "torch.igamma(x, x + 1)", "torch.special.xlog1py(x, x)",
    "torch.stft(x, 2, hop_length=1, return_complex=True, window=ones).real",
    "torch.linalg.ldl_factor_ex(x.outer(x)).LD", "torch.cholesky_solve(x[:, None], x.diag())",
]  # fmt: skip
x = torch.tensor([[0.5, 2.0, 1.25], [3.0, 0.25, 1.0]])


def value(call, x, **names):
    return eval(call, {"torch": torch, "x": x, "q": torch.tensor([0.0, 0.6]), "ones": torch.ones(2), **names})


@pytest.mark.parametrize("call", CALLS)
def test_vmap(call):
    one_by_one = torch.stack([value(call, row) for row in x])
    assert torch.allclose(torch.vmap(lambda row: value(call, row))(x), one_by_one)


@pytest.mark.parametrize("call", [*CALLS, "torch.histogram(x, 3).hist", "torch.histogram(x, q).hist"])
def test_simulated_gpu(call):
    torch.cuda.simulate(1)
    try:
        names = {"q": torch.tensor([0.0, 0.6]).cuda(), "ones": torch.ones(2).cuda()}
        found = value(call, x[0].cuda(), **names)
        assert found.is_cuda and torch.allclose(found.cpu(), value(call, x[0]))
    finally:
        torch.cuda.simulate(0)
