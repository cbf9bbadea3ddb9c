"""Edges of the graph in the place of tensors: where a gradient arrives, without the value that it belongs to.

`grad` and `backward` are written for tensors.  For an edge they get a stand-in: a tensor of the right shape and dtype
that takes no memory, at the edge's node.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import device as devices
from . import dtype as dtypes
from .errors import explain
from .graph import Node, as_edge, edges_of, node_of
from .op import pick_node
from .tensor import Tensor, wrap


class GradientEdge(NamedTuple):
    """A place of the graph where a gradient arrives: output `output_nr` of `node`.

    Stands for a tensor in `autograd.grad` and `backward`.  ownership_token keeps a Function's part of the graph alive.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge where the tensor's gradient arrives; unlike the tensor, it keeps no values alive.

    Raises RuntimeError if the tensor does not require grad.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> h = x * 2
    >>> edge, y = torch.autograd.graph.get_gradient_edge(h), h * h
    >>> del h
    >>> torch.autograd.grad(y, edge)
    (tensor(12.),)
    """
    if tensor.node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    if tensor.is_leaf:
        return GradientEdge(tensor.node, 0)
    shown, hidden = tensor.grad_fn, as_edge(tensor.node)[0]
    return GradientEdge(shown, tensor.output_nr, None if shown is hidden else hidden)


def as_root(x: Any) -> Any:
    """A stand-in for an edge that backward is to start from; a tensor as it is."""
    if not isinstance(x, GradientEdge):
        return x
    n = node_of(x.node)
    return stand_in(pick_node(n, x.output_nr) if several(n) else n)


def several(n: Node) -> bool:
    return n.op is not None and bool(n.op.outputs)


def as_inputs(inputs: Any, roots: Sequence[Tensor]) -> list[Any]:
    """One tensor or edge, or a sequence of them, as a list of tensors (one edge may give several, see `arrivals`)."""
    if isinstance(inputs, GradientEdge):
        inputs = [inputs]
    out: list[Any] = []
    for x in [inputs] if isinstance(inputs, Tensor) else inputs:
        if not isinstance(x, (Tensor, GradientEdge)):
            raise no_input(x)
        out += arrivals(x, roots) if isinstance(x, GradientEdge) else [x]
    return out


def no_input(x: Any) -> RuntimeError:
    return explain(
        RuntimeError,
        f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}",
        "A gradient arrives at a tensor: a number or another object has no place in the graph.",
        "pass the tensors whose gradients are wanted.",
        topic="no tensor",
        value=x,
    )


def arrivals(edge: GradientEdge, roots: Sequence[Any]) -> list[Tensor]:
    """Stand-ins for the nodes below the roots where the edge's gradient arrives.

    An output of several has a node of its own for each tensor that was made of it; usually that is one.
    """
    n = node_of(edge.node)
    if not several(n):
        return [stand_in(n)]
    seen: set[Node] = set()
    stack = [t.node for t in roots if isinstance(t, Tensor) and t.node is not None]
    found = []
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            if e.op is not None and e.op.picks and e.left is n and e.p == edge.output_nr:
                found.append(e)
            stack += [x for x in edges_of(e) if x is not None]
    return [stand_in(e) for e in found or [pick_node(n, edge.output_nr)]]


def stand_in(n: Node) -> Tensor:
    """A tensor at node n that takes no memory: one zero, stretched to n's shape."""
    if n.op is None:
        leaf = n.leaf()
        if leaf is not None:
            return leaf  # type: ignore[no-any-return]
    shape, dtype, device = form_of(n)
    zero = devices.zeros((), dtype, device=device)
    if not shape:
        return wrap(zero[()] if zero.__class__ is np.ndarray else zero, n)
    return wrap(devices.backend_of(zero).module.broadcast_to(zero, shape), n)


def form_of(n: Node) -> tuple[Any, Any, Any]:
    """Shape, dtype and device of what a node gives: noted nowhere, so they are asked of what it was made from."""
    shape = tuple(getattr(n, "sy", ()))
    e: Node | None = n
    while e is not None:
        if e.op is None:
            leaf = e.leaf()
            if leaf is not None:
                return shape, leaf.raw.dtype, leaf.device
            break
        if e.op.base.name == "cast":
            return shape, np.dtype(e.p[0] if e.p.__class__ is tuple else e.p), devices.CPU
        if e.op.whole is not None and e.p is not None:
            form = next((f for f in e.p._outputs if f is not None), None)
            if form is not None:
                return shape, form[1], form[2]
        y = getattr(e, "y", None)
        if hasattr(y, "dtype"):
            return shape, y.dtype, devices.device_of(y)  # type: ignore[union-attr]
        e = next((x for x in edges_of(e) if x is not None), None)
    return shape, dtypes.get_default_dtype().np, devices.CPU
