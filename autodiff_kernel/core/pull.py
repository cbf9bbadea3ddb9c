"""Reverse mode through wrappers: cotangents of dual numbers and batched tensors.

The walk knows plain tensors only, so the newest level is taken off first, and put on the result again:

  a vmap's level    the samples become a dimension.  Each sample's gradient is found by one walk, since samples do not
                    meet: but only if the inputs, too, are tensors of their own for each sample (`lift` sees to that).
  a dual's level    the gradient of y + ε dy is ∇y + ε ∇dy, both for the value of x: two walks.

A cotangent may belong to further levels (as where the rows of a Jacobian are asked for at once, by vmap over
cotangents): the walk then carries wrappers instead of arrays, and the rules, which are written with operations, do the
rest.
"""

from collections.abc import Sequence
from typing import Any

from . import device as devices
from . import dual, modes
from .collect import collect
from .dual import Dual, level_of, split
from .graph import Node, as_edge, edges_of
from .levels import Vmap, is_vmap
from .op import TABLE
from .sharing import INFERENCE
from .tensor import Tensor, wrap
from .wrappers import Batched, batched, everywhere, grounds, rebatch, samples, unbatch


class recording:
    """`with recording():` is where the function of a reverse pass runs: with gradients on, and inference mode off."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = modes.is_inferring(), modes.is_grad_enabled()
        modes.put_inference(False)
        modes.put_grad(True)

    def __exit__(self, *_: Any) -> None:
        inferring, grad = self.before
        modes.put_inference(inferring)
        modes.put_grad(grad)


# ------------------------------------------------------------------------------------------------ inputs
def lift(x: Tensor, shared: bool = False) -> Tensor:
    """A fresh input for a reverse pass that outer derivatives still see.

    Inside vmap it is a tensor of its own for each sample, unless `shared`: then a gradient for each sample costs more
    (see `pull_shared`).
    """
    return _lift(x if shared else everywhere(x))


def _lift(x: Any) -> Any:
    if x.__class__ is Batched:
        return batched.make(_lift(x.value), x.level)
    if x.__class__ is Dual:
        return dual.make(_lift(x.primal), x.tangent, x.level)
    if x.node is None:
        fresh = wrap(x.raw) if x.version is INFERENCE else x.detach()
        return fresh.requires_grad_()
    return TABLE["getitem"](x, p=())  # a result of the identity


def origin(x: Any) -> Any:
    """The plain tensor of a lifted input that gradients are asked for."""
    return batched.ground(x)


def is_tracked(xs: Sequence[Any]) -> bool:
    """Does anything in these tensors require grad, so that somebody outside may differentiate?"""
    return any(t.node is not None for x in xs for t in grounds(x))


def captures(ys: Sequence[Any], lifted: Sequence[Any]) -> bool:
    """Do the results depend on tensors that require grad besides the lifted inputs?"""
    own = {origin(x).node for x in lifted}
    stack: list[Node | None] = [t.node for y in ys for t in grounds(y)]
    seen: set[Node] = set()
    while stack:
        n = stack.pop()
        if n is None or n in seen or n in own:
            continue
        if n.op is None:
            return True
        seen.add(n)
        stack += edges_of(n)
    return False


# ------------------------------------------------------------------------------------------------ the pass
def pull(ys: Sequence[Any], xs: Sequence[Any], vs: Sequence[Any], record: bool) -> list[Any]:
    """Σ vᵀ ∂y/∂x for each lifted input x; a cotangent None is 1.  record: the gradient's own graph is wanted."""
    ys, vs = list(ys), [ones_like(y) if v is None else v for y, v in zip(ys, vs)]
    k = max(map(level_of, (*ys, *xs)))
    if not k:
        return pull_plain(ys, xs, vs, record)
    return (pull_samples if is_vmap(k) else pull_dual)(k, ys, xs, vs, record)


def pull_samples(k: int, ys: list[Any], xs: Sequence[Any], vs: list[Any], record: bool) -> list[Any]:
    """Level k is a vmap's: its samples are a dimension for the pass."""
    inner = [unbatch(x, k) for x in xs]
    outputs = [unbatch(y, k) for y in ys]
    size = next(t.raw.shape[0] for t in (*inner, *outputs) if t is not None)
    # what has no samples does not depend on inputs that have
    roots = [(y, samples(v, k, size)) for y, v in zip(outputs, vs) if y is not None]
    rest = [(y, v) for whole, y, v in zip(outputs, ys, vs) if whole is None]
    own, shared = [x for x in inner if x is not None], [x for x, whole in zip(xs, inner) if whole is None]
    found = iter(pull([y for y, _ in roots], own, [v for _, v in roots], record) if own else [])
    common = iter(pull_shared(k, size, roots, rest, shared, record) if shared else [])
    return [rebatch(next(common if x is None else found), k) for x in inner]


def pull_shared(k: int, size: int, roots: Any, rest: Any, xs: Sequence[Any], record: bool) -> list[Any]:
    """The gradients of each sample, as dimension 0, for inputs that are the same for all samples.

    One walk would add them up.  So it carries `size` cotangents at once: the i-th is that of sample i, with zeros for
    the other samples.
    """
    v = Vmap(size, "same")
    eye = wrap(devices.eye(size, dtype="bool", like=batched.ground(xs[0]).raw))

    def alone(w: Any) -> Any:
        mask = TABLE["reshape"](eye, p=(size, size, *[1] * (w.raw.ndim - 1)))
        return batched.make(TABLE["where"](mask, TABLE["unsqueeze"](w, p=0), 0.0), v.level)

    carried = [(y, alone(w)) for y, w in roots]
    carried += [(y, batched.make(samples(w, k, size), v.level)) for y, w in rest]
    gs = pull([y for y, _ in carried], xs, [w for _, w in carried], record)
    return [samples(g, v.level, size) for g in gs]


def pull_dual(k: int, ys: list[Any], xs: Sequence[Any], vs: list[Any], record: bool) -> list[Any]:
    """Level k is a derivative's: the gradient's value by one pass, its tangent by another."""
    inner = [split(x, k)[0] for x in xs]
    parts, seeds = [split(y, k) for y in ys], [split(v, k) for v in vs]
    values = pull([y for y, _ in parts], inner, [v for v, _ in seeds], record)
    roots = [(dy, v) for (_, dy), (v, _) in zip(parts, seeds) if dy is not None]
    roots += [(y, dv) for (y, _), (_, dv) in zip(parts, seeds) if dv is not None]
    if not roots:
        return values
    moving = pull([y for y, _ in roots], inner, [v for _, v in roots], record)
    return [dual.make(g, dg, k) for g, dg in zip(values, moving)]


def pull_plain(ys: list[Any], xs: Sequence[Any], vs: list[Any], record: bool) -> list[Any]:
    """One walk; with arrays where the cotangents are plain and no graph is wanted."""
    roots = [(y.node, fit(v, y)) for y, v in zip(ys, vs) if y.node is not None]
    if not roots:
        return [zeros_like(x) for x in xs]
    edges = [as_edge(x.node) for x in xs]
    if record or any(v.is_dual for _, v in roots):
        gs = collect(roots, edges, True, True, record)
    else:
        gs = collect([(n, as_raw(v)) for n, v in roots], edges, True, False)
    return [zeros_like(x) if g is None else g if isinstance(g, Tensor) else wrap(g) for x, g in zip(xs, gs)]


def fit(v: Any, y: Any) -> Any:
    return v if v.raw.dtype == y.raw.dtype else TABLE["cast"](v, p=(y.raw.dtype, v.raw.dtype))


def as_raw(v: Any) -> Any:
    raw = v.raw
    return raw[()] if hasattr(raw, "base") and not raw.ndim and not v.is_cuda else raw


def ones_like(y: Any) -> Any:
    return TABLE["zeros_like"](dual.plain(y)) + 1


def zeros_like(x: Any) -> Any:
    return TABLE["zeros_like"](x.detach())


def without_history(x: Any) -> Any:
    """x without its graph, wrapped as it is."""
    if x.__class__ is Batched:
        return batched.make(without_history(x.value), x.level)
    if x.__class__ is Dual:
        return dual.make(without_history(x.primal), without_history(x.tangent), x.level)
    return x if x.node is None else x.detach()
