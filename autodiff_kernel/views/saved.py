"""What an operation keeps for backward, and how many bytes that is."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kernel.core.graph import Node
from autodiff_kernel.core.op import NUMBERS

from .partials import Operand
from .style import array_text, shape_text

_PLACES = {"a": "input", "b": "input 2", "c": "input 3", "y": "output"}
_PACKED = "packed by a hook"


def saved(node: Node, inputs: list[Operand], output: Operand) -> tuple[tuple[str, str], ...]:
    """(which value, how it is called and its bytes) of each array that the node's rules will read.

    () where nothing is kept: the rule needs no value, or a backward has freed them.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> saved((x * x).grad_fn, [Operand("x"), Operand("x")], Operand())
    (('input', 'x · 8 bytes'), ('input 2', 'x · 8 bytes'))
    """
    found = []
    for letter, operand in zip("abcy", [*inputs, *[Operand()] * (3 - len(inputs)), output], strict=False):
        value = getattr(node, letter, None)
        if value is not None and value.__class__ not in NUMBERS:
            found.append((_PLACES[letter], _called(operand, value)))
    for i, value in enumerate(getattr(node, "x", None) or ()):
        found.append((f"input {i + 1}", _called(inputs[i] if i < len(inputs) else Operand(), value)))
    if node.op.whole is not None and node.p is not None:
        found += _of_function(node, inputs, output)
    if node.notes is not None and node.notes.packed:
        found += [(_PLACES.get(letter, "inputs"), _PACKED) for letter in sorted(node.notes.packed)]
    return tuple(found)


def _of_function(node: Node, inputs: list[Operand], output: Operand) -> list[tuple[str, str]]:
    """What a user's Function gave to `save_for_backward`."""
    found = []
    for i, kept in enumerate(node.p._kept, 1):
        if kept is None:
            continue
        if kept.packed is not None:
            found.append((f"saved {i}", _PACKED))
            continue
        sources = [x for x, e in zip(inputs, node.edges) if e is not None and e is kept.node]
        operand = output if kept.number is not None else sources[0] if sources else Operand()
        found.append((f"saved {i}", _called(operand, kept.raw if kept.t is None else kept.t.raw)))
    return found


def _called(operand: Operand, value: Any) -> str:
    """Its name, else its value or shape; and its size."""
    several = value if isinstance(value, (list, tuple)) else (value,)
    size = sum(int(getattr(v, "nbytes", 0)) for v in several)
    name = operand.name
    if not name and isinstance(value, np.generic):
        name = array_text(value)
    name = name or " ".join(
        filter(None, (operand.op, *(shape_text(np.shape(v)) for v in several if np.ndim(v))))
    )
    return f"{name} · {size:,} bytes" if size else name
