"""Answers as data, text and HTML, and the pictures that go with them."""

import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest
from cells import Cell, cell
from confusion_cases import CONFUSIONS

import autodiff_kernel as torch
from autodiff_kernel import explain
from autodiff_kernel.core.places import Place
from autodiff_kernel.explain import Answer, Line
from autodiff_kernel.views.dialect import dialect
from autodiff_kernel.views.error import error
from autodiff_kernel.views.history import history
from autodiff_kernel.views.memory import memory
from autodiff_kernel.views.model import FREE, GraphView
from autodiff_kernel.views.nan import nan
from autodiff_kernel.views.result import Result
from autodiff_kernel.views.why import why

CASES = {case.name: case for case in CONFUSIONS}
LIMIT = 1_000_000  # characters of an output


def ran(name: str) -> Cell:
    case = CASES[name]
    raises = None if not case.raises else Exception
    return cell(case.code + "\n", {"torch": torch, "np": np}, raises)


def asked(ns: Cell, name: str, **options: bool) -> Result:
    return why(eval(name, ns), namespace=ns, **options)


def marks(graph: GraphView | None) -> dict[str, str]:
    """What is written on which box: the words by 'name op'."""
    assert graph is not None
    return {f"{node.name} {node.op}".strip(): node.mark for node in graph.nodes if node.mark}


def parse(html: str) -> None:
    """Raise an error unless each tag is closed where it should be."""
    ElementTree.fromstring("<r>" + re.sub(r"(<img [^>]*)>", r"\1/>", html) + "</r>")


def seen(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


# ------------------------------------------------------------------------------------------ the model
def test_the_model_is_the_answer_as_plain_data() -> None:
    ns = ran("a tensor made of tensors")
    view = asked(ns, "pair").model
    answer = explain.why(ns["pair"], ns)
    [first] = view.findings
    assert (first.topic, first.finding, first.text) == (answer.topic, answer.finding, str(answer))
    assert (first.fix, first.lesson, first.calm) == (answer.fix, answer.lesson, False)
    [(where, lines)] = first.excerpts
    assert where == ""
    assert [(line.number, line.note) for line in lines] == [(2, ""), (3, "only numbers were copied")]
    assert view.to_dict()["findings"][0]["topic"] == "numbers copied"


def test_the_cells_magics_stand_as_they_were_typed() -> None:
    shell = SimpleNamespace(run_line_magic=lambda name, line: None)
    code = "x = torch.ones(2, requires_grad=True)\nget_ipython().run_line_magic('graph', 'x * 2')\nk = x.detach()\n"
    ns = cell(code, {"torch": torch, "get_ipython": lambda: shell})
    [(_, lines)] = asked(ns, "k").model.findings[0].excerpts
    assert [line.text for line in lines] == ["%graph x * 2", "k = x.detach()"]


def test_a_question_without_a_fault_is_answered_calmly() -> None:
    ns = cell("w = torch.ones(2, requires_grad=True)\nloss = (w * 2).sum()\nloss.backward()\n")
    result = asked(ns, "w")
    assert result.model.findings[0].topic == "as it should be" and result.model.findings[0].calm
    assert result.model.graph is None
    assert "#b3003c" not in result.html  # no red


def test_data_that_nobody_asked_gradients_for_is_no_fault_unless_backward_fails() -> None:
    ns = ran("nothing that requires grad")
    calm, failed = asked(ns, "cost").model, asked(ns, "error").model
    assert calm.findings[0].topic == failed.findings[0].topic == "nobody asked"
    assert (calm.findings[0].calm, marks(calm.graph)) == (True, {})
    assert (failed.findings[0].calm, marks(failed.graph)) == (False, {"cost sum": "asked about"})


def test_what_is_merely_so_is_not_told_beside_a_fault_unless_all_is_asked() -> None:
    ns = ran("half precision that overflows")
    short, full = asked(ns, "energy"), asked(ns, "energy", everything=True)
    assert [it.topic for it in short.model.findings] == ["inf"]
    assert [it.topic for it in full.model.findings] == [a.topic for a in explain.answers(ns["energy"], ns)]
    assert len(full.model.findings) > 1
    assert "\nAlso: energy does not require grad" in full.text
    assert "<details open='open' style=" in full.html and "<details open" not in short.html


def test_further_faults_are_named_in_the_text_and_behind_a_click_in_html() -> None:
    ns = ran("a sum that keeps all graphs")
    result = asked(ns, "running")
    first, *others = result.model.findings
    assert first.topic == "graph grows" and others
    for other in others:
        assert f"Also: {other.finding}" in result.text
        assert "also: " in result.html
        assert other.fix not in result.text


def test_an_exception_says_what_it_is() -> None:
    ns = ran("backward a second time")
    result = asked(ns, "error")
    assert result.model.about.startswith("RuntimeError: Trying to backward through the graph a second time")
    assert len(result.model.about) <= 100
    assert result.text.splitlines()[1].startswith("The graph of volume was freed")


def test_the_last_exception_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    ns = ran("shapes that do not fit")
    monkeypatch.setattr("sys.last_exc", ns["error"], raising=False)
    monkeypatch.setattr("sys.last_value", ns["error"], raising=False)
    assert "first [3, 4] and second [3] do not fit" in why(namespace=ns).text


def test_no_exception_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.last_exc", None, raising=False)
    monkeypatch.setattr("sys.last_value", None, raising=False)
    assert "No exception was left uncaught" in why(namespace={}).text


def test_the_names_are_the_callers() -> None:
    with torch.no_grad():
        explain.watch()
        try:
            weight = torch.ones(2, requires_grad=True)
            frozen = weight.detach()
            assert "frozen does not require grad" in why(frozen).text
        finally:
            explain.watch(False)


def test_a_model_is_asked_by_its_parameters() -> None:
    ns = cell("""class Line:
    def __init__(self):
        self.slope = torch.ones(2, requires_grad=True)
        self.shift = torch.zeros(2, requires_grad=True)
    def named_parameters(self):
        return [("slope", self.slope), ("shift", self.shift)]
model = Line()
loss = (model.slope * 3).sum()
loss.backward()
""")
    result = asked(ns, "model")
    assert "model.shift" in result.model.findings[0].finding
    assert marks(result.model.graph) == {"model.shift": "not in this graph"}


@pytest.mark.parametrize("thing", [3, "text", None, object(), {1}])
def test_what_no_answer_can_be_about(thing: object) -> None:
    with pytest.raises(TypeError, match="got " + type(thing).__name__):
        why(thing, namespace={})


def test_a_cure_in_words_is_no_code() -> None:
    ns = ran("an input that was not used")
    html = asked(ns, "error").html
    assert "<b>What to do:</b>" in html and "What to write" not in html


# ------------------------------------------------------------------------------------------ the picture
@pytest.mark.parametrize(
    "name, thing, expected",
    [
        ("a leaf that was converted", "theta", {"theta conversion": "a new tensor"}),
        ("an update that makes a new tensor", "slope", {"slope sub": "a new tensor"}),
        ("an input that was not used", "error", {"far": "not in this graph"}),
        ("a tensor made of tensors", "pair", {"pair tensor": "only numbers"}),
        ("a loss that was computed under no_grad", "error", {"level exp": "cut off here"}),
        ("a loss that was made a leaf", "cost", {"cost requires_grad_": "made a leaf"}),
        ("a detour through NumPy", "height", {"numpy": "left the graph", "height": "came back"}),
        ("backward a second time", "error", {"volume mul": "saved here"}),
        ("a part that was computed before the loop", "error", {"part exp": "saved here"}),
        ("a saved value that was changed", "error", {"effect tanh": "saved here", "effect mul, in place": "changed here"}),
        ("a saved value that was changed unseen", "dose", {"effect exp": "saved here", "zero, in place": "changed here"}),
        ("detach shares the memory", "plan", {"draft detach": "one memory", "draft assignment, in place": "changed here"}),
        ("gradients that add up", "weight", {"weight": "added up here"}),
        ("a column and a row", "error", {"sub": "stretched here"}),
        ("a view that mixes the samples", "rows", {"rows reshape": "cut anew here"}),
        ("a view of what was turned round", "error", {"grid t": "turned round here"}),
        ("bytes that wrap around", "lighter", {"lighter add": "wraps around here"}),
        ("a conversion that nobody kept", "sample", {"conversion": "thrown away"}),
        ("where does not protect the other branch", "area", {"sqrt": "begins here"}),
        ("softmax by hand", "share", {"exp": "begins here"}),
        ("a row that is masked as a whole", "attention",
         {"logit masked_fill": "begins here", "attention softmax": "and here"}),
        ("a derivative at a kink", "depth", {"abs": "at its kink"}),
    ],
)  # fmt: skip
def test_the_break_is_marked(name: str, thing: str, expected: dict[str, str]) -> None:
    result = asked(ran(name), thing)
    assert marks(result.model.graph) == expected
    for words in expected.values():
        assert f"← {words}" in result.text
        assert result.html.count("<img ") == 1


def test_in_a_loop_the_round_in_which_it_began_is_marked() -> None:
    ns = cell("""x = torch.tensor([2.0, 1.0])
for k in range(8):
    x = x * x
w = torch.tensor(1.0, requires_grad=True)
for k in range(3):
    w.grad = None
    ((w - k) ** 2).sqrt().backward()
    if k == 1:
        break
""")
    graph = asked(ns, "x").model.graph
    values = [(node.value, node.mark) for node in graph.nodes]
    assert [value for value, mark in values if mark] == ["[inf, 1]"]
    assert values[-3:] == [("[1.845e19, 1]", ""), ("[inf, 1]", "begins here"), ("[inf, 1]", "")]
    assert marks(asked(ns, "w").model.graph) == {"sqrt": "begins here"}


def test_what_lies_outside_the_graph_is_drawn_as_outside() -> None:
    ns = ran("a loss that was computed under no_grad")
    graph = asked(ns, "error").model.graph
    assert [(node.name, node.role) for node in graph.nodes] == [
        ("gain", "leaf"),
        ("level", FREE),
        ("cost", FREE),
    ]
    assert graph.notes == ("Dashed: outside the graph, so no gradient comes back from there.",)
    plain = asked(ran("softmax by hand"), "share").model.graph
    assert FREE not in {node.role for node in plain.nodes}  # nothing requires grad, so nothing is outside


def test_the_picture_has_the_gradients_also_where_the_graph_is_gone() -> None:
    ns = ran("the slope of a norm at zero")
    graph = asked(ns, "step").model.graph
    assert [(node.name or node.op, node.grad) for node in graph.nodes] == [
        ("step", "[nan, nan, nan]"),
        ("mul", "[inf, inf, inf]"),
        ("sum", "inf"),
        ("length", "1"),
    ]
    assert any("= inf" in edge.label for edge in graph.edges)


def test_several_results_of_one_operation() -> None:
    ns = cell("""x = torch.ones(4, requires_grad=True)
left, right = x.split(2)
cut = (left * right).detach()
""")
    graph = asked(ns, "cut").model.graph
    assert [node.name for node in graph.nodes] == ["x", "left", "right", "", "cut"]
    assert [node.role for node in graph.nodes] == ["leaf", "op", "op", "op", FREE]


def test_a_long_history_is_drawn_small() -> None:
    ns = cell("""w = torch.ones(3, requires_grad=True)
h = w
for k in range(20):
    h = (h * 1.01).tanh()
loss = h.sum().detach()
""")
    result = asked(ns, "loss")
    graph = result.model.graph
    assert [node.name or node.op for node in graph.nodes] == ["w", "h", "sum", "loss"]
    assert graph.nodes[1].count == 20 and "×20" in result.text
    assert marks(graph) == {"loss detach": "cut off here"}
    assert graph.left_out == "40 operations are drawn as 1 group; ×n marks a step that repeats n times."


def test_what_was_not_kept_of_a_history_is_said() -> None:
    ns = cell("""h = w = torch.ones(3, requires_grad=True)
for k in range(400):
    h = (h * 1.01).tanh()
loss = h.sum().detach()
""")
    graph = asked(ns, "loss").model.graph
    assert len(graph.nodes) <= 30
    assert "w" not in {node.name for node in graph.nodes}
    assert graph.left_out.endswith("Earlier steps are left out.")


def test_a_node_deep_in_a_graph_is_asked_without_recursion() -> None:
    ns = cell("""h = w = torch.ones(2, requires_grad=True)
for k in range(20_000):
    h = h * 1.0001
loss = h.sum()
loss.backward()
""")
    assert asked(ns, "w").model.findings[0].topic == "as it should be"
    assert history([ns["loss"].fact], ns) is not None


def test_nothing_recorded_no_picture() -> None:
    plain = torch.ones(2, requires_grad=True)
    result = why((plain * 2).detach(), namespace={})
    assert result.model.graph is None
    assert "recording is off" in result.text


# ------------------------------------------------------------------------------------------ nan
def test_the_trail_forward() -> None:
    ns = cell("""vote = torch.tensor([800.0, 0.0])
share = vote.exp() / vote.exp().sum()
mean = (share * 2).mean()
""")
    lines = nan(ns["mean"], namespace=ns).text.splitlines()
    assert lines[:6] == [
        "mean: 1 of 1 values nan or inf",
        "mean has nan because exp(800) = inf, and inf / inf = nan.",
        "forward:",
        "  1. line 2, vote.exp(): exp(800) = inf (float32 holds exp only up to 88.7)",
        "  2. line 2, vote.exp() / vote.exp().sum(): inf / inf = nan (numerator and denominator are both infinite)",
        "  3. from there it went on through mul, mean",
    ]


def test_the_trail_backward() -> None:
    ns = ran("the slope of a norm at zero")
    text = nan(ns["step"], namespace=ns).text
    assert text.startswith("step: 0 of 3 values nan or inf, gradient 3 of 3\nstep.grad is nan because")
    assert "\nbackward:\n  1. line 2, (step * step).sum().sqrt(): " in text
    assert "\n  2. line 2, step * step: " in text


def test_all_tensors_are_looked_at_and_the_first_nan_in_time_comes_first() -> None:
    ns = cell("""good = torch.ones(2)
late = torch.tensor([0.0, 1.0])
early = torch.tensor([-1.0]).sqrt()
worse = late.log() * 2
""")
    view = nan(namespace=ns).model
    assert view.about == "early: 1 of 1 values nan or inf; worse: 1 of 2 values nan or inf"
    assert [it.finding.split()[0] for it in view.findings] == ["early", "worse"]
    assert nan([ns["good"], ns["worse"]], namespace=ns).model.findings[0].finding.startswith("worse has inf")


@pytest.mark.parametrize("x", [torch.ones(3), torch.arange(3), [torch.ones(1)], {"a": torch.ones(1)}, []])
def test_no_nan(x: object) -> None:
    view = nan(x, namespace={}).model
    assert view.findings[0].calm
    assert re.match("No nan and no inf|There is no tensor", view.findings[0].finding)


def test_a_nan_in_a_long_list_or_in_a_model() -> None:
    ns = cell("""many = [torch.tensor([2.0 - k]).sqrt() for k in range(500)]
class Model:
    def named_parameters(self):
        return [("scale", many[4])]
model = Model()
""")
    view = nan(ns["many"], namespace=ns).model
    assert view.about.startswith("many[3]: 1 of 1 values nan or inf; many[4]: ")
    assert view.about.endswith("; and 491 more")
    assert nan(ns["model"], namespace=ns).model.about == "model.scale: 1 of 1 values nan or inf"


def test_a_nan_of_which_nothing_was_recorded() -> None:
    text = nan(torch.tensor([1.0, float("nan")]).log(), namespace={}).text
    assert "1 of 2 values nan or inf" in text and "was not recorded" in text


def test_a_number_has_no_trail() -> None:
    with pytest.raises(TypeError, match="got int"):
        nan(3, namespace={})


# ------------------------------------------------------------------------------------------ memory and dialect
def test_memory_is_that_of_explain_with_the_largest_first() -> None:
    ns = cell("""w = torch.ones(1000, requires_grad=True)
loss = (w.exp() * 2).sum()
loss.backward()
wide = torch.zeros(50, 100)
""")
    view = memory(ns).model
    assert [(h.name, h.own, h.gradient) for h in view.held] == [
        ("wide", 20_000, 0),
        ("w", 4000, 4000),
        ("loss", 4, 0),
    ]
    assert view.total == explain.memory(ns).total
    assert view.title == "Memory: 3 tensors, 28.0 kB"


def test_memory_names_the_line_that_keeps_most() -> None:
    ns = cell("w = torch.ones(1000, requires_grad=True)\nloss = (w.exp() * 2).sum()\n")
    result = memory(ns)
    assert "4.0 kB in 3 nodes, most by line 2: loss = (w.exp() * 2).sum()" in result.text
    assert "4.0 kB in 3 nodes, most by line 2: loss = (w.exp() * 2).sum()" in seen(result.html)


def test_many_tensors_are_summed_up() -> None:
    result = memory({f"t{k}": torch.ones(10) for k in range(100)})
    assert "… and 60 more, which hold 2.4 kB" in result.text
    assert "… and 60 more, which hold 2.4 kB" in seen(result.html)


def test_no_tensors() -> None:
    assert memory({"x": 3}).text == "Memory: 0 tensors, 0 B"
    parse(memory({}).html)


def test_the_dialects_side_by_side() -> None:
    result = dialect()
    assert result.text.startswith("Dialect: modern\n")
    assert "modern, spoken now" in result.html and "2017, spoken now" not in result.html
    with torch.set_dialect("2017"):
        old = dialect()
        assert old.text.startswith("Dialect: 2017\n") and "2017, spoken now" in old.html
    for difference in torch.dialect.TABLE.values():
        assert difference.old in result.text and difference.modern in result.text


# ------------------------------------------------------------------------------------------ what all of them keep to
def everything() -> list[tuple[str, Result]]:
    """All views of this file, of all confusions."""
    found = []
    for case in CONFUSIONS:
        ns = ran(case.name)
        things = [ns["error"]] if case.raises else [t for t in ns.values() if isinstance(t, torch.Tensor)]
        found += [
            (case.name, why(t, namespace=ns, everything=full)) for t in things for full in (False, True)
        ]
        if case.raises:
            found.append((case.name, error(ns["error"], namespace=ns)))
        found.append((case.name, nan(namespace=ns)))
    return [*found, ("memory", memory(ns)), ("dialect", dialect())]


def test_html_is_well_formed_has_no_script_and_asks_no_network() -> None:
    for name, result in everything():
        html = result.html
        parse(html)
        assert not re.search(r"<(script|style|link|svg)\b|(src|href)=.https?:|\son\w+=", html), name


def test_each_text_and_ground_brings_its_own_colour() -> None:
    for name, result in everything():
        for style in re.findall(r"<(?:pre|code)\b[^>]*style='([^']*)'", result.html):
            assert re.search(r"(?:^|;)color:#", style), (name, style)


def test_pictures_have_an_alternative_text() -> None:
    for name, result in everything():
        assert result.alt, name
        for alt in re.findall(r"<img [^>]*alt='([^']*)'", result.html):
            assert alt, name


def test_there_are_no_ids_addresses_or_paths() -> None:
    for name, result in everything():
        assert not re.search(r"0x[0-9a-f]{6,}|ipython-input|/tmp/|\bid=", result.text + result.html), name


# ------------------------------------------------------------------------------------------ hostile input
NASTY = {
    "script": "<script>alert(1)</script>",
    "quotes": "'\"`&amp;</pre></div>",
    "newlines": "a\nb\r\nc\x0bd\x85e\u2028f",
    "controls": "\x1b[31mred\x07\x00\x08",
    "right to left": "\u202etxet\u202c \u2067\u0634\u2069",
    "dot and latex": r"\N { } | $x^2$ \href{javascript:alert(1)} % & # ~",
    "long": "x" * 10_000,
}  # fmt: skip
PLACE = Place(compile("x = 1", "<ipython-input-0-nasty>", "exec"), 2)


def check_output(result: Result) -> None:
    """Nothing nasty is left in it, and it is not large."""
    text, html = result.text, result.html
    assert len(text) + len(html) < LIMIT
    assert "<script" not in html and "<img src=x" not in html and "</pre></div>alert" not in html
    for char in "\x1b\x07\x00\x08\r\x0b\x85\u2028\u202e\u2067":
        assert char not in text and char not in html
    parse(html)


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
def test_nasty_text_in_every_field_of_an_answer(nasty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(
        nasty,
        nasty,
        (Line(nasty, PLACE), Line(nasty + " in", PLACE)),
        nasty,
        nasty,
        (nasty, "  " + nasty, "   ^"),
        (),
        False,
    )
    monkeypatch.setattr(Place, "text", nasty)
    monkeypatch.setattr("linecache.getline", lambda name, number: nasty)
    monkeypatch.setattr(
        explain, "answers", lambda x, namespace: [answer, Answer("other", nasty * 2, fix=nasty)]
    )
    for full in (False, True):
        check_output(why(torch.ones(1), namespace={}, everything=full))


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
def test_nasty_names_of_tensors(nasty: str) -> None:
    ns = cell("""w = torch.ones(2, requires_grad=True)
h = (w * 2).detach()
bad = (h - 2).log()
""")
    named = {"torch": torch, nasty: ns["w"], nasty + "2": ns["h"], "d": {nasty: ns["bad"]}}
    for result in (
        why(ns["h"], namespace=named),
        why(ns["bad"], namespace=named, everything=True),
        nan(namespace=named),
        nan(ns["bad"], namespace=named),
        memory(named),
    ):
        check_output(result)


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY)
def test_nasty_exceptions(nasty: str) -> None:
    from autodiff_kernel.core.errors import explain as explained

    wrong = explained(RuntimeError, nasty, nasty, nasty, ((nasty, PLACE),))
    check_output(error(wrong, namespace={nasty: torch.ones(1)}))
    check_output(why(wrong, namespace={}))
    check_output(why(ValueError(nasty), namespace={}))


def test_a_nasty_line_of_source() -> None:
    nasty = NASTY["script"] + NASTY["right to left"] + NASTY["long"]
    ns = cell(
        f"w = torch.ones(2, requires_grad=True)  # {nasty}\nh = w.detach()  # {nasty}\nb = h * h  # {nasty}\n"
    )
    check_output(asked(ns, "h"))
    check_output(asked(ns, "b", everything=True))


def test_more_answers_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "'" * 2000
    found = [
        Answer("nan", f"{k} {long}", (), f"{k} {long}", "lesson", (f"{k} {long}",) * 30) for k in range(300)
    ]
    monkeypatch.setattr(explain, "answers", lambda x, namespace: found)
    short, full = why(torch.ones(1), namespace={}), why(torch.ones(1), namespace={}, everything=True)
    for result in (short, full):
        check_output(result)
        shown = len(result.model.findings)
        assert shown >= 1 and result.model.left_out == 300 - shown
    assert f"Also: {full.model.left_out} more, for which there is no room" in full.text
    assert " more (--all gives all answers in full)" in short.text and " more (--all" in short.html


def test_a_thousand_tensors_with_nan() -> None:
    ns = cell(
        "many = [torch.tensor([-1.0 - k]).log() for k in range(1000)]\none = torch.tensor([-1.0]).sqrt()\n"
    )
    for result in (
        nan(namespace=ns),
        nan(ns["many"], namespace=ns, everything=True),
        why(ns["many"], namespace=ns),
    ):
        assert len(result.text) + len(result.html) < LIMIT


def test_an_exception_that_cannot_be_printed() -> None:
    class Odd(RuntimeError):
        def __str__(self) -> str:
            raise ValueError("no text")

    with pytest.raises(ValueError, match="no text"):
        why(Odd(), namespace={})


def test_what_grad_holds_stands_in_one_line_of_the_text() -> None:
    explain.watch()
    try:
        w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        for _ in range(2):
            (w * w).sum().backward()
        text = why(w, namespace={"w": w}).text
    finally:
        explain.watch(False)
    [leaf] = [line for line in text.splitlines() if line.startswith("◆  w ")]
    assert "[[2, 4], [6, 8]]" in leaf and re.search(
        r"\[\[ ?4,  ?8\], \[ ?12, ?16\]\]|\[\[4, 8\], \[12, 16\]\]", leaf
    )
