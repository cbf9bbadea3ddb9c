"""What Shift-Tab and `x?` say of tensors, nodes and models; and what they leave as it is."""

from collections.abc import Iterator

import pytest
from kernels import Kernel, kernel
from markup import html_is_plain, text_is_plain

import autodiff_kernel as torch
from autodiff_kernel.core import journal, modes
from autodiff_kernel.jupyter.magics import GROUPS
from autodiff_kernel.views import inspect

SETUP = """
import autodiff_kernel as torch
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
y.backward()
class Model:
    def named_parameters(self): yield "weight", x
class Broken:
    def named_parameters(self, needed): pass
    def __getattr__(self, name): raise RuntimeError(name)
model, broken = Model(), Broken()
"""


def facts(of: object, **options: object) -> dict[str, str]:
    return dict(inspect(of, **options).model.facts)  # type: ignore[arg-type]


def test_a_tensor_says_what_it_is_and_what_happened_to_it() -> None:
    with modes.recording():
        w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        h = w.t()
        loss = (h * h).sum()
        loss.backward()
        with torch.no_grad():
            w.sub_(0.5 * w.grad)
    names = {"w": w, "h": h, "loss": loss}
    assert facts(h, namespace=names) == {
        "shape": "[2, 2]",
        "strides": "[1, 2]",
        "dtype": "float32",
        "device": "cpu",
        "memory": "16 B, a view of w",
        "values": "[[0, 0], [0, 0]]",
        "gradient": "passes through to the leaves; retain_grad() would keep it",
    }
    told = inspect(w, namespace=names)
    assert told.model.title == "w: a leaf tensor"
    assert dict(told.model.facts)["gradient"] == "[[2, 4], [6, 8]]"
    assert [line.partition(" in test_inspection.py")[0] for line in told.model.history] == [
        "made", "its .grad received a sum", "changed in place", "used",
    ]  # fmt: skip
    assert "w.sub_(0.5 * w.grad)" in told.text
    assert inspect(loss, namespace=names).model.title == "loss: a tensor, made by SumBackward0"


@pytest.mark.parametrize(
    ("make", "gradient"),
    [
        (lambda: torch.ones(2), "none: it does not require grad"),
        (lambda: torch.ones(2, requires_grad=True), "none yet: it requires grad"),
        (lambda: torch.arange(3), "none: it does not require grad"),
    ],
)
def test_why_there_is_no_gradient(make: object, gradient: str) -> None:
    assert facts(make(), namespace={})["gradient"] == gradient  # type: ignore[operator]


def test_a_node_says_what_it_does_and_keeps() -> None:
    with modes.recording():
        a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
        c = a * b
    found = inspect(c.grad_fn, namespace={"a": a, "b": b, "c": c}, name="c.grad_fn")
    assert found.model.title == "c.grad_fn: the node MulBackward0"
    told = dict(found.model.facts)
    assert told["inputs"] == "AccumulateGrad of a, AccumulateGrad of b"
    assert told["local derivatives"] == "· b = 3, · a = 2"
    assert told["keeps for backward"] == "input: a · 4 bytes; input 2: b · 4 bytes"
    end = inspect(c.grad_fn.next_functions[0][0], namespace={"a": a})
    assert end.model.facts == (("adds up", "what backward brings to a, in its .grad"),)


def test_the_small_graph_stays_small_and_the_full_one_is_whole() -> None:
    x = y = torch.tensor(1.0, requires_grad=True)
    for k in range(40):
        y = y.sin() if k % 3 else y * y
    small, full = inspect(y, namespace={"x": x, "y": y}), inspect(y, namespace={"x": x, "y": y}, full=True)
    assert len(small.model.graph.nodes) <= 12 and len(full.model.graph.nodes) == 41
    assert "%graph draws more" in small.text and small.svg.startswith("<svg")
    for _ in range(2000):
        y = y + 1
    large = inspect(y, namespace={"x": x})
    assert large.model.graph is None and "2,040 operations" in large.text


def test_a_model_lists_its_modules() -> None:
    class Layer:
        def __init__(self, n: int, m: int) -> None:
            self.weight = torch.ones(m, n, requires_grad=True)

        def named_parameters(self):
            yield "weight", self.weight

    class Net(Layer):
        training = False

        def __init__(self) -> None:
            self.parts = {"first": Layer(2, 3), "second": Layer(3, 1)}

        def named_parameters(self):
            for name, part in self.parts.items():
                yield f"{name}.weight", part.weight

        def named_modules(self):
            yield "", self
            yield from self.parts.items()

    net = Net()
    net.parts["first"].weight.sum().backward()
    found = inspect(net, name="net")
    told = dict(found.model.facts)
    assert (told["parameters"], told["gradients"]) == ("9 numbers in 2 tensors", "1 of 2 have one")
    assert told["mode"] == "evaluation (eval())"
    assert found.model.parts == (
        ("first", "Layer", "6", "weight [3, 2]"),
        ("second", "Layer", "3", "weight [1, 3]"),
    )
    assert inspect(net.parts["first"]).model.heads == ("parameter", "shape", "dtype", "gradient")
    with pytest.raises(TypeError, match="got int"):
        inspect(3)


def test_hostile_names_stay_text() -> None:
    evil = "<script>alert(1)</script>\x1b[31m\u202e" + "w" * 10_000
    x = torch.ones(2, requires_grad=True)
    found = inspect(x * 2, namespace={evil: x}, name=evil)
    html_is_plain(found.html)
    text_is_plain(found.text)
    assert len(found.html) < 200_000


@pytest.fixture(scope="module", params=["autodiff", "python3"])
def shell(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    with kernel(request.param) as running:
        if request.param == "python3":
            running.run("%load_ext autodiff_kernel")
        running.run(SETUP)
        yield running


def test_shift_tab_shows_text_and_html(shell: Kernel) -> None:
    data = shell.inspect("y")
    assert sorted(data) == ["text/html", "text/plain"]
    assert data["text/plain"].startswith("y: a tensor, made by SumBackward0\n")
    assert "computed in line 3: y = (x * x).sum()" in data["text/plain"]
    assert "<img src='data:image/svg+xml;base64," in data["text/html"]
    assert html_is_plain(data["text/html"])
    assert shell.inspect("y.grad_fn")["text/plain"].startswith("y.grad_fn: the node SumBackward0")
    assert shell.inspect("x.grad")["text/plain"].startswith("x.grad: a tensor without a graph")
    assert shell.inspect("model")["text/plain"].startswith("model: a model")


def test_a_question_mark_shows_the_same(shell: Kernel) -> None:
    answer = shell.run("y?")
    [page] = answer.reply["payload"]
    assert page["data"] == shell.inspect("y") and answer.outputs == []


def test_other_objects_look_as_in_a_plain_kernel(shell: Kernel) -> None:
    shell.inspect("y")
    for code in ("len", "broken", "Model", "torch.sum", "y.backward"):
        data = shell.inspect(code)
        assert list(data) == ["text/plain"] and "property" not in data["text/plain"].split("\n")[0]
    assert list(shell.run("len?").reply["payload"][0]["data"]) == ["text/plain"]


def test_a_look_is_no_event(shell: Kernel) -> None:
    shell.run("from autodiff_kernel.core import journal\nbefore = list(journal.LOG)")
    shell.inspect("y")
    shell.inspect("x.grad")
    assert shell.run("before == list(journal.LOG)").results == ["True"]


def test_it_goes_when_the_extension_goes() -> None:
    with kernel("python3") as running:
        running.run("%load_ext autodiff_kernel\n" + SETUP)
        assert "text/html" in running.inspect("y")
        running.run("%unload_ext autodiff_kernel")
        data = running.inspect("y")
        assert list(data) == ["text/plain"] and "Tensor" in data["text/plain"]


def test_looking_changes_no_recording() -> None:
    with modes.recording(False):
        before = len(journal.LOG)
        inspect(torch.ones(2), namespace={})
        assert len(journal.LOG) == before


def test_tab_completes_options_names_and_dimensions(shell: Kernel) -> None:
    shell.run("t = torch.ones(2, 3, 4)\nnumber = torch.tensor(1.)\ndef check_e1(y): pass")
    dims = {"0", "1", "2", "-1", "-2", "-3"}
    for code in (
        "t.sum(dim=",
        "t.mean(keepdim=True, dim=(0, ",
        "torch.sum(t, dim=",
        "%graph t.sum(axis=",
        "t.transpose(dim0=",
    ):
        assert set(shell.complete(code)) == dims, code
    assert set(shell.complete("t.sum(dim=-")) == {"-1", "-2", "-3"}
    assert set(shell.complete("number.sum(dim=")) == {"0", "-1"}
    assert set(shell.complete("x.grad.sum(dim=")) == {"0", "-1"}
    assert not dims & set(shell.complete("unknown.sum(dim=")) and not dims & set(shell.complete("dict(dim="))
    assert set(shell.complete("%graph y --sense ")) == {"forward", "backward"}
    assert shell.complete("%graph y --direction=T") == ["TB"]
    assert set(shell.complete("%place ")) >= {"x", "y", "t", "model"} and "len" not in shell.complete(
        "%place "
    )
    assert shell.complete("%check ") == ["e1"]
    assert "model" in shell.complete("%grad mo") and "number" in shell.complete("%why nu")


def test_every_option_of_every_magic_is_completed(shell: Kernel) -> None:
    for group in GROUPS:
        for kind, magics in group.magics.items():
            for name, method in magics.items():
                options = getattr(group, str(method)).parser._option_string_actions
                completed = shell.complete(("%%" if kind == "cell" else "%") + f"{name} --")
                assert {o for o in options if o.startswith("--")} <= set(completed) | {"--help"}, name
