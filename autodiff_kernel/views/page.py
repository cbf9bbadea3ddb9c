"""Views that consist of words, tables and a picture: written once as blocks, rendered as text and as HTML.

A view gives its model as blocks in the order in which they are read. The picture is a scene (see `scene.py`), and
everything it says stands in the words and tables too, so that the text loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .html import picture_html
from .result import Result
from .scene import Path, Scene, Shape, Text
from .style import CARD, ERROR, GREY, INK, LINE, MONO, RULE, card_html, escape_xml, printable, text_width
from .svg import scene_svg
from .trace_table import width

BARS = "▁▂▃▄▅▆▇█"
LONGEST = 80  # characters of a user's name that are shown


@dataclass(frozen=True)
class Words:
    """Lines of text. tone: "plain", "quiet" for side notes, "alarm" for what is wrong, "code" for what to type."""

    lines: tuple[str, ...]
    tone: str = "plain"
    twin: bool = False  # what the picture says: only in the text


@dataclass(frozen=True)
class Table:
    """Rows of texts under headings. right: the columns with numbers. alarm: the (row, column) cells to be marked."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    caption: str = ""
    alarm: frozenset[tuple[int, int]] = frozenset()
    twin: bool = False


@dataclass(frozen=True)
class Page:
    """A view: its title, its blocks, its picture (or none), and one line for those who see neither."""

    title: str
    blocks: tuple[Words | Table, ...]
    alt: str
    scene: Scene | None = None


def page_result(model: Any, page: Callable[[Any], Page]) -> Result:
    """The result object of a model that `page` turns into blocks."""
    made = page(model)  # once, for all renderings
    scene = made.scene
    return Result(
        model,
        text=lambda _: page_text(made),
        html=lambda _: page_html(made),
        svg=None if scene is None else lambda _: scene_svg(scene, title=made.title, description=made.alt),
        alt=made.alt,
    )


def clip(name: object) -> str:
    """A name as it may stand in a table: one line, not endlessly long.

    >>> clip("w" * 100)[-3:], len(clip("w" * 100))
    ('ww…', 80)
    """
    text = printable(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def counted(n: int, word: str) -> str:
    """2 zeros, 1 zero."""
    return f"{n} {word}{'' if n == 1 else 's'}"


def sparkline(values: Sequence[float]) -> str:
    """Numbers from 0 up as a row of bars; a 0 is the lowest, what is no number a cross.

    >>> sparkline([0, 1, 2, 4]), sparkline([0.0, 0.0]), sparkline([1.0, float("nan")])
    ('▁▃▅█', '▁▁', '█×')
    """
    most = max((v for v in values if v == v and abs(v) != float("inf")), default=0.0)
    out = ""
    for v in values:
        if v != v or abs(v) == float("inf"):
            out += "×"
        else:
            out += BARS[int(v / most * (len(BARS) - 1) + 0.5)] if most > 0 else BARS[0]
    return out


# ------------------------------------------------------------------------------------------------------------ text
def page_text(page: Page) -> str:
    """All blocks in characters."""
    out = [printable(page.title)]
    for block in page.blocks:
        out.append("")
        out += _table_lines(block) if isinstance(block, Table) else _word_lines(block)
    return "\n".join(out)


def _word_lines(words: Words) -> list[str]:
    mark = {"alarm": "! ", "code": "    "}.get(words.tone, "")
    return [mark + printable(line) for line in words.lines]


def _table_lines(table: Table) -> list[str]:
    rows = [tuple(printable(cell) for cell in row) for row in (table.heads, *table.rows)]
    sizes = [max(width(row[i]) for row in rows) for i in range(len(table.heads))]

    def line(row: tuple[str, ...]) -> str:
        cells = []
        for i, (cell, size) in enumerate(zip(row, sizes, strict=True)):
            gap = " " * (size - width(cell))
            cells.append(gap + cell if i in table.right else cell + gap)
        return "  ".join(cells).rstrip()

    head = [line(rows[0]), "  ".join("─" * size for size in sizes)]
    return ([printable(table.caption)] if table.caption else []) + head + [line(row) for row in rows[1:]]


# ------------------------------------------------------------------------------------------------------------ HTML
def page_html(page: Page) -> str:
    """All blocks on a card; the picture comes under the title, in an `<img>` that needs no trust."""
    inner = [f"<div style='font-weight:600;padding:2px 0 6px;color:{INK}'>{escape_xml(page.title)}</div>"]
    if page.scene is not None:
        svg = scene_svg(page.scene, title=page.title, description=page.alt)
        inner.append(picture_html(svg, page.alt, page_text(page)))
    inner += [_table_html(b) if isinstance(b, Table) else _words_html(b) for b in page.blocks if not b.twin]
    return card_html("".join(inner))


def _words_html(words: Words) -> str:
    colour = {"quiet": GREY, "alarm": ERROR}.get(words.tone, INK)
    lines = "<br>".join(escape_xml(line) for line in words.lines)
    look = f"font-family:{MONO};white-space:pre-wrap;" if words.tone == "code" else ""
    weight = "font-weight:600;" if words.tone == "alarm" else ""
    return f"<div style='{look}{weight}color:{colour};padding:4px 0;max-width:760px'>{lines}</div>"


def _table_html(table: Table) -> str:
    cell = f"padding:3px 12px 3px 0;border-bottom:1px solid {RULE};background:{CARD};color:{INK};vertical-align:top"
    align = ["right" if i in table.right else "left" for i in range(len(table.heads))]
    caption = (
        f"<caption style='text-align:left;padding:4px 0;color:{INK};font-size:13px'>{escape_xml(table.caption)}</caption>"
        if table.caption
        else ""
    )
    heads = "".join(
        f"<th scope='col' style='padding:3px 12px 3px 0;border-bottom:2px solid {LINE};background:{CARD};text-align:{a};"
        f"color:{GREY};font-weight:600'>{escape_xml(head)}</th>"
        for head, a in zip(table.heads, align, strict=True)
    )
    rows = []
    for r, row in enumerate(table.rows):
        cells = []
        for i, (text, a) in enumerate(zip(row, align, strict=True)):
            tag = "th scope='row'" if i == 0 else "td"
            mark = f";color:{ERROR};font-weight:600" if (r, i) in table.alarm else ";font-weight:400"
            cells.append(f"<{tag} style='{cell};text-align:{a}{mark}'>{escape_xml(text)}</{tag.split()[0]}>")
        rows.append(f"<tr style='background:{CARD}'>{''.join(cells)}</tr>")
    return (
        f"<table style='border-collapse:collapse;background:{CARD};color:{INK};font-size:13px;margin:4px 0 6px'>{caption}"
        f"<thead><tr style='background:{CARD}'>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


# --------------------------------------------------------------------------------------------------------- pictures
def label(x: float, y: float, text: object, size: float = 11, **look: Any) -> Text:
    """A text of a picture, made harmless and no longer than a name may be."""
    return Text(round(x, 2), round(y, 2), clip(text), size, **look)


def line(points: Sequence[tuple[float, float]], colour: str, width: float = 1.2, dash: str = "") -> Path:
    """A polyline."""
    commands = tuple(("L" if i else "M", (round(x, 2), round(y, 2))) for i, (x, y) in enumerate(points))
    return Path(commands, "none", colour, width, dash)


def shifted(shapes: Sequence[Shape], dx: float, dy: float) -> list[Shape]:
    """The same shapes elsewhere."""
    out: list[Shape] = []
    for shape in shapes:
        if isinstance(shape, Path):
            moved = tuple(
                (letter, tuple(n + (dy if i % 2 else dx) for i, n in enumerate(numbers)))
                for letter, numbers in shape.commands
            )
            out.append(shape._replace(commands=moved))
        else:
            out.append(shape._replace(x=shape.x + dx, y=shape.y + dy))
    return out


def stacked(scenes: Sequence[Scene], gap: float = 14) -> Scene:
    """Pictures under each other."""
    shapes: list[Shape] = []
    y = 0.0
    for scene in scenes:
        shapes += shifted(scene.shapes, 0, y)
        y += scene.height + gap
    return Scene(max(s.width for s in scenes), y - gap, shapes)


def room(texts: Sequence[str], size: float = 11, mono: bool = False) -> float:
    """The width that the widest of some texts needs."""
    return max((text_width(clip(t), size, mono=mono) for t in texts), default=0.0)
