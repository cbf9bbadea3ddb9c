"""Products of matrices and vectors: @, mm, mv, dot, bmm, linear, and sums with a product such as addmm.

2-D products go through `.dot`, which is faster than `@` on small matrices.  Three rows make a closed set: the
derivatives of a·b are a product with a transposed second factor and one with a transposed first factor, and theirs
are these three again.
"""

from functools import update_wrapper
from typing import Any

import numpy as np

from ..api import attach, check_tensor, into, public
from ..dtype import BRAIN, C_NAMES
from ..errors import explain
from ..failures import shape_clash
from ..graph import Node, new, tick
from ..hot import binary
from ..inplace import in_place
from ..modes import departed, watch
from ..op import Op
from ..sharing import saved_counter, saved_version_of
from ..tensor import Parameter, Tensor
from ..walk import unbroadcast
from .forms import FLOAT32, FLOAT64, conj
from .orders import transpose_row
from .shapes import reshape

ndarray, float32, multiply = np.ndarray, np.float32, np.multiply
COLUMN = (slice(None), None)


# ------------------------------------------------------------------------------------------------ refusals
def other_dtypes(a: Any, b: Any, text: str = "") -> RuntimeError:
    x, y = a.dtype.name, b.dtype.name
    text = (
        text
        or f"expected m1 and m2 to have the same dtype, but got: {C_NAMES.get(x, x)} != {C_NAMES.get(y, y)}"
    )
    return explain(
        RuntimeError,
        text,
        f"The operands hold {x} and {y}; products do not convert.",
        f"convert one of them first, for example with .to(torch.{x}).",
        topic="two dtypes",
        dtypes=(x, y),
    )


def no_product(a: tuple[int, ...], b: tuple[int, ...]) -> RuntimeError:
    return explain(
        RuntimeError,
        f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})",
        f"A product needs as many columns in the first ({a[1]}) as rows in the second ({b[0]}).",
        "look at the shapes; one of them may want a transpose (x.T).",
        topic="matrix sizes",
        shapes=(a, b),
    )


def no_bools(y: Any, kernel: str = "addmm_impl_cpu_") -> Any:
    if y.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    return y


def pairing(op: Op) -> Any:
    """`call(x, y, p)`: a row with two inputs, whose result is no view, written out for plain arrays on the CPU."""
    fwd = op.fwd
    _, only_a, only_b, both, *_ = op.keeps

    def call(x: Any, y: Any, p: Any) -> Any:
        a, b = x.raw, y.raw
        if a.__class__ is not ndarray or b.__class__ is not ndarray or departed[0] or x.is_dual or y.is_dual:
            return op(x, y, p=p)
        if BRAIN and a.dtype.kind == "V":
            return op(x, y, p=p)
        out = new(Tensor)
        out.raw = raw = fwd(a, b, p)
        out.node = out.version = out.family = None
        left, right = x.node, y.node
        if left is not None or right is not None:
            out.node = n = Node()
            n.op, n.seq, n.left, n.right, n.p, n.notes = op, tick(), left, right, p, None
            n.sa, n.sb, n.sy = a.shape, b.shape, raw.shape
            keep_a, keep_b, _, _ = only_b if left is None else only_a if right is None else both
            if keep_a:
                n.a, n.va = a, saved_version_of(x)
            if keep_b:
                n.b, n.vb = b, saved_version_of(y)
        watched = watch[0]
        if watched is not None:
            watched(op, p, (x, y), out)
        return out

    return call


ABSENT: Any = object()  # in the place of an argument that is given by its name, or not at all


def product(op: Op, rows: int, columns: int, general: Any) -> Any:
    """The method of a product of arrays with so many dimensions, written out; `general` takes everything else."""
    _, only_a, only_b, both, *_ = op.keeps

    def method(self: Any, other: Any = ABSENT, /, **named: Any) -> Any:
        kind = other.__class__
        if named or kind is not Tensor and kind is not Parameter or departed[0] or self.is_dual:
            return general(self, **named) if other is ABSENT else general(self, other, **named)
        a, b = self.raw, other.raw
        if a.__class__ is not ndarray or b.__class__ is not ndarray:
            return general(self, other)
        sa = a.shape
        sb = b.shape
        d = a.dtype
        if len(sa) != rows or len(sb) != columns or d is not b.dtype or d is not FLOAT32 and d is not FLOAT64:
            return general(self, other)
        try:
            y = a.dot(b)
        except ValueError:
            return general(self, other)  # says what is wrong
        out = new(Tensor)
        out.raw = y
        out.node = out.version = out.family = None
        left, right = self.node, other.node
        if left is not None or right is not None:
            out.node = n = Node()
            n.op = op
            n.seq = tick()
            n.left = left
            n.right = right
            n.notes = None
            n.sa = sa
            n.sb = sb
            n.sy = y.shape
            keep_a, keep_b, _, _ = only_b if left is None else only_a if right is None else both
            if keep_a:
                n.a = a
                v = self.version
                if v.__class__ is not list:
                    v = self.version = [0, 0, None] if v is None else saved_counter(v)
                n.va = v
            if keep_b:
                n.b = b
                v = other.version
                if v.__class__ is not list:
                    v = other.version = [0, 0, None] if v is None else saved_counter(v)
                n.vb = v
        watched = watch[0]
        if watched is not None:
            watched(op, None, (self, other), out)
        return out

    update_wrapper(method, general)
    method.__name__, method.__qualname__ = general.__name__.rstrip("_"), general.__qualname__.rstrip("_")
    return method


# ------------------------------------------------------------------------------------------------ two matrices
def _mm(a: Any, b: Any) -> Any:
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        raise other_dtypes(a, b)
    try:
        y = a.dot(b)
    except ValueError:
        raise no_product(a.shape, b.shape) from None
    return y if y.dtype.kind == "f" else no_bools(y)


def adjoint(a: Any) -> Any:
    """The (conjugate) transpose of a raw matrix."""
    return a.T.conj() if a.dtype.kind == "c" else a.T


mm: Op = Op(
    "mm", _mm, a=lambda g, n: mm_nt(g, n.b), b=lambda g, n: mm_tn(n.a, g), reads=("b", "a"), mode="linear", symbol="@",
    partials=("{b}ᵀ from the right", "{a}ᵀ from the left"), latex="{a} {b}", batch="ij,jk->ik",
    doc="The product of two matrices.",
)  # fmt: skip
mm_nt: Op = Op(
    "mm_nt", lambda a, b: a.dot(adjoint(b)), a=lambda g, n: mm(g, n.b), b=lambda g, n: mm_tn(g, n.a), reads=("b", "a"),
    mode="linear", node="MmBackward0", symbol="@ᵀ", partials=("{b} from the right", "{a} from the right of gᵀ"),
    latex="{a} {b}^T", batch="ij,kj*->ik", doc="The product of a matrix and a transposed one.",
)  # fmt: skip
mm_tn: Op = Op(
    "mm_tn", lambda a, b: adjoint(a).dot(b), a=lambda g, n: mm_nt(n.b, g), b=lambda g, n: mm(n.a, g), reads=("b", "a"),
    mode="linear", node="MmBackward0", symbol="ᵀ@", partials=("{b} from the left of gᵀ", "{a} from the left"),
    latex="{a}^T {b}", batch="ji*,jk->ik", doc="The product of a transposed matrix and a matrix.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ matrix and vector
def _mv(a: Any, b: Any) -> Any:
    if a.dtype != b.dtype:
        vec, mat = _dtype(b).scalar_type, _dtype(a).scalar_type
        raise other_dtypes(
            a, b, f"addmv input tensors must have the same dtype, but got {vec}, {mat}, and {vec}"
        )
    try:
        return no_bools(a.dot(b), "addmv_impl_cpu")
    except ValueError:
        raise explain(
            RuntimeError,
            f"size mismatch, got input ({a.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), vec ({b.shape[0]})",
            f"The matrix has {a.shape[1]} columns and the vector {b.shape[0]} elements.",
            "a vector with one element for each column of the matrix; or the matrix transposed (x.T).",
            topic="matrix sizes",
            shapes=(a.shape, b.shape),
        ) from None


def _dtype(raw: Any) -> Any:
    from .. import dtype as dtypes

    return dtypes.of(raw.dtype)


def _outer_rule(g: Any, n: Any) -> Any:
    """All products of the cotangent's elements with the vector's; raw arrays of the usual dtype straight."""
    if g.__class__ is ndarray and g.dtype is FLOAT32:
        return multiply(g[COLUMN], n.b)
    return outer_row(g, n.b)


mv: Op = Op(
    "mv", _mv, a=_outer_rule, b=lambda g, n: mv_t(n.a, g), reads=("b", "a"), mode="linear",
    symbol="@", partials=("{b}ᵀ from the right", "{a}ᵀ from the left"), latex="{a} {b}",
    batch="ij,j->i", doc="The product of a matrix and a vector.",
)  # fmt: skip
mv_t: Op = Op(
    "mv_t", lambda a, b: adjoint(a).dot(b), a=lambda g, n: outer_row(n.b, g), b=lambda g, n: mv(n.a, g),
    reads=("b", "a"), mode="linear", node="MvBackward0", symbol="ᵀ@", partials=("{b} from the left of gᵀ", "{a}"),
    latex="{a}^T {b}", batch="ji*,j->i", doc="The product of a transposed matrix and a vector.",
)  # fmt: skip
outer_row: Op = Op(
    "outer", lambda a, b: a.reshape((-1, 1)) * (b.conj() if b.dtype.kind == "c" else b), a=lambda g, n: mv(g, n.b),
    b=lambda g, n: mv_t(g, n.a), reads=("b", "a"), mode="linear", node="MulBackward0", symbol="⊗",
    partials=("{b} from the right", "{a} from the left"), latex="{a} {b}^T",
    batch="i,j*->ij", doc="All products of an element of the first vector with one of the second.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ two vectors
def _dot(a: Any, b: Any) -> Any:
    if a.dtype != b.dtype:
        names = _dtype(a).scalar_type, _dtype(b).scalar_type
        raise other_dtypes(
            a, b, f"dot : expected both vectors to have same dtype, but found {names[0]} and {names[1]}"
        )
    try:
        return no_bools(a.dot(b), "dot")
    except ValueError:
        sizes = a.shape[0], b.shape[0]
        raise explain(
            RuntimeError,
            f"inconsistent tensor size, expected tensor [{sizes[0]}] and src [{sizes[1]}] to have the same number of "
            f"elements, but got {sizes[0]} and {sizes[1]} elements respectively",
            "Two vectors are multiplied element by element, and the products are added.",
            "vectors of one length.",
            topic="matrix sizes",
            shapes=(a.shape, b.shape),
        ) from None


def _by(g: Any, x: Any) -> Any:
    """The cotangent of a dot product times (the conjugate of) the other vector; the usual dtype straight."""
    return (
        multiply(x, g)
        if x.__class__ is ndarray and x.dtype is FLOAT32 and g.__class__ is float32
        else g * conj(x)
    )


dot_row: Op = Op(
    "dot", _dot, a=lambda g, n: _by(g, n.b), b=lambda g, n: _by(g, n.a), reads=("b", "a"), mode="linear",
    symbol="·", partials=("{b}", "{a}"), latex=r"{a} \cdot {b}",
    batch="i,i->", doc="The sum of the products of two vectors' elements.",
)  # fmt: skip
vdot_row: Op = Op(
    "vdot", lambda a, b: _dot(a.conj() if a.dtype.kind == "c" else a, b), a=lambda g, n: conj(g) * n.b,
    b=lambda g, n: g * n.a, reads=("b", "a"), mode="linear", symbol="·", partials=("{b}", "{a}"),
    latex=r"\bar{{a}} \cdot {b}", batch="i*,i->", doc="The dot product with the first vector conjugated.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ any dimensions
def _matmul(a: Any, b: Any, p: str) -> Any:
    if a.dtype != b.dtype:
        raise other_dtypes(a, b)
    if a.ndim > 2 and b.ndim <= 2:  # one product with all rows together
        y = a.reshape((rows(a.shape), a.shape[-1])).dot(b)
        return y.reshape((*a.shape[:-1], *b.shape[1:]))
    if a.ndim > 2 and a.shape[-1] == 1:  # outer products: np.matmul takes three times as long
        return a * b
    return a.dot(b) if a.ndim == 1 and b.ndim == 2 else np.matmul(a, b)


def turned(x: Any, ndim: int) -> Any:
    """The last two dimensions exchanged (and conjugated)."""
    return conj(transpose_row(x, p=(ndim - 2, ndim - 1)))


def _first(g: Any, n: Any) -> Any:
    a, b = n.sa, n.sb
    if len(b) == 1:
        return reshape(g, p=(*n.sy, 1)) * conj(n.b)
    if len(a) == 1:
        g = matmul_row(conj(n.b), reshape(g, p=(*n.sy, 1)), p=FOLDED)
        return unbroadcast(reshape(g, p=(*b[:-2], a[0])), a)
    return unbroadcast(matmul_row(g, turned(n.b, len(b)), p=FOLDED), a)


def _second(g: Any, n: Any) -> Any:
    a, b, y = n.sa, n.sb, n.sy
    if len(b) == 1:
        return mv_t(reshape(n.a, p=(rows(a), a[-1])), reshape(g, p=(rows(a),)))
    if len(a) == 1:
        return reshape(conj(n.a), p=(a[0], 1)) * reshape(g, p=(*y[:-1], 1, y[-1]))
    if len(b) == 2:
        return mm_tn(reshape(n.a, p=(rows(a), a[-1])), reshape(g, p=(rows(a), y[-1])))
    return unbroadcast(matmul_row(turned(n.a, len(a)), g, p=FOLDED), b)


def rows(shape: tuple[int, ...]) -> int:
    """How many rows there are in all."""
    count = 1
    for n in shape[:-1]:
        count *= n
    return count


FOLDED = "UnsafeViewBackward0"
# p is PyTorch's name of the node: what it composes of other operations is one row here
matmul_row: Op = Op(
    "matmul", _matmul, a=_first, b=_second, reads=("b", "a"), mode="linear", params=True, node=lambda p: p, symbol="@",
    partials=("{b}ᵀ from the right", "{a}ᵀ from the left"), latex="{a} {b}",
    batch="matmul", doc="The product of two batches of matrices.",
)  # fmt: skip
_fast_mm, _fast_mv, _fast_dot = [binary(row, floats=True, fwd=ndarray.dot) for row in (mm, mv, dot_row)]
_fast_matmul = pairing(matmul_row)


@public()
def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The product of matrices, vectors or batches of matrices; batch dimensions broadcast.

    (n, m) @ (m, p) is (n, p); (n, m) @ (m) is (n); (m) @ (m) is a number; (…, n, m) @ (…, m, p) is (…, n, p).
    Raises RuntimeError for shapes or dtypes that do not match.

    >>> import autodiff_kernel as torch
    >>> torch.matmul(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    """
    check_tensor("matmul", input)
    check_tensor("matmul", other, "other", 2)
    a, b = input.raw.shape, other.raw.shape
    if len(a) == len(b) == 2:
        return into(out, _fast_mm(input, other))
    if not a or not b:
        raise explain(
            RuntimeError,
            f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D",
            cure="multiply numbers with *.",
        )
    if len(b) == 1 and len(a) <= 2:
        return into(out, _fast_dot(input, other) if len(a) == 1 else _fast_mv(input, other))
    check_matmul(input.raw, other.raw)
    if len(a) == 1 and len(b) == 2:
        return into(out, _fast_matmul(input, other, "SqueezeBackward4"))
    return into(out, _fast_matmul(input, other, "CloneBackward0" if len(a) == 2 else FOLDED))


def check_matmul(raw_a: Any, raw_b: Any) -> None:
    """PyTorch's errors for a product of more than two dimensions."""
    a, b = raw_a.shape, raw_b.shape
    if raw_a.dtype != raw_b.dtype and len(a) > 2 and len(b) > 2:
        kinds = _dtype(raw_a).scalar_type, _dtype(raw_b).scalar_type
        raise other_dtypes(raw_a, raw_b, f"expected scalar type {kinds[0]} but found {kinds[1]}")
    inner = b[0] if len(b) == 1 else b[-2]
    if len(b) > 2 and len(a) > 2:
        clash = shape_clash([a[:-2], b[:-2]])
        if clash is not None:
            raise clash
        if a[-1] != inner:
            batch = rows((*np.broadcast_shapes(a[:-2], b[:-2]), 1))
            raise not_batched((batch, a[-1]), (batch, inner))
    elif a[-1] != inner:
        if len(b) == 1:
            raise explain(
                RuntimeError,
                f"size mismatch, got input ({rows(a)}), mat ({rows(a)}x{a[-1]}), vec ({b[0]})",
                f"The matrices have {a[-1]} columns and the vector {b[0]} elements.",
                "a vector with one element for each column of the matrices.",
                topic="matrix sizes",
                shapes=(tuple(a), tuple(b)),
            )
        raise no_product((rows(a), a[-1]), (b[-2], b[-1]))
    if raw_a.dtype.kind == "b" and raw_b.dtype.kind == "b":
        no_bools(raw_a)


def not_batched(expected: tuple[int, int], found: tuple[int, int]) -> RuntimeError:
    return explain(
        RuntimeError,
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"[{expected[0]}, {expected[1]}] but got: [{found[0]}, {found[1]}].",
        f"The matrices of the first batch have {expected[1]} columns, those of the second {found[1]} rows.",
        "as many matrices in both batches, and as many columns in the first ones as rows in the second; .mT transposes.",
        topic="matrix sizes",
    )


def matmul_operator(self: Tensor, other: Any) -> Any:
    if not isinstance(other, Tensor):
        return NotImplemented
    return matmul(self, other)


def reflected_matmul(self: Tensor, other: Any) -> Any:
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


attach("__matmul__", product(mm, 2, 2, matmul_operator))
attach("__rmatmul__", reflected_matmul)
attach("__imatmul__", in_place(matmul_operator, matmul_row))


# ------------------------------------------------------------------------------------------------ mm, mv, dot, bmm
@public()
def mm_(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """The product of two matrices, (n, m) and (m, p).

    >>> import autodiff_kernel as torch
    >>> torch.mm(torch.tensor([[1., 2.]]), torch.tensor([[3.], [4.]]))
    tensor([[11.]])
    """
    check_tensor("mm", input)
    check_tensor("mm", mat2, "mat2", 2)
    for x, name in ((input, "self"), (mat2, "mat2")):
        if x.raw.ndim != 2:
            raise explain(RuntimeError, f"{name} must be a matrix", f"It has shape {list(x.raw.shape)}.")
    return into(out, _fast_mm(input, mat2))


@public()
def mv_(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor:
    """The product of a matrix (n, m) and a vector (m).

    >>> import autodiff_kernel as torch
    >>> torch.mv(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    """
    check_tensor("mv", input)
    check_tensor("mv", vec, "vec", 2)
    if input.raw.ndim != 2 or vec.raw.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.raw.ndim}, {vec.raw.ndim}")
    return into(out, _fast_mv(input, vec))


def check_vectors(name: str, x: Any, y: Any, second: str) -> None:
    check_tensor(name, x)
    check_tensor(name, y, second, 2)
    if x.raw.ndim != 1 or y.raw.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.raw.ndim}D and {y.raw.ndim}D tensors")


@public()
def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Tensor:
    """The sum of the products of the elements of two vectors.

    >>> import autodiff_kernel as torch
    >>> torch.dot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    check_vectors("dot", input, tensor, "tensor")
    return into(out, _fast_dot(input, tensor))


attach("mv", product(mv, 2, 1, mv_))
attach("dot", product(dot_row, 1, 1, dot))


@public()
def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """`dot` with the complex conjugate of the first vector.

    >>> import autodiff_kernel as torch
    >>> torch.vdot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    check_vectors("vdot", input, other, "other")
    return into(out, vdot_row(input, other))


@public()
def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """The products of two batches of matrices, (b, n, m) and (b, m, p).

    >>> import autodiff_kernel as torch
    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).shape
    torch.Size([2, 1, 1])
    """
    check_tensor("bmm", input)
    check_tensor("bmm", mat2, "mat2", 2)
    return into(out, batches(input, mat2))


def batches(x: Tensor, y: Tensor) -> Tensor:
    for name, t in (("batch1", x), ("batch2", y)):
        if t.raw.ndim != 3:
            raise explain(RuntimeError, f"{name} must be a 3D tensor", f"It has shape {list(t.raw.shape)}.")
    a, b = x.raw.shape, y.raw.shape
    if a[0] != b[0] or a[2] != b[1]:
        raise not_batched((a[0], a[2]), (b[0], b[1]))
    check_matmul(x.raw, y.raw)
    return _fast_matmul(x, y, "BmmBackward0")
