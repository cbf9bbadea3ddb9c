"""torch.autograd.functional: Jacobians, Hessians and their products, of functions of tensors.

Each function takes a function of tensors and a point.  The point is copied first (into fresh leaves, or with
`create_graph` into results of the identity), so that no `.grad` of the user's is touched.

strict: an output that does not depend on an input is an error instead of a derivative of zero.  It mostly means that
the graph was cut somewhere.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..core import backward as _engine
from ..core import dual, modes
from ..core.api import FUNCTIONS
from ..core.errors import explain
from ..core.pull import lift, pull
from ..core.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
OUTPUTS = "outputs of the user-provided function"


# ------------------------------------------------------------------------------------------------ tuples of tensors
def as_tensors(x: Any, what: str, who: str) -> tuple[tuple[Any, ...], bool]:
    """(the tensors as a tuple, whether they came as one); TypeError for anything else."""
    many = isinstance(x, tuple)
    xs = x if many else (x,)
    for i, t in enumerate(xs):
        if not isinstance(t, Tensor):
            found = f"value at index {i}" if many else f"given {what}"
            raise explain(
                TypeError,
                f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the {found} has type "
                f"{type(t)}.",
                cure="write torch.tensor(…) around a number, and tuple(…) around a list of tensors.",
            )
    return xs, many


def vectors(v: Any, like: Sequence[Tensor], who: str, alone: str) -> tuple[Any, ...]:
    """The tensors v, one for each of `like`.  alone: what must have a single element for v to be None."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {alone} a single Tensor with a single element."
            )
        return (FUNCTIONS["ones_like"](like[0].detach()),)
    vs, _ = as_tensors(v, "v", who)
    if len(vs) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    for i, (w, x) in enumerate(zip(vs, like)):
        if w.shape != x.shape:
            entry = f"Entry {i} in v" if len(vs) > 1 else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {x.shape} but got {w.shape}.")
    return vs


def fresh(xs: Sequence[Tensor], create_graph: bool) -> tuple[Any, ...]:
    """The inputs as tensors of their own: leaves, or with create_graph what outer derivatives still see."""
    return tuple([lift(x) if create_graph else x.detach().requires_grad_() for x in xs])


def done(x: Any, many: bool, create_graph: bool) -> Any:
    """Results as the user wants them: one tensor or a tuple (of tuples), with or without their graph."""
    out = tuple([v if create_graph else v.detach() for v in x])
    return out if many else out[0]


def zeros(x: Tensor) -> Any:
    """No derivative for x."""
    return FUNCTIONS["zeros_like"](x.detach())


# ------------------------------------------------------------------------------------------------ strict mode
def check_outputs(ys: Sequence[Tensor], strict: bool) -> None:
    for i, y in enumerate(ys):
        if strict and not y.requires_grad:
            raise explain(
                RuntimeError,
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode.",
                "The graph from the inputs to this output is cut (detach, item, numpy, no_grad, whole numbers), or the "
                "output does not use them.",
                tensor=y,
            )


def check_gradients(
    grads: Sequence[Any], strict: bool, create_graph: bool, output: str, again: str = "jacobian"
) -> None:
    """Each gradient must be there, and with create_graph depend on the inputs itself."""
    for j, g in enumerate(grads if strict else ()):
        if g is None:
            raise explain(
                RuntimeError,
                f"{output} is independent of input {j}. This is not allowed in strict mode.",
                "No path in the graph leads from the one to the other, so the derivative would be zero.",
            )
        if create_graph and not g.requires_grad:
            raise explain(
                RuntimeError,
                f"The {again} of the user-provided function is independent of input {j}. This is not allowed in strict "
                "mode when create_graph=True.",
                "It is constant there (the function is linear in that input), so a further derivative would be zero.",
            )


def check_curved(grads: Sequence[Any], strict: bool) -> None:
    """For a Hessian, the gradient itself must depend on the inputs."""
    for j, g in enumerate(grads if strict else ()):
        if g is None or not g.requires_grad:
            raise explain(
                RuntimeError,
                "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                f"input {j} is independent of the input. This is not allowed in strict mode. You should ensure that your "
                "function is twice differentiable and that the jacobian depends on the inputs (this would be violated "
                "by a linear function for example).",
            )


# ------------------------------------------------------------------------------------------------ Jacobians
def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of each element of func's output for each element of each input.

    For an output of shape (m,) and an input of shape (n,): a tensor of shape (m, n); shapes are joined.  Tuples of
    inputs and outputs give tuples (outputs outside).  strategy: 'reverse-mode' (a pass for each output element) or
    'forward-mode' (a pass for each input element); vectorize: all these passes at once, by `vmap`.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    xs, many_in = as_tensors(inputs, "inputs", "jacobian")
    if strict and (vectorize or strategy == "forward-mode"):
        what, instead = ("`vectorized=True`", "`vectorize=False`") if vectorize and strategy != "forward-mode" else (
            '`strategy="forward-mode"`', '`strategy="reverse-mode"`')  # fmt: skip
        raise explain(
            RuntimeError,
            f"torch.autograd.functional.jacobian: `strict=True` and {what} are not supported together. Please either set "
            f"`strict=False` or {instead}.",
            "Dependence is seen in the graph of single reverse passes only.",
        )
    with modes.enable_grad():
        if strategy == "forward-mode":
            blocks, many_out = forward_blocks(func, xs, vectorize)
        else:
            xs = fresh(xs, create_graph)
            ys, many_out = as_tensors(func(*xs), OUTPUTS, "jacobian")
            check_outputs(ys, strict)
            rows = batched_rows if vectorize else single_rows
            blocks = [rows(y, i, xs, create_graph, strict) for i, y in enumerate(ys)]
            blocks = [[b if create_graph else b.detach() for b in row] for row in blocks]
    out = tuple([tuple(row) if many_in else row[0] for row in blocks])
    return out if many_out else out[0]


def single_rows(y: Any, i: int, xs: Sequence[Any], create_graph: bool, strict: bool) -> list[Any]:
    """The Jacobian of y for each x: one reverse pass for each element of y."""
    flat = y.reshape(-1)
    columns: list[list[Any]] = [[] for _ in xs]
    for k in range(y.numel() if y.requires_grad else 0):
        grads = _engine.grad([flat[k]], xs, [None], True, create_graph, True)
        check_gradients(grads, strict, create_graph, f"Output {i} of the user-provided function")
        for column, x, g in zip(columns, xs, grads):
            column.append(zeros(x) if g is None else g)
    return [
        FUNCTIONS["stack"](c).reshape(y.shape + x.shape) if c else no_slope(y, x) for c, x in zip(columns, xs)
    ]


def batched_rows(y: Any, i: int, xs: Sequence[Any], create_graph: bool, strict: bool) -> list[Any]:
    """The same by one reverse pass for all elements of y at once."""
    from ..func import vmap

    count = y.numel()
    if not y.requires_grad or not count:
        return [no_slope(y, x) for x in xs]
    seeds = FUNCTIONS["eye"](count, dtype=y.dtype, device=y.device).reshape((count, *y.shape))
    rows = vmap(lambda v: tuple(pull([y], xs, [v], create_graph)))(seeds)
    return [r.reshape(y.shape + x.shape) for r, x in zip(rows, xs)]


def no_slope(y: Tensor, x: Tensor) -> Any:
    return FUNCTIONS["zeros"](*y.shape, *x.shape, dtype=x.dtype, device=x.device)


def forward_blocks(func: Function, xs: Sequence[Any], vectorize: bool) -> tuple[list[list[Any]], bool]:
    """The Jacobians by forward mode, a row of blocks for each output; and whether func gave a tuple."""
    from ..func import vmap

    ys, many_out = as_tensors(func(*xs), OUTPUTS, "jacobian")
    columns = []
    for j, x in enumerate(xs):
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")

        def pushed(u: Tensor, j: int = j, x: Any = x) -> Any:
            with dual.level() as k:
                args = [dual.make(x.view_as(x), u, k) if i == j else v for i, v in enumerate(xs)]
                outs, _ = as_tensors(func(*args), OUTPUTS, "jacobian")
                found = [(y, dual.split(y, k)[1]) for y in outs]
                return tuple([zeros(y) if t is None else t for y, t in found])

        count = x.numel()
        seeds = FUNCTIONS["eye"](count, dtype=x.dtype, device=x.device).reshape((count, *x.shape))
        if not count:
            columns.append([no_slope(y, x) for y in ys])
            continue
        moves = (
            vmap(pushed)(seeds)
            if vectorize
            else [FUNCTIONS["stack"](list(t)) for t in zip(*map(pushed, seeds))]
        )
        columns.append([m.movedim(0, -1).reshape(m.shape[1:] + x.shape) for m in moves])
    return [list(row) for row in zip(*columns)], many_out


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one output element; a tuple of tuples for a tuple of inputs.

    outer_jacobian_strategy: in which mode the gradient is differentiated, see `jacobian`.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.hessian(lambda x: x[0] * x[1] + x[0] ** 2, torch.tensor([2., 3.]))
    tensor([[2., 1.],
            [1., 0.]])
    """
    xs, many = as_tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def gradient(*args: Any) -> Any:
        points = tuple([lift(x) if x.is_dual or not x.requires_grad else x for x in args])
        y = single_element(func(*points), "hessian")
        check_outputs([y], strict)
        grads = gradients_of(y, points)
        check_curved(grads, strict)
        out = tuple([zeros(x) if g is None else g for x, g in zip(points, grads)])
        return out if many else out[0]

    at = xs if many else xs[0]
    return jacobian(gradient, at, create_graph, strict, vectorize, outer_jacobian_strategy)


def single_element(out: Any, who: str) -> Any:
    """The only tensor, of one element, that the user's function gave."""
    ys, many = as_tensors(out, OUTPUTS, who)
    if many:
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if ys[0].numel() != 1:
        raise explain(
            RuntimeError,
            f"The Tensor returned by the function given to {who} should contain a single element",
            f"It has the shape {list(ys[0].shape)}.",
            "reduce it to one number (.sum(), .mean()), or take the jacobian of the gradient yourself.",
            tensor=ys[0],
        )
    return ys[0]


def gradients_of(y: Any, xs: Sequence[Any]) -> Sequence[Any]:
    """The gradients of one number, with their graph; None where it does not depend on an input."""
    if not y.requires_grad:
        return [None] * len(xs)
    if any(t.is_dual for t in (y, *xs)):
        return pull([y.reshape(())], xs, [None], True)
    return _engine.grad([y.reshape(())], xs, [None], True, True, True)


# ------------------------------------------------------------------------------------------------ products
def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, vᵀ J): the product of a cotangent with the Jacobian, by one reverse pass.

    v: of the outputs' shapes; may be left out where func gives a single element.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1., 2.]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    xs, many_in = as_tensors(inputs, "inputs", "vjp")
    with modes.enable_grad():
        xs = fresh(xs, create_graph)
        ys, many_out = as_tensors(func(*xs), OUTPUTS, "vjp")
        check_outputs(ys, strict)
        vs = vectors(v, ys, "vjp", "the user-provided function returns")
        pairs = [(y, w) for y, w in zip(ys, vs) if y.requires_grad]
        grads: Sequence[Any] = [None] * len(xs)
        if pairs:
            grads = _engine.grad([y for y, _ in pairs], xs, [w for _, w in pairs], True, create_graph, True)
        check_gradients(grads, strict, create_graph, "The output of the user-provided function")
        products = [zeros(x) if g is None else g for x, g in zip(xs, grads)]
    return done(ys, many_out, create_graph), done(products, many_in, create_graph)


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, J v): the product of the Jacobian with a tangent, by one pass of dual numbers.

    v: of the inputs' shapes; may be left out for a single element.  (PyTorch takes two reverse passes for this.)

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.jvp(lambda x: x * x, torch.tensor([1., 2.]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    xs, _ = as_tensors(inputs, "inputs", "jvp")
    vs = vectors(v, xs, "jvp", "the input to the user-provided function is")
    reverse = create_graph or strict  # then the results need a graph to the inputs
    with modes.enable_grad():
        points = fresh(xs, create_graph) if reverse else tuple([x.detach() for x in xs])
        with dual.level() as k:
            out = func(*[dual.make(x.view_as(x), w, k) for x, w in zip(points, vs)])
            outs, many_out = as_tensors(out, OUTPUTS, "jvp")
            pairs = [dual.parts(y, k) for y in outs]
        ys, moves = tuple([y for y, _ in pairs]), tuple([t for _, t in pairs])
        if strict:
            check_outputs(ys, strict)
            ones = [FUNCTIONS["ones_like"](y) for y in ys]
            grads = _engine.grad(ys, points, ones, True, False, True)
            check_gradients(grads, strict, False, "The output of the user-provided function")
            check_gradients(moves, strict, create_graph, "")
    return done(ys, many_out, create_graph), done(moves, many_out, create_graph)


def second_products(who: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    """(output, the Hessian times v), by a reverse pass for the gradient and one for its product with v."""
    xs, many = as_tensors(inputs, "inputs", who)
    vs = vectors(v, xs, who, "the input to the user-provided function is")
    with modes.enable_grad():
        xs = fresh(xs, create_graph)
        y = single_element(func(*xs), who)
        check_outputs([y], strict)
        grads = gradients_of(y, xs)
        check_gradients(grads, strict, False, "The output of the user-provided function")
        check_curved(grads, strict)
        pairs = [(g, w) for g, w in zip(grads, vs) if g is not None and g.requires_grad]
        seconds: Sequence[Any] = [None] * len(xs)
        if pairs:
            seconds = _engine.grad([g for g, _ in pairs], xs, [w for _, w in pairs], True, create_graph, True)
        output = "The hessian of the user-provided function"
        check_gradients(seconds, strict, create_graph, output, "hessian")
        products = [zeros(x) if g is None else g for x, g in zip(xs, seconds)]
    return done([y], False, create_graph), done(products, many, create_graph)


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(output, H v) of a function with one output element, without building H.

    v: of the inputs' shapes; may be left out for a single element.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    (tensor(9.), tensor([6., 0.]))
    """
    return second_products("hvp", func, inputs, v, create_graph, strict)


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(output, vᵀ H); equal to `hvp`, since H is symmetric.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    (tensor(9.), tensor([6., 0.]))
    """
    return second_products("vhp", func, inputs, v, create_graph, strict)
