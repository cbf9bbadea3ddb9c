"""One tensor to several views: split, chunk, tensor_split, unbind, and what they are called in NumPy."""

from typing import Any

import numpy as np

from .. import device as devices
from ..api import attach, check_tensor, public
from ..graph import Node, new, tick
from ..modes import special
from ..op import Op, pick_node
from ..sharing import View, family_of, version_of
from ..tensor import Tensor, wrap
from .dims import is_whole, size_list, whole, wrap_dim
from .joining import cat_row, stack_row
from .parts import narrow

ndarray, WHOLE = np.ndarray, slice(None)


def _split(a: Any, p: Any) -> Any:
    """p is (sizes, dimension, the form that was called)."""
    parts, dim, _ = p
    before, start, out = (WHOLE,) * dim, 0, []
    for n in parts:
        out.append(a[(*before, slice(start, start + n))])
        start += n
    return tuple(out)


def _parts_back(g: Any, n: Any) -> Any:
    """The cotangents of the parts, side by side; zeros where a part was not used."""
    return cat_row(*filled(g, n.sy), p=n.p[1])


def filled(g: list[Any], shapes: Any) -> list[Any]:
    some = next(x for x in g if x is not None)
    raw = getattr(some, "raw", some)
    out = []
    for x, shape in zip(g, shapes, strict=True):
        if x is None:
            x = devices.zeros(tuple(shape), raw.dtype, like=raw)
            x = wrap(x) if isinstance(some, Tensor) else x
        out.append(x)
    return out


split_row = Op(
    "split", _split, a=_parts_back, mode="linear", params=True, outputs=True, view=True,
    node=lambda p: "SplitWithSizesBackward0" if p[2] else "SplitBackward0", partials=("1 in the part",),
    batch="parts", doc="Parts of a tensor, one behind the other along a dimension.",
)  # fmt: skip


def _unbind(a: Any, p: Any) -> Any:
    if not p:
        return tuple([a[i, ...] for i in range(a.shape[0])])
    return tuple([a[(*[WHOLE] * p, i, ...)] for i in range(a.shape[p])])


unbind_row = Op(
    "unbind", _unbind,
    a=lambda g, n: stack_row(*filled(g, n.sy), p=n.p), mode="linear", params=True, outputs=True, view=True,
    partials=("1 in the part",), batch="along", doc="The slices of a tensor along a dimension.",
)  # fmt: skip


def several_views(op: Op, x: Tensor, p: Any) -> tuple[Tensor, ...]:
    """The row on one Tensor on the CPU, written out; anything else through `Op.__call__`."""
    raw = x.raw
    if raw.__class__ is not ndarray or special[0] or x.is_dual:
        return op(x, p=p)  # type: ignore[no-any-return]
    ys = op.fwd(raw, p)
    version, family = version_of(x), x.family
    is_view = family.__class__ is View
    base, chain = (family.base, family.chain) if is_view else (x, None)
    n: Any = None
    if x.node is not None and ys:
        n = Node()
        n.op, n.seq, n.left, n.p, n.notes = op, tick(), x.node, p, None
        n.sa, n.sy = raw.shape, [y.shape for y in ys]
    relatives = family_of(base)
    made = family.made if is_view and family.made != "grad" else "several"
    outs = []
    for k, y in enumerate(ys):
        out = new(Tensor)
        out.raw = y
        out.version = version
        out.node = None if n is None else pick_node(n, k)
        out.family = view = new(View)
        view.base = base
        view.chain = (chain, op, (p, k))
        view.made = made
        relatives.add(out)
        outs.append(out)
    return tuple(outs)


def at_least_1d(function: str, x: Any) -> None:
    check_tensor(function, x)
    if not x.raw.ndim:
        raise RuntimeError(f"{function} expects at least a 1-dimensional tensor")


def equal_parts(size: int, step: int) -> tuple[int, ...]:
    """`size` in steps, the last one shorter if they do not fit; of nothing, one part."""
    if not size:
        return (0,)
    count = -(-size // step)
    return (step,) * (count - 1) + (size - step * (count - 1),)


@public()
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts along `dim`: all of one size (the last may be shorter), or of the sizes in a list.

    >>> import autodiff_kernel as torch
    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> torch.arange(5).split([1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    size = split_size_or_sections
    if not is_whole(size):
        return split_with_sizes(tensor, size, dim)
    at_least_1d("split", tensor)
    step = int(size)
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    d = wrap_dim(dim, tensor.raw.ndim, "split")
    length = tensor.raw.shape[d]
    if not step and length:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
        )
    return several_views(split_row, tensor, (equal_parts(length, step), d, False))


def split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts along `dim`: all of one size (the last may be shorter), or of the sizes in a list.

    >>> import autodiff_kernel as torch
    >>> torch.arange(5).split(3)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return split(self, split_size, dim)


attach("split", split_method)


@public()
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of the given sizes along `dim`, which must add up to the whole.

    >>> import autodiff_kernel as torch
    >>> torch.split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    at_least_1d("split_with_sizes", input)
    parts = size_list(split_sizes, "split_with_sizes", "split_sizes") if split_sizes != () else ()
    d = wrap_dim(dim, input.raw.ndim, "split_with_sizes")
    length = input.raw.shape[d]
    if any(n < 0 for n in parts):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes="
            f"{list(parts)}"
        )
    if sum(parts) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at "
            f"dimension {dim}), but "
            f"got split_sizes={list(parts)}"
        )
    return several_views(split_row, input, (parts, d, True))


@public()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal size along `dim`; the last may be shorter.

    >>> import autodiff_kernel as torch
    >>> torch.chunk(torch.arange(5), 3)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    at_least_1d("chunk", input)
    if whole(chunks, "chunk", "chunks") <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    d = wrap_dim(dim, input.raw.ndim, "chunk")
    size = input.raw.shape[d]
    if not size:
        return several_views(split_row, input, ((0,) * chunks, d, True))
    return several_views(split_row, input, (equal_parts(size, -(-size // chunks)), d, False))


@public()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of all slices along `dim`, without that dimension.

    >>> import autodiff_kernel as torch
    >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
    """
    check_tensor("unbind", input)
    if not input.raw.ndim:
        wrap_dim(dim, 0, "unbind")
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return several_views(unbind_row, input, wrap_dim(dim, input.raw.ndim, "unbind"))


# ------------------------------------------------------------------------------------------------ NumPy's ways
@public()
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts along `dim`: so many of nearly equal size, or cut at the indices in a list or tensor.

    >>> import autodiff_kernel as torch
    >>> torch.tensor_split(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> torch.tensor_split(torch.arange(5), (1, 4))
    (tensor([0]), tensor([1, 2, 3]), tensor([4]))
    """
    check_tensor("tensor_split", input)
    cut = indices_or_sections
    ndim = input.raw.ndim
    if not ndim:
        raise RuntimeError(
            f"tensor_split expected at least a 1-dimensional tensor, but got a tensor with {ndim} dims"
        )
    d = wrap_dim(dim, ndim, "tensor_split")
    size = input.raw.shape[d]
    if isinstance(cut, Tensor):
        if cut.raw.ndim > 1 or cut.raw.dtype != np.int64 or cut.device.type != "cpu":
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                "one-dimensional tensor of "
                f"dtype long on the CPU, but got a tensor with {cut.raw.ndim} dims, {cut.dtype} on "
                f"{cut.device}"
            )
        cut = cut.tolist()
    if is_whole(cut):
        parts = int(cut)
        if parts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {parts}")
        short, longer = divmod(size, parts)
        ends = [short * (i + 1) + min(i + 1, longer) for i in range(parts - 1)]
    else:
        ends = list(size_list(tuple(cut), "tensor_split", "indices")) if len(cut) else []
    ends = [min(max(e + size if e < 0 else e, 0), size) for e in ends]
    return tuple(
        narrow(input, d, start, max(stop - start, 0))
        for start, stop in zip([0, *ends], [*ends, size], strict=True)
    )


def _named_split(name: str, dim: int, least: int, example: str) -> None:
    def form(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        check_tensor(name, input)
        ndim = input.raw.ndim
        if ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                f"{ndim} dimensions!"
            )
        d = 0 if dim == 1 and ndim == 1 else dim
        size = input.raw.shape[d]
        if is_whole(indices_or_sections):
            parts = int(indices_or_sections)
            if parts <= 0 or size % parts:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {d}, but the size of the dimension "
                    f"{size} is not "
                    f"divisible by the split_size {parts}!"
                )
        return tensor_split(input, indices_or_sections, d)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = (
        f"Views of parts along dimension {dim}{' (0 of a 1-D tensor)' if dim == 1 else ''}: so many equal "
        "ones, or cut at "
        f"the given indices.\n\n>>> import autodiff_kernel as torch\n{example}\n"
    )
    public()(form)


_named_split("hsplit", 1, 1, ">>> torch.hsplit(torch.arange(4), 2)\n(tensor([0, 1]), tensor([2, 3]))")
_named_split("vsplit", 0, 2, ">>> torch.vsplit(torch.ones(2, 1), 2)\n(tensor([[1.]]), tensor([[1.]]))")
_named_split("dsplit", 2, 3, ">>> torch.dsplit(torch.ones(1, 1, 2), 2)\n(tensor([[[1.]]]), tensor([[[1.]]]))")
