"""Random numbers, new tensors: rand, randn, randint, randperm, normal, bernoulli, multinomial and their like.

For the same seed the numbers are those of PyTorch on the CPU, bit for bit; `fills` says more.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from . import device as devices
from . import distributions as draw
from . import dtype as dtypes
from . import modes, samplewise
from .api import attach, check_tensor, into, only_function
from .create import made, pinned, shape_of
from .failures import shape_clash
from .fills import (
    Array,
    Draw,
    as_float,
    as_int,
    bernoulli_numbers,
    largest_count,
    normal_numbers,
    onto,
    redraw,
    require,
    require_range,
    uniform_numbers,
    unsupported,
)
from .formats import nesting
from .generator import chosen
from .levels import mapping
from .op import TABLE
from .tensor import Tensor, fresh, wrap


def _new(
    shape: Any, numbers: Draw, generator: Any, device: Any, requires_grad: bool = False, out: Any = None,
    alone: bool = False,
) -> Any:  # fmt: skip
    """A new tensor of the numbers; alone: those of a tensor depend on one another, so samples are drawn one by one."""
    v = samplewise.drawing() if mapping else None
    if v is not None:
        again = partial(_new, numbers=numbers, generator=generator, device=device, alone=alone)
        new = samplewise.one_each(v, lambda: again(shape)) if alone else samplewise.of_shape(v, again, shape)
        return into(out, new)
    where = devices.parse(device)
    count = math.prod(shape)
    result = made(onto(numbers(chosen(generator, where), count).reshape(shape), where), requires_grad)
    if modes.watch[0] is not None:
        modes.watchers["drawn"](result, partial(_new, shape, numbers, generator, device))
    return into(out, result)


def _like(input: Tensor, numbers: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """A tensor that lies in memory as `input` does, filled by `numbers(dtype, contiguous)`."""
    v = samplewise.drawing() if mapping else None
    if v is not None:
        return samplewise.like(v, lambda x: _like(x, numbers, dtype, device, False), input)  # type: ignore[no-any-return]
    raw = input.raw
    where = input.device if device is None else devices.parse(device)
    order = nesting(raw)
    real = [axis for axis in order if raw.shape[axis] != 1]
    contiguous = real == sorted(real)  # the new tensor has no gaps, even if `input` has
    flat = numbers(dtype or input.dtype, contiguous)(chosen(None, where), raw.size)
    host = flat.reshape([raw.shape[axis] for axis in order]).transpose(np.argsort(order)) if order else flat
    result = made(onto(host.reshape(raw.shape) if contiguous else host, where), requires_grad)
    if modes.watch[0] is not None:
        modes.watchers["drawn"](result, partial(_like, wrap(raw), numbers, dtype, device, False))
    return result


def _float(dtype: Any) -> dtypes.dtype:
    return dtypes.get_default_dtype() if dtype is None else dtype


def _size(name: str, size: Any, named: dict[str, Any]) -> tuple[int, ...]:
    if "size" in named and not size:
        size = (named.pop("size"),)
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
    if not size:
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (), but expected a size"
        )
    return shape_of(size, name)


@only_function("rand")
def rand(
    *size: Any, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, **named: Any,
) -> Any:  # fmt: skip
    """A tensor of the given size with numbers drawn uniformly from [0, 1).

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2, 2)
    tensor([[0.4963, 0.7682],
            [0.0885, 0.1320]])
    """
    shape = _size("rand", size, named)
    made = _new(shape, uniform_numbers(_float(dtype)), generator, device, requires_grad, out)
    return pinned(made) if pin_memory else made


@only_function("randn")
def randn(
    *size: Any, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, **named: Any,
) -> Any:  # fmt: skip
    """A tensor of the given size with normal numbers of mean 0 and variance 1.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    shape = _size("randn", size, named)
    made = _new(shape, normal_numbers(_float(dtype)), generator, device, requires_grad, out)
    return pinned(made) if pin_memory else made


@only_function("rand_like")
def rand_like(
    input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """`rand` with the shape, dtype and device of `input`."""
    check_tensor("rand_like", input)
    return _like(input, lambda d, _: uniform_numbers(d), dtype, device, requires_grad)


@only_function("randn_like")
def randn_like(
    input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """`randn` with the shape, dtype and device of `input`."""
    check_tensor("randn_like", input)
    return _like(input, lambda d, c: normal_numbers(d, contiguous=c), dtype, device, requires_grad)


def _integer_numbers(dtype: dtypes.dtype, low: int, high: int) -> Draw:
    if dtype.is_complex:
        raise unsupported("random_kernel_cpu", dtype)
    require_range("randint", dtype, low, high)
    return lambda engine, count: draw.integers(engine, count, dtype.np, low, high)


@only_function("randint")
def randint(
    *args: Any, low: Any = None, high: Any = None, size: Any = None, generator: Any = None, out: Any = None,
    dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Whole numbers from low (0 if left out) to high - 1: `randint(high, size)` or `randint(low, high, size)`.

    Raises RuntimeError if there is no number in the range, or if the dtype cannot hold it.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randint(10, (4,))
    tensor([4, 9, 3, 0])
    """
    given = list(args)
    if size is None and given:
        size = given.pop()
    if high is None and given:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or high is None or size is None:
        raise TypeError(
            "randint() received an invalid combination of arguments; expected (high, size) or (low, high, size)"
        )
    if not isinstance(size, list | tuple):
        raise TypeError(f"randint(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    low, high = as_int("randint", "low", 1, low), as_int("randint", "high", 2 if len(args) > 2 else 1, high)
    numbers = _integer_numbers(dtype or dtypes.int64, low, high)
    return _new(shape_of((size,), "randint"), numbers, generator, device, requires_grad, out)


@only_function("randint_like")
def randint_like(
    input: Tensor, *args: Any, low: Any = None, high: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """`randint` with the shape, dtype and device of `input`: `randint_like(x, high)` or `(x, low, high)`."""
    check_tensor("randint_like", input)
    given = list(args)
    if high is None and given:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or high is None:
        raise TypeError("randint_like() expects (input, high) or (input, low, high)")
    low, high = as_int("randint_like", "low", 2, low), as_int("randint_like", "high", 3, high)
    return _like(input, lambda d, _: _integer_numbers(d, low, high), dtype, device, requires_grad)


@only_function("randperm")
def randperm(
    n: Any, *, generator: Any = None, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """The whole numbers from 0 to n - 1 in random order.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(5)
    tensor([4, 0, 1, 3, 2])
    """
    n, dtype = as_int("randperm", "n", 1, n), dtype or dtypes.int64
    require(n >= 0, f"Trying to create tensor with negative dimension {n}: [{n}]")
    require(
        n - 1 <= largest_count(dtype),
        f"value cannot be converted to type {dtype.name}_t without overflow: {n - 1}",
    )
    return _new(
        (n,),
        lambda e, k: draw.permutation(e, k).astype(dtype.np),
        generator,
        device,
        requires_grad,
        out,
        True,
    )


@only_function("normal")
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Normal numbers whose mean and standard deviation are tensors or numbers; for two numbers with a `size`.

    No gradient reaches mean and std through it (it is zero): write `mean + std * torch.randn(…)` for that.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([0., 10.]), 1.)
    tensor([1.5410, 9.7066])
    """
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        return into(out, _normal_of_tensors(mean, std, generator))
    mean, std = as_float("normal", "mean", 1, mean), as_float("normal", "std", 2, std)
    if size is None:
        raise TypeError("normal() of two numbers needs a size: torch.normal(0., 1., (2, 3))")
    numbers = normal_numbers(_float(dtype), mean, std)
    require(std >= 0, f"normal expects std >= 0.0, but found std {std:g}")
    shape = shape_of((size,) if isinstance(size, list | tuple) else (size,), "normal")
    return _new(shape, numbers, generator, device, requires_grad, out)


def _normal_of_tensors(mean: Any, std: Any, generator: Any) -> Any:
    v = samplewise.drawing() if mapping else None
    if v is not None:
        return samplewise.of_values(v, lambda a, b: _normal_of_tensors(a, b, generator), (mean, std))
    first = mean if isinstance(mean, Tensor) else std
    raws: list[Any] = [
        x.raw if isinstance(x, Tensor) else as_float("normal", "mean or std", 1, x) for x in (mean, std)
    ]
    if isinstance(std, Tensor):
        require(not std.dtype.is_complex, "normal expects standard deviation to be non-complex")
        require(devices.item((raws[1] >= 0).all()), "normal expects all elements of std >= 0.0")
    else:
        require(raws[1] >= 0, f"normal expects std >= 0.0, but found std {raws[1]:g}")
    # A number as std scales the numbers while they are still in double precision, a tensor when they are rounded.
    numbers = normal_numbers(first.dtype, std=1.0 if isinstance(std, Tensor) else raws[1])
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    shapes = [t.raw.shape for t in tensors]
    clash = shape_clash(shapes)
    if clash is not None:
        raise clash
    shape = np.broadcast_shapes(*shapes)
    standard = onto(numbers(chosen(generator, first.device), math.prod(shape)).reshape(shape), first.device)
    kind = first.raw.dtype
    scaled = (standard * raws[1]).astype(kind) if isinstance(std, Tensor) else standard
    made_ = (scaled + raws[0]).astype(kind)
    node = "NormalBackward3" if len(tensors) == 2 else f"NormalBackward{1 if first is mean else 2}"
    stretched = [t if t.raw.shape == shape else TABLE["expand"](t, p=shape) for t in tensors]
    return redraw(*stretched, wrap(made_ if shape else made_[()]), p=node)


@only_function("bernoulli")
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None, out: Any = None) -> Any:
    """1 with the probability that each element of `input` says (or with probability p), else 0.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.bernoulli(torch.tensor([0., 0.5, 1.]))
    tensor([0., 0., 1.])
    """
    check_tensor("bernoulli", input)
    v = samplewise.drawing() if mapping else None
    if v is not None:
        return into(out, samplewise.of_values(v, partial(bernoulli, p=p, generator=generator), (input,)))
    engine = chosen(generator, input.device)
    if p is None:
        flat = bernoulli_numbers(input, np.empty(input.shape, input.raw.dtype))(engine, input.numel())
    else:
        p = as_float("bernoulli", "p", 2, p)
        require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        flat = draw.bernoulli(engine, input.numel(), p).astype(input.raw.dtype)
    raw = onto(flat.reshape(input.shape), input.device)
    return into(out, redraw(input, wrap(raw), p="BernoulliBackward0"))


attach("bernoulli", bernoulli)


@only_function("multinomial")
def multinomial(
    input: Tensor, num_samples: Any, replacement: bool = False, *, generator: Any = None, out: Any = None
) -> Any:
    """Draw `num_samples` indices with the weights `input`, of shape (n,) or (rows, n), per row.

    The weights need not sum to 1.  Returns int64 of shape (num_samples,) or (rows, num_samples).  Raises
    RuntimeError for weights that are negative, not finite or all zero, and for more samples than there are
    categories without replacement.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.tensor([0., 10., 3., 0.]), 2)
    tensor([1, 2])
    """
    check_tensor("multinomial", input)
    count = as_int("multinomial", "num_samples", 2, num_samples)
    require(input.ndim in (1, 2), "prob_dist must be 1 or 2 dim")
    dtype = input.dtype
    require(
        dtype.is_floating_point,
        f"multinomial only supports floating-point dtypes for input, got: {dtype.scalar_type}",
    )
    require(count > 0, "cannot sample n_sample <= 0 samples")
    if out is not None:
        require(
            out.dtype is dtypes.int64,
            f"multinomial expects Long tensor out, got: {out.dtype.scalar_type}",
        )
    v = samplewise.drawing() if mapping else None
    if v is not None:
        return into(out, samplewise.of_values(v, lambda x: _rows(x, count, replacement, generator), (input,)))
    weights = devices.to_numpy(input.raw)
    require(
        replacement or count <= weights.shape[-1],
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    )
    rows = weights.reshape(-1, weights.shape[-1])
    _check_weights(rows, replacement and count > 1)
    indices = draw.multinomial(chosen(generator, input.device), rows, count, replacement=replacement)
    raw = onto(indices.reshape(*weights.shape[:-1], count), input.device)
    return into(out, fresh(raw))


def _rows(x: Any, count: int, replacement: bool, generator: Any) -> Any:
    """`multinomial` of weights with any dimensions in front."""
    shape = x.raw.shape
    lines = TABLE["reshape"](x, p=(math.prod(shape[:-1]), shape[-1]))
    return TABLE["reshape"](
        multinomial(lines, count, replacement, generator=generator), p=(*shape[:-1], count)
    )


def _check_weights(rows: Array, replacement: bool) -> None:
    if replacement:
        require(not (rows < 0).any(), "invalid multinomial distribution (encountering probability entry < 0)")
        require(
            bool(np.isfinite(rows).all()),
            "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
        )
    else:
        require(
            bool((np.isfinite(rows) & (rows >= 0)).all()),
            "probability tensor contains either `inf`, `nan` or element < 0",
        )
    require(
        bool((rows.sum(axis=1) > 0).all()), "invalid multinomial distribution (sum of probabilities <= 0)"
    )


attach("multinomial", multinomial)
