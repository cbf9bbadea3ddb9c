"""What a rendered view may hold: each check raises AssertionError for anything that a label has broken out into."""

import base64
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

from autodiff_kernel.views.style import escape_latex

_TAGS = {
    *("div", "img", "details", "summary", "pre", "code", "span", "b", "i", "br", "ol", "ul", "li"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"style", "class", "src", "alt", "width", "height", "scope", "colspan", "open"}
_PICTURE = "data:image/svg+xml;base64,"
_SVG_TAGS = {"svg", "title", "desc", "rect", "path", "circle", "text", "g", "polygon", "polyline", "ellipse"}
_DOT_TAGS = {"table", "tr", "td", "b", "i", "font", "br"}
# a quoted string, an HTML-like label (its tags are balanced), a plain word, or punctuation
_DOT_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.]+|->|[{}\[\]=;,]|<', re.S)


def text_is_plain(text: str) -> str:
    """No control character but ends of lines, nothing that turns the direction of writing."""
    found = re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    assert not found, f"{found} in {text!r}"
    return text


class _Reader(HTMLParser):
    """Collects the text of a page; notes what should not be there."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.told: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, f"<{tag}>"
        if tag not in ("img", "br"):
            self.open.append(tag)
        for name, value in attrs:
            assert name in _ATTRIBUTES, f"{name}={value!r} in <{tag}>"
            if name == "src":
                assert value is not None and value.startswith(_PICTURE)
                self.told.append(svg_is_plain(base64.b64decode(value.removeprefix(_PICTURE)).decode()))
            elif name == "alt":
                self.told.append(text_is_plain(value or ""))
            else:
                assert not re.search(r"[<>`$\\]|script|url|expression", value or ""), f"{name}={value!r}"

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}>"

    def handle_data(self, data: str) -> None:
        self.told.append(text_is_plain(data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    handle_decl = handle_pi = unknown_decl = handle_comment


def html_is_plain(html: str) -> str:
    """Only known tags, balanced; no script, no address but that of a picture inside. Returns what a reader sees."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return "\n".join(reader.told)


def svg_is_plain(svg: str) -> str:
    """Well-formed, only shapes and texts, no address. Returns the texts."""
    assert "<!" not in svg and "<?" not in svg
    root = ET.fromstring(svg)
    for element in root.iter():
        assert element.tag.rpartition("}")[2] in _SVG_TAGS, element.tag
        for name in element.attrib:
            assert not re.search(r"^on|href|^style$|^id$", name), name
    return text_is_plain("\n".join(element.text or "" for element in root.iter()))


def dot_is_plain(source: str) -> str:
    """Nothing but strings, words and signs; HTML-like labels hold known tags only. Returns the labels' texts."""
    told, at = [], 0
    while at < len(source):
        if source[at].isspace():
            at += 1
            continue
        token = _DOT_TOKEN.match(source, at)
        assert token, source[at : at + 80]
        at = token.end()
        if token.group() == "<":
            end = _end_of_label(source, at)
            root = ET.fromstring(f"<label>{source[at:end]}</label>")
            for element in root.iter():
                assert element.tag in _DOT_TAGS | {"label"}, element.tag
                assert not {"href", "url", "src"} & {name.lower() for name in element.attrib}
            told.append("\n".join(root.itertext()))
            at = end + 1
        elif token.group()[0] == '"':
            told.append(token.group()[1:-1])
        else:
            assert token.group().lower() not in ("url", "href", "image", "script"), token.group()
    return text_is_plain("\n".join(told))


def _end_of_label(source: str, at: int) -> int:
    depth = 1
    while depth:
        depth += {"<": 1, ">": -1}.get(source[at], 0)
        at += 1
    return at - 1


def latex_is_plain(text: str) -> None:
    """As text of a LaTeX document it starts no command, no formula, no group."""
    left = re.sub(r"\\text[a-z]+\{\}|\\[{}$&#%_]", "", escape_latex(text))
    assert not re.search(r"[\\{}$&#%_^~<>]", left), left


_COMMANDS = set(
    "text bar dot displaystyle begin end hline phantom cdot sum sqrt pi tfrac sigma partial le ge ldots textbackslash "
    "textasciicircum textasciitilde textless textgreater log exp sin cos tan sinh cosh tanh max min".split()
)


def latex_source_is_plain(source: str) -> None:
    """Only the commands of a table of formulas, its groups closed, one formula, as many cells in each line."""
    text_is_plain(source)
    assert set(re.findall(r"\\([A-Za-z]+)", source)) <= _COMMANDS, source
    assert set(re.findall(r"\\(?:begin|end)\{(\w+)\}", source)) == {"array"}
    bare = re.sub(r"\\.", "", source, flags=re.S)  # without commands and escaped signs
    depth = 0
    for char in bare:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0, source
    assert depth == 0 and bare.count("$") == 2 and not set("%#~") & set(bare), source
    assert not re.search("<[A-Za-z/!?]", source), source  # a page that shows it as it is would see a tag
    assert len({line.count("&") for line in bare.split("\n") if "&" in line}) == 1, source


def strings(model: Any) -> list[str]:
    """All strings of a view model."""
    if isinstance(model, str):
        return [model]
    if isinstance(model, dict):
        return [s for value in model.values() for s in strings(value)]
    if isinstance(model, (list, tuple)):
        return [s for value in model for s in strings(value)]
    return strings(vars(model)) if hasattr(model, "__dict__") else []
