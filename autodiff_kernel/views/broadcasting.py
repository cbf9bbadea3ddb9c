"""How two shapes are broadcast: dimension by dimension, and the repeated elements as ghost boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .page import Table, Words, clip, label, room
from .scene import Rect, Scene, Shape
from .style import CARD, ERROR, GREY, INK, LEAF, LEAF_FILL, LINE, number, shape_text

MOST = 8  # rows and columns of a grid that are drawn


@dataclass(frozen=True)
class Grid:
    """An operand as it takes part: values row by row, and which of them are repetitions."""

    name: str
    shape: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    ghosts: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class Broadcast:
    """Two operands, the shape of the result (None if there is none), what happens in each dimension, the grids."""

    names: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    shape: tuple[int, ...] | None
    dims: tuple[tuple[str, str, str, str, str], ...]
    grids: tuple[Grid, ...]
    left_out: str
    verdict: str


def broadcast_of(names: Sequence[str], operands: Sequence[tuple[Any, Any]]) -> Broadcast:
    """names: of the two operands. operands: (tensor, its values) for each."""
    (a, a_values), (b, b_values) = operands
    shapes = tuple(a.shape), tuple(b.shape)
    count = max(map(len, shapes))
    padded = [(None,) * (count - len(shape)) + shape for shape in shapes]
    result: list[int] | None = []
    dims = []
    for i, (m, n) in enumerate(zip(*padded, strict=True)):
        found = _meet(m, n)
        dims.append(
            (
                str(i - count),
                _written(m),
                _written(n),
                "✗" if found is None else str(found),
                _told(names, m, n),
            )
        )
        result = None if found is None or result is None else [*result, found]
    shape = None if result is None else tuple(result)
    told = [clip(n) for n in names]
    if shape is None:
        bad = next(d for d in dims if d[3] == "✗")
        verdict = (
            f"{told[0]} {shape_text(shapes[0])} and {told[1]} {shape_text(shapes[1])} can't be broadcast: "
            f"dimension {bad[0]} is {bad[1]} in one and {bad[2]} in the other"
        )
    else:
        verdict = f"{told[0]} {shape_text(shapes[0])} and {told[1]} {shape_text(shapes[1])} give {shape_text(shape)}"
    values = zip(names, (a_values, b_values), strict=True)
    grids = tuple(_grid(name, np.asarray(x), shape) for name, x in values)
    return Broadcast((names[0], names[1]), shapes, shape, tuple(dims), grids, _left_out(shape), verdict)


def _meet(m: int | None, n: int | None) -> int | None:
    """The size of the result in a dimension; None where the two don't fit."""
    if m is None or n is None:
        return n if m is None else m
    return m if m == n or n == 1 else n if m == 1 else None


def _written(n: int | None) -> str:
    return "—" if n is None else str(n)


def _told(names: Sequence[str], m: int | None, n: int | None) -> str:
    if m == n:
        return "the same"
    for name, mine, other in ((names[0], m, n), (names[1], n, m)):
        if mine is None:
            return f"{clip(name)} lacks it: repeated {other}×"
        if mine == 1 and other is not None:
            return f"{clip(name)} has 1: repeated {other}×"
    return "they don't fit"


def _grid(name: str, values: np.ndarray, shape: tuple[int, ...] | None) -> Grid:
    """The last two dimensions of an operand, spread over the result's."""
    own = values.shape
    target = own if shape is None else shape
    full = np.broadcast_to(values, target)
    lead = (0,) * max(0, len(target) - 2)
    flat = np.atleast_2d(full[lead])
    sizes = (1,) * (2 - min(2, len(own))) + own[-2:]
    rows, columns = (min(n, MOST) for n in flat.shape)
    cells = tuple(tuple(number(flat[r, c]) for c in range(columns)) for r in range(rows))
    ghosts = tuple(
        tuple(bool((r and sizes[0] == 1) or (c and sizes[1] == 1)) for c in range(columns))
        for r in range(rows)
    )
    return Grid(name, tuple(own), cells, ghosts)


def _left_out(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return ""
    told = []
    if len(shape) > 2:
        told.append(f"the first of {int(np.prod(shape[:-2]))} slices")
    if any(n > MOST for n in shape[-2:]):
        told.append(f"the first {MOST} rows and columns")
    return f"(drawn: {' and '.join(told)})" if told else ""


def broadcast_blocks(b: Broadcast) -> list[Words | Table]:
    """The verdict and a row for each dimension; the grids in words."""
    heads = ("dimension", clip(b.names[0]), clip(b.names[1]), "result", "what happens")
    alarm = frozenset((r, 4) for r, row in enumerate(b.dims) if row[4] == "they don't fit")
    blocks: list[Words | Table] = [
        Words((f"{b.verdict}.",), "alarm" if b.shape is None else "plain"),
        Table(heads, b.dims, frozenset({0, 1, 2, 3}), alarm=alarm),
    ]
    for grid in b.grids:
        texts = [
            [f"({cell})" if ghost else f" {cell} " for cell, ghost in zip(cells, ghosts, strict=True)]
            for cells, ghosts in zip(grid.cells, grid.ghosts, strict=True)
        ]
        wide = max((len(text) for row in texts for text in row), default=0)
        marked = ["  " + " ".join(text.rjust(wide) for text in row) for row in texts]
        blocks.append(Words((f"{clip(grid.name)}, repetitions in parentheses:", *marked), twin=True))
    if b.left_out:
        blocks.append(Words((b.left_out,), "quiet"))
    return blocks


def _conflict(b: Broadcast) -> str:
    return "; ".join(f"dimension {d[0]}: {d[1]} and {d[2]} don't fit" for d in b.dims if d[3] == "✗")


def broadcast_scene(b: Broadcast) -> Scene:
    """Both operands as grids side by side; a repetition is a dashed box."""
    shapes: list[Shape] = []
    x, bottom = 14.0, 0.0
    for i, grid in enumerate(b.grids):
        side = max(34.0, room([c for row in grid.cells for c in row], 12) + 12)
        title = f"{clip(grid.name)}  {shape_text(grid.shape)}"
        shapes.append(label(x, 20, title, 13, bold=True))
        for r, row in enumerate(grid.cells):
            for c, cell in enumerate(row):
                ghost = grid.ghosts[r][c]
                look = (CARD, LINE, 1.1, "4 3") if ghost else (LEAF_FILL, LEAF, 1.4, "")
                shapes.append(Rect(round(x + c * side, 2), 30.0 + r * 30, round(side - 4, 2), 26, 3, *look))
                at = x + c * side + (side - 4) / 2
                shapes.append(
                    label(
                        at,
                        47.0 + r * 30,
                        cell,
                        12,
                        anchor="middle",
                        fill=GREY if ghost else INK,
                        italic=ghost,
                    )
                )
        wide = max(side * max((len(row) for row in grid.cells), default=0), room([title], 13) * 1.1)
        bottom = max(bottom, 30.0 + 30 * len(grid.cells))
        x += wide + 26
        if not i:
            sign = "✕" if b.shape is None else "with"
            shapes.append(
                label(x - 4, 47, sign, 13, fill=ERROR if b.shape is None else GREY, anchor="middle")
            )
            x += 22
    told = "dashed: repeated, not stored" if b.shape is not None else _conflict(b)
    shapes.append(label(14, bottom + 16, told, 11, fill=GREY if b.shape is not None else ERROR))
    return Scene(round(max(x, room([told], 11) + 28), 2), bottom + 26, shapes)
