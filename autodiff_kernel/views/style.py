"""How every view looks: colours, fonts, the width of a text, escaping, and how numbers are written.

Nothing here knows what a graph or a trace is. All renderers take their colours, measures and escaping from this
file, so a label that comes from a user is made harmless in one place per target language.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np

# Every text colour has a contrast of at least 4.5:1 on the grounds it is used on, in grey print too.
INK, GREY, LINE, RULE = "#1b1f24", "#5b6570", "#8a949e", "#d5dade"
CARD, GATE = "#ffffff", "#f3f5f7"
LEAF, LEAF_FILL = "#1f5f9e", "#e7f0fa"
OUTPUT, OUTPUT_FILL = "#966000", "#fdf3dc"
GRADIENT = "#a63a0b"  # gradients and local derivatives; used for nothing else
ERROR, ERROR_FILL = "#b3003c", "#fdeaf0"  # the node an error is about; always with a word beside it

SANS = "Segoe UI, Helvetica, Arial, sans-serif"
MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"

NOT_YET, NOT_RECORDED, NO_GRADIENT = "not yet", "not recorded", "none"


# ------------------------------------------------------------------------------------------ width of a text
# Advance widths of the characters 32 … 126 in hundredths of an em: Arial's (Helvetica, Liberation Sans), and where
# DejaVu Sans, the fallback of a bare Linux, is more than 10 % wider, DejaVu's less these 10 %. With the 10 % added
# below a text fits in both.
def _table(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


_REGULAR = _table(
    "29 37 42 77 58 89 71 25 36 36 46 77 29 34 29 31 58 58 58 58 58 58 58 58 "
    "58 58 31 31 77 77 77 56 102 67 67 73 73 67 62 78 73 28 50 67 56 84 73 78 "
    "67 78 73 67 62 73 67 95 67 67 63 36 31 36 77 56 46 56 58 50 58 56 33 58 "
    "58 26 26 53 26 89 58 56 58 58 38 50 36 58 54 75 54 54 50 58 31 58 77"
)
_BOLD = _table(
    "32 42 48 77 64 92 80 28 42 42 48 77 35 38 35 34 64 64 64 64 64 64 64 64 "
    "64 64 37 37 77 77 77 62 98 73 73 73 76 67 63 78 77 34 56 73 62 91 77 78 "
    "67 78 73 67 63 74 71 101 71 67 66 42 34 42 77 56 46 62 66 56 66 62 40 66 "
    "65 32 32 61 32 95 65 63 66 66 45 56 44 65 60 84 59 60 53 65 34 65 77"
)
_MONO = 61
_OTHER = {"·": 33, "…": 100, "²": 40, "³": 40, "′": 24, "∂": 52, "→": 100, "←": 100, "⊤": 87, "●": 87}
SLACK = 1.10
_LONGEST = 1000  # characters that are looked at, should they have no width


@lru_cache(4096)
def _advance(char: str, bold: bool, mono: bool) -> int:
    """Width of one character in hundredths of an em, never too small for the fonts we know."""
    code = ord(char)
    if 32 <= code < 127:
        return _MONO if mono else (_BOLD if bold else _REGULAR)[code - 32]
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if code >= 0x1F000:
        return 130
    if unicodedata.east_asian_width(char) in "WF":
        return 105
    if mono:
        return 90 if code >= 0x2500 else _MONO
    if char in _OTHER:
        return _OTHER[char]
    base = unicodedata.normalize("NFD", char)[0]
    if base != char and 32 <= ord(base) < 127:
        return _advance(base, bold, False)
    return 98 if bold else 90


@lru_cache(8192)
def text_width(text: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """Room in pixels that `text` needs at font size `size`, 10 % included.

    A picture inside an `<img>` gets no web font and nobody can measure it, so boxes are sized by this table.

    >>> round(text_width("x1", 13, bold=True), 1)
    17.6
    """
    return size * SLACK * sum([_advance(char, bold, mono) for char in text]) / 100


def shorten(text: str, size: float, room: float, *, bold: bool = False, mono: bool = False) -> str:
    """`text`, or as much of it as fits into `room` pixels with an ellipsis at its end.

    >>> shorten("a_rather_long_variable_name", 13, 80)
    'a_rather_…'
    """
    if len(text) <= _LONGEST and text_width(text, size, bold, mono) <= room:
        return text
    # in one pass: a name of ten thousand characters would take minutes if each beginning of it were measured
    units, keep = _advance("…", bold, mono), 0
    for char in text[:_LONGEST]:
        units += _advance(char, bold, mono)
        if keep and size * SLACK * units / 100 > room:
            break
        keep += 1
    return text[:keep] + "…"


# ------------------------------------------------------------------------------------------------- escaping
# What no output should hold as it is: control characters (a terminal obeys them, XML forbids them), lone
# surrogates (not encodable) and the marks that turn the direction of writing round (a line then reads as another).
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_XML_SPECIAL = re.compile("[&<>\"']")
_XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_LATEX = {char: "\\" + char for char in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{REPLACEMENT CHARACTER}": "?",  # no font of LaTeX has it
}
_LATEX_SPECIAL = re.compile("[\\\\{}$&#%_^~<>\N{REPLACEMENT CHARACTER}]")


def printable(text: object) -> str:
    """One line of text without control characters: what any renderer may take further.

    >>> printable("a\\x1b[31mb")
    'a\N{REPLACEMENT CHARACTER}[31mb'
    """
    text = str(text)
    return text if text.isprintable() else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def clip(text: object, most: int) -> str:
    """`text`, or its beginning and its end with an ellipsis between them where it has more than `most` characters.

    >>> clip("abcdefghijkl", 12), clip("abcdefghijklm", 12)
    ('abcdefghijkl', 'abcdefgh…klm')
    """
    text = str(text)
    end = most // 4
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[len(text) - end :]}"


def escape_xml(text: object) -> str:
    """Text for SVG and HTML, in content and in quoted attributes.

    >>> escape_xml('<script>"&')
    '&lt;script&gt;&quot;&amp;'
    """
    return _escaped(str(text))


@lru_cache(4096)
def _escaped(text: str) -> str:
    return _XML_SPECIAL.sub(lambda found: _XML[found.group()], printable(text))


def escape_dot(text: object) -> str:
    """Text for the inside of a quoted DOT string; Graphviz reads backslash escapes and HTML entities there.

    >>> escape_dot('say "hi" \\\\N')
    'say \\\\"hi\\\\" \\\\\\\\N'
    """
    return printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def escape_latex(text: object) -> str:
    """Text for LaTeX's text mode (inside formulas: `\\text{…}`).

    >>> print(escape_latex("w_1 & \\\\href{x}"))
    w\\_1 \\& \\textbackslash{}href\\{x\\}
    """
    return _LATEX_SPECIAL.sub(lambda found: _LATEX[found.group()], printable(text))


# -------------------------------------------------------------------------------------------------- numbers
def number(value: Any) -> str:
    """A number as a picture shows it: 4 significant digits, whole numbers plain.

    >>> number(7.0), number(0.123456), number(-1e-7), number(1234567.0), number(True), number(2 + 1j)
    ('7', '0.1235', '-1e-7', '1234567', 'True', '2+1j')
    """
    if not isinstance(value, (float, np.floating)):
        if isinstance(value, (bool, np.bool_)):
            return str(bool(value))
        if isinstance(value, (int, np.integer)):
            return str(int(value))
        if isinstance(value, (complex, np.complexfloating)):
            imag = number(value.imag)
            return f"{number(value.real)}{'' if imag[0] == '-' else '+'}{imag}j"
    return _written(float(value))


@lru_cache(4096)
def _written(value: float) -> str:
    """A value turns up in several places of a picture: in its box, beside lines, among the terms of a sum."""
    if value.is_integer() and abs(value) < 1e8:
        return f"{value + 0.0:.0f}"  # + 0.0 makes -0.0 a plain 0
    return _tidy(f"{value:.4g}")


def _tidy(text: str) -> str:
    """1.235e+04 as 1.235e4."""
    if "e" not in text:
        return text
    digits, power = text.split("e")
    return f"{digits}e{int(power)}"


def shape_text(shape: Any) -> str:
    """A shape as PyTorch writes a size, without the class name.

    >>> shape_text((64, 10)), shape_text(())
    ('[64, 10]', '[]')
    """
    return str([int(n) for n in shape])


def array_text(value: Any, *, room: int = 26, rows: int = 4) -> str:
    """An array's contents in at most `rows` lines of `room` characters, or a summary where they don't fit.

    `value`: a number or a NumPy array of any shape and dtype.

    >>> array_text(np.float32(6)), array_text(np.array([1.0, 2.5]))
    ('6', '[1, 2.5]')
    >>> print(array_text(np.array([[1.0, -2.0], [30.0, 4.0]])))
    [[ 1, -2],
     [30,  4]]
    >>> array_text(np.arange(100.0).reshape(10, 10))
    'min 0, max 99'
    """
    if not isinstance(value, np.ndarray):
        return number(value)
    if not value.ndim:
        return number(value[()])
    if not value.size:
        return "[]" if value.ndim == 1 else "no elements"
    if value.ndim == 1:
        return _vector_text(value, room)
    if value.ndim == 2 and len(value) <= rows and value.size <= 64:
        text = _matrix_text(value)
        if max(map(len, text.split("\n"))) <= room:
            return text
    return _summary(value)


def _vector_text(value: np.ndarray, room: int) -> str:
    """[1, 2, 3], or its beginning."""
    cells = [number(x) for x in value[:room].tolist()]
    text = f"[{', '.join(cells)}]"
    if len(cells) == len(value) and len(text) <= room:
        return text
    while len(cells) > 1 and len(", ".join(cells)) + 5 > room:
        cells.pop()
    return f"[{', '.join(cells)}, …]"


def _matrix_text(value: np.ndarray) -> str:
    """Rows under each other, columns aligned to the right."""
    cells = [[number(x) for x in row] for row in value.tolist()]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [", ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "[[" + "],\n [".join(lines) + "]]"


def _summary(value: np.ndarray) -> str:
    """Smallest and largest element; nan and the truths of a mask are counted."""
    if value.dtype == bool:
        return f"{int(value.sum())} of {value.size} True"
    if value.dtype.kind == "c":
        return f"largest |z| {number(np.abs(value).max())}"
    bad = int(np.isnan(value).sum()) if value.dtype.kind == "f" else 0
    if bad == value.size:
        return "all nan"
    good = value[~np.isnan(value)] if bad else value
    text = f"min {number(good.min())}, max {number(good.max())}"
    return f"{text}, {bad} nan" if bad else text


# ---------------------------------------------------------------------------------------------- HTML pieces
# MathJax runs over HTML outputs in a notebook; these classes keep it from reading a user's $…$ as a formula.
_NO_MATH = "mathjax_ignore tex2jax_ignore"
_SIZE = re.compile(r"<svg[^>]*? width=['\"]([\d.]+)['\"] height=['\"]([\d.]+)['\"]")


def card_html(inner: str, *, padding: str = "8px 14px 10px") -> str:
    """`inner` (HTML, already escaped) on a light card, legible on a dark theme's ground."""
    return (
        f"<div class='{_NO_MATH}' style='display:inline-block;box-sizing:border-box;max-width:100%;overflow:auto;"
        f"background:{CARD};color:{INK};padding:{padding};border-radius:8px;font-family:{SANS};font-size:13px'>"
        f"{inner}</div>"
    )


def img_html(svg: str, alt: str, below: str = "") -> str:
    """A picture that also shows in an untrusted notebook: an `<img>` with the SVG in it, on a light card.

    Front ends strip inline SVG from notebooks they don't trust, but keep an `<img>` with data in its address.
    In a narrow window a picture shrinks to 70 % of its size and scrolls from there on. below: HTML that goes under it.
    """
    data = base64.b64encode(svg.encode()).decode()
    width, height = (round(float(n)) for n in _SIZE.findall(svg)[0])
    image = (
        f"<img src='data:image/svg+xml;base64,{data}' alt='{escape_xml(alt)}' width='{width}' height='{height}' "
        f"style='max-width:100%;min-width:{round(0.7 * width)}px;height:auto;background:{CARD}'>"
    )
    return card_html(image + below, padding="4px")
