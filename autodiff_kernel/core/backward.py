"""Backward and grad: start the walk, and put the sums where they belong."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dual, dual_grad, modes
from . import tensor as _tensor
from .edges import as_inputs
from .errors import explain
from .graph import Node
from .op import TABLE
from .tensor import Tensor, add_grad, wrap
from .walk import visit, walk


def backward(
    tensors: Sequence[Tensor],
    gradients: Sequence[Any],
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensors to the `.grad` of all leaves (or of `inputs` only)."""
    if modes.watch[0] is not None:
        modes.watchers["started"]("backward", tensors, create_graph, inputs)
    roots = roots_of(tensors, gradients, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        moving: dict[Node, Any] = {}
        k = 0
        if create_graph and any(t.__class__ is dual.Dual for t in tensors):
            moving, k = moving_sums(tensors, gradients)
        sums = run(roots, keep, create_graph, None)
        for n, g in sums.items():
            deposit(n, dual_grad.joined(g, moving.get(n), k) if k else g)
        return
    inputs = as_inputs(inputs, tensors)
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    for x in inputs:
        if x.node is None:
            raise explain(
                RuntimeError,
                "One of the differentiated Tensors does not require grad",
                cure="call requires_grad_() on it before computing the outputs.",
                tensor=x,
                topic="input without grad",
            )
    wanted: dict[Node, Any] = {x.node: None for x in inputs if x.node is not None}
    sums = run(roots, keep, create_graph, wanted)
    for x in inputs:
        n = x.node
        assert n is not None
        if n.op is None:
            if n in sums:
                deposit(n, sums[n])
        elif wanted[n] is not None and not x.retains_grad:
            g = wanted[n]
            add_grad(x, g if isinstance(g, Tensor) else g.copy())


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    gradients: Sequence[Any],
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the outputs for the inputs, as new tensors; no `.grad` is touched."""
    if modes.watch[0] is not None:
        modes.watchers["started"]("grad", outputs, create_graph, inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"grad(): inputs must be Tensors, but got {type(x).__name__}")
        if x.node is None:
            raise explain(
                RuntimeError,
                "One of the differentiated Tensors does not require grad",
                cure="call requires_grad_() on it before computing the outputs.",
                tensor=x,
                topic="input without grad",
            )
    carried = any(isinstance(g, Tensor) and g.is_dual for g in gradients)  # then the walk carries wrappers
    keep = create_graph if retain_graph is None else retain_graph
    if any(isinstance(t, Tensor) and t.is_dual for t in outputs):
        return dual_grad.grad(grad, outputs, inputs, gradients, keep, create_graph, allow_unused)
    roots = roots_of(outputs, gradients, create_graph or carried)
    wanted: dict[Node, Any] = {x.node: None for x in inputs if x.node is not None}
    sums = run(roots, keep, create_graph, wanted, carried)
    out = []
    for i, x in enumerate(inputs):
        n = x.node
        assert n is not None
        g = sums.get(n) if n.op is None else wanted[n]
        if g is not None and n.op is None and n.notes is not None:
            g = visit(n, g)
        if g is None and not allow_unused:
            raise explain(
                RuntimeError,
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.",
                "The outputs were computed without it, or the graph was cut on the way (detach, item, numpy, no_grad).",
                "check that the outputs were computed from this very tensor.",
                tensor=x,
                topic="unused input",
                index=i,
                outputs=tuple(outputs),
            )
        out.append(g if g is None or isinstance(g, Tensor) else wrap(g))
    if modes.watch[0] is not None:
        for x, g in zip(inputs, out):
            if g is not None:
                modes.watchers["note"](
                    "made", "autograd.grad", g, (modes.watchers["fact_of"](x),), create_graph
                )
    return tuple(out)


def run(
    roots: list[tuple[Node, Any]],
    keep: bool,
    create_graph: bool,
    wanted: dict[Node, Any] | None,
    carried: bool = False,
) -> Any:
    """The walk, with gradients recorded during it only for higher order; carried: cotangents are wrapped tensors."""
    if not create_graph and not carried:
        return walk(roots, keep, False, wanted)
    before = modes.is_grad_enabled()
    modes.put_grad(create_graph)
    try:
        return walk(roots, keep, True, wanted)
    finally:
        modes.put_grad(before)


def moving_sums(tensors: Sequence[Any], gradients: Sequence[Any]) -> tuple[dict[Node, Any], int]:
    """The tangents of the leaves' gradients where the tensors are dual numbers, and their level."""
    k = max(dual.level_of(t) for t in tensors)
    roots, seeds = dual_grad.tangent_roots(tensors, gradients, k) if k else ([], [])
    return run(roots_of(roots, seeds, True), True, True, None), k


def deposit(n: Node, g: Any) -> None:
    """Add a leaf's complete sum to its `.grad`, after its hooks."""
    t = n.leaf()
    if t is None or t.node is None:  # nobody can read its .grad, or nobody asks for it any more
        return
    if n.notes is not None:
        g = visit(n, g)
    if modes.watch[0] is not None:
        modes.watchers["note"]("gradient", "grad", t, p=t._grad_or_none() is not None, on=False)
    add_grad(t, g)
    if modes.watch[0] is not None:
        modes.watchers["graded"](t)


def roots_of(
    tensors: Sequence[Tensor], gradients: Sequence[Any], create_graph: bool
) -> list[tuple[Node, Any]]:
    """Each tensor's node with its cotangent."""
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"gradients are computed of Tensors, but got {type(t).__name__}")
    if len(gradients) != len(tensors):
        raise RuntimeError(
            f"got {len(tensors)} tensors and {len(gradients)} gradients: each output takes one gradient of its shape, "
            "or None if it has one element."
        )
    roots = []
    for i, (t, g) in enumerate(zip(tensors, gradients, strict=True)):
        if t.node is None:
            raise no_graph(t, i)
        roots.append((t.node, first_cotangent(t, g, i, create_graph)))
    return roots


def first_cotangent(t: Tensor, g: Any, i: int, create_graph: bool) -> Any:
    raw = t.raw
    if g is None:
        if raw.size != 1:
            raise explain(
                RuntimeError,
                "grad can be implicitly created only for scalar outputs",
                f"The output has shape {list(raw.shape)}: with {raw.size} elements there is no one gradient.",
                "reduce it to one number first (.sum() or .mean()), or pass gradient=, a tensor of the output's shape.",
                tensor=t,
                node=t.node,
                topic="several outputs",
            )
        if raw.dtype.kind == "c":
            raise explain(
                RuntimeError,
                f"grad can be implicitly created only for real scalar outputs but got {t.dtype}",
                "A complex number has no one slope: real and imaginary part change separately.",
                "reduce it to a real number first (.abs(), .real), or pass gradient=.",
                tensor=t,
                node=t.node,
            )
        one = raw.dtype.type(1) if not raw.ndim and isinstance(raw, np.generic) else np.ones_like(raw)
        return wrap(one) if create_graph else one
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors, symints, or None, but got {type(g).__name__}")
    if g.raw.shape != raw.shape:
        raise explain(
            RuntimeError,
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}.",
            "The gradient that backward starts with has one number for each number of the output.",
            "pass a tensor of the output's shape, for example torch.ones_like(output).",
            tensor=t,
            topic="gradient's shape",
            gradient=g,
        )
    if g.device != t.device and not g.raw.ndim and g.device.type == "cpu":  # a single number goes anywhere
        g = g.to(t.device)  # type: ignore[attr-defined]
    if g.device != t.device:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found {g.device} and {t.device}!"
        )
    if g.raw.dtype != raw.dtype:
        g = TABLE["cast"](g, p=raw.dtype) if g.is_dual else wrap(g.raw.astype(raw.dtype))
    if create_graph:
        return g
    return g.raw[()] if g.raw.__class__ is np.ndarray and not g.raw.ndim else g.raw


def no_graph(t: Tensor, i: int) -> RuntimeError:
    return explain(
        RuntimeError,
        f"element {i} of tensors does not require grad and does not have a grad_fn",
        "Nothing was recorded for this tensor: none of the tensors it was computed from requires grad, or it was computed "
        "under no_grad, or the history was cut (detach, .data, item, numpy).",
        "make the inputs with requires_grad=True (or call x.requires_grad_()) before computing with them.",
        tensor=t,
        topic="no graph",
    )


_tensor._start_backward = backward
