"""Symmetric indefinite systems: P·L·D·Lᵀ·Pᵀ with blocks of size 1 and 2 in D (J. R. Bunch and L. Kaufman, "Some stable
methods for calculating inertia and solving symmetric linear systems", Math. Comp. 31 (1977)), in LAPACK's storage.

Not differentiable, as in PyTorch.
"""

from math import sqrt
from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into
from ..errors import explain
from ..op import Op
from ..outline import of_all
from ..return_types import return_type
from ..tensor import Tensor
from .dims import product
from .linalg import any_of, check_square

LDL = return_type("linalg_ldl_factor", "LD pivots")
LDLEx = return_type("linalg_ldl_factor_ex", "LD pivots info")
SHARE = (1 + sqrt(17)) / 8  # how large a pivot must be beside its column, so that elements grow least


# ------------------------------------------------------------------------------------------------ one matrix
def _choose(a: Any, k: int) -> tuple[int, int]:
    """The row that becomes the pivot of step k, and the size of its block; (-1, 1) for a column of zeros."""
    size = abs(a[k, k])
    if k + 1 == len(a):
        return (k, 1) if size else (-1, 1)
    column = np.abs(a[k + 1 :, k])
    largest = k + 1 + int(column.argmax())
    most = column.max()
    if not max(size, most):
        return -1, 1
    if size >= SHARE * most:
        return k, 1
    row = max(np.abs(a[largest, k:largest]).max(), np.abs(a[largest + 1 :, largest]).max(initial=0))
    if size >= SHARE * most * (most / row):
        return k, 1
    return (largest, 1) if abs(a[largest, largest]) >= SHARE * row else (largest, 2)


def _exchange(a: Any, i: int, j: int, k: int) -> None:
    """Exchange rows and columns i < j of the symmetric matrix from k on, of which only the lower triangle is kept."""
    a[j + 1 :, [i, j]] = a[j + 1 :, [j, i]]
    a[i + 1 : j, i], a[j, i + 1 : j] = a[j, i + 1 : j].copy(), a[i + 1 : j, i].copy()
    a[i, i], a[j, j] = a[j, j], a[i, i]
    a[[i, j], k:i] = a[[j, i], k:i]


def _factor(a: Any) -> tuple[Any, Any, int]:
    """L and D in one lower triangle, the exchanged rows (negative for blocks of size 2), and the first zero pivot."""
    n, info, k = len(a), 0, 0
    a = np.tril(a)
    pivots = np.zeros(n, np.int32)
    while k < n:
        row, size = _choose(a, k)
        if row < 0:
            info = info or k + 1
            pivots[k] = k + 1
            k += 1
            continue
        last = k + size - 1
        if row != last:
            _exchange(a, last, row, k)
        pivots[k : k + size] = row + 1 if size == 1 else -(row + 1)
        block = a[k : k + size, k : k + size]
        whole = np.tril(block) + np.tril(block, -1).T
        below = a[k + size :, k : k + size].copy()
        factors = np.linalg.solve(whole, below.T).T
        a[k + size :, k + size :] -= np.tril(factors @ below.T)
        a[k + size :, k : k + size] = factors
        k += size
    return a, pivots, info


def _steps(pivots: Any) -> list[tuple[int, int, int]]:
    """(k, size, row) of each block."""
    out, k = [], 0
    while k < len(pivots):
        size = 1 if pivots[k] > 0 else 2
        out.append((k, size, abs(int(pivots[k])) - 1))
        k += size
    return out


def _solve(ld: Any, pivots: Any, b: Any) -> Any:
    """P·L, then D, then the transposes backwards."""
    x = b.copy()
    steps = _steps(pivots)
    for k, size, row in steps:
        last = k + size - 1
        x[[last, row]] = x[[row, last]]
        x[k + size :] -= ld[k + size :, k : k + size] @ x[k : k + size]
    for k, size, _ in steps:
        block = ld[k : k + size, k : k + size]
        x[k : k + size] = np.linalg.solve(np.tril(block) + np.tril(block, -1).T, x[k : k + size])
    for k, size, row in reversed(steps):
        last = k + size - 1
        x[k : k + size] -= ld[k + size :, k : k + size].T @ x[k + size :]
        x[[last, row]] = x[[row, last]]
    return x


# ------------------------------------------------------------------------------------------------ rows
def _factors(a: Any) -> Any:
    host = devices.to_numpy(a)
    n, lead = a.shape[-1], a.shape[:-2]
    done = [_factor(m) for m in host.reshape((product(lead), n, n))]
    parts = (
        np.array([d[i] for d in done], dtype).reshape(shape)
        for i, dtype, shape in ((0, a.dtype, a.shape), (1, np.int32, a.shape[:-1]), (2, np.int32, lead))
    )
    return tuple(devices.asarray(x, x.dtype, like=a) for x in parts)


def _solutions(a: Any, b: Any, p: Any) -> Any:
    pivots = devices.to_numpy(p)
    ld, right = devices.to_numpy(a), devices.to_numpy(b)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*lead, *b.shape[-2:])
    count = product(lead)
    ld, right = (
        np.broadcast_to(x, (*lead, *x.shape[-2:])).reshape((count, *x.shape[-2:])) for x in (ld, right)
    )
    pivots = np.broadcast_to(pivots, (*lead, pivots.shape[-1])).reshape((count, pivots.shape[-1]))
    done = [_solve(m, q, x) for m, q, x in zip(ld, pivots, right, strict=True)]
    return devices.asarray(np.array(done, b.dtype).reshape(shape), b.dtype, like=b)


ldl_row = Op("linalg_ldl_factor", _factors, outputs=True, batch="leading",
             doc="The factors of P·L·D·Lᵀ·Pᵀ with L and D in one matrix, and the exchanged rows.")  # fmt: skip
solve_row = Op(
    "linalg_ldl_solve", _solutions, params=True, doc="The solution of a symmetric system, given its factors."
)


# ------------------------------------------------------------------------------------------------ public forms
def _checked(name: str, A: Tensor, hermitian: bool) -> None:
    check_square(name, A)
    if hermitian and A.raw.dtype.kind == "c":
        raise NotImplementedError(f"{name}: hermitian=True is not implemented for complex matrices")


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """`ldl_factor`, and for each matrix 0 or the number of the first pivot that is zero: (LD, pivots, info).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    _checked("torch.linalg.ldl_factor_ex", A, hermitian)
    return _found("torch.linalg.ldl_factor_ex", A, check_errors, out, LDLEx)


def _found(name: str, A: Tensor, check_errors: bool, out: Any, kind: Any) -> Any:
    results = ldl_row(A.detach())
    if check_errors and any_of(results[2]):
        k = int(devices.to_numpy(of_all(results[2].raw)).max())
        raise explain(
            RuntimeError,
            f"{name}: the pivot number {k} is zero",
            "The matrix is singular, so that its factors would solve nothing.",
        )
    results = results[: kind.n_fields]
    return kind([into(o, r) for o, r in zip(out, results, strict=True)] if out is not None else results)


def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """The factors of a symmetric matrix A = P·L·D·Lᵀ·Pᵀ, of which only the lower triangle is read: (LD, pivots).

    D has blocks of size 1 and 2 (where pivots are negative).  Raises RuntimeError for singular matrices.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.ldl_factor(torch.tensor([[2., 1.], [1., 2.]])).LD
    tensor([[2.0000, 0.0000],
            [0.5000, 1.5000]])
    """
    _checked("torch.linalg.ldl_factor_ex", A, hermitian)
    return _found("torch.linalg.ldl_factor", A, True, out, LDL)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Any = None) -> Tensor:
    """The solution X of A·X = B for a symmetric matrix A, given what `ldl_factor` gives for it.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.ldl_solve(*torch.linalg.ldl_factor(torch.tensor([[2.]])), torch.tensor([[6.]]))
    tensor([[3.]])
    """
    name = "torch.linalg.ldl_solve"
    _checked(name, LD, hermitian)
    check_tensor(name, pivots, "pivots", 2)
    check_tensor(name, B, "B", 3)
    n = LD.raw.shape[-1]
    if B.raw.ndim < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{B.raw.ndim}, {B.raw.ndim - 1}], but got -2)"
        )
    if LD.raw.dtype != B.raw.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.scalar_type} and A of type "
            f"{LD.dtype.scalar_type} instead."
        )
    if B.raw.shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is {B.raw.shape[-2]} by "
            f"{B.raw.shape[-1]}"
        )
    if pivots.raw.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype.scalar_type}")
    if pivots.raw.shape != LD.raw.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.raw.shape)} instead"
        )
    return into(out, solve_row(LD.detach(), B.detach(), p=pivots.raw))  # type: ignore[no-any-return]
