"""Borders as layers."""

from typing import Any

from .. import functional as F
from .module import Module

__all__ = []


class _Pad(Module):
    """A border of the last `dims` dimensions: one width for all sides, or (before, after) from the last dimension on."""

    dims = 0
    mode = "constant"
    padding: Any

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * self.dims)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """A border of one number."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """A border of zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


KINDS = {
    "Constant": (_ConstantPad, "constant", "one number"), "Zero": (_ZeroPad, "constant", "zeros"),
    "Reflection": (_Pad, "reflect", "the input, mirrored at its edge"),
    "Replication": (_Pad, "replicate", "the input's edge"),
    "Circular": (_Pad, "circular", "the input's other end"),
}  # fmt: skip
for _kind, (_base, _mode, _what) in KINDS.items():
    for _n in (1, 2, 3):
        _name = f"{_kind}Pad{_n}d"
        globals()[_name] = type(_name, (_base,), {
            "dims": _n, "mode": _mode, "__module__": __name__,
            "__doc__": f"A border of {_what} around the last {_n} dimension{'s' if _n > 1 else ''}.",
        })  # fmt: skip
        __all__ += [_name]
