"""A tensor plus a product: addmm, addmv, addbmm, baddbmm, addr, each beta·input + alpha·(product)."""

from typing import Any

from ..api import check_tensor, into, public
from ..errors import explain
from ..op import Op
from ..tensor import Tensor
from ..walk import unbroadcast
from .products import (
    _mm,
    _mv,
    conj,
    matmul_row,
    mm,
    mm_nt,
    mm_tn,
    mv,
    mv_t,
    not_batched,
    other_dtypes,
    outer_row,
    turned,
)
from .reductions import sum_row
from .shapes import expand_row, reshape
from .writing import check_sizes

BMM = "BmmBackward0"


def scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


def _sum_row(
    name: str,
    product: Any,
    again: Any,
    second: Any,
    third: Any,
    partials: tuple[str, str],
    doc: str,
    batch: str,
) -> Op:
    """The row of beta·a + alpha·product(b, c); p is (beta, alpha).

    product: on raw arrays.  again: the same by rows.  second, third: the rules of the product's two factors.
    """

    def fwd(a: Any, b: Any, c: Any, p: Any) -> Any:
        beta, alpha = p
        y = product(b, c)
        if alpha != 1:
            y = y * alpha
        y = y if beta == 0 else y + a if beta == 1 else y + a * beta
        return y if y.dtype.kind == "f" else y.astype(a.dtype)

    def jvp(ts: Any, n: Any) -> Any:
        beta, alpha = n.p
        terms = [
            expand_row(scaled(ts[0], beta), p=n.sy) if ts[0] is not None else None,
            scaled(again(ts[1], n.c), alpha) if ts[1] is not None else None,
            scaled(again(n.b, ts[2]), alpha) if ts[2] is not None else None,
        ]
        total = None
        for t in terms:
            total = t if total is None else total if t is None else total + t
        return total

    return Op(
        name, fwd, lambda g, n: unbroadcast(scaled(g, n.p[0]), n.sa), lambda g, n: second(scaled(g, n.p[1]), n),
        lambda g, n: third(scaled(g, n.p[1]), n), reads=("", "c", "b"), jvp=jvp, params=True, symbol="+@",
        partials=("β", *partials), latex=r"\beta {a} + \alpha {b} {c}", batch=batch, doc=doc,
    )  # fmt: skip


addmm_row = _sum_row(
    "addmm", _mm, mm, lambda g, n: mm_nt(g, n.c), lambda g, n: mm_tn(n.b, g),
    ("α{c}ᵀ from the right", "α{b}ᵀ from the left"), "A tensor plus the product of two matrices.", "+ij,jk->ik",
)  # fmt: skip
addmv_row = _sum_row(
    "addmv", _mv, mv, lambda g, n: outer_row(g, n.c), lambda g, n: mv_t(n.b, g),
    ("α{c}ᵀ from the right", "α{b}ᵀ from the left"), "A tensor plus the product of a matrix and a vector.", "+ij,j->i",
)  # fmt: skip
addr_row = _sum_row(
    "addr", lambda b, c: b.reshape((-1, 1)) * c, lambda b, c: outer_row(b, conj(c)), lambda g, n: mv(g, conj(n.c)),
    lambda g, n: conj(mv_t(g, n.b)), ("α{c} from the right", "α{b} from the left"),
    "A tensor plus the outer product of two vectors.", "+i,j->ij",
)  # fmt: skip


def _bmm(b: Any, c: Any) -> Any:
    return matmul_row(b, c, p=BMM)


def _summed(b: Any, c: Any) -> Any:
    return sum_row(_bmm(b, c), p=((0,), False))


def _every(g: Any, n: Any) -> Any:
    """The cotangent of a sum over the batch, for each matrix of the batch."""
    return expand_row(reshape(g, p=(1, *n.sy)), p=(n.sb[0], *n.sy))


baddbmm_row = _sum_row(
    "baddbmm", _bmm, _bmm, lambda g, n: matmul_row(g, turned(n.c, 3), p=BMM),
    lambda g, n: matmul_row(turned(n.b, 3), g, p=BMM), ("α{c}ᵀ from the right", "α{b}ᵀ from the left"),
    "A tensor plus the products of two batches of matrices.", "+bij,bjk->bik",
)  # fmt: skip
addbmm_row = _sum_row(
    "addbmm", _summed, _summed, lambda g, n: matmul_row(_every(g, n), turned(n.c, 3), p=BMM),
    lambda g, n: matmul_row(turned(n.b, 3), _every(g, n), p=BMM), ("α{c}ᵀ from the right", "α{b}ᵀ from the left"),
    "A tensor plus the sum of the products of two batches of matrices.", "+bij,bjk->ik",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ public forms
def _checked(
    name: str, row: Op, xs: tuple[Any, Any, Any], dims: tuple[int, int], shape: Any, beta: Any, alpha: Any
) -> Tensor:
    """Run the row after PyTorch's checks.  `shape`: the product's shape, of the factors' shapes, or an error."""
    words = {1: "vector", 2: "matrix", 3: "3D tensor"}
    for x, argument, position in zip(xs, ("input", "mat1", "mat2"), (1, 2, 3)):
        check_tensor(name, x, argument, position)
    for x, ndim, argument in zip(xs[1:], dims, ("mat1", "mat2")):
        if x.raw.ndim != ndim:
            raise explain(RuntimeError, f"{argument} must be a {words[ndim]}, got {x.raw.ndim}-D tensor")
    for first, second in ((1, 2), (0, 2)):
        a, b = xs[first], xs[second]
        if a.raw.dtype != b.raw.dtype:
            text = "" if first else (
                f"self and mat2 must have the same dtype, but got {a.dtype.scalar_type} and {b.dtype.scalar_type}"
            )  # fmt: skip
            raise other_dtypes(a.raw, b.raw, text)
    if xs[0].raw.dtype.kind in "iub" and (isinstance(beta, float) or isinstance(alpha, float)):
        if name not in ("addbmm", "baddbmm"):
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number."
            )
        beta, alpha = int(beta), int(alpha)
    result = shape(xs[1].raw.shape, xs[2].raw.shape)
    if isinstance(result, tuple):
        check_sizes(result, xs[0].raw)
    return row(*xs, p=(beta, alpha))  # type: ignore[no-any-return]


def _matrix_shape(a: tuple[int, ...], b: tuple[int, ...]) -> Any:
    return (a[0], b[1]) if a[1] == b[0] else None  # None: the product itself raises the error


def _batch_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if a[0] != b[0] or a[2] != b[1]:
        raise not_batched((a[0], a[2]), (b[0], b[1]))
    return a[0], a[1], b[2]


@public(inplace=True, row=addmm_row)
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta·input + alpha·(mat1 @ mat2), for matrices (n, m) and (m, p); the input broadcasts to (n, p).

    >>> import autodiff_kernel as torch
    >>> torch.addmm(torch.ones(1), torch.tensor([[1., 2.]]), torch.tensor([[3.], [4.]]), alpha=2)
    tensor([[23.]])
    """
    return into(out, _checked("addmm", addmm_row, (input, mat1, mat2), (2, 2), _matrix_shape, beta, alpha))


@public(inplace=True, row=addmv_row)
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta·input + alpha·(mat @ vec), for a matrix (n, m) and a vector (m); the input broadcasts to (n).

    >>> import autodiff_kernel as torch
    >>> torch.addmv(torch.ones(2), torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([4., 8.])
    """

    def shape(a: tuple[int, ...], b: tuple[int, ...]) -> Any:
        own = input.raw.shape[0] if input.raw.ndim else 1
        if a[1] != b[0] or own not in (1, a[0]):
            raise explain(
                RuntimeError, f"size mismatch, got input ({own}), mat ({a[0]}x{a[1]}), vec ({b[0]})"
            )
        return (a[0],)

    return into(out, _checked("addmv", addmv_row, (input, mat, vec), (2, 1), shape, beta, alpha))


@public(inplace=True, row=addr_row)
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta·input + alpha·(the outer product of two vectors).

    >>> import autodiff_kernel as torch
    >>> torch.addr(torch.zeros(2, 2), torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    return into(
        out, _checked("addr", addr_row, (input, vec1, vec2), (1, 1), lambda a, b: (a[0], b[0]), beta, alpha)
    )


@public(inplace=True, row=baddbmm_row)
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta·input + alpha·(batch1 @ batch2), for batches (b, n, m) and (b, m, p).

    >>> import autodiff_kernel as torch
    >>> torch.baddbmm(torch.ones(1), torch.ones(1, 1, 2), torch.ones(1, 2, 1))
    tensor([[[3.]]])
    """
    return into(
        out, _checked("baddbmm", baddbmm_row, (input, batch1, batch2), (3, 3), _batch_shape, beta, alpha)
    )


@public(inplace=True, row=addbmm_row)
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta·input + alpha·(the sum of the products batch1[i] @ batch2[i]).

    >>> import autodiff_kernel as torch
    >>> torch.addbmm(torch.zeros(1, 1), torch.ones(3, 1, 2), torch.ones(3, 2, 1))
    tensor([[6.]])
    """

    def shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return _batch_shape(a, b)[1:]

    return into(out, _checked("addbmm", addbmm_row, (input, batch1, batch2), (3, 3), shape, beta, alpha))
