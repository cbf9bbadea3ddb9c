"""Products that are made of simpler operations: outer, inner, tensordot, kron, cross, multi_dot, and the trace."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api import check_tensor, into, public
from ..errors import explain
from ..op import TABLE, Op
from ..tensor import Tensor
from ..walk import unbroadcast
from .dims import product, wrap_dim
from .forms import conj
from .orders import permute_row
from .products import dot, matmul, mm, other_dtypes
from .reductions import sum_row
from .shapes import reshape, unsafe_view


# ------------------------------------------------------------------------------------------------ outer, inner
@public("outer", "ger")
def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """All products of an element of the first vector with one of the second: (n) and (m) give (n, m).

    >>> import autodiff_kernel as torch
    >>> torch.outer(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    check_tensor("outer", input)
    check_tensor("outer", vec2, "vec2", 2)
    for x, name in ((input, "self"), (vec2, "vec2")):
        if x.raw.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.raw.ndim}-D")
    column: Any = reshape(input, p=(input.raw.shape[0], 1))
    return into(out, column * vec2)


@public()
def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The dot products along the last dimensions: (…, m) and (…, m) give all pairs; a 0-d tensor multiplies.

    >>> import autodiff_kernel as torch
    >>> torch.inner(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    """
    check_tensor("inner", input)
    check_tensor("inner", other, "other", 2)
    a, b = input.raw.shape, other.raw.shape
    if not a or not b:
        return into(out, input * other)  # type: ignore[operator]
    if a[-1] != b[-1]:
        raise explain(
            RuntimeError,
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a)} and {list(b)}",
        )
    return into(out, tensordot(input, other, ([-1], [-1])))


# ------------------------------------------------------------------------------------------------ tensordot
@public(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """The sum of products over pairs of dimensions.

    dims: how many of the last dimensions of `a` go with the first of `b`; or two lists, of dimensions of `a` and of
    `b`.  What is left of `a` comes first in the result, then what is left of `b`.

    >>> import autodiff_kernel as torch
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), 1).shape
    torch.Size([2, 4])
    """
    check_tensor("tensordot", a, "a")
    check_tensor("tensordot", b, "b", 2)
    first, second = _pairs(a, b, dims)
    for i, j in zip(first, second):  # a dimension of size 1 stands for a constant one
        if a.raw.shape[i] == 1 != b.raw.shape[j]:
            b = sum_row(b, p=((j,), True))
        elif b.raw.shape[j] == 1 != a.raw.shape[i]:
            a = sum_row(a, p=((i,), True))
    sa, sb = a.raw.shape, b.raw.shape
    left = [d for d in range(len(sa)) if d not in first]
    right = [d for d in range(len(sb)) if d not in second]
    inner_size = product(sa[d] for d in first)
    shape = tuple(sa[d] for d in left) + tuple(sb[d] for d in right)
    if a.raw.dtype != b.raw.dtype:
        raise other_dtypes(a.raw, b.raw, "both inputs should have same dtype")
    if not left and not right:
        flat = (reshape(_ordered(x, order), p=(inner_size,)) for x, order in ((a, first), (b, second)))
        return into(out, reshape(dot(*flat), p=()))
    x = reshape(_ordered(a, [*left, *first]), p=(product(sa[d] for d in left), inner_size))
    y = reshape(_ordered(b, [*second, *right]), p=(inner_size, product(sb[d] for d in right)))
    return into(out, reshape(mm(x, y), p=shape))


def _ordered(x: Tensor, order: list[int]) -> Tensor:
    return x if order == list(range(len(order))) else permute_row(x, p=tuple(order))


def _pairs(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    n, m = a.raw.ndim, b.raw.ndim
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(n, m):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        given: Any = (range(n - dims, n), range(dims))
    else:
        given = [d if isinstance(d, (list, tuple)) else [d] for d in dims]
    if len(given[0]) != len(given[1]):
        raise RuntimeError("both dimension lists should have same length")
    first = [wrap_dim(d, n, "tensordot") for d in given[0]]
    second = [wrap_dim(d, m, "tensordot") for d in given[1]]
    for i, j in zip(first, second):
        if a.raw.shape[i] != b.raw.shape[j] and 1 not in (a.raw.shape[i], b.raw.shape[j]):
            raise explain(
                RuntimeError,
                f"contracted dimensions need to match, but first has size {a.raw.shape[i]} in dim {i - n} and second "
                f"has size {b.raw.shape[j]} in dim {j}",
            )
    return first, second


# ------------------------------------------------------------------------------------------------ kron
@public()
def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The Kronecker product: each element of the first tensor times the whole second one.

    >>> import autodiff_kernel as torch
    >>> torch.kron(torch.tensor([1., 10.]), torch.tensor([1., 2.]))
    tensor([ 1.,  2., 10., 20.])
    """
    check_tensor("kron", input)
    check_tensor("kron", other, "other", 2)
    a, b = input.raw.shape, other.raw.shape
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    x: Any = reshape(input, p=tuple(k for n in a for k in (n, 1)))
    y: Any = reshape(other, p=tuple(k for n in b for k in (1, n)))
    return into(out, unsafe_view(x * y, p=tuple(m * n for m, n in zip(a, b))))


# ------------------------------------------------------------------------------------------------ cross
def _cross(a: Any, b: Any, p: int) -> Any:
    a, b = np.broadcast_arrays(a, b)
    return np.cross(a, b, axis=p)


# p is the dimension, counted from the end
cross_row: Op = Op(
    "linalg_cross", _cross, a=lambda g, n: unbroadcast(cross_row(conj(n.b), g, p=n.p), n.sa),
    b=lambda g, n: unbroadcast(cross_row(g, conj(n.a), p=n.p), n.sb), reads=("b", "a"), mode="linear",
    params=True, symbol="×", partials=("{b} ×", "× {a}"), latex=r"{a} \times {b}",
    batch="elementwise", doc="The cross product of vectors in space.",
)  # fmt: skip


@public()
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """The cross products of vectors along `dim` (the first dimension of size 3 if not given).

    >>> import autodiff_kernel as torch
    >>> torch.cross(torch.tensor([1., 0., 0.]), torch.tensor([0., 1., 0.]), dim=0)
    tensor([0., 0., 1.])
    """
    check_tensor("cross", input)
    if dim is None:
        threes = [d for d, n in enumerate(input.raw.shape) if n == 3]
        if not threes:
            raise RuntimeError("no dimension of size 3 in input")
        dim = threes[0]
    return into(out, linalg_cross(input, other, dim=dim))


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The cross products of vectors of 3 elements along `dim`; other dimensions broadcast.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.cross(torch.tensor([1., 0., 0.]), torch.tensor([0., 1., 0.]))
    tensor([0., 0., 1.])
    """
    check_tensor("linalg.cross", input)
    check_tensor("linalg.cross", other, "other", 2)
    a, b = input.raw.shape, other.raw.shape
    if len(a) != len(b):
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions. Got {len(a)} and {len(b)}"
        )
    d = wrap_dim(dim, len(a), "linalg.cross")
    if a[d] != 3 or b[d] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[d]} and {b[d]}")
    if input.raw.dtype != other.raw.dtype:
        raise other_dtypes(input.raw, other.raw)
    from ..failures import shape_clash

    clash = shape_clash([a, b])
    if clash is not None:
        raise clash
    return into(out, cross_row(input, other, p=d - len(a)))


# ------------------------------------------------------------------------------------------------ trace
def _trace(a: Any, p: Any) -> Any:
    return a.trace().astype(np.int64) if a.dtype.kind in "iub" else a.trace()


def _trace_back(g: Any, n: Any) -> Any:
    size = min(n.sa)
    line = TABLE["expand"](reshape(g, p=(1,)), p=(size,))
    return TABLE["diagonal_backward"](line, p=((0, 0, 1), n.sa))


trace_row: Op = Op(
    "trace", _trace, a=_trace_back, mode="linear", params=True, symbol="tr", partials=("the unit matrix",),
    latex=r"\mathrm{{tr}}({a})", batch="trace", doc="The sum of the diagonal of a matrix.",
)  # fmt: skip


@public()
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal elements of a matrix.

    >>> import autodiff_kernel as torch
    >>> torch.trace(torch.tensor([[1., 2.], [3., 4.]]))
    tensor(5.)
    """
    check_tensor("trace", input)
    if input.raw.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.raw.ndim}")
    return trace_row(input)


# ------------------------------------------------------------------------------------------------ chains
def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors.

    >>> import autodiff_kernel as torch
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
    tensor([12., 12.])
    """
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(chain)}")
    shapes = []
    for i, x in enumerate(chain):
        ends = i in (0, len(chain) - 1)
        if x.raw.ndim != 2 and not (ends and x.raw.ndim == 1):
            which = "1D or 2D" if ends else "2D"
            raise RuntimeError(f"multi_dot(): tensor {i} must be {which} but got {x.raw.ndim}D")
        shapes.append(x.raw.shape)
    first, last = len(shapes[0]) == 1, len(shapes[-1]) == 1
    if first:
        chain[0] = reshape(chain[0], p=(1, *shapes[0]))
    if last:
        chain[-1] = reshape(chain[-1], p=(*shapes[-1], 1))
    sizes = [x.raw.shape[0] for x in chain] + [chain[-1].raw.shape[1]]
    for i, (x, y) in enumerate(zip(chain, chain[1:])):
        if x.raw.shape[1] != y.raw.shape[0]:
            raise explain(
                RuntimeError,
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(x.raw.shape)} and "
                f"{list(y.raw.shape)} cannot be "
                "multiplied",
            )
    y = _multiply(chain, _best_order(sizes), 0, len(chain) - 1)
    shape = y.raw.shape[int(first) : 2 - int(last)]
    return into(out, reshape(y, p=shape))


def _best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of the chain: the classic dynamic programme."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            outer_sizes = sizes[i] * sizes[j + 1]
            choices = [(cost[i, k] + cost[k + 1, j] + outer_sizes * sizes[k + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(choices)
    return split


def _multiply(chain: list[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return chain[i]
    k = split[i, j]
    return mm(_multiply(chain, split, i, k), _multiply(chain, split, k + 1, j))  # type: ignore[no-any-return]


@public(method=False)
def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    >>> import autodiff_kernel as torch
    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 1))
    tensor([[12.],
            [12.]])
    """
    if len(matrices) == 1:
        return matrices[0]
    return multi_dot(matrices, out=out)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """For each output o: input1 @ weight[o] @ input2, plus the bias.

    input1: (…, n), input2: (…, m), weight: (out, n, m), bias: (out); the result is (…, out).

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2, 3))
    tensor([[6.]])
    """
    a, b, w = input1.raw.shape, input2.raw.shape, weight.raw.shape
    if a[:-1] != b[:-1]:
        raise RuntimeError(f"bilinear(): input dimensions do not match: {list(a)} and {list(b)}")
    for name, shape, size in (("input1", a, w[1]), ("input2", b, w[2])):
        if shape[-1] != size:
            raise explain(
                RuntimeError,
                f"bilinear(): {name} size does not match weight size: got {shape[-1]} but expected {size}",
            )
    if bias is not None and bias.raw.shape[0] != w[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.raw.shape[0]} but expected {w[0]}"
        )
    x = reshape(input1, p=(product(a[:-1]), 1, 1, a[-1]))
    y: Any = reshape(input2, p=(product(b[:-1]), 1, b[-1]))
    through: Any = reshape(matmul(x, weight), p=(product(a[:-1]), w[0], w[2]))
    result: Any = reshape(TABLE["sum"](through * y, p=((2,), False)), p=(*a[:-1], w[0]))
    return result if bias is None else result + bias
