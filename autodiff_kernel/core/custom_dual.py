"""Functions that users write, in forward mode: their `jvp` on dual numbers.

Forward runs on the values of one level, `jvp` on their tangents.  Where values are dual numbers of other levels
themselves, each level needs a ctx of its own, which only a Function with `setup_context` can give.
"""

from typing import Any

from . import modes
from .custom import delayed_error, flat_among, kind_of, needs_setup_context, run
from .dtype import is_floating
from .dual import fit, is_stopped, level_of, make, plain, result, split, still, unmoved
from .dual_inplace import at_level, carry
from .errors import explain
from .graph import new
from .levels import is_vmap
from .sharing import View
from .tensor import Tensor


def lifted(cls: Any, args: tuple[Any, ...]) -> Any:
    """The Function on wrappers of tensors: the newest transformation serves first, to it the others are constant."""
    top = max([level_of(x) for x in args])
    if is_stopped():
        args = tuple([plain(x) for x in args])
        top = max([level_of(x) for x in args])
    if not top:
        return cls.apply(*[plain(x) for x in args])
    if is_vmap(top):
        return cls._apply_mapped(args, top)
    return push(cls, args, top)


def push(cls: Any, args: tuple[Any, ...], top: int) -> Any:
    """Forward on the values, `jvp` on the tangents of level `top`."""
    pairs = [split(x, top) for x in args]
    ps = tuple([p for p, _ in pairs])
    if any(isinstance(p, Tensor) and p.is_dual for p in ps):
        y, ctx = inside(cls, ps)
    else:
        with still():
            y, ctx = run(cls, ps, forward_mode=True)
    ts = [tangent_of(p, t, ctx) for p, t in pairs]
    versions = [t._version if isinstance(t, Tensor) else 0 for t in ts]
    ctx._forward = ctx.__dict__.pop("saved_for_forward", None) or ()
    try:
        answer = cls.jvp(ctx, *ts)
    finally:
        ctx._forward = None
    outs = y if isinstance(y, tuple) else (y,)
    moves = checked(cls, ctx, outs, answer if isinstance(answer, tuple) else (answer,))
    made = tuple([joined(v, t, args, ps, ts, versions, top) for v, t in zip(outs, moves)])
    return made if isinstance(y, tuple) else made[0]


def inside(cls: Any, ps: tuple[Any, ...]) -> tuple[Any, Any]:
    """Values that belong to other levels too: apply the Function there, and set up a ctx for this level."""
    if not cls.setup_context_defined:
        raise needs_setup_context()
    y = cls.apply(*ps)
    ctx = new(cls._backward_cls)
    ctx._prepare(ps)
    grad = modes.is_grad_enabled()
    try:
        modes.put_grad(False)
        cls.setup_context(ctx, ps, y)
    finally:
        modes.put_grad(grad)
    ctx._flat = flat_among(ctx, y if isinstance(y, tuple) else (y,))
    ctx._forget_marks()
    return y, ctx


def tangent_of(p: Any, t: Any, ctx: Any) -> Any:
    """What jvp gets for one argument: its tangent; zeros, or None, for a tensor that does not move."""
    if not isinstance(p, Tensor):
        return None
    return unmoved(p) if t is None and ctx.materialize_grads else t


def checked(cls: Any, ctx: Any, outs: tuple[Any, ...], moves: tuple[Any, ...]) -> tuple[Any, ...]:
    """PyTorch's checks of what jvp returned."""
    for i, t in enumerate(moves):
        if t is not None and not isinstance(t, Tensor):
            raise explain(
                RuntimeError,
                f"expected Variable or None (got {kind_of(t)}) for grad output {i}.",
                f"jvp of {cls.__name__} must return tensors.",
                "return several tangents as a tuple.",
            )
    if len(moves) != len(outs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got {len(moves)})"
        )
    checks: list[Any] = []
    for i, (v, t) in enumerate(zip(outs, moves)):
        if not isinstance(v, Tensor):
            checks.append(None)
            continue
        if not is_floating(v.raw.dtype) or i in ctx._flat:
            if t is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a "
                    "differentiable Tensor.You should return None at that position instead."
                )
        elif t is not None and t.raw.shape != v.raw.shape:
            raise explain(
                RuntimeError,
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(v.raw.shape)} while the given forward gradient is of size "
                f"{list(t.raw.shape)}.",
                "A tangent has the shape of its value.",
            )
        checks.append(t)
    return tuple(checks)


def joined(v: Any, t: Any, args: Any, ps: Any, ts: Any, versions: list[int], top: int) -> Any:
    """One output with its tangent."""
    if t is None:
        return v
    for x, p, before, version in zip(args, ps, ts, versions):
        if v is p:  # an input that forward changed in place
            if t is not before or before._version == version:
                fault = "modifying" if before._version == version else "returning"
                raise RuntimeError(
                    f"An inplace custom Function is not {fault} the forward mode gradients "
                    f"{'inplace' if fault == 'modifying' else 'as-is'}. If the forward is modifying an input inplace, "
                    "then the jvp function must modify the corresponding gradient inplace and return it as-is."
                )
            carry(x, top)
            at_level(x, top).tangent = t
            return x
    if v.family.__class__ is View and any(isinstance(p, Tensor) and v.family.base is based(p) for p in ps):
        if t.family.__class__ is not View:
            raise explain(
                RuntimeError,
                "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
                "Value and tangent must lie alike in memory: a later change in place has to reach both.",
                "return the same view of the tangent as forward returns of the input; for an input as it is, "
                "t.view_as(t).",
            )
        d = make(v, fit(t, v), top)
        d.shared = True
        return d
    return result(delayed_error, v, t, ts, top)  # (a row that gives no view)


def based(p: Tensor) -> Tensor:
    """The tensor whose memory p shows."""
    return p.family.base if p.family.__class__ is View else p  # type: ignore[no-any-return]
