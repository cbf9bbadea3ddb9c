"""Random numbers, the generators: `torch.Generator`, the default ones, seeding and states as tensors."""

from threading import get_ident
from typing import Any

import numpy as np

from . import device as devices
from .random import Engine
from .tensor import Tensor, wrap


class Generator(Engine):
    """A random number generator on its own stream; without a seed it starts like every unseeded one.

    A generator of a GPU draws the same numbers as one of the CPU (they are made on the CPU and carried over).
    PyTorch's CUDA generator is another one, so there its numbers differ.

    >>> import autodiff_kernel as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    __slots__ = ("_device",)

    def __init__(self, device: Any = "cpu") -> None:
        self._device = devices.parse(device)
        super().__init__()

    @property
    def device(self) -> devices.device:
        """The device whose tensors this generator fills."""
        return self._device

    def __repr__(self) -> str:
        # Without the address that PyTorch shows: `torch.manual_seed(0)` at the end of a cell prints this.
        return f"<torch.Generator of {self._device}, seed {self.initial_seed()}>"

    def get_state(self) -> Any:
        """The whole state as a uint8 tensor of shape (5056,), byte for byte PyTorch's."""
        return wrap(super().get_state())

    def set_state(self, state: Any) -> None:
        """Continue where `get_state()` was called.

        Raises TypeError unless `state` is a uint8 tensor, RuntimeError if its bytes are no such state.
        """
        if not isinstance(state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
        if state.raw.dtype != np.uint8:
            raise TypeError(f"RNG state must be a torch.ByteTensor, not {state.dtype}")
        super().set_state(devices.to_numpy(state.raw))

    def clone_state(self) -> "Generator":
        """A new generator that stands where this one stands."""
        twin = type(self)(self._device)
        Engine.set_state(twin, Engine.get_state(self))
        return twin

    def graphsafe_get_state(self) -> Any:
        """For recorded CUDA graphs only: NotImplementedError here, as for PyTorch's generator of the CPU."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator: use get_state()")

    def graphsafe_set_state(self, state: Any) -> Any:
        """For recorded CUDA graphs only: NotImplementedError here, as for PyTorch's generator of the CPU."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator: use set_state()")

    def get_offset(self) -> int:
        """For PyTorch's CUDA generator only: RuntimeError, an mt19937 has no offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> Any:
        """For PyTorch's CUDA generator only: RuntimeError, an mt19937 has no offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def __copy__(self) -> "Generator":
        return self.clone_state()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Generator":
        return self.clone_state()

    def __reduce__(self) -> Any:
        return _rebuild, (str(self._device), Engine.get_state(self))


def _rebuild(device: str, state: Any) -> Generator:
    generator = Generator(device)
    Engine.set_state(generator, state)
    return generator


default_generator = Generator()
default_generator.seed()
_of_gpus: dict[int, Generator] = {}
of_threads: dict[int, Generator] = {}  # of a DataLoader's workers, by their threads


def generator_of(where: devices.device) -> Generator:
    """The default generator of a concrete device; that of a GPU begins with the CPU's last seed."""
    if where.type == "cpu":
        return _of_cpu()
    found = _of_gpus.get(where.index or 0)
    if found is None:
        found = Generator(where).manual_seed(default_generator.initial_seed())
        _of_gpus[where.index or 0] = found
    return found


def _of_cpu() -> Generator:
    """The default generator of the thread that asks."""
    return of_threads.get(get_ident(), default_generator) if of_threads else default_generator


def chosen(generator: Any, where: devices.device) -> Engine:
    """The generator for a draw on a device: the one given, or the device's own.

    Raises TypeError for what is no Generator, RuntimeError for a generator of another kind of device.
    """
    if generator is None:
        return generator_of(where)
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    if generator.device.type != where.type:
        raise RuntimeError(
            f"Expected a '{where.type}' device type for generator but found '{generator.device.type}'; "
            f"make one with torch.Generator('{where}')"
        )
    return generator


# --- the names in torch and torch.random -------------------------------------------------------------------


def manual_seed(seed: Any) -> Generator:
    """Restart all default generators (of the CPU and of every GPU) with `seed`; returns the CPU's.

    Raises ValueError outside -2^63 .. 2^64-1.

    >>> import autodiff_kernel as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    seed = int(seed)
    own = _of_cpu()
    own.manual_seed(seed)
    if own is not default_generator:
        return own
    for generator in _of_gpus.values():
        generator.manual_seed(seed)
    return default_generator


def seed() -> int:
    """Restart all default generators with a number from the operating system, and return it."""
    drawn = default_generator.seed()
    manual_seed(drawn)
    return drawn


def initial_seed() -> int:
    """The seed that the CPU's default generator was started with."""
    return _of_cpu().initial_seed()


def get_rng_state() -> Any:
    """The state of the CPU's default generator, a uint8 tensor of shape (5056,).

    >>> import autodiff_kernel as torch
    >>> state = torch.get_rng_state()
    >>> a = torch.rand(3); torch.set_rng_state(state); b = torch.rand(3)
    >>> a.tolist() == b.tolist()
    True
    """
    return _of_cpu().get_state()


def set_rng_state(new_state: Any) -> None:
    """Let the CPU's default generator continue where `get_rng_state()` was called.

    Raises TypeError unless `new_state` is a uint8 tensor, RuntimeError if its bytes are no such state.
    """
    _of_cpu().set_state(new_state)
