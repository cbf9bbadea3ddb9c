"""In-place operations on dual numbers and batched tensors, and of dual numbers on plain tensors.

The operation is computed aside as everywhere (see inplace.py); then the value takes the old value's place and the
tangent the old tangent's, each in its memory, so that views see both change.

A plain tensor into which a dual number is written becomes a dual number itself, with all its relatives (the base and
its views): `out = torch.zeros(3); out[0] = x` is how many people build results.  It was constant until then, so its
tangent is zero before the write.
"""

import weakref
from typing import Any

from . import batched, modes
from .batched import Batched
from .dtype import is_floating
from .dual import Dual, carried, is_stopped, level_of, live, parts, plain, split, unmoved
from .errors import explain
from .graph import new
from .inplace import adopt, check_allowed
from .levels import is_vmap
from .overlap import check_overlap
from .samplewise import for_samples
from .sharing import Family, View, replay
from .tensor import Tensor, wrap
from .wrappers import samples

_SLOTS = ("raw", "node", "version", "family")


def change(function: Any, x: Tensor, args: Any, kwargs: Any) -> Tensor:
    """`x.function_(*args)` where x or an argument is a dual number or a batched tensor."""
    old, ground = x, batched.ground(x)
    if modes.is_grad_enabled() and any(has_node(v) for v in (x, *args, *kwargs.values())):
        check_allowed(ground)
        check_tangents(x)
        old = aside(x)
    check_overlap(ground)
    write(x, function(old, *args, **kwargs), getattr(function, "__name__", ""))
    return x


def check_tangents(x: Any) -> None:
    """Tangents are changed along with their values: may autograd follow that?"""
    while x.is_dual:
        if x.__class__ is Dual:
            if x.level in live and not is_stopped():
                check_allowed(batched.ground(x.tangent))
            x = x.primal
        else:
            x = x.value


def has_node(x: Any) -> bool:
    """Does x, its tangent, or something in a list of such, have a graph?"""
    if isinstance(x, (list, tuple)):
        return any(has_node(v) for v in x)
    if x.__class__ is Dual:
        return has_node(x.primal) or has_node(x.tangent)
    if x.__class__ is Batched:
        return has_node(x.value)
    return isinstance(x, Tensor) and (
        x.node is not None or x.family.__class__ is View and x.family.base.node is not None
    )


def aside(x: Any) -> Any:
    """x in memory of its own and with the same graph: what the rules read after x itself has been overwritten."""
    if x.__class__ is Batched:
        return batched.make(aside(x.value), x.level)
    if x.__class__ is not Dual:
        return wrap(x.raw.copy() if hasattr(x.raw, "base") else x.raw, x.node)
    twin = new(Dual)
    twin.primal, twin.tangent, twin.level = aside(x.primal), aside(x.tangent), x.level
    return twin


def write(x: Any, result: Any, function: str = "") -> None:
    """Give x the value and the history of `result`, at every level that either of them belongs to."""
    if x.__class__ is Dual:
        if x.level not in live or is_stopped():
            write(x.primal, result, function)
            return
        p, t = parts(result, x.level)
        write(x.primal, p, function)
        if x.shared or writable(x.tangent) and batched.newest(t) <= batched.newest(x.tangent):
            write(x.tangent, t, function)
        else:  # an expanded tangent that nobody has a view of
            x.tangent = aside(t)
        return
    if x.__class__ is Batched:
        write(x.value, samples(result, x.level, x.value.raw.shape[0]), function)
        return
    k = 0 if is_stopped() or not is_floating(x.raw.dtype) else level_of(result)
    if k and not is_vmap(k):
        carry(x, k, split(result, k)[1])
        write(x, result, function)
        return
    result = plain(result)
    if result.__class__ is Batched:
        raise no_place(function)
    adopt(x, result)


class NoPlace(RuntimeError):
    """A tensor that is one for all samples was to be changed by one that differs from sample to sample."""


def no_place(function: str) -> NoPlace:
    who = "index_put_" if function == "index_put" else "inplace arithmetic"
    return explain(
        NoPlace,
        f"vmap: {who}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in "
        f"a vmap. Please try to use out-of-place operators instead of {who}.",
        "The tensor that is changed is one for all samples: it has no place for a result of each.",
        "use the form without the underscore, or make the tensor from one of the samples (torch.zeros_like(x), "
        "x.new_zeros(…)).",
    )


def writable(t: Tensor) -> bool:
    """Has each element a place of its own?"""
    raw = t.raw
    return not raw.ndim or all(s or n < 2 for s, n in zip(raw.strides, raw.shape))


# ------------------------------------------------------------------------------------------------ plain tensors
def carry(x: Tensor, k: int, like: Any = None) -> None:
    """Make a plain tensor and its relatives dual numbers of level k that do not move yet.

    like: the tangent that they are to take, which inside vmap may differ from sample to sample.
    """
    base = at_level(x.family.base if x.family.__class__ is View else x, k)
    if base.__class__ is not Dual:
        become(base, k, for_samples(unmoved(base), like))
    views = [] if base.family is None or base.family.__class__ is View else base.family.alive()
    for v in [at_level(v, k) for v in (*views, x)]:
        if v.__class__ is not Dual:
            become(v, k, replay(v.family.chain, base.tangent))
            v.shared = base.shared = True


def at_level(x: Any, k: int) -> Any:
    """What carries level k inside x, or what would have to: the plain value inside."""
    while x.__class__ is Dual and x.level != k:
        x = x.primal
    return x


def become(x: Any, k: int, tangent: Any) -> None:
    """Turn a Tensor into a dual number of level k: what it was is the primal now."""
    inner = new(Tensor)
    for slot in _SLOTS:
        setattr(inner, slot, getattr(x, slot))
    was = x.__class__
    x.__class__ = Dual
    x.primal, x.tangent, x.level, x.was = inner, tangent, k, was
    carried.setdefault(k, []).append(weakref.ref(x))


def restore(k: int) -> None:
    """Level k is over: what became a dual number in it is a plain tensor again."""
    for reference in carried.pop(k, ()):
        x = reference()
        if x is None or x.__class__ is not Dual or x.level != k:
            continue
        inner, was = x.primal, x.__dict__.pop("was")
        for name in ("primal", "tangent", "level", "shared"):
            x.__dict__.pop(name, None)
        if inner.__class__ is Dual:  # it was carried along at another level too
            x.__dict__.update(inner.__dict__)
            x.was = was  # type: ignore[attr-defined]
            carried.setdefault(inner.level, []).append(reference)
            continue
        x.__class__ = was
        for slot in _SLOTS:
            setattr(x, slot, getattr(inner, slot))
        if x.family.__class__ is Family:  # views that were taken meanwhile know the primal as their base
            for v in x.family.alive():
                if v.family.base is inner:
                    v.family.base = x
