"""torch.autograd.graph: the graph's nodes and edges, and hooks on what operations save for backward."""

import abc
import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core import errors as _errors
from ..core import graph as _graph
from ..core import olds as _olds
from ..core import packing as _packing
from ..core import saved_names as _saved_names
from ..core.edges import GradientEdge as GradientEdge
from ..core.edges import get_gradient_edge as get_gradient_edge
from ..core.hooks import register_multi_grad_hook as register_multi_grad_hook
from ..core.inplace import stamp as _stamp
from ..core.tensor import Tensor
from .function import BackwardCFunction

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

_ = _saved_names  # gives nodes their `_saved_...`


# ------------------------------------------------------------------------------------------------ nodes and edges
class Node(abc.ABC):
    """What every `grad_fn` is an instance of, and every node behind it; for `isinstance`.

    >>> import autodiff_kernel as torch
    >>> y = torch.ones(2, requires_grad=True).exp()
    >>> isinstance(y.grad_fn, torch.autograd.graph.Node), y.grad_fn.name()
    (True, 'ExpBackward0')
    """

    @abc.abstractmethod
    def name(self) -> str:
        """The node's name, such as 'MulBackward0'."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple["Node | None", int], ...]:
        """The nodes of the inputs, each with the number of the output that was used."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[str, Any]:
        """A dictionary of your own on this node."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> Any:
        """Call `fn(gradients of the inputs, gradients of the outputs)` when the node has been walked."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> Any:
        """Call `fn(gradients of the outputs)` before the node is walked."""


Node.register(_graph.Node)
Node.register(BackwardCFunction)


# ------------------------------------------------------------------------------------------------ versions
def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tell autograd that memory was changed behind its back, through NumPy for example: one tensor or several.

    >>> import autodiff_kernel as torch
    >>> x = torch.ones(2)
    >>> x.numpy()[0] = 5
    >>> torch.autograd.graph.increment_version(x); x._version
    1
    """
    if not isinstance(tensor, Tensor) and not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        _stamp(t)


# ------------------------------------------------------------------------------------------------ saved values
class saved_tensors_hooks(_packing.hooking):
    """In the `with` block, what operations save for backward goes through `pack_hook`, and comes from `unpack_hook`.

    pack_hook(tensor) returns anything; unpack_hook is given that when backward needs the value, and returns a tensor
    with the same values.  Of nested blocks only the innermost is at work.  A pack hook must not change its input.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> def pack(t):
    ...     print("saved", t.tolist())
    ...     return t.detach()
    >>> with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
    ...     y = (x * x).sum()
    saved [1.0, 2.0]
    saved [1.0, 2.0]
    >>> y.backward(); x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        super().__init__(pack_hook, unpack_hook)
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """In the `with` block, values saved for backward wait in the CPU's memory, and return to their GPU for backward.

    pin_memory: accepted; copies here are never asynchronous.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> with torch.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> y.backward(); x.grad
    tensor([2., 4.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> tuple[Any, Tensor]:
            return t.device, t.detach().cpu()  # type: ignore[attr-defined]

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            home, t = packed
            return t.to(home)  # type: ignore[attr-defined, no-any-return]

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In the `with` block, hooks on saved values are refused with this message (RuntimeError).

    >>> import autodiff_kernel as torch
    >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     with torch.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    RuntimeError: not here
    """
    before = _packing.disable_hooks(error_message)
    try:
        yield
    finally:
        _packing.disable_hooks(before)


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_olds.Keeper]:
    """In the `with` block, what was saved for backward may be changed in place: it is copied before the write.

    Backward belongs into the block too: at its end the copies are let go, and a backward after it through what was
    recorded inside raises AssertionError.  Gives what holds the copies (`cloned`).  Blocks cannot be nested
    (RuntimeError).

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     h = x.clone()
    ...     y = (h ** 2).sum()
    ...     _ = h.mul_(10)
    ...     y.backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if _olds.keepers:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    keeper = _olds.Keeper()

    def unpack(held: _olds.Held) -> Tensor:
        t = keeper.get(held)
        if t is None:
            raise _errors.explain(
                AssertionError,
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded.",
                "The block holds the values that backward needs, and it let go of them at its end.",
                "call backward inside of the block.",
            )
        return t

    with saved_tensors_hooks(keeper.hold, unpack):
        try:
            _olds.keepers.append(keeper)
            yield keeper
        finally:
            _olds.keepers.remove(keeper)
            keeper.clear()
