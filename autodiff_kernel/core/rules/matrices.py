"""What is made of decompositions: norms of matrices, rank, condition, pseudo-inverse, least squares, powers, exp."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import check_tensor, into, public
from ..errors import explain
from ..op import TABLE, Op
from ..outline import of_all
from ..return_types import return_type
from ..tensor import Tensor, wrap
from .casting import to_dtype
from .dims import product, wrap_dim
from .einsum import unit
from .linalg import as_column, as_row, check_floating, check_matrix, check_square, inv, mH, mT, solve
from .lu import part
from .norms import vector_norm
from .orders import movedim
from .shapes import reshape
from .spectral import eigh, eigvalsh, svd, svdvals

INF = float("inf")
Lstsq = return_type("linalg_lstsq", "solution residuals rank singular_values")


# ------------------------------------------------------------------------------------------------ norms
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """The norm of each matrix in dimensions `dim`.

    ord: 'fro' (the root of the sum of squares), 'nuc' (the sum of the singular values), 2 or -2 (the largest or
    smallest singular value), 1 or -1 (the largest or smallest sum of a column's absolute values), inf or -inf (of a
    row's).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3., 0.], [0., 4.]])), torch.linalg.matrix_norm(torch.eye(2), 'nuc')
    (tensor(5.), tensor(2.))
    """
    name = "linalg.matrix_norm"
    check_tensor(name, A, "A")
    if A.raw.ndim < 2:
        raise explain(
            RuntimeError,
            f"{name}: The input tensor A must have at least 2 dimensions.",
            f"Its shape is {list(A.shape)}.",
        )
    check_floating(name, A)
    if dtype is not None:
        A = to_dtype(A, dtype)
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = (wrap_dim(d, A.raw.ndim, name) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return into(out, vector_norm(A, 2, (rows, columns), keepdim))
    if isinstance(ord, str) and ord != "nuc" or not isinstance(ord, str) and abs(ord) not in (1, 2, INF):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    x = movedim(A, (rows, columns), (-2, -1))
    result: Any
    if ord == "nuc" or abs(ord) == 2:
        s: Any = svdvals(x)
        result = s.sum(-1) if ord == "nuc" else s.amax(-1) if ord == 2 else s.amin(-1)
    else:
        sums: Any = x.abs().sum(-2 if abs(ord) == 1 else -1)  # type: ignore[attr-defined]
        result = sums.amax(-1) if ord > 0 else sums.amin(-1)
    if keepdim:
        shape = tuple(1 if d in (rows, columns) else n for d, n in enumerate(A.raw.shape))
        result = reshape(result, p=shape)
    return into(out, result)


def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The norm of a vector or a matrix.

    Without `ord` the root of the sum of the squares of all elements (or along `dim`); with it the vector norm of a
    1-D tensor (or one `dim`) or the matrix norm of a 2-D one (or two).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.norm(torch.tensor([3., 4.])), torch.linalg.norm(torch.tensor([[1., 2.], [3., 4.]]), 1)
    (tensor(5.), tensor(6.))
    """
    check_tensor("linalg.norm", A, "A")
    if dim is not None and isinstance(dim, int):
        dim = (dim,)
    if ord is None:
        return into(out, vector_norm(A, 2, dim, keepdim, dtype=dtype))
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if dim is None and A.raw.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.raw.ndim}D."
        )
    if len(dim) == 2 if dim is not None else A.raw.ndim == 2:
        return matrix_norm(A, ord, dim if dim is not None else (-2, -1), keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: Order {ord} not supported for vectors.")
    return into(out, vector_norm(A, ord, dim, keepdim, dtype=dtype))


def linalg_vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The vector norm of order `ord` (0, a number, inf, -inf) of all elements, or along `dim`.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.vector_norm(torch.tensor([[3., 4.], [0., 2.]]), dim=1)
    tensor([5., 2.])
    """
    check_tensor("linalg.vector_norm", x, "x")
    return into(out, vector_norm(x, ord, dim, keepdim, dtype=dtype))


def cond(A: Tensor, p: Any = None, *, out: Any = None) -> Tensor:
    """The condition number of each matrix: its norm times the norm of its inverse (inf for a singular one).

    >>> import autodiff_kernel as torch
    >>> torch.linalg.cond(torch.tensor([[2., 0.], [0., 4.]]))
    tensor(2.)
    """
    check_matrix("linalg.cond", A)
    if p is None or p in (2, -2):
        s: Any = svdvals(A)
        return into(out, s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0])
    check_square(f"linalg.cond({p})", A)
    from .linalg import inv_ex

    inverse, info = inv_ex(A)
    result: Any = matrix_norm(A, p) * matrix_norm(inverse, p)  # type: ignore[operator]
    return into(out, TABLE["where"](info == 0, result, INF))


# ------------------------------------------------------------------------------------------------ rank
def limits(s: Any, A: Tensor, atol: Any, rtol: Any) -> Any:
    """Below which size a singular value counts as zero."""
    eps = float(np.finfo(A.raw.dtype).eps)
    m, n = A.raw.shape[-2:]
    if rtol is None:
        rtol = eps * max(m, n) if atol is None or not isinstance(atol, Tensor) and not atol else 0.0
    largest = s[..., :1]
    relative = largest * (rtol[..., None] if isinstance(rtol, Tensor) and rtol.raw.ndim else rtol)
    if atol is None:
        return relative
    absolute = atol[..., None] if isinstance(atol, Tensor) and atol.raw.ndim else atol
    return relative.clamp(min=absolute) if not isinstance(absolute, Tensor) else relative.maximum(absolute)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Tensor:
    """The number of singular values of each matrix that are not (nearly) zero.

    A singular value counts as zero up to max(atol, rtol · the largest one); rtol is by default max(m, n) times the
    dtype's epsilon.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.matrix_rank(torch.tensor([[1., 2.], [2., 4.]]))
    tensor(1)
    """
    check_matrix("linalg.matrix_rank", A)
    A = A.detach()
    s: Any = eigvalsh(A).abs().sort(descending=True)[0] if hermitian else svdvals(A)  # type: ignore[attr-defined]
    if not s.shape[-1]:
        return into(out, wrap(devices.zeros(A.raw.shape[:-2], np.int64, like=A.raw)))
    limit = limits(s, A, tol if tol is not None else atol, 0.0 if tol is not None else rtol)
    return into(out, (s > limit).sum(-1))


# ------------------------------------------------------------------------------------------------ pseudo-inverse
def _pinv(a: Any, p: Any) -> Any:
    atol, rtol = p
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    if not s.shape[-1]:
        return devices.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype, like=a)
    cut = np.maximum(s[..., :1] * rtol, atol).astype(s.dtype)
    small = s <= cut
    s = np.where(small, 0, 1 / np.where(small, 1, s)).astype(a.dtype)
    v = np.swapaxes(vh, -2, -1)
    ut = np.swapaxes(u, -2, -1)
    if a.dtype.kind == "c":
        v, ut = v.conj(), ut.conj()
    return (v * s.reshape((*s.shape[:-1], 1, s.shape[-1]))) @ ut


def _without(x: Any, y: Any) -> Any:
    """I − x·y"""
    z = x @ y
    return unit(z, p=z.shape[-1]) - z


def _pinv_rule(g: Any, n: Any) -> Any:
    # the adjoint of Golub and Pereyra (1973): dP = −P dA P + P Pᵀ dAᵀ (I − A P) + (I − P A) dAᵀ Pᵀ P
    a, y, gh = n.a, n.y, mH(g)
    yh = mH(y)
    return -(yh @ g @ yh) + _without(a, y) @ gh @ y @ yh + yh @ y @ gh @ _without(y, a)


def _pinv_tangent(ts: Any, n: Any) -> Any:
    a, y, t = n.a, n.y, ts[0]
    yh, th = mH(y), mH(t)
    return -(y @ t @ y) + y @ yh @ th @ _without(a, y) + _without(y, a) @ th @ yh @ y


# p is (atol, rtol)
pinv_row: Op = Op(
    "linalg_pinv", _pinv, a=_pinv_rule, reads=("ay",), jvp=_pinv_tangent, params=True, node="LinalgPinvBackward0",
    symbol="⁺", partials=("−{y}ᵀ g {y}ᵀ + …",), latex="{a}^+", batch="leading", doc="The pseudo-inverse of each matrix.",
)  # fmt: skip


def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,
) -> Tensor:
    """The (Moore-Penrose) pseudo-inverse of each matrix.

    Singular values up to max(atol, rtol · the largest one) count as zero.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.pinv(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    check_square("linalg.pinv", A) if hermitian else check_matrix("linalg.pinv", A)
    if rcond is not None:
        rtol = rcond
    absolute, relative = (x.tolist() if isinstance(x, Tensor) else x for x in (atol, rtol))
    if relative is None:
        relative = 0.0 if absolute else float(np.finfo(A.raw.dtype).eps) * max(A.raw.shape[-2:])
    if hermitian or isinstance(absolute, list) or isinstance(relative, list):
        return into(out, _pinv_of_parts(A, atol, relative, hermitian))
    return into(out, pinv_row(A, p=(float(absolute or 0.0), float(relative))))


def _pinv_of_parts(A: Tensor, atol: Any, rtol: Any, hermitian: bool) -> Tensor:
    """With limits that are tensors, or for symmetric matrices: by way of the singular values or eigenvalues."""
    if hermitian:
        s, u = eigh(A)
        vh = mH(u)
    else:
        u, s, vh = svd(A, full_matrices=False)
    size = s.abs()
    largest = size.amax(-1, keepdim=True) if s.shape[-1] else size
    relative = wrap(devices.asarray(rtol, A.raw.dtype, like=A.raw))
    keep = size > limits(largest, A, atol, relative)
    inverse = TABLE["where"](keep, 1 / TABLE["where"](keep, s, 1.0), 0.0)
    result: Tensor = (mH(vh) * as_row(inverse)) @ mH(u)
    return result


@public("pinverse")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse of each matrix; see linalg.pinv.

    >>> import autodiff_kernel as torch
    >>> torch.pinverse(torch.tensor([[2.]]))
    tensor([[0.5000]])
    """
    return pinv(input, rtol=rcond)


# ------------------------------------------------------------------------------------------------ least squares
def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """The X with the smallest ‖A X − B‖: (solution, residuals, rank, singular_values).

    residuals: the squared distances, where A has full rank and more rows than columns, else empty.
    singular_values: empty unless `driver` is 'gelsd' or 'gelss'.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.lstsq(torch.tensor([[1.], [1.]]), torch.tensor([[1.], [3.]])).solution.round()
    tensor([[2.]])
    """
    name = "torch.linalg.lstsq"
    check_matrix(name, A, "input")
    check_tensor(name, B, "other", 2)
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}"
        )
    if A.raw.dtype != B.raw.dtype:
        raise RuntimeError(
            f"{name}: expected input and other to have the same dtype, but got input's dtype {A.dtype.scalar_type} and "
            f"other's dtype {B.dtype.scalar_type}"
        )
    m, n = A.raw.shape[-2:]
    vector = B.raw.ndim == A.raw.ndim - 1
    right: Any = as_column(B) if vector else B
    if right.raw.ndim < 2 or right.raw.shape[-2] != m:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({'-1' if vector else '-2'})")
    X: Any = pinv(A, rtol=rcond) @ right  # type: ignore[operator]
    none = wrap(devices.zeros((0,), A.raw.dtype, like=A.raw))
    rank = matrix_rank(A, rtol=rcond) if driver != "gels" else wrap(devices.zeros((0,), np.int64, like=A.raw))
    full = bool(devices.item(of_all((matrix_rank(A) == n).raw).all()))  # type: ignore[attr-defined]
    told = m > n and full and driver not in (None, "gelsy")
    residuals = ((A @ X - right) ** 2).sum(-2) if told else none  # type: ignore[operator]
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else none
    return Lstsq((reshape(X, p=X.raw.shape[:-1]) if vector else X, residuals, rank, values))


# ------------------------------------------------------------------------------------------------ powers
@public("matrix_power")
def matrix_power(A: Tensor, n: int, *, out: Any = None) -> Tensor:
    """Each square matrix multiplied n times with itself; its inverse for negative n.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.matrix_power(torch.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    check_tensor("linalg.matrix_power", A, "A")
    if A.raw.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    rows, columns = A.raw.shape[-2:]
    if rows != columns:
        raise explain(
            RuntimeError,
            f"linalg.matrix_power: A must be batches of square matrices, but they are {rows} by {columns} matrices",
        )
    if n == 0:
        return into(out, TABLE["zero"](A) + unit(A, p=rows))
    base: Any = inv(A) if n < 0 else A
    n, result = abs(n), None
    while n:  # square and multiply
        if n & 1:
            result = base if result is None else result @ base
        n >>= 1
        if n:
            base = base @ base
    return into(out, TABLE["clone"](result) if result is A else result)


# ------------------------------------------------------------------------------------------------ exp
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)  # fmt: skip


def _exp(a: Any, p: Any) -> Any:
    """Scaling and squaring with the Padé approximant of degree 13 (Higham, 2005)."""
    n = a.shape[-1]
    if not a.size:
        return a.copy()
    size = float(devices.item(np.abs(a).sum(-2).max()))
    halvings = max(0, int(np.ceil(np.log2(size / 4.25)))) if np.isfinite(size) and size > 4.25 else 0
    x = a.astype(np.result_type(a.dtype, np.float64)) * 0.5**halvings
    b, one = _PADE, devices.eye(n, dtype=x.dtype, like=a)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x @ (x6 @ (x6 * b[13] + x4 * b[11] + x2 * b[9]) + x6 * b[7] + x4 * b[5] + x2 * b[3] + one * b[1])
    even = x6 @ (x6 * b[12] + x4 * b[10] + x2 * b[8]) + x6 * b[6] + x4 * b[4] + x2 * b[2] + one * b[0]
    y = np.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        y = y @ y
    return y.astype(a.dtype)


def _derivative(x: Any, t: Any) -> Any:
    """exp of the matrix [[x, t], [0, x]] has the derivative of exp(x) in direction t as its upper right part."""
    n = x.shape[-1]
    cat, last = TABLE["cat"], len(x.shape) - 1
    zero = x * 0
    block = cat(cat(x, t, p=last), cat(zero, x, p=last), p=last - 1)
    return part(exp_row(block), (0, n), (n, 2 * n))


exp_row: Op = Op(
    "linalg_matrix_exp", _exp, a=lambda g, n: _derivative(mH(n.a), g), reads=("a",),
    jvp=lambda ts, n: _derivative(n.a, ts[0]), params=True, symbol="exp",
    partials=("the upper right of exp [[{a}ᵀ, g], [0, {a}ᵀ]]",),
    latex="e^{{{a}}}", batch="leading", doc="The exponential of each matrix, the sum of its powers over the factorials.",
)  # fmt: skip


@public("matrix_exp")
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of each square matrix, I + A + A²/2! + A³/3! + …

    >>> import autodiff_kernel as torch
    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    check_square("linalg.matrix_exp", A)
    return exp_row(A)


# ------------------------------------------------------------------------------------------------ tensors as matrices
def tensorinv(A: Tensor, ind: int = 2, *, out: Any = None) -> Tensor:
    """The inverse for tensordot(…, ind) of a tensor whose first `ind` dimensions have as many elements as the rest.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.tensorinv(torch.eye(4).reshape(2, 2, 4), ind=2).shape
    torch.Size([4, 2, 2])
    """
    check_tensor("linalg.tensorinv", A, "A")
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    shape = A.raw.shape
    rows, columns = product(shape[:ind]), product(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    return into(out, reshape(inv(reshape(A, p=(rows, columns))), p=(*shape[ind:], *shape[:ind])))


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None, *, out: Any = None) -> Tensor:
    """The solution X of tensordot(A, X, X.ndim) = B.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.tensorsolve(torch.eye(4).reshape(2, 2, 4), torch.ones(2, 2))
    tensor([1., 1., 1., 1.])
    """
    check_tensor("linalg.tensorsolve", A, "A")
    check_tensor("linalg.tensorsolve", B, "B", 2)
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(A.raw.ndim - len(dims), A.raw.ndim)))
    shape = A.raw.shape[B.raw.ndim :]
    rows, columns = product(B.raw.shape), product(shape)
    if rows != columns or product(A.raw.shape) != rows * columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            "prod(self.shape[:other.ndim]), but "
            f"got {columns} != {product(A.raw.shape[: B.raw.ndim])}"
        )
    x = solve(reshape(A, p=(rows, columns)), reshape(B, p=(rows,)))
    return into(out, reshape(x, p=shape))


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The dot products of vectors along `dim`, the first conjugated; batches broadcast.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.vecdot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    check_tensor("linalg.vecdot", x, "x")
    check_tensor("linalg.vecdot", y, "y", 2)
    if x.raw.dtype != y.raw.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected vectors x and y of the same type, but got {x.dtype} and {y.dtype}"
        )
    first: Any = x.conj() if x.raw.dtype.kind == "c" else x  # type: ignore[attr-defined]
    return into(out, (first * y).sum(dim))


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 to N−1 of each element as rows (…, n, N); N is the number of elements if not given.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.vander(torch.tensor([2., 3.]), N=3)
    tensor([[1., 2., 4.],
            [1., 3., 9.]])
    """
    check_tensor("linalg.vander", x, "x")
    count = (x.raw.shape[-1] if x.raw.ndim else 1) if N is None else N
    if count <= 1 and N is not None:
        raise RuntimeError(f"N must be greater than 1, but got {N}")
    x = x if x.raw.ndim else reshape(x, p=(1,))
    column: Any = as_column(x)
    steps = [column**0]
    for _ in range(count - 1):
        steps.append(steps[-1] * column)
    return TABLE["cat"](*steps, p=x.raw.ndim)  # type: ignore[no-any-return]


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of a batch of matrices, as a view.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.diagonal(torch.tensor([[1., 2.], [3., 4.]]))
    tensor([1., 4.])
    """
    check_tensor("linalg.diagonal", A, "A")
    return A.diagonal(offset, dim1, dim2)  # type: ignore[attr-defined,no-any-return]


_ = mT
