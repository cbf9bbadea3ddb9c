"""Python's own errors about our tensors: a `.grad` that is None, a number where a tensor was expected, no PyTorch."""

import ast
import importlib.util
import linecache
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core import journal
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.places import Place
from autodiff_kernel.core.tensor import Tensor

from . import rewrite
from .answer import LESSONS, Answer, lines
from .gradients import gradient
from .names import at, in_line, stored_as
from .raised import Raised


def foreign(case: Raised) -> Iterator[Answer]:
    """What is behind an error that Python raised in the user's own line."""
    if imports_torch(case.error):
        yield torch_is_missing(case)
        return
    if not isinstance(case.error, (TypeError, AttributeError)) or case.place is None or case.ours:
        return
    found = grad_is_none(case) or number_for_tensor(case)
    if found is not None:
        yield found


def imports_torch(error: BaseException | None) -> bool:
    """Was PyTorch to be imported where it is not installed?"""
    if not isinstance(error, ModuleNotFoundError) or (error.name or "").partition(".")[0] != "torch":
        return False
    return importlib.util.find_spec("torch") is None


def torch_is_missing(case: Raised) -> Answer:
    """A line copied from code for PyTorch imports it."""
    return Answer(
        "no PyTorch",
        "PyTorch is not installed in this Python; autodiff_kernel stands in its place, with the same names.",
        lines(("imported in", case.place)),
        imported_from_here(_statement(case.place)),
    )


def _statement(place: Place | None) -> str:
    """The text of a statement that may go over several lines."""
    if place is None:
        return ""
    spots = list(place.code.co_positions())
    first, last, *_ = spots[place.instruction // 2]
    if first is None or last is None:
        return place.text
    found = "".join(linecache.getline(place.filename, i) for i in range(first, last + 1))
    return textwrap.dedent(found).strip()


def imported_from_here(line: str) -> str:
    """An import from torch as an import from this package.

    >>> imported_from_here("from torch.func import vmap")
    'from autodiff_kernel.func import vmap'
    >>> imported_from_here("import torch, math")
    'import autodiff_kernel as torch, math'
    """
    try:
        [statement] = ast.parse(line).body
    except (SyntaxError, ValueError):
        return "import autodiff_kernel as torch"
    if isinstance(statement, ast.ImportFrom) and statement.module:
        statement.module = _here(statement.module)
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name.partition(".")[0] == "torch":  # `import torch.nn` binds torch
                alias.name = _here(alias.name) if alias.asname else _here("torch")
                alias.asname = alias.asname or "torch"
    else:
        return "import autodiff_kernel as torch"
    return ast.unparse(statement)


def _here(module: str) -> str:
    first, dot, rest = module.partition(".")
    return f"autodiff_kernel{dot}{rest}" if first == "torch" else module


def value_of(node: ast.AST, names: Any) -> Any:
    """What a name, `a.b` or `a[0]` stands for; None where that cannot be told without running code."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, names)
        return getattr(owner, "__dict__", {}).get(node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name)):
        owner = value_of(node.value, names)
        key: Any = node.slice.value if isinstance(node.slice, ast.Constant) else names.get(node.slice.id)
        try:
            return owner[key] if isinstance(owner, (list, tuple, dict)) else None
        except (LookupError, TypeError):
            return None
    return None


def grad_is_none(case: Raised) -> Answer | None:
    """The line uses `w.grad`, and that is None: why?"""
    for node in ast.walk(case.source.tree) if case.source.tree is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            owner = value_of(node.value, case.names)
            if isinstance(owner, Tensor) and owner._grad_or_none() is None:
                found = next(gradient(owner, case.names), None)
                name = case.source.of(node.value)
                if found is None:
                    return Answer(
                        "grad is None",
                        f"{name}.grad is None{in_line(case.place)}: {name} does not require grad.",
                        lines(("used in", case.place)),
                        f"{name}.requires_grad_()   # before it is used",
                        LESSONS["gradients"],
                        about=(owner,),
                    )
                return Answer(
                    found.topic, found.finding, (*found.lines, *lines((f"{name}.grad was used in", case.place))),
                    found.fix, found.lesson, found.trail, found.about, found.certain,
                )  # fmt: skip
    return None


def number_for_tensor(case: Raised) -> Answer | None:
    """A tensor's method was called on a Python number or a NumPy array."""
    error = case.error
    if not isinstance(error, AttributeError):
        return None
    value, word = error.obj, error.name
    if not isinstance(value, (int, float, list, np.ndarray, np.generic)) or not hasattr(Tensor, word or ""):
        return None
    node = case.expression
    name = case.source.of(node.value) if isinstance(node, ast.Attribute) else ""
    left = _left(name, value)
    if left is None:
        return None
    kind = "a NumPy array" if isinstance(value, np.ndarray) else f"a plain Python {type(value).__name__}"
    return Answer(
        "a number, not a tensor",
        f"{name or 'It'} is {kind} since {at(left)}: `.{left.op}()` takes the value out of the tensor, and {word} is a "
        "matter of tensors.",
        lines(("taken out of the tensor in", left), (f"{word} was asked for in", case.place)),
        rewrite.without(left.place, "item", "tolist", "numpy", "detach"),
        LESSONS["graph"],
    )


def _left(name: str, value: Any) -> Event | None:
    """The event in which this value left a tensor for the name."""
    for e in reversed(list(journal.LOG)):
        if e.kind == "left" and e.op in ("item", "tolist", "numpy") and stored_as(e.place) == name and name:
            same = e.value is not None and np.array_equal(np.asarray(e.value), np.asarray(value))
            return e if same or isinstance(value, np.ndarray) else None
    return None
