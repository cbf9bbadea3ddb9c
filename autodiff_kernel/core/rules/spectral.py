"""Decompositions: QR, eigenvalues, singular values.

Formulas of the derivatives: Giles (2008) for eigh and svd; Walter and Lehmann (2018) for QR.
"""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..errors import explain
from ..op import TABLE, Op
from ..return_types import return_type
from ..tensor import Tensor
from .casting import recast
from .einsum import unit
from .linalg import (
    _LinAlgError,
    as_column,
    as_row,
    check_matrix,
    check_square,
    diagonal_of,
    is_complex,
    mH,
    mT,
    solve_row,
    triangular_row,
    tril,
)
from .lu import part
from .products import conj
from .slices import getitem_back

QR = return_type("linalg_qr", "Q R")
OldQR = return_type("qr", "Q R")
Eigh = return_type("linalg_eigh", "eigenvalues eigenvectors")
Eig = return_type("linalg_eig", "eigenvalues eigenvectors")
SVD = return_type("linalg_svd", "U S Vh")
OldSVD = return_type("svd", "U S V")


def added(*terms: Any) -> Any:
    """The sum of the terms that are not None."""
    total = None
    for t in terms:
        total = t if total is None else total if t is None else total + t
    return total


def off_diagonal(x: Any) -> Any:
    return x - x * unit(x, p=x.shape[-1])


def on_diagonal(w: Any) -> Any:
    return as_row(w) * unit(w, p=w.shape[-1])


def gaps(w: Any) -> Any:
    """w_j − w_i for each pair, with ones on the diagonal (where nothing is divided)."""
    return as_row(w) - as_column(w) + unit(w, p=w.shape[-1])


def real(x: Any) -> Any:
    return x.real if is_complex(x) else x


def alike(x: Any, v: Any) -> Any:
    """x in v's dtype: what is real among complex factors."""
    return recast(x, getattr(v, "raw", v).dtype) if is_complex(v) and not is_complex(x) else x


def check_phases(name: str, vectors: str, turns: Any) -> None:
    """PyTorch's error where a result would change with the free phase of complex vectors; turns: what it gains."""
    found = devices.to_numpy(getattr(turns, "raw", turns))
    if np.abs(found).max(initial=0) > 1e-2:
        raise explain(
            RuntimeError,
            f"{name}: The {vectors} in the complex case are specified up to multiplication by e^{{i phi}}. The specified "
            "loss function depends on this phase term, making it ill-defined.",
            "Another library, or the next version of this one, may give the vectors another phase.",
            "let the loss depend on what has no phase: absolute values, or products of a vector with its conjugate.",
        )


# ------------------------------------------------------------------------------------------------ QR
def _qr(a: Any, p: Any) -> Any:
    if p == "r":
        return devices.zeros((0,), a.dtype, like=a), np.linalg.qr(a, mode="r")
    return tuple(np.linalg.qr(a, mode=p))


def _divided(x: Any, r: Any) -> Any:
    """x·R⁻¹ for an upper triangular R."""
    return mT(triangular_row(mT(r), mT(x), p=(False, False)))


def _square_back(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """The rule of QR for matrices with at least as many rows as columns."""
    m = added(None if gr is None else r @ mH(gr), None if gq is None else -(mH(gq) @ q))
    low = tril(m, -1)
    main = on_diagonal(real(diagonal_of(m))) if is_complex(m) else None  # the diagonal of R stays real
    whole = added(gq, q @ (tril(m) + mH(low) if main is None else low + mH(low) + main))
    return mH(triangular_row(r, mH(whole), p=(True, False)))


def _qr_rule(g: Any, n: Any) -> Any:
    (gq, gr), (q, r) = g, n.y
    m, size = n.sa[-2:]
    if n.p == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to require gradients through Q."
        )
    if n.p == "complete" and m > size:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    if m >= size:
        return _square_back(gq, gr, q, r)
    # A = [X | Y] with X = Q·U and Y = Q·V
    u, v = part(r, None, (0, m)), part(r, None, (m, size))
    if gr is None:
        gy: Any = q @ (v * 0)
        return TABLE["cat"](_square_back(gq, None, q, u), gy, p=len(n.sa) - 1)
    gu, gv = part(gr, None, (0, m)), part(gr, None, (m, size))
    gx = _square_back(added(gq, q @ v @ mH(gv)), gu, q, u)
    return TABLE["cat"](gx, q @ gv, p=len(n.sa) - 1)


def _square_tangent(t: Any, q: Any, r: Any) -> Any:
    x = _divided(t, r)
    c = mH(q) @ x
    low = tril(c, -1)
    turn = low - mH(low)
    if is_complex(c):  # the diagonal of R stays real
        turn = turn + on_diagonal(diagonal_of(c).imag * 1j)
    return q @ turn + x - q @ c, (c - turn) @ r


def _qr_tangent(ts: Any, n: Any) -> Any:
    q, r = n.y
    m, size = n.sa[-2:]
    if n.p == "r" or n.p == "complete" and m > size:
        raise RuntimeError(f"linalg.qr has no forward mode when mode='{n.p}'")
    if m >= size:
        return _square_tangent(ts[0], q, r)
    u, v = part(r, None, (0, m)), part(r, None, (m, size))
    dq, du = _square_tangent(part(ts[0], None, (0, m)), q, u)
    dv = mH(dq) @ q @ v + mH(q) @ part(ts[0], None, (m, size))
    return dq, TABLE["cat"](du, dv, p=len(n.sa) - 1)


# p is the mode
qr_row: Op = Op(
    "linalg_qr", _qr, a=_qr_rule, reads=("y",), jvp=_qr_tangent, params=True, outputs=True, symbol="QR",
    partials=("(gQ + Q copyltu(R gRᵀ − gQᵀ Q)) R⁻ᵀ",), latex=r"\mathrm{{QR}}({a})",
    batch="leading", doc="An orthogonal matrix and an upper triangle whose product is the input.",
)  # fmt: skip


def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:
    """A = Q·R with orthonormal columns Q and an upper triangular R: (Q, R).

    mode: 'reduced', 'complete' (Q is square) or 'r' (R alone; Q is empty).

    >>> import autodiff_kernel as torch
    >>> Q, R = torch.linalg.qr(torch.tensor([[3., 0.], [4., 5.]]))
    >>> (Q @ R).round()
    tensor([[3., 0.],
            [4., 5.]])
    """
    check_matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return QR(qr_row(A, p=mode))


@public("qr")
def old_qr(input: Tensor, some: bool = True, *, out: Any = None) -> Any:
    """A = Q·R, reduced if `some`, else complete; see linalg.qr.

    >>> import autodiff_kernel as torch
    >>> torch.qr(torch.tensor([[2.]])).R.abs()
    tensor([[2.]])
    """
    check_matrix("linalg.qr", input)
    return OldQR(qr_row(input, p="reduced" if some else "complete"))


# ------------------------------------------------------------------------------------------------ eigh
def _eigh(a: Any, p: Any) -> Any:
    try:
        return tuple(np.linalg.eigh(a, p))
    except np.linalg.LinAlgError as error:
        raise explain(_LinAlgError, f"linalg.eigh: The algorithm failed to converge ({error})") from None


def _eigh_rule(g: Any, n: Any) -> Any:
    (gw, gv), (w, v) = g, n.y
    inner: Any = None
    if gv is not None:
        m = mH(v) @ gv
        if is_complex(m):
            check_phases("linalg_eigh_backward", "eigenvectors", diagonal_of(m).imag)
        inner = off_diagonal(m) / gaps(w)
    inner = added(inner, None if gw is None else on_diagonal(gw))
    return v @ alike(inner, v) @ mH(v)


def _eigh_tangent(ts: Any, n: Any) -> Any:
    w, v = n.y
    m = mH(v) @ ts[0] @ v
    return real(diagonal_of(m)), v @ (off_diagonal(m) / gaps(w))


# p is the triangle that is read
eigh_row: Op = Op(
    "linalg_eigh", _eigh, a=_eigh_rule, reads=("y",), jvp=_eigh_tangent, params=True, outputs=True, symbol="eigh",
    partials=("V(diag(gλ) + (Vᵀ gV)/(λj − λi))Vᵀ",), latex=r"\mathrm{{eigh}}({a})",
    batch="leading", doc="Eigenvalues and orthonormal eigenvectors of a symmetric matrix.",
)  # fmt: skip


def check_triangle(name: str, UPLO: str) -> str:
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


def eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues in ascending order and the eigenvectors (as columns) of symmetric (Hermitian) matrices.

    Only the lower triangle is read, or the upper one with UPLO='U'.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    check_square("linalg.eigh", A)
    return Eigh(eigh_row(A, p=check_triangle("linalg.eigh", UPLO)))


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Tensor:
    """The eigenvalues of symmetric (Hermitian) matrices, in ascending order.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2., 0.], [0., 1.]]))
    tensor([1., 2.])
    """
    check_square("linalg.eigvalsh", A)
    return into(out, eigh_row(A, p=check_triangle("linalg.eigvalsh", UPLO))[0])


# ------------------------------------------------------------------------------------------------ eig
def complex_of(dtype: Any) -> Any:
    return np.result_type(dtype, np.complex64)


def _eig(a: Any, p: Any) -> Any:
    values, vectors = np.linalg.eig(a)
    kind = complex_of(a.dtype)
    return values.astype(kind), vectors.astype(kind)


def _eig_rule(g: Any, n: Any) -> Any:
    """V⁻ᴴ(diag(gλ) + (VᴴgV − VᴴV diag(Re(VᴴgV)))/(λj − λi)*)Vᴴ."""
    (gw, gv), (w, v) = g, n.y
    vh, inner = mH(v), None if gw is None else on_diagonal(gw)
    if gv is not None:
        m = vh @ gv
        main = diagonal_of(m)
        check_phases("linalg_eig_backward", "eigenvectors", main.imag)
        inner = added(inner, off_diagonal((m - (vh @ v) * as_row(main.real)) / conj(gaps(w))))
    out = solve_row(vh, inner @ vh)
    return out.real if n.p else out


def _eig_tangent(ts: Any, n: Any) -> Any:
    w, v = n.y
    d = solve_row(v, alike(ts[0], v) @ v)
    dv = v @ off_diagonal(d / gaps(w))
    longer = diagonal_of(mH(v) @ dv).real  # the vectors keep their length
    return diagonal_of(d), dv - v * as_row(longer)


# p: whether the input is real
eig_row: Op = Op(
    "linalg_eig", _eig, a=_eig_rule, reads=("y",), jvp=_eig_tangent, params=True, outputs=True, symbol="eig",
    partials=("V⁻ᵀ diag(gλ) Vᵀ + …",), latex=r"\mathrm{{eig}}({a})", batch="leading",
    doc="Eigenvalues and eigenvectors of a matrix.",
)  # fmt: skip


def eig(A: Tensor, *, out: Any = None) -> Any:
    """The eigenvalues and eigenvectors (as columns, of length 1) of square matrices, as complex numbers.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.eig(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([2.+0.j, 1.+0.j])
    """
    check_square("linalg.eig", A)
    return Eig(eig_row(A, p=A.raw.dtype.kind != "c"))


def eigvals(A: Tensor, *, out: Any = None) -> Tensor:
    """The eigenvalues of square matrices, as complex numbers.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.eigvals(torch.tensor([[0., 1.], [-1., 0.]]))
    tensor([0.+1.j, 0.-1.j])
    """
    check_square("linalg.eigvals", A)
    return into(out, eig_row(A, p=A.raw.dtype.kind != "c")[0])


# ------------------------------------------------------------------------------------------------ SVD
def _svd(a: Any, p: bool) -> Any:
    try:
        return tuple(np.linalg.svd(a, full_matrices=p))
    except np.linalg.LinAlgError as error:
        raise explain(_LinAlgError, f"linalg.svd: The algorithm failed to converge ({error})") from None


def _narrow(x: Any, k: int, columns: bool) -> Any:
    """The first k columns (or rows), which belong to singular values."""
    if x is None or x.shape[-1 if columns else -2] == k:
        return x
    return part(x, None, (0, k)) if columns else part(x, (0, k), None)


def _svd_rule(g: Any, n: Any) -> Any:
    m, size = n.sa[-2:]
    k = min(m, size)
    gu, gs, gvh = _narrow(g[0], k, True), g[1], _narrow(g[2], k, False)
    u, s, vh = _narrow(n.y[0], k, True), n.y[1], _narrow(n.y[2], k, False)
    squares = gaps(s * s)
    inner = None if gs is None else on_diagonal(gs)
    extra: Any = None
    if is_complex(u) and (gu is not None or gvh is not None):
        inner = added(inner, on_diagonal(_svd_phases(gu, gvh, u, vh) / s * 1j))
    if gu is not None:
        c = mH(u) @ gu
        inner = added(inner, (c - mH(c)) / squares * as_row(s))
        if m > k:
            extra = (gu - u @ c) / as_row(s) @ vh
    if gvh is not None:
        c = vh @ mH(gvh)
        inner = added(inner, as_column(s) * ((c - mH(c)) / squares))
        if size > k:
            extra = added(extra, u @ ((gvh - gvh @ mH(vh) @ vh) / as_column(s)))
    return added(None if inner is None else u @ alike(inner, u) @ vh, extra)


def _svd_phases(gu: Any, gvh: Any, u: Any, vh: Any) -> Any:
    """How much the result turns with each left vector; with both vectors of a pair together it must not turn."""
    left: Any = None if gu is None else diagonal_of(mH(u) @ gu).imag
    right: Any = None if gvh is None else diagonal_of(vh @ mH(gvh)).imag
    check_phases("svd_backward", "singular vectors", added(left, right))
    return -right if left is None else left if right is None else (left - right) / 2


def _svd_tangent(ts: Any, n: Any) -> Any:
    m, size = n.sa[-2:]
    k = min(m, size)
    u, s, vh = _narrow(n.y[0], k, True), n.y[1], _narrow(n.y[2], k, False)
    v, t = mH(vh), ts[0]
    c = mH(u) @ t @ v
    squares, off = gaps(s * s), off_diagonal(c)
    du = u @ ((off * as_row(s) + as_column(s) * mH(off)) / squares)
    dv = v @ ((as_column(s) * off + mH(off) * as_row(s)) / squares)
    if is_complex(c):  # the phases of a pair are free; each turns by half of what both must
        half = as_row(diagonal_of(c).imag / (2 * s) * 1j)
        du, dv = du + u * half, dv - v * half
    if m > k:
        du = du + (t @ v - u @ c) / as_row(s)
    if size > k:
        dv = dv + (mH(t) @ u - v @ mH(c)) / as_row(s)
    dvh = mH(dv)
    lead = [()] * (len(n.sa) - 2)
    if n.p and m > k:  # the other columns are any basis of the rest
        du = getitem_back(du, p=((*lead, (), (0, k, 1)), (*n.sa[:-2], m, m)))
    if n.p and size > k:
        dvh = getitem_back(dvh, p=((*lead, (0, k, 1)), (*n.sa[:-2], size, size)))
    return du, real(diagonal_of(c)), dvh


# p: whether U and Vᴴ are square
svd_row: Op = Op(
    "linalg_svd", _svd, a=_svd_rule, reads=("y",), jvp=_svd_tangent, params=True, outputs=True, symbol="SVD",
    partials=("U(skew(Uᵀ gU)/E·S + S·skew(Vᵀ gV)/E + diag(gS))Vᵀ",), latex=r"\mathrm{{svd}}({a})",
    batch="leading", doc="Orthonormal columns, singular values and orthonormal rows whose product is the input.",
)  # fmt: skip


def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None, out: Any = None) -> Any:
    """A = U·diag(S)·Vh with orthonormal columns U, singular values S in descending order, orthonormal rows Vh.

    With `full_matrices` U and Vh are square, else (…, m, k) and (…, k, n) with k = min(m, n).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    check_matrix("linalg.svd", A)
    return SVD(svd_row(A, p=bool(full_matrices)))


def svdvals(A: Tensor, *, driver: Any = None, out: Any = None) -> Tensor:
    """The singular values of each matrix, in descending order.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.svdvals(torch.tensor([[3., 0.], [0., 4.]]))
    tensor([4., 3.])
    """
    check_matrix("linalg.svdvals", A)
    return into(out, svd_row(A, p=False)[1])


@public("svd")
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """A = U·diag(S)·Vᴴ: (U, S, V), reduced if `some`; see linalg.svd, which gives Vᴴ.

    >>> import autodiff_kernel as torch
    >>> torch.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    check_tensor("svd", input)
    check_matrix("linalg.svd", input)
    u, s, vh = svd_row(input, p=not some)
    if not compute_uv:
        (m, n), lead = input.raw.shape[-2:], input.raw.shape[:-2]
        zeros = TABLE["zeros_like"]
        square = [TABLE["expand"](zeros(unit(input, p=k)), p=(*lead, k, k)) for k in (m, n)]
        return OldSVD((square[0], s, square[1]))
    return OldSVD((u, s, mH(vh)))
