"""The Cholesky factor and what is solved with it.

The formula of the derivative: I. Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from typing import Any

import numpy as np

from ..api import into, public
from ..errors import explain
from ..op import Op
from ..outline import of_all
from ..return_types import return_type
from ..tensor import Tensor
from .einsum import unit
from .linalg import (
    _LinAlgError,
    any_of,
    batch_text,
    check_matrix,
    check_square,
    info_of,
    mH,
    one_by_one,
    triangular_row,
    tril,
)

CholeskyEx = return_type("linalg_cholesky_ex", "L info")


def _cholesky(a: Any, p: Any) -> Any:
    try:
        return np.linalg.cholesky(np.tril(a) + mH(np.tril(a, -1)))  # only the lower triangle counts
    except np.linalg.LinAlgError:
        raise not_positive(a) from None


def not_positive(raw: Any) -> _LinAlgError:
    for number, matrix in one_by_one(raw):
        k = bad_minor(matrix)
        if k:
            return explain(
                _LinAlgError,
                f"linalg.cholesky: {batch_text(number)}The factorization could not be completed because the input is "
                f"not positive-definite (the leading minor of order {k} is not positive-definite).",
                "Only symmetric matrices with positive eigenvalues have a Cholesky factor.",
                "add a small multiple of the unit matrix if it is only just not positive.",
            )
    return explain(_LinAlgError, "linalg.cholesky: the input is not positive-definite.")


def bad_minor(matrix: Any) -> int:
    """The order of the first leading minor that is not positive definite; 0 if there is none."""
    for k in range(1, len(matrix) + 1):
        part = matrix[:k, :k]
        try:
            np.linalg.cholesky(np.tril(part) + np.tril(part, -1).T.conj())
        except np.linalg.LinAlgError:
            return k
    return 0


def half_triangle(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return tril(x) - x * unit(x, p=x.shape[-1]) * 0.5


def _cholesky_rule(g: Any, n: Any) -> Any:
    lh, p = mH(n.y), (True, False)
    inner = triangular_row(lh, half_triangle(lh @ g), p=p)
    full = mH(triangular_row(lh, mH(inner), p=p))
    return (full + mH(full)) * 0.5


def _cholesky_tangent(ts: Any, n: Any) -> Any:
    p = (False, False)
    inner = mH(triangular_row(n.y, mH(triangular_row(n.y, ts[0], p=p)), p=p))
    return n.y @ half_triangle(inner)


cholesky_row: Op = Op(
    "linalg_cholesky", _cholesky, a=_cholesky_rule, reads=("y",), jvp=_cholesky_tangent, params=True,
    node="LinalgCholeskyExBackward0", symbol="chol", partials=("½ {y}⁻ᵀ(Φ + Φᵀ){y}⁻¹ with Φ = tril({y}ᵀg)",),
    latex=r"\mathrm{{chol}}({a})", batch="leading", doc="The lower triangular factor L of a positive-definite matrix L·Lᵀ.",
)  # fmt: skip


def cholesky(A: Tensor, *, upper: bool = False, out: Any = None) -> Tensor:
    """The lower triangular L with L·Lᵀ = A, for symmetric positive-definite matrices (its transpose if `upper`).

    Raises LinAlgError for a matrix that is not positive definite.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.cholesky(torch.tensor([[4., 2.], [2., 5.]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    check_square("linalg.cholesky", A)
    factor = cholesky_row(mH(A) if upper else A)
    return into(out, mH(factor) if upper else factor)


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky`, and for each matrix 0 or the order of the minor that is not positive: (L, info).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.cholesky_ex(torch.tensor([[-1.]])).info
    tensor(1, dtype=torch.int32)
    """
    check_square("linalg.cholesky", A)
    info = info_of(A, bad_minor)
    bad = any_of(info)
    if bad and check_errors:
        raise not_positive(of_all(A.raw))
    if not bad:
        return CholeskyEx((cholesky(A, upper=upper), info))
    ok = (info == 0).to(A.dtype)[..., None, None]
    safe = A * ok + unit(A, p=A.raw.shape[-1]) * (1 - ok)
    return CholeskyEx((cholesky(safe, upper=upper) / ok, info))


@public("cholesky")
def old_cholesky(input: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The Cholesky factor; see linalg.cholesky.

    >>> import autodiff_kernel as torch
    >>> torch.cholesky(torch.tensor([[4.]]))
    tensor([[2.]])
    """
    return cholesky(input, upper=upper, out=out)


# ------------------------------------------------------------------------------------------------ solving with a factor
def _with_factor(a: Any, b: Any, p: Any) -> Any:
    lower = np.tril(mH(b) if p else b)
    return triangular_row.fwd(mH(lower), triangular_row.fwd(lower, a, (False, False)), (True, False))


def _factor_rule(g: Any, n: Any) -> Any:
    """PyTorch's: of L·Lᴴ as a product of full matrices, though the forward reads one triangle of L only."""
    inner = cholesky_solve_row(g, n.b, p=n.p) @ mH(n.y)
    both = inner + mH(inner)
    return -(n.b @ both) if n.p else -(both @ n.b)


def _factor_tangent(ts: Any, n: Any) -> Any:
    change = ts[0]
    if ts[1] is not None:
        moved = mH(ts[1]) @ n.b if n.p else ts[1] @ mH(n.b)
        shift = (moved + mH(moved)) @ n.y
        change = -shift if change is None else change - shift
    return cholesky_solve_row(change, n.b, p=n.p)


# p is whether the factor is an upper triangle
cholesky_solve_row: Op = Op(
    "cholesky_solve", _with_factor, a=lambda g, n: cholesky_solve_row(g, n.b, p=n.p), b=_factor_rule, reads=("b", "by"),
    jvp=_factor_tangent, params=True, spreads=True, symbol="(LLᵀ)⁻¹", partials=("({b}{b}ᵀ)⁻¹", "−(Φ + Φᵀ){b}"),
    latex=r"({b} {b}^T)^{{-1}} {a}", doc="What L·Lᵀ maps to the given columns.",
)  # fmt: skip


@public()
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The solution X of A X = input, given the Cholesky factor `input2` of A.

    >>> import autodiff_kernel as torch
    >>> torch.cholesky_solve(torch.tensor([[8.]]), torch.tensor([[2.]]))
    tensor([[2.]])
    """
    check_matrix("cholesky_solve", input, "b")
    check_square("cholesky_solve", input2)
    return into(out, cholesky_solve_row(input, input2, p=bool(upper)))


@public()
def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The inverse of A, given its Cholesky factor L.

    >>> import autodiff_kernel as torch
    >>> torch.cholesky_inverse(torch.tensor([[2.]]))
    tensor([[0.2500]])
    """
    check_square("cholesky_inverse", L)
    return cholesky_solve(unit(L, p=L.raw.shape[-1]), L, upper, out=out)
