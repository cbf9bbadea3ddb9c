"""A node applied by hand: `y.grad_fn(gradient)`."""

from typing import Any, NamedTuple

from . import dtype as dtypes
from . import modes
from .accumulate import add_grad
from .edges import form_of
from .errors import explain
from .graph import Node, edges_of
from .hooks import accumulated
from .running import Task
from .shape import Size
from .tensor import Tensor, wrap
from .walk import gradients


def apply(n: Node, given: tuple[Any, ...]) -> Any:
    """The gradients of n's inputs for those of its outputs; see Node.__call__."""
    outputs = len(n.sy) if n.op is not None and n.op.outputs else 1
    if not given or len(given) > outputs:
        raise TypeError(f"expected {outputs} arguments, got {len(given)} instead")
    for i, g in enumerate(given):
        if g is not None and not isinstance(g, Tensor):
            raise explain(
                TypeError,
                f"argument {i} is not a Variable",
                f"A node takes gradients as Tensors, but got {type(g).__name__}.",
                "wrap it: torch.tensor(…).",
            )
    if n.op is None:
        return accumulate(n, given[0])
    recorded = modes.is_grad_enabled()
    parts = [g if recorded or g is None else g.raw for g in given]
    parts += [None] * (outputs - len(parts))
    task = Task([], None, recorded)
    try:
        g = parts if outputs > 1 else parts[0]
        xs = gradients(n, g, edges_of(n), None, recorded, task, fit=False)
    finally:
        task.leave()
    made = tuple([x if x is None or isinstance(x, Tensor) else wrap(x) for x in xs])
    return made[0] if len(made) == 1 else made


def accumulate(n: Node, g: Any) -> tuple[()]:
    """What an AccumulateGrad does: add to the leaf's `.grad`."""
    t = n.leaf()
    if t is not None and g is not None and t.node is not None:
        add_grad(t, g.raw.copy())
        if n.notes is not None and n.notes.accumulated:
            accumulated(n.notes, t)
    return ()


class InputMetadata(NamedTuple):
    """What a gradient that a node takes looks like."""

    shape: Size
    dtype: dtypes.dtype
    device: Any
    is_tensor_subclass: bool = False
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def input_metadata(n: Node) -> list[InputMetadata]:
    """See Node._input_metadata."""
    shape, dtype, device = form_of(n)
    if n.op is None:
        shape = () if n.leaf() is None else n.leaf().raw.shape
    shapes = n.sy if n.op is not None and n.op.outputs else [shape]
    return [InputMetadata(Size(s), dtypes.of(dtype), device) for s in shapes]
