"""Backward and grad: start the walk, and put the sums where they belong."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dual, dual_grad, hooks, modes
from . import tensor as _tensor
from .accumulate import deposit
from .collect import collect, run, watched
from .edges import as_inputs, no_input
from .errors import explain
from .graph import Node, as_edge
from .hooks import has_hooks
from .levels import is_transforming
from .once import CREATES_GRAPH, warn_once
from .op import TABLE
from .routes import Route, restrict
from .running import Task
from .tensor import Tensor, wrap
from .walk import visit


def backward(
    tensors: Sequence[Tensor],
    gradients: Sequence[Any],
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensors to the `.grad` of all leaves (or of `inputs` only)."""
    if is_transforming():
        raise explain(
            RuntimeError,
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms.",
            "A function that torch.func transforms gives its result and changes nothing else; backward changes `.grad`.",
            "use torch.func.grad or torch.autograd.grad, which return the gradients.",
        )
    if modes.watch[0] is not None:
        modes.watchers["started"]("backward", tensors, create_graph, inputs)
        modes.watchers["walked"](tensors, gradients, retain_graph, create_graph, inputs)
    roots = roots_of(tensors, gradients, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    route: Route | None = None
    if inputs is not None:
        inputs = as_inputs(inputs, tensors)
        if not inputs:
            raise explain(
                RuntimeError,
                "`inputs` argument to `backward()` cannot be empty.",
                cure="name the tensors whose gradients are wanted, or leave inputs= away for all.",
            )
        for x in inputs:
            x.retain_grad()  # a result keeps its gradient from now on, as in PyTorch
        route = Route(complete)
        goals = [as_edge(x.node)[0] for x in inputs]
        restrict(route, [n for n, _ in roots], goals, run_goals=True)  # type: ignore[arg-type]
    if hooks.on_leaves[0]:
        route = watched(route, roots, complete)
    if not create_graph:
        deposit(run(roots, keep, False, route))
        return
    warn_once(CREATES_GRAPH)
    moving: dict[Node, Any] = {}
    k = 0
    if any(t.__class__ is dual.Dual for t in tensors):
        moving, k = moving_sums(tensors, gradients)
    sums = run(roots, keep, True, route)
    if k:
        sums = {n: dual_grad.joined(g, moving.get(n), k) for n, g in sums.items()}
    before = modes.is_grad_enabled()
    modes.put_grad(True)
    try:
        deposit(sums)
    finally:
        modes.put_grad(before)


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
        raise explain(
            RuntimeError,
            "`inputs` argument to `grad()` cannot be empty.",
            cure="name the tensors whose gradients are wanted.",
        )
    for x in inputs:
        if not isinstance(x, Tensor):
            raise no_input(x)
    carried = any(isinstance(g, Tensor) and g.is_dual for g in gradients)  # then the walk carries wrappers
    keep = create_graph if retain_graph is None else retain_graph
    if any(isinstance(t, Tensor) and t.is_dual for t in outputs):
        return dual_grad.grad(grad, outputs, inputs, gradients, keep, create_graph, allow_unused)
    roots = roots_of(outputs, gradients, create_graph or carried)
    for x in inputs:
        if x.node is None:
            raise explain(
                RuntimeError,
                "One of the differentiated Tensors does not require grad",
                cure="call requires_grad_() on it before computing the outputs.",
                tensor=x,
                topic="input without grad",
            )
    edges = [as_edge(x.node) for x in inputs]
    out = collect(roots, edges, keep, create_graph or carried, create_graph)
    if not create_graph and not carried:
        made: dict[int, Any] = {
            id(g): wrap(g) for g in out if g is not None
        }  # the same for inputs given twice
        out = [g if g is None else made[id(g)] for g in out]
    unused = [] if allow_unused else [i for i, g in enumerate(out) if g is None]
    if unused:
        raise explain(
            RuntimeError,
            f"The differentiated Tensor at index {unused[0]} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior.",
            "The outputs were computed without it, or the graph was cut on the way (detach, item, numpy, no_grad).",
            "check that the outputs were computed from this very tensor.",
            tensor=inputs[unused[0]],
            topic="unused input",
            index=unused[0],
            outputs=tuple(outputs),
        )
    if modes.watch[0] is not None:
        modes.watchers["derived"](outputs, inputs, gradients, create_graph, out)
        for x, g in zip(inputs, out):
            if g is not None:
                modes.watchers["note"](
                    "made", "autograd.grad", g, (modes.watchers["record_of"](x),), create_graph
                )
    return tuple(out)


def moving_sums(tensors: Sequence[Any], gradients: Sequence[Any]) -> tuple[dict[Node, Any], int]:
    """The tangents of the leaves' gradients where the tensors are dual numbers, and their level."""
    k = max(dual.level_of(t) for t in tensors)
    roots, seeds = dual_grad.tangent_roots(tensors, gradients, k) if k else ([], [])
    return run(roots_of(roots, seeds, True), True, True, None), k


def complete(n: Node, g: Any, task: Task) -> None:
    """A leaf's sum is complete in a backward that meets hooks of leaves: call its hooks, add it to its `.grad`."""
    notes, t = n.notes, n.leaf()
    if notes is not None:
        g = visit(n, g, task)
        if notes.before:
            task.enter()
            g = hooks.seen_before(notes, g)
        if has_hooks(notes) and g is not None and not isinstance(g, (Tensor, np.generic)):
            g = g.copy()  # hooks may hold it
    if g is not None and t is not None and t.node is not None:
        deposit({n: g})
    if notes is not None and notes.accumulated and t is not None:
        task.enter()
        hooks.accumulated(notes, t)
    if notes is not None and notes.after:
        task.enter()
        hooks.seen_after(notes, [], g)


def roots_of(
    tensors: Sequence[Tensor], gradients: Sequence[Any], create_graph: bool
) -> list[tuple[Node, Any]]:
    """Each tensor's node with its cotangent."""
    if len(tensors) == 1 and gradients[0] is None and not create_graph:  # `loss.backward()`: straight
        t = tensors[0]
        if isinstance(t, Tensor) and t.node is not None:
            one = ONES.get(t.raw.__class__)
            if one is not None:
                return [(t.node, one)]
    for t in tensors:
        if not isinstance(t, Tensor):
            raise explain(
                TypeError,
                f"gradients are computed of Tensors, but got {type(t).__name__}",
                cure="pass the tensor itself: .item(), float() and numpy() give numbers, which have no graph.",
                topic="no tensor",
                value=t,
            )
    if len(gradients) != len(tensors):
        raise explain(
            RuntimeError,
            f"got {len(tensors)} tensors and {len(gradients)} gradients: each output takes one gradient of its shape, "
            "or None if it has one element.",
            cure="pass as many gradients as outputs.",
        )
    roots = []
    for i, (t, g) in enumerate(zip(tensors, gradients, strict=True)):
        if t.node is None:
            raise no_graph(t, i)
        roots.append((t.node, first_cotangent(t, g, i, create_graph)))
    return roots


ONES = {kind: kind(1) for kind in (np.float16, np.float32, np.float64)}  # a scalar's first cotangent


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
        raise explain(
            TypeError,
            f"gradients can be either Tensors, symints, or None, but got {type(g).__name__}",
            cure="make it a tensor of the output's shape: torch.tensor(value).",
            topic="no tensor",
            value=g,
        )
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
        raise explain(
            RuntimeError,
            f"Expected all tensors to be on the same device, but found {g.device} and {t.device}!",
            cure=f"copy the gradient there: gradient.to('{t.device}').",
            topic="two devices",
        )
    if g.raw.dtype != raw.dtype:
        if "c" in (g.raw.dtype.kind, raw.dtype.kind):
            raise explain(
                RuntimeError,
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                f"grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {t.dtype}.",
                cure=f"convert the gradient: .to({t.dtype}).",
            )
        if create_graph or g.is_dual:
            g = TABLE["cast"](g, p=(raw.dtype, g.raw.dtype))
        else:
            g = wrap(g.raw.astype(raw.dtype))
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
