"""torch.func: functions in, derivative functions out."""

from collections.abc import Callable
from typing import Any

from .core import backward as _engine
from .core import dual, modes
from .core.api import FUNCTIONS
from .core.tensor import Tensor, wrap

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"]


def tree_map(f: Callable[[Any], Any], x: Any) -> Any:
    """f applied to each tensor in nested tuples, lists and dicts."""
    if isinstance(x, (tuple, list)):
        return type(x)(tree_map(f, v) for v in x)
    if isinstance(x, dict):
        return {k: tree_map(f, v) for k, v in x.items()}
    return f(x) if isinstance(x, Tensor) else x


def leaves(x: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists and dicts."""
    if isinstance(x, (tuple, list)):
        return [t for v in x for t in leaves(v)]
    if isinstance(x, dict):
        return [t for v in x.values() for t in leaves(v)]
    return [x] if isinstance(x, Tensor) else []


def check_arguments(x: Any) -> None:
    """Refuse what cannot be differentiated among nested arguments."""
    if isinstance(x, (tuple, list, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            check_arguments(part)
    elif not isinstance(x, Tensor):
        raise ValueError(
            f"Thing passed to transform API must be Tensor, got {type(x)}. Pass a tensor, for example "
            "torch.tensor(2.), or name the arguments to differentiate with argnums."
        )


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """(func(*primals), its rate of change along the tangents), by one pass of dual numbers.

    >>> import autodiff_kernel as torch
    >>> torch.func.jvp(lambda a, b: a * b + a ** 2, (torch.tensor(2.), torch.tensor(3.)),
    ...                (torch.tensor(1.), torch.tensor(0.)))
    (tensor(10.), tensor(7.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals). "
            f"Got {type(primals).__name__}"
        )
    if len(leaves(primals)) != len(leaves(tangents)):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure."
        )
    for p, t in zip(leaves(primals), leaves(tangents)):
        if p.shape != t.shape:
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected primal of shape {p.shape} to have a tangent of that shape, "
                f"got {t.shape}"
            )
    with dual.level() as level:
        moving = iter(leaves(tangents))
        out = func(*tree_map(lambda p: dual.make(p, next(moving), level), primals))
        aux = None
        if has_aux:
            out, aux = out
            aux = tree_map(lambda t: dual.parts(t, level)[0], aux)
        y = tree_map(lambda t: dual.parts(t, level)[0], out)
        dy = tree_map(lambda t: dual.parts(t, level)[1], out)
    return (y, dy, aux) if has_aux else (y, dy)


def _lift(x: Tensor) -> Tensor:
    """A fresh input for an inner reverse pass, that outer derivatives still see: a result of the identity."""
    if x.is_dual:
        return dual.make(_lift(x.primal), x.tangent, x.level)  # type: ignore[attr-defined]
    if x.requires_grad:
        return x * 1
    return x.detach().requires_grad_()


def _plain(x: Any) -> Tensor:
    """The innermost value of a dual number."""
    while x.is_dual:
        x = x.primal
    return x  # type: ignore[no-any-return]


def _pull(y: Any, xs: list[Any], v: Any, create_graph: bool) -> list[Any]:
    """vᵀ ∂y/∂x for each lifted x; dual numbers give dual gradients.

    The gradient of a dual number y + ε dy is ∇y + ε ∇dy, both for the primal part of x:
    so reverse mode over forward mode is two reverse passes.
    """
    if isinstance(y, dual.Dual):
        k = y.level
        vp, vt = dual.parts(v, k) if v is not None else (None, None)
        inner = [x.primal if isinstance(x, dual.Dual) and x.level == k else x for x in xs]
        along = y.tangent if vp is None else (y.tangent * vp).sum() + (y.primal * vt).sum()  # type: ignore[attr-defined]
        primal = _pull(y.primal, inner, vp, create_graph)
        tangent = _pull(along, inner, None, create_graph)
        return [dual.make(p, t, k) for p, t in zip(primal, tangent)]
    plain = [_plain(x) for x in xs]
    if not y.requires_grad:
        return [wrap(x.raw * 0) for x in plain]
    grads = _engine.grad([y], plain, [v], True, create_graph, True)
    return [wrap(x.raw * 0) if g is None else g for x, g in zip(plain, grads)]


def _nested(xs: list[Tensor]) -> bool:
    """Is somebody outside differentiating in reverse mode too?  Then the gradient needs its history."""
    return any(_plain(x).requires_grad for x in xs)


def _strip(x: Any) -> Any:
    """x without history; a dual number stays one."""
    return dual.make(_strip(x.primal), _strip(x.tangent), x.level) if x.is_dual else x.detach()


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), a function that maps a cotangent of the output to cotangents of the primals).

    >>> import autodiff_kernel as torch
    >>> y, pull = torch.func.vjp(lambda x: x * x, torch.tensor([1., 2.]))
    >>> pull(torch.tensor([1., 1.]))
    (tensor([2., 4.]),)
    """
    flat = leaves(primals)
    with modes.enable_grad():
        lifted = [_lift(x) for x in flat]
        fresh = iter(lifted)
        out = func(*tree_map(lambda _: next(fresh), primals))
        aux = None
        if has_aux:
            out, aux = out
    outer = _nested(flat)

    def pull(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        ys, vs = leaves(out), leaves(cotangents)
        if len(ys) != len(vs):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function: "
                f"{len(ys)} outputs, {len(vs)} cotangents"
            )
        total: Any = None
        with modes.enable_grad():
            for y, v in zip(ys, vs):
                part = _pull(y, lifted, v, outer or _nested(vs))
                total = part if total is None else [a + b for a, b in zip(total, part)]
        found = iter(total)
        return tree_map(lambda _: next(found), primals)

    shown = out if outer else tree_map(_strip, out)
    return (shown, pull, aux) if has_aux else (shown, pull)


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives (gradient of func for its arguments `argnums`, func's value).

    >>> import autodiff_kernel as torch
    >>> torch.func.grad_and_value(lambda x: x ** 2)(torch.tensor(3.))
    (tensor(6.), tensor(9.))
    """

    def derived(*args: Any, **kwargs: Any) -> Any:
        nums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for i in nums:
            if not -len(args) <= i < len(args):
                raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
        nums = tuple(i % len(args) for i in nums)
        chosen = tuple(args[i] for i in nums)
        check_arguments(chosen)
        flat = leaves(chosen)
        outer = _nested(flat) or _nested(leaves(args))
        with modes.enable_grad():
            lifted = [_lift(x) for x in flat]
            fresh = iter(lifted)
            placed = list(args)
            for i, part in zip(nums, tree_map(lambda _: next(fresh), chosen)):
                placed[i] = part
            y = func(*placed, **kwargs)
            aux = None
            if has_aux:
                y, aux = y
            if not isinstance(y, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(y).__name__}"
                )
            if y.dim():
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{y.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            history = outer or _plain(y).requires_grad and _captures(y, lifted)
            found = iter(_pull(y, lifted, None, history))
        grads = tree_map(lambda _: next(found), chosen)
        if not history:
            grads, y = tree_map(_strip, grads), _strip(y)
        value = y
        answer = grads[0] if isinstance(argnums, int) else grads
        return (answer, (value, aux)) if has_aux else (answer, value)

    return derived


def _captures(y: Tensor, lifted: list[Any]) -> bool:
    """Does func use tensors that require grad besides its arguments?  Then the gradient must keep its history."""
    own = {_plain(x).node for x in lifted}
    stack, seen = [_plain(y).node], set()
    from .core.graph import edges_of

    while stack:
        n = stack.pop()
        if n is None or n in seen:
            continue
        seen.add(n)
        if n.op is None and n not in own:
            return True
        if n not in own:
            stack += edges_of(n)
    return False


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of func for its arguments `argnums`; may be nested.

    >>> import autodiff_kernel as torch
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    def derived(*args: Any, **kwargs: Any) -> Any:
        g, value = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g

    return derived


def jacrev(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian of func for argument `argnums`, one reverse pass for each output element.

    >>> import autodiff_kernel as torch
    >>> torch.func.jacrev(lambda x: x * x)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def derived(*args: Any) -> Any:
        def one(x: Any) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        x = args[argnums]
        y, pull = vjp(one, x)
        rows = []
        for k in range(y.numel()):
            seed = FUNCTIONS["zeros"](y.numel(), dtype=y.dtype, device=y.device)
            seed[k] = 1
            rows.append(pull(seed.reshape(y.shape))[0])
        return FUNCTIONS["stack"](rows).reshape(tuple(y.shape) + tuple(x.shape))

    return derived


def jacfwd(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian of func for argument `argnums`, one forward pass for each input element.

    >>> import autodiff_kernel as torch
    >>> torch.func.jacfwd(lambda x: x * x)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def derived(*args: Any) -> Any:
        def one(x: Any) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        x = args[argnums]
        columns = []
        for k in range(x.numel()):
            seed = FUNCTIONS["zeros"](x.numel(), dtype=x.dtype, device=x.device)
            seed[k] = 1
            columns.append(jvp(one, (x,), (seed.reshape(x.shape),))[1])
        return FUNCTIONS["stack"](columns, -1).reshape(tuple(columns[0].shape) + tuple(x.shape))

    return derived


def hessian(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Hessian of func for argument `argnums`: forward over reverse.

    >>> import autodiff_kernel as torch
    >>> torch.func.hessian(lambda x: x[0] * x[1] + x[0] ** 2)(torch.tensor([2., 3.]))
    tensor([[2., 1.],
            [1., 0.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
