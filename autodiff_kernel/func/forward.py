"""Forward mode as functions: jvp, and linearize, which keeps the derivative at a point for many directions."""

from collections.abc import Callable
from typing import Any

from ..core import dual, modes
from ..core.captured import Transforming, guarding
from ..core.dtype import is_floating
from ..core.errors import explain
from ..core.levels import differentiating
from ..core.op import TABLE
from ..core.pull import is_tracked, lift, pull, recording, zeros_like
from ..core.pytree import flatten, tree_map, unflatten
from ..core.tensor import Tensor
from .reverse import bare, check_outputs, chosen, noted, on_lifted, replaced, with_aux

WHO = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """(func(*primals), its rate of change along the tangents), by one pass of dual numbers.

    primals: a tuple of tensors (or of nests of them).  tangents: nested alike, each of its primal's shape.  strict: an
    output that does not depend on the primals is a RuntimeError.  has_aux: func gives (output, aux), and so does jvp,
    behind the rate: (output, rate, aux).

    >>> import autodiff_kernel as torch
    >>> torch.func.jvp(lambda a, b: a * b + a ** 2, (torch.tensor(2.), torch.tensor(3.)),
    ...                (torch.tensor(1.), torch.tensor(0.)))
    (tensor(10.), tensor(7.))
    """
    return jvp_of(func, primals, tangents, None, strict, has_aux)


def are_plain(xs: Any) -> bool:
    """Is this a tuple of tensors, and of nothing else?"""
    if xs.__class__ is not tuple:
        return False
    for x in xs:
        if x.__class__ is not Tensor:
            return False
    return True


def jvp_of(
    func: Callable[..., Any], primals: Any, tangents: Any, argnums: Any, strict: bool, has_aux: bool
) -> Any:
    """`jvp` along some of the arguments (None: all)."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{WHO}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals). "
            f"Got {type(primals).__name__}"
        )
    spec: Any = None  # None: tuples of plain tensors, which need no taking apart
    if argnums is None and are_plain(primals) and are_plain(tangents) and len(primals) == len(tangents):
        flat, moving, given = list(primals), list(tangents), None
    else:
        flat, spec = flatten(primals if argnums is None else chosen(primals, argnums))
        moving, given = flatten(tangents)
    if spec != given:
        raise RuntimeError(
            f"{WHO}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple "
            "of 3 tensors, tangents also must be. Got primals with structure "
            f"{spec} and tangents with structure {given}"
        )
    for p, t in zip(flat, moving):
        if p.__class__ is not Tensor or t.__class__ is not Tensor or p.raw.shape != t.raw.shape:
            check_tensors(flat, "primals")
            check_tensors(moving, "tangents")
        check_pair(p, t)
    if not flat:
        check_tensors(flat, "primals")
    frame = Transforming(func, flat)
    with dual.still(False), dual.level(of_function=True) as k, differentiating():
        made = [dual.make(p, t, k) for p, t in zip(flat, moving)]
        duals = made if spec is None else unflatten(spec, made)
        try:
            guarding.add(frame)
            out = func(*(duals if argnums is None else replaced(primals, argnums, duals)))
        finally:
            guarding.discard(frame)
        aux = None
        if has_aux:
            out, aux = with_aux(out, WHO)
            aux = tree_map(lambda t: dual.split(t, k)[0] if isinstance(t, Tensor) else t, aux)
        if isinstance(out, Tensor):
            ys, out_spec = [out], None  # nothing to take apart
        else:
            ys, out_spec = flatten(out)
            check_outputs(ys, WHO)
        pairs = [dual.split(y, k) for y in ys]
    if strict and any(t is None for _, t in pairs):
        raise explain(
            RuntimeError,
            f"{WHO[:-1]}, strict=True): The output of f is independent of the inputs. This is not allowed with "
            "strict=True.",
        )
    values, rates = [p for p, _ in pairs], [zeros_like(p) if t is None else t for p, t in pairs]
    if out_spec is None:
        y, dy = values[0], rates[0]
    else:
        y, dy = unflatten(out_spec, values), unflatten(out_spec, rates)
    return (y, dy, aux) if has_aux else (y, dy)


def check_tensors(xs: list[Any], what: str) -> None:
    if not xs:
        raise RuntimeError(f"{WHO}: Expected {what} to contain at least one Tensor.")
    for x in xs:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"{WHO}: Expected {what} to only contain Tensors, got {type(x)}")


def check_pair(p: Tensor, t: Tensor) -> None:
    """PyTorch's errors for a primal or a tangent that moves nothing."""
    if p.raw.dtype.kind == t.raw.dtype.kind == "f" and p.raw.shape == t.raw.shape:
        return
    for what, x in (("primal", p), ("tangent", t)):
        if not is_floating(x.raw.dtype):
            raise explain(
                ValueError,
                f"Expected {what} to be floating point or complex, but got: {x.dtype}",
                "Whole numbers and truth values cannot change by a little.",
                "convert first, for example with .float().",
            )
    if p.raw.shape != t.raw.shape:
        raise explain(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(p.raw.shape)} while the given forward gradient is of size "
            f"{list(t.raw.shape)}.",
            "The tangent says how fast each element changes: one number for each.",
        )


# ------------------------------------------------------------------------------------------------ linearize
def copied(x: Any) -> Any:
    """A copy of a tensor, which the function may change in place."""
    return TABLE["clone"](x) if isinstance(x, Tensor) else x


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """(func(*primals), a function of tangents that gives their rates of change), for many directions at one point.

    func runs once.  The derivative is linear: it is the transpose of the reverse pass, which was recorded, so each
    direction costs one walk through that graph.  Raises RuntimeError for tangents that do not match the primals.

    >>> import autodiff_kernel as torch
    >>> y, push = torch.func.linearize(lambda x: x ** 2, torch.tensor([1., 3.]))
    >>> push(torch.tensor([1., 0.])), push(torch.tensor([0., 1.]))
    (tensor([2., 0.]), tensor([0., 6.]))
    """
    flat, spec = flatten(primals)
    check_tensors(flat, "primals")
    outside = modes.is_grad_enabled()
    with recording():
        lifted, out = on_lifted(func, lambda fresh: func(*tree_map(copied, fresh)), flat, spec)
        ys, out_spec = flatten(out)
        check_outputs(ys, "linearize(f, *primals)")
        seeds = [lift(zeros_like(y)) for y in ys]
        rows = pull(ys, lifted, seeds, True)  # Jᵀ·seed, as a graph over the seeds
    history = outside and is_tracked(flat)
    output = out if history else bare(out)

    def push(*tangents: Any) -> Any:
        moving, given = flatten(tangents)
        if given != spec:
            raise RuntimeError(
                f"Expected the tangents {given} to have the same argspec as the primals {spec}"
            )
        for i, (p, t) in enumerate(zip(flat, moving)):
            for what in ("shape", "device", "dtype"):
                if getattr(p, what) != getattr(t, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(p, what)} of the corresponding primal."
                    )
        record = modes.is_grad_enabled() and (history or is_tracked(moving))
        with recording():
            return noted(
                "func.linearize", unflatten(out_spec, pull(rows, seeds, moving, record)), [*flat, *moving]
            )

    return output, push
