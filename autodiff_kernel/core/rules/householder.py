"""Products of Householder reflections: geqrf, householder_product, ormqr."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import FUNCTIONS, attach, check_tensor, into, public
from ..errors import explain
from ..op import Op
from ..return_types import return_type
from ..tensor import Tensor
from .einsum import unit
from .linalg import as_column, check_matrix, mH
from .lu import part, tril

Geqrf = return_type("geqrf", "a tau")


def _geqrf(a: Any, p: Any) -> Any:
    if not a.shape[-1] or not a.shape[-2]:
        return a.copy(), devices.zeros((*a.shape[:-2], 0), a.dtype, like=a)
    h, tau = np.linalg.qr(a, mode="raw")
    return np.swapaxes(h, -2, -1).copy(), tau


geqrf_row: Op = Op(
    "geqrf", _geqrf, params=True, outputs=True, batch="leading", doc="The reflections of a QR factorisation."
)


@public()
def geqrf(input: Tensor, *, out: Any = None) -> Any:
    """R and, below it, the vectors of the reflections whose product is Q, with their factors: (a, tau).

    >>> import autodiff_kernel as torch
    >>> torch.geqrf(torch.tensor([[2.]])).tau
    tensor([0.])
    """
    check_matrix("geqrf", input, "input")
    return Geqrf(geqrf_row(input))


def reflections(A: Tensor, tau: Tensor) -> Any:
    """The square product (I − τ₁ v₁ v₁ᵀ)(I − τ₂ v₂ v₂ᵀ)… of vectors below the diagonal of A, with 1 on it."""
    m, k = A.raw.shape[-2], tau.raw.shape[-1]
    one: Any = unit(A, p=m)
    v = tril(part(A, None, (0, k)), -1) + part(one, None, (0, k))
    q: Any = one
    for i in range(k):
        column: Any = part(v, None, (i, i + 1))
        factor: Any = as_column(tau[..., i : i + 1])  # type: ignore[index]
        q = q - (q @ column) @ (mH(column) * factor)
    return q


def householder_product(A: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
    """The first columns of the product of reflections that geqrf gives: the Q of A = Q·R.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.householder_product(*torch.geqrf(torch.tensor([[2.], [0.]])))
    tensor([[1.],
            [0.]])
    """
    check_matrix("linalg.householder_product", A)
    check_tensor("linalg.householder_product", tau, "tau", 2)
    m, n = A.raw.shape[-2:]
    least = "must be greater than or equal to"
    if m < n:
        raise RuntimeError(f"torch.linalg.householder_product: input.shape[-2] {least} input.shape[-1]")
    if n < tau.raw.shape[-1]:
        raise RuntimeError(f"torch.linalg.householder_product: input.shape[-1] {least} tau.shape[-1]")
    q: Any = part(reflections(A, tau), None, (0, n))
    return into(out, q if tau.raw.shape[-1] else q + A * 0)  # of no reflections, but A's in the graph


FUNCTIONS["orgqr"] = householder_product
attach("orgqr", householder_product)


@public()
def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False, *, out: Any = None
) -> Tensor:
    """The product of the square Q of reflections (or its transpose) with a matrix, from the left or the right.

    >>> import autodiff_kernel as torch
    >>> torch.ormqr(*torch.geqrf(torch.tensor([[2.], [0.]])), torch.tensor([[1.], [3.]]))
    tensor([[1.],
            [3.]])
    """
    check_matrix("torch.ormqr", input, "input")
    check_matrix("torch.ormqr", other, "other")
    m, size = input.raw.shape[-2], other.raw.shape[-2 if left else -1]
    if m != size:
        raise explain(
            RuntimeError, f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]"
        )
    q = reflections(input, tau)
    if transpose:
        q = mH(q)
    return into(out, q @ other if left else other @ q)
