"""Products of matrices and vectors: @, mm, mv, dot, bmm, and `linear`, a product plus a bias in one node."""

from typing import Any

import numpy as np

from ..api import attach, check_tensor, into, public
from ..errors import explain
from ..hot import binary
from ..op import TABLE, Op
from ..tensor import Tensor

ndarray = np.ndarray


def product(x: Any, y: Any) -> Any:
    """x @ y for two matrices, or a matrix and a vector, in a rule."""
    # .dot is faster than @ on small matrices, and as fast on large ones
    return x.dot(y) if x.__class__ is ndarray else (mm if len(y.shape) == 2 else mv)(x, y)


def swap(x: Any) -> Any:
    """The matrices in x transposed."""
    return x.swapaxes(-1, -2)


def _outer(x: Any, y: Any) -> Any:
    return x.reshape(-1, 1) * y


mm = Op(
    "mm", lambda a, b: a.dot(b), a=lambda g, n: product(g, n.b.T), b=lambda g, n: product(n.a.T, g),
    reads=("b", "a"), mode="linear", symbol="@", partials=("{b}ᵀ", "{a}ᵀ"), latex="{a} {b}",
    doc="The product of two matrices.",
)  # fmt: skip
mv = Op(
    "mv", lambda a, b: a.dot(b), a=lambda g, n: _outer(g, n.b), b=lambda g, n: product(n.a.T, g), reads=("b", "a"),
    mode="linear", symbol="@", partials=("{b}ᵀ", "{a}ᵀ"), latex="{a} {b}",
    doc="The product of a matrix and a vector.",
)  # fmt: skip
dot_row = Op(
    "dot", lambda a, b: a.dot(b), a=lambda g, n: g * n.b, b=lambda g, n: g * n.a, reads=("b", "a"), mode="linear",
    symbol="·", partials=("{b}", "{a}"), latex=r"{a} \cdot {b}", doc="The sum of the products of two vectors' elements.",
)  # fmt: skip
bmm_row = Op(
    "bmm", np.matmul, a=lambda g, n: TABLE["bmm"](g, swap(n.b)), b=lambda g, n: TABLE["bmm"](swap(n.a), g),
    reads=("b", "a"), mode="linear", spreads=True, symbol="@", partials=("{b}ᵀ", "{a}ᵀ"), latex="{a} {b}",
    doc="The products of two stacks of matrices; stacks broadcast.",
)  # fmt: skip


def _linear(x: Any, w: Any, b: Any) -> Any:
    y = x.dot(w.T)
    if b is not None:
        y += b
    return y


linear_row = Op(
    "linear", _linear, a=lambda g, n: product(g, n.b), b=lambda g, n: product(g.T, n.a),
    c=lambda g, n: TABLE["sum"](g, p=((0,), False)), reads=("b", "a", ""), node="AddmmBackward0", symbol="@ +",
    jvp=lambda ts, n: _linear_tangent(ts, n), partials=("{b}", "{a}ᵀ", "1"), latex="{a} {b}^T + {c}",
    doc="x wᵀ + b for a matrix x of rows.",
)  # fmt: skip


def _linear_tangent(ts: Any, n: Any) -> Any:
    terms = [product(ts[0], n.b.T)] if ts[0] is not None else []
    terms += [product(n.a, ts[1].T)] if ts[1] is not None else []
    terms += [ts[2]] if ts[2] is not None else []
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


_mm, _mv, _dot = binary(mm), binary(mv), binary(dot_row)
_NAMES = {"float16": "Half", "float32": "float", "float64": "double", "int64": "long", "int32": "int", "bool": "bool"}


def check_pair(a: Tensor, b: Any, name: str) -> None:
    """Both tensors, of one dtype."""
    check_tensor(name, a)
    check_tensor(name, b, "other" if name == "matmul" else "mat2", 2)
    if a.raw.dtype != b.raw.dtype:
        left, right = (_NAMES.get(t.dtype.name, t.dtype.name) for t in (a, b))
        raise explain(
            RuntimeError,
            f"expected m1 and m2 to have the same dtype, but got: {left} != {right}",
            cure=f"convert one of them, for example with .to({b.dtype}); products of matrices do not promote.",
        )


def refuse(a: Any, b: Any) -> RuntimeError:
    """PyTorch's error for matrices that cannot be multiplied, with what would help."""
    sa, sb = a.shape, b.shape
    cure = "the last size of the first must equal the last but one of the second"
    if len(sa) == len(sb) == 2 and sa[1] == sb[1]:
        cure += "; here the transpose of the second would fit: a @ b.T"
    elif len(sa) == len(sb) == 2 and sa[0] == sb[0]:
        cure += "; here the transpose of the first would fit: a.T @ b"
    return explain(
        RuntimeError,
        f"mat1 and mat2 shapes cannot be multiplied ({sa[0]}x{sa[1]} and {sb[0]}x{sb[1]})",
        cure=cure + ".",
    )


def matrix_product(a: Tensor, b: Any) -> Tensor:
    """a @ b of two matrices, checked."""
    sa, sb = a.raw.shape, b.raw.shape
    if sa[1] != sb[0]:
        raise refuse(a, b)
    return _mm(a, b)


def _vector_sizes(a: Tensor, b: Tensor) -> RuntimeError:
    sa, sb = a.raw.shape, b.raw.shape
    if len(sa) == 2:
        return explain(
            RuntimeError,
            f"size mismatch, got input ({sa[0]}), mat ({sa[0]}x{sa[1]}), vec ({sb[0]})",
            cure="the vector needs as many elements as the matrix has columns.",
        )
    return explain(
        RuntimeError,
        f"inconsistent tensor size, expected tensor [{sa[0]}] and src [{sb[0]}] to have the same number of elements, but "
        f"got {sa[0]} and {sb[0]} elements respectively",
        cure="both vectors need the same length.",
    )


def multiply(a: Tensor, b: Any) -> Any:
    """a @ b for tensors of any number of dimensions, as `matmul`."""
    if not isinstance(b, Tensor):
        if isinstance(b, ndarray):
            from ..create import from_numpy

            b = from_numpy(b)
        else:
            return NotImplemented
    da, db = a.raw.ndim, b.raw.ndim
    if a.raw.dtype is not b.raw.dtype:
        check_pair(a, b, "matmul")
    if da == 2 and db == 2:
        return matrix_product(a, b)
    if da == 2 and db == 1:
        if a.raw.shape[1] != b.raw.shape[0]:
            raise _vector_sizes(a, b)
        return _mv(a, b)
    if da == 1 and db == 1:
        if a.raw.shape != b.raw.shape:
            raise _vector_sizes(a, b)
        return _dot(a, b)
    if not da or not db:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {da}D and {db}D")
    return _stacked(a, b)


def _stacked(a: Tensor, b: Tensor) -> Tensor:
    """Stacks of matrices, and vectors taken as a row or a column."""
    da, db = a.raw.ndim, b.raw.ndim
    if da == 1:
        return multiply(a.unsqueeze(0), b).squeeze(-2)
    if db == 1:
        return multiply(a, b.unsqueeze(-1)).squeeze(-1)
    sa, sb = a.raw.shape, b.raw.shape
    if sa[-1] != sb[-2]:
        if db == 2:  # PyTorch folds the stack into one matrix
            rows = int(np.prod(sa[:-1]))
            raise explain(
                RuntimeError, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{sa[-1]} and {sb[0]}x{sb[1]})",
                cure="the last size of the first must equal the last but one of the second.",
            )  # fmt: skip
        raise explain(
            RuntimeError,
            f"Expected size for first two dimensions of batch2 tensor to be: [{sa[0]}, {sa[-1]}] but got: [{sb[0]}, {sb[-2]}].",
            cure="the last size of the first must equal the last but one of the second.",
        )
    if db == 2:
        return _mm(a.reshape(-1, sa[-1]), b).reshape(*sa[:-1], sb[-1])
    return bmm_row(a, b)


def reflected_multiply(self: Tensor, other: Any) -> Any:
    if isinstance(other, ndarray):
        from ..create import from_numpy

        return multiply(from_numpy(other), self)
    return NotImplemented


def operator_matmul(self: Tensor, other: Any) -> Any:
    """a @ b: two matrices that fit go straight to the product."""
    if isinstance(other, Tensor):
        a, b = self.raw, other.raw
        if a.__class__ is ndarray and b.__class__ is ndarray and a.ndim == 2 == b.ndim and a.shape[1] == b.shape[0]:
            if a.dtype is b.dtype:
                return _mm(self, other)
    return multiply(self, other)


attach("__matmul__", operator_matmul)
attach("__rmatmul__", reflected_multiply)


@public()
def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The matrix product: of vectors (a number), matrices, a matrix and a vector, or stacks of them (broadcast).

    Shapes (…, n, k) @ (…, k, m) give (…, n, m).  Raises RuntimeError where k differs, or the dtypes do.

    >>> import autodiff_kernel as torch
    >>> torch.matmul(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 10.]))
    tensor([21., 43.])
    """
    check_tensor("matmul", input)
    check_tensor("matmul", other, "other", 2)
    return into(out, multiply(input, other))


@public("mm")
def mm_(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """The product of two matrices, (n, k) and (k, m), of shape (n, m).

    >>> import autodiff_kernel as torch
    >>> torch.mm(torch.ones(2, 3), torch.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    check_pair(input, mat2, "mm")
    for t, name in ((input, "self"), (mat2, "mat2")):
        if t.raw.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    return into(out, matrix_product(input, mat2))


@public("mv")
def mv_(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor:
    """The product of a matrix (n, k) and a vector (k,), of shape (n,).

    >>> import autodiff_kernel as torch
    >>> torch.mv(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    if not isinstance(input, Tensor) or not isinstance(vec, Tensor):
        check_tensor("mv", input)
        check_tensor("mv", vec, "vec", 2)
    da, db = input.raw.ndim, vec.raw.ndim
    if da != 2 or db != 1:
        raise explain(
            RuntimeError,
            f"vector + matrix @ vector expected, got 1, {da}, {db}",
            "mv takes a matrix (two dimensions) and a vector (one dimension).",
            "a column of shape (n, 1) is a matrix: use mm, or vec.squeeze(1).",
        )
    if input.raw.dtype is not vec.raw.dtype:
        check_pair(input, vec, "mv")
    if input.raw.shape[1] != vec.raw.shape[0]:
        raise _vector_sizes(input, vec)
    result = _mv(input, vec)
    return result if out is None else into(out, result)


@public("dot")
def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Tensor:
    """The dot product of two vectors of one length.

    >>> import autodiff_kernel as torch
    >>> torch.dot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    if not isinstance(input, Tensor) or not isinstance(tensor, Tensor):
        check_tensor("dot", input)
        check_tensor("dot", tensor, "tensor", 2)
    if input.raw.ndim != 1 or tensor.raw.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.raw.ndim}D and {tensor.raw.ndim}D tensors")
    if input.raw.dtype is not tensor.raw.dtype:
        left, right = (_NAMES.get(t.dtype.name, t.dtype.name).capitalize() for t in (input, tensor))
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {left} and {right}")
    if input.raw.shape != tensor.raw.shape:
        raise _vector_sizes(input, tensor)
    result = _dot(input, tensor)
    return result if out is None else into(out, result)


@public()
def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """The products of two stacks of matrices, (b, n, k) and (b, k, m), of shape (b, n, m).

    >>> import autodiff_kernel as torch
    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).shape
    torch.Size([2, 1, 1])
    """
    check_pair(input, mat2, "bmm")
    for t, name in ((input, "batch1"), (mat2, "batch2")):
        if t.raw.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    sa, sb = input.raw.shape, mat2.raw.shape
    if sa[0] != sb[0] or sa[2] != sb[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{sa[0]}, {sa[2]}] but got: [{sb[0]}, {sb[1]}]."
        )
    return into(out, bmm_row(input, mat2))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias: (…, in) and (out, in) give (…, out); one node.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.core.rules.products import linear
    >>> linear(torch.ones(1, 2), torch.tensor([[1., 2.]]), torch.tensor([10.]))
    tensor([[13.]])
    """
    x, w = input.raw, weight.raw
    if x.ndim == 2 and w.ndim == 2 and x.shape[1] == w.shape[1] and x.dtype is w.dtype:
        return linear_row(input, weight, bias)
    if w.ndim == 2 and x.ndim and x.shape[-1] == w.shape[1] and x.dtype is w.dtype:
        flat = linear_row(input.reshape(-1, x.shape[-1]), weight, bias)
        return flat.reshape(*x.shape[:-1], w.shape[0])
    check_pair(input, weight, "linear")
    result = multiply(input, weight.t())
    return result if bias is None else result + bias
