"""PyTorch's tensor and autograd API in readable Python over NumPy and CuPy.

    import autodiff_kernel as torch      # the one line that differs

`autodiff_kernel.core` is the engine: the table of rules, the graph, the walk.

The library is loaded by the first question for one of its names (PEP 562): the kernel, whose code lies in this
package too, answers Jupyter before the engine and NumPy are there.
"""

import sys as _sys
from typing import Any

from .version import __version__ as __version__


def _load() -> Any:
    """Fill this module with the public names; returns the module that has them all."""
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
    return namespace


def __getattr__(name: str) -> Any:
    own = vars(_sys.modules[__name__])
    if name == "__all__":
        return [name for name in __dir__() if not name.startswith("_")]  # import * then loads each
    if not name.startswith("__"):
        namespace = _load()
        if name not in own and (name[0] != "_" or name in namespace._late.HOMES) and hasattr(namespace, name):
            own[name] = getattr(namespace, name)
    if name in own:
        return own[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = {name for name in dir(_load()) if not name.startswith("_")}
    return sorted(names | vars(_sys.modules[__name__]).keys())


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext autodiff_kernel` calls."""
    from .jupyter.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext autodiff_kernel` calls."""
    from .jupyter.extension import unload_ipython_extension as unload

    unload(shell)
