"""Reverse mode on dual numbers, forward over reverse; and on batched tensors.

The gradient of y + ε dy is ∇y + ε ∇dy, both for the primal part of the inputs: so the gradient of a dual number is
two walks, and is a dual number itself.  A cotangent may be dual as well: the gradient is linear in it.

The samples of a batched tensor are a dimension for the walk.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .dual import level_of, make, plain, split, unmoved
from .errors import explain
from .levels import is_vmap
from .pull import ones_like
from .wrappers import rebatch, samples, unbatch

Walk = Callable[..., tuple[Any, ...]]


def grad(
    walk: Walk,
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    gradients: Sequence[Any],
    keep: bool,
    create_graph: bool,
    allow_unused: bool,
) -> tuple[Any, ...]:
    """What `backward.grad` gives where an output is a dual number or a batched tensor; `walk` is that function."""
    k = max(level_of(t) for t in outputs)
    if not k:  # their levels are over
        whole = [plain(t) for t in outputs], [plain(x) for x in inputs], gradients
        return walk(*whole, keep, create_graph, allow_unused)
    if is_vmap(k):
        return of_samples(walk, k, outputs, inputs, gradients, keep, create_graph, allow_unused)
    xs = [split(x, k)[0] for x in inputs]
    roots, seeds = tangent_roots(outputs, gradients, k)
    moving = walk(roots, xs, seeds, True, create_graph, True) if roots else (None,) * len(xs)
    ys, vs = [split(t, k)[0] for t in outputs], [split(g, k)[0] for g in gradients]
    values = walk(ys, xs, vs, keep, create_graph, allow_unused)
    return tuple(joined(g, dg, k) for g, dg in zip(values, moving))


def of_samples(
    walk: Walk,
    k: int,
    outputs: Any,
    inputs: Any,
    gradients: Any,
    keep: bool,
    create_graph: bool,
    unused: bool,
) -> tuple[Any, ...]:
    """The gradients of batched tensors of level k, each sample's for the same sample."""
    ys, xs = [unbatch(t, k) for t in outputs], [unbatch(x, k) for x in inputs]
    if any(t is None for t in (*ys, *xs)):
        raise explain(
            RuntimeError,
            "vmap: outputs and inputs of a gradient must both belong to the samples.",
            "A tensor that is the same for all samples has a gradient from each of them.",
            "use torch.func.grad or vjp inside vmap.",
        )
    size = ys[0].raw.shape[0]
    vs = [ones_like(y) if v is None else samples(v, k, size) for y, v in zip(ys, gradients)]
    gs = walk(ys, xs, vs, keep, create_graph, unused)
    return tuple(None if g is None else rebatch(g, k) for g in gs)


def tangent_roots(outputs: Sequence[Any], gradients: Sequence[Any], k: int) -> tuple[list[Any], list[Any]]:
    """From where, and with which cotangents, the tangents of the gradients at level k are found."""
    roots, seeds = [], []
    for y, g in zip(outputs, gradients):
        (y, dy), (v, dv) = split(y, k), split(g, k)
        if dy is not None and dy.requires_grad:
            roots.append(dy)
            seeds.append(v)
        if dv is not None:
            roots.append(y)
            seeds.append(dv)
    return roots, seeds


def joined(g: Any, dg: Any, k: int) -> Any:
    """A gradient and its tangent as one dual number; either may be missing."""
    if dg is None:
        return g
    return make(unmoved(dg) if g is None else g, dg, k)
