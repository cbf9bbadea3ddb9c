"""Slopes by finite differences, and the same slopes from the rules: the two sides that gradcheck compares.

A Jacobian here is a matrix with a row for each element of one input and a column for each element of one output, as
PyTorch prints it.  The fast way compares one number instead: vᵀ J u for a random direction u of the input and a
random v of the output.  Neither is of length zero nor along an axis, so a wrong entry shows in the number.

For a complex input the differences go along the real and along the imaginary axis.  PyTorch's gradient of a real
output holds both: slope along the real axis + i · slope along the imaginary one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..core import backward as _engine
from ..core import dual
from ..core.api import FUNCTIONS
from ..core.generator import Generator
from ..core.tensor import Tensor, share

Function = Callable[..., Any]


def as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def differentiable(outputs: Any) -> tuple[Tensor, ...]:
    """Those of a function's outputs that require grad."""
    return tuple([y for y in as_tuple(outputs) if y.requires_grad])


def moving(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs whose derivatives are asked for."""
    return [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]


# ------------------------------------------------------------------------------------------------ by differences
def along(
    func: Function, inputs: Sequence[Any], x: Tensor, step: Tensor, eps: float, at: Any
) -> list[Tensor]:
    """(f(x + eps·step) − f(x − eps·step)) / 2 eps for each output of func, flat.

    x is changed in its memory (whoever else reads it sees the change, a module its parameter) and put back.
    at: what to call the step in an error.
    """
    memory = share(x)
    before, change = memory.copy(), step.raw * eps
    try:
        memory[...] = before - change
        low = [y.detach().clone() for y in as_tuple(func(*inputs))]  # type: ignore[attr-defined]
        memory[...] = before + change
        high = [y.detach().clone() for y in as_tuple(func(*inputs))]  # type: ignore[attr-defined]
    finally:
        memory[...] = before
    for what in ("shape", "dtype"):
        for a, b in zip(low, high):
            was, got = getattr(a, what), getattr(b, what)
            if was != got:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index {at} by "
                    f"{eps}, but got: {what}s {was} and {got}."
                )
    return [((b - a) / (2 * eps)).reshape(-1) for a, b in zip(low, high)]  # type: ignore[operator]


def numerical_jacobians(func: Function, inputs: Sequence[Any], x: Tensor, eps: float) -> list[Tensor]:
    """The Jacobian of each output of func for the input x: two calls of func for each element of x."""
    rows: list[list[Tensor]] = []
    for k in range(x.numel()):
        at = place(k, x)
        row = along(func, inputs, x, unit(x, k), eps, at)
        if x.is_complex():
            turned = along(func, inputs, x, unit(x, k) * 1j, eps, at)  # type: ignore[operator]
            row = [a + b * 1j for a, b in zip(row, turned)]  # type: ignore[operator]
        rows.append(row)
    if not rows:
        return [empty(x, y) for y in as_tuple(func(*inputs))]
    return [FUNCTIONS["stack"](list(column)) for column in zip(*rows)]


def numerical_products(func: Function, inputs: Sequence[Any], x: Tensor, u: Any, eps: float) -> list[Any]:
    """J u of each output for the input x: a flat tensor, or the pair along both axes for a complex x."""
    if not x.is_complex():
        return along(func, inputs, x, u.reshape(x.shape), eps, "u")
    real, imaginary = (part.reshape(x.shape).to(x.dtype) for part in u)
    pairs = zip(
        along(func, inputs, x, real, eps, "u"), along(func, inputs, x, imaginary * 1j, eps, "u"), strict=True
    )
    return list(pairs)


# ------------------------------------------------------------------------------------------------ by the rules
def analytical_jacobians(y: Tensor, xs: Sequence[Tensor]) -> tuple[list[Tensor], bool, bool]:
    """The Jacobian of y for each x by reverse mode, an element of y at a time.

    And whether each gradient had its input's dtype, and its shape.
    """
    columns: list[list[Tensor]] = [[] for _ in xs]
    same_dtype = same_size = True
    for k in range(y.numel()):
        for column, x, g in zip(columns, xs, gradients(y, xs, unit(y, k))):
            if g is not None:
                same_dtype = same_dtype and g.dtype == x.dtype
                same_size = same_size and g.shape == x.shape
            column.append(flat_gradient(g, x))
    return (
        [FUNCTIONS["stack"](c, 1) if c else empty(x, y) for c, x in zip(columns, xs)],
        same_dtype,
        same_size,
    )


def analytical_products(y: Tensor, xs: Sequence[Tensor], us: Sequence[Any], v: Tensor) -> list[Tensor]:
    """vᵀ J u of y for each x by one pass of reverse mode."""
    out = []
    for x, u, g in zip(xs, us, gradients(y, xs, v.reshape(y.shape))):  # type: ignore[attr-defined]
        flat: Any = flat_gradient(g, x)
        out.append(flat.real.dot(u[0]) + flat.imag.dot(u[1]) * 1j if x.is_complex() else flat.dot(u))
    return out


def gradients(y: Tensor, xs: Sequence[Tensor], v: Tensor) -> Any:
    return _engine.grad([y], xs, [v], True, False, True)


def flat_gradient(g: Any, x: Tensor) -> Tensor:
    """A gradient as a vector; zeros for None, and for one of another size."""
    if g is None or g.numel() != x.numel():
        return FUNCTIONS["zeros"](x.numel(), dtype=x.dtype, device=x.device)  # type: ignore[no-any-return]
    return g.detach().reshape(-1)  # type: ignore[no-any-return]


def tangents(func: Function, inputs: Sequence[Any], moves: dict[int, Tensor]) -> list[Any]:
    """The tangents of func's outputs where the inputs numbered in `moves` move that way; None where nothing moves."""
    with dual.level() as k:
        duals = [
            dual.make(x, moves[i].reshape(x.shape), k) if i in moves else x for i, x in enumerate(inputs)
        ]  # type: ignore[attr-defined]
        return [dual.split(y, k)[1] for y in as_tuple(func(*duals))]


def forward_jacobians(func: Function, inputs: Sequence[Any], i: int, ys: Sequence[Tensor]) -> list[Tensor]:
    """The Jacobian of each output for input i by forward mode, an element of the input at a time."""
    x = inputs[i]
    rows = [forward_products(func, inputs, i, unit(x, k), ys) for k in range(x.numel())]
    return [FUNCTIONS["stack"](list(c)) for c in zip(*rows)] if rows else [empty(x, y) for y in ys]


def forward_products(
    func: Function, inputs: Sequence[Any], i: int, u: Tensor, ys: Sequence[Tensor]
) -> list[Tensor]:
    """J u of each output by one pass of forward mode; zeros where nothing moves."""
    found = tangents(func, inputs, {i: u})
    return [
        FUNCTIONS["zeros"](y.numel(), dtype=y.dtype, device=y.device) if t is None else t.detach().reshape(-1)
        for t, y in zip(found, ys)
    ]


# ------------------------------------------------------------------------------------------------ directions
def unit(x: Tensor, k: int) -> Tensor:
    """A tensor of x's shape with 1 at element k, else 0."""
    e = FUNCTIONS["zeros"](x.numel(), dtype=x.dtype, device=x.device)
    e[k] = 1
    return e.reshape(x.shape)  # type: ignore[no-any-return]


def place(k: int, x: Tensor) -> tuple[int, ...]:
    """The index of element k."""
    index = []
    for n in reversed(x.shape):
        k, i = divmod(k, n)
        index.append(i)
    return tuple(reversed(index))


def empty(x: Tensor, y: Tensor) -> Tensor:
    return FUNCTIONS["zeros"](x.numel(), y.numel(), dtype=x.dtype, device=x.device)  # type: ignore[no-any-return]


def directions(xs: Sequence[Tensor], ys: Sequence[Tensor]) -> tuple[list[Any], list[Tensor]]:
    """A random direction of length 1 for each input (two for a complex one) and for each output.

    From a generator of their own: they are the same each time, and the user's random numbers stay as they were.
    """
    generator = Generator()
    us: list[Any] = [
        (random_unit(x, generator), random_unit(x, generator))
        if x.is_complex()
        else random_unit(x, generator)
        for x in xs
    ]
    return us, [random_unit(y, generator) for y in ys]


def random_unit(x: Tensor, generator: Generator) -> Tensor:
    r = FUNCTIONS["rand"](x.numel(), generator=generator)
    real = x.real if x.is_complex() else x  # type: ignore[attr-defined]
    r = r.to(device=x.device, dtype=real.dtype)
    return r / r.norm()  # type: ignore[no-any-return]
