"""Scopes in pictures: frames, folding, repeated blocks; paths and edges; before and after backward."""

import re
import shutil
import time
import xml.etree.ElementTree as ET

import pytest

import autodiff_kernel as torch
from autodiff_kernel import views
from autodiff_kernel.core import modes
from autodiff_kernel.views.dot import graph_dot
from autodiff_kernel.views.framing import HEAD, SIDE, borders
from autodiff_kernel.views.scene import Rect, Text, draw
from autodiff_kernel.views.scopes import Cluster, clusters

EVIL = "<script>alert(1)</script>\"'&\\ ]]> ${x} \x1b[31m \u202e"


def network(first="layer 1"):
    torch.manual_seed(0)
    x = torch.randn(4, 3)
    w1, w2 = torch.randn(3, 5, requires_grad=True), torch.randn(5, 1, requires_grad=True)
    b1, b2 = torch.zeros(5, requires_grad=True), torch.zeros(1, requires_grad=True)
    with modes.recording():
        with torch.scope("net"):
            with torch.scope(first):
                h = torch.tanh(x @ w1 + b1)
            with torch.scope("layer 2"):
                o = h @ w2 + b2
        loss = (o * o).mean()
    return loss, {"x": x, "w1": w1, "w2": w2, "b1": b1, "b2": b2, "h": h, "o": o, "loss": loss}


def titles(result):
    return [(n.name or n.op, n.role) for n in result.model.nodes]


def test_scopes_are_frames_with_their_weights_inside():
    loss, names = network()
    view = views.graph(loss, namespace=names).model
    found = {c.name: {view.nodes[i].title for i in c.members} for c in clusters(view)}
    assert found == {
        "net": {"mm", "w1", "add", "b1", "h", "w2", "o", "b2"},
        "layer 1": {"mm", "w1", "add", "b1", "h"},
        "layer 2": {"mm", "w2", "o", "b2"},
    }


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_each_frame_holds_its_boxes_and_no_others(direction):
    loss, names = network()
    scene = draw(views.graph(loss, namespace=names, direction=direction).model)
    rects = [s for s in scene.shapes if isinstance(s, Rect)]
    frames = {}
    for k, shape in enumerate(scene.shapes):
        if isinstance(shape, Text) and shape.text in ("net", "layer 1", "layer 2"):
            frames[shape.text] = scene.shapes[k - 1]
    assert set(frames) == {"net", "layer 1", "layer 2"}
    placed = {s.text: s for s in scene.shapes if isinstance(s, Text)}

    def inside(name, frame):
        t, r = placed[name], frames[frame]
        return r.x < t.x < r.x + r.w and r.y < t.y < r.y + r.h

    for name, where in (("w1", "layer 1"), ("b2", "layer 2"), ("h", "layer 1"), ("o", "layer 2")):
        assert inside(name, where) and inside(name, "net")
    assert not any(inside(name, "net") for name in ("x", "loss"))
    assert not inside("w2", "layer 1") and not inside("h", "layer 2")
    assert all(0 <= r.x and 0 <= r.y and r.x + r.w <= scene.width for r in rects)


def test_where_a_frame_would_cut_other_boxes_its_boxes_say_the_scope():
    x = torch.tensor(1.0, requires_grad=True)
    with modes.recording():
        outside = [x * float(k) for k in range(4)]
        with torch.scope("ends"):
            a = outside[0].exp()
        b = outside[1].exp().sin()
        with torch.scope("ends"):
            c = outside[3].exp()
        y = a + b + c + outside[2]
    result = views.graph(y, namespace={"x": x})
    assert result.text.count("in ends") == 2 and result.svg.count(">ends<") == 2


def test_depth_folds_scopes():
    loss, names = network()
    assert titles(views.graph(loss, namespace=names, depth=0)) == [
        ("x", "data"), ("net", "group"), ("mul", "op"), ("loss", "output"),
    ]  # fmt: skip
    assert titles(views.graph(loss, namespace=names, depth=1))[1:3] == [
        ("net.layer 1", "group"),
        ("net.layer 2", "group"),
    ]
    folded = views.graph(loss, namespace=names, depth=0).model
    assert folded.left_out.startswith("5 operations and 4 inputs of theirs are drawn as 1 group.")
    assert views.graph(loss, namespace=names, depth=2).model == views.graph(loss, namespace=names).model


def test_fold_and_expand_by_name():
    loss, names = network()
    one = titles(views.graph(loss, namespace=names, fold=["layer 1"]))
    assert ("net.layer 1", "group") in one and ("o", "op") in one
    assert titles(views.graph(loss, namespace=names, fold=["net.layer 1"])) == one
    assert titles(views.graph(loss, namespace=names, depth=0, expand=["net"])) == titles(
        views.graph(loss, namespace=names, depth=1)
    )
    opened = titles(views.graph(loss, namespace=names, depth=0, expand=["layer 2"]))
    assert ("net.layer 1", "group") not in opened or ("o", "op") in opened
    with pytest.raises(ValueError, match="did you mean 'layer 1'"):
        views.graph(loss, fold=["layer1"])
    with pytest.raises(ValueError, match="it has no scopes"):
        views.graph(names["w1"] * 2, fold=["a"])
    with pytest.raises(ValueError, match="depth=-1"):
        views.graph(loss, depth=-1)


def test_equal_blocks_are_drawn_once():
    x = torch.ones(2, requires_grad=True)
    with modes.recording():
        y = x
        for i in range(6):
            with torch.scope(f"block {i}"):
                y = torch.relu(y * 2) + y
        z = y.sum()
    view = views.graph(z, namespace={}, depth=0, repeats=True).model
    [group] = [n for n in view.nodes if n.role == "group"]
    assert (group.name, group.count, group.members) == ("block 0 … block 5", 6, ("mul", "relu", "add"))
    assert "18 operations" in view.left_out and "×n marks" in view.left_out
    plain = x
    with modes.recording():
        for _ in range(6):
            plain = torch.relu(plain * 2)
    [again] = [n for n in views.graph(plain.sum(), repeats=True).model.nodes if n.role == "group"]
    assert again.count == 6


def test_paths_and_edges_are_counted():
    x = torch.tensor(2.0, requires_grad=True)
    with modes.recording():
        y = x
        for _ in range(100):
            y = y + y
    notes = views.graph(y, namespace={"x": x, "y": y}, paths=True).model.notes
    assert notes[0] == "about 10^30 paths lead from the leaves to the result, over 200 edges."
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    z = a * b + a**2
    notes = views.graph(z, namespace={"a": a, "b": b}, paths=True).model.notes
    assert notes[0] == "3 paths lead from the leaves to the result (from a 2, b 1), over 5 edges."
    for _ in range(3000):
        z = z * 1.0
    assert "over 3,005 edges" in views.graph(z, paths=True).text


def seed():
    with modes.recording():
        x1 = torch.tensor(2.0, requires_grad=True)
        x2 = torch.tensor(3.0, requires_grad=True)
        y = x1 * x2 + x1**2
    return {"x1": x1, "x2": x2, "y": y}


def test_diff_foresees_what_backward_will_bring_and_changes_nothing():
    names = seed()
    y = names["y"]
    result = views.graph(y, namespace=names, diff=True)
    assert names["x1"].grad is None
    before, after = result.model.before, result.model.after
    assert {n.grad_state for n in before.nodes} == {"not yet"}
    foreseen = [(n.title, n.grad_text) for n in after.nodes]
    assert result.model.titles[1].startswith("After backward (foreseen")
    y.backward()
    real = views.graph(y, namespace=names)
    assert [(n.title, n.grad_text) for n in real.model.nodes] == foreseen
    again = views.graph(y, namespace=names, diff=True).model
    assert again.titles == ("Before backward", "After backward") and again.after == real.model
    assert {n.grad_state for n in again.before.nodes} == {"not yet"}


def test_diff_tells_what_grad_would_hold_where_it_held_something():
    names = seed()
    names["x1"].grad = torch.tensor(1.0)
    after = views.graph(names["y"], namespace=names, diff=True).model.after
    assert [(n.grad, n.stored) for n in after.nodes if n.name == "x1"] == [("7", "8")]


def test_diff_works_without_recording_and_in_the_backward_sense():
    x = torch.tensor(2.0, requires_grad=True)
    after = views.graph(x * x, namespace={"x": x}, diff=True, sense="backward").model.after
    assert [n.grad for n in after.nodes] == ["4", "1"]
    with pytest.raises(ValueError, match="needs one output"):
        views.graph([x * 2, x * 3], diff=True)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar"):
        views.graph(torch.ones(2, requires_grad=True) * 2, diff=True)


@pytest.mark.parametrize("options", [{}, {"diff": True}, {"depth": 0}])
@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "html", "txt"])
def test_every_form_is_written(tmp_path, options, suffix):
    loss, names = network()
    path = views.graph(loss, namespace=names, **options).save(tmp_path / f"net.{suffix}")
    start = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "html": b"<!doctype", "txt": b""}[suffix]
    assert path.read_bytes().startswith(start) and path.stat().st_size > 500


def test_scopes_are_clusters_in_dot():
    loss, names = network()
    source = graph_dot(views.graph(loss, namespace=names).model)
    assert source.count("subgraph cluster_") == 3
    if shutil.which("dot"):
        assert ">layer 1<" in views.graph(loss, namespace=names, engine="dot").svg


def test_source_lines_are_behind_a_click():
    loss, names = network()
    result = views.graph(loss, namespace=names)
    assert any(text == "h = torch.tanh(x @ w1 + b1)" for _, text in result.model.sources)
    assert "<summary style='cursor:pointer'>source lines</summary>" in result.html


@pytest.mark.parametrize("options", [{}, {"depth": 0}, {"fold": [EVIL]}, {"diff": True}])
def test_a_scopes_name_stays_text(options):
    loss, _ = network(EVIL)
    result = views.graph(loss, namespace={EVIL: loss}, **options)
    ET.fromstring(result.svg)
    for output in (result.svg, result.html):
        assert "<script" not in output and "\x1b" not in output and "\u202e" not in output
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", result.text)
    if "diff" not in options:
        assert "\x1b" not in graph_dot(result.model)


def test_a_large_graph_in_nested_scopes_is_drawn_collapsed_within_a_second():
    x = torch.ones(3, requires_grad=True)
    with modes.recording():
        y = x
        for i in range(19):
            with torch.scope(f"block {i}"):
                for j in range(10):
                    with torch.scope(f"layer {j}"):
                        for _ in range(5):
                            y = (y * 1.01).tanh()
        z = y.sum()
    start = time.process_time()
    result = views.graph(z)
    result._repr_mimebundle_()
    assert time.process_time() - start < 1
    groups = [(n.name, n.count) for n in result.model.nodes if n.role == "group"]
    assert groups == [(f"block {i}.layer 0 … layer 9", 10) for i in range(19)]


def blocks(count=3):
    x = out = torch.tensor([1.0, 2.0])
    with modes.recording():
        weights = [torch.ones(2, requires_grad=True) for _ in range(count)]
        for k, weight in enumerate(weights):
            with torch.scope("net"), torch.scope(f"block {k}"):
                out = torch.relu(out * weight + 1)
        return out.sum(), {"x": x, "weights": weights}


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_the_sheets_behind_a_folded_scope_leave_the_frames_name_free(direction):
    loss, names = blocks()
    view = views.graph(loss, namespace=names, depth=1, direction=direction).model
    shapes = draw(view).shapes
    [k] = [k for k, s in enumerate(shapes) if isinstance(s, Text) and s.text == "net"]
    name, frame = shapes[k], shapes[k - 1]
    sheets = [s for s in shapes[k + 1 :] if isinstance(s, Rect) and s.h > 80]
    assert len(sheets) == 9  # three for each block
    assert all(s.y > name.y + 2 and s.x > frame.x and s.x + s.w < frame.x + frame.w for s in sheets)


def test_room_for_frames_is_only_where_one_begins_or_ends():
    """Ranks 0 … 4: an outer scope around ranks 1 to 3, an inner one around rank 2."""
    framed = [Cluster("net", 1, (1, 2, 3)), Cluster("inner", 2, (2,))]
    assert borders(framed, range(5), down=False) == [2 * SIDE, SIDE, SIDE, 2 * SIDE, 0]
    assert borders(framed, range(5), down=True) == [2 * HEAD, HEAD, SIDE, 2 * SIDE, 0]
    assert borders([], range(3), down=False) == [0, 0, 0]


def test_steps_that_repeat_lie_in_the_scopes_that_all_of_them_share():
    loss, _ = blocks(4)
    with modes.recording():
        x = y = torch.tensor(2.0, requires_grad=True)
        for k in range(4):
            with torch.scope("net"), torch.scope(f"step {k}"):
                y = (y * x).sin()
    view = views.graph(y, namespace={"x": x}, limit=4).model
    groups = [node for node in view.nodes if node.role == "group"]
    assert groups and all(node.scope in ((), ("net",)) for node in groups)
