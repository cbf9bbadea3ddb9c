"""Numbers by rejection (their streams are in test_random_streams.py): derivatives, errors, batches, GPUs."""

import numpy as np
import pytest

import autodiff_kernel as torch

SHAPES = [0.05, 0.5, 2.0, 7.0, 20.0, 20.0, 20.0]


def test_gamma_numbers_move_as_in_pytorch():
    """One value for each of the approximations, and both sides of the mean."""
    x = torch.tensor([0.01, 0.3, 1.5, 9.0, 19.0, 12.0, 31.0]).double()
    slopes = torch._standard_gamma_grad(torch.tensor(SHAPES).double(), x)
    want = [0.831154272277645, 1.0098020057832882, 0.9366198345654156, 1.1581464230912488, 0.9827254818951642,
            0.7725959054368412, 1.2454431228616505]  # fmt: skip
    np.testing.assert_allclose(slopes.numpy(), want, rtol=1e-12)


def test_dirichlet_numbers_move_as_in_pytorch():
    x, alpha, total = (
        torch.tensor(v).double()
        for v in (
            [0.01, 0.3, 0.97, 0.5, 0.5, 0.62, 0.25],
            [0.5, 2.0, 3.0, 2.0, 30.0, 10.0, 1.5],
            [2.0, 5.0, 7.0, 11.0, 61.0, 22.0, 40.0],
        )
    )
    want = [0.08556140606099097, 0.1992984556831554, 0.23431417647819744, 0.1631475442992983, 0.016712448341896377,
            0.054649412175207635, 0.062399593387205514]  # fmt: skip
    np.testing.assert_allclose(torch._dirichlet_grad(x, alpha, total).numpy(), want, rtol=1e-11)


def test_gradients_reach_the_parameters():
    torch.manual_seed(0)
    alpha = torch.tensor(SHAPES, dtype=torch.float64, requires_grad=True)
    y = torch._standard_gamma(alpha)
    assert y.grad_fn.name() == "StandardGammaBackward0"
    (3 * y).sum().backward()
    assert alpha.grad.tolist() == (3 * torch._standard_gamma_grad(alpha, y)).tolist()
    rates = torch.tensor([2.0, 30.0], requires_grad=True)
    torch.poisson(rates).sum().backward()
    assert rates.grad.tolist() == [0.0, 0.0]


def test_forward_and_reverse_mode_agree_for_dirichlet():
    alpha = torch.tensor([[0.5, 2.0, 3.0], [9.0, 20.0, 1.0]], dtype=torch.float64)
    u = torch.tensor([[1.0, -2.0, 0.3], [0.5, 0.1, 4.0]], dtype=torch.float64)
    w = torch.tensor([[0.2, 1.1, -1.0], [2.0, -0.3, 0.7]], dtype=torch.float64)

    def sample(a):
        torch.manual_seed(5)
        return torch._sample_dirichlet(a)

    y, tangent = torch.func.jvp(sample, (alpha,), (u,))
    assert torch.allclose(y.sum(-1), torch.ones(2, dtype=torch.float64))
    assert tangent.sum(-1).abs().max() < 1e-12, "shares that sum to 1 move within that plane"
    a = alpha.clone().requires_grad_()
    (gradient,) = torch.autograd.grad((sample(a) * w).sum(), a)
    assert (gradient * u).sum().item() == pytest.approx((tangent * w).sum().item())


def test_there_is_no_second_derivative():
    alpha = torch.tensor([2.0], requires_grad=True)
    (g,) = torch.autograd.grad(torch._standard_gamma(alpha).sum(), alpha, create_graph=True)
    with pytest.raises(
        NotImplementedError, match="the derivative for '_standard_gamma_grad' is not implemented"
    ):
        g.sum().backward()
    p = torch.tensor([0.5], requires_grad=True)
    y = torch.binomial(torch.tensor([5.0]), p)
    with pytest.raises(RuntimeError, match="derivative for aten::binomial is not implemented"):
        y.sum().backward()


def test_refusals():
    with pytest.raises(RuntimeError, match="invalid Poisson rate, expected rate to be non-negative"):
        torch.poisson(torch.tensor([1.0, -1.0]))
    with pytest.raises(NotImplementedError, match="\"gamma_cpu\" not implemented for 'Long'"):
        torch._standard_gamma(torch.tensor([1]))
    with pytest.raises(
        TypeError, match=r"poisson\(\): argument 'input' \(position 1\) must be Tensor, not float"
    ):
        torch.poisson(2.0)
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch.binomial(torch.tensor([5.0]), torch.tensor([0.5], dtype=torch.float64))


def test_impossible_parameters_end():
    """Where PyTorch's loops never end, or give nan."""
    nan = float("nan")
    assert torch._standard_gamma(torch.tensor([nan, -1.0])).isnan().all()
    y = torch.binomial(torch.tensor([4.0, -1.0, nan]), torch.tensor([nan, 0.5, 0.5]))
    assert y.isnan().tolist() == [True, False, True] and y[1] == 0


def test_a_generator_of_ones_own():
    for draw in (torch.poisson, torch._standard_gamma, torch._sample_dirichlet):
        torch.manual_seed(9)
        first = draw(torch.ones(3) * 4)
        assert draw(torch.ones(3) * 4, torch.Generator().manual_seed(9)).tolist() == first.tolist()


def test_batches_draw_as_the_whole():
    x = torch.tensor([[1.0, 20.0], [3.0, 0.4], [5.0, 12.0]])
    for draw in (torch.poisson, torch._standard_gamma, torch._sample_dirichlet):
        torch.manual_seed(2)
        whole = draw(x)
        torch.manual_seed(2)
        assert torch.vmap(draw, randomness="different")(x).tolist() == whole.tolist()
        with pytest.raises(RuntimeError, match="does not currently support same randomness"):
            torch.vmap(draw, randomness="same")(x)


def test_gpus_draw_the_numbers_of_the_cpu():
    torch.cuda.simulate(1)
    try:
        for draw in (torch.poisson, torch._standard_gamma, torch._sample_dirichlet):
            torch.manual_seed(4)
            on_cpu = draw(torch.tensor([1.0, 15.0, 0.3]))
            torch.manual_seed(4)
            x = torch.tensor([1.0, 15.0, 0.3], device="cuda", requires_grad=True)
            y = draw(x)
            (y * y).sum().backward()
            assert y.is_cuda and y.tolist() == on_cpu.tolist() and x.grad.is_cuda
    finally:
        torch.cuda.simulate(0)
