"""views.graph: what the model says, what each renderer writes, and that nothing a user names can break out."""

import base64
import gc
import json
import re
import subprocess
import sys
import weakref
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import late, modes
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.views import dot
from autodiff_kernel.views.collapse import collapse
from autodiff_kernel.views.dot import graph_dot
from autodiff_kernel.views.graph import graph
from autodiff_kernel.views.model import GraphEdge, GraphNode, GraphView
from autodiff_kernel.views.partials import Operand, Partials
from autodiff_kernel.views.style import array_text, escape_xml, number, printable
from autodiff_kernel.views.svg import graph_svg
from autodiff_kernel.views.text import graph_text

EVIL = "<script>alert(1)</script>\"'&\\ ]]> ${x} \x1b[31m \u202e"


@pytest.fixture(autouse=True)
def _recording():
    with modes.recording():
        yield


def seed(a=2.0, b=3.0):
    x1 = torch.tensor(a, requires_grad=True)
    x2 = torch.tensor(b, requires_grad=True)
    y = x1 * x2 + x1**2
    return {"x1": x1, "x2": x2, "y": y}


def by_name(view):
    return {node.name: node for node in view.nodes}


def labels(view):
    return {(view.nodes[e.source].title, view.nodes[e.target].title): e.label for e in view.edges}


# ------------------------------------------------------------------------------------------ the model
def test_before_backward_values_stand_and_gradients_do_not_yet():
    names = seed()
    view = graph(names["y"], namespace=names, numbers=True).model
    assert [(n.role, n.name, n.symbol, n.value, n.grad_text) for n in view.nodes] == [
        ("leaf", "x1", "", "2", "not yet"),
        ("leaf", "x2", "", "3", "not yet"),
        ("op", "w3", "×", "6", "not yet"),
        ("op", "w4", "x²", "4", "not yet"),
        ("output", "y", "+", "10", "not yet"),
    ]
    assert set(labels(view).values()) == {""}
    assert view.alt == "2 leaves, 3 operations. y is 10; no gradient yet."


@pytest.mark.parametrize(
    ("point", "value", "first", "second", "local"),
    [
        ((2.0, 3.0), "10", "3 + 4 = 7", "2", ("3", "2", "4")),
        ((3.0, 5.0), "24", "5 + 6 = 11", "3", ("5", "3", "6")),
    ],
)
def test_after_backward_sums_and_local_derivatives_are_written_out(point, value, first, second, local):
    names = seed(*point)
    names["y"].backward()  # frees the graph: the picture lives on what was recorded
    view = graph(names["y"], namespace=names, numbers=True).model
    nodes = by_name(view)
    assert nodes["y"].value == value
    assert (nodes["x1"].grad_text, nodes["x2"].grad_text) == (first, second)
    assert labels(view) == {
        ("x1", "w3"): f"· x2 = {local[0]}",
        ("x2", "w3"): f"· x1 = {local[1]}",
        ("x1", "w4"): f"· 2·x1 = {local[2]}",
        ("w3", "y"): "· 1",
        ("w4", "y"): "· 1",
    }
    assert view.wrt == "y"


def test_backward_sense_writes_the_chain_rule_on_each_line():
    x = torch.tensor(3.0, requires_grad=True)
    h = x * x
    y = h * 5
    y.backward()
    view = graph(y, namespace={"x": x, "h": h, "y": y}, sense="backward").model
    assert [e.label for e in view.edges] == ["5 · x = 15", "5 · x = 15", "1 · 5 = 5"]
    assert [n.backward_name for n in view.nodes] == ["AccumulateGrad", "MulBackward0", "MulBackward0"]
    assert by_name(view)["x"].grad_text == "15 + 15 = 30"


def test_values_without_a_variable_are_called_by_their_operation():
    names = seed()
    view = graph(names["y"], namespace=names).model
    assert [n.title for n in view.nodes] == ["x1", "x2", "mul", "pow", "y"]


def test_accumulated_gradients_are_told_apart_from_the_last_one():
    x = torch.tensor(3.0, requires_grad=True)
    for _ in range(2):
        y = x * 4
        y.backward()
    node = by_name(graph(y, namespace={"x": x, "y": y}).model)["x"]
    assert (node.grad_text, node.stored) == ("4", "8")
    x.grad = None
    assert by_name(graph(y, namespace={"x": x, "y": y}).model)["x"].stored == "None"


def test_a_second_backward_through_one_graph_shows_only_its_own_terms():
    names = seed()
    names["y"].backward(retain_graph=True)
    names["y"].backward()
    node = by_name(graph(names["y"], namespace=names).model)["x1"]
    assert (node.grad_text, node.stored) == ("3 + 4 = 7", "14")


def test_a_gradient_from_elsewhere_is_not_called_that_of_the_output():
    names = seed()
    z = names["y"] * 2
    z.backward()
    view = graph(names["y"], namespace=names).model
    assert view.wrt == ""
    assert "did not start" in view.notes[0]
    assert graph(z, namespace=names | {"z": z}).model.wrt == "z"


def test_what_was_not_recorded_is_said_and_not_guessed():
    with modes.recording(False):
        names = seed()
    inner = graph(names["y"], namespace={"x1": names["x1"]}).model.nodes[2]
    assert (inner.value, inner.grad_text) == (None, "not recorded")
    names["y"].backward()
    view = graph(names["y"], namespace=names).model
    assert view.nodes[2].grad_text == "not recorded"
    assert by_name(view)["x1"].grad_text == "7"  # the leaf itself is still here
    assert by_name(view)["y"].value == "10"
    assert "not recorded" in graph_text(view) and "not recorded" in graph_svg(view)


def test_a_leaf_alone_is_one_box():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    view = graph(x, namespace={"x": x}).model
    assert [(n.role, n.name, n.value, n.grad_text) for n in view.nodes] == [
        ("leaf", "x", "[1, 2]", "not yet")
    ]


def test_numbers_are_written_into_the_sign_and_tensors_get_a_box():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0])
    y = (2 - x * 3) + c
    view = graph(y, namespace={"x": x, "y": y, "c": c}).model
    assert [n.symbol for n in view.nodes if n.symbol] == ["× 3", "2 −", "+"]
    assert [(n.role, n.value) for n in view.nodes if n.name == "c"] == [("data", "[3, 4]")]
    text = graph_text(view)
    assert "#2 = x × 3" in text and "#3 = 2 − #2" in text and "y = #3 + c" in text


def test_shapes_types_and_large_values():
    w = torch.ones(10, 20, requires_grad=True)
    y = (w * 2).sum()
    y.backward()
    nodes = graph(y, namespace={"w": w, "y": y}).model.nodes
    assert [n.shape for n in nodes] == [(10, 20), (10, 20), ()]
    assert nodes[0].value == "min 1, max 1"
    assert nodes[1].value == ""  # too large to be kept, and nobody holds it any more
    assert nodes[1].grad_text == "passed, not kept"
    assert nodes[0].grad_text == "min 2, max 2"


def test_names_come_from_containers_modules_and_not_from_underscores():
    class Net:
        def __init__(self, w):
            self.w = w

        def named_parameters(self):
            yield "0.weight", self.w

    a, b, w = (torch.tensor(v, requires_grad=True) for v in (1.0, 2.0, 3.0))
    y = a * b * w
    space = {"_1": y, "params": [a], "d": {"b": b}, "net": Net(w), "out": y, "Tensor": torch.Tensor}
    assert [n.name for n in graph(y, namespace=space).model.nodes] == [
        "params[0]",
        "d['b']",
        "",
        "net.0.weight",
        "out",
    ]


def test_the_callers_variables_are_used_where_no_namespace_is_given():
    speed = torch.tensor(2.0, requires_grad=True)
    energy = speed * speed
    assert [n.name for n in graph(energy).model.nodes] == ["speed", "energy"]


def test_recording_keeps_no_graph_alive():
    names = seed()
    names["y"].backward()
    node = weakref.ref(names.pop("y").grad_fn)
    gc.disable()
    try:
        assert node() is None
    finally:
        gc.enable()
    assert by_name(graph(names["x1"], namespace=names).model)["x1"].grad == "7"


def test_several_outputs_and_nodes_can_be_drawn():
    x = torch.tensor(2.0, requires_grad=True)
    u, v = x * 3, x * 4
    view = graph([u, v], namespace={"x": x, "u": u, "v": v}).model
    assert [n.role for n in view.nodes] == ["leaf", "output", "output"]
    assert graph(u.grad_fn, namespace={"x": x}).model.nodes[1].symbol == "× 3"


def test_lines_of_a_file_carry_its_base_name_once():
    names = seed()
    view = graph(names["y"], namespace=names).model
    assert "test_views_graph.py" in view.caption and "/" not in view.caption
    assert re.fullmatch(r"line \d+", view.nodes[2].line)


def test_the_model_is_plain_data():
    names = seed()
    names["y"].backward()
    view = graph(names["y"], namespace=names).model
    assert json.loads(json.dumps(view.to_dict()))["nodes"][0]["terms"] == ["3", "4"]


def test_drawing_a_simulated_gpu_counts_as_no_copy():
    from autodiff_kernel.core import device

    device.simulate(1)
    try:
        x = torch.tensor([1.0, 2.0], device="cuda:0", requires_grad=True)
        y = x * x
        y.backward(torch.tensor([1.0, 1.0], device="cuda:0"))
        before = device.transfer_count()
        view = graph(y, namespace={"x": x, "y": y}).model
        assert device.transfer_count() == before
        assert view.nodes[0].device == "cuda:0 (simulated)"
        assert (view.nodes[0].value, view.nodes[0].grad) == ("[1, 2]", "[2, 4]")
    finally:
        device.simulate(0)


# ------------------------------------------------------------------------------------------ errors
def test_a_tensor_without_a_graph_says_why():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="x has no graph") as error:
        graph(x, namespace={"x": x})
    assert "does not require grad" in str(error.value) and "requires_grad=True" in str(error.value)
    with pytest.raises(RuntimeError, match="holds int64"):
        graph(torch.tensor(1), namespace={})
    with pytest.raises(TypeError, match="got int"):
        graph(3)
    with pytest.raises(ValueError, match="empty list"):
        graph([])
    with pytest.raises(ValueError, match="'forward' or 'backward'"):
        graph(torch.ones(2, requires_grad=True), sense="sideways")


def test_a_suffix_that_is_no_format_is_refused(tmp_path):
    names = seed()
    with pytest.raises(ValueError, match=r"\.svg"):
        graph(names["y"]).save(tmp_path / "y.gif")


# ------------------------------------------------------------------------------------------ large graphs
def chain(n):
    x = torch.tensor(0.5, requires_grad=True)
    w = torch.tensor(1.5, requires_grad=True)
    h = x
    for _ in range(n // 3):
        h = (h * w + x).tanh()
    return {"x": x, "w": w, "h": h}


def test_up_to_the_limit_every_node_is_drawn():
    names = chain(147)
    view = graph(names["h"], namespace=names).model
    assert len(view.nodes) == 149 and not view.left_out


def test_beyond_it_steps_that_repeat_become_one_group():
    names = chain(600)
    view = graph(names["h"], namespace=names).model
    assert len(view.nodes) <= 150
    group = next(n for n in view.nodes if n.role == "group")
    assert (group.count, group.members) == (199, ("mul", "add", "tanh"))
    assert "×n" in view.left_out and "limit=602" in view.left_out
    assert by_name(view)["x"].role == "leaf" and by_name(view)["h"].role == "output"
    assert "×199" in graph_svg(view) and "×199" in graph_text(view)
    assert len(graph(names["h"], namespace=names, limit=1000).model.nodes) == 602


def test_a_graph_without_repetition_is_cut_into_stretches():
    x = torch.tensor([0.5], requires_grad=True)
    h = x
    for i in range(400):
        h = h * 2 if (i * i) % 7 % 2 else h.tanh() if i % 5 else h + x
    view = graph(h, namespace={"x": x, "h": h}, limit=12).model
    assert len(view.nodes) <= 12
    assert all(edge.source < edge.target for edge in view.edges)


def test_modules_come_before_repetition():
    scopes = [("net", "0"), ("net", "0"), ("net", "1"), ("net", "1"), ()]
    nodes = tuple(GraphNode(i + 1, op="mul", symbol="×", scope=s, value="1") for i, s in enumerate(scopes))
    view = GraphView(
        (GraphNode(0, "leaf", "x"), *nodes[:-1], replace(nodes[-1], role="output")),
        tuple(GraphEdge(i, i + 1) for i in range(5)),
    )
    assert [n.name for n in collapse(view, 4).nodes] == ["x", "net.0", "net.1", ""]
    assert [n.name for n in collapse(view, 2).nodes] == ["net", ""]


def test_too_many_nodes_are_summed_up_in_words_and_can_be_written(tmp_path):
    names = chain(3000)
    result = graph(names["h"], namespace=names)
    assert "2 leaves, 3,000 operations" in result.text and "mul" in result.text and "tanh" in result.text
    assert "save('graph.dot')" in result.text
    data, _ = result._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"} and "3,000 operations" in data["text/html"]
    source = result.save(tmp_path / "graph.dot").read_text(encoding="utf-8")
    assert source.count(" -> ") > 5000


def test_a_very_deep_graph_needs_no_recursion():
    x = torch.tensor(1.0, requires_grad=True)
    with modes.recording(False):
        h = x
        for _ in range(100_000):
            h = h + 1
    assert "100,000 operations" in graph(h, namespace={"x": x, "h": h}).text


# ------------------------------------------------------------------------------------------ renderers
def test_the_text_drawing():
    names = seed()
    names["y"].backward()
    text = graph(names["y"], namespace=names, numbers=True).text
    lines = [re.sub(r" +· line \d+| +leaf", "", line) for line in text.split("\n")]
    assert lines[2:7] == [
        "◆    x1             2       3 + 4 = 7",
        "│ ◆  x2             3       2",
        "├─●  w3 = x1 × x2   6       1           · x2 = 3, · x1 = 2   mul",
        "● │  w4 = x1²       4       1           · 2·x1 = 4           pow",
        "◉─┘  y = w3 + w4    10      1           · 1, · 1             add",
    ]


def test_repr_and_the_bundle():
    names = seed()
    result = graph(names["y"], namespace=names)
    assert repr(result) == str(result) == result.text
    data, metadata = result._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "image/svg+xml"}
    assert metadata["image/svg+xml"]["alt"] == metadata["text/html"]["alt"] == result.alt
    assert set(result._repr_mimebundle_(include={"text/html"})[0]) == {"text/plain", "text/html"}
    picture = re.search(r"base64,([^']+)'", data["text/html"]).group(1)
    assert base64.b64decode(picture).decode() == data["image/svg+xml"]
    assert "<svg" not in data["text/html"] and "<style" not in data["text/html"]


def test_svg_is_one_picture_with_title_and_description():
    names = seed()
    names["y"].backward()
    svg = graph(names["y"], namespace=names).svg
    root = ET.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root[0].tag.endswith("title") and root[0].text == "Graph of y"
    assert root[1].tag.endswith("desc") and "gradient of x1 is 7, of x2 2" in root[1].text
    assert "id=" not in svg and "href" not in svg and "url(" not in svg


def test_the_gradient_colour_is_for_gradients_only():
    names = seed()
    before = graph(names["y"], namespace=names).svg
    coloured = set(re.findall(r"<text[^>]*#a63a0b[^>]*>([^<]*)<", before))
    assert coloured == {"∂y/∂x1", "∂y/∂x2", "∂y/∂·", "∂y/∂y"}
    assert before.count("font-style='italic'>not yet<") == 5


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("sense", ["forward", "backward"])
def test_all_directions_draw(direction, sense):
    names = seed()
    names["y"].backward()
    result = graph(names["y"], namespace=names, direction=direction, sense=sense)
    ET.fromstring(result.svg)
    size = re.search(r"width='(\d+)' height='(\d+)'", result.svg)
    assert (int(size[1]) > int(size[2])) == (direction == "LR")


def test_every_format_is_written(tmp_path):
    names = seed()
    result = graph(names["y"], namespace=names)
    heads = {
        ".svg": b"<svg",
        ".png": b"\x89PNG",
        ".pdf": b"%PDF",
        ".html": b"<!doctype html>",
        ".txt": b"Graph of y",
    }
    for suffix, head in heads.items():
        path = result.save(tmp_path / f"y{suffix}")
        assert path.read_bytes().startswith(head), suffix
    assert b"digraph" in result.save(tmp_path / "y.dot").read_bytes()


def test_png_and_pdf_are_the_same_bytes_each_time(tmp_path):
    names = seed()
    result = graph(names["y"], namespace=names)
    for suffix in (".png", ".pdf"):
        first = result.save(tmp_path / f"a{suffix}").read_bytes()
        assert result.save(tmp_path / f"b{suffix}").read_bytes() == first


def test_graphviz_gets_the_whole_graph():
    names = seed()
    names["y"].backward()
    source = graph(names["y"], namespace=names).to_graphviz().source
    for piece in ("<b>x1</b>", "3 + 4 = 7", "· x2 = 3", "n0 -> o2", "o2 -> n2", "rankdir=LR"):
        assert piece in source


def test_engine_dot_draws_where_there_is_a_dot():
    names = seed()
    if dot.program() is None:
        pytest.skip("there is no dot program")
    result = graph(names["y"], namespace=names, engine="dot")
    root = ET.fromstring(result.svg)
    assert root[1].text == result.alt and not result.model.notes


def test_a_missing_dot_is_one_line_and_no_failure(monkeypatch):
    monkeypatch.setattr(dot.shutil, "which", lambda name: None)
    names = seed()
    result = graph(names["y"], namespace=names, engine="dot")
    assert result.model.notes == (
        "Drawn by the built-in layout: there is no `dot` program on this machine (Graphviz brings it).",
    )
    assert "Drawn by the built-in layout" in result.text and "<svg" in result.svg


def test_a_slow_dot_is_given_up(monkeypatch):
    def slow(*args, timeout, **kwargs):
        raise subprocess.TimeoutExpired("dot", timeout)

    monkeypatch.setattr(dot.shutil, "which", lambda name: "dot")
    monkeypatch.setattr(dot.subprocess, "run", slow)
    names = seed()
    assert "within 20 seconds" in graph(names["y"], namespace=names, engine="dot").model.notes[0]


def test_the_error_node_is_marked_by_more_than_colour():
    names = seed()
    result = graph(names["y"], namespace=names, mark=names["y"].grad_fn)
    assert (
        "error here" in result.svg and "error here" in result.text and "error here" in graph_dot(result.model)
    )


SCRIPT = """
import autodiff_kernel as torch
from autodiff_kernel.core import modes
from autodiff_kernel.views.graph import graph
with modes.recording():
    names = {n: torch.tensor([float(i), 2.0], requires_grad=True) for i, n in enumerate("abcdefgh")}
    y = sum(v * w for v in names.values() for w in names.values()).sum()
    y.backward()
data, metadata = graph(y, namespace=names | {"y": y})._repr_mimebundle_()
import hashlib
print(sorted((k, hashlib.sha256(v.encode()).hexdigest()) for k, v in data.items()), metadata)
"""


def test_bytes_do_not_depend_on_the_hash_seed():
    import os

    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONHASHSEED": s}, capture_output=True
        )
        for s in ("1", "2")
    ]
    assert runs[0].returncode == 0, runs[0].stderr.decode()
    assert runs[0].stdout == runs[1].stdout


def test_importing_and_drawing_loads_no_heavy_package():
    code = (
        SCRIPT + "import sys; print([m for m in ('matplotlib', 'graphviz', 'IPython') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("[]\n")


# ------------------------------------------------------------------------------------------ numbers
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7.0, "7"), (-3.0, "-3"), (-0.0, "0"), (0.1, "0.1"), (np.float32(0.1), "0.1"), (1 / 3, "0.3333"),
        (123456.7, "1.235e5"),
        (1e-7, "1e-7"), (float("nan"), "nan"), (float("-inf"), "-inf"), (1e20, "1e20"), (True, "True"), (12, "12"),
        (np.int64(-5), "-5"), (1.5 - 2j, "1.5-2j"),
    ],
)  # fmt: skip
def test_numbers_have_four_digits_and_whole_ones_none_behind_the_point(value, text):
    assert number(value) == text


def test_arrays_fit_their_room_or_are_summed_up():
    assert array_text(np.array([1.0, np.nan])) == "[1, nan]"
    assert array_text(np.arange(30.0)) == "[0, 1, 2, 3, 4, 5, 6, …]"
    assert array_text(np.zeros((5, 5))) == "min 0, max 0"
    assert array_text(np.array([[np.nan] * 9] * 9)) == "all nan"
    assert array_text(np.array([[True, False]] * 5)) == "5 of 10 True"
    assert array_text(np.zeros((0, 3))) == "no elements"
    assert array_text(np.array([])) == "[]"


def test_escaping_keeps_other_scripts_and_drops_what_is_not_text():
    assert escape_xml("Größe 変数 ∂") == "Größe 変数 ∂"
    assert printable("a\ud800b\nc\x07") == "a\ufffdb\ufffdc\ufffd"


def test_what_operations_keep_is_shown_until_a_backward_frees_it():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3).exp().sum()
    names = {"x": x, "y": y}
    view = graph(y, namespace=names, saved=True).model
    assert [n.members for n in view.nodes if n.role == "saved"] == [("output: exp [2] · 8 bytes",)]
    assert "▢" in graph_text(view) and "#4 = exp(#2)" in graph_text(view)
    ET.fromstring(graph_svg(view))
    y.backward()
    freed = graph(y, namespace=names, saved=True).model
    assert not [n for n in freed.nodes if n.role == "saved"] and "freed" in freed.notes[0]


def test_one_output_of_several_is_drawn_and_led_back():
    u = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    y = u.max(0)[0] * u[1]
    y.backward()
    view = graph(y, namespace={"u": u, "y": y}).model
    node = next(n for n in view.nodes if n.op == "max")
    assert (node.value, node.grad) == ("3; 0", "1; none")
    assert by_name(view)["u"].grad == "[1, 3, 0]"


def test_every_formula_of_the_table_can_be_filled_in():
    late.load_all()
    names = [Operand("x1"), Operand("x2"), Operand("x3")]
    for row in TABLE.values():
        for position, template in enumerate(row.partials):
            text = Partials(row, names, Operand("y")).formula(position)
            assert bool(text) == bool(template) and "{" not in text, f"{row.name}: {template}"


def test_a_label_beyond_the_last_box_is_in_the_picture():
    from autodiff_kernel.views.scene import LABEL, Text, draw
    from autodiff_kernel.views.style import GRADIENT, text_width

    with modes.recording():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.tensor([3.0, 4.0], requires_grad=True)
        p = x * w
        q, r = p.exp() + x, p.sin()
        z = (q * r + p).sum()
    for sense in ("forward", "backward"):
        z.backward(retain_graph=True)
        view = graph(z, namespace={"x": x, "w": w, "p": p, "q": q, "r": r}, sense=sense, direction="TB").model
        scene = draw(view)
        labels = [
            s for s in scene.shapes if isinstance(s, Text) and s.fill == GRADIENT and s.anchor == "middle"
        ]
        assert len(labels) >= 6
        assert all(t.x + text_width(t.text, LABEL) / 2 <= scene.width for t in labels)
