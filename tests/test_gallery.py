"""The gallery: every magic with its options on one page, the same bytes everywhere, and readable by everybody.

That each cell gives its stored output is nbval's part, as for the lessons.
"""

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from galleries import bundles, code_cells, gallery, run, said, shown
from markup import html_is_plain, svg_is_plain, text_is_plain

from autodiff_kernel.jupyter.magics import GROUPS, LISTING
from autodiff_kernel.views import charts, scene, style

BOOK = gallery()
VIEWS = list(bundles(BOOK))
every_view = pytest.mark.parametrize(
    ("data", "metadata"), [v[1:] for v in VIEWS], ids=[f"{i}-{v[0]}" for i, v in enumerate(VIEWS)]
)
# Addresses, paths of files and folders, times of the day, dates, process numbers, colours of a terminal.
FOREIGN = re.compile(
    r"0x[0-9a-f]{6,}|(?<![\w.<])/[a-z]\w+/\w|[A-Z]:\\|\d\d:\d\d|20\d\d-\d\d|\bpid\b|\x1b|ipykernel"
)


def magics() -> Iterator[tuple[str, Any]]:
    """Each magic as it is typed, with its parser."""
    for group in GROUPS:
        for kind, names in group.magics.items():
            for name, method in names.items():
                yield ("%" if kind == "line" else "%%") + name, getattr(group, method).parser


@pytest.mark.parametrize(("magic", "parser"), list(magics()), ids=[name for name, _ in magics()])
def test_every_magic_and_each_of_its_options_is_there(magic: str, parser: Any) -> None:
    text = said(BOOK)
    assert re.search(rf"(?<!%){magic}\b", text), magic
    for action in parser._actions:
        names = action.option_strings
        assert not names or any(re.search(rf"(?<!\S){name}\b", text) for name in names), (magic, names)


def test_what_the_list_of_magics_shows_as_an_example_is_there() -> None:
    text = said(BOOK)
    for example, _ in LISTING:
        assert re.search(rf"(?<!%){example.split()[0]}\b", text), example


def test_every_cell_shows_something_unless_it_switches_something() -> None:
    silent = [cell.id for cell in code_cells(BOOK) if not cell.outputs]
    assert silent == ["setup", "watch-on", "watch-off", "place-off"]


def test_errors_come_only_where_the_cell_says_so() -> None:
    for cell in code_cells(BOOK):
        failed = any(output.output_type == "error" for output in cell.outputs)
        assert failed == ("raises-exception" in cell.metadata.get("tags", [])), cell.id
        assert not any(output.get("name") == "stderr" for output in cell.outputs), cell.id


def test_no_output_holds_what_only_one_machine_has() -> None:
    for cell, outputs in shown(BOOK).items():
        for output in outputs:
            texts = [output.get("text", ""), output.get("evalue", ""), *output.get("data", {}).values()]
            for text in texts:
                text = re.sub(r"base64,[\w+/=]+|http://www\.w3\.org/2000/svg", "", text)
                assert not FOREIGN.search(re.sub(r"</?\w+", "", text)), (cell, FOREIGN.search(text))


@every_view
def test_every_view_is_told_in_words_too(data: dict[str, str], metadata: dict[str, Any]) -> None:
    """Text for a terminal; one line for those who don't see it, at the output and at every picture in it."""
    text_is_plain(data["text/plain"])
    html_is_plain(data["text/html"])
    assert metadata["text/html"]["alt"].strip()
    images = re.findall(r"<img [^>]*>", data["text/html"])
    assert all(re.search(r"alt='[^']{10,}'", image) for image in images)
    assert images or "image/svg+xml" not in data
    if "image/svg+xml" in data:
        head = data["image/svg+xml"][:20_000]
        svg_is_plain(data["image/svg+xml"])
        assert re.match(r"<svg [^>]*role='img' aria-label='[^']{10,}'", head)
        assert re.search(r"<title>[^<]+</title><desc>[^<]{10,}</desc>", head)


@every_view
def test_controls_are_those_that_a_keyboard_reaches(data: dict[str, str], metadata: dict[str, Any]) -> None:
    """<details> with a <summary> first, and nothing that needs a mouse to hover or to click."""
    html = data["text/html"]
    assert len(re.findall(r"<details[ >]", html)) == len(re.findall(r"<details[^>]*><summary[ >]", html))
    assert not re.search(r"tabindex|\btitle=|\bon\w+=|:hover|<a |<button|<input", html)


@every_view
def test_heads_of_tables_say_what_they_head(data: dict[str, str], metadata: dict[str, Any]) -> None:
    for head in re.findall(r"<th [^>]*>", data["text/html"]):
        assert re.search(r"scope='(col|row)'", head)


def test_what_differs_by_colour_differs_by_something_else() -> None:
    """Boxes by outline, thickness, dashes or a word on their edge; curves by dashes; a grey print keeps that."""
    other = {"leaf": "two corners cut", "saved": "one corner cut", "group": "a stack", "error": "a badge"}
    looks = {
        kind: (look.width, look.dash, other.get(kind, "plain"))
        for kind, look in scene.LOOKS.items()
        if kind != "free"  # dashed like data: outside the graph both
    }
    for (one, a), (two, b) in combinations(looks.items(), 2):
        assert a != b, (one, two)
    dashes = [dash for _, dash in charts.LOOKS]
    assert len(set(dashes)) == len(dashes)


def luminance(colour: str) -> float:
    """As WCAG 2.1 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


GROUNDS = (style.CARD, style.GATE, style.LEAF_FILL, style.OUTPUT_FILL, style.ERROR_FILL)


@pytest.mark.parametrize("name", ["INK", "GREY", "LEAF", "OUTPUT", "GRADIENT", "ERROR"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_colour_of_a_text_can_be_read_on_every_ground(name: str, ground: str) -> None:
    """Views bring their own light card, so that one palette serves light and dark themes."""
    dark, bright = sorted((luminance(getattr(style, name)), luminance(ground)))
    assert (bright + 0.05) / (dark + 0.05) >= 4.5


def test_an_answer_is_small() -> None:
    for cell in code_cells(BOOK):
        size = sum(len(str(text)) for output in cell.outputs for text in output.get("data", {}).values())
        assert size < 200_000, (cell.id, size)


@pytest.mark.parametrize(("kernel", "seed"), [("autodiff", "1"), ("python3", "2")])
def test_every_view_has_the_same_bytes_in_another_process_kernel_and_order_of_hashes(
    kernel: str, seed: str
) -> None:
    again = shown(run(kernel, PYTHONHASHSEED=seed))
    for cell, outputs in shown(BOOK).items():
        assert again[cell] == outputs, cell
