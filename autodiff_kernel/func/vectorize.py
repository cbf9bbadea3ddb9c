"""vmap: a function of one sample, run on all samples at once."""

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from ..core import batched, generator
from ..core.api import FUNCTIONS
from ..core.errors import explain
from ..core.levels import vmapping
from ..core.pytree import Spec, flatten, leaves_of, spread, unflatten
from ..core.tensor import Tensor
from ..core.wrappers import samples, unbatch


def name_of(func: Any) -> str:
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps `func` over a dimension of its inputs, all samples at once.

    `func` sees tensors without that dimension.  It may return tensors in nested tuples, lists and dicts.  Keyword
    arguments are passed on as they are.  Nests, and mixes in any order with grad, vjp, jvp, jacrev, jacfwd, hessian.

    in_dims: which dimension of each input to map over, None for an input that is the same for all samples; one number
    for all inputs, or nested like them.  out_dims: where the dimension stands in the outputs.  randomness: 'error',
    'same' or 'different' random numbers for the samples.  chunk_size: at most so many samples at once.

    Inside, a tensor has no one value: `if x > 0` and `x.item()` raise RuntimeError.

    >>> import autodiff_kernel as torch
    >>> x, y = torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([10., 100.])
    >>> torch.vmap(torch.dot, in_dims=(0, None))(x, y)
    tensor([210., 430.])
    >>> loss = lambda w, x: (w * x).sum() ** 2
    >>> torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(torch.ones(2), x)
    tensor([[ 6., 12.],
            [42., 56.]])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        check_out_dims(func, out_dims)
        leaves, spec, dims, size = mapped_inputs(func, in_dims, args)
        if chunk_size is None or size <= chunk_size:
            return run(func, leaves, spec, dims, size, out_dims, randomness, kwargs)
        return in_chunks(func, leaves, spec, dims, size, out_dims, randomness, kwargs, chunk_size)

    return mapped


# ------------------------------------------------------------------------------------------------ inputs
def mapped_inputs(func: Any, in_dims: Any, args: Any) -> tuple[list[Any], Spec, list[Any], int]:
    """The leaves of the arguments, how they are nested, the dimension to map over for each, and how many samples."""
    who = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{who}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = flatten(args)
    dims = spread(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{who}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (x, dim) in enumerate(zip(leaves, dims)):
        dims[i] = checked_dim(who, x, dim)
    sizes = [x.raw.shape[d] for x, d in zip(leaves, dims) if d is not None]
    if not sizes:
        raise explain(
            ValueError,
            "vmap: Expected at least one Tensor to vmap over",
            "in_dims is None for every input, so there is no dimension to map over.",
        )
    if any(n != sizes[0] for n in sizes):
        raise explain(
            ValueError,
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension",
            "Sample i is entry i of each input, so all must have the same number of entries.",
            "name the right dimensions with in_dims, and None for what is the same for all samples.",
        )
    return leaves, spec, dims, sizes[0]


def checked_dim(who: str, x: Any, dim: Any) -> Any:
    if not isinstance(dim, int) and dim is not None:
        raise ValueError(
            f"{who}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if dim is None:
        return None
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{who}: Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    n = x.raw.ndim
    if not -n <= dim < n:
        raise ValueError(
            f"{who}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so expected "
            f"in_dim to satisfy -{n} <= in_dim < {n}."
        )
    return dim % n


# ------------------------------------------------------------------------------------------------ the run
def run(
    func: Any,
    leaves: list[Any],
    spec: Spec,
    dims: list[Any],
    size: int,
    out_dims: Any,
    randomness: str,
    kwargs: Any,
) -> Any:
    """Wrap the inputs, call the function once, and take the wrappers off the outputs."""
    with vmapping(size, randomness) as v:
        wrapped = [
            x if d is None else batched.make(batched.samples_first(x, d), v.level)
            for x, d in zip(leaves, dims)
        ]
        out = func(*unflatten(spec, wrapped), **kwargs)
        return unwrapped(func, out, out_dims, v.level, size)


def unwrapped(func: Any, out: Any, out_dims: Any, level: int, size: int) -> Any:
    leaves, spec = flatten(out)
    dims: Any
    if isinstance(out, Tensor):
        single = out_dims is None or isinstance(out_dims, int)
        dims = [out_dims] if single else list(out_dims) if isinstance(out_dims, tuple) else []
        dims = dims if len(dims) == 1 else None
    else:
        dims = spread(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure "
            f"of `outputs`. out_dims has structure {flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return unflatten(spec, [unwrap(name_of(func), y, d, level, size) for y, d in zip(leaves, dims)])


def unwrap(name: str, y: Any, dim: Any, level: int, size: int) -> Any:
    """One output with its samples as dimension `dim`; the same for all samples if it does not depend on them."""
    if dim is None:
        if isinstance(y, Tensor) and unbatch(y, level) is not None:
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return y
    if not isinstance(y, Tensor):
        raise explain(
            ValueError,
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(y)}. Did you mean to set out_dims= to "
            "None for output?",
            "Results of the samples are put side by side in one tensor, so each must be a tensor.",
        )
    whole = samples(y, level, size)
    n = whole.raw.ndim
    if not -n <= dim < n:
        out_of_range(dim, n)
    return batched.samples_at(whole, dim % n)


def out_of_range(dim: int, n: int) -> NoReturn:
    raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")


def check_out_dims(func: Any, out_dims: Any) -> None:
    for d in leaves_of(out_dims):
        if not isinstance(d, int) and d is not None:
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )


def in_chunks(
    func: Any, leaves: list[Any], spec: Spec, dims: list[Any], size: int, out_dims: Any, randomness: str, kwargs: Any,
    chunk: int,
) -> Any:  # fmt: skip
    """At most `chunk` samples at once; with the same random numbers in each chunk where that was asked for."""
    state = generator.get_rng_state() if randomness == "same" else None
    found: list[list[Any]] = []
    shape: Any = None
    for start in range(0, size, chunk):
        count = min(chunk, size - start)
        if state is not None:
            generator.set_rng_state(state)
        some = [x if d is None else FUNCTIONS["narrow"](x, d, start, count) for x, d in zip(leaves, dims)]
        flat, shape = flatten(run(func, some, spec, dims, count, out_dims, randomness, kwargs))
        found.append(flat)
    places = spread(out_dims, shape) or [out_dims]
    if shape.kind is None:
        places = leaves_of(out_dims)
    whole = [ys[0] if d is None else FUNCTIONS["cat"](list(ys), d) for ys, d in zip(zip(*found), places)]
    return unflatten(shape, whole)
