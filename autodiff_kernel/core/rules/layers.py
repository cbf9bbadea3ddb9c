"""The linear layer: x @ Wᵀ + b, as one row."""

from typing import Any

import numpy as np

from ..api import check_tensor
from ..graph import WideNode, new, tick
from ..modes import departed, watch
from ..op import Op
from ..sharing import saved_version_of
from ..tensor import Tensor
from ..walk import unbroadcast
from .forms import conj
from .products import FOLDED, matmul, mm, mm_tn, no_bools, no_product, other_dtypes, pairing, rows
from .reductions import sum_row
from .shapes import expand_row, reshape
from .writing import check_sizes

ndarray = np.ndarray


def _linear(x: Any, w: Any, b: Any, p: str) -> Any:
    y = _linear_plain(x, w, p)
    y += b
    return y


def _linear_plain(x: Any, w: Any, p: str) -> Any:
    if x.dtype is not w.dtype and x.dtype != w.dtype:
        raise other_dtypes(x, w)
    flat = x if x.ndim == 2 else x.reshape((rows(x.shape), x.shape[-1]))
    try:
        y = flat.dot(w.T)
    except ValueError:
        raise no_product(flat.shape, w.shape[::-1]) from None
    return no_bools(y if x.ndim == 2 else y.reshape((*x.shape[:-1], w.shape[0])))


def _flat(x: Any, shape: tuple[int, ...]) -> Any:
    return x if len(shape) == 2 else reshape(x, p=(rows(shape), shape[-1]))


def _to_input(g: Any, n: Any) -> Any:
    g = mm(_flat(g, n.sy), conj(n.b))
    return g if len(n.sa) == 2 else reshape(g, p=n.sa)


def _to_weight(g: Any, n: Any) -> Any:
    return conj(mm_tn(_flat(g, n.sy), _flat(n.a, n.sa)))


def _to_bias(g: Any, n: Any) -> Any:
    return unbroadcast(sum_row(g, p=(tuple(range(len(n.sy) - 1)), False)) if len(n.sc) == 1 else g, n.sc)


def _linear_tangent(ts: Any, n: Any) -> Any:
    tx, tw, tb = ts
    total = None if tx is None else linear_plain(tx, n.b, p=n.p)
    for t in (None if tw is None else linear_plain(n.a, tw, p=n.p), tb):
        if t is None:
            continue
        if total is None:
            total = t if t is not tb else expand_row(t, p=n.sy)
        elif total.__class__ is ndarray:  # nobody else holds it
            total += t
        else:
            total = total + t
    return total


# p is PyTorch's name of the node
linear_row: Op = Op(
    "linear", _linear, _to_input, _to_weight, _to_bias, reads=("b", "a", ""), jvp=_linear_tangent, params=True,
    node=lambda p: p, symbol="x@Wᵀ+b", partials=("{b} from the right", "{a} from the right of gᵀ", "1"),
    latex="{a} {b}^T + {c}", batch="linear", doc="A linear layer: the product with the transposed weight, plus the bias.",
)  # fmt: skip
linear_plain: Op = Op(
    "linear_no_bias", _linear_plain, _to_input, _to_weight, reads=("b", "a"), mode="linear", params=True,
    node=lambda p: p, symbol="x@Wᵀ", partials=("{b} from the right", "{a} from the right of gᵀ"), latex="{a} {b}^T",
    batch="linear", doc="A linear layer without bias: the product with the transposed weight.",
)  # fmt: skip


_fast_plain = pairing(linear_plain)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, the linear layer.

    input: (…, in), weight: (out, in), bias: (out).  The result is (…, out).  Raises RuntimeError for shapes or dtypes
    that do not match.

    >>> import autodiff_kernel as torch
    >>> torch.nn.functional.linear(torch.ones(1, 2), torch.tensor([[1., 2.]]), torch.tensor([10.]))
    tensor([[13.]])
    """
    x, w = input.raw, weight.raw
    if (
        x.__class__ is not ndarray
        or x.ndim < 2
        or w.__class__ is not ndarray
        or w.ndim != 2
        or x.shape[-1] != w.shape[1]
        or x.dtype is not w.dtype
        or x.dtype.kind != "f"
        or departed[0]
        or input.is_dual
        or weight.is_dual
    ):
        return any_linear(input, weight, bias)
    if bias is None:
        return _fast_plain(input, weight, "MmBackward0" if x.ndim == 2 else FOLDED)
    c = bias.raw
    if c.__class__ is not ndarray or c.dtype is not x.dtype or c.shape != w.shape[:1] or bias.is_dual:
        return any_linear(input, weight, bias)
    y = x.dot(w.T) if x.ndim == 2 else x.reshape((rows(x.shape), w.shape[1])).dot(w.T)
    y += c
    out = new(Tensor)
    out.raw = y = y if x.ndim == 2 else y.reshape((*x.shape[:-1], w.shape[0]))
    out.version = out.family = None
    left, right, third = input.node, weight.node, bias.node
    if left is None and right is None and third is None:
        out.node = None
        if watch[0] is not None:
            watch[0](linear_row, "AddmmBackward0", (input, weight, bias), out)
        return out
    # `remember`, written out: linear layers are hot
    out.node = n = WideNode()
    n.op, n.seq, n.notes = linear_row, tick(), None
    n.p = "AddmmBackward0" if x.ndim == 2 else "ViewBackward0"
    n.left, n.right, n.third = left, right, third
    n.sa, n.sb, n.sc, n.sy = x.shape, w.shape, c.shape, y.shape
    if left is not None:
        n.b, n.vb = w, saved_version_of(weight)
    if right is not None:
        n.a, n.va = x, saved_version_of(input)
    if watch[0] is not None:
        watch[0](linear_row, n.p, (input, weight, bias), out)
    return out


def any_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if input.is_dual and isinstance(bias, Tensor):  # dual numbers come here often
        x, w, c = input.raw, weight.raw, bias.raw
        if (
            x.ndim == 2 == w.ndim
            and c.shape == w.shape[:1]
            and x.shape[1] == w.shape[1]
            and x.dtype is c.dtype
        ):
            return linear_row(input, weight, bias, p="AddmmBackward0")
    check_tensor("linear", input)
    check_tensor("linear", weight, "weight", 2)
    x, w = input.raw, weight.raw
    if w.ndim == 1 or not x.ndim or not w.ndim:
        y = matmul(input, weight)
        return y if bias is None else y + bias  # type: ignore[operator]
    if x.shape[-1] != w.shape[1]:
        raise no_product((rows(x.shape), x.shape[-1]), (w.shape[1], w.shape[0]))
    if bias is None:
        name = {1: "SqueezeBackward4", 2: "MmBackward0"}.get(x.ndim, FOLDED)
        return linear_plain(input, weight, p=name)
    check_tensor("linear", bias, "bias", 3)
    if bias.raw.dtype != x.dtype and w.dtype == x.dtype:
        kinds = bias.dtype.scalar_type, input.dtype.scalar_type
        raise other_dtypes(
            bias.raw, x, f"self and mat2 must have the same dtype, but got {kinds[0]} and {kinds[1]}"
        )
    shape = (*x.shape[:-1], w.shape[0])
    if bias.raw.shape != shape[-1:]:
        check_sizes(shape if len(shape) > 1 else (1, *shape), bias.raw)
    return linear_row(input, weight, bias, p="AddmmBackward0" if x.ndim == 2 else "ViewBackward0")
