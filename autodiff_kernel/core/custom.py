"""Functions that users write: the engine's part of `torch.autograd.Function`.

The user sees one object, `ctx`, which is also the result's `grad_fn`.  The engine has a Node beside it, since a user's
`ctx.op = "sum"` or `ctx.x = x` must not meet the engine's own names.  The node holds its ctx (as its parameters `p`);
the ctx knows the node weakly, so nothing closes a cycle.

A Function's row gives the gradients of all inputs at once (`whole`), because its `backward` does.
"""

import warnings
import weakref
from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from . import modes
from .dtype import is_floating
from .errors import explain
from .graph import Node, WideNode, new, tick
from .inplace import check_allowed, rebase, stamp
from .kept import SavedTensor
from .op import Op, pick_node
from .running import Task
from .saved import spent_rule
from .sharing import View
from .tensor import Tensor, wrap
from .walk import unbroadcast


# ------------------------------------------------------------------------------------------------ apply
def run(cls: Any, args: tuple[Any, ...], forward_mode: bool = False) -> tuple[Any, Any]:
    """Call the Function's forward on plain Tensors and record it; returns (what the user gets, ctx)."""
    ctx = new(cls._backward_cls)
    ctx._prepare(args)
    tensors = [x for x in args if isinstance(x, Tensor)]
    edges = tuple([x.node for x in tensors])  # before forward: it may change its inputs in place
    grad = modes.is_grad_enabled()
    try:
        modes.put_grad(False)
        result = call_forward(cls, ctx, args)
        outs = list(result) if isinstance(result, tuple) else [result]
        dirty = marked(ctx, "dirty_tensors")
        if dirty:
            check_dirty(dirty, tensors, outs)
        recorded = grad and any(edges)
        for t in dirty:
            stamp(t)
            if grad and not recorded and t.family.__class__ is View and t.family.base.node is not None:
                check_allowed(t)  # a view that autograd cannot follow
        n = record(ctx, args, tensors, edges, outs, isinstance(result, tuple)) if recorded else None
        settle(ctx, n, tensors, dirty, outs, cls.setup_context_defined)
        if n is not None:
            keep(ctx, n, outs)
        if not forward_mode:
            ctx.__dict__.pop("saved_for_forward", None)
        ctx._forget_marks()
    finally:
        try:
            modes.put_grad(grad)
        except BaseException:  # an interrupt came before it
            modes.put_grad(grad)
            raise
    out = tuple(outs) if isinstance(result, tuple) else outs[0]
    if modes.watch[0] is not None:
        show(row_of(cls, isinstance(result, tuple)), tensors, out)
    return out, ctx


def call_forward(cls: Any, ctx: Any, args: tuple[Any, ...]) -> Any:
    """The user's forward, in the one or the other style."""
    if not cls.setup_context_defined:
        return cls.forward(ctx, *args)
    result = cls.forward(*args)
    cls.setup_context(ctx, args, result)
    return result


def needs_setup_context() -> RuntimeError:
    return explain(
        RuntimeError,
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
        "the setup_context staticmethod.",
        "These transformations may be nested, and each needs a ctx of its own: a forward that fills ctx itself can fill one "
        "only.",
        "split it: forward(x, ...) that computes, and setup_context(ctx, inputs, output) that saves.",
    )


def marked(ctx: Any, what: str) -> tuple[Any, ...]:
    """The tensors that forward marked as changed in place (dirty_tensors) or as without derivative."""
    found = ctx.__dict__.get(what) or ()
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"mark_dirty can only accept variables, but argument {i} is of type {type(t).__name__}"
                if what == "dirty_tensors"
                else f"mark_non_differentiable only accepts variable arguments, but got {type(t).__name__}"
            )
    return tuple(found)


def show(op: Op, tensors: list[Tensor], out: Any) -> None:
    """Let recording and provenance know of the application."""
    if isinstance(out, Tensor):
        modes.watch[0](op, None, tensors, out)
    elif isinstance(out, tuple) and any(isinstance(t, Tensor) for t in out):
        modes.watch[0](op, None, tensors, tuple([t if isinstance(t, Tensor) else as_tensor(t) for t in out]))


def as_tensor(x: Any) -> Tensor:
    """What pictures show in the place of an output that is no tensor."""
    return wrap(np.float32(x) if isinstance(x, (int, float)) else np.zeros(0, np.float32))


# ------------------------------------------------------------------------------------------------ the node
def row_of(cls: Any, several: bool) -> Op:
    """The Function's row: one for a single result, another for a tuple of them."""
    rows = cls._backward_cls._rows
    row = rows.get(several)
    if row is None:
        row = rows[several] = Op(
            cls.__name__, no_forward, each=all_gradients, whole=all_gradients, jvp=tangent, outputs=several,
            node=cls._backward_cls.__name__, register=False, doc=(cls.__doc__ or "").strip().partition("\n")[0],
        )  # fmt: skip
    return row  # type: ignore[no-any-return]


def no_forward(*_: Any) -> Any:
    raise RuntimeError("a Function is called by its apply(), not by its row")


def form(t: Any) -> Any:
    """Shape, dtype and device of a tensor; None of anything else."""
    return (t.raw.shape, t.raw.dtype, devices.device_of(t.raw)) if isinstance(t, Tensor) else None


def record(ctx: Any, args: Any, tensors: list[Tensor], edges: Any, outs: list[Any], several: bool) -> Node:
    """A node for one application, not yet on any output."""
    n = WideNode()
    n.op, n.seq, n.notes, n.edges = row_of(ctx._forward_cls, several), tick(), None, edges
    n.p, ctx._node = ctx, weakref.ref(n)
    n.sx = [t.raw.shape for t in tensors]
    ctx._edges = edges
    ctx._inputs = [form(x) for x in args]
    ctx._outputs = forms = [form(t) for t in outs]
    n.sy = [() if f is None else f[0] for f in forms] if several else () if forms[0] is None else forms[0][0]
    return n


def check_dirty(dirty: tuple[Tensor, ...], tensors: list[Tensor], outs: list[Any]) -> None:
    """What forward marked as changed in place must be an input and an output."""
    if not {id(t) for t in dirty} <= {id(t) for t in outs}:
        raise explain(
            RuntimeError,
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function.",
            cure="return the tensor that was given to ctx.mark_dirty().",
        )
    if not {id(t) for t in dirty} <= {id(t) for t in tensors}:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should "
            "be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=4,
        )


def settle(
    ctx: Any, n: Node | None, tensors: list[Tensor], dirty: tuple[Tensor, ...], outs: list[Any], setup: bool
) -> None:
    """Give each output its place in the graph.  The list `outs` is changed where another tensor is to be returned."""
    inputs, changed = [id(t) for t in tensors], [id(t) for t in dirty]
    flat = ctx._flat = flat_among(ctx, outs)
    count = 0  # of outputs that get a gradient
    views = []
    for k, t in enumerate(outs):
        if not isinstance(t, Tensor):
            continue
        given, written = id(t) in inputs, id(t) in changed
        if n is None or k in flat or not is_floating(t.raw.dtype):
            t = outs[k] = without_graph(t, given, written)
        else:
            count += 1
            edge = pick_node(n, k) if n.op.outputs else n
            if written:
                change(t, edge, len(outs))
            else:
                if given:
                    if setup and any(t is x for x in ctx.to_save or ()):
                        raise saved_as_is()
                    t = outs[k] = t.view(t.raw.shape)  # type: ignore[attr-defined]
                t.node = edge
        if t.family.__class__ is View and not written and (n is None or t.node is not None):
            views.append(t)
    for t in views:
        t.family.made = "several" if count > 1 else "custom"
        if n is not None:
            t.family.maker = n.title


def flat_among(ctx: Any, outs: Any) -> Any:
    """The numbers of the outputs that were marked as without derivative."""
    flat = [id(t) for t in marked(ctx, "non_differentiable")]
    return {k for k, t in enumerate(outs) if id(t) in flat} if flat else ()


def without_graph(t: Tensor, given: bool, written: bool) -> Tensor:
    """An output that gets no gradient: never an input itself, unless that was changed in place."""
    if t.node is not None:
        if given:
            return t.detach()
        t.node = None
        return t
    return t.view(t.raw.shape) if given and not written else t  # type: ignore[attr-defined, no-any-return]


def change(t: Tensor, edge: Node, count: int) -> None:
    """An input that forward changed in place goes on in the graph as the Function's output."""
    view = t.family.__class__ is View
    if t.node is not None and t.node.op is None and not view:
        raise explain(
            RuntimeError,
            "a leaf Variable that requires grad has been used in an in-place operation.",
            "A leaf that requires grad is where gradients are asked for; changing it in place would make it a result.",
            "give apply() a copy (x.clone()), or let forward return a new tensor.",
            tensor=t,
        )
    if view and count > 1:
        raise explain(
            RuntimeError,
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor. This is not supported by the current autograd engine.",
            "The view's base has to take over the change, and that has place for one result.",
            "give apply() a copy of the view (clone()), or write one Function that changes it and returns nothing else, "
            "and another one for the rest.",
        )
    check_allowed(t)
    t._grad = None
    rebase(t, edge)


def saved_as_is() -> RuntimeError:
    return explain(
        RuntimeError,
        "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
        "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup "
        "ctx inside the forward function itself.",
    )


# ------------------------------------------------------------------------------------------------ what ctx saves
def keep(ctx: Any, n: Node, outs: list[Any]) -> None:
    """Save what `save_for_backward` was given, now that the outputs have their places."""
    if not ctx.to_save:
        return
    numbers = [k for k, t in enumerate(outs) if isinstance(t, Tensor) and t.node is not None]
    kept: list[Any] = []
    for i, t in enumerate(ctx.to_save):
        if t is not None and not isinstance(t, Tensor):
            raise explain(
                TypeError,
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}",
                cure=f"keep what is no tensor as an attribute: ctx.value = {t!r}"
                if isinstance(t, (int, float, str, bool)) else "keep what is no tensor as an attribute of ctx.",
            )  # fmt: skip
        kept.append(
            None if t is None else SavedTensor(t, n.seq, next((k for k in numbers if outs[k] is t), None))
        )
    ctx._kept = tuple(kept)


def opened(ctx: Any) -> tuple[Any, ...]:
    """The saved tensors, for `ctx.saved_tensors`."""

    def own() -> Any:
        return ctx._node and ctx._node()

    if ctx._gone:
        spent_rule(None, own() or wrapped_row(ctx))
    keeper, title = ctx._forward_cls.__name__, type(ctx).__name__
    return tuple([None if k is None else k.open(keeper, own, title) for k in ctx._kept])


def wrapped_row(ctx: Any) -> Node:
    """A node that only names the Function, for errors after the real one has gone."""
    n = Node()
    n.op, n.p, n.notes = row_of(ctx._forward_cls, False), ctx, None
    return n


# ------------------------------------------------------------------------------------------------ backward
def all_gradients(g: Any, n: Node, create_graph: bool) -> list[Any]:
    """Call the user's backward; the gradient of each input with an edge, raw or a Tensor as g is."""
    ctx = n.p
    args = [cotangent(x, f, ctx) for x, f in zip(g if n.op.outputs else [g], ctx._outputs)]
    result = ctx.apply(*args)
    return checked(n, ctx, result if isinstance(result, tuple) else (result,), create_graph)


def tangent(ts: Any, n: Any) -> Any:
    """The tangent of a single result by backward alone, an element at a time: for pictures of small values.

    (Forward mode calls the user's jvp, see custom_dual.py.)
    """
    node = n.p._node()
    y = np.asarray(n.y)
    out = np.zeros(y.size, y.dtype)
    task = Task([], None, False)
    try:
        task.enter()
        for k in range(y.size):
            unit = np.zeros(y.size, y.dtype)
            unit[k] = 1
            for g, t in zip(all_gradients(unit.reshape(y.shape), node, False), ts):
                if g is not None and t is not None:
                    out[k] += np.sum(g * t)
    finally:
        task.leave()
    return out.reshape(y.shape)


def cotangent(g: Any, f: Any, ctx: Any) -> Any:
    """What backward gets for one output: its gradient; zeros, or None, where nothing came."""
    if isinstance(g, Tensor):
        return g
    if g is not None:
        return wrap(g)
    if f is None or not ctx.materialize_grads:
        return None
    return zeros(f)


def zeros(f: Any) -> Tensor:
    shape, dtype, device = f
    raw = devices.zeros(shape, dtype, device=device)
    return wrap(raw[()] if raw.__class__ is np.ndarray and not shape else raw)


def checked(n: Node, ctx: Any, grads: tuple[Any, ...], create_graph: bool) -> list[Any]:
    """PyTorch's checks of what backward returned; it must fit the inputs in number, kind, shape, dtype and device."""
    forms, name = ctx._inputs, type(ctx).__name__
    count = len(forms)
    if len(grads) > count and all(x is None for x in grads[count:]):
        grads = grads[:count]
    if len(grads) != count:
        raise explain(
            RuntimeError,
            f"function {name} returned an incorrect number of gradients (expected {count}, got {len(grads)})",
            f"forward took {count} argument{'s' if count != 1 else ''} besides ctx, and backward owes a gradient to each "
            "of them.",
            "return one value for each argument of forward, in their order, and None for those without a gradient.",
            node=n,
        )
    out: list[Any] = []
    for i, (x, f) in enumerate(zip(grads, forms)):
        if f is None:
            if x is not None:
                raise explain(
                    RuntimeError,
                    f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding "
                    "forward input was not a Variable",
                    cure="return None there.",
                    node=n,
                )
            continue
        if x is not None and not isinstance(x, Tensor):
            raise explain(
                RuntimeError,
                f"expected Variable or None (got {kind_of(x)})",
                f"backward of {ctx._forward_cls.__name__} must return tensors.",
                "return several gradients as a tuple: return gx, gy" if isinstance(x, list) else
                "return a tensor, or None for an input without a gradient.",
                node=n,
            )  # fmt: skip
        edge = n.edges[len(out)]
        out.append(
            None
            if x is None or edge is None
            else fitted(n, name, len(out), x, f, create_graph, edge.op is None)
        )
    return out


def kind_of(x: Any) -> str:
    """A type's name as PyTorch prints it: with its module, unless that is Python itself."""
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def fitted(n: Node, name: str, i: int, x: Tensor, f: Any, create_graph: bool, leaf: bool) -> Any:
    """One gradient in its input's shape and dtype."""
    shape, dtype, device = f
    have = x.raw.shape
    start = f"Function {name} returned an invalid gradient at index {i} - "
    if have != shape:
        lead = len(have) - len(shape)
        if lead < 0 or any(a not in (1, b) for a, b in zip(shape, have[lead:])):
            raise explain(
                RuntimeError,
                f"{start}got {list(have)} but expected shape compatible with {list(shape)}",
                "A gradient has the shape of its input.",
                node=n,
            )
        x = unbroadcast(x, shape)
    if x.raw.dtype != dtype:
        if x.raw.dtype.kind == "c" and dtype.kind != "c":
            raise explain(
                RuntimeError,
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
                f"false. {start}got {x.dtype} for an input of dtype {dtypes.of(dtype)}",
                "The gradient of a real input is real.",
                "return its .real part.",
                node=n,
            )
        x = x.to(dtypes.of(dtype))  # type: ignore[attr-defined]
    if x.device != device:
        if x.raw.ndim:
            raise explain(RuntimeError, f"{start}expected device {device} but got {x.device}", node=n)
        x = x.to(device)  # type: ignore[attr-defined]
    if create_graph:
        return x
    raw = x.raw
    if leaf and raw.ndim:
        return raw.copy()  # `.grad` must be nobody else's memory, and backward may return what it saved
    return raw[()] if raw.__class__ is np.ndarray and not raw.ndim else raw


# ------------------------------------------------------------------------------------------------ differentiable once
def refuse(g: Any, n: Node, create_graph: bool) -> Any:
    raise explain(
        RuntimeError,
        "trying to differentiate twice a function that was marked with @once_differentiable",
        "Its backward computed with gradients off, so there is nothing to differentiate.",
        "take the decorator off and write backward with differentiable operations only.",
        node=n,
    )


delayed_error = Op(
    "error", no_forward, each=refuse, whole=refuse, node="Error", register=False,
    doc="The result of a backward that can be differentiated no further.",
)  # fmt: skip


def poisoned(t: Tensor) -> Tensor:
    """An alias of t that requires grad, and is an error when a backward reaches it."""
    out = t.detach()
    n = WideNode()
    n.op, n.seq, n.notes, n.p, n.edges, n.sx, n.sy = delayed_error, tick(), None, None, (), [], t.raw.shape
    out.node = n
    return out
