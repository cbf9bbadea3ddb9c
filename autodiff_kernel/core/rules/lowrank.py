"""Singular values of large matrices from a few random directions: svd_lowrank, pca_lowrank.

The method of Halko, Martinsson and Tropp, "Finding structure with randomness" (2011): a random matrix shows where the
matrix stretches most, a few multiplications back and forth sharpen that, and the small problem left is solved exactly.
"""

from typing import Any

from ..api import FUNCTIONS, check_tensor
from ..tensor import Tensor
from .linalg import mH
from .spectral import qr, svd


def basis(A: Any, q: int, rounds: int, M: Any) -> Any:
    """Orthonormal columns (…, m, q) that span most of what A − M reaches."""
    from ..draws import randn

    def ahead(x: Any) -> Any:
        return A @ x if M is None else A @ x - M @ x

    def back(x: Any) -> Any:
        return mH(A) @ x if M is None else mH(A) @ x - mH(M) @ x

    directions = qr(ahead(randn(A.raw.shape[-1], q, dtype=A.dtype, device=A.device)))[0]
    for _ in range(rounds):
        directions = qr(ahead(qr(back(directions))[0]))[0]
    return directions


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """The about q largest singular values of A − M with their vectors: (U, S, V), A − M ≈ U·diag(S)·Vᵀ.

    niter: how often the random directions are sharpened.  The result depends on the state of the random generator.

    >>> import autodiff_kernel as torch
    >>> U, S, V = torch.svd_lowrank(torch.ones(4, 3), q=2)
    >>> U.shape, S.shape, V.shape
    (torch.Size([4, 2]), torch.Size([2]), torch.Size([3, 2]))
    """
    check_tensor("svd_lowrank", A, "A")
    m, n = A.raw.shape[-2:]
    a: Any = A
    if M is not None:
        M = M.broadcast_to(A.shape)
    if m < n:
        a, M = mH(a), None if M is None else mH(M)
    q_matrix = basis(a, 6 if q is None else q, 2 if niter is None else niter, M)
    small = mH(q_matrix) @ a
    if M is not None:
        small = small - mH(q_matrix) @ M
    u, s, vh = svd(small, full_matrices=False)
    left, right = q_matrix @ u, mH(vh)
    return (right, s, left) if m < n else (left, s, right)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """The about q principal components of the rows of A: (U, S, V); the columns of V are the directions.

    Raises ValueError unless 0 <= q <= min(m, n).

    >>> import autodiff_kernel as torch
    >>> torch.pca_lowrank(torch.ones(4, 3), q=2)[2].shape
    torch.Size([3, 2])
    """
    check_tensor("pca_lowrank", A, "A")
    m, n = A.raw.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    a: Any = A
    return svd_lowrank(a - a.mean(-2, keepdim=True) if center else a, q, niter)


FUNCTIONS["svd_lowrank"], FUNCTIONS["pca_lowrank"] = svd_lowrank, pca_lowrank
