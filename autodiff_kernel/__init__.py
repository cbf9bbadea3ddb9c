"""PyTorch-style tensors and automatic differentiation over NumPy and CuPy."""

from typing import Any

from .version import __version__ as __version__


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext autodiff_kernel` calls."""
    from .jupyter.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext autodiff_kernel` calls."""
    from .jupyter.extension import unload_ipython_extension as unload

    unload(shell)
