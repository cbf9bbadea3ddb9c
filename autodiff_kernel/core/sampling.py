"""Random numbers whose distribution differs from element to element: Poisson, binomial, gamma, Dirichlet.

For the same seed the numbers are those of PyTorch on the CPU, bit for bit.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from . import rejection, samplewise
from .api import check_tensor, only_function
from .fills import Array, onto, redraw, require, unsupported
from .generator import chosen
from .levels import mapping
from .op import TABLE
from .tensor import Tensor, wrap


def _drawn(kernel: str, parameters: list[Tensor], generator: Any, numbers: Any) -> Tensor:
    """A tensor of `numbers(engine, *arrays)`, which gets the parameters' values and returns an array of their shape."""
    first = parameters[0]
    halves = (dtypes.float16, dtypes.bfloat16) if kernel == "poisson_cpu" else ()
    if first.dtype not in (dtypes.float32, dtypes.float64, *halves):
        raise unsupported(kernel, first.dtype)
    arrays = [np.ascontiguousarray(devices.to_numpy(x.raw)).reshape(x.raw.shape) for x in parameters]
    with np.errstate(all="ignore"):
        made = numbers(chosen(generator, first.device), *arrays).reshape(first.raw.shape)
    return wrap(onto(made, first.device))


def _in_vmap(draw: Callable[..., Any], *xs: Tensor) -> Any:
    """The samples' numbers if a vmap is at work, else None."""
    v = samplewise.drawing() if mapping else None
    return None if v is None else samplewise.of_values(v, draw, xs)


@only_function("poisson")
def poisson(input: Tensor, generator: Any = None) -> Any:
    """Poisson numbers: how often something happened that happens `input` times on the average.

    input: the rates, of a floating dtype and any shape, which the result has too.  Raises RuntimeError if one is
    negative.  The gradient for the rates is zero.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.tensor([0.5, 4., 100.]))
    tensor([ 2.,  5., 94.])
    """
    check_tensor("poisson", input)
    batched = _in_vmap(partial(poisson, generator=generator), input)
    if batched is not None:
        return batched

    def numbers(engine: Any, rates: Array) -> Array:
        require(bool((rates >= 0).all()), "invalid Poisson rate, expected rate to be non-negative")
        return rejection.poisson(engine, rates.ravel())

    made = _drawn("poisson_cpu", [input], generator, numbers)
    return redraw(input, made, p="PoissonBackward0")


@only_function("binomial")
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Any:
    """Binomial numbers: successes in `count` trials that each succeed with probability `prob`.

    count, prob: float32 or float64 of one dtype, which the result has too; they broadcast.  Not differentiable.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.binomial(torch.tensor([10., 100.]), torch.tensor(0.3))
    tensor([ 6., 28.])
    """
    check_tensor("binomial", count, "count")
    check_tensor("binomial", prob, "prob", 2)
    batched = _in_vmap(partial(binomial, generator=generator), count, prob)
    if batched is not None:
        return batched
    require(
        count.dtype is prob.dtype,
        f"Found dtype {prob.dtype.scalar_type} but expected {count.dtype.scalar_type}",
    )
    shape = np.broadcast_shapes(count.raw.shape, prob.raw.shape)
    stretched = [x if x.raw.shape == shape else TABLE["expand"](x, p=shape) for x in (count, prob)]
    made = _drawn(
        "binomial_cpu", stretched, generator, lambda e, n, p: rejection.binomial(e, n.ravel(), p.ravel())
    )
    return TABLE["binomial"](count, prob, made)


@only_function("_standard_gamma")
def standard_gamma(input: Tensor, generator: Any = None) -> Any:
    """Gamma numbers of scale 1 with the shapes `input`, float32 or float64, through which gradients flow.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch._standard_gamma(torch.tensor([0.5, 4.]))
    tensor([7.8936e-04, 1.9752e+00])
    """
    check_tensor("_standard_gamma", input)
    batched = _in_vmap(partial(standard_gamma, generator=generator), input)
    if batched is not None:
        return batched
    made = _drawn("gamma_cpu", [input], generator, lambda e, a: rejection.gamma(e, a.ravel()))
    return TABLE["standard_gamma"](input, made)


@only_function("_sample_dirichlet")
def sample_dirichlet(input: Tensor, generator: Any = None) -> Any:
    """Dirichlet numbers with the parameters `input` along the last dimension, along which they sum to 1.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch._sample_dirichlet(torch.tensor([1., 2., 3.]))
    tensor([0.5282, 0.2411, 0.2307])
    """
    check_tensor("_sample_dirichlet", input)
    batched = _in_vmap(partial(sample_dirichlet, generator=generator), input)
    if batched is not None:
        return batched

    def numbers(engine: Any, a: Array) -> Array:
        return rejection.dirichlet(engine, a.reshape(-1, a.shape[-1] if a.ndim else 1))

    made = _drawn("dirichlet", [input], generator, numbers)
    return TABLE["sample_dirichlet"](input, made)


@only_function("_standard_gamma_grad")
def standard_gamma_grad(input: Tensor, output: Tensor) -> Any:
    """How the samples `output` of the gamma distributions with shapes `input` move with them.

    >>> import autodiff_kernel as torch
    >>> torch._standard_gamma_grad(torch.tensor([2.]), torch.tensor([1.5]))
    tensor([0.9366])
    """
    check_tensor("_standard_gamma_grad", input)
    check_tensor("_standard_gamma_grad", output, "output", 2)
    return TABLE["standard_gamma_grad"](input, output)


@only_function("_dirichlet_grad")
def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Any:
    """How the shares x of a Dirichlet sample move with their parameters alpha, which sum to total, over 1 - x.

    >>> import autodiff_kernel as torch
    >>> torch._dirichlet_grad(torch.tensor([0.3]), torch.tensor([2.]), torch.tensor([5.]))
    tensor([0.1993])
    """
    for position, (name, value) in enumerate((("x", x), ("alpha", alpha), ("total", total)), 1):
        check_tensor("_dirichlet_grad", value, name, position)
    return TABLE["dirichlet_grad"](x, alpha, total)
