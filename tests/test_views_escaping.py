"""Nothing that a user names can break out of a picture: SVG, HTML, text, DOT, LaTeX."""

import re
import xml.etree.ElementTree as ET

from autodiff_kernel.views import dot
from autodiff_kernel.views.dot import graph_dot
from autodiff_kernel.views.html import graph_html
from autodiff_kernel.views.model import GraphEdge, GraphNode, GraphView
from autodiff_kernel.views.result import Result
from autodiff_kernel.views.style import escape_latex, img_html
from autodiff_kernel.views.svg import graph_svg
from autodiff_kernel.views.text import graph_text

EVIL = "<script>alert(1)</script>\"'&\\ ]]> ${x} \x1b[31m \u202e"


def evil_view():
    return GraphView(
        (
            GraphNode(
                0,
                "leaf",
                EVIL,
                dtype=EVIL,
                device=EVIL,
                value=EVIL,
                grad=EVIL,
                grad_state="here",
                stored=EVIL,
            ),
            GraphNode(
                1, "group", EVIL, op=EVIL, line=EVIL, value=f"{EVIL}\n{EVIL}", count=3, members=(EVIL,)
            ),
            GraphNode(2, "output", EVIL, op=EVIL, symbol=EVIL, backward_name=EVIL, line=EVIL, mark="error"),
        ),
        (GraphEdge(0, 1, EVIL), GraphEdge(1, 2, EVIL)),
        title=EVIL,
        wrt="y",
        caption=EVIL,
        left_out=EVIL,
        notes=(EVIL,),
        alt=EVIL,
    )


def test_svg_stays_well_formed_and_holds_no_foreign_element():
    root = ET.fromstring(graph_svg(evil_view()))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "rect", "path", "circle", "text"}
    assert all(not name.startswith("on") for element in root.iter() for name in element.attrib)
    assert root[0].text.startswith("<script>alert(1)</script>")


def test_html_holds_the_label_as_text_only():
    html = Result(evil_view(), text=graph_text, html=graph_html, alt=EVIL)
    assert "<script" not in html.html and "\x1b" not in html.html
    assert "&lt;script&gt;" in html.html
    assert set(re.findall(r"<(\w+)", html.html)) == {"div", "img", "details", "summary", "pre"}


def test_text_holds_no_control_character():
    text = graph_text(evil_view())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert "<script>alert(1)</script>" in text


def test_dot_keeps_labels_inside_their_strings():
    source = graph_dot(evil_view())
    assert "<script>alert(1)</script></font>" not in source  # in HTML-like labels it is escaped
    assert "\x1b" not in source
    if dot.program() is not None:
        svg = dot.render_svg(evil_view())
        assert "<script" not in svg
        ET.fromstring(svg)


def test_latex_has_no_command_left():
    text = escape_latex(r"\href{javascript:alert(1)}{x} $a_b$ ^~#%&")
    assert not re.search(r"(?<!\\)[$&#%_{}](?<!\{\})", re.sub(r"\\text\w+\{\}", "", text))
    assert "\\href" not in text


def test_mathjax_leaves_a_users_dollars_alone():
    assert "class='mathjax_ignore tex2jax_ignore'" in img_html(graph_svg(evil_view()), "$x$")
