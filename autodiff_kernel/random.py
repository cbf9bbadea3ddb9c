"""torch.random: the default generators, their seeds and states."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from .core import device as devices
from .core.generator import default_generator as default_generator
from .core.generator import generator_of
from .core.generator import get_rng_state as get_rng_state
from .core.generator import initial_seed as initial_seed
from .core.generator import manual_seed as manual_seed
from .core.generator import seed as seed
from .core.generator import set_rng_state as set_rng_state

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, device_type: str = "cuda"
) -> Iterator[None]:
    """Put the default generators back, after a `with` block, to where they stood before it.

    devices: the GPUs whose generators are put back beside the CPU's; all of them by default.  With
    `enabled=False` it does nothing.

    >>> import autodiff_kernel as torch
    >>> with torch.random.fork_rng():
    ...     a = torch.rand(3)
    >>> torch.rand(3).tolist() == a.tolist()
    True
    """
    if not enabled:
        yield
        return
    generators = [default_generator, *map(generator_of, _gpus(devices))]
    before = [generator.get_state() for generator in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, before, strict=True):
            generator.set_state(state)


def _gpus(chosen: Iterable[Any] | None) -> list[devices.device]:
    every = range(devices.cuda_count()) if chosen is None else chosen
    return [devices.parse(one) for one in every]
