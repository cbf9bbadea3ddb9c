"""Pictures of a tensor: the ribbon of its memory, and histograms of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .page import clip, label, line, room
from .scene import Rect, Scene, Shape
from .style import ERROR, GATE, GREY, INK, LEAF, LEAF_FILL, LINE

PER_ROW, PER_SLOT = 16, 2  # slots in a row; indices under a slot
WIDEST = 760.0  # a row that would be wider holds half as many


def ribbon_scene(ribbon: Any) -> Scene:
    """Slots in the order of the memory; above them the bytes, under them each tensor's indices."""
    lines = [
        max(1, *(min(len(s.indices[i]), PER_SLOT + 1) for s in ribbon.slots))
        for i in range(len(ribbon.names))
    ]
    texts = [
        t for s in ribbon.slots for t in (s.value, *(_under(s.indices[i])[0] for i in range(len(lines))))
    ]
    texts += [t for s in ribbon.slots for some in s.indices for t in _under(some)]
    side = max(40.0, room(texts, 10.5) + 10)
    left = max(room([*ribbon.names, "byte", "value"], 11) + 26, 60)
    high = 52 + 14 * sum(lines) + 6 * len(lines)
    per_row = PER_ROW if left + min(PER_ROW, len(ribbon.slots)) * side <= WIDEST else PER_ROW // 2
    shapes: list[Shape] = []
    for first in range(0, len(ribbon.slots), per_row):
        top = 8 + first // per_row * (high + 10.0)
        shapes.append(label(left - 12, top + 12, "byte", 10.5, fill=GREY, anchor="end"))
        shapes.append(label(left - 12, top + 34, "value", 10.5, fill=GREY, anchor="end"))
        y = top + 60
        for name, deep in zip(ribbon.names, lines, strict=True):
            shapes.append(label(left - 12, y, name, 11, anchor="end", bold=True))
            y += 14 * deep + 6
        for k, slot in enumerate(ribbon.slots[first : first + per_row]):
            shapes += _slot(slot, left + k * side, top, side, lines)
    rows = -(-len(ribbon.slots) // per_row)
    across = min(len(ribbon.slots), per_row)
    return Scene(round(left + across * side + 14, 2), 8 + rows * (high + 10.0), shapes)


def _slot(slot: Any, x: float, top: float, side: float, lines: Sequence[int]) -> list[Shape]:
    read = any(slot.indices)
    look = (LEAF_FILL, LEAF, 1.2, "") if read else (GATE, LINE, 1.0, "3 3")
    shapes: list[Shape] = [
        label(x + 2, top + 12, str(slot.byte), 10, fill=GREY),
        Rect(round(x, 2), top + 18, round(side, 2), 24, 0, *look),
        label(x + side / 2, top + 34, slot.value, 10.5, anchor="middle", fill=INK if read else GREY),
    ]
    y = top + 60
    for some, deep in zip(slot.indices, lines, strict=True):
        for j, text in enumerate(_under(some)):
            shapes.append(label(x + side / 2, y + 14 * j, text, 10.5, anchor="middle"))
        y += 14 * deep + 6
    return shapes


def _under(indices: Sequence[str]) -> list[str]:
    """The indices that read a slot, in at most three lines."""
    if len(indices) <= PER_SLOT + 1:
        return list(indices) or [""]
    return [*indices[:PER_SLOT], f"+{len(indices) - PER_SLOT} more"]


def histograms(parts: Sequence[Any]) -> Scene | None:
    """A histogram for each tensor with more than one value, side by side; nan and inf are told beside it."""
    shown = [p for p in parts if sum(p.counts) + p.nan + p.inf > 1]
    if not shown:
        return None
    shapes: list[Shape] = []
    x = 14.0
    for p in shown:
        shapes += _histogram(p, x)
        x += max(196.0, room([f"values of {clip(p.name)}"], 11) * 1.1 + 20)
    return Scene(round(x, 2), 122, shapes)


def _histogram(p: Any, x: float) -> list[Shape]:
    shapes: list[Shape] = [label(x, 14, f"values of {clip(p.name)}", 11, bold=True)]
    most, step = max(p.counts, default=0), 168 / max(1, len(p.counts))
    for i, n in enumerate(p.counts):
        high = 56 * n / most
        if n:
            shapes.append(
                Rect(round(x + i * step, 2), round(86 - high, 2), round(step - 2, 2), round(high, 2), 0, LEAF)
            )
    shapes.append(line([(x, 86.5), (x + 168, 86.5)], LINE, 1))
    if most:
        shapes.append(label(x + 168, 27, f"tallest: {most}", 10, fill=GREY, anchor="end"))
        if p.low == p.high:
            shapes.append(label(x + 84, 100, f"all {p.low}", 10.5, anchor="middle"))
        else:
            shapes.append(label(x, 100, p.low, 10.5))
            shapes.append(label(x + 168, 100, p.high, 10.5, anchor="end"))
    bad = [f"{n} {word}" for n, word in ((p.nan, "nan"), (p.inf, "inf")) if n]
    if bad:
        shapes.append(label(x, 115, "and " + ", ".join(bad), 10.5, fill=ERROR, bold=True))
    return shapes
