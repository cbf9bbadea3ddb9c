"""Products and linear algebra: PyTorch's answers, what decompositions promise, gradients, errors."""

from typing import Any

import numpy as np
import pytest
from answers import check, lines

import autodiff_kernel as torch
from autodiff_kernel import linalg

T = torch.tensor
RNG = np.random.default_rng(3)


def random(*shape: int, dtype: Any = np.float64) -> Any:
    return torch.from_numpy(RNG.normal(size=shape).astype(dtype))


def close(a: Any, b: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


def slope(f: Any, x: Any, direction: Any, step: float = 1e-6) -> float:
    return float((f(x + step * direction) - f(x - step * direction)) / (2 * step))


def check_gradient(f: Any, x: Any, direction: Any = None) -> None:
    """The gradient of a scalar function against the central difference in one direction."""
    direction = random(*x.shape) if direction is None else direction
    leaf = x.detach().clone().requires_grad_()
    f(leaf).backward()
    assert float((leaf.grad * direction).sum()) == pytest.approx(slope(f, x, direction), 1e-5, 1e-6)


@pytest.mark.parametrize("code", lines("products"))
def test_products(code: str) -> None:
    check("products", code)


@pytest.mark.parametrize("code", lines("linalg"))
def test_answers(code: str) -> None:
    check("linalg", code)


def test_the_namespace_is_complete() -> None:
    names = {
        "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
        "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu",
        "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank",
        "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals",
        "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
    }  # fmt: skip
    assert set(linalg.__all__) == names
    assert all(callable(getattr(torch.linalg, name)) for name in linalg.__all__)


# ------------------------------------------------------------------------------------------------ products
def test_a_product_gives_its_factors_gradients() -> None:
    x, w, b = random(4, 3).requires_grad_(), random(2, 3).requires_grad_(), random(2).requires_grad_()
    g = random(4, 2)
    from autodiff_kernel.core.rules.layers import linear

    for y in (linear(x, w, b), torch.addmm(b, x, w.t()), x @ w.T + b, torch.einsum("ni,oi->no", x, w) + b):
        for leaf in (x, w, b):
            leaf.grad = None
        y.backward(g)
        close(x.grad, g @ w)
        close(w.grad, g.T @ x)
        close(b.grad, g.sum(0))


def test_products_check_before_they_multiply() -> None:
    with pytest.raises(
        RuntimeError, match="mat1 and mat2 shapes cannot be multiplied .*\n.*columns.*\nWhat to do"
    ):
        torch.ones(2, 3) @ torch.ones(2, 3)
    with pytest.raises(
        RuntimeError, match="expected m1 and m2 to have the same dtype, but got: float != double"
    ):
        torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.float64)
    with pytest.raises(TypeError, match="unsupported operand type"):
        torch.ones(2, 2) @ 3
    with pytest.raises(NotImplementedError, match="\"addmm_impl_cpu_\" not implemented for 'Bool'"):
        torch.ones(2, 2, dtype=torch.bool) @ torch.ones(2, 2, dtype=torch.bool)


def test_integers_multiply_too() -> None:
    assert (T([[1, 2], [3, 4]]) @ T([[5], [6]])).tolist() == [[17], [39]]
    assert torch.einsum("ij->j", T([[1, 2], [3, 4]])).tolist() == [4, 6]


def test_products_in_place() -> None:
    x = torch.ones(2, 2)
    x.addmm_(torch.ones(2, 1), torch.ones(1, 2), beta=2, alpha=3)
    x @= T([[1.0, 0.0], [0.0, 2.0]])
    assert (x.tolist(), x._version) == ([[5.0, 10.0], [5.0, 10.0]], 2)


def test_a_changed_factor_is_refused_in_backward() -> None:
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    y = (x @ w).sum()
    w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_einsum_of_many_follows_a_plan() -> None:
    a, b, c = random(30, 40), random(40, 50), random(50, 3)
    close(torch.einsum("ij,jk,kl->il", a, b, c), a @ b @ c)
    x = random(3, 3).requires_grad_()
    torch.einsum("ii,ij->j", x, x).sum().backward()  # the diagonal and the whole
    expected = torch.eye(3, dtype=torch.float64) * x.sum(1)[:, None] + x.diagonal()[:, None]
    close(x.grad, expected)


# ------------------------------------------------------------------------------------------------ decompositions
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3), (0, 3), (2, 0)])
def test_factors_multiply_to_the_matrix(shape: tuple[int, ...]) -> None:
    a = random(*shape)
    u, s, vh = linalg.svd(a, full_matrices=False)
    close(u * s[..., None, :] @ vh, a)
    q, r = linalg.qr(a)
    close(q @ r, a)
    close(q.mT @ q, torch.eye(q.shape[-1], dtype=torch.float64).expand(*shape[:-2], q.shape[-1], q.shape[-1]))
    p, lower, upper = linalg.lu(a)
    close(p @ lower @ upper, a)
    if shape[-1] <= shape[-2]:
        close(linalg.householder_product(*torch.geqrf(a)), q)


@pytest.mark.parametrize(
    "upper, x, of_b, of_factor",
    [
        (False, [[1 / 9, 1 / 3], [5 / 18, 1 / 3]], [[1 / 9, 5 / 18], [5 / 18, 4 / 9]],
         [[-0.7222222222222223, -0.9074074074074074], [-1.0555555555555556, -1.3518518518518516]]),
        (True, [[1 / 4, 1 / 2], [1 / 3, 4 / 9]], [[1 / 4, 1 / 2], [1 / 3, 5 / 9]],
         [[-1.25, -1.333333333333333], [-2.625, -2.8148148148148144]]),
    ],
)  # fmt: skip
def test_a_factor_has_the_gradient_of_a_full_matrix(upper: bool, x: Any, of_b: Any, of_factor: Any) -> None:
    """The forward reads one triangle of the factor; PyTorch's gradient is not cut to it."""
    factor, b, g = (
        T([[2.0, 0], [1, 3]], dtype=torch.float64),
        T([[1.0, 2], [3, 4]], dtype=torch.float64),
        T([[1.0, 2], [3, 5]], dtype=torch.float64),
    )
    factor.requires_grad_()
    b.requires_grad_()
    y = torch.cholesky_solve(b, factor, upper)
    close(y, T(x, dtype=torch.float64))
    found = torch.autograd.grad(y, (b, factor), g, create_graph=True)
    close(found[0], T(of_b, dtype=torch.float64))
    close(found[1], T(of_factor, dtype=torch.float64))
    moved = torch.func.jvp(
        lambda b, f: torch.cholesky_solve(b, f, upper), (b.detach(), factor.detach()), (g, g)
    )[1]
    close((moved * g).sum(), (found[0] * g).sum() + (found[1] * g).sum())
    found[1].sum().backward()  # its own gradient goes through the same row
    assert factor.grad is not None and b.grad is not None


def test_symmetric_matrices() -> None:
    a = random(3, 3)
    a = a @ a.T + torch.eye(3, dtype=torch.float64)
    values, vectors = linalg.eigh(a)
    close(vectors * values @ vectors.T, a)
    factor = linalg.cholesky(a)
    close(factor @ factor.T, a)
    close(linalg.cholesky(a, upper=True), factor.T)
    b = random(3, 2)
    for x in (
        linalg.solve(a, b),
        torch.cholesky_solve(b, factor),
        linalg.lu_solve(*linalg.lu_factor(a), b),
        linalg.pinv(a) @ b,
    ):
        close(a @ x, b, 1e-8)
    close(torch.cholesky_inverse(factor), linalg.inv(a), 1e-8)
    close(torch.cholesky_inverse(factor.T, upper=True), linalg.inv(a), 1e-8)
    close(linalg.lu_solve(*linalg.lu_factor(a), b.T, left=False) @ a, b.T, 1e-8)


def test_eigenvalues_of_any_matrix() -> None:
    a = random(4, 4)
    values, vectors = linalg.eig(a)
    assert values.dtype == torch.complex128
    w, v = values.numpy(), vectors.numpy()
    np.testing.assert_allclose(a.numpy() @ v, v * w, atol=1e-12)
    for x in (random(3, 3), T([[0.0, 1.0], [-1.0, 0.3]], dtype=torch.float64)):
        check_gradient(lambda m: (linalg.eigvals(m).real ** 3).sum(), x)
    g = torch.func.grad(lambda m: (linalg.eigvals(m).real ** 3).sum())
    for x in (random(3, 3), T([[0.0, 1.0], [-1.0, 0.3]], dtype=torch.float64)):
        check_gradient(lambda m: (g(m) * T(np.arange(m.numel())).reshape(m.shape)).sum(), x)


@pytest.mark.parametrize(
    "vectors_of", [lambda m: linalg.eigh(m)[1], lambda m: linalg.svd(m)[0], lambda m: linalg.eig(m)[1]]
)
def test_a_loss_that_depends_on_the_phase_of_vectors_is_refused(vectors_of) -> None:
    a = torch.complex(random(3, 3), random(3, 3))
    a = (a @ a.mH + torch.eye(3)).requires_grad_()
    (vectors_of(a).abs() ** 3).sum().backward()
    with pytest.raises(RuntimeError, match="specified up to multiplication by e"):
        (vectors_of(a) * T(np.arange(9.0)).reshape(3, 3)).sum().imag.backward()


def test_the_determinant_of_a_singular_matrix_has_a_gradient() -> None:
    a = T([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    linalg.det(a).backward()
    close(a.grad, T([[4.0, -2.0], [-2.0, 1.0]], dtype=torch.float64))


GRADIENTS = {
    "inv": (lambda a: (linalg.inv(a) ** 2).sum(), (3, 3)),
    "slogdet": (lambda a: linalg.slogdet(a).logabsdet.sum() + linalg.slogdet(a)[0].sum(), (2, 3, 3)),
    "solve left": (lambda a: (linalg.solve(a, a[..., :1] ** 2, left=True) ** 2).sum(), (3, 3)),
    "solve vector": (lambda a: (linalg.solve(a, a[0]) ** 2).sum(), (3, 3)),
    "lstsq": (lambda a: (linalg.lstsq(a, a[:, :1] ** 2).solution ** 2).sum(), (4, 2)),
    "lu wide": (lambda a: (linalg.lu(a).U ** 2).sum() + (linalg.lu(a).L ** 3).sum(), (2, 4)),
    "svdvals": (lambda a: (linalg.svdvals(a) ** 3).sum(), (3, 2)),
    "nuclear norm": (lambda a: linalg.matrix_norm(a, "nuc"), (3, 2)),
    "spectral norm": (lambda a: linalg.matrix_norm(a, 2), (3, 2)),
    "cond": (lambda a: linalg.cond(a, 1), (3, 3)),
    "matrix_power": (lambda a: linalg.matrix_power(a, -3).sum(), (3, 3)),
    "matrix_exp": (lambda a: (torch.matrix_exp(a * 3) ** 2).sum().log(), (3, 3)),
    "householder": (lambda a: (linalg.householder_product(a, a[0] * 0.1) ** 3).sum(), (3, 2)),
    "cov": (lambda a: (torch.cov(a) ** 2).sum(), (2, 5)),
    "corrcoef": (lambda a: (torch.corrcoef(a) ** 3).sum(), (2, 5)),
    "renorm": (lambda a: (torch.renorm(a, 2, 0, 0.5) ** 3).sum(), (3, 2)),
    "cdist": (lambda a: (torch.cdist(a, a[:2] * 2) ** 3).sum(), (3, 2)),
    "multi_dot": (lambda a: linalg.multi_dot([a, a.T, a, a.T]).sum(), (3, 2)),
    "kron": (lambda a: (torch.kron(a, a) ** 2).sum(), (2, 2)),
    "vander": (lambda a: linalg.vander(a[0], N=4).sum(), (1, 3)),
    "tensordot": (lambda a: (torch.tensordot(a, a, ([0], [0])) ** 2).sum(), (3, 2)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_compositions(name: str) -> None:
    f, shape = GRADIENTS[name]
    x = random(*shape)
    if shape[-1] == shape[-2]:
        x = x * 0.3 + torch.eye(shape[-1], dtype=torch.float64) * 2
    check_gradient(f, x)


def test_ranks_and_conditions() -> None:
    assert linalg.matrix_rank(T([[1.0, 2.0], [2.0, 4.0]])).item() == 1
    assert linalg.matrix_rank(torch.eye(3).expand(2, 3, 3)).tolist() == [3, 3]
    assert linalg.cond(T([[1.0, 2.0], [2.0, 4.0]]), "fro").item() == float("inf")
    low = T([[1.0, 0.0], [0.0, 1e-3]])
    assert linalg.matrix_rank(low, rtol=1e-2).item() == 1
    assert linalg.pinv(low, atol=0.1).tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_low_rank_approximation_finds_the_rank() -> None:
    torch.manual_seed(0)
    a = random(8, 2) @ random(2, 5)
    for x in (a, a.T):
        u, s, v = torch.svd_lowrank(x, q=3)
        close(u * s @ v.T, x, 1e-8)
        close(s[:2], linalg.svdvals(x)[:2], 1e-8)
    shifted = a + 10.0
    u, s, v = torch.pca_lowrank(shifted, q=2)
    close(u * s @ v.T, shifted - shifted.mean(0), 1e-8)
    with pytest.raises(ValueError, match="must be non-negative integer and not greater than"):
        torch.pca_lowrank(a, q=9)


# ------------------------------------------------------------------------------------------------ errors
def test_singular_matrices_are_told_which() -> None:
    singular = T([[1.0, 2.0], [2.0, 4.0]])
    assert issubclass(linalg.LinAlgError, RuntimeError) and linalg.LinAlgError.__name__ == "_LinAlgError"
    with pytest.raises(
        linalg.LinAlgError, match="The diagonal element 2 is zero, the inversion could not be completed"
    ):
        linalg.inv(singular)
    with pytest.raises(
        linalg.LinAlgError, match=r"torch.linalg.solve: \(Batch element 1\): The solver failed"
    ):
        linalg.solve(torch.stack([torch.eye(2), singular]), torch.ones(2))
    with pytest.raises(linalg.LinAlgError, match=r"leading minor of order 2 is not positive-definite\)"):
        linalg.cholesky(T([[1.0, 2.0], [2.0, 1.0]]))
    assert linalg.inv_ex(singular).info.item() == 2
    assert linalg.cholesky_ex(T([[1.0, 2.0], [2.0, 1.0]])).info.item() == 2
    assert linalg.lu_factor_ex(singular).info.item() == 2


def test_only_batches_of_square_floating_matrices() -> None:
    with pytest.raises(
        RuntimeError, match="must be batches of square matrices, but they are 2 by 3 matrices"
    ):
        linalg.inv(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor as input. Got Long"):
        linalg.det(T([[1]]))
    with pytest.raises(RuntimeError, match="must have at least 2 dimensions"):
        linalg.svd(torch.ones(2))
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        linalg.inv([[1.0]])


def test_modes_of_qr_without_derivative() -> None:
    x = random(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        linalg.qr(x, mode="r").R.sum().backward()
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows > ncols"):
        linalg.qr(x, mode="complete").R.sum().backward()


def test_on_a_simulated_gpu() -> None:
    torch.cuda.simulate(1)
    try:
        a = (torch.eye(3) * 2 + 0.1).cuda().requires_grad_()
        b = torch.ones(3, 1).cuda()
        y = (
            linalg.solve(a, b).sum()
            + linalg.slogdet(a).logabsdet
            + torch.einsum("ij,jk->", a, b)
            + (a @ b).sum()
        )
        y.backward()
        assert str(a.grad.device) == "cuda:0"
        assert y.item() == pytest.approx(1.3043 + 2.2192 + 2 * 6.9, 1e-3)
    finally:
        torch.cuda.simulate(0)


# ------------------------------------------------------------------------------------------------ symmetric, indefinite
def test_ldl_factors_are_those_of_lapack() -> None:
    a = T([[1.0, 2, 3], [2, 0.5, 1], [3, 1, -2]])
    ld, pivots = linalg.ldl_factor(a)
    close(ld, T([[-2, 0, 0], [-0.5, 5.5, 0], [-1.5, 7 / 11, -1.2272727]]), 1e-6)
    assert pivots.tolist() == [3, 3, 3] and pivots.dtype is torch.int32
    ld, pivots, info = linalg.ldl_factor_ex(T([[0.0, 2, 3], [2, 0, 1], [3, 1, 0]]))
    close(ld, T([[0, 0, 0], [3, 0, 0], [1 / 3, 2 / 3, -4 / 3]]), 1e-6)
    assert (pivots.tolist(), info.item()) == ([-3, -3, 3], 0)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_ldl_solves(n: int) -> None:
    a, b = random(3, 1, n, n), random(2, n, 2)
    a = a + a.mT - 0.5 * torch.eye(n, dtype=torch.float64)
    close(a @ linalg.ldl_solve(*linalg.ldl_factor(a), b), b.expand(3, 2, n, 2), 1e-8)
    assert linalg.ldl_factor(random(0, n, n)).LD.shape == (0, n, n)


def test_ldl_refuses() -> None:
    with pytest.raises(RuntimeError, match="linalg.ldl_factor: the pivot number 1 is zero"):
        linalg.ldl_factor(torch.zeros(2, 2))
    assert linalg.ldl_factor_ex(torch.zeros(2, 2)).pivots.tolist() == [1, 2]
    ld, pivots = linalg.ldl_factor(torch.eye(2))
    for args, phrase in (
        ((ld, pivots.float(), ld), "Expected pivots to be integers. Got Float"),
        (
            (ld, pivots[:1], ld),
            r"Expected LD.shape\[:-1\] and pivots.shape to be the same, but got pivots with shape \[1\]",
        ),
        ((ld, pivots, torch.ones(3, 1)), "each A matrix is 2 by 2 but each b matrix is 3 by 1"),
        ((ld, pivots, ld.double()), "found b of type Double and A of type Float instead"),
    ):
        with pytest.raises(RuntimeError, match=phrase):
            linalg.ldl_solve(*args)
