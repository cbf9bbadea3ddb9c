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
_DOUBLE = np.dtype(float)
_DOUBLE = np.dtype(float)
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


def _shape(value: Any) -> tuple[int, ...]:
    return getattr(value, "shape", ())


class Partials:
    """The derivatives of one operation for each of its inputs, at one point.

    op: a row of the table. inputs, output: its operands. p: its parameters.

    >>> from autodiff_kernel.core.op import TABLE
    >>> two, three = Operand("x1", np.float32(2)), Operand("x2", np.float32(3))
    >>> Partials(TABLE["mul"], [two, three], Operand("", np.float32(6))).label(0)
    '· x2 = 3'
    >>> Partials(TABLE["pow_number"], [two, Operand("", 2)], Operand("", np.float32(4))).label(0)
    '· 2·x1 = 4'
    """

    def __init__(self, op: Any, inputs: list[Operand], output: Operand, p: Any = None) -> None:
        self.op, self.inputs, self.output = op, inputs, output
        self.shape = shape = _shape(output.value)
        self.known = op.each is None and not op.outputs  # may `slope` ask the rule?
        self.words, self.guarded = {"p": "p"}, {"p": "p"}
        self.point = _Point()
        reads = self.point.__dict__
        reads["p"] = p
        for letter, x in (("y", output), *zip(_LETTERS, inputs, strict=False)):
            word = self.words[letter] = self.guarded[letter] = _word(x, letter)
            if not x.name and word[0] == "−":
                self.guarded[letter] = (
                    f"({word})"  # among other words a negative number stands in parentheses
                )
            reads[letter] = value = x.value
            reads["s" + letter] = own = _shape(value)
            if value is None or (own != shape and own != ()):
                self.known = False

    def formula(self, position: int) -> str:
        """The derivative for one input, as the table writes it, with names in it; '' where it has none."""
        if not self.op.partials:
            return ""
        template: str = self.op.partials[min(position, len(self.op.partials) - 1)]
        if "{" not in template:
            return template
        try:
            text = template.format_map(self.words if len(template) == len("{a}") else self.guarded)
            return _POWER.sub(_power, text) if "^" in text else text
        except (KeyError, IndexError, ValueError):
            return ""

    def slope(self, position: int) -> Any:
        """The number that `formula` stands for here, or None where a value is unknown or it is not one number each.

        The rule itself computes it, from a cotangent of 1: true for an operation that works element by element, and
        for one of single numbers.
        """
        if not self.known or position >= self.op.arity:
            return None
        shape, value = self.shape, self.output.value
        if _shape(self.inputs[position].value) != shape or (shape and self.op.mode != "elementwise"):
            return None
        one = np.ones_like(value) if shape else getattr(value, "dtype", _DOUBLE).type(1)
        try:
            return (self.op.a, self.op.b, self.op.c)[position](one, self.point)
        except Exception:  # a row that works on no plain values has no number to show
            return None

    def label(self, position: int) -> str:
        """What stands beside an edge: '· x2 = 3', or only the formula or the number where the other is not known."""
        words, value = self.formula(position), self.slope(position)
        text = ""
        if value is not None and (not getattr(value, "ndim", 0) or value.size <= 4):
            text = array_text(value).replace("-", "−")
            text = text if len(text) <= _ROOM and "\n" not in text else ""
        if not words or words == text or _NUMBER.fullmatch(words):
            words, text = words or text, ""
        return f"· {words} = {text}" if text else f"· {words}" if words else ""


def _word(x: Operand, letter: str) -> str:
    """How a formula calls a value: its name, else its number, else the operation that made it."""
    if x.name:
        return x.name
    return array_text(x.value).replace("-", "−") if x.scalar else x.op or letter


def _power(found: re.Match[str]) -> str:
    """x^(3−1) as x², x^(2−1) as x."""
    left = float(found.group(1)) - 1
    if left == 1:
        return ""
    return number(left).translate(_RAISED) if left.is_integer() and left > 1 else f"^{number(left)}"
