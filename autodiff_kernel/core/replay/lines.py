"""A recorded program: its values, its lines, and the text of the Python function that they become.

    def step(x, w):
        t1 = mul(x, w)                              # line 4: y = x * w
        return (t1,)

A Line is one call of a row of the table, or one of a few others: a new tensor, a write, a draw of random numbers, an
addition to a `.grad`.  What cannot be written as text (a dtype, an array of constants, a row) has a name too, and lies
in the function's own namespace.
"""

import keyword
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import places
from ..op import Op
from .state import Unseen

WIDTH = 44  # columns before the comment
LONGEST = 60  # of the user's line in it


class Symbol:
    """A value of the program; `path`: where an input is found."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: str = "") -> None:
        self.name, self.path = name, path

    def __repr__(self) -> str:
        return self.name


class RawOf:
    """The array of a symbol's tensor, in the parameters of a row."""

    __slots__ = ("symbol",)

    def __init__(self, symbol: Symbol) -> None:
        self.symbol = symbol


class Line:
    """One line.  out: what it makes; function: what is called, under which name; args: symbols and constants.

    kind: "op", or the word of another action; grad: were gradients recorded?; spot: the user's instruction; pure: it
    does nothing but give its result; note: what the comment says before the user's line.
    """

    __slots__ = ("kind", "out", "function", "name", "args", "p", "grad", "spot", "note")

    def __init__(
        self, kind: str, out: Sequence[Symbol], function: Any, name: str, args: Sequence[Any], p: Any = None,
        grad: bool = False, spot: Any = None, note: str = "",
    ) -> None:  # fmt: skip
        self.kind, self.out, self.function, self.name = kind, tuple(out), function, name
        self.args, self.p, self.grad, self.spot, self.note = tuple(args), p, grad, spot, note

    @property
    def pure(self) -> bool:
        return self.kind in ("op", "new", "detach", "read_grad")

    def symbols(self) -> list[Symbol]:
        """The values that the line reads."""
        found: list[Symbol] = []
        waiting = [*self.args, self.p]
        while waiting:
            x = waiting.pop()
            if isinstance(x, Symbol):
                found.append(x)
            elif isinstance(x, RawOf):
                found.append(x.symbol)
            elif isinstance(x, (list, tuple)):
                waiting += x
            elif isinstance(x, slice):
                waiting += (x.start, x.stop, x.step)
        return found

    def comment(self) -> str:
        place = places.place_of(self.spot)
        text = (
            ""
            if place is None
            else place.text
            if len(place.text) <= LONGEST
            else place.text[: LONGEST - 1] + "…"
        )
        where = f"line {place.line}: {text}".rstrip(": ") if place is not None else ""
        return f"{self.note} {where}".strip()


class Writer:
    """Turns lines into text, and keeps what the text names."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {}
        self.constants: list[Any] = []

    def named(self, name: str, value: Any) -> str:
        """The name of a value in the program's namespace; another one if the name is taken."""
        name = re.sub(r"\W", "_", name) or "value"
        if keyword.iskeyword(name):
            name += "_"
        while name in self.space and self.space[name] is not value:
            name += "_"
        self.space[name] = value
        return name

    def constant(self, value: Any) -> str:
        for i, have in enumerate(self.constants):
            if have is value:
                return f"k{i + 1}"
        self.constants.append(value)
        return self.named(f"k{len(self.constants)}", value)

    def text(self, x: Any) -> str:
        """An argument as Python text."""
        if isinstance(x, Symbol):
            return x.name
        if isinstance(x, RawOf):
            return f"{x.symbol.name}.raw"
        kind = type(x)
        if kind in (bool, int, str, type(None), type(Ellipsis)) or kind is float and math.isfinite(x):
            return "..." if x is Ellipsis else repr(x)
        if kind is slice:
            return f"slice({self.text(x.start)}, {self.text(x.stop)}, {self.text(x.step)})"
        if isinstance(x, tuple) and not hasattr(x, "_fields"):
            parts = [self.text(v) for v in x]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if kind is list:
            return f"[{', '.join(map(self.text, x))}]"
        if isinstance(x, np.dtype):
            return self.named(x.name, x)
        return self.constant(x)

    def line(self, line: Line) -> str:
        kind = line.kind
        args = [self.text(x) for x in line.args] if kind != "call" else []
        if kind == "read_grad":
            code = f"{line.out[0]} = {args[0]}.grad"
        elif kind == "set_grad":
            code = f"{args[0]}.grad = {args[1]}"
        elif kind == "setitem":
            code = f"{args[0]}[{args[1]}] = {args[2]}"
        elif kind == "call":
            code = f"{self.named(type(line.args[0]).__name__.lower(), line.args[0])}.step()"
        elif kind == "detach":
            code = f"{line.out[0]} = {args[0]}.detach()"
        else:
            function = self.named(line.name, line.function)
            if line.p is not None:
                args.append(f"p={self.text(line.p)}")
            out = ", ".join(s.name for s in line.out)
            out = (
                f"({out},)"
                if kind == "op" and getattr(line.function, "outputs", False) and len(line.out) == 1
                else out
            )
            code = f"{out} = " * bool(out) + f"{function}({', '.join(args)})"
        comment = line.comment()
        return f"    {code:{WIDTH}}  # {comment}".rstrip() if comment else f"    {code}"

    def function(self, name: str, inputs: Sequence[Any], lines: Sequence[Line], out: str) -> str:
        head = f"def {name}({', '.join(map(str, inputs))}):"
        return "\n".join([head, *map(self.line, lines), f"    return {out}", ""])

    def compile(self, source: str, name: str) -> Callable[..., Any]:
        space = self.space
        exec(compile(source, f"<compiled {name}>", "exec"), space)
        function: Callable[..., Any] = space[name]
        return function


def row_line(op: Op, out: Sequence[Symbol], args: Sequence[Any], p: Any, **more: Any) -> Line:
    """A line for one row of the table."""
    base = op.base
    return Line("op", out, base, base.name, args, p, **more)


def names_for(paths: Sequence[str]) -> list[str]:
    """A readable Python name for each path: `self.fc1._parameters['weight']` becomes `fc1_weight`."""
    names: list[str] = []
    for path in paths:
        short = re.sub(r"_(parameters|modules|buffers)\['([^']*)'\]", r"\2", path)
        short = re.sub(r"^(self|class)\.", "", short)
        short = re.sub(r"\W+", "_", short).strip("_") or "value"
        if short[0].isdigit() or keyword.iskeyword(short) or re.fullmatch(r"[tgk]\d+|p|saved", short):
            short = f"{short}_" if not short[0].isdigit() else f"x_{short}"
        while short in names:
            short += "_"
        names.append(short)
    return names


def live(lines: Sequence[Line], wanted: Sequence[Symbol]) -> list[Line]:
    """The lines without those whose results nobody needs."""
    needed = set(map(id, wanted))
    kept: list[Line] = []
    for line in reversed(lines):
        if line.pure and not any(id(s) in needed for s in line.out):
            continue
        needed.update(map(id, line.symbols()))
        kept.append(line)
    return kept[::-1]


__all__ = ["Line", "RawOf", "Symbol", "Unseen", "Writer", "live", "names_for", "row_line"]
