"""What a tensor is called: by the user's names now, by the name that its line gave it, or by its expression.

A recorded line is a code object and an instruction, so Python itself knows which expression it evaluates and to which
name the result goes.  Nothing here reads source text to find out what happened.
"""

import ast
import dis
import linecache
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from autodiff_kernel.core.facts import event_at
from autodiff_kernel.core.graph import Node
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.places import Place
from autodiff_kernel.core.tensor import Tensor

from .history import name_of

Names = Mapping[str, Any] | None
LONGEST = 60  # characters of an expression that a sentence can hold


@lru_cache(256)
def _instructions(code: CodeType) -> tuple[list[int], list[dis.Instruction]]:
    found = list(dis.get_instructions(code))
    return [i.offset for i in found], found


def stored_as(place: Place | None) -> str:
    """The name to which the result of a place's instruction goes at once: `y` for the product in `y = x * 2`, or ''."""
    if place is None:
        return ""
    offsets, found = _instructions(place.code)
    i = bisect_right(offsets, place.instruction)  # the instruction after it
    while i < len(found) and (found[i].opname in ("CACHE", "COPY", "NOP") or _takes_one(found[i])):
        i += 1
    if i >= len(found):
        return ""
    name = _first_name(found[i])
    if found[i].opname.startswith("STORE_") and found[i].opname not in (
        "STORE_SUBSCR",
        "STORE_ATTR",
        "STORE_SLICE",
    ):
        return name
    if found[i].opname.startswith("LOAD_") and i + 1 < len(found) and found[i + 1].opname == "STORE_ATTR":
        return f"{name}.{found[i + 1].argval}"
    return ""


def _takes_one(instruction: dis.Instruction) -> bool:
    """`g, = f()` and `(y := f())` store the one thing that was computed."""
    return instruction.opname == "UNPACK_SEQUENCE" and instruction.arg == 1


def _first_name(instruction: dis.Instruction) -> str:
    name = instruction.argval
    return str(name[0] if isinstance(name, tuple) else name)


def expression(place: Place | None) -> str:
    """The source of the expression that the place's instruction evaluates, or '' if it is long or not at hand."""
    if place is None:
        return ""
    spots = list(place.code.co_positions())
    i = place.instruction // 2
    if i >= len(spots):
        return ""
    line, last, start, stop = spots[i]
    if line is None or line != last or start is None or stop is None:
        return ""
    text = linecache.getline(place.filename, line).encode()[start:stop].decode(errors="replace").strip()
    return text if len(text) <= LONGEST else ""


def names_used(place: Place) -> set[str]:
    """The names that are read in the place's line."""
    return _names_in(place, "LOAD_")


def names_set(place: Place) -> set[str]:
    """The names that are set in the place's line."""
    return _names_in(place, "STORE_")


def _names_in(place: Place, kind: str) -> set[str]:
    lines = list(place.code.co_positions())
    found: set[str] = set()
    for step in _instructions(place.code)[1]:
        where = lines[step.offset // 2][0] if step.offset // 2 < len(lines) else None
        if step.opname.startswith(kind) and "CONST" not in step.opname and where == place.line:
            found |= set(step.argval) if isinstance(step.argval, tuple) else {str(step.argval)}
    return found


def opens_block(place: Place) -> bool:
    """Is the instruction the beginning of a `with` block?  (From 3.14 on Python calls `__enter__` as any function.)"""
    offsets, found = _instructions(place.code)
    i = max(bisect_right(offsets, place.instruction) - 1, 0)
    entering = any("__enter__" in str(step.argval) for step in found[max(i - 6, 0) : i])
    return "WITH" in found[i].opname or entering and found[i].opname.startswith("CALL")


def whose(e: Event) -> Event:
    """The event that made the tensor, where the newest only says that its gradient was asked for or not."""
    while e.kind == "asked" and e.inputs and e.inputs[0].__class__ is Event:
        e = e.inputs[0]
    return e


def born(e: Event | None) -> Event | None:
    """The event that made a tensor, before all that was asked of it and written to it; None if that is forgotten."""
    while e is not None and e.kind in ("asked", "write"):
        e = e.inputs[0] if e.inputs and e.inputs[0].__class__ is Event else None
    return None if e is None or e.kind == "met" else e


def given_name(e: Event) -> str:
    """The name that the user's line gave to the tensor of an event."""
    return stored_as(whose(e).place) if whose(e).kind != "met" else ""


def called(x: Any, names: Names, fallback: str = "") -> str:
    """What to call a tensor, or the tensor of an event: its name, the name its line gave it, or its expression."""
    if x.__class__ is Event:
        t = x.tensor()
        name = (name_of(t, names) if t is not None else "") or given_name(x)
        if name:
            return name
        return _in_words(whose(x)) or fallback
    name = name_of(x, names)
    if name:
        return name
    e = getattr(x, "fact", None)
    return (called(e, None) if e is not None and e.kind != "met" else "") or fallback


def _in_words(e: Event) -> str:
    text = expression(e.place) if e.kind in ("operation", "write", "left", "made") else ""
    if text:
        return f"`{text}`"
    return f"the result of {operation(e)}" if e.kind == "operation" else ""


def operation(e: Event) -> str:
    """An operation as users call it: rows that differ in their operands' kinds share a name."""
    name = e.name
    for ending in ("_number", "_row"):
        name = name.removesuffix(ending)
    return {"cast": "the conversion", "setitem": "the assignment"}.get(name, name)


def as_code(name: str) -> str:
    """A name or an expression in backticks as code that a method can be called on.

    >>> as_code("w"), as_code("`a + b`"), as_code("the result")
    ('w', '(a + b)', 'x')
    """
    text = name.strip("`")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return "x"
    atom = isinstance(tree, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
    return text if atom else f"({text})"


def called_node(n: Node, names: Names) -> str:
    """What to call the result of a node."""
    if n.op is None:
        t = n.leaf()
        if t is not None:
            return called(t, names)
    event = event_at(n)
    return "" if event is None else called(event, names)


def at(where: Any) -> str:
    """'line 3' of a cell, 'file.py, line 3' of a file, for an event, a place or what `here()` gave; or ''."""
    place = place_in(where)
    return "" if place is None else str(place).partition(": ")[0]


def in_line(where: Any, before: str = " in ") -> str:
    """' in line 3', or '' where the line is not known."""
    text = at(where)
    return before + text if text else ""


def place_in(where: Any) -> Place | None:
    if where is None or isinstance(where, Place):
        return where
    if where.__class__ is Event:
        return where.place
    if isinstance(where, Node):
        return where.place
    return Place(*where)


def listed(words: Sequence[str], most: int = 4) -> str:
    """'a', 'a and b', 'a, b and c'; of many the first few."""
    words = list(dict.fromkeys(words))
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def described(t: Tensor | Event) -> str:
    """Shape and dtype in short: '[2, 3] float32'."""
    raw: Any = t.raw if isinstance(t, Tensor) else t
    return f"{list(raw.shape)} {raw.dtype}"
