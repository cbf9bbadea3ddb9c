"""Looking through wrappers: the samples of one vmap as a dimension, and back.

Dual numbers and batched tensors may lie in each other in any order.  Each of these functions reaches through the
others to one level; on the way back everything else is wrapped as before.
"""

from typing import Any

from . import batched, dual, modes
from .batched import Batched, samples_first
from .captured import check as check_captured
from .captured import guarding
from .dual import Dual
from .inplace import check_allowed, stamp
from .levels import Vmap, open_vmaps
from .op import Op
from .tensor import Tensor


def unbatch(x: Any, k: int) -> Any:
    """x with the samples of level k as dimension 0; None if it has none of that level."""
    if x.__class__ is Batched:
        if x.level == k:
            return x.value
        inner = unbatch(x.value, k)  # has the samples of k in front of those of x
        return None if inner is None else batched.make(samples_first(inner, 1), x.level)
    if x.__class__ is Dual:
        p, t = unbatch(x.primal, k), unbatch(x.tangent, k)
        if p is None and t is None:
            return None
        size = (t if p is None else p).raw.shape[0]
        p = batched.batch(x.primal, size) if p is None else p
        t = batched.batch(x.tangent, size) if t is None else t
        return dual.make(p, t, x.level)
    return None


def samples(x: Any, k: int, size: int) -> Any:
    """x with the samples of level k as dimension 0: the same for each if it has none of that level."""
    found = unbatch(x, k)
    return batched.batch(x, size) if found is None else found


def rebatch(x: Any, k: int) -> Any:
    """x, whose dimension 0 are samples of level k, as one of them."""
    if x.__class__ is Batched and x.level > k:
        return batched.make(rebatch(samples_first(x.value, 1), k), x.level)
    if x.__class__ is Dual and x.level > k:
        return dual.make(rebatch(x.primal, k), rebatch(x.tangent, k), x.level)
    return batched.make(x, k)


def everywhere(x: Tensor) -> Tensor:
    """x with its value a tensor of its own for each sample of every vmap that is at work on this thread.

    A gradient for it is then a gradient for each sample.
    """
    for v in open_vmaps():
        x = for_each(x, v)
    return x


def for_each(x: Any, v: Vmap) -> Any:
    """The same for one vmap."""
    if x.__class__ is Batched and x.level > v.level:
        return batched.make(for_each(x.value, v), x.level)
    if unbatch(x, v.level) is None and (x.__class__ is not Dual or x.level < v.level):
        return rebatch(batched.batch(x, v.size), v.level)
    return dual.make(for_each(x.primal, v), x.tangent, x.level) if x.__class__ is Dual else x


def grounds(x: Any) -> list[Tensor]:
    """The plain tensors in x, those of tangents too."""
    if x.__class__ is Batched:
        return grounds(x.value)
    return [*grounds(x.primal), *grounds(x.tangent)] if x.__class__ is Dual else [x]


def rewrapped(x: Any, f: Any) -> Any:
    """x with f applied to each plain tensor in it."""
    if x.__class__ is Batched:
        return batched.make(rewrapped(x.value, f), x.level)
    if x.__class__ is Dual:
        return dual.make(rewrapped(x.primal, f), rewrapped(x.tangent, f), x.level)
    return f(x)


def beneath(x: Any, f: Any) -> Any:
    """f of the plain tensor beneath x (of a dual number: of its value), for the same samples: for what has no gradient.

    f keeps dimensions in front as they are.
    """
    return rewrapped(dual.plain(x), f)


def turn_inside(x: Any, op: Op, p: Any) -> None:
    """Give what is inside x the shape that a view operation would give."""
    below = batched.ground(x)
    if guarding:
        check_captured(below)
    if modes.is_grad_enabled() and below.node is not None:
        check_allowed(below)
    if x.__class__ is Batched:
        x.value = op(x, p=p).value
    else:
        primal, tangent = op(x.primal, p=p), op(x.tangent, p=p)
        stamp(primal)
        x.__dict__.update(primal=primal, tangent=tangent)  # at once, for an interrupt
