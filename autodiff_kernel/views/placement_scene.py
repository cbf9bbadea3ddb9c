"""The picture of a placement: a box for each device, and an arrow for what was copied from one to another."""

from __future__ import annotations

from typing import Any

from .placement_cards import copied, size, state
from .scene import ARROW, Path, Rect, Scene, Shape, Text
from .style import CARD, GREY, INK, LEAF, LEAF_FILL, LINE, OUTPUT, OUTPUT_FILL, shorten, text_width

MOST = 8  # GPUs that are drawn
NAMED = 6  # tensors that a box lists
WIDE, GAP, ROOM, ROW = 236.0, 26.0, 190.0, 15.0  # a box, between boxes and between columns, a line of text
EDGE = 16.0


def placement_scene(model: Any) -> Scene:
    """The CPU on the left, the GPUs under each other on the right, arrows with their bytes between them."""
    cpu, gpus = model.devices[0], model.devices[1:]
    shown = gpus[:MOST]
    column = sum(_height(gpu) + GAP for gpu in shown) - GAP if shown else 0.0
    tall = max(column, _height(cpu))
    places = {cpu.name: (EDGE, EDGE + 18 + (tall - _height(cpu)) / 2, _height(cpu))}
    y = EDGE + 18 + (tall - column) / 2
    for gpu in shown:
        places[gpu.name] = (EDGE + WIDE + ROOM, y, _height(gpu))
        y += _height(gpu) + GAP
    copies = [c for c in model.arrows if c.source in places and c.target in places]
    lines: list[Shape] = []
    words: list[Shape] = []
    for copy in copies:
        _arrow(copy, places, cpu.name, lines, words)
    boxes: list[Shape] = []
    for device in (cpu, *shown):
        boxes += _box(device, *places[device.name])
    around = [text_width(copied(c), 11) for c in copies if cpu.name not in (c.source, c.target)]
    width = EDGE * 2 + WIDE + (ROOM + WIDE if shown else 0) + (60 + max(around) if around else 0)
    notes = [model.arrows_mean] if copies else ["No copies between devices."] if shown else []
    if len(gpus) > MOST:
        notes.append(f"{len(gpus) - MOST} more devices are not drawn.")
    y = EDGE + 18 + tall + 24
    for note in notes:
        words.append(Text(EDGE, y, note, 11, GREY))
        y += 15
    head = Text(EDGE, EDGE + 2, model.title, 13, INK, bold=True)
    width = max(width, EDGE * 2 + text_width(model.title, 13, bold=True))
    return Scene(round(width), round(y - 4), [head, *lines, *boxes, *words])


def _height(device: Any) -> float:
    """Of a box: its heading, its state, and a row for each tensor."""
    rows = min(len(device.tensors), NAMED) + (len(device.tensors) > NAMED)
    return 36.0 + ROW * (len(_state(device)) + rows) + (6 if rows else 0)


def _state(device: Any) -> list[str]:
    """How full a device is, in lines."""
    parts = state(device).split(" · ")
    return [" · ".join(parts[k : k + 2]) for k in range(0, len(parts), 2)]


def _box(device: Any, x: float, y: float, high: float) -> list[Shape]:
    """A device: its name, whether it is simulated, how full it is, and its tensors with their bytes."""
    look = (CARD, LINE) if device.name == "cpu" else (LEAF_FILL, LEAF)
    shapes: list[Shape] = [
        Rect(x, y, WIDE, high, 7, look[0], look[1], 1.5, "5 3" if device.simulated else ""),
        Text(x + 12, y + 20, device.name, 14, INK, bold=True),
    ]
    if device.simulated:
        wide = text_width("simulated", 11) + 12
        shapes.append(Rect(x + WIDE - wide - 10, y + 8, wide, 17, 4, OUTPUT_FILL, OUTPUT, 1.0, "3 2"))
        shapes.append(Text(x + WIDE - wide / 2 - 10, y + 20, "simulated", 11, OUTPUT, "middle"))
    line = y + 39
    for told in _state(device):
        shapes.append(Text(x + 12, line, told, 11, GREY))
        line += ROW
    line += 6
    for t in device.tensors[:NAMED]:
        what = f"shares {t.shares}" if t.shares else size(t.nbytes)
        what = shorten(what, 11, 90)
        shapes.append(
            Text(
                x + 12,
                line,
                shorten(t.name, 11, WIDE - 40 - text_width(what, 11), bold=True),
                11,
                INK,
                bold=True,
            )
        )
        shapes.append(Text(x + WIDE - 12, line, what, 11, INK, "end"))
        line += ROW
    if len(device.tensors) > NAMED:
        shapes.append(Text(x + 12, line, f"and {len(device.tensors) - NAMED} more", 11, GREY))
    return shapes


def _arrow(
    copy: Any, places: dict[str, tuple[float, float, float]], cpu: str, lines: list[Shape], words: list[Shape]
) -> None:
    """A line with its head and its words: across between the CPU and a GPU, around the right side between GPUs."""
    (x0, y0, high0), (x1, y1, high1) = places[copy.source], places[copy.target]
    told = copied(copy)
    if cpu in (copy.source, copy.target):
        out = copy.source == cpu
        shift = -14 if out else 14  # there above, back below
        start = (x0 + WIDE if out else x0, y0 + high0 / 2 + shift)
        end = (x1 if out else x1 + WIDE, y1 + high1 / 2 + shift)
        sense = 1 if out else -1
        bend = sense * ROOM / 2
        curve = (start[0] + bend, start[1], end[0] - bend, end[1], end[0] - sense * (ARROW - 1), end[1])
        lines.append(Path((("M", start), ("C", curve)), "none", LINE, 1.6))
        lines.append(_head(end, sense))
        x, y = end if out else start  # at the GPU's own side, where no other line has its words
        words.append(Text(x - 12, y - 6 if out else y + 14, told, 11, INK, "end", halo=True))
        return
    down = y1 > y0
    shift = 10 if down else -10
    start, end = (x0 + WIDE, y0 + high0 / 2 + shift), (x1 + WIDE, y1 + high1 / 2 - shift)
    reach = 40.0 if down else 56.0
    curve = (start[0] + reach, start[1], end[0] + reach, end[1], end[0] + ARROW - 1, end[1])
    lines.append(Path((("M", start), ("C", curve)), "none", LINE, 1.6))
    lines.append(_head(end, -1))
    y = (start[1] + end[1]) / 2 + (14 if down else -6)
    words.append(Text(round(start[0] + reach * 0.75 + 8, 1), round(y, 1), told, 11, INK, halo=True))


def _head(tip: tuple[float, float], sense: int) -> Path:
    """An arrow head that points to the right (1) or to the left (-1)."""
    x, y = tip
    back = x - sense * ARROW
    return Path((("M", tip), ("L", (back, y - 3.6)), ("L", (back, y + 3.6)), ("Z", ())), LINE)
