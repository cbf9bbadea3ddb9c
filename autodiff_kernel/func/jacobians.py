"""Jacobians and Hessians: all rows, or all columns, at once, by vmap over cotangents or tangents."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

from ..core import device as devices
from ..core.api import FUNCTIONS
from ..core.op import TABLE
from ..core.outline import DataDependentError, of_all
from ..core.pytree import flatten, unflatten
from ..core.tensor import Tensor, wrap
from .forward import jvp_of
from .reverse import chosen, vjp_of
from .vectorize import vmap


def refuse_complex(who: str, leaves: list[Any], which: str) -> None:
    for i, x in enumerate(leaves):
        if isinstance(x, Tensor) and x.raw.dtype.kind == "c":
            raise RuntimeError(
                f"{who}: Expected all {which} to be real but received complex tensor at flattened input idx: {i}"
            )


def size(x: Any) -> int:
    return math.prod(x.raw.shape)


# ------------------------------------------------------------------------------------------------ unit vectors
def bases(xs: list[Any], chunk: int | None) -> Iterator[list[Any]]:
    """The unit vectors of the space of all xs together, `chunk` at a time: for each x a tensor (vectors, *shape)."""
    sizes = [size(x) for x in xs]
    total = sum(sizes)
    step = total if chunk is None else min(chunk, total)
    for first in range(0, max(total, 1), step or 1):
        count, start, out = min(step, total - first), 0, []
        for x, n in zip(xs, sizes):
            unit = devices.eye(count, n, first - start, dtype=x.raw.dtype, like=of_all(x.raw))
            out.append(wrap(unit.reshape((count, *x.raw.shape))))
            start += n
        yield out


def rows_of(
    linear: Callable[[Any], Any], xs: list[Any], spec: Any, chunk: int | None, randomness: str
) -> list[Any]:
    """The values of a linear function at all unit vectors: for each of its results a tensor (vectors, *shape).

    At once if its operations can be batched, else one by one.
    """
    found: list[list[Any]] = []
    for basis in bases(xs, chunk):
        try:
            if chunk == 1:
                raise DataDependentError
            found.append(flatten(vmap(linear, randomness=randomness)(unflatten(spec, basis)))[0])
        except DataDependentError:
            each = [
                flatten(linear(unflatten(spec, [TABLE["getitem"](b, p=(i,)) for b in basis])))[0]
                for i in range(basis[0].raw.shape[0])
            ]
            found.append([FUNCTIONS["stack"](list(column)) for column in zip(*each)])
    return [column[0] if len(column) == 1 else FUNCTIONS["cat"](list(column)) for column in zip(*found)]


def split_up(whole: Any, xs: list[Any], dim: int) -> list[Any]:
    """A tensor along whose dimension `dim` the elements of all xs lie, as one tensor for each x."""
    start, out = 0, []
    for x in xs:
        n = size(x)
        out.append(FUNCTIONS["narrow"](whole, dim, start, n))
        start += n
    return out


# ------------------------------------------------------------------------------------------------ jacrev
def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of func for its arguments `argnums`, by reverse mode: all rows at once.

    For an output of shape (m,) and an argument of shape (n,): a tensor of shape (m, n); shapes are joined.  Nested
    outputs give nested Jacobians, and inside each a tuple for a tuple of argnums.  has_aux: func gives (output, aux),
    the derived function (Jacobian, aux).  chunk_size: at most so many rows at once; with 1 they are computed one by
    one, without vmap.

    >>> import autodiff_kernel as torch
    >>> torch.func.jacrev(lambda x: x * x)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def derived(*args: Any) -> Any:
        refuse_complex("jacrev", flatten(args)[0], "inputs")
        out, pull, *aux = vjp_of(func, args, argnums, has_aux)
        ys, out_spec = flatten(out)
        refuse_complex("jacrev", ys, "outputs")
        xs, spec = flatten(chosen(args, argnums))
        columns = rows_of(pull, ys, out_spec, chunk_size, "error")
        blocks = [
            [
                TABLE["reshape"](part, p=(*y.raw.shape, *x.raw.shape))
                for part, y in zip(split_up(c, ys, 0), ys)
            ]
            for c, x in zip(columns, xs)
        ]
        jacobian = unflatten(out_spec, [unflatten(spec, row) for row in zip(*blocks)])
        return (jacobian, aux[0]) if has_aux else jacobian

    return derived


# ------------------------------------------------------------------------------------------------ jacfwd
def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The Jacobian of func for its arguments `argnums`, by forward mode: all columns at once.

    As `jacrev`; cheaper where there are fewer inputs than outputs.  randomness: see vmap.

    >>> import autodiff_kernel as torch
    >>> torch.func.jacfwd(lambda x: x * x)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def derived(*args: Any) -> Any:
        refuse_complex("jacfwd", flatten(args)[0], "inputs")
        xs, spec = flatten(chosen(args, argnums))
        shape: list[Any] = []
        kept: list[Any] = []

        def push(basis: Any) -> Any:
            out = jvp_of(func, args, basis, argnums, False, has_aux)
            ys, out_spec = flatten(out[0])
            refuse_complex("jacfwd", ys, "outputs")
            shape[:] = [out_spec]
            tangents = flatten(out[1])[0]
            if not has_aux:
                return tangents
            aux, kept[:] = flatten(out[2])[0], [flatten(out[2])[1], len(tangents)]
            return [*tangents, *aux]

        rows = rows_of(push, xs, spec, None, randomness)
        aux: Any = None
        if has_aux:
            rows, extra = rows[: kept[1]], rows[kept[1] :]
            aux = unflatten(kept[0], [TABLE["getitem"](v, p=(0,)) for v in extra])
        blocks = []
        for row in rows:
            last = TABLE["permute"](row, p=(*range(1, row.raw.ndim), 0))
            parts = split_up(last, xs, row.raw.ndim - 1)
            blocks.append(
                unflatten(
                    spec,
                    [
                        TABLE["reshape"](part, p=(*row.raw.shape[1:], *x.raw.shape))
                        for part, x in zip(parts, xs)
                    ],
                )
            )
        jacobian = unflatten(shape[0], blocks)
        return (jacobian, aux) if has_aux else jacobian

    return derived


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The Hessian of func for its arguments `argnums`: forward over reverse.

    >>> import autodiff_kernel as torch
    >>> torch.func.hessian(lambda x: x[0] * x[1] + x[0] ** 2)(torch.tensor([2., 3.]))
    tensor([[2., 1.],
            [1., 0.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
