"""Reverse mode as functions: vjp, grad, grad_and_value."""

import functools
from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.captured import Transforming, guarding
from ..core.dtype import is_floating
from ..core.dual_inplace import NoPlace
from ..core.errors import explain
from ..core.levels import differentiating
from ..core.pull import captures, is_tracked, lift, pull, recording, without_history
from ..core.pytree import flatten, tree_map, unflatten
from ..core.tensor import Tensor


# ------------------------------------------------------------------------------------------------ arguments
def chosen_places(argnums: Any, count: int) -> tuple[int, ...]:
    """`argnums` as places counted from the front; PyTorch's errors for what is none."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    places = argnums if isinstance(argnums, tuple) else (argnums,)
    for i in places:
        if not isinstance(i, int):
            raise RuntimeError(f"argnum must be int, got: {type(i)}")
        if not -count <= i < count:
            raise RuntimeError(f"Got argnum={i}, but only {count} positional inputs")
    found = tuple([i % count for i in places])
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def chosen(args: tuple[Any, ...], argnums: Any) -> Any:
    """The arguments to differentiate: one, or a tuple of them."""
    places = chosen_places(argnums, len(args))
    return tuple([args[i] for i in places]) if isinstance(argnums, tuple) else args[places[0]]


def replaced(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """The arguments with those that are differentiated replaced."""
    places = chosen_places(argnums, len(args))
    out = list(args)
    for i, x in zip(places, new if isinstance(argnums, tuple) else (new,)):
        out[i] = x
    return tuple(out)


def check_tensors(leaves: list[Any]) -> None:
    """Refuse what cannot be differentiated."""
    for x in leaves:
        if not isinstance(x, Tensor):
            raise explain(
                ValueError,
                f"Thing passed to transform API must be Tensor, got {type(x)}",
                "Only tensors can be differentiated.",
                "pass a tensor, for example torch.tensor(2.), or name the arguments to differentiate with argnums.",
            )


def with_aux(out: Any, who: str) -> tuple[Any, Any]:
    """(output, aux) of a function that gives both."""
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{who}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


def check_outputs(leaves: list[Any], who: str) -> None:
    if not leaves or leaves == [None]:
        raise RuntimeError(
            f"{who}: Expected f to be a function that has non-empty output (got output = {leaves})"
        )
    for y in leaves:
        if not isinstance(y, Tensor):
            raise RuntimeError(
                f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(y)}"
            )


def bare(x: Any) -> Any:
    """A nest of results without history."""
    return tree_map(lambda t: without_history(t) if isinstance(t, Tensor) else t, x)


def noted(word: str, result: Any, given: list[Any]) -> Any:
    """The result; where recording is on, it is noted that `word` made it of the given tensors."""
    if modes.watch[0] is not None and modes.keeps():
        facts = tuple([modes.watchers["record_of"](t) for t in given if not t.is_dual])
        for t in flatten(result)[0]:
            if t.__class__ is Tensor and t.node is None and getattr(t, "record", None) is None:
                modes.watchers["note"]("made", word, t, facts)
    return result


def on_lifted(func: Any, run: Callable[[Any], Any], flat: list[Any], spec: Any) -> tuple[list[Any], Any]:
    """(fresh inputs, what `run` gives for them nested as `spec` says).

    Inside vmap they are tensors of their own for each sample.  If the function writes them into a tensor that has no
    place for samples, it runs again with inputs that are the same for all samples, as far as they are.
    func: the user's function that `run` calls.
    """
    for shared in (False, True):
        lifted = [lift(x, shared) for x in flat]
        frame = Transforming(func, lifted, reverse=True)
        try:
            guarding.add(frame)
            return lifted, run(unflatten(spec, lifted))
        except NoPlace:
            if shared:
                raise
        finally:
            guarding.discard(frame)
    raise AssertionError


# ------------------------------------------------------------------------------------------------ vjp
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), a function that maps a cotangent of the output to the tuple of the primals' cotangents).

    The cotangent is nested like the output.  has_aux: func gives (output, aux), and so does vjp, behind the function:
    (output, function, aux).  Raises RuntimeError for outputs that are no floating point tensors.

    >>> import autodiff_kernel as torch
    >>> y, pull = torch.func.vjp(lambda x: x * x, torch.tensor([1., 2.]))
    >>> pull(torch.tensor([1., 1.]))
    (tensor([2., 4.]),)
    """
    return vjp_of(func, primals, None, has_aux)


def vjp_of(func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool) -> Any:
    """`vjp` for some of the arguments (None: for all)."""
    flat, spec = flatten(args if argnums is None else chosen(args, argnums))
    check_tensors(flat)
    aux, outside = None, modes.is_grad_enabled()

    def run(fresh: Any) -> Any:
        return func(*(fresh if argnums is None else replaced(args, argnums, fresh)))

    with recording(), differentiating():
        lifted, out = on_lifted(func, run, flat, spec)
        if has_aux:
            out, aux = with_aux(out, "vjp(f, *primals)")
        ys, out_spec = flatten(out)
        check_outputs(ys, "vjp(f, *primals)")
    for y in ys:
        if not is_floating(y.raw.dtype):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{y.dtype}"
            )
    history = outside and (is_tracked(flat) or captures(ys, lifted))

    def pull_back(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vs, given = flatten(cotangents)
        if given != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {given}, primal output: {out_spec}"
            )
        for i, (y, v) in enumerate(zip(ys, vs)):
            if not isinstance(v, Tensor) or v.raw.shape != y.raw.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {getattr(v, 'shape', v)} and output[{i}] has a "
                    f"shape of {y.shape}."
                )
        record = (history or is_tracked(vs)) and (
            modes.is_grad_enabled() if create_graph is None else create_graph
        )
        with recording():
            return noted("func.vjp", unflatten(spec, pull(ys, lifted, vs, record)), [*flat, *vs])

    shown = (out, aux) if history else (bare(out), bare(aux))
    return (shown[0], pull_back, shown[1]) if has_aux else (shown[0], pull_back)


# ------------------------------------------------------------------------------------------------ grad
def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives (gradient of func for its arguments `argnums`, func's value).

    argnums: an int, or a tuple of ints for a tuple of gradients.  has_aux: func gives (value, aux), and what stands in
    the place of the value is that pair.

    >>> import autodiff_kernel as torch
    >>> torch.func.grad_and_value(lambda x: x ** 2)(torch.tensor(3.))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        flat, spec = flatten(chosen(args, argnums))
        check_tensors(flat)
        aux, outside = None, modes.is_grad_enabled()
        with recording(), differentiating():
            lifted, y = on_lifted(
                func, lambda fresh: func(*replaced(args, argnums, fresh), **kwargs), flat, spec
            )
            if has_aux:
                y, aux = with_aux(y, "grad_and_value(f)(*args)")
            check_scalar(y)
            history = outside and (is_tracked(flat) or captures([y], lifted))
            gradient = unflatten(spec, pull([y], lifted, [None], history))
        if not history:
            y, aux = bare(y), bare(aux)
            noted("func.grad", gradient, flat)
        return (gradient, (y, aux)) if has_aux else (gradient, y)

    return derived


def check_scalar(y: Any) -> None:
    if not isinstance(y, Tensor):
        raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(y)}")
    if y.dim():
        raise explain(
            RuntimeError,
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{y.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?",
            "A gradient is that of one number.",
            "reduce the result (.sum(), .mean()), or use torch.func.jacrev for a gradient of each element.",
        )


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of func for its arguments `argnums`; may be nested.

    func must return a tensor of one element and no dimensions.  argnums: an int, or a tuple of ints for a tuple of
    gradients.  has_aux: func gives (value, aux), and the derived function (gradient, aux).

    >>> import autodiff_kernel as torch
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def derived(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derived
