"""LU factors with partial pivoting: lu_factor, lu, lu_solve, lu_unpack."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..errors import explain
from ..op import TABLE, Op
from ..outline import of_all
from ..return_types import return_type
from ..tensor import Tensor, fresh, wrap
from ..wrappers import beneath
from .dims import product
from .einsum import unit
from .linalg import any_of, check_matrix, mH, mT, triangular_row, tril, triu
from .slices import getitem

Factor = return_type("linalg_lu_factor", "LU pivots")
FactorEx = return_type("linalg_lu_factor_ex", "LU pivots info")
LU = return_type("linalg_lu", "P L U")
Unpacked = return_type("lu_unpack", "P L U")


# ------------------------------------------------------------------------------------------------ on raw arrays
def factor(a: Any) -> tuple[Any, Any]:
    """L and U in one matrix, and with which row each row was exchanged (counted from 1)."""
    m, n = a.shape[-2:]
    k = min(m, n)
    lu = a.copy().reshape((product(a.shape[:-2]), m, n))
    count = lu.shape[0]
    pivots = devices.zeros((count, k), np.int32, like=a)
    each = devices.arange(count, dtype=np.int64, like=a)
    for j in range(k):
        best = np.abs(lu[:, j:, j]).argmax(1) + j
        pivots[:, j] = best + 1
        here = lu[:, j, :].copy()
        lu[:, j, :] = lu[each, best, :]
        lu[each, best, :] = here
        pivot = lu[:, j, j]
        lu[:, j + 1 :, j] /= (pivot + (pivot == 0)).reshape((-1, 1))  # a column of zeros stays as it is
        lu[:, j + 1 :, j + 1 :] -= lu[:, j + 1 :, j : j + 1] * lu[:, j : j + 1, j + 1 :]
    return lu.reshape(a.shape), pivots.reshape((*a.shape[:-2], k))


def _permutation(like: Any, pivots: Any, p: int) -> Any:
    """The matrix P of A = P·L·U, of size p, in the dtype of `like`."""
    rows = pivots.reshape((product(pivots.shape[:-1]), pivots.shape[-1]))
    count, k = rows.shape
    each = devices.arange(count, dtype=np.int64, like=like)
    order = np.broadcast_to(devices.arange(p, dtype=np.int64, like=like), (count, p)).copy()
    for j in range(k):
        other = rows[:, j].astype(np.int64) - 1
        here = order[:, j].copy()
        order[:, j] = order[each, other]
        order[each, other] = here
    out = devices.zeros((count, p, p), like.dtype, like=like)
    out[each.reshape((-1, 1)), order, devices.arange(p, dtype=np.int64, like=like)] = 1
    return out.reshape((*pivots.shape[:-1], p, p))


permutation: Op = Op(
    "lu_permutation",
    _permutation,
    params=True,
    batch="together",
    doc="The permutation matrix of an LU factorisation.",
)


# ------------------------------------------------------------------------------------------------ the row
def part(x: Any, rows: Any, columns: Any) -> Any:
    """Some rows and columns of each matrix, given as (start, stop)."""
    lead = len(x.shape) - 2
    spans = [() if r is None else (*r, 1) for r in (rows, columns)]
    return getitem(x, p=(*[()] * lead, *spans))


def lower(lu: Any, k: int) -> Any:
    """The factor L, with ones on the diagonal."""
    x = tril(part(lu, None, (0, k)), -1)
    m = x.shape[-2]
    if m == k:
        return x + unit(x, p=k)
    return x + part(unit(x, p=m), None, (0, k))


def upper(lu: Any, k: int) -> Any:
    return triu(part(lu, (0, k), None))


def _rule(g: Any, n: Any) -> Any:
    g = g[0]
    if g is None:
        return None
    lu, (m, size) = n.y[0], n.sa[-2:]
    k = min(m, size)
    L, U = lower(part(lu, (0, k), None), k), upper(part(lu, None, (0, k)), k)
    gl, gu = tril(part(g, None, (0, k)), -1), triu(part(g, (0, k), None))
    rest: Any = None
    if m < size:  # A2 = L·U2
        rest = triangular_row(mH(L), part(gu, None, (k, size)), p=(True, True))
        gl = gl - rest @ mH(part(lu, None, (k, size)))
        gu = part(gu, None, (0, k))
    if m > size:  # A2 = L2·U
        rest = mH(triangular_row(U, mH(part(gl, (k, m), None)), p=(True, False)))
        gu = gu - mH(part(lu, (k, m), None)) @ rest
        gl = part(gl, (0, k), None)
    inner = tril(mH(L) @ gl, -1) + triu(gu @ mH(U))
    left = triangular_row(mH(L), inner, p=(True, True))
    whole = mH(triangular_row(U, mH(left), p=(True, False)))
    if rest is not None:
        whole = TABLE["cat"](whole, rest, p=len(n.sa) - (1 if m < size else 2))
    return permutation(whole, n.y[1], p=m) @ whole


def _tangent(ts: Any, n: Any) -> Any:
    lu, (m, size) = n.y[0], n.sa[-2:]
    k = min(m, size)
    L, U = lower(part(lu, (0, k), None), k), upper(part(lu, None, (0, k)), k)
    t = mT(permutation(ts[0], n.y[1], p=m)) @ ts[0]
    square = part(t, (0, k), (0, k))
    inner = triangular_row(L, mT(triangular_row(mT(U), mT(square), p=(False, False))), p=(False, True))
    dl, du = L @ tril(inner, -1), triu(inner) @ U
    whole = dl + du
    if m < size:
        rest = triangular_row(L, part(t, None, (k, size)) - dl @ part(lu, None, (k, size)), p=(False, True))
        whole = TABLE["cat"](whole, rest, p=len(n.sa) - 1)
    if m > size:
        change = part(t, (k, m), None) - part(lu, (k, m), None) @ du
        rest = mT(triangular_row(mT(U), mT(change), p=(False, False)))
        whole = TABLE["cat"](whole, rest, p=len(n.sa) - 2)
    return whole, None


lu_factor_row: Op = Op(
    "linalg_lu_factor", lambda a, p: factor(a), a=_rule, reads=("y",), jvp=_tangent, params=True, outputs=True,
    node="LinalgLuFactorExBackward0", symbol="LU", partials=("P L⁻ᵀ(tril(Lᵀ gL) + triu(gU Uᵀ))U⁻ᵀ",),
    latex=r"\mathrm{{LU}}({a})", batch="leading",
    doc="The factors of P·L·U with L and U in one matrix, and the exchanged rows.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ public forms
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor`, and for each matrix 0 or the number of the pivot that is zero: (LU, pivots, info).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.lu_factor_ex(torch.tensor([[1., 1.], [1., 1.]])).info
    tensor(2, dtype=torch.int32)
    """
    check_matrix("torch.linalg.lu_factor", A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    lu, pivots = lu_factor_row(A)
    info = beneath(lu, zero_pivots)
    if check_errors and any_of(info):
        raise zero_on_diagonal(int(devices.to_numpy(of_all(info.raw)).max()))
    return FactorEx((lu, pivots, info))


def zero_pivots(lu: Tensor) -> Tensor:
    """For each matrix 0, or which element of the diagonal of U is the first that is zero, counted from 1."""
    host = devices.to_numpy(np.diagonal(lu.raw, 0, -2, -1))
    zero = host == 0
    numbers = np.where(zero.any(-1), zero.argmax(-1) + 1 if host.shape[-1] else 0, 0).astype(np.int32)
    return fresh(devices.asarray(numbers, np.int32, like=lu.raw))


def zero_on_diagonal(k: int) -> RuntimeError:
    return explain(
        RuntimeError,
        f"torch.linalg.lu_factor: U[{k},{k}] is zero and using it on lu_solve would result in a division by zero. If "
        "you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)",
    )


def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """L and U of A = P·L·U in one matrix, and which rows were exchanged, counted from 1: (LU, pivots).

    Raises RuntimeError for a singular matrix.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.lu_factor(torch.tensor([[1., 2.], [4., 4.]])).LU
    tensor([[4.0000, 4.0000],
            [0.2500, 1.0000]])
    """
    lu, pivots, info = lu_factor_ex(A, pivot=pivot)
    if A.raw.shape[-1] == A.raw.shape[-2] and any_of(info):
        raise zero_on_diagonal(int(devices.to_numpy(of_all(info.raw)).max()))
    return Factor((lu, pivots))


def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """The factors of A = P·L·U: a permutation, a lower triangle with ones on the diagonal, an upper triangle.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.lu(torch.tensor([[1., 2.], [4., 4.]])).U
    tensor([[4., 4.],
            [0., 1.]])
    """
    check_matrix("linalg.lu", A)
    m, n = A.raw.shape[-2:]
    both, pivots = lu_factor_row(A)
    k = min(m, n)
    return LU((permutation(both, pivots, p=m), lower(both, k), upper(both, k)))


@public("lu", function=True)
def old_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The LU factors and pivots as a plain tuple (and whether it worked, with `get_infos`).

    >>> import autodiff_kernel as torch
    >>> torch.lu(torch.tensor([[2.]]))[0]
    tensor([[2.]])
    """
    both, pivots, info = lu_factor_ex(A, pivot=pivot)
    return (both, pivots, info) if get_infos else (both, pivots)


@public(method=False)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """The factors (P, L, U) of what lu_factor gives.

    >>> import autodiff_kernel as torch
    >>> torch.lu_unpack(*torch.linalg.lu_factor(torch.tensor([[1., 2.], [4., 4.]]))).L
    tensor([[1.0000, 0.0000],
            [0.2500, 1.0000]])
    """
    check_tensor("lu_unpack", LU_data)
    m, n = LU_data.raw.shape[-2:]
    k = min(m, n)
    none = wrap(devices.zeros((0,), LU_data.raw.dtype, like=LU_data.raw))
    P = permutation(LU_data, LU_pivots, p=m) if unpack_pivots else none
    return Unpacked((P, lower(LU_data, k), upper(LU_data, k)) if unpack_data else (P, none, none))


def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Any = None
) -> Tensor:
    """The solution X of A X = B (X A = B if not `left`, Aᴴ X = B if `adjoint`), given what lu_factor gives for A.

    >>> import autodiff_kernel as torch
    >>> A = torch.tensor([[2., 0.], [0., 4.]])
    >>> torch.linalg.lu_solve(*torch.linalg.lu_factor(A), torch.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    check_matrix("linalg.lu_solve", LU, "LU")
    check_matrix("linalg.lu_solve", B, "B")
    n = LU.raw.shape[-1]
    P: Any = permutation(LU, pivots, p=n)
    if not left:  # X A = B is Aᵀ Xᵀ = Bᵀ
        return into(out, mH(lu_solve(LU, pivots, mH(B), adjoint=not adjoint)))
    if adjoint:
        first = triangular_row(mH(LU), B, p=(False, False))
        return into(out, P @ triangular_row(mH(LU), first, p=(True, True)))
    first = triangular_row(LU, mT(P) @ B, p=(False, True))
    return into(out, triangular_row(LU, first, p=(True, False)))


@public("lu_solve", method=True)
def old_lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
    """The solution x of A x = b, given what lu_factor gives for A; see linalg.lu_solve.

    >>> import autodiff_kernel as torch
    >>> torch.lu_solve(torch.tensor([[4.]]), *torch.linalg.lu_factor(torch.tensor([[2.]])))
    tensor([[2.]])
    """
    return lu_solve(LU_data, LU_pivots, b, out=out)
