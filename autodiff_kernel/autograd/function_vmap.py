"""Functions that users write, under vmap: by their own `vmap`, or by a rule made from their other methods.

The generated rule is a Function too, `VmappedMyFunction`: each of its methods runs the user's method of the same name
under a vmap of its own, on all samples at once.
"""

from typing import Any, NamedTuple

from ..core import batched
from ..core.batched import samples_first
from ..core.custom import needs_setup_context
from ..core.errors import explain
from ..core.levels import Vmap, open_vmaps, outside, vmapping
from ..core.pytree import flatten, spread, unflatten
from ..core.tensor import Tensor
from ..core.wrappers import rebatch, unbatch
from .function import Function, FunctionCtx, FunctionMeta


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told: how many samples there are, and what random operations do."""

    batch_size: int
    randomness: str


def apply_mapped(cls: Any, args: tuple[Any, ...], level: int) -> Any:
    """The Function on batched tensors of this level."""
    own = has_own_rule(cls)
    v = next(v for v in open_vmaps() if v.level == level)
    info = VmapInfo(v.size, v.randomness)
    found = [unbatch(x, level) if isinstance(x, Tensor) and x.is_dual else None for x in args]
    values = [x if inner is None else inner for x, inner in zip(args, found)]
    in_dims = tuple([None if inner is None else 0 for inner in found])
    with outside(v):
        if own:
            return by_own_rule(cls, info, in_dims, values, level)
        *outs, dims, spec = mapped(cls).apply(info, in_dims, *values)
    wrapped = [t if d is None else rebatch(t, level) for t, d in zip(outs, dims)]
    return tuple(wrapped) if spec else wrapped[0]


def has_own_rule(cls: Any) -> bool:
    """Has the Function a `vmap` of its own, or is a rule to be generated?  RuntimeError if neither, or both."""
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity."
        )
    if not cls.setup_context_defined:
        raise needs_setup_context()
    if not own and not cls.generate_vmap_rule:
        raise explain(
            RuntimeError,
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the "
            "vmap staticmethod or set generate_vmap_rule=True.",
            "vmap cannot know what the Function's methods do with all samples at once.",
            "if forward, backward and jvp use tensor operations only, write generate_vmap_rule = True into the class.",
        )
    return own


def by_own_rule(cls: Any, info: VmapInfo, in_dims: Any, values: list[Any], level: int) -> Any:
    """What the user's `vmap` gives."""
    answer = cls.vmap(info, in_dims, *values)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
            f"with the output. Got a {type(answer)} instead"
        )
    leaves, spec = flatten(answer[0])
    dims = spread(answer[1], spec)
    if dims is None:
        raise RuntimeError(
            f"The vmap staticmethod of {cls.__name__} returned out_dims {answer[1]!r}, which are not nested as its output"
        )
    return unflatten(
        spec,
        [
            rebatch(samples_first(t, d % t.raw.ndim), level) if isinstance(t, Tensor) and d is not None else t
            for t, d in zip(leaves, dims)
        ],
    )


# ------------------------------------------------------------------------------------------------ the generated rule
class InnerCtx(FunctionCtx):
    """The `ctx` that the user's methods see inside."""

    needs_input_grad: tuple[bool, ...] = ()
    saved_tensors: tuple[Any, ...] = ()


def wrap_all(values: Any, dims: Any, v: Vmap) -> list[Any]:
    """Values with samples in front as batched tensors."""
    return [batched.make(x, v.level) if d is not None and x is not None else x for x, d in zip(values, dims)]


def unwrap_all(xs: Any, v: Vmap) -> tuple[list[Any], tuple[Any, ...]]:
    """(the values behind tensors, 0 where they have samples in front)."""
    found = [unbatch(x, v.level) if isinstance(x, Tensor) and x.is_dual else None for x in xs]
    return (
        [x if inner is None else inner for x, inner in zip(xs, found)],
        tuple([None if inner is None else 0 for inner in found]),
    )


def as_tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


class Mapped(Function):
    """The methods of a generated rule.  They take (info, in_dims, *values) for the user's arguments.

    Its outputs are those of the user's forward, then which of them have samples, then whether they came as a tuple.
    """

    generate_vmap_rule = True
    user: Any

    @classmethod
    def run_forward(cls, info: VmapInfo, in_dims: Any, *values: Any) -> Any:
        with vmapping(info.batch_size, info.randomness) as v:
            out = cls.user.forward(*wrap_all(values, in_dims, v))
            outs, dims = unwrap_all(as_tuple(out), v)
        return (*outs, dims, isinstance(out, tuple))

    @classmethod
    def run_setup(cls, ctx: Any, inputs: Any, output: Any) -> None:
        (info, in_dims, *values), (*outs, dims, many) = inputs, output
        inner = ctx.inner = InnerCtx()
        ctx.info, ctx.in_dims, ctx.out_dims = info, in_dims, dims
        inner.needs_input_grad = ctx.needs_input_grad[2:]
        with vmapping(info.batch_size, info.randomness) as v:
            shown = wrap_all(outs, dims, v)
            cls.user.setup_context(
                inner, tuple(wrap_all(values, in_dims, v)), tuple(shown) if many else shown[0]
            )
            if inner.dirty_tensors:
                raise RuntimeError(
                    f"{cls.user.__name__} changes its input in place (mark_dirty), for which no vmap rule can be "
                    "generated. Please override the vmap staticmethod."
                )
            saved, ctx.saved_dims = unwrap_all(inner.to_save or (), v)
            moving, ctx.moving_dims = unwrap_all(inner.saved_for_forward or (), v)
            flat, _ = unwrap_all(inner.non_differentiable or (), v)
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*moving)
        ctx.mark_non_differentiable(*flat)
        ctx.set_materialize_grads(inner.materialize_grads)
        for name in ("to_save", "saved_for_forward", "non_differentiable"):
            inner.__dict__.pop(name, None)

    @classmethod
    def run_backward(cls, ctx: Any, *grads: Any) -> Any:
        inner, user = ctx.inner, cls.user
        rule = user.vjp if user.vjp is not Function.vjp else user.backward
        with vmapping(*ctx.info) as v:
            inner.saved_tensors = tuple(wrap_all(ctx.saved_tensors, ctx.saved_dims, v))
            try:
                answer = rule(inner, *wrap_all(grads[:-2], ctx.out_dims, v))
            finally:
                inner.saved_tensors = ()
            found, dims = unwrap_all(as_tuple(answer), v)
        return (None, None, *[one(g, d, to, ctx.info) for g, d, to in zip(found, dims, ctx.in_dims)])

    @classmethod
    def run_jvp(cls, ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:
        inner = ctx.inner
        with vmapping(*ctx.info) as v:
            inner.saved_tensors = tuple(wrap_all(ctx.saved_tensors, ctx.moving_dims, v))
            try:
                answer = cls.user.jvp(inner, *wrap_all(tangents, ctx.in_dims, v))
            finally:
                inner.saved_tensors = ()
            found, dims = unwrap_all(as_tuple(answer), v)
        return (*[one(t, d, to, ctx.info) for t, d, to in zip(found, dims, ctx.out_dims)], None, None)


def one(g: Any, d: Any, to: Any, info: VmapInfo) -> Any:
    """A gradient or tangent with samples as what it belongs to has them: repeated for each, or summed over all."""
    if not isinstance(g, Tensor) or d == to:
        return g
    return g.sum(0) if to is None else batched.batch(g, info.batch_size)  # type: ignore[attr-defined]


def mapped(cls: Any) -> Any:
    """The Function that runs `cls` on all samples."""
    made = cls.__dict__.get("_mapped")
    if made is None:
        kind: Any = FunctionMeta(
            f"Vmapped{cls.__name__}", (Mapped,), {"user": cls, "__module__": cls.__module__}
        )
        for name in ("forward", "setup_context", "backward", "jvp"):
            method = getattr(kind, f"run_{name.replace('setup_context', 'setup')}")
            setattr(kind, name, staticmethod(method))
        cls._mapped = made = kind
    return made
