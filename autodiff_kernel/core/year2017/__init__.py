"""PyTorch's API of 2017: while `set_dialect("2017")` holds, its functions and methods stand in for today's.

Nothing of the engine asks which dialect is spoken.  The public functions and methods are exchanged for old ones
(calls.py), which change arguments and results as the table in `autodiff_kernel/dialect.py` says.
"""

import sys
from typing import Any

from .. import late
from ..api import FUNCTIONS, METHODS
from ..places import claim
from ..tensor import Tensor
from . import calls, names, printing, variables

_before: list[tuple[Any, str, Any]] = []  # (holder, name, what stood there; ABSENT)
ABSENT = object()


def _put(holder: Any, name: str, value: Any) -> None:
    _before.append((holder, name, vars(holder).get(name, ABSENT)))
    setattr(holder, name, value)


def install() -> None:
    """Exchange the public names for those of 2017."""
    claim()
    late.load_all()  # what comes later would not be exchanged
    package = sys.modules["autodiff_kernel"]
    package.Tensor  # noqa: B018  (loads the names)
    functional = package.nn.functional
    for name, method in list(METHODS.items()):
        _put(Tensor, name, calls.old(name, method))
    for name, function in list(FUNCTIONS.items()):
        _put(package, name, calls.old(name, function))
    for name, function in list(vars(functional).items()):
        if callable(function) and not name.startswith("_") and not isinstance(function, type):
            _put(functional, name, calls.old(name, function))
    for name, function in names.FUNCTIONS.items():
        wrapped = calls.old(name, function)
        _put(package, name, wrapped)
        _put(Tensor, name, wrapped)
    for name, member in variables.MEMBERS.items():
        _put(Tensor, name, member)
    _put(Tensor, "__iter__", calls.iterate)
    _put(Tensor, "__repr__", printing.text)
    _put(Tensor, "__str__", printing.text)


def uninstall() -> None:
    """Put today's names back."""
    while _before:
        holder, name, value = _before.pop()
        if value is ABSENT:
            delattr(holder, name)
        else:
            setattr(holder, name, value)
