"""scatter_reduce: elements that meet at one place are summed, multiplied, averaged, or the extreme one stays."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import attach, check_tensor, into, public
from ..dtype import is_floating
from ..inplace import in_place
from ..op import TABLE, Op
from ..tensor import Tensor
from .dims import wrap_dim
from .forms import where
from .part_checks import check_parts
from .picking import vector
from .scatter import (
    _add,
    _fresh,
    _lifted,
    _shaped,
    check_index,
    check_source,
    corner,
    gather_row,
    places,
    reach,
    scatter_add_row,
    scatter_row,
    source_part,
)
from .slices import getitem

UFUNCS = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
START = {"sum": 0, "mean": 0, "prod": 1}


def _start(out: Any, where_: Any, kind: str) -> Any:
    """Without the input itself, the places that are written begin at the neutral element."""
    kind_of = out.dtype.kind
    if kind in START:
        first: Any = START[kind]
    elif kind_of == "f":
        first = -np.inf if kind == "amax" else np.inf
    elif kind_of == "b":
        first = kind == "amin"
    else:
        info = np.iinfo(out.dtype)
        first = info.min if kind == "amax" else info.max
    out[where_] = first


def _combine(out: Any, where_: Any, src: Any, kind: str) -> None:
    """out[where] = f(out[where], src), one element after the other."""
    ufunc = UFUNCS[kind]
    if devices.device_of(out).type == "cpu":
        ufunc.at(out, where_, src)
        return
    # CuPy has no `ufunc.at` for all of these: the k-th element of each place in round k
    order = where_.argsort()
    sorted_places, sorted_src = where_[order], src[order]
    rank = devices.arange(len(order), dtype=np.int64, like=out) - np.searchsorted(
        sorted_places, sorted_places
    )
    for k in range(int(devices.item(rank.max())) + 1):
        now = rank == k
        here = sorted_places[now]
        out[here] = ufunc(out[here], sorted_src[now])


def _counts(like: Any, c: Any, shape: tuple[int, ...], dim: int, include_self: bool) -> Any:
    out = devices.full(shape or (1,), 1 if include_self else 0, like.dtype, like=like)
    _add(out, _lifted(c, 1)[0], 1, dim)
    return np.maximum(out, 1)


def reducer(kind: str) -> Any:
    """The forward of one kind: p is (dimension, whether the input's own element counts)."""

    def fwd(a: Any, b: Any, c: Any, p: Any) -> Any:
        dim, include_self = p
        out = _fresh(a)
        index, src = _lifted(c, b)
        if not index.size:
            return _shaped(out, a)
        spots, src = places(index, dim, out.shape).reshape(-1), corner(src, index, -1).reshape(-1)
        line = out.reshape(-1)
        if not include_self:
            _start(line, spots, kind)
        if kind in UFUNCS:
            _combine(line, spots, src, kind)
        else:
            devices.add_at(line, spots, src)
        if kind == "mean":
            counts = _counts(out, index, out.shape, dim, include_self)
            out = out / counts if is_floating(out.dtype) else (out // counts).astype(out.dtype)
        return _shaped(out, a)

    return fwd


def _mean_counts(g: Any, c: Any, p: Any) -> Any:
    dim, include_self, shape = p
    out = _counts(g, c, shape, dim, include_self)
    return out if shape else out.reshape(())[()]


counts_row: Op = Op(
    "scatter_counts",
    _mean_counts,
    params=True,
    batch="counts",
    doc="How many elements meet at each place of a scatter.",
)


def _outside(g: Any, n: Any) -> Any:
    """g, but zero where the input's own element was not counted."""
    return g if n.p[1] else scatter_row(g, 0, n.c, p=(n.p[0], True))


def _at(x: Any, n: Any) -> Any:
    """x read at the places of the source."""
    return gather_row(x, n.c, p=n.p[0])


def _reached(n: Any) -> Any:
    """The part of the source that the index reaches."""
    return n.b if n.sc == n.sb else getitem(n.b, p=reach(n.sc, n.sb))


def _averaged(g: Any, n: Any) -> Any:
    return g / counts_row(g, n.c, p=(*n.p, n.sa))


def _ties(n: Any) -> Any:
    """Which elements of the input and of the source are the extreme one of their place, and how many share it."""
    mine, theirs = n.a == n.y, _reached(n) == _at(n.y, n)
    like = n.y * 0
    one = where(mine, like + 1, like)
    count = scatter_add_row(one if n.p[1] else scatter_row(one, 0, n.c, p=(n.p[0], True)),
                            where(theirs, _at(like, n) + 1, _at(like, n)), n.c, p=n.p[0])  # fmt: skip
    return mine, theirs, where(count == 0, like + 1, count)


def _extreme_self(g: Any, n: Any) -> Any:
    mine, _, count = _ties(n)
    return _outside(where(mine, g / count, 0), n)


def _extreme_source(g: Any, n: Any) -> Any:
    _, theirs, count = _ties(n)
    return source_part(where(theirs, _at(g / count, n), 0), n)


def _prod_self(g: Any, n: Any) -> Any:
    ones = where(n.a == 0, n.a * 0 + 1, n.a)
    others = reduce_rows["prod"](ones, n.b, n.c, p=n.p) / ones
    return _outside(g * others, n)


def _prod_source(g: Any, n: Any) -> Any:
    # the product of the others is result / element; for the only zero of a place, the product with a 1 in its stead
    src = _reached(n)
    is_zero = src == 0
    none = src * 0
    zeros = _at(scatter_add_row(n.a * 0, where(is_zero, none + 1, none), n.c, p=n.p[0]), n)
    single = is_zero & (zeros == 1)
    without = reduce_rows["prod"](n.a, where(single, none + 1, src), n.c, p=n.p)
    plain = _at(g * n.y, n) / where(is_zero, none + 1, src)
    return source_part(where(single, _at(g * without, n), plain), n)


def _tangent(rules: tuple[Any, Any]) -> Any:
    """Each rule is a product with a factor of each element: the same factors map the tangents."""

    def jvp(ts: Any, n: Any) -> Any:
        one = n.y * 0 + 1
        total = n.y * 0
        if ts[0] is not None:
            total = total + rules[0](one, n) * ts[0]
        if ts[1] is not None:
            total = scatter_add_row(total, rules[1](one, n) * ts[1], n.c, p=n.p[0])
        return total

    return jvp


def _row(kind: str, a: Any, b: Any, reads: tuple[str, str], **more: Any) -> Op:
    return Op(
        f"scatter_reduce_{kind}", reducer(kind), a=a, b=b, reads=reads, params=True, node="ScatterReduceBackward0",
        symbol=f"scatter {kind}", batch="scatter", **more,
    )  # fmt: skip


reduce_rows = {
    "sum": _row(
        "sum", _outside, lambda g, n: source_part(_at(g, n), n), ("c", "c"), mode="joint", partials=("1", "1"),
        doc="The input, with the source's elements added at the index along a dimension.",
    ),
    "mean": _row(
        "mean", lambda g, n: _outside(_averaged(g, n), n), lambda g, n: source_part(_at(_averaged(g, n), n), n),
        ("c", "c"), mode="joint", partials=("1/n", "1/n"),
        doc="At each place, the mean of the elements of input and source that meet there.",
    ),
    "prod": _row(
        "prod", _prod_self, _prod_source, ("abc", "abcy"), jvp=_tangent((_prod_self, _prod_source)),
        partials=("the product of the others", "the product of the others"),
        doc="At each place, the product of the elements of input and source that meet there.",
    ),
    "amax": _row(
        "amax", _extreme_self, _extreme_source, ("abcy", "abcy"), jvp=_tangent((_extreme_self, _extreme_source)),
        partials=("1 where it is the maximum", "1 where it is the maximum"),
        doc="At each place, the largest of the elements of input and source that meet there.",
    ),
    "amin": _row(
        "amin", _extreme_self, _extreme_source, ("abcy", "abcy"), jvp=_tangent((_extreme_self, _extreme_source)),
        partials=("1 where it is the minimum", "1 where it is the minimum"),
        doc="At each place, the smallest of the elements of input and source that meet there.",
    ),
}  # fmt: skip


def _kind(reduce: Any, name: str) -> Op:
    row = reduce_rows.get(reduce)
    if row is None:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return row


@public()
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True,
                   out: Any = None) -> Tensor:  # fmt: skip
    """At each place, the elements of `src` whose `index` along `dim` leads there, reduced with the input's own.

    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'.  Without `include_self` the input's element counts only where
    none of the source arrives.

    >>> import autodiff_kernel as torch
    >>> torch.zeros(2).scatter_reduce(0, torch.tensor([0, 0, 1]), torch.tensor([1., 5., 2.]), 'amax')
    tensor([5., 2.])
    """
    row = _kind(reduce, "scatter_reduce")
    check_tensor("scatter_reduce", src, "src", 4)
    d = check_index("scatter_reduce", input, dim, index, src)
    check_source("scatter", input, src)
    return into(out, row(input, src, index, p=(d, bool(include_self))))


@public()
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True,
                 out: Any = None) -> Tensor:  # fmt: skip
    """`scatter_reduce` with whole parts of `source` along `dim`: 'prod', 'mean', 'amax' or 'amin'.

    >>> import autodiff_kernel as torch
    >>> torch.ones(2).index_reduce(0, torch.tensor([0, 0]), torch.tensor([2., 3.]), 'prod')
    tensor([6., 1.])
    """
    check_tensor("index_reduce", input)
    check_tensor("index_reduce", source, "source", 4)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either prod, mean, amax or amin, got {reduce}.")
    d = wrap_dim(dim, input.raw.ndim, "index_reduce")
    shape = source.raw.shape
    check_parts("index_reduce", input.raw.shape, shape, d, index.raw.size)
    index = vector("index_reduce", input, index)
    full = index
    if shape:
        lined = TABLE["reshape"](index, p=tuple(-1 if k == d else 1 for k in range(len(shape))))
        full = TABLE["expand"](lined, p=shape)
    return scatter_reduce(input, d, full, source, reduce, include_self=include_self, out=out)


for _name, _function in {"scatter_reduce_": scatter_reduce, "index_reduce_": index_reduce}.items():
    attach(_name, in_place(_function))
