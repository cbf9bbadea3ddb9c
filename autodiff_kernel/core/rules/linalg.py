"""Linear algebra: inverse, determinant, systems of equations.

Rules are written with operators and other rows, so that they hold to any order; the formulas are those of
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..errors import explain
from ..failures import shape_clash
from ..op import TABLE, Op
from ..outline import of_all
from ..return_types import return_type
from ..tensor import Tensor, fresh
from ..wrappers import beneath
from .dims import product
from .einsum import unit
from .orders import transpose_row
from .products import conj
from .reductions import sum_row
from .shapes import reshape


class _LinAlgError(RuntimeError):
    """A matrix that does not allow what was asked: a singular one to be inverted, for example."""


LinAlgError = _LinAlgError
InvEx = return_type("linalg_inv_ex", "inverse info")
SolveEx = return_type("linalg_solve_ex", "result info")
Slogdet = return_type("linalg_slogdet", "sign logabsdet")
OldSlogdet = return_type("slogdet", "sign logabsdet")
Triangular = return_type("triangular_solve", "solution cloned_coefficient")


# ------------------------------------------------------------------------------------------------ parts of formulas
def mT(x: Any) -> Any:
    """The transposes of a batch of matrices (raw arrays, Tensors or dual numbers)."""
    return transpose_row(x, p=(-2, -1))


def mH(x: Any) -> Any:
    return conj(mT(x))


def as_row(w: Any) -> Any:
    """Vectors as matrices of one row, which multiply columns."""
    s = tuple(w.shape)
    return reshape(w, p=(*s[:-1], 1, s[-1]))


def as_column(w: Any) -> Any:
    return reshape(w, p=(*tuple(w.shape), 1))


def as_matrix(g: Any) -> Any:
    """A number per matrix as a 1×1 matrix, which multiplies it."""
    return reshape(g, p=(*tuple(g.shape), 1, 1))


def diagonal_of(x: Any) -> Any:
    ndim = len(x.shape)
    return TABLE["diagonal"](x, p=(0, ndim - 2, ndim - 1))


def tril(x: Any, k: int = 0) -> Any:
    return TABLE["tril"](x, p=k)


def triu(x: Any, k: int = 0) -> Any:
    return TABLE["triu"](x, p=k)


def total(x: Any) -> Any:
    """The sum of each matrix's elements."""
    ndim = len(x.shape)
    return sum_row(x, p=((ndim - 2, ndim - 1), False))


# ------------------------------------------------------------------------------------------------ checks
def check_matrix(name: str, x: Any, letter: str = "A") -> None:
    """PyTorch's errors for what is no batch of matrices of floating point numbers."""
    check_tensor(name, x, letter)
    if x.raw.ndim < 2:
        raise explain(
            RuntimeError,
            f"{name}: The input tensor {letter} must have at least 2 dimensions.",
            f"It has shape {list(x.raw.shape)}.",
        )
    check_floating(name, x)


def check_floating(name: str, x: Any) -> None:
    kind = x.raw.dtype.kind
    if kind not in "fc":
        raise explain(
            RuntimeError,
            f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype.scalar_type}",
            cure="convert it with .float().",
        )
    if x.raw.dtype == np.float16:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def check_square(name: str, x: Any, letter: str = "A") -> None:
    check_matrix(name, x, letter)
    m, n = x.raw.shape[-2:]
    if m != n:
        raise explain(
            RuntimeError,
            f"{name}: {letter} must be batches of square matrices, but they are {m} by {n} matrices",
        )


def one_by_one(raw: Any) -> Any:
    """The matrices of a batch on the CPU, each with its number, or None for the only one."""
    host = devices.to_numpy(raw)
    if host.ndim == 2:
        return [(None, host)]
    return list(enumerate(host.reshape((product(host.shape[:-2]), *host.shape[-2:]))))


def batch_text(number: Any) -> str:
    return "" if number is None else f"(Batch element {number}): "


def zero_pivot(matrix: Any) -> int:
    """Which pivot of a singular matrix is zero, counted from 1; 0 for a regular one."""
    from .lu import factor

    pivots = np.diagonal(factor(matrix)[0])
    found = np.nonzero(pivots == 0)[0]
    return int(found[0]) + 1 if found.size else 0


def singular(raw: Any, name: str) -> _LinAlgError:
    """The error for the first singular matrix of a batch."""
    for number, matrix in one_by_one(raw):
        k = zero_pivot(matrix)
        if k:
            what = (
                f"The diagonal element {k} is zero, the inversion could not be completed because the input matrix is "
                "singular."
                if name == "linalg.inv"
                else "The solver failed because the input matrix is singular."
            )
            return explain(
                _LinAlgError,
                f"{name}: {batch_text(number)}{what}",
                "Its rows are linearly dependent, so no matrix undoes it.",
                "use pinv() or lstsq() if a least-squares answer is what you want.",
            )
    return explain(_LinAlgError, f"{name}: the input matrix is singular.")


# ------------------------------------------------------------------------------------------------ inverse
def _inv(a: Any, p: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        raise singular(a, "linalg.inv") from None


inv_row: Op = Op(
    "linalg_inv", _inv, a=lambda g, n: -(mH(n.y) @ g @ mH(n.y)), reads=("y",), jvp=lambda ts, n: -(n.y @ ts[0] @ n.y),
    params=True, node="LinalgInvExBackward0", symbol="⁻¹", partials=("−{y}ᵀ g {y}ᵀ",), latex="{a}^{{-1}}",
    batch="leading", doc="The inverse of each matrix.",
)  # fmt: skip


@public("inverse")
def inv(A: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of each square matrix.  Raises LinAlgError for a singular one.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    check_square("linalg.inv", A)
    return into(out, inv_row(A))


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and for each matrix 0 or the number of the pivot that is zero: (inverse, info).

    A singular matrix is no error here unless `check_errors`; its inverse is then inf.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.inv_ex(torch.tensor([[2.]])).info
    tensor(0, dtype=torch.int32)
    """
    check_square("linalg.inv", A)
    info = pivots_info(A)
    if not check_errors and any_of(info):
        ok = (info == 0).to(A.dtype)[..., None, None]
        safe = A * ok + unit(A, p=A.raw.shape[-1]) * (1 - ok)
        return InvEx((inv_row(safe) / ok, info))
    return InvEx((inv_row(A), info))


def pivots_info(A: Tensor) -> Any:
    """For each matrix 0, or the number of the first pivot that is zero."""
    return info_of(A, zero_pivot)


def info_of(A: Tensor, number: Any) -> Any:
    """A number for each matrix, as an int32 tensor."""

    def of(t: Tensor) -> Tensor:
        numbers = [number(m) for _, m in one_by_one(t.raw)]
        shaped = np.array(numbers, np.int32).reshape(t.raw.shape[:-2])
        return fresh(devices.asarray(shaped, np.int32, like=t.raw))

    return beneath(A, of)


def any_of(info: Tensor) -> bool:
    """Is a number of any matrix not 0?"""
    return bool(devices.to_numpy(of_all(info.raw)).any())


# ------------------------------------------------------------------------------------------------ determinant
def _cofactor(a: Any, p: Any) -> Any:
    """The derivative of det: det(a) times the inverse transpose, also where that does not exist.

    With a = U S Vᵀ it is det(U) det(V) U diag(products of the other singular values) Vᵀ (conjugated if complex).
    """
    if not a.shape[-1]:
        return a.copy()
    u, s, vh = np.linalg.svd(a)
    others = [s[..., :k].prod(-1) * s[..., k + 1 :].prod(-1) for k in range(s.shape[-1])]
    sign = np.linalg.det(u) * np.linalg.det(vh)
    middle = np.stack(others, -1) * sign.reshape((*sign.shape, 1))
    return (conj(u) * middle.reshape((*middle.shape[:-1], 1, middle.shape[-1]))) @ conj(vh)


def _cofactor_rule(g: Any, n: Any) -> Any:
    inverse, y = mH(inv_row(n.a)), conj(n.y)
    return as_matrix(total(g * inverse)) * y - y @ mT(g) @ inverse


cofactor: Op = Op(
    "cofactor", _cofactor, a=_cofactor_rule, reads=("ay",), params=True,
    jvp=lambda ts, n: as_matrix(total(mT(inv_row(n.a)) * ts[0])) * n.y - n.y @ mT(ts[0]) @ mT(inv_row(n.a)),
    batch="leading", doc="The matrix of cofactors, the derivative of the determinant.",
)  # fmt: skip
det_row: Op = Op(
    "linalg_det", lambda a, p: np.linalg.det(a), a=lambda g, n: as_matrix(g) * conj(cofactor(n.a)), reads=("a",),
    jvp=lambda ts, n: total(cofactor(n.a) * ts[0]), params=True, symbol="det", partials=("the cofactors of {a}",),
    latex=r"\det {a}", batch="leading", doc="The determinant of each matrix.",
)  # fmt: skip


def _slogdet_rule(g: Any, n: Any) -> Any:
    factor = g[1]
    if g[0] is not None and is_complex(
        n.a
    ):  # the sign turns with the imaginary part of what the logarithm gains
        turn = (g[0] * conj(slogdet_row(n.a)[0])).imag * 1j
        factor = turn if factor is None else factor + turn
    return TABLE["zero"](n.a) if factor is None else as_matrix(factor) * mH(inv_row(n.a))


def _slogdet_tangent(ts: Any, n: Any) -> Any:
    change = total(mT(inv_row(n.a)) * ts[0])
    return (n.y[0] * (change.imag * 1j), change.real) if is_complex(n.a) else (n.y[0] * 0, change)


def is_complex(x: Any) -> bool:
    return bool(getattr(x, "raw", x).dtype.kind == "c")


slogdet_row: Op = Op(
    "linalg_slogdet", lambda a, p: tuple(np.linalg.slogdet(a)), a=_slogdet_rule, reads=("a",), params=True,
    outputs=True, jvp=_slogdet_tangent, symbol="log|det|", partials=("{a}⁻ᵀ",),
    latex=r"\log \lvert \det {a} \rvert", batch="leading",
    doc="The sign of the determinant, and the logarithm of its absolute value.",
)  # fmt: skip


@public("det")
def det(A: Tensor, *, out: Any = None) -> Tensor:
    """The determinant of each square matrix.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.det(torch.tensor([[2., 1.], [0., 3.]]))
    tensor(6.)
    """
    check_square("linalg.det", A)
    return into(out, det_row(A))


def slogdet(A: Tensor, *, out: Any = None) -> Any:
    """The sign of the determinant and the logarithm of its absolute value: (sign, logabsdet).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.slogdet(torch.tensor([[1., 0.], [0., -1.]])).sign
    tensor(-1.)
    """
    check_square("linalg.slogdet", A)
    return Slogdet(slogdet_row(A))


@public("slogdet")
def old_slogdet(input: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value: (sign, logabsdet).

    >>> import autodiff_kernel as torch
    >>> torch.slogdet(torch.tensor([[1., 0.], [0., -1.]])).logabsdet
    tensor(0.)
    """
    check_square("linalg.slogdet", input)
    return OldSlogdet(slogdet_row(input))


@public("logdet")
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative.

    >>> import autodiff_kernel as torch
    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    check_square("linalg.slogdet", input)
    sign, log = slogdet_row(input)
    if is_complex(input):
        return TABLE["log"](sign) + log  # type: ignore[no-any-return]
    negative = sign < 0
    if not any_of(negative):
        return log  # type: ignore[no-any-return]
    return TABLE["where"](negative, float("nan"), log)


# ------------------------------------------------------------------------------------------------ equations
def _solve(a: Any, b: Any, p: Any) -> Any:
    if not b.shape[-1] or not a.shape[-1]:
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return devices.zeros((*shape, *b.shape[-2:]), b.dtype, like=b)
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise singular(a, "torch.linalg.solve") from None


def _solve_right(g: Any, n: Any) -> Any:
    return solve_row(mH(n.a), g)


def _solve_left(g: Any, n: Any) -> Any:
    return -(solve_row(mH(n.a), g) @ mH(n.y))


def _solve_tangent(ts: Any, n: Any) -> Any:
    change = None if ts[0] is None else -(ts[0] @ n.y)
    if ts[1] is not None:
        change = ts[1] if change is None else ts[1] + change
    return solve_row(n.a, change)


# both inputs are matrices here
solve_row: Op = Op(
    "linalg_solve", _solve, a=_solve_left, b=_solve_right, reads=("ay", "a"), jvp=_solve_tangent, params=True,
    spreads=True, node="LinalgSolveExBackward0", symbol="\\", partials=("−{a}⁻ᵀ g {y}ᵀ", "{a}⁻ᵀ"),
    latex="{a}^{{-1}} {b}", doc="The solutions of systems of linear equations.",
)  # fmt: skip


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Tensor:
    """The solution X of A X = B (of X A = B if not `left`), for square matrices A; batches broadcast.

    B may be a vector (n), a batch of vectors of A's batch shape, or matrices (n, k).  Raises LinAlgError if A is
    singular.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    return into(out, _solved(A, B, left))


def _solved(A: Tensor, B: Tensor, left: bool) -> Tensor:
    name = "linalg.solve"
    check_square(name, A)
    check_tensor(name, B, "B", 2)
    if A.raw.dtype != B.raw.dtype:
        raise explain(
            RuntimeError,
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.scalar_type} and B of "
            f"type {B.dtype.scalar_type} instead",
        )
    a, b = A.raw.shape, B.raw.shape
    vector = len(b) == 1 or len(a) - 1 == len(b) and b == a[:-1]
    matrices: Tensor = as_column(B) if vector else B
    m, k = matrices.raw.shape[-2:]
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False."
        )
    if (m if left else k) != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise explain(
            RuntimeError,
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and {m}x{k})",
        )
    clash = shape_clash([a[:-2], matrices.raw.shape[:-2]])
    if clash is not None:
        raise clash
    x: Tensor = solve_row(A, matrices) if left else mT(solve_row(mT(A), mT(matrices)))
    return reshape(x, p=x.raw.shape[:-1]) if vector else x


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve`, and for each matrix 0 or the number of the pivot that is zero: (result, info).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.solve_ex(torch.tensor([[2.]]), torch.tensor([4.])).result
    tensor([2.])
    """
    return SolveEx((_solved(A, B, left), pivots_info(A)))


# ------------------------------------------------------------------------------------------------ triangular systems
def triangle(x: Any, p: Any) -> Any:
    """The triangle that a triangular system reads; without the diagonal if that is taken as 1."""
    upper, ones = p
    return triu(x, int(ones)) if upper else tril(x, -int(ones))


def _triangular(a: Any, b: Any, p: Any) -> Any:
    upper, ones = p
    t = np.triu(a, int(ones)) if upper else np.tril(a, -int(ones))
    n = a.shape[-1]
    if ones:
        t = t + devices.eye(n, dtype=a.dtype, like=a)
    if not n or not b.shape[-1]:
        return devices.zeros(
            (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), b.dtype, like=b
        )
    try:
        return np.linalg.solve(t, b)
    except np.linalg.LinAlgError:  # a zero on the diagonal gives inf here, no error
        x = np.broadcast_to(b, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])).copy()
        for i in reversed(range(n)) if upper else range(n):
            x[..., i, :] /= t[..., i, i, None]
            rest = slice(0, i) if upper else slice(i + 1, n)
            x[..., rest, :] -= t[..., rest, i, None] * x[..., i, None, :]
        return x


def _turned(p: Any) -> Any:
    return not p[0], p[1]


def _triangular_left(g: Any, n: Any) -> Any:
    return triangle(-(triangular_row(mH(n.a), g, p=_turned(n.p)) @ mH(n.y)), n.p)


def _triangular_tangent(ts: Any, n: Any) -> Any:
    change = None if ts[0] is None else -(triangle(ts[0], n.p) @ n.y)
    if ts[1] is not None:
        change = ts[1] if change is None else ts[1] + change
    return triangular_row(n.a, change, p=n.p)


# p is (upper, whether the diagonal is taken as 1)
triangular_row: Op = Op(
    "linalg_solve_triangular", _triangular, a=_triangular_left,
    b=lambda g, n: triangular_row(mH(n.a), g, p=_turned(n.p)), reads=("ay", "a"), jvp=_triangular_tangent,
    params=True, spreads=True, symbol="◺\\", partials=("the triangle of −{a}⁻ᵀ g {y}ᵀ", "{a}⁻ᵀ"),
    latex="{a}^{{-1}} {b}", doc="The solutions of triangular systems of linear equations.",
)  # fmt: skip


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Any = None
) -> Tensor:
    """The solution X of A X = B (of X A = B if not `left`) for triangular matrices A.

    Only the named triangle of A is read; with `unitriangular` its diagonal is taken as 1.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.solve_triangular(torch.tensor([[2., 1.], [0., 4.]]), torch.tensor([[4.], [4.]]), upper=True)
    tensor([[1.5000],
            [1.0000]])
    """
    check_square("linalg.solve_triangular", A)
    check_matrix("linalg.solve_triangular", B, "B")
    a, b = A.raw.shape, B.raw.shape
    if (b[-2] if left else b[-1]) != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{b[-2]}x{b[-1]})"
        )
    if left:
        return into(out, triangular_row(A, B, p=(bool(upper), bool(unitriangular))))
    return into(out, mT(triangular_row(mT(A), mT(B), p=(not upper, bool(unitriangular)))))


@public("triangular_solve")
def old_triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of A x = b for triangular A, and A: (solution, cloned_coefficient).  See solve_triangular.

    >>> import autodiff_kernel as torch
    >>> torch.triangular_solve(torch.tensor([[4.]]), torch.tensor([[2.]])).solution
    tensor([[2.]])
    """
    check_square("triangular_solve", A)
    check_matrix("triangular_solve", b, "b")
    x = triangular_row(mT(A) if transpose else A, b, p=(bool(upper) != bool(transpose), bool(unitriangular)))
    return Triangular((x, TABLE["clone"](A)))
