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
from .names import Names, called
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
    def _call(self) -> tuple[list[Any], dict[str, Any]]:
        """What the function of ours that the user's line called was given: in order, and by name."""
        last_user = max((i for i, (_, _, whose) in enumerate(self.frames) if whose != "ours"), default=-1)
        if last_user + 1 >= len(self.frames):
            return [], {}
        frame = self.frames[last_user + 1][0]
        code, values = frame.f_code, frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        ordered = [values.get(name) for name in code.co_varnames[:count]]
        named = dict(zip(code.co_varnames[:count], ordered))
        if code.co_flags & 4:  # *args
            ordered += values.get(code.co_varnames[count], ())
            count += 1
        if code.co_flags & 8:  # **kwargs
            named |= values.get(code.co_varnames[count], {})
        return ordered, named

    @cached_property
    def arguments(self) -> list[Any]:
        """The same in one list, with what lists held."""
        ordered, named = self._call
        found: list[Any] = []
        for value in [*ordered, *(v for v in named.values() if not any(v is x for x in ordered))]:
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
    def operands(self) -> list[ast.expr]:
        """The parts of what failed that give its operands: `a` and `b` of `a + b`, `x` and `2` of `x.sum(2)`."""
        node = self.expression
        if node is None and isinstance(self.source.statement, ast.AugAssign):
            node = self.source.statement
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.Compare):
            return [node.left, *node.comparators]
        if isinstance(node, ast.AugAssign):
            return [node.target, node.value]
        if isinstance(node, ast.Subscript):
            return [node.value, node.slice]
        if isinstance(node, ast.Call):
            bound = isinstance(node.func, ast.Attribute) and not self._is_module(node.func.value)
            return (
                [node.func.value, *node.args]
                if bound and isinstance(node.func, ast.Attribute)
                else list(node.args)
            )
        return []

    @cached_property
    def texts(self) -> list[tuple[Any, str]]:
        """(value, its text in the user's line) for what the function was given."""
        ordered, named = self._call
        parts = self.operands
        if (
            len(parts) == 2
            and len(ordered) > 1
            and isinstance(parts[0], ast.Constant)
            and isinstance(ordered[0], Tensor)
        ):
            parts = parts[::-1]  # `2 - x` calls a method of x
        pairs: list[tuple[Any, ast.expr]] = list(zip(ordered, parts))
        pairs += [(named[k.arg], k.value) for k in getattr(self.expression, "keywords", ()) if k.arg in named]
        for value, part in list(pairs):
            if isinstance(part, (ast.List, ast.Tuple)) and isinstance(value, (list, tuple)):
                pairs += zip(value, part.elts)
        return [(value, self.source.of(part)) for value, part in pairs]

    def text(self, value: Any) -> str:
        """The text of an operand in the user's line, or ''."""
        return next((text for x, text in self.texts if x is value and len(text) <= 40), "")

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

    def name(self, t: Any, fallback: str = "the tensor") -> str:
        """What to call a tensor: by its name, as it stands in the line, or by what made it."""
        name = name_of(t, self.names)
        if name:
            return name
        text = self.text(t)
        return f"`{text}`" if text else called(t, self.names, fallback)
