"""Local derivatives in the user's own names: the formula of a row of the table, and its number at this point."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .style import array_text, number

_LETTERS = "abc"
_POWER = re.compile(r"\^\(([\d.]+)−1\)")
_NUMBER = re.compile(r"−?[\d.]+")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_ROOM = 18  # characters of an array in a label


@dataclass(frozen=True)
class Operand:
    """An input or the output of an operation: its name ('' if none), its value on the CPU (None if unknown), its op."""

    name: str = ""
    value: Any = None
    op: str = ""

    @property
    def scalar(self) -> bool:
        return self.value is not None and not getattr(self.value, "ndim", 0)


class _Point:
    """What a rule of the table reads, without a node: values, shapes and parameters."""

    def __init__(self, inputs: list[Operand], output: Operand, p: Any) -> None:
        self.p = p
        for letter, x in zip(_LETTERS, inputs, strict=False):
            setattr(self, letter, x.value)
            setattr(self, "s" + letter, _shape(x.value))
        self.y, self.sy = output.value, _shape(output.value)


def _shape(value: Any) -> tuple[int, ...]:
    return getattr(value, "shape", ())


def formula(op: Any, position: int, inputs: list[Operand], output: Operand) -> str:
    """The derivative of `op` for one of its inputs, as the table writes it, with names in it; '' where it has none."""
    if not op.partials:
        return ""
    template: str = op.partials[min(position, len(op.partials) - 1)]
    if "{" not in template:
        return template
    alone = template in ("{a}", "{b}", "{c}", "{y}")
    words = {letter: _word(x, letter, alone) for letter, x in zip(_LETTERS, inputs, strict=False)}
    words |= {"y": _word(output, "y", alone), "p": "p"}
    try:
        text = template.format(**words)
        return _POWER.sub(_power, text) if "^" in text else text
    except (KeyError, IndexError, ValueError):
        return ""


def label(op: Any, position: int, inputs: list[Operand], output: Operand, p: Any = None) -> str:
    """What stands beside an edge: '· x2 = 3', or only the formula or the number where the other is not known.

    >>> from autodiff_kernel.core.op import TABLE
    >>> two, three = Operand("x1", np.float32(2)), Operand("x2", np.float32(3))
    >>> label(TABLE["mul"], 0, [two, three], Operand("", np.float32(6)))
    '· x2 = 3'
    >>> label(TABLE["pow_number"], 0, [two, Operand("", 2)], Operand("", np.float32(4)))
    '· 2·x1 = 4'
    """
    words = formula(op, position, inputs, output)
    value = slope(op, position, inputs, output, p)
    text = ""
    if value is not None and (not getattr(value, "ndim", 0) or value.size <= 4):
        text = array_text(value).replace("-", "−")
        text = text if len(text) <= _ROOM and "\n" not in text else ""
    if not words or words == text or _NUMBER.fullmatch(words):
        words, text = words or text, ""
    return f"· {words} = {text}" if text else f"· {words}" if words else ""


def slope(op: Any, position: int, inputs: list[Operand], output: Operand, p: Any = None) -> Any:
    """The number that `formula` stands for here, or None where a value is unknown or it is not one number each.

    The rule itself computes it, from a cotangent of 1: true for an operation that works element by element, and for
    one of single numbers.
    """
    if op.each is not None or op.outputs or output.value is None or position >= op.arity:
        return None
    value, shape = output.value, _shape(output.value)
    if any(x.value is None or _shape(x.value) not in (shape, ()) for x in inputs):
        return None
    if _shape(inputs[position].value) != shape or (op.mode != "elementwise" and shape):
        return None
    one = np.ones_like(value) if shape else getattr(value, "dtype", np.dtype(float)).type(1)
    try:
        return (op.a, op.b, op.c)[position](one, _Point(inputs, output, p))
    except Exception:  # a row that works on no plain values has no number to show
        return None


def _word(x: Operand, letter: str, alone: bool) -> str:
    """How a formula calls a value: its name, else its number, else the operation that made it."""
    if x.name:
        return x.name
    if x.scalar:
        text = array_text(x.value).replace("-", "−")
        return f"({text})" if text.startswith("−") and not alone else text
    return x.op or letter


def _power(found: re.Match[str]) -> str:
    """x^(3−1) as x², x^(2−1) as x."""
    left = float(found.group(1)) - 1
    if left == 1:
        return ""
    return number(left).translate(_RAISED) if left.is_integer() and left > 1 else f"^{number(left)}"
