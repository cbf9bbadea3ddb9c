"""`import torch` without a changed line: `torch` and `torchvision` are this library, in one process, until undone.

    import autodiff_kernel.as_torch
    autodiff_kernel.as_torch.install()
    import torch                                  # this library
    from torch.utils.data import DataLoader       # and its modules
    from torchvision import transforms

A notebook says `%as_torch`; a script runs unchanged with `python -m autodiff_kernel.as_torch script.py`.  Neither importing
the library nor starting the kernel does this: whoever writes `import torch` means PyTorch, unless told otherwise.

While it is installed our classes go by PyTorch's names (`<class 'torch.Tensor'>`).  Files of `torch.save` name PyTorch's
classes at all times.  A pickle of tensors, dicts and lists can be read with and without `install()`; one that names another
class (`torch.nn.modules.linear.Linear`) needs it where it is read too.
"""

import sys
import threading
from importlib import import_module
from types import ModuleType

from ..core.places import claim as _claim
from .finder import Finder
from .homes import ROOT, ours

NAMES = ("torch", "torchvision")
_lock = threading.RLock()
_installed: list[Finder] = []
_before: dict[str, ModuleType | None] = {}


def install() -> None:
    """Bind `torch`, `torchvision` and the modules below them to this library, for this process; a second call does nothing.

    Raises RuntimeError if the real PyTorch or torchvision was imported before: objects of both would meet.

    It is for a whole process, so this example has one of its own:

    >>> import subprocess, sys
    >>> code = '''
    ... import autodiff_kernel.as_torch
    ... autodiff_kernel.as_torch.install()
    ... import torch
    ... from torch.autograd import Function
    ... print(type(torch.ones(2)), Function)
    ... autodiff_kernel.as_torch.uninstall()
    ... print(type(torch.ones(2)))
    ... '''
    >>> print(subprocess.check_output([sys.executable, "-c", code], text=True).strip())
    <class 'torch.Tensor'> <class 'torch.autograd.function.Function'>
    <class 'autodiff_kernel.core.tensor.Tensor'>
    """
    with _lock:
        if _installed:
            return
        for top in NAMES:
            _refuse_if_real(top)
        library = import_module(ROOT)
        library.Tensor  # noqa: B018  # the library comes with the first question
        finder = Finder()
        _before.update((name, sys.modules.pop(name)) for name in NAMES if name in sys.modules)
        sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
        _installed.append(finder)
        sys.modules["torch"] = library
        for module in [m for name, m in list(sys.modules.items()) if name.startswith(f"{ROOT}.")]:
            if module is not None:
                finder.rename(module)


def uninstall() -> None:
    """Undo `install()`: the names, the modules and the classes are as they were; a second call does nothing.

    A name that was bound by `import torch` in the meantime stays bound, as every variable does.
    """
    with _lock:
        if not _installed:
            return
        finder = _installed.pop()
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)  # type: ignore[arg-type]
        for name in list(sys.modules):
            if ours(name) is not None:
                del sys.modules[name]
        finder.undo()
        sys.modules.update(_before)  # type: ignore[arg-type]  # None: a name whose import somebody forbade
        _before.clear()


def installed() -> bool:
    """Is `torch` this library now?"""
    return bool(_installed)


def _refuse_if_real(top: str) -> None:
    """Raise if somebody else's module has the name."""
    real = sys.modules.get(top)
    if real is None:
        return
    where = getattr(real, "__file__", None) or "no file"
    raise RuntimeError(
        f"the real {top} is already imported in this process (from {where}), and other modules hold its objects, which "
        f"can't be mixed with those of {ROOT}.\n"
        f"What to do: start a new process (restart the kernel) and install before the first `import {top}`."
    )


_claim()
