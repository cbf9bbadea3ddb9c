"""Names that no one should choose, in every view and every way to write it: text stays text, and answers stay small."""

import json
import warnings
from pathlib import Path

import pytest
import test_views_injection as injection
from markup import (
    dot_is_plain,
    html_is_plain,
    latex_is_plain,
    latex_source_is_plain,
    strings,
    svg_is_plain,
    text_is_plain,
)

MEGABYTE = 1_000_000  # what all forms of an answer may take together in a notebook's file
# Ends of lines and tabs, quotes, both directions of writing and the marks that turn them, letters with heaps of
# accents, what Graphviz and LaTeX read as commands, and an end of everything that a label could stand in.
ODD = (
    'a\nb\r\nc\td\x0b\x0ce \u2028\u2029 "\'`\\" \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627 \u202b\u2067x\u200f\u200e '
    'z\u0301\u0327\u0489\u0336 \U0001f9ee\U0001f468\u200d\U0001f469 {a|b} \\{ <b> \\l\\G\\E -> n1 [URL="javascript:x"]; }'
    " \\end{document} \\input{x} $$ \\( \\] %a\n#b & ~ ^ _ <!-- ]]> </svg></pre></details> \x00\x1b]8;;x\x07"
)
LONG = (ODD + "W" * 60 + "\u5909\u6570") * 60  # more than ten thousand characters


@pytest.mark.parametrize("label", [ODD, LONG], ids=["odd", "long"])
@pytest.mark.parametrize("name", injection.CASES)
def test_a_hostile_name_is_text_and_bounded(
    name: str, label: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert len(LONG) > 10_000
    monkeypatch.setattr(injection, "EVIL", label)
    monkeypatch.setattr(injection, "OTHER", label.replace("\x00", ""))  # a class can't be called so
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a detached tensor's .grad, read by a view
        result = injection.CASES[name]()
    bundle, metadata = result._repr_mimebundle_()
    assert len(json.dumps([bundle, metadata])) <= MEGABYTE

    text_is_plain(bundle["text/plain"])
    html_is_plain(bundle["text/html"])
    if "image/svg+xml" in bundle:
        svg_is_plain(bundle["image/svg+xml"])
    for told in metadata.values():
        assert "\n" not in text_is_plain(told["alt"])
        assert len(told["alt"]) <= 10_000
    if hasattr(result, "to_graphviz"):
        dot_is_plain(result.to_graphviz().source)
    if result.latex:
        latex_source_is_plain(result.latex)
    for text in strings(result.model):
        latex_is_plain(text)
    for suffix in (".txt", ".html", *([".svg"] if result.svg else []), *([".tex"] if result.latex else [])):
        path = result.save(tmp_path / f"view{suffix}")
        assert path.stat().st_size <= MEGABYTE
        text_is_plain(path.read_text(encoding="utf-8"))
