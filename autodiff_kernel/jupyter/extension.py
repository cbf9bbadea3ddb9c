"""The IPython extension: what `%load_ext autodiff_kernel` switches on, and how it is switched off again."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from autodiff_kernel.core import modes

from . import cells, completion, errors, inspection, magics, magics_lessons, magics_runs

Undo = Callable[[], None]

_loaded: "WeakKeyDictionary[Any, list[Undo]]" = WeakKeyDictionary()


def _record(shell: Any) -> Undo:
    """Pictures of earlier cells need what those cells computed, so it is kept from now on."""
    modes.set_recording(True)
    return lambda: modes.set_recording(False)


# Each part takes the shell, does its work and returns what undoes it.
PARTS: tuple[Callable[[Any], Undo], ...] = (
    _record,
    cells.load,
    magics.load,
    magics_lessons.load,
    magics_runs.load,
    errors.load,
    completion.load,
    inspection.load,
)


def load_ipython_extension(shell: Any) -> None:
    """Switch on magics, error view, completion, inspection, recording in this IPython shell; a second call does nothing."""
    if shell not in _loaded:
        _loaded[shell] = [part(shell) for part in PARTS]


def unload_ipython_extension(shell: Any) -> None:
    """Leave the shell as it was before `load_ipython_extension`."""
    for undo in reversed(_loaded.pop(shell, [])):
        undo()
