"""The evaluation trace as a table: plain text for terminals and screen readers, HTML for notebooks and print."""

from __future__ import annotations

import unicodedata
from typing import Any

from .style import GRADIENT, INK, LEAF, LINE, MONO, RULE, card_html, clip, escape_xml, printable
from .trace_latex import local

ROWS, CELL = 120, 240  # rows that are shown, characters of a line in a cell


def columns(model: Any) -> list[tuple[str, str, str]]:
    """(heading, alignment, kind) of each column; a kind has its colour."""
    found = [("step", "left", "plain"), ("value", "right", "plain")]
    found += [(seed, "right", "tangent") for seed in model.seeds]
    if model.partials:
        found += [("local derivatives", "left", "tangent")]
    if model.reverse:
        found += [("adjoint from", "left", "adjoint"), ("w̄", "right", "adjoint")]
    return found


def drawn(model: Any) -> list[Any]:
    """The rows that a table shows: all, or of many the first and the last, with None for those between them."""
    rows = list(model.rows)
    return rows if len(rows) <= ROWS else [*rows[: ROWS // 2], None, *rows[-ROWS // 2 :]]


def cells(model: Any, row: Any) -> list[str]:
    """One row's cells; on a worksheet only the formula is filled in."""
    if row is None:
        return [f"… {len(model.rows) - ROWS:,} more steps", *[""] * (len(columns(model)) - 1)]
    step = f"{row.name} = {row.formula}"
    slopes = ["\n".join(map(local, row.partials))] if model.partials else []
    filled = [row.value, *row.tangents, *slopes, *([row.adjoint_from, row.adjoint] if model.reverse else [])]
    if model.blank:
        filled = [""] * len(filled)
    return [clip(step, CELL), *("\n".join(clip(line, CELL) for line in cell.split("\n")) for cell in filled)]


def width(text: str) -> int:
    """Columns that a text takes in a terminal: marks above a letter take none."""
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def _pad(text: str, size: int, align: str) -> str:
    gap = " " * (size - width(text))
    return gap + text if align == "right" else text + gap


def text(model: Any) -> str:
    """The table in characters."""
    heads = columns(model)
    lines: list[list[str]] = []
    for row in drawn(model):
        parts = [printable_lines(c) for c in cells(model, row)]
        for k in range(max(map(len, parts))):
            lines.append([p[k] if k < len(p) else "" for p in parts])
    blank = 12 if model.blank else 0
    sizes = [
        max(width(h), *(width(line[i]) for line in lines), blank if i else 0)
        for i, (h, _, _) in enumerate(heads)
    ]
    out = [printable(model.title), ""]
    out.append("  ".join(_pad(h, s, a) for (h, a, _), s in zip(heads, sizes, strict=True)).rstrip())
    out.append("  ".join("─" * s for s in sizes))
    for line in lines:
        out.append(
            "  ".join(_pad(c, s, a) for c, (_, a, _), s in zip(line, heads, sizes, strict=True)).rstrip()
        )
        if model.blank:
            out.append("  ".join(" " * s if not i else "_" * s for i, s in enumerate(sizes)))
    return "\n".join([*out, *(f"({note})" for note in model.notes)])


def printable_lines(cell: str) -> list[str]:
    return [printable(part) for part in cell.split("\n")] or [""]


_COLOURS = {"plain": INK, "tangent": LEAF, "adjoint": GRADIENT}


def html(model: Any) -> str:
    """The table in HTML, with header cells for screen readers and styles inline."""
    heads = columns(model)
    out = [
        f"<table style='border-collapse:collapse;margin:0;background:#ffffff;color:{INK};font-size:13px'>"
        f"<caption style='text-align:left;padding:4px 0;font-weight:600;color:{INK}'>{escape_xml(model.title)}</caption>"
        "<thead><tr style='background:#ffffff'>"
    ]
    for head, align, kind in heads:
        out.append(
            f"<th scope='col' style='padding:5px 10px;border-bottom:2px solid {LINE};text-align:{align};"
            f"color:{_COLOURS[kind]}'>{escape_xml(head)}</th>"
        )
    out.append("</tr></thead><tbody>")
    for row in drawn(model):
        out.append("<tr style='background:#ffffff'>")
        for i, (cell, (_, align, kind)) in enumerate(zip(cells(model, row), heads, strict=True)):
            out.append(_cell(model, row, i, cell, align, kind, len(heads)))
        out.append("</tr>")
    out.append("</tbody></table>")
    out += [f"<div style='color:{INK};padding-top:4px'>{escape_xml(note)}</div>" for note in model.notes]
    return card_html("".join(out))


def _cell(model: Any, row: Any, i: int, cell: str, align: str, kind: str, count: int) -> str:
    """One cell; results (the value of the output, the gradients of the inputs) are bold."""
    last = model.reverse and i == count - 1
    strong = row is not None and (i == 1 and row.role == "output" or last and row.role == "input")
    style = f"padding:4px 10px;border-bottom:1px solid {RULE};text-align:{align};color:{_COLOURS[kind]}"
    style += ";font-weight:600" if strong else ""
    if model.blank and i:  # room to write in, which a narrow window may take back
        wide = 68 if kind == "plain" or last else 84 if kind == "tangent" else 180
        style += f";width:{wide}px;height:26px;border:1px solid #8a949e"
    shown = "<br>".join(escape_xml(part) for part in cell.split("\n"))
    if cell.startswith("[[") and "\n" in cell:  # a matrix: its columns stand under each other
        style_ = f"display:inline-block;text-align:left;white-space:pre;font-family:{MONO};font-size:12px"
        shown = f"<span style='{style_}'>{shown}</span>"
    if kind == "adjoint" and not last:
        shown = _sum(shown)
    tag = "th scope='row'" if i == 0 else "td"
    style += ";font-weight:400;white-space:nowrap" if i == 0 else ""
    return f"<{tag} style='{style}'>{shown}</{tag.split()[0]}>"


def _sum(shown: str) -> str:
    """Where an adjoint comes from. In a narrow window it is broken after a plus; its numbers stay in one line."""
    terms, equals, numbers = shown.partition(" = ")
    whole = f"{equals}{numbers}".strip().replace(" ", "&#160;")
    return f"{terms.replace(' + ', '&#160;+ ')} {whole}".rstrip()
