"""Linear algebra under its names of 2017, which were LAPACK's; each says what it is called today."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor import Tensor


def linalg() -> Any:
    return sys.modules["autodiff_kernel"].linalg


def btrifact(A: Tensor, info: Any = None, pivot: bool = True) -> tuple[Any, Any]:
    """LU factors and pivots of a batch of matrices (now torch.linalg.lu_factor)."""
    LU, pivots = linalg().lu_factor(A, pivot=pivot)
    return LU, pivots


def btrisolve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """The solutions of A x = b from btrifact's factors, for vectors or matrices b (now torch.linalg.lu_solve)."""
    if b.dim() == LU_data.dim() - 1:
        return linalg().lu_solve(LU_data, LU_pivots, b.unsqueeze(-1)).squeeze(-1)  # type: ignore[attr-defined]
    return linalg().lu_solve(LU_data, LU_pivots, b)


def eig(a: Tensor, eigenvectors: bool = False) -> tuple[Any, Any]:
    """Eigenvalues as (real, imaginary) rows and, if asked for, eigenvectors (now torch.linalg.eig).

    Of a complex pair the first vector's column holds the real part and the second's the imaginary part.
    """
    values, vectors = linalg().eig(a)
    e = values.raw
    pairs = a.new(np.stack([e.real, e.imag], 1).tolist())  # type: ignore[attr-defined]
    if not eigenvectors:
        return pairs, a.new()  # type: ignore[attr-defined]
    v = vectors.raw
    real = v.real.copy()
    second = False
    for k in range(len(e)):
        if e[k].imag and not second:
            real[:, k], real[:, k + 1] = v[:, k].real, v[:, k].imag
            second = True
        else:
            second = False
    return pairs, a.new(real.tolist())  # type: ignore[attr-defined]


def gels(B: Tensor, A: Tensor) -> tuple[Any, Any]:
    """The least-squares solutions of A X = B, and the QR factors of A (now torch.linalg.lstsq)."""
    package = sys.modules["autodiff_kernel"]
    X = linalg().lstsq(A, B).solution
    return X, package.geqrf(A)[0]


def gesv(B: Tensor, A: Tensor) -> tuple[Any, Any]:
    """The solutions of A X = B, and the LU factors of A (now torch.linalg.solve)."""
    return linalg().solve(A, B), linalg().lu_factor(A)[0]


def potrf(a: Tensor, upper: bool = True) -> Any:
    """The Cholesky factor, upper by default (now torch.linalg.cholesky)."""
    L = linalg().cholesky(a)
    return L.t() if upper else L


def potrs(b: Tensor, u: Tensor, upper: bool = True) -> Any:
    """The solution of A X = b from a Cholesky factor of A (now torch.cholesky_solve)."""
    L = u.t() if upper else u  # type: ignore[attr-defined]
    y = linalg().solve_triangular(L, b, upper=False)
    return linalg().solve_triangular(L.t(), y, upper=True)


def potri(u: Tensor, upper: bool = True) -> Any:
    """The inverse of A from a Cholesky factor of A (now torch.cholesky_inverse)."""
    A = u.t().mm(u) if upper else u.mm(u.t())  # type: ignore[attr-defined]
    return linalg().inv(A)


def trtrs(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of a triangular system, and A (now torch.linalg.solve_triangular)."""
    M = A.t() if transpose else A  # type: ignore[attr-defined]
    X = linalg().solve_triangular(M, b, upper=upper != transpose, unitriangular=unitriangular)
    return X, A


def symeig(a: Tensor, eigenvectors: bool = False, upper: bool = True) -> tuple[Any, Any]:
    """Eigenvalues, and if asked for eigenvectors, of a symmetric matrix (now torch.linalg.eigh)."""
    values, vectors = linalg().eigh(a, UPLO="U" if upper else "L")
    return values, vectors if eigenvectors else a.new()  # type: ignore[attr-defined]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (btrifact, btrisolve, eig, gels, gesv, potrf, potrs, potri, trtrs, symeig)
}
