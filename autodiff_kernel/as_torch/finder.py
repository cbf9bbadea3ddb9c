"""How `import torch.nn` finds our module: a finder at the front of `sys.meta_path`.

It answers two kinds of names.  `torch.…` and `torchvision.…` are bound to our modules; where our layout differs from
PyTorch's (`torch.nn.modules.linear`), a mirror module stands there that fetches the names.  Our own modules, which may be
loaded at any time later, are found as always, and once they have run their classes get PyTorch's names.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from .homes import CLASSES, ROOT, home, names_below, names_in, ours

_GONE = object()


class Finder:
    """The finder, and the record of what it did, which `undo` takes back."""

    def __init__(self) -> None:
        self.classes: list[tuple[type, str]] = []  # a class, and what its __module__ was
        self.attributes: list[tuple[ModuleType, str, Any]] = []  # a module, a name in it, and what it was

    # ---- the protocol of importlib
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for a name of PyTorch's or of ours; None for everybody else's."""
        if name.startswith(f"{ROOT}."):
            return self._renaming(name, path)
        if ours(name) is None:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]  # importlib asks a loader for two methods only

    def create_module(self, spec: ModuleSpec) -> None:
        """Importlib makes an empty module; `exec_module` puts ours in its place."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Bind the name to our module of that place, or to a mirror."""
        name = module.__name__
        found = self._resolve(name)
        parent, _, child = name.rpartition(".")
        above = sys.modules.get(parent)
        if above is not None:  # importlib is going to set the attribute
            self.attributes.append((above, child, vars(above).get(child, _GONE)))
        sys.modules[name] = found

    # ---- names of PyTorch's
    def _resolve(self, name: str) -> ModuleType:
        place = ours(name)
        assert place is not None
        try:
            found: ModuleType | None = import_module(place)
        except ModuleNotFoundError as error:
            if not place.startswith(str(error.name)):
                raise  # a module of ours needs something that is not installed
            found = None
        names = names_in(name)
        if found is not None:
            if not hasattr(found, "__path__") and names_below(name):  # a file of ours, a package of PyTorch's
                self._set(found, "__path__", [])
            for missing in CLASSES.get(name, ()) if "." in name else ():
                value = _GONE if hasattr(found, missing) else look_up(name, missing)
                if value is not _GONE:
                    self._set(found, missing, value)
            return found
        if any(look_up(name, n) is not _GONE for n in names):
            return Mirror(name, names)
        raise ModuleNotFoundError(
            f"No module named {name!r}: PyTorch's {name} is not in {ROOT}, which stands in its place",
            name=name,
        )

    def _set(self, module: ModuleType, name: str, value: Any) -> None:
        """Give a module of ours an attribute, until `undo`."""
        self.attributes.append((module, name, _GONE))
        setattr(module, name, value)

    # ---- names of ours
    def _renaming(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """The spec that the other finders have; its loader gives the classes their names when it has run the module."""
        spec = None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is not self and find is not None and (spec := find(name, path, None)) is not None:
                break
        loader: Any = spec.loader if spec is not None else None
        if loader is None:
            return spec
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the loader is as it was
            run(module)
            if self in sys.meta_path:
                self.rename(module)

        loader.exec_module = exec_module
        return spec

    def rename(self, module: ModuleType) -> None:
        """Let the classes that a module of ours defines say that they are PyTorch's."""
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == module.__name__ and name == value.__qualname__:
                there = home(module.__name__, name)
                if there is not None:
                    self.classes.append((value, value.__module__))
                    value.__module__ = there

    def undo(self) -> None:
        """Give every class its own name again, and every module the attributes that it had."""
        while self.classes:
            kind, own = self.classes.pop()
            kind.__module__ = own
        while self.attributes:
            module, name, before = self.attributes.pop()
            if before is not _GONE:
                setattr(module, name, before)
            elif not _is_submodule(module, name):
                vars(module).pop(name, None)


class Mirror(ModuleType):
    """One of PyTorch's modules that we have no file for: its names are those of ours that are public further up."""

    def __init__(self, name: str, names: tuple[str, ...]) -> None:
        super().__init__(name, f"The names of PyTorch's {name} that {ROOT} has.")
        self.__path__: list[str] = []  # a package: what lies below it is asked of the finder
        self.__all__ = [n for n in names if look_up(name, n) is not _GONE]

    def __getattr__(self, name: str) -> Any:
        value = look_up(self.__name__, name) if name in self.__all__ else _GONE
        if value is _GONE:
            raise AttributeError(f"{self.__name__}.{name} is not in {ROOT}")
        return value

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.__all__})


def look_up(module: str, name: str) -> Any:
    """The object that goes by a name of one of PyTorch's modules: from the nearest module of ours above that has it."""
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        place = ours(".".join(parts[:n]))
        try:
            found = getattr(import_module(str(place)), name, _GONE)
        except ModuleNotFoundError:
            continue
        if found is not _GONE:
            return found
    return _GONE


def _is_submodule(module: ModuleType, name: str) -> bool:
    """Whether this attribute is there because a file of ours has been imported, which stays true."""
    value = vars(module).get(name)
    return isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}"


def available(name: str) -> bool:
    """Whether a top-level module can be imported, without importing it."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
