"""Batched tensors: what `vmap` hands to a function that was written for one sample.

A Batched shows the shape of one sample and holds the tensor of all samples, with the batch as dimension 0.  An
operation on it is carried out by ordinary operations on that tensor: how, a row of the table says by one word, its
`batch` (see the package `batching`); a row without a word is run sample by sample, which is right and slow.  Since
these are ordinary operations, they are recorded, differentiated, and batched again, like any other.

Nothing may read the values of a Batched: they differ from sample to sample.  So in the place of a raw array it shows
an Outline (outline.py), which knows shape, dtype and strides, and refuses everything else.
"""

from collections.abc import Callable
from typing import Any

from . import device as devices
from .errors import explain
from .graph import Node, new
from .once import warn
from .op import TABLE, Op
from .outline import no_storage, outline_of, refuse_branch
from .places import claim
from .tensor import Tensor, wrap

Rule = Callable[..., Any]
WORDS: dict[str, Rule] = {}  # what the words mean; filled by the package `batching`


# ------------------------------------------------------------------------------------------------ the wrapper
class Batched(Tensor):
    """A tensor of one sample, as a function inside vmap sees it.  value: that of all samples; level: of which vmap."""

    __slots__ = ("value", "level")
    is_dual = True

    value: Tensor
    level: int

    @property
    def raw(self) -> Any:  # type: ignore[override]
        return outline_of(self.value.raw)

    @property
    def node(self) -> Node | None:  # type: ignore[override]
        return self.value.node

    @property
    def device(self) -> Any:
        return self.value.device

    def serve(self, op: Op, xs: Any, p: Any) -> Any:
        return push(op, xs, p)

    def __bool__(self) -> bool:
        if self.raw.size == 1:
            refuse_branch()
        return Tensor.__bool__(self)

    def detach(self) -> Tensor:
        return make(self.value.detach(), self.level)

    def detach_(self) -> Tensor:
        self.value.detach_()
        return self

    @property  # type: ignore[misc]
    def data(self) -> Any:  # type: ignore[override]
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        raise explain(
            RuntimeError,
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) "
            "inside of a function being transformed by a functorch transform. This is unsupported, please attempt to "
            "use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside "
            "of a function being transformed instead.",
        )

    def backward(self, *_: Any, **__: Any) -> None:
        raise explain(
            RuntimeError,
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms.",
        )

    def numpy(self, *, force: bool = False) -> Any:
        no_storage()

    def tolist(self) -> Any:
        no_storage()

    def data_ptr(self) -> int:
        no_storage()

    def storage_offset(self) -> int:
        return self.value.storage_offset()

    def __deepcopy__(self, memo: Any) -> Any:
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")

    def __repr__(self) -> str:
        inside = repr(self.value).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={depth(self)}, bdim=0, value=\n    {inside}\n)"


def depth(x: Any) -> int:
    """How many wrappers x has: what is shown as its level, since numbers of levels are never used twice."""
    n = 0
    while x.is_dual:
        n, x = n + 1, x.value if isinstance(x, Batched) else x.primal
    return n


def make(value: Tensor, level: int) -> Batched:
    b = new(Batched)
    b.value, b.level, b.version, b.family = value, level, None, None
    return b


def batch(value: Tensor, size: int) -> Tensor:
    """A tensor repeated for each sample, without copying."""
    return TABLE["expand"](value, p=(size, *value.raw.shape))  # type: ignore[no-any-return]


def samples_first(x: Tensor, dim: int) -> Tensor:
    """x with dimension `dim` in front."""
    if not dim:
        return x
    return TABLE["permute"](x, p=(dim, *range(dim), *range(dim + 1, x.raw.ndim)))  # type: ignore[no-any-return]


def samples_at(x: Tensor, dim: int) -> Tensor:
    """x with the first dimension moved to `dim`."""
    if not dim:
        return x
    return TABLE["permute"](x, p=(*range(1, dim + 1), 0, *range(dim + 1, x.raw.ndim)))  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ an operation
def push(op: Op, xs: Any, p: Any) -> Any:
    """One operation on batched tensors of the innermost level among them."""
    if not WORDS:
        from . import batching  # noqa: F401  (its rules are loaded with the first use)

        claim()
    level = max(map(newest, xs))
    values, batched, size = [], [], 0
    for x in xs:
        if isinstance(x, Batched) and x.level == level:
            values.append(x.value)
            batched.append(True)
            size = x.value.raw.shape[0]
            continue
        inner = deep(x, level) if isinstance(x, Tensor) and x.is_dual else None
        values.append(x if inner is None else inner)
        batched.append(inner is not None)
        size = size if inner is None else inner.raw.shape[0]
    y = WORDS.get(op.batch, one_by_one)(op, values, batched, p, size)
    return tuple([make(v, level) for v in y]) if isinstance(y, tuple) else make(y, level)


def newest(x: Any) -> int:
    """The newest level of vmap that x belongs to; 0 if none."""
    if x.__class__ is Batched:
        return max(x.level, newest(x.value))
    return max(newest(x.primal), newest(x.tangent)) if isinstance(x, Tensor) and x.is_dual else 0


def deep(x: Any, level: int) -> Any:
    """The samples of a level that lies inside other wrappers of x, or None."""
    from .wrappers import unbatch

    return unbatch(x, level)


warned: set[str] = set()


def one_by_one(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    """The operation sample by sample, and the results stacked: right, and slow."""
    if op.name not in warned:
        warned.add(op.name)
        warn(
            "There is a performance drop because we have not yet implemented the batching rule for "
            f"aten::{op.name}. Please file us an issue on GitHub so that we can prioritize its implementation.\n"
            "It runs sample by sample: right, but no faster than a loop."
        )
    return sample_by_sample(op, xs, batched, p, size)


def sample_by_sample(op: Op, xs: list[Any], batched: list[bool], p: Any, size: int) -> Any:
    take = TABLE["getitem"]
    if not size:
        return without_samples(op, xs, batched, p)
    ys = [op(*[take(x, p=(i,)) if b else x for x, b in zip(xs, batched)], p=p) for i in range(size)]
    return tuple([stacked(column) for column in zip(*ys)]) if isinstance(ys[0], tuple) else stacked(ys)


def stacked(ys: Any) -> Tensor:
    for i, y in enumerate(ys):
        if y.raw.shape != ys[0].raw.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(ys[0].raw.shape)} at entry 0 and "
                f"{list(y.raw.shape)} at entry {i}"
            )
    return TABLE["stack"](*ys, p=0)  # type: ignore[no-any-return]


def without_samples(op: Op, xs: list[Any], batched: list[bool], p: Any) -> Any:
    """The result for no sample at all: its shape is that of a sample of zeros."""

    def zeros(x: Any) -> Any:
        return wrap(devices.zeros(x.raw.shape[1:], x.raw.dtype, like=ground(x).raw))

    y = op(*[zeros(x) if b else x for x, b in zip(xs, batched)], p=p)

    def none(v: Any) -> Any:
        return wrap(devices.zeros((0, *v.raw.shape), v.raw.dtype, like=ground(v).raw))

    return tuple([none(v) for v in y]) if isinstance(y, tuple) else none(y)


def ground(x: Any) -> Any:
    """The plain tensor beneath all wrappers of x (of a dual number: of its value)."""
    while x.is_dual:
        x = x.value if isinstance(x, Batched) else x.primal
    return x
