"""Pieces of the user's source with notes beside the lines that matter, as text and as HTML."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autodiff_kernel.core.places import prompt, typed

from .style import ERROR, GATE, GREY, INK, MONO, clip, escape_xml, printable

AROUND, GAP = 1, 6  # lines of context; an excerpt with a larger hole in it is cut in two
_TO_A_LINE = re.compile(r" (in|of|since)$")  # 'changed in' line 3
LONGEST, MOST = 200, 24  # characters of a line, noted lines altogether


@dataclass(frozen=True)
class Line:
    """One line of the user's code; `note` says what happened there, '' for a line of context."""

    number: int
    text: str
    note: str = ""


Excerpt = tuple[str, tuple[Line, ...]]  # in which file ('' for a cell), and its lines


def excerpts(pairs: Iterable[tuple[str, Any]]) -> tuple[Excerpt, ...]:
    """The places of (what happened, Place) pairs as pieces of source with their neighbours, in the order of the code."""
    notes: dict[tuple[str, bool], dict[int, str]] = {}
    for what, place in list(pairs)[:MOST]:
        if place is not None and place.text:
            at = notes.setdefault((place.filename, place.in_cell), {})
            note = clip(_TO_A_LINE.sub("", what), LONGEST)
            known = at.get(place.line, "")
            at[place.line] = f"{known}; {note}" if known and note not in known.split("; ") else note
    pieces = []
    last = [filename for filename, in_cell in notes if in_cell][-1:]
    for (filename, in_cell), at in notes.items():
        where = filename.replace("\\", "/").rsplit("/", 1)[-1]
        if in_cell:
            where = "" if filename in last else prompt(filename) or "an earlier cell"
            if where and last and _asked_in(filename, last[0], notes):
                where = ""
        for group in _groups(sorted(at)):
            span = range(max(1, group[0] - AROUND), group[-1] + AROUND + 1)
            texts = [(n, clip(typed(linecache.getline(filename, n).rstrip()), LONGEST)) for n in span]
            lines = tuple(Line(n, text, at.get(n, "")) for n, text in texts if text or n in at)
            pieces.append((clip(where, LONGEST), lines))
    return tuple(pieces)


def _asked_in(filename: str, last: str, notes: Any) -> bool:
    """Is the code of a file an expression in a magic that stands in a noted line of the last cell?"""
    code = "".join(linecache.getlines(filename)).strip()
    lines = (typed(linecache.getline(last, n)).strip() for n in notes.get((last, True), ()))
    return bool(code) and any(line[:1] == "%" and line.endswith(code) for line in lines)


def _groups(numbers: list[int]) -> list[list[int]]:
    """Line numbers parted where the next one is far away."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number - groups[-1][-1] <= GAP:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _indent(lines: tuple[Line, ...]) -> int:
    """How far all lines are indented."""
    return min((len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip()), default=0)


def _width(lines: tuple[Line, ...], cut: int) -> int:
    """Where the notes begin: behind the longest line that has one."""
    return max((len(line.text) - cut for line in lines if line.note), default=0)


def excerpt_text(excerpt: Excerpt) -> str:
    """A piece of source with an arrow before each line that matters and what happened behind it."""
    where, lines = excerpt
    cut = _indent(lines)
    width = _width(lines, cut)
    told = [f"in {printable(where)}:"] if where else []
    for line in lines:
        arrow, note = ("→", f"  # {printable(line.note)}") if line.note else (" ", "")
        code = f"{printable(line.text[cut:]):{width if note else 0}}"
        told.append(f"{arrow}{line.number:>4}  {code}{note}".rstrip())
    return "\n".join(told)


def excerpt_html(excerpt: Excerpt, colour: str = ERROR) -> str:
    """The same on a card; colour: of the arrows and notes."""
    where, lines = excerpt
    cut = _indent(lines)
    width = _width(lines, cut)
    rows = []
    for line in lines:
        code = escape_xml(line.text[cut:])
        arrow = f"<span style='color:{colour}'>→</span>" if line.note else " "
        gap = " " * (width - len(line.text) + cut + 2)
        note = f"{gap}<span style='color:{colour}'># {escape_xml(line.note)}</span>" if line.note else ""
        number = f"<span style='color:{GREY}'>{line.number:>4}</span>"
        rows.append(f"{arrow}{number}  {code}{note}")
    title = f"<div style='color:{GREY}'>in {escape_xml(where)}</div>" if where else ""
    return title + code_html("\n".join(rows))


def code_html(escaped: str) -> str:
    """Code, already escaped, in a box of its own."""
    return (
        f"<pre style='margin:6px 0;background:{GATE};color:{INK};padding:6px 10px;overflow:auto;"
        f"font-family:{MONO};font-size:12px;line-height:1.4'>{escaped}</pre>"
    )
