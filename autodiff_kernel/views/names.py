"""Which variable of the user's holds which value: the names that pictures use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autodiff_kernel.core.graph import Node, as_edge
from autodiff_kernel.core.scopes import ModuleScope
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain.history import parameters_of

from .style import clip

_LONGEST = 64  # elements of a list or dict that are looked through
_NAME = 200  # characters of a name that pictures show


class Names:
    """Finds the variable that holds a node's value, a leaf, or a tensor without a node.

    Tensors inside lists, tuples and dictionaries are called `layers[0]` and `w['a']`, parameters of a module by their
    path (`model.0.weight`). A plain name comes before those, an earlier variable before a later one, and names that
    start with an underscore (IPython's `_3`) come last.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = x * x
    >>> names = Names({"x": x, "y": y})
    >>> names.of_node(y.grad_fn), names.of_tensor(x)
    ('y', 'x')
    """

    def __init__(self, namespace: Mapping[str, Any] | None) -> None:
        self._nodes: dict[tuple[int, int], tuple[str, Tensor]] = {}
        self._tensors: dict[int, str] = {}
        self._modules: dict[int, str] = {}  # the way to each module: 'model.layers.0'
        self.classes: dict[tuple[str, ...], str] = {}  # of the scopes that modules opened, the class's name
        for name, value in sorted((namespace or {}).items(), key=lambda item: str(item[0]).startswith("_")):
            if _is_module(value):
                for path, module in modules_of(value) or [("", value)]:
                    self._modules.setdefault(id(module), f"{name}.{path}" if path else str(name))
        for whole, t in _named(namespace or {}):
            name = clip(whole, _NAME)
            self._tensors.setdefault(id(t), name)
            if t.node is not None:
                node, output = as_edge(t.node)
                self._nodes.setdefault((id(node), output), (name, t))

    def of_node(self, node: Node, output: int = 0) -> str:
        """The variable that holds this output of a node, or ''."""
        return self._nodes.get((id(node), output), ("", None))[0]

    def tensor(self, node: Node, output: int = 0) -> Tensor | None:
        """The tensor behind that name."""
        return self._nodes.get((id(node), output), ("", None))[1]

    def way(self, scopes: tuple[str, ...]) -> tuple[str, ...]:
        """The names of open scopes; a module's is the one that its model has for it, as seen from the scope around."""
        if all(name.__class__ is str for name in scopes):
            return scopes
        found: list[str] = []
        around = ""
        for name in scopes:
            module = name.module() if isinstance(name, ModuleScope) else None
            path = self._modules.get(id(module), "") if module is not None else ""
            found.append((path.removeprefix(f"{around}.") if around else path) or str(name))
            around = path or around
            if isinstance(name, ModuleScope):
                self.classes[tuple(found)] = str(name)
        return tuple(found)

    def of_tensor(self, t: Any) -> str:
        """The variable that holds this tensor, or ''."""
        return self._tensors.get(id(t), "")


def modules_of(model: Any) -> list[tuple[str, Any]]:
    """What `named_modules()` gives; [] for what has no such method, or fails in it."""
    if isinstance(model, type) or not callable(getattr(type(model), "named_modules", None)):
        return []
    try:
        return [(str(path), module) for path, module in model.named_modules()]
    except Exception:  # somebody else's object
        return []


def named_tensors(namespace: Mapping[str, Any]) -> list[tuple[str, Tensor]]:
    """All tensors that a namespace reaches, with their names, the best names first."""
    return list(_named(namespace))


def _named(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """All tensors with their names, the best names first."""
    plain: list[tuple[str, Any]] = []
    hidden: list[tuple[str, Any]] = []
    for name, value in list(namespace.items()):
        if isinstance(value, (Tensor, list, tuple, dict)) or _is_module(value):
            (hidden if str(name).startswith("_") else plain).append((str(name), value))
    for some in (plain, hidden):
        yield from ((name, value) for name, value in some if isinstance(value, Tensor))
        for name, value in some:
            if not isinstance(value, Tensor):
                yield from _inside(name, value)


def _inside(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors in a container or a module."""
    items: Iterable[tuple[str, Any]]
    if _is_module(value):
        items = ((f"{name}.{path}", t) for path, t in parameters_of(value))
    elif len(value) > _LONGEST:
        return
    elif isinstance(value, dict):
        items = ((f"{name}[{key!r}]", t) for key, t in value.items() if isinstance(key, (str, int)))
    else:
        items = ((f"{name}[{i}]", t) for i, t in enumerate(value))
    for path, t in items:
        if isinstance(t, Tensor):
            yield path, t


def _is_module(value: Any) -> bool:
    return not isinstance(value, type) and callable(getattr(type(value), "named_parameters", None))
