"""Random numbers, in place: `x.uniform_()`, `x.normal_()`, … fill a tensor anew.

For the same seed the numbers are those of PyTorch on the CPU, bit for bit.  Which numbers come out also depends on
how a tensor lies in memory: PyTorch fills it in memory order, and so do the draws here.  A tensor on a GPU gets the
numbers that a tensor on the CPU would get.

A draw in place is an operation like others: `y.normal_()` gets a node, whose gradient for the old values is zero.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import device as devices
from . import distributions as draw
from . import dtype as dtypes
from . import modes, samplewise
from .api import attach
from .errors import explain
from .generator import chosen
from .inplace import in_place
from .levels import mapping
from .op import TABLE, Op
from .random import Engine
from .tensor import Tensor, wrap

Array = np.ndarray[Any, Any]
Draw = Callable[[Engine, int], Array]


redraw = Op(
    "redraw", lambda xs, p: xs[-1].copy(), each=lambda g, n, i: g if i == len(n.sx) - 1 else g * 0,
    mode="joint", params=True, node=lambda p: p, symbol="~", partials=("0",),
    batch="together", doc="Random numbers (the last input) in the place of the other inputs, on which they do not depend.",
)  # fmt: skip


# --- the numbers and where they go -------------------------------------------------------------------------


def _fill(target: Tensor, generator: Any, node: str, numbers: Draw) -> Tensor:
    """Overwrite a tensor with the flat `numbers(engine, count)`, in memory order."""
    if mapping:
        v = samplewise.drawing()
        if v is not None:
            samplewise.fill(v, lambda x: _fill(x, generator, node, numbers), target)
            return target
    engine = chosen(generator, target.device)

    def filled(old: Tensor) -> Any:
        raw = target.raw

        def drawn() -> Tensor:
            return wrap(_laid_out(numbers(engine, raw.size), raw))

        new = drawn()
        if modes.watch[0] is not None:
            modes.watchers["drawn"](new, drawn)
        return redraw(old, new, p=node)

    return in_place(filled, redraw)(target)


def _laid_out(numbers: Array, like: Any) -> Any:
    """Flat numbers in the shape and on the device of a raw array."""
    if not like.ndim:
        host = numbers.reshape(())
    elif like.flags.c_contiguous:
        host = numbers.reshape(like.shape)
    else:
        host = draw.ordered(numbers, like.shape, like.strides)
    return onto(host, devices.device_of(like))


def onto(host: Array, where: devices.device) -> Any:
    # Numbers that were made for a GPU are no transfer of the user's data: not counted as one.
    return (
        devices.backend(where).make("array", host) if where.type != "cpu" else host if host.ndim else host[()]
    )


def is_contiguous(raw: Any) -> bool:
    return not raw.ndim or bool(raw.flags.c_contiguous)


def _method(name: str) -> Callable[[Any], Any]:
    def export(f: Any) -> Any:
        f.__name__ = f.__qualname__ = name
        attach(name, f)
        return f

    return export


def as_float(function: str, argument: str, position: int, value: Any) -> float:
    if isinstance(value, Tensor) and not value.ndim:
        value = value.item()
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    raise TypeError(
        f"{function}(): argument '{argument}' (position {position}) must be float, not {type(value).__name__}"
    )


def as_int(function: str, argument: str, position: int, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be int, not {type(value).__name__}"
        )
    return int(value)


def unsupported(kernel: str, dtype: dtypes.dtype) -> NotImplementedError:
    return explain(
        NotImplementedError,
        f"\"{kernel}\" not implemented for '{dtype.scalar_type}'",
        f"This distribution has no numbers of {dtype}.",
        "draw into a floating point tensor (dtype=torch.float32), then convert it.",
    )


def require(condition: bool, message: str) -> None:
    if not condition:
        raise RuntimeError(message)


def uniform_numbers(dtype: dtypes.dtype, low: float = 0.0, high: float = 1.0) -> Draw:
    if dtype.is_complex:
        real, kind = dtype.to_real().np, dtype.np
        return lambda engine, count: draw.uniform(engine, 2 * count, real, low, high).view(kind)
    if not dtype.is_floating_point:
        raise unsupported("check_uniform_bounds", dtype)
    return lambda engine, count: draw.uniform(engine, count, dtype.np, low, high)


def normal_numbers(dtype: dtypes.dtype, mean: float = 0.0, std: float = 1.0, contiguous: bool = True) -> Draw:
    if dtype.is_complex:
        return lambda engine, count: _complex_normal(engine, count, dtype, mean, std, contiguous)
    if not dtype.is_floating_point:
        raise unsupported("normal_kernel_cpu", dtype)
    return lambda engine, count: draw.normal(engine, count, dtype.np, mean, std, contiguous=contiguous)


def _complex_normal(
    engine: Engine, count: int, dtype: dtypes.dtype, mean: float, std: float, contiguous: bool
) -> Array:
    """The real and the imaginary part have half the variance each."""
    real = dtype.to_real().np
    parts = draw.normal(engine, 2 * count, real, 0.0, std / math.sqrt(2), contiguous=contiguous)
    return parts.view(dtype.np) + dtype.np.type(mean)


# --- the methods -------------------------------------------------------------------------------------------


@_method("uniform_")
def uniform_(self: Tensor, from_: Any = 0.0, to: Any = 1.0, *, generator: Any = None, **named: Any) -> Tensor:
    """Fill with numbers drawn uniformly from [from, to).

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).uniform_(-1, 1)
    tensor([-0.0075,  0.5364])
    """
    low = as_float("uniform_", "from", 1, _word(named, "from", from_, "uniform_"))
    high = as_float("uniform_", "to", 2, to)
    numbers = uniform_numbers(self.dtype, low, high)
    top = dtypes.finfo(self.dtype)
    for name, bound in (("from", low), ("to", high)):
        require(top.min <= bound <= top.max, f"{name} is out of bounds for {top.dtype}: {bound:g}")
    require(
        low <= high,
        f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}",
    )
    require(
        high - low <= top.max,
        f"uniform_ expects to-from <= std::numeric_limits<{top.dtype}>::max(), but found to={high:g} and "
        f"from={low:g} which result in to-from to exceed the limit",
    )
    return _fill(self, generator, "UniformBackward0", numbers)


def _word(named: dict[str, Any], word: str, value: Any, function: str) -> Any:
    """The value of a keyword that Python reserves (`from`), which can only be given as `**{"from": …}`."""
    found = named.pop(word, value)
    if named:
        raise TypeError(f"{function}() got an unexpected keyword argument '{next(iter(named))}'")
    return found


@_method("normal_")
def normal_(self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers of the given mean and standard deviation.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).normal_()
    tensor([ 1.5410, -0.2934])
    """
    mean, std = as_float("normal_", "mean", 1, mean), as_float("normal_", "std", 2, std)
    numbers = normal_numbers(self.dtype, mean, std, is_contiguous(self.raw))
    require(std >= 0, f"normal expects std >= 0.0, but found std {std:g}")
    return _fill(self, generator, "NormalBackward0", numbers)


@_method("random_")
def random_(self: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fill with whole numbers: `random_(from, to)` from `from` to to - 1, `random_(to)` from 0.

    Without bounds: from 0 to the largest number up to which the dtype counts in steps of 1.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(4, dtype=torch.int64).random_(10)
    tensor([4, 9, 3, 0])
    """
    dtype = self.dtype
    if dtype.is_complex:
        raise unsupported("random_kernel_cpu", dtype)
    if "to" in named or "from" in named:
        first = bounds[0] if bounds else named.pop("from", 0)
        bounds = (first, named.pop("to", None))
    if named:
        raise TypeError(f"random_() got an unexpected keyword argument '{next(iter(named))}'")
    if not bounds:
        return _fill(self, generator, "RandomBackward2", lambda e, n: draw.anything(e, n, dtype.np))
    if len(bounds) > 2:
        raise TypeError(f"random_() takes (from, to), (to) or no bounds, not {len(bounds)} of them")
    low = as_int("random_", "from", 1, bounds[0]) if len(bounds) == 2 else 0
    node = "RandomBackward0" if len(bounds) == 2 else "RandomBackward1"
    last = bounds[-1]
    high = largest_count(dtype) + 1 if last is None else as_int("random_", "to", len(bounds), last)
    require_range("random_", dtype, low, high)
    return _fill(self, generator, node, lambda e, n: draw.integers(e, n, dtype.np, low, high))


def largest_count(dtype: dtypes.dtype) -> int:
    """The largest whole number up to which a dtype counts in steps of 1."""
    if dtype is dtypes.bool:
        return 1
    if dtype.is_floating_point:
        return int(2 / dtypes.finfo(dtype).eps)
    return dtypes.iinfo(dtype).max


# what PyTorch's messages call the dtypes
_IN_C = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "float16": "c10::Half",
}


def require_range(function: str, dtype: dtypes.dtype, low: int, high: int) -> None:
    require(low < high, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.is_floating_point:
        top, exact = dtypes.finfo(dtype).max, largest_count(dtype)
        least = -top
        if max(abs(low), abs(high - 1)) > exact:
            warnings.warn(
                f"{function}: from = {low} or to - 1 = {high - 1} is out of bounds [-{exact}, {exact}]: beyond it "
                f"{dtype} skips whole numbers.",
                UserWarning,
                stacklevel=4,
            )
    else:
        top, least = largest_count(dtype), dtypes.iinfo(dtype).min if dtype is not dtypes.bool else 0
    in_c = _IN_C.get(dtype.name, dtype.name)
    require(least <= low <= top, f"from is out of bounds for {in_c}: {dtype} has no {low}")
    require(least <= high - 1 <= top, f"to - 1 is out of bounds for {in_c}: {dtype} has no {high - 1}")


@_method("exponential_")
def exponential_(self: Tensor, lambd: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of rate `lambd`: density lambd exp(-lambd x).

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).exponential_()
    tensor([3.5083, 1.2304])
    """
    rate, dtype = as_float("exponential_", "lambd", 1, lambd), self.dtype
    _check_continuous("Exponential", dtype)
    require(rate > 0, f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    return _fill(self, generator, "ExponentialBackward0", lambda e, n: draw.exponential(e, n, dtype.np, rate))


def _check_continuous(name: str, dtype: dtypes.dtype) -> None:
    require(
        dtype.is_floating_point,
        f"{name} distribution is a continuous probability distribution. dtype must be a floating point but you "
        f"specified {dtype.scalar_type}",
    )


@_method("geometric_")
def geometric_(self: Tensor, p: Any, *, generator: Any = None) -> Tensor:
    """Fill with the number of trials up to the first success, each of probability p: 1, 2, 3, …

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(4).geometric_(0.3)
    tensor([1., 1., 3., 1.])
    """
    p, dtype = as_float("geometric_", "p", 1, p), self.dtype
    if dtype.is_complex or dtype is dtypes.bool:
        raise unsupported("geometric_cpu", dtype)
    require(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return _fill(self, generator, "GeometricBackward0", lambda e, n: draw.geometric(e, n, dtype.np, p))


@_method("cauchy_")
def cauchy_(self: Tensor, median: Any = 0.0, sigma: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with Cauchy numbers: density proportional to 1 / ((x - median)^2 + sigma^2).

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).cauchy_()
    tensor([10.5977,  0.7648])
    """
    median, sigma = as_float("cauchy_", "median", 1, median), as_float("cauchy_", "sigma", 2, sigma)
    dtype = self.dtype
    _check_continuous("Cauchy", dtype)
    require(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    return _fill(self, generator, "CauchyBackward0", lambda e, n: draw.cauchy(e, n, dtype.np, median, sigma))


@_method("log_normal_")
def log_normal_(self: Tensor, mean: Any = 1.0, std: Any = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers whose logarithm is normal with the given mean and standard deviation.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).log_normal_()
    tensor([59.2634,  1.5116])
    """
    mean, std, dtype = (
        as_float("log_normal_", "mean", 1, mean),
        as_float("log_normal_", "std", 2, std),
        self.dtype,
    )
    if not dtype.is_floating_point:
        raise unsupported("log_normal_cpu", dtype)
    require(std > 0, f"log_normal_ expects std > 0.0, but found std={std:g}")
    return _fill(
        self, generator, "LogNormalBackward0", lambda e, n: draw.log_normal(e, n, dtype.np, mean, std)
    )


@_method("bernoulli_")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 with probability p, else 0; p is a number or a tensor that broadcasts to this one.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(4).bernoulli_(0.7)
    tensor([0., 0., 1., 0.])
    """
    dtype = self.dtype
    if isinstance(p, Tensor):
        if self.is_dual or p.is_dual:
            from .api import FUNCTIONS

            chances = TABLE["expand"](p, p=self.raw.shape)
            return self.copy_(FUNCTIONS["bernoulli"](chances, generator=generator))  # type: ignore[no-any-return]
        if modes.watch[0] is not None:
            modes.watchers["read"]("bernoulli_", p)
        return _fill(self, generator, "BernoulliBackward1", bernoulli_numbers(p, self.raw))
    if dtype.is_complex:
        raise unsupported("bernoulli_scalar_cpu_", dtype)
    p = as_float("bernoulli_", "p", 1, p)
    require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return _fill(self, generator, "BernoulliBackward2", lambda e, n: draw.bernoulli(e, n, p).astype(dtype.np))


def bernoulli_numbers(p: Tensor, target: Any) -> Draw:
    """Zeros and ones for `target` with the probabilities of `p`, taken in the target's memory order."""
    if not p.dtype.is_floating_point:
        raise unsupported("bernoulli_tensor_cpu_p_", p.dtype)
    host = devices.to_numpy(p.raw)
    if not ((host >= 0) & (host <= 1)).all():
        raise explain(
            RuntimeError,
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.",
            "A probability in the given tensor lies outside [0, 1], or is nan.",
        )
    try:
        host = np.broadcast_to(host, target.shape)
    except ValueError:
        raise RuntimeError(
            f"The expanded size of the tensor {list(target.shape)} must match the existing size {list(host.shape)}: "
            "the probabilities do not broadcast to the tensor that is filled."
        ) from None
    order = sorted(range(target.ndim), key=lambda axis: -abs(target.strides[axis]))
    flat = host.transpose(order).ravel()
    return lambda engine, count: draw.bernoulli_each(engine, flat).astype(target.dtype)
