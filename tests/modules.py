"""A small class of modules, as `nn.Module` works: children and parameters by name, and a scope around each call."""

from collections.abc import Iterator
from typing import Any

import autodiff_kernel as torch


class Module:
    def __init__(self) -> None:
        self.own: dict[str, Any] = {}
        self.parts: dict[str, Module] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if isinstance(value, torch.Tensor):
            self.own[name] = value
        elif isinstance(value, Module):
            self.parts[name] = value

    def named_modules(self, path: str = "") -> Iterator[tuple[str, "Module"]]:
        yield path, self
        for name, part in self.parts.items():
            yield from part.named_modules(f"{path}.{name}" if path else name)

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        for path, module in self.named_modules():
            for name, parameter in module.own.items():
                yield f"{path}.{name}" if path else name, parameter

    def __call__(self, *inputs: Any) -> Any:
        with torch.scope(self):
            return self.forward(*inputs)

    def forward(self, *inputs: Any) -> Any:
        raise NotImplementedError


class Linear(Module):
    def __init__(self, n: int, m: int) -> None:
        super().__init__()
        self.weight = torch.full((m, n), 0.1, requires_grad=True)
        self.bias = torch.zeros(m, requires_grad=True)

    def forward(self, x: Any) -> Any:
        return x @ self.weight.t() + self.bias


class ReLU(Module):
    def forward(self, x: Any) -> Any:
        return torch.relu(x)


class Sequential(Module):
    def __init__(self, *parts: Module) -> None:
        super().__init__()
        for number, part in enumerate(parts):
            setattr(self, str(number), part)

    def forward(self, x: Any) -> Any:
        for part in self.parts.values():
            x = part(x)
        return x


class Net(Module):
    """Two layers and what lies between them."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.act, self.out = Linear(3, 5), ReLU(), Linear(5, 1)

    def forward(self, x: Any) -> Any:
        return self.out(self.act(self.hidden(x)))


class Residual(Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.lin, self.act = Linear(n, n), ReLU()

    def forward(self, x: Any) -> Any:
        return x + self.act(self.lin(x))


class Deep(Module):
    """A stem, six residual blocks, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.head = Linear(3, 8), Linear(8, 2)
        self.blocks = Sequential(*[Residual(8) for _ in range(6)])

    def forward(self, x: Any) -> Any:
        return self.head(self.blocks(self.stem(x)))


class Recurrent(Module):
    """One cell, called again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.read = Linear(4, 4), Linear(4, 1)

    def forward(self, h: Any) -> Any:
        for _ in range(8):
            h = torch.tanh(self.cell(h))
        return self.read(h)
