"""Backward as frames: the numbers of a real backward, who waits for whom, nothing changed, escaped and bounded."""

import re
import subprocess
import sys

import pytest

import autodiff_kernel as torch
from autodiff_kernel import views
from autodiff_kernel.core import modes

EVIL = "<script>alert(1)</script>\"'&\\ ]]> ${x} \x1b[31m \u202e"


def seed_function():
    x1 = torch.tensor(2.0, requires_grad=True)
    x2 = torch.tensor(3.0, requires_grad=True)
    return x1, x2, x1 * x2 + x1**2


@pytest.fixture
def frames():
    with modes.recording():
        x1, x2, y = seed_function()
    return views.steps(y, namespace={"x1": x1, "x2": x2, "y": y})


def test_each_frame_takes_one_node_newest_first(frames):
    assert [(f.number, f.node, f.name, f.formula) for f in frames.model.frames] == [
        (1, "AddBackward0", "y", "w3 + w4"),
        (2, "PowBackward0", "w4", "x1²"),
        (3, "MulBackward0", "w3", "x1·x2"),
    ]


def test_each_frame_says_what_the_inputs_get_and_by_which_rule(frames):
    gains = [[(g.to, g.rule, g.number, g.total) for g in f.gains] for f in frames.model.frames]
    assert gains == [
        [("w3", "g", "1", ""), ("w4", "g", "1", "")],
        [("x1", "g · 2·x1 = 1 · 4", "4", "")],
        [("x1", "g · x2 = 1 · 3", "3", "4 + 3 = 7"), ("x2", "g · x1 = 1 · 2", "2", "")],
    ]
    assert frames.model.frames[2].words == "The product of two tensors, element by element."


def test_each_frame_says_who_waits_for_whom(frames):
    standings = [[(s.name, s.adjoint, s.state) for s in f.standings] for f in frames.model.frames]
    assert standings[0] == [
        ("y", "1", "taken"),
        ("w4", "1", "next"),
        ("w3", "1", "complete"),
        ("x2", "nothing yet", "waits for w3"),
        ("x1", "nothing yet", "waits for w4, w3"),
    ]
    assert standings[1][-1] == ("x1", "4", "waits for w3")
    assert standings[2][-2:] == [("x2", "2", "complete"), ("x1", "7", "complete")]
    assert frames.model.results == (("x1", "7"), ("x2", "2"))


def several_graphs():
    torch.manual_seed(0)
    x = torch.randn(4, 3, requires_grad=True)
    w = torch.randn(3, 2, requires_grad=True)
    b = torch.zeros(2, requires_grad=True)
    h = torch.tanh(x @ w + b)
    first, second = h.split(1, dim=1)
    values, _ = h.max(dim=1)
    yield (values.sum() + first.mean() * second.exp().sum()).relu(), [x, w, b]
    yield torch.log_softmax(x @ w, 1)[0, 1] / w.norm(), [x, w]
    yield torch.cat([x, x * 2]).var() + torch.stack([b, b.sin()]).sum(), [x, b]

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * 3 * a * a

    yield Cube.apply(x).sum() + x.sum(), [x]
    y = x * 2
    y[0] = 0.0
    y.mul_(x)
    yield y.sum(), [x]


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("which", range(5))
def test_the_adjoints_are_those_of_backward(which, recorded):
    from autodiff_kernel.core.graph import as_edge
    from autodiff_kernel.views.walking import Walk

    with modes.recording(recorded):
        y, leaves = list(several_graphs())[which]
    walk = Walk(as_edge(y.node), y.raw.dtype.type(1))
    taken = [moment.node for moment in walk]
    assert all(leaf.grad is None for leaf in leaves)
    assert not any(walk.waits[node] for node in walk.waits)  # at the end nobody waits any more
    assert len(set(taken)) == len(taken)
    y.backward()  # the graph is still whole
    for leaf in leaves:
        assert torch.equal(torch.tensor(walk.sums[leaf.node, 0]), leaf.grad)


def test_it_changes_nothing():
    calls = []
    with modes.recording():
        x1, x2, y = seed_function()
        middle = y * 2
    middle.retain_grad()
    x1.register_hook(calls.append)
    x1.grad = torch.tensor(5.0)
    result = views.steps(middle * 3)
    assert "No hook runs here" in result.text and "x1" in result.model.notes[-1]
    assert calls == [] and x1.grad.item() == 5 and x2.grad is None and middle.grad is None
    middle.backward()
    assert x1.grad.item() == 5 + 14 and calls == [torch.tensor(14.0)]


def test_a_freed_graph_is_walked_with_what_was_recorded():
    with modes.recording():
        x1, x2, y = seed_function()
    y.backward()
    result = views.steps(y)
    assert result.model.results == (("x1", "7"), ("x2", "2"))
    assert "those that were recorded" in result.text
    assert x1.grad.item() == 7


def test_a_freed_graph_without_a_record_says_what_to_do():
    _, _, y = seed_function()
    y.backward()
    with pytest.raises(RuntimeError, match="second time.*retain_graph=True"):
        views.steps(y)


def test_a_value_that_was_changed_in_place_is_refused_as_by_backward():
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 1
    y = h.exp()
    z = y * 1
    y.mul_(2)
    for walk in (lambda: views.steps(z), z.backward):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            walk()


def test_a_seed_and_what_has_none():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    result = views.steps(y, torch.tensor([1.0, 10.0]))
    assert result.model.start == "Start: the adjoint of y is [1, 10], the seed."
    assert result.model.results == (("x", "[2, 40]"),)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        views.steps(y)


def test_a_broadcast_input_is_told_that_its_gradient_is_a_sum():
    x = torch.ones(4, 2, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    text = views.steps((x + b).sum()).text
    assert "b gets g summed to shape [2] = [4, 4]" in text


def test_large_tensors_are_summarised():
    x = torch.ones(100, 200, requires_grad=True)
    result = views.steps((x * 2).sum())
    assert result.model.results == (("x", "[100, 200] min 2, max 2"),)


def test_a_leaf_is_its_own_backward():
    x = torch.tensor(2.0, requires_grad=True)
    result = views.steps(x)
    assert result.model.frames == () and result.model.results == (("x", "1"),)


def chain(n):
    x = z = torch.tensor(1.0, requires_grad=True)
    for _ in range(n):
        z = z * 1.0
    return x, z


def test_a_long_backward_shows_a_stretch_and_says_so():
    _, z = chain(1000)
    model = views.steps(z).model
    assert len(model.frames) == 40 and model.results == ()
    assert model.left_out.startswith("Of 1,000 frames these are frames 1 to 40;")
    late = views.steps(z, first=999).model
    assert [f.number for f in late.frames] == [999, 1000] and late.results[0][1] == "1"
    assert [f.number for f in views.steps(z, first=5, last=6).model.frames] == [5, 6]
    assert len(views.steps(z, limit=1000)._repr_mimebundle_()[0]["text/html"]) < 3_000_000


def test_frames_that_do_not_exist():
    _, z = chain(3)
    for options, told in (
        ({"first": 4}, "has 3 frames"),
        ({"first": 0}, "counted from 1"),
        ({"first": 3, "last": 2}, "before the first"),
        ({"limit": 0}, "counted from 1"),
    ):
        with pytest.raises(ValueError, match=told):
            views.steps(z, **options)
    with pytest.raises(TypeError, match="got int"):
        views.steps(3)
    with pytest.raises(RuntimeError, match="has no graph"):
        views.steps(torch.ones(2))


def test_a_frame_with_many_that_wait_stays_short():
    x = torch.tensor(1.0, requires_grad=True)
    parts = [x * float(i) for i in range(300)]
    result = views.steps(torch.stack(parts).sum(), limit=20)
    frame = result.model.frames[1]
    assert len(frame.standings) == 12 and frame.more == 301 - 12
    assert len(frame.gains) == 12 and f"and {300 - 12:,} more inputs get theirs" in result.text
    assert len(result.html) < 200_000


def test_html_is_details_without_script_and_the_strip_is_open(frames):
    html = frames.html
    assert html.count("<details") == 3 and html.count("<details open") == 1
    assert set(re.findall(r"<(\w+)", html)) == {
        *("div", "details", "summary", "table", "thead", "tbody", "tr", "th", "td")
    }
    with modes.recording():
        _, _, y = seed_function()
    strip = views.steps(y, strip=True).html
    assert strip.count("<details open") == 3 and "display:inline-block" in strip


def test_text_says_all_that_the_frames_say(frames):
    plain = re.sub(r"<[^>]*>", "\n", frames.html)
    for line in filter(None, (part.strip() for part in plain.split("\n"))):
        if line not in ("value", "adjoint so far"):
            assert line in frames.text


def test_labels_stay_text():
    with modes.recording():
        x1, x2, y = seed_function()
    result = views.steps(y, namespace={EVIL: x1, "x2": x2, EVIL + "y": y}, title=EVIL)
    assert "<script" not in result.html and "\x1b" not in result.html and "\u202e" not in result.html
    assert "&lt;script&gt;" in result.html
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", result.text)
    assert result.alt  # escaped by whoever writes it into a page


def test_a_name_of_ten_thousand_letters_keeps_the_output_bounded():
    with modes.recording():
        x1, x2, y = seed_function()
    result = views.steps(y, namespace={"a" * 10_000: x1, "x2": x2, "y": y})
    assert len(result.html) < 100_000 and len(result.text) < 20_000


def test_it_is_saved_as_text_and_page(frames, tmp_path):
    assert frames.save(tmp_path / "steps.txt").read_text(encoding="utf-8") == frames.text + "\n"
    assert "<details" in frames.save(tmp_path / "steps.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=".html"):
        frames.save(tmp_path / "steps.svg")


def test_bytes_are_the_same_in_every_process():
    code = (
        "import autodiff_kernel as torch; from autodiff_kernel import views\n"
        "x = torch.ones(3, requires_grad=True); a, b, c = x.split(1); y = (a * b + c.exp() * a).sum()\n"
        "r = views.steps(y); print(r.text, r.html)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**__import__("os").environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1
