"""What optimizers that compute on raw arrays share: the step over all groups, state arrays, and passes in blocks.

A step changes the memory of the parameters and records no graph.  Each write is numbered (`stamp`), so a graph that
saved a parameter before the step refuses its backward, as in PyTorch.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import device as devices
from ..core import dtype as dtypes
from ..core import modes
from ..core.errors import explain
from ..core.inplace import stamp
from ..core.sharing import share
from ..core.tensor import Tensor, wrap
from .optimizer import Optimizer

Array = Any  # a NumPy array, or one of a GPU
BLOCK = (
    1 << 17
)  # elements of a pass: what an update reads and writes then stays in the processor's second cache
SMALL = 1024
generic, ndarray, F32, F64 = np.generic, np.ndarray, np.dtype(np.float32), np.float64


class ArrayOptimizer(Optimizer):
    """An optimizer whose `update` changes one parameter's array in place."""

    as_reals = True  # complex parameters: as pairs of numbers, or as they are

    def step(self, closure: Any = None) -> Any:
        """Change every parameter that has a gradient; returns what `closure` returns.

        closure: computes the loss anew and its gradients, is called first.
        """
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        for group in self.param_groups:
            settings = self.settings(group)
            for p in group["params"]:
                grad = p._grad_or_none()
                if grad is None:
                    continue
                state = self.state[p]
                if not state:
                    self.start(p, state, group)
                raw = p.raw
                array = np.asarray(raw) if isinstance(raw, generic) else raw
                g = grad.raw
                stamp(p)
                if array.dtype.kind == "c" and self.as_reals:
                    self.update(reals(array), reals(np.asarray(g)), state, settings)
                else:
                    self.update(array, g, state, settings)
                if array is not raw:  # a number that nobody shares is bound anew
                    p.raw = array[()]
        return loss

    def settings(self, group: dict[str, Any]) -> Any:
        """The numbers of a group that every update of a step needs."""
        raise NotImplementedError

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Fill the state of a parameter before its first step."""

    def update(self, p: Array, g: Array, state: dict[str, Any], settings: Any) -> None:
        """Change the array p by its gradient g."""
        raise NotImplementedError


def number(x: Any) -> Any:
    """A setting as a Python number: it may be a tensor of one element, or NumPy's."""
    return float(x.item()) if isinstance(x, (Tensor, generic)) else x


def reals(a: Array) -> Array:
    """A complex array as its real and imaginary parts, in one more dimension: optimizers treat them as two numbers."""
    return a.reshape((*a.shape, 1)).view(a.real.dtype) if a.dtype.kind == "c" else a


def like(p: Tensor, value: float = 0.0) -> Tensor:
    """A state tensor that lies in memory as p does, filled with a number."""
    raw = p.raw
    made = (
        np.zeros_like(raw)
        if isinstance(raw, (ndarray, generic))
        else devices.zeros(raw.shape, raw.dtype, like=raw)
    )
    made = np.asarray(made) if isinstance(made, generic) else made
    if value:
        made[...] = complex(value, value) if raw.dtype.kind == "c" else value
    return wrap(made)


def count(value: float = 0.0) -> Tensor:
    """A state number of a tensor of no dimensions: float32, or float64 where that is the default."""
    default = dtypes.get_default_dtype()
    return wrap(np.float64(value) if default is dtypes.float64 else np.float32(value))


def opened(t: Tensor, as_reals: bool = True) -> Array:
    """A state tensor's array, to be changed in place."""
    raw = t.raw
    if raw.__class__ is not ndarray:
        raw = share(t)
    if t.version is not None:
        stamp(t)
    return reals(raw) if as_reals and raw.dtype.kind == "c" else raw


def next_step(state: dict[str, Any]) -> Any:
    """Count one step more, and return the count."""
    t = state["step"]
    if not isinstance(t, Tensor):  # states that old versions of PyTorch saved
        t = state["step"] = count(t)
    put_number(t, devices.item(t.raw) + 1)
    return devices.item(t.raw)


def put_number(t: Tensor, value: float) -> None:
    """Give a state number its next value."""
    raw = t.raw
    if isinstance(raw, generic):
        t.raw = raw.dtype.type(value)
    else:
        raw[...] = value


def blocks(scratch: int, *arrays: Array) -> Iterator[Any]:
    """The arrays, followed by `scratch` empty ones, in pieces of at most BLOCK elements.

    Arrays that lie in different orders, those of a GPU and small ones come in one piece.
    """
    first = arrays[0]
    if first.size <= BLOCK or first.__class__ is not ndarray or not _together(arrays):
        yield (*arrays, *[np.empty_like(first) for _ in range(scratch)])
        return
    flat = [a.reshape(-1) if a.flags.c_contiguous else a.T.reshape(-1) for a in arrays]
    spare = [np.empty(BLOCK, first.dtype) for _ in range(scratch)]
    for i in range(0, first.size, BLOCK):
        parts = [a[i : i + BLOCK] for a in flat]
        n = parts[0].size
        yield (*parts, *(spare if n == BLOCK else [s[:n] for s in spare]))


def _together(arrays: Any) -> bool:
    return all(a.flags.c_contiguous for a in arrays) or all(a.flags.f_contiguous for a in arrays)


def directed(g: Array, p: Array, w: Array, decay: float, maximize: bool) -> Array:
    """The gradient of what is minimized: turned round for `maximize`, and with the weight decay's (in w)."""
    if maximize:
        g = np.negative(g, w)
    return add_product(g, p, decay, w) if decay else g


def add_product(c: Array, a: Array, b: Any, out: Array, w: Array | None = None) -> Array:
    """c + a·b in `out`, which may be c; b is an array or a number, w an array to compute in.

    PyTorch rounds product and sum together.  So do we where it costs next to nothing, in small float32 arrays; in large
    ones the product is rounded first, which may change the last bit.
    """
    if out.size <= SMALL and out.dtype == F32 and out.__class__ is ndarray:
        if b.__class__ is not ndarray:
            b = F64(np.float32(b))
        wide = np.multiply(a, b, dtype=F64)  # exact: 24 bits by 24 bits
        wide += c
        out[...] = wide
        return out
    if w is None:
        w = np.empty_like(out)
    return np.add(c, np.multiply(a, b, w), out)


def towards(a: Array, b: Array, weight: float, w: Array) -> None:
    """Move a towards b by a part of the way, in place: a running mean.  w: an array to compute in."""
    np.subtract(b, a, w)
    if weight < 0.5:
        add_product(a, w, weight, a, w)
    else:  # from the far end, which then is reached exactly
        add_product(b, w, weight - 1, a, w)


def squares_towards(v: Array, g: Array, beta: float, w: Array) -> None:
    """Keep beta of v and add 1 - beta of g's squares, in place: a running mean of squares."""
    np.multiply(v, beta, v)
    np.multiply(g, 1 - beta, w)
    add_product(v, w, g, v, w)


# ---- checks of settings
def check(name: str, value: Any, good: bool, needs: str) -> None:
    """ValueError for a setting that makes no sense, in PyTorch's words: `Invalid learning rate: -1`."""
    if not good:
        raise explain(ValueError, f"Invalid {name}: {value}", cure=f"give a number {needs}.")


def check_lr(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check("learning rate", lr, 0.0 <= lr, "of at least 0 (0.01 is a common first try)")


def check_at_least_zero(**settings: Any) -> None:
    for name, value in settings.items():
        check({"eps": "epsilon"}.get(name, name) + " value", value, 0.0 <= value, "of at least 0")


def check_betas(betas: Any) -> None:
    for i in (0, 1):
        check(f"beta parameter at index {i}", betas[i], 0.0 <= betas[i] < 1.0, "from 0 to below 1")


def check_ways(foreach: Any = None, differentiable: bool = False, fused: Any = None) -> None:
    """`foreach` and `fused` choose among PyTorch's programs for the same numbers: accepted, they change nothing here."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable:
        raise explain(
            NotImplementedError,
            "differentiable=True: steps that record a graph are not supported",
            "A step changes the parameters' memory without recording.",
            "write the update as operations (p = p - lr * g), which can be differentiated.",
        )
