"""What the last cell was about: `%why` alone asks for its error, or for the values that it worked with."""

import ast
import weakref
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from autodiff_kernel.core import journal, transfers
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain.history import parameters_of

MOST = 40  # values of a cell that are asked about

_of_shell: "WeakKeyDictionary[Any, Cells]" = WeakKeyDictionary()


class Cells:
    """The newest cell with code of the user's own, and the one that is running.

    Magics alone (`%graph y`) and mere looks (`print(w.grad)`) make no such cell: after them `%why` still speaks of what
    came before. No tensor is kept alive: a cell's value is held weakly.
    """

    def __init__(self) -> None:
        self.source, self.running = "", ""
        self.value: Callable[[], Any] = lambda: None
        self.error: BaseException | None = None
        self.newest: Any = None  # event of the journal when the cell began
        # copies between devices before the newest cell with code, and before the running one
        self.copies = self._copies = transfers.transfer_count()

    def before(self, info: Any = None) -> None:
        """A cell begins."""
        self.running = getattr(info, "raw_cell", "") or ""
        self.newest = _newest()
        self._copies = transfers.transfer_count()

    def after(self, result: Any = None) -> None:
        """A cell has ended."""
        source, self.running = getattr(getattr(result, "info", None), "raw_cell", "") or self.running, ""
        error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
        if not own_code(source) or (error is None and self.source and _newest() is self.newest):
            return
        self.source, self.error, self.copies = source, error, self._copies
        value = getattr(result, "result", None)
        self.value = weakref.ref(value) if isinstance(value, Tensor) else lambda: None

    def copies_before(self) -> int:
        """How many copies between devices there were before the running cell; before the last one, if that is a magic."""
        return self._copies if own_code(self.running) else self.copies

    def values(self, names: Mapping[str, Any]) -> list[Any]:
        """What the newest cell with code worked with and can be asked about, the last mentioned first."""
        running = bool(own_code(self.running))
        source = self.running if running else self.source
        found = [] if running else [self.value()]
        for name in mentioned(source)[::-1]:
            if not name.startswith("_"):
                found += askable(names.get(name))
        return list({id(x): x for x in found if x is not None}.values())[:MOST]


def _newest() -> Any:
    """The newest event of the journal."""
    return journal.LOG[-1] if journal.LOG else None


def askable(x: Any) -> list[Any]:
    """Of what a name stands for, what `%why` has answers about: a tensor, a list of tensors, a model, …"""
    if isinstance(x, dict):
        return [
            y for key, value in list(x.items())[:MOST] if key != "__builtins__" for y in askable_item(value)
        ]
    return askable_item(x)


def askable_item(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [x] if any(isinstance(y, Tensor) for y in x[:MOST]) else []
    return [x] if isinstance(x, Tensor) or parameters_of(x) else []


def own_code(source: str) -> list[str]:
    """The lines of a cell that are neither empty, nor comments, nor magics."""
    if source.lstrip().startswith("%%"):
        source = source.lstrip().partition("\n")[2]  # a cell magic runs the rest
    return [line for line in source.splitlines() if line.strip() and line.strip()[0] not in "#%!?"]


def mentioned(source: str) -> list[str]:
    """The names in a cell, in the order of their last appearance."""
    try:
        tree = ast.parse("\n".join(_python(line) for line in source.splitlines()))
    except (SyntaxError, ValueError):
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return list({node.id: None for node in nodes[::-1]})[::-1]


def _python(line: str) -> str:
    """A line of a cell, with `pass` for a magic."""
    stripped = line.lstrip()
    return line[: len(line) - len(stripped)] + "pass" if stripped[:1] in "%!?" and stripped else line


def of(shell: Any) -> Cells:
    """The cells of a shell."""
    found = _of_shell.get(shell)
    if found is None:
        found = _of_shell[shell] = Cells()
    return found


def load(shell: Any) -> Callable[[], None]:
    """Watch the shell's cells; returns what stops that."""
    cells = of(shell)
    shell.events.register("pre_run_cell", cells.before)
    shell.events.register("post_run_cell", cells.after)

    def undo() -> None:
        shell.events.unregister("pre_run_cell", cells.before)
        shell.events.unregister("post_run_cell", cells.after)
        _of_shell.pop(shell, None)

    return undo
