"""torch.autograd.functional: Jacobians, Hessians and their products, of functions of tensors."""

from collections.abc import Callable
from typing import Any

from ..core import backward as _engine
from ..core import dual, modes
from ..core.api import FUNCTIONS
from ..core.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(x: Any, what: str, who: str) -> tuple[tuple[Tensor, ...], bool]:
    """(tensors as a tuple, whether they came as one)."""
    many = isinstance(x, (tuple, list))
    xs = tuple(x) if many else (x,)
    for i, t in enumerate(xs):
        if not isinstance(t, Tensor):
            where = f"Value at index {i} of the tuple of {what}" if many else f"{what} given to {who}"
            raise TypeError(f"The {where} should be a Tensor but has type {type(t)}." if not many else
                            f"{where} should be a Tensor but has type {type(t)}.")  # fmt: skip
    return xs, many


def _again(xs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """The inputs as tensors of their own: results of an identity with create_graph, fresh leaves without."""
    if create_graph:
        return tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in xs)  # type: ignore[attr-defined]
    return tuple(x.detach().requires_grad_() for x in xs)


def _done(x: Any, create_graph: bool) -> Any:
    if isinstance(x, tuple):
        return tuple(_done(v, create_graph) for v in x)
    return x if create_graph else x.detach()


def _independent(i: int, strict: bool) -> None:
    if strict:
        raise RuntimeError(
            f"Output {i} of the user-provided function is independent of input. This is not allowed in strict mode."
        )


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of each element of func's output for each element of each input.

    For an output of shape (m,) and an input of shape (n,): a tensor of shape (m, n); shapes are joined.  Tuples of
    inputs and outputs give tuples (outputs outside).  strategy: 'reverse-mode' (a pass for each output element) or
    'forward-mode' (a pass for each input element).

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    xs, many_in = _tuple(inputs, "inputs", "jacobian")
    if strategy == "forward-mode":
        return _done(_forward_jacobian(func, xs, many_in), create_graph)
    if strategy != "reverse-mode":
        raise ValueError(f"Expected strategy to be 'forward-mode' or 'reverse-mode', but got {strategy!r}")
    with modes.enable_grad():
        xs = _again(xs, create_graph)
        ys, many_out = _tuple(func(*xs), "outputs", "the user-provided function")
        rows = tuple(_rows(y, i, xs, create_graph, strict) for i, y in enumerate(ys))
    result: Any = rows if many_in else tuple(r[0] for r in rows)
    return _done(result if many_out else result[0], create_graph)


def _rows(y: Tensor, i: int, xs: tuple[Tensor, ...], create_graph: bool, strict: bool) -> tuple[Tensor, ...]:
    """The Jacobian of y for each x: one reverse pass for each element of y."""
    zeros = FUNCTIONS["zeros"]
    flat = y.reshape(-1)  # type: ignore[attr-defined]
    if not y.requires_grad:
        _independent(i, strict)
        return tuple(zeros(*y.shape, *x.shape, dtype=x.dtype, device=x.device) for x in xs)
    columns: list[list[Tensor]] = [[] for _ in xs]
    for k in range(flat.shape[0]):
        grads = _engine.grad([flat[k]], xs, [None], True, create_graph, True)
        for column, x, g in zip(columns, xs, grads):
            if g is None:
                _independent(i, strict)
            column.append(x.detach() * 0 if g is None else g)
    return tuple(
        FUNCTIONS["stack"](c).reshape(y.shape + x.shape) if c else zeros(*y.shape, *x.shape, dtype=x.dtype)
        for c, x in zip(columns, xs)
    )


def _forward_jacobian(func: Callable[..., Any], xs: tuple[Tensor, ...], many_in: bool) -> Any:
    """One forward pass for each element of the inputs."""
    stack = FUNCTIONS["stack"]
    blocks: list[Any] = []
    many_out = False
    for j, x in enumerate(xs):
        columns: list[tuple[Tensor, ...]] = []
        for k in range(x.numel()):
            with dual.level() as level:
                seed = FUNCTIONS["zeros"](x.numel(), dtype=x.dtype, device=x.device)
                seed[k] = 1  # type: ignore[index]
                args = [dual.make(x, seed.reshape(x.shape), level) if i == j else v for i, v in enumerate(xs)]
                ys, many_out = _tuple(func(*args), "outputs", "the user-provided function")
                columns.append(tuple(dual.parts(y, level)[1] for y in ys))
        blocks.append([stack(list(c), -1).reshape(c[0].shape + x.shape) for c in zip(*columns)])
    rows = tuple(tuple(block[i] for block in blocks) for i in range(len(blocks[0])))
    result: Any = rows if many_in else tuple(r[0] for r in rows)
    return result if many_out else result[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one output element; a tuple of tuples for a tuple of inputs.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.hessian(lambda x: x[0] * x[1] + x[0] ** 2, torch.tensor([2., 3.]))
    tensor([[2., 1.],
            [1., 0.]])
    """
    xs, many = _tuple(inputs, "inputs", "hessian")

    def gradient(*args: Tensor) -> Any:
        y = func(*args)
        if isinstance(y, tuple):
            if len(y) != 1:
                raise RuntimeError("The function given to hessian should return a single Tensor")
            y = y[0]
        if not isinstance(y, Tensor):
            raise TypeError(
                f"The output of the user-provided function should be a Tensor but has type {type(y)}."
            )
        if y.numel() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single element"
            )
        if not y.requires_grad:
            _independent(0, strict)
            return tuple(x * 0 for x in args) if many else args[0] * 0
        grads = _engine.grad([y.reshape(())], args, [None], None, True, True)  # type: ignore[attr-defined]
        out = tuple(x * 0 if g is None else g for x, g in zip(args, grads))
        return out if many else out[0]

    if outer_jacobian_strategy == "forward-mode":
        from ..func import grad, jacfwd

        if not many:
            return jacfwd(grad(lambda x: func(x).reshape(())))(xs[0])
    return jacobian(gradient, tuple(xs) if many else xs[0], create_graph, strict)


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(outputs, vᵀ J): the product of a cotangent with the Jacobian, by one reverse pass.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1., 2.]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    xs, many_in = _tuple(inputs, "inputs", "vjp")
    with modes.enable_grad():
        xs = _again(xs, create_graph)
        ys, many_out = _tuple(func(*xs), "outputs", "the user-provided function")
        vs = _cotangents(v, ys)
        grads = _engine.grad([y for y in ys if y.requires_grad], xs, [w for w, y in zip(vs, ys) if y.requires_grad],
                             None, create_graph, True) if any(y.requires_grad for y in ys) else [None] * len(xs)  # fmt: skip
        for i, g in enumerate(grads):
            if g is None:
                _independent(i, strict)
        out = tuple(x.detach() * 0 if g is None else g for x, g in zip(xs, grads))
    return _done(ys if many_out else ys[0], create_graph), _done(out if many_in else out[0], create_graph)


def _cotangents(v: Any, ys: tuple[Tensor, ...]) -> list[Any]:
    if v is None:
        if len(ys) != 1 or ys[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with "
                               "a single element.")  # fmt: skip
        return [None]
    vs = list(v) if isinstance(v, (tuple, list)) else [v]
    for w, y in zip(vs, ys):
        if w.shape != y.shape:
            raise RuntimeError(f"v has invalid size: should be {y.shape} but got {w.shape}.")
    return vs


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(outputs, J v): the product of the Jacobian with a tangent, by one pass of dual numbers.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.jvp(lambda x: x * x, torch.tensor([1., 2.]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    xs, many_in = _tuple(inputs, "inputs", "jvp")
    if v is None:
        if len(xs) != 1 or xs[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single "
                               "Tensor with a single element.")  # fmt: skip
        v = xs[0].detach() * 0 + 1
    vs = list(v) if isinstance(v, (tuple, list)) else [v]
    for w, x in zip(vs, xs):
        if w.shape != x.shape:
            raise RuntimeError(f"v has invalid size: should be {x.shape} but got {w.shape}.")
    with dual.level() as level:
        out = func(*[dual.make(x if create_graph else x.detach(), w, level) for x, w in zip(xs, vs)])
        ys, many_out = _tuple(out, "outputs", "the user-provided function")
        pairs = [dual.parts(y, level) for y in ys]
    primal, tangent = tuple(p for p, _ in pairs), tuple(t for _, t in pairs)
    return (
        _done(primal if many_out else primal[0], create_graph),
        _done(tangent if many_out else tangent[0], create_graph),
    )


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(output, H v) of a function with one output element, without building H.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    (tensor(9.), tensor([6., 0.]))
    """
    xs, many = _tuple(inputs, "inputs", "hvp")
    vs = [None] if v is None else list(v) if isinstance(v, (tuple, list)) else [v]
    if v is None:
        if len(xs) != 1 or xs[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single "
                               "Tensor with a single element.")  # fmt: skip
        vs = [xs[0].detach() * 0 + 1]
    with modes.enable_grad():
        xs = _again(xs, create_graph)
        y = func(*xs)
        grads = _engine.grad([y], xs, [None], None, True, True)
        total: Any = None
        for g, w in zip(grads, vs):
            if g is not None:
                term = (g * w).sum()  # type: ignore[attr-defined]
                total = term if total is None else total + term
        out: Any = [None] * len(xs)
        if total is not None and total.requires_grad:
            out = _engine.grad([total], xs, [None], None, create_graph, True)
        products = tuple(x.detach() * 0 if g is None else g for x, g in zip(xs, out))
    return _done(y, create_graph), _done(products if many else products[0], create_graph)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(output, vᵀ H); equal to `hvp`, since H is symmetric.

    >>> import autodiff_kernel as torch
    >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    (tensor(9.), tensor([6., 0.]))
    """
    return hvp(func, inputs, v, create_graph, strict)
