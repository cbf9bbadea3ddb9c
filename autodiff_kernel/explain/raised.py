"""An exception of ours, and the user's side of it: the line, the names there, and what our function was called with."""

import ast
import os
import sysconfig
from functools import cached_property, lru_cache
from types import FrameType, ModuleType
from typing import Any

from autodiff_kernel.core.errors import Explanation
from autodiff_kernel.core.places import HOME, Place
from autodiff_kernel.core.tensor import Tensor

from .history import name_of
from .names import Names, as_code, called
from .rewrite import Source


@lru_cache(1)
def _libraries() -> tuple[str, ...]:
    """Where Python's own modules and installed packages lie."""
    found = {sysconfig.get_paths().get(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(os.path.realpath(path) + os.sep for path in found if path)


def _whose(filename: str) -> str:
    """'ours', 'library' or 'user'."""
    if filename.startswith(HOME):
        return "ours"
    if filename.startswith("<frozen") or os.path.realpath(filename).startswith(_libraries()):
        return "library"
    return "user"


class Raised:
    """An exception with its traceback.

    told: what the engine hung on it, or None.  frames: (frame, instruction, whose) from the outermost inwards.
    """

    def __init__(self, error: BaseException, names: Names) -> None:
        self.error, self._given = error, names
        self.told: Explanation | None = getattr(error, "explanation", None)
        self.frames: list[tuple[FrameType, int, str]] = []
        step = error.__traceback__
        while step is not None:
            self.frames.append((step.tb_frame, step.tb_lasti, _whose(step.tb_frame.f_code.co_filename)))
            step = step.tb_next

    @property
    def ours(self) -> bool:
        """Was it raised in this package, and not in the user's code that it called (a hook, say)?"""
        if self.told is not None:
            return True
        inner = [whose for _, _, whose in self.frames if whose != "library"]
        return bool(inner) and inner[-1] == "ours"

    @cached_property
    def user(self) -> tuple[FrameType, int] | None:
        """The innermost frame of the user's own code, outside packages that called us."""
        for wanted in ("user", "library"):
            for frame, instruction, whose in reversed(self.frames):
                if whose == wanted:
                    return frame, instruction
        return None

    @cached_property
    def place(self) -> Place | None:
        """The user's line."""
        return None if self.user is None else Place(self.user[0].f_code, self.user[1])

    @cached_property
    def names(self) -> dict[str, Any]:
        """The names of the user's frame, before those that were given."""
        if self.user is None:
            return dict(self._given or {})
        frame = self.user[0]
        return {**frame.f_locals, **{k: v for k, v in frame.f_globals.items() if k not in frame.f_locals},
                **{k: v for k, v in (self._given or {}).items()
                   if k not in frame.f_locals and k not in frame.f_globals}}  # fmt: skip

    @cached_property
    def arguments(self) -> list[Any]:
        """What the function of ours that the user's line called was given, in order, sequences opened."""
        last_user = max((i for i, (_, _, whose) in enumerate(self.frames) if whose != "ours"), default=-1)
        if last_user + 1 >= len(self.frames):
            return []
        frame = self.frames[last_user + 1][0]
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
        found: list[Any] = []
        for name in code.co_varnames[:count]:
            value = frame.f_locals.get(name)
            found += value if isinstance(value, (list, tuple)) else [value]
        return found

    @property
    def tensors(self) -> list[Tensor]:
        return [x for x in self.arguments if isinstance(x, Tensor)]

    @cached_property
    def source(self) -> Source:
        return Source(self.place)

    @cached_property
    def expression(self) -> Any:
        """The syntax tree of what failed."""
        return self.source.here()

    @cached_property
    def operands(self) -> list[str]:
        """The texts of the operands of what failed: `a` and `b` of `a + b`, `x` and `2` of `x.sum(2)`."""
        node = self.expression
        if isinstance(node, ast.BinOp):
            return [self.source.of(node.left), self.source.of(node.right)]
        if isinstance(node, ast.Compare):
            return [self.source.of(node.left), *(self.source.of(x) for x in node.comparators)]
        if isinstance(node, ast.AugAssign):
            return [self.source.of(node.target), self.source.of(node.value)]
        if isinstance(node, ast.Subscript):
            return [self.source.of(node.value)]
        if isinstance(node, ast.Call):
            given = [self.source.of(x) for x in node.args]
            if isinstance(node.func, ast.Attribute) and not self._is_module(node.func.value):
                given.insert(0, self.source.of(node.func.value))
            return given
        statement = self.source.statement
        if isinstance(statement, ast.AugAssign):
            return [self.source.of(statement.target), self.source.of(statement.value)]
        return []

    def _is_module(self, node: ast.AST) -> bool:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and isinstance(self.names.get(root.id), (ModuleType, type))

    @property
    def function(self) -> str:
        """The function or method that was called, as the user's line names it: 'sum' of `x.sum(2)`; or ''."""
        node = self.expression
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                return node.func.attr
            if isinstance(node.func, ast.Name):
                return node.func.id
        return ""

    def name(self, t: Any, number: int | None = None, fallback: str = "the tensor") -> str:
        """What to call a tensor: by its name, as the operand of that number, or by what made it."""
        name = name_of(t, self.names)
        if name:
            return name
        if number is not None and number < len(self.operands) and len(self.operands[number]) <= 40:
            return f"`{self.operands[number]}`"
        return called(t, self.names, fallback)

    def code(self, t: Any, number: int | None = None, fallback: str = "x") -> str:
        """The same as code that a method can be called on."""
        return as_code(self.name(t, number, fallback))
