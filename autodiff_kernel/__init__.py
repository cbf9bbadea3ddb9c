"""PyTorch's tensor and autograd API in readable Python over NumPy and CuPy.

    import autodiff_kernel as torch      # the one line that differs

`autodiff_kernel.core` is the engine: the table of rules, the graph, the walk.

The library is loaded by the first question for one of its names (PEP 562): the kernel, whose code lies in this
package too, answers Jupyter before the engine and NumPy are there.
"""

import sys as _sys
from typing import Any

from .version import __version__ as __version__


def _load() -> None:
    """Fill this module with the public names."""
    import gc
    from importlib import import_module

    collects = gc.isenabled()
    gc.disable()  # importing makes many objects and no garbage: a collector that looks for some takes a tenth of the time
    try:
        namespace = import_module("autodiff_kernel.namespace")
    finally:
        if collects:
            gc.enable()
    own = vars(_sys.modules[__name__])
    own.update((name, value) for name, value in vars(namespace).items() if not name.startswith("_"))


def __getattr__(name: str) -> Any:
    own = vars(_sys.modules[__name__])
    if name == "__all__" or not name.startswith("__"):
        _load()
    if name in own:
        return own[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    _load()
    return sorted(vars(_sys.modules[__name__]))


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext autodiff_kernel` calls."""
    from .jupyter.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext autodiff_kernel` calls."""
    from .jupyter.extension import unload_ipython_extension as unload

    unload(shell)
