"""Containers: modules and parameters in a row, a list or a dictionary."""

import operator
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from ...core.tensor import Parameter, Tensor
from .checks import indented
from .module import Module

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def place(index: Any, size: int, what: str) -> int:
    """A whole number as a place, counted from the end where it is negative. Raises IndexError."""
    i = operator.index(index)
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of range" if what != "list" else "list index out of range")
    return i % size


def grouped(module: Any) -> str:
    """The text of a list of modules: equal ones that follow each other are counted."""
    texts = [repr(m) for m in module]
    if not texts:
        return f"{module._get_name()}()"
    runs = [[0, 0]]
    blocks = [texts[0]]
    for i, text in enumerate(texts[1:], 1):
        if text == blocks[-1]:
            runs[-1][1] += 1
        else:
            runs.append([i, i])
            blocks.append(text)
    lines = []
    for (first, last), text in zip(runs, blocks):
        head = f"({first}): {text}"
        if first != last:
            head = f"({first}-{last}): {last - first + 1} x {text}"
        lines.append("  " + indented(head))
    return f"{module._get_name()}(\n" + "\n".join(lines) + "\n)"


class Sequential(Module):
    """Modules one after the other: each takes what the one before gave.

    Takes modules, or an OrderedDict of them.

    >>> import autodiff_kernel as torch
    >>> torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU())(torch.tensor([[[-1., 2.]]]))
    tensor([[0., 2.]])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for number, module in enumerate(args):
                self.add_module(str(number), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return list(self._modules.values())[place(index, len(self), "Sequential")]

    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, list(self._modules)[place(index, len(self), "Sequential")], module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [names[place(index, len(self), "")]]:
            delattr(self, name)
        self._modules = OrderedDict((str(i), m) for i, m in enumerate(self._modules.values()))

    def __len__(self) -> int:
        return len(self._modules)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        return self.extend(other)

    def __mul__(self, times: int) -> Any:
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*[m for _ in range(times) for m in self])

    __rmul__ = __mul__

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Any) -> Any:
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at `index`; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self)
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index + len(modules) if index < 0 else index, module)
        self._modules = {str(i): m for i, m in enumerate(modules)}
        return self

    def extend(self, sequential: Any) -> Any:
        """Add several modules at the end; returns self."""
        for module in sequential:
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Take out the module at `key` and return it."""
        module = self[key]
        del self[key]
        return module


class ModuleList(Module):
    """A list of modules, which their owner's `parameters()` finds.

    >>> import autodiff_kernel as torch
    >>> layers = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[str(place(index, len(self), "ModuleList"))]

    def __setitem__(self, index: int, module: Any) -> None:
        setattr(self, str(place(index, len(self), "ModuleList")), module)

    def __delitem__(self, index: Any) -> None:
        modules = list(self)
        del modules[index]
        self._modules = {str(i): m for i, m in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __iadd__(self, modules: Any) -> Any:
        return self.extend(modules)

    def __add__(self, other: Any) -> Any:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        return grouped(self)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Any) -> Any:
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> None:
        """Add a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._modules = {str(i): m for i, m in enumerate(modules)}

    def extend(self, modules: Any) -> Any:
        """Add several modules at the end; returns self. Raises TypeError for what is no list of modules."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in modules:
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Take out the module at `key` and return it."""
        module = self[key]
        del self[key]
        return module


class ModuleDict(Module):
    """A dictionary of modules, which their owner's `parameters()` finds.

    >>> import autodiff_kernel as torch
    >>> acts = torch.nn.ModuleDict({"relu": torch.nn.ReLU(), "tanh": torch.nn.Tanh()})
    >>> list(acts)
    ['relu', 'tanh']
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take out all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take out the module `key` and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """(name, module) pairs."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a dictionary or of (name, module) pairs."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        pairs = modules.items() if hasattr(modules, "items") else modules
        for k, pair in enumerate(pairs):
            if not hasattr(pair, "__len__") or len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{k} has length {len(pair)}; 2 is required"
                )
            self[pair[0]] = pair[1]


class ParameterList(Module):
    """A list of parameters, which their owner's `parameters()` finds; tensors become parameters.

    >>> import autodiff_kernel as torch
    >>> len(list(torch.nn.ParameterList([torch.zeros(2), torch.zeros(3)]).parameters()))
    2
    """

    def __init__(self, values: Any = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, str(place(index, len(self), "ParameterList")))

    def __setitem__(self, index: int, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, str(place(index, len(self), "ParameterList")), value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, values: Any) -> Any:
        return self.extend(values)

    def append(self, value: Any) -> Any:
        """Add a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Any) -> Any:
        """Add several values at the end; returns self."""
        if not hasattr(values, "__iter__") or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def pop(self) -> Any:
        """Take out the last value and return it."""
        value = self[-1]
        delattr(self, str(self._size - 1))
        self._size -= 1
        return value

    def extra_repr(self) -> str:
        return "\n".join(described(k, v) for k, v in enumerate(self))


class ParameterDict(Module):
    """A dictionary of parameters, which their owner's `parameters()` finds; tensors become parameters.

    >>> import autodiff_kernel as torch
    >>> list(torch.nn.ParameterDict({"w": torch.zeros(2)}).keys())
    ['w']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if str(key) not in self._keys:
            raise KeyError(key)
        return getattr(self, str(key))

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). "
                "Open an issue on github if you need non-string keys."
            )
        self._keys[key] = None
        setattr(
            self,
            key,
            Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value,
        )

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Any:
        """(name, value) pairs."""
        return [(k, self[k]) for k in self._keys]

    def values(self) -> Any:
        """The values."""
        return [self[k] for k in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a name, or the default."""
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Take out a value and return it."""
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        """Take out all values."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Add the values of a dictionary or of (name, value) pairs."""
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(described(k, v) for k, v in self.items())


def described(name: Any, value: Any) -> str:
    """A parameter's line in a container's text."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    where = f" (GPU {value.device.index})" if value.is_cuda else ""
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(n) for n in value.shape)
    return f"  ({name}): {kind} containing: [{value.dtype} of size {size}{where}]"
