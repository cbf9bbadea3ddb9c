"""The error view as data, text and HTML."""

import linecache
import re
import xml.etree.ElementTree as ElementTree

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import modes
from autodiff_kernel.core.errors import explain
from autodiff_kernel.views.error import error


def raised(
    code: str, filename: str = "<ipython-input-1>", **names: object
) -> tuple[BaseException, dict[str, object]]:
    """Run code as a cell and give back its exception and its variables."""
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
    space = {"torch": torch, **names}
    with modes.recording(True), pytest.raises(Exception) as caught:
        exec(compile(code, filename, "exec"), space)
    return caught.value, space


CHANGED = """\
w = torch.tensor([1., 2.], requires_grad=True)
h = w.exp()
s = h.sum()
h.add_(1)
s.backward()
"""


def test_it_names_the_lines_that_saved_and_changed() -> None:
    problem, space = raised(CHANGED)
    view = error(problem, namespace=space).model
    assert view.kind == "RuntimeError"
    assert view.phrase.startswith(
        "one of the variables needed for gradient computation has been modified by an inplace"
    )
    [(where, lines)] = view.excerpts
    assert where == ""
    assert [(line.number, line.note) for line in lines] == [
        (1, ""),
        (2, "saved by w.exp()"),
        (3, ""),
        (4, "changed"),
        (5, "backward needed it"),
    ]
    assert [line.text for line in lines] == CHANGED.splitlines()


def test_the_graph_is_that_of_the_failed_call_with_the_node_marked() -> None:
    problem, space = raised(CHANGED)
    text = error(problem, namespace=space).text
    assert text.startswith("Graph of s\n")
    [marked] = [line for line in text.splitlines() if "error here" in line]
    assert "exp(w)" in marked


def test_a_line_in_a_file_is_told_with_its_base_name() -> None:
    problem, space = raised(CHANGED, filename="/somewhere/else/train.py")
    view = error(problem, namespace=space)
    assert view.model.excerpts[0][0] == "train.py"
    assert "in train.py:" in view.text
    assert "/somewhere" not in view.text + view.html


def test_lines_far_apart_are_two_excerpts() -> None:
    problem, space = raised(CHANGED.replace("s = h.sum()\n", "s = h.sum()\n" + "pass\n" * 20))
    assert [len(lines) for _, lines in error(problem, namespace=space).model.excerpts] == [3, 3]


def test_an_error_about_no_graph_has_none() -> None:
    problem, space = raised("torch.ones(2, 3) + torch.ones(4)")
    view = error(problem, namespace=space)
    assert view.model.graph is None
    assert "[2, 3] and `torch.ones(4)` [4] do not fit" in view.text
    assert "<img" not in view.html


def test_the_html_is_well_formed_and_everything_in_it_is_escaped() -> None:
    bad = "<script>alert(1)</script>"
    problem = explain(RuntimeError, bad, bad + "'\"&", bad)
    html = error(problem).html
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 3
    ElementTree.fromstring(f"<r>{html}</r>")


def test_a_cells_source_is_escaped_too() -> None:
    problem, space = raised(CHANGED.replace("h.add_(1)", "h.add_(1)  # <img src=x onerror=alert(1)>"))
    html = error(problem, namespace=space).html
    assert "<img src=x" not in html
    assert "&lt;img src=x" in html


def test_source_brings_its_own_colour_whatever_the_theme() -> None:
    problem, space = raised(CHANGED)
    styles = re.findall(r"<pre style='([^']*)'", error(problem, namespace=space).html)
    assert styles and all(re.search(r"(?:^|;)color:#", style) for style in styles)


def test_it_has_no_script_no_style_element_and_no_network() -> None:
    problem, space = raised(CHANGED)
    html = error(problem, namespace=space).html
    assert not re.search(r"<(script|style|link|svg)\b|https?://(?!www\.w3\.org)", html)


def test_an_exception_of_others_has_no_view() -> None:
    with pytest.raises(TypeError, match="this ValueError is not one"):
        error(ValueError("plain"))


@pytest.mark.parametrize(
    "ending", ["x.item()", "x.sin().item()", "x.tolist()", "x if x > 0 else -x", "x.nonzero()"]
)
def test_an_error_inside_vmap_is_drawn_with_the_values_of_all_samples(ending: str) -> None:
    problem, space = raised(f"torch.vmap(lambda x: {ending})(torch.tensor([0.5, 2.0, 4.0]))")
    view = error(problem, namespace=space)
    assert "vmap" in view.model.phrase or "storage" in view.model.phrase
    if ending == "x.item()":
        assert "[0.5, 2, 4]" in view.text
