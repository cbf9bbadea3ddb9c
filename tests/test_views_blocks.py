"""Networks drawn as layers: names, classes, shapes, parameters; steps that repeat; and `%grad` of a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import Kernel, kernel, shown
from markup import html_is_plain, svg_is_plain, text_is_plain
from modules import Deep, Linear, Module, Net, Recurrent, ReLU, Sequential

import autodiff_kernel as torch
from autodiff_kernel import views
from autodiff_kernel.core import modes
from autodiff_kernel.views.scene import Rect, Text, draw


def drawn(model: Module, x: torch.Tensor, **options: object) -> views.Result:
    with modes.recording():
        y = model(x)
    return views.graph(y, namespace={"x": x, "model": model}, blocks=True, **options)  # type: ignore[arg-type]


def layers(result: views.Result) -> list[tuple[object, ...]]:
    return [(n.name, n.op, n.count, n.details) for n in result.model.nodes if n.role == "group"]


def test_each_layer_is_a_block_with_its_shapes_and_parameters() -> None:
    found = drawn(Net(), torch.ones(4, 3))
    assert layers(found) == [
        ("hidden", "Linear", 1, (("in", "[4, 3]"), ("out", "[4, 5]"), ("parameters", "20"))),
        ("act", "ReLU", 1, (("in", "[4, 5]"), ("out", "[4, 5]"))),
        ("out", "Linear", 1, (("in", "[4, 5]"), ("out", "[4, 1]"), ("parameters", "6"))),
    ]
    assert found.alt == "Layers of model: x → hidden (Linear) → act (ReLU) → out (Linear); 26 parameters."
    assert "hidden = Linear of x" in found.text and "Linear, in [4, 3], parameters 20 in model" in found.text
    pairs = [(found.model.nodes[e.source].name, found.model.nodes[e.target].name) for e in found.model.edges]
    assert pairs == [("x", "hidden"), ("hidden", "act"), ("act", "out")]


def test_what_follows_the_model_stays_as_it_is() -> None:
    x, net = torch.ones(4, 3), Net()
    with modes.recording():
        loss = (net(x) ** 2).mean()
    found = views.graph(loss, namespace={"x": x, "net": net, "loss": loss}, blocks=True)
    assert [n.title for n in found.model.nodes] == ["x", "hidden", "act", "out", "pow", "loss"]
    assert found.model.title == "Graph of loss"


def test_blocks_that_repeat_are_drawn_once() -> None:
    deep = layers(drawn(Deep(), torch.ones(4, 3)))
    assert [(name, kind, times) for name, kind, times, _ in deep] == [
        ("stem", "Linear", 1), ("0 … 5", "Residual", 6), ("head", "Linear", 1),
    ]  # fmt: skip
    assert deep[1][3] == (("in", "[4, 8]"), ("out", "[4, 8]"), ("parameters", "432"))
    pairs = Sequential(*[part for _ in range(4) for part in (Linear(3, 3), ReLU())])
    assert [row[:3] for row in layers(drawn(pairs, torch.ones(4, 3)))] == [("0 … 7", "Linear → ReLU", 4)]
    twice = Sequential(*[part for _ in range(2) for part in (Linear(3, 3), ReLU())])
    assert [row[:2] for row in layers(drawn(twice, torch.ones(4, 3)))] == [
        ("0", "Linear"), ("1", "ReLU"), ("2", "Linear"), ("3", "ReLU"),
    ]  # fmt: skip
    cell = layers(drawn(Recurrent(), torch.ones(2, 4)))
    assert [row[:3] for row in cell] == [("cell", "Linear → tanh", 8), ("read", "Linear", 1)]
    assert cell[0][3][-1] == ("parameters", "20")  # the same ones each time


def test_a_block_can_be_opened() -> None:
    found = drawn(Deep(), torch.ones(4, 3), expand=["blocks.0"])
    assert [(n.name, n.count) for n in found.model.nodes if n.role == "group"] == [
        ("stem", 1), ("1 … 5", 5), ("head", 1),
    ]  # fmt: skip
    assert "model.blocks.0.lin.weight" in found.text and "482 parameters" in found.text
    with pytest.raises(ValueError, match=r"did you mean 'blocks.0'"):
        drawn(Deep(), torch.ones(4, 3), expand=["block.0"])


def test_scopes_with_names_of_the_users_own_are_blocks_too() -> None:
    x, w = torch.ones(2, 3), torch.ones(3, 4, requires_grad=True)
    with modes.recording(), torch.scope("first"):
        y = torch.tanh(x @ w)
    found = views.graph(y, namespace={"x": x, "w": w}, blocks=True)
    assert layers(found) == [
        ("first", "mm → tanh", 1, (("in", "[2, 3]"), ("out", "[2, 4]"), ("parameters", "12")))
    ]
    plain = views.graph((w * 2).sum(), namespace={"w": w}, blocks=True)
    assert [n.op for n in plain.model.nodes][1:] == ["mul", "sum"] and "No block" in plain.text


def test_a_frozen_layer_and_an_input_without_a_name() -> None:
    net = Net()
    net.hidden.weight.requires_grad_(False)
    with modes.recording():
        y = net(torch.ones(4, 3))
    found = views.graph(y, namespace={"net": net}, blocks=True)
    assert [n.title for n in found.model.nodes] == ["input", "hidden", "act", "out"]


def test_names_are_found_where_modules_lie_in_lists_of_modules() -> None:
    class Loop(Sequential):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for part in self.parts["0"].parts.values():  # the list itself is never called
                x = part(x)
            return x

    found = drawn(Loop(Sequential(Linear(3, 5), ReLU())), torch.ones(4, 3))
    assert [row[0] for row in layers(found)] == ["0.0", "0.1"]
    unknown = Net()
    with modes.recording():
        y = unknown(torch.ones(4, 3))
    assert [row[0] for row in layers(views.graph(y, namespace={}, blocks=True))] == [
        "Linear",
        "ReLU",
        "Linear",
    ]


def test_frames_hold_their_blocks_and_one_layer_is_no_stack() -> None:
    scene = draw(drawn(Deep(), torch.ones(4, 3)).model)
    framed = {
        shape.text: scene.shapes[k - 1]
        for k, shape in enumerate(scene.shapes)
        if isinstance(shape, Text) and shape.text in ("model", "blocks")
    }
    places = {s.text: s for s in scene.shapes if isinstance(s, Text)}
    for name, frame in (("stem", "model"), ("0 … 5", "blocks"), ("blocks", "model")):
        r = framed[frame]
        assert isinstance(r, Rect) and r.x < places[name].x < r.x + r.w and r.y < places[name].y < r.y + r.h
    sizes = [(s.w, s.h) for s in scene.shapes if isinstance(s, Rect) and s.fill == "#ffffff"]
    assert len(sizes) == 1 + 3 + 2 + 1  # x, three layers, two more behind ×6, the inner frame


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "html", "txt", "dot"])
def test_every_form_is_written(tmp_path: Path, suffix: str) -> None:
    written = drawn(Deep(), torch.ones(4, 3)).save(tmp_path / f"net.{suffix}")
    assert written.stat().st_size > 300
    if suffix in ("svg", "html", "txt", "dot"):
        text = written.read_text(encoding="utf-8")
        assert "Residual" in text or suffix == "html"
        assert suffix != "dot" or "432" in text


def test_hostile_names_stay_text() -> None:
    evil = "<script>alert(1)</script>\x1b[31m\u202e'&" + "n" * 10_000
    net = Sequential(Linear(3, 3))
    setattr(net, evil, ReLU())
    found = drawn(net, torch.ones(4, 3))
    html_is_plain(found.html)
    svg_is_plain(found.svg or "")
    text_is_plain(found.text)
    assert len(found.html) < 1_000_000


def test_an_object_that_answers_no_question_spoils_no_picture() -> None:
    class Broken:
        def named_parameters(self) -> None:
            raise RuntimeError("not ready")

        def __getattr__(self, name: str) -> None:
            raise RuntimeError(name)

    x, net = torch.ones(4, 3), Net()
    with modes.recording():
        y = net(x)
    found = views.graph(y, namespace={"x": x, "broken": Broken(), "net": net}, blocks=True)
    assert [row[0] for row in layers(found)] == ["hidden", "act", "out"]


def test_gradients_of_a_model_layer_by_layer() -> None:
    net = Net()
    (net(torch.ones(4, 3)) ** 2).mean().backward()
    found = views.gradients(net)
    assert [p.name for p in found.model.parameters] == [
        "hidden.weight", "hidden.bias", "out.weight", "out.bias",
    ]  # fmt: skip
    assert found.svg is not None and "hidden.weight" in found.alt


SETUP = """
import sys; sys.path.insert(0, {folder!r})
import autodiff_kernel as torch
from modules import Net, Deep
x = torch.ones(4, 3)
net = Net()
"""


@pytest.fixture(scope="module", params=["autodiff", "python3"])
def shell(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    with kernel(request.param) as running:
        if request.param == "python3":
            running.run("%load_ext autodiff_kernel")
        running.run(SETUP.format(folder=str(Path(__file__).parent)))
        yield running


def test_graph_of_a_models_call_draws_its_layers(shell: Kernel) -> None:
    told = shown(shell.run("%graph net(x)"))
    assert told.splitlines()[0] == "Layers of net" and "hidden = Linear of x" in told
    assert shown(shell.run("y = net(x)\n%graph y --blocks")) == told
    assert "mm" in shown(shell.run("%graph net(x) --depth 9"))
    assert "net.hidden.weight" in shown(shell.run("%graph net(x) --expand hidden"))


def test_grad_of_a_model(shell: Kernel) -> None:
    shell.run("net(x).sum().backward()")
    told = shown(shell.run("%grad net"))
    assert told.splitlines()[0] == "Gradients of 4 parameters" and "out.weight" in told
