"""The evaluation trace: the textbook's numbers, at two points, both modes, escaped and complete."""

import re

import pytest

import autodiff_kernel as torch
from autodiff_kernel.views.trace import trace


def f(x1, x2):
    return x1 * x2 + x1**2


def column(result, name):
    return [getattr(row, name) for row in result.model.rows]


@pytest.mark.parametrize(
    "point, values, first, second, adjoints",
    [
        ((2.0, 3.0), "2 3 6 4 10", "1 0 3 4 7", "0 1 2 0 2", "7 2 1 1 1"),
        ((3.0, 5.0), "3 5 15 9 24", "1 0 5 6 11", "0 1 3 0 3", "11 3 1 1 1"),
    ],
)
def test_seed_function(point, values, first, second, adjoints):
    result = trace(f, *point)
    assert column(result, "value") == values.split()
    assert [t[0] for t in column(result, "tangents")] == first.split()
    assert [t[1] for t in column(result, "tangents")] == second.split()
    assert column(result, "adjoint") == adjoints.split()
    assert column(result, "formula") == ["x1", "x2", "w1·w2", "w1²", "w3 + w4"]
    assert column(result, "adjoint_from")[0].startswith("w̄3·w2 + w̄4·2·w1")


def test_a_direction():
    result = trace(f, 2.0, 3.0, seeds=[(0.6, 0.8)], reverse=False)
    assert result.model.rows[-1].tangents == ("5.8",)
    assert "w̄" not in result.text


def test_worksheet_is_empty():
    result = trace(f, 2.0, 3.0, blank=True)
    assert "w3 = w1·w2" in result.text and "10" not in result.text.replace("w10", "")
    assert ">7<" not in result.html and ">10<" not in result.html


def test_a_step_stays_on_one_line_in_a_narrow_window():
    steps = re.findall(r"<th scope='row' style='([^']*)'", trace(f, 2.0, 3.0, blank=True).html)
    assert len(steps) == 5 and all("white-space:nowrap" in style for style in steps)


def test_tensors_and_tensors_from_outside():
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    result = trace(lambda x: (x * w).sum(), torch.tensor([1.0, 2.0]))
    assert column(result, "value") == ["[1, 2]", "[3, 4]", "[3, 8]", "11"]
    assert column(result, "adjoint")[0] == "[3, 4]"
    assert [row.role for row in result.model.rows] == ["input", "constant", "step", "output"]
    with_seed = trace(lambda x: (x * x).sum(), torch.tensor([1.0, 2.0]), seeds=[torch.tensor([1.0, 0.0])])
    assert with_seed.model.rows[-1].tangents == ("2",)


def test_bundle_is_complete_and_stable():
    data, meta = trace(f, 2.0, 3.0)._repr_mimebundle_()
    again, _ = trace(f, 2.0, 3.0)._repr_mimebundle_()
    assert data == again and set(data) == {"text/plain", "text/html"}
    assert "f(2, 3)" in meta["text/html"]["alt"]
    assert "<script" not in data["text/html"] and "scope='col'" in data["text/html"]


def test_names_are_escaped():
    def g(x):
        return x * x

    g.__name__ = "<script>alert(1)</script>"
    result = trace(g, 2.0)
    assert "<script" not in result.html


def test_bad_input():
    with pytest.raises(TypeError, match="one tensor"):
        trace(lambda x: 3.0, 2.0)
    with pytest.raises(RuntimeError, match="does not depend"):
        trace(lambda x: x.detach() * 2, 2.0)
    with pytest.raises(TypeError, match="at least one number"):
        trace(lambda s: s, "text")
    with pytest.raises(ValueError, match="one number per input"):
        trace(f, 2.0, 3.0, seeds=[(1.0,)])


def test_local_derivatives_stand_in_a_column():
    result = trace(f, 2.0, 3.0, partials=True)
    assert column(result, "partials")[2:] == [
        (("w1", "w2", "3"), ("w2", "w1", "2")),
        (("w1", "2·w1", "4"),),
        (("w3", "1", "1"), ("w4", "1", "1")),
    ]
    assert "∂/∂w1 = w2 = 3" in result.text and "∂/∂w1 = w2 = 3" in result.html
    assert "local derivatives" not in trace(f, 2.0, 3.0).text


def test_latex_has_formulas_derivatives_and_numbers(tmp_path):
    result = trace(f, 2.0, 3.0)
    row = r"w_{3} = w_{1} \cdot w_{2} & 6 & 3 & 2 & \partial /\partial w_{1}=w_{2}=3,\partial /\partial w_{2}=w_{1}=2"
    assert row + r" & \bar w_{5} \cdot 1 & 1 \\" in result.latex
    assert result.latex.count("{") == result.latex.count("}")
    assert result.save(tmp_path / "trace.tex").read_text(encoding="utf-8") == result.latex + "\n"
    assert "text/latex" not in result._repr_mimebundle_()[0]
    assert trace(f, 2.0, 3.0, latex=True)._repr_mimebundle_()[0]["text/latex"] == result.latex
    blank = trace(f, 2.0, 3.0, blank=True).latex
    assert "= 6" not in blank and "& 7" not in blank and r"\phantom" in blank


def test_latex_leaves_no_command_of_a_name():
    space = {}
    exec("def f(a_b):\n    return a_b * 2.0", space)
    space["f"].__name__ = r"\\input{/etc/passwd} $x$ 100%"
    source = trace(space["f"], 1.0).latex
    assert r"\input" not in source and r"\textbackslash{}" in source and r"\$x\$ 100\%" in source
    assert r"\text{a\_b}" in source.replace(" ", "")


def test_large_tensors_have_shapes_summaries_and_whole_adjoints():
    x, w = torch.ones(20, 30), torch.ones(30, 10)
    result = trace(lambda x, w: torch.sigmoid(x @ w).sum(), x, w)
    assert column(result, "value")[:2] == ["[20, 30] min 1, max 1", "[30, 10] min 1, max 1"]
    assert column(result, "value")[2:4] == ["[20, 10] not kept", "[20, 10] min 1, max 1"]
    assert column(result, "adjoint")[3] == "[20, 10] min 1, max 1"
    x = torch.full((20, 30), 0.1, requires_grad=True)
    (x.exp() * 2).sum().backward()
    big = trace(lambda x: (x.exp() * 2).sum(), torch.full((20, 30), 0.1))
    assert (
        column(big, "adjoint")[0] == f"[20, 30] min {x.grad.min().item():.4g}, max {x.grad.max().item():.4g}"
    )


def test_an_operation_with_several_results():
    def parts(x):
        a, b = x.split(1)
        return (a * b).sum()

    result = trace(parts, torch.tensor([2.0, 3.0]))
    assert column(result, "adjoint") == ["[3, 2]", "", "[3]", "[2]", "[1]", "1"]


def test_answers_are_checked_row_by_row():
    sheet = trace(f, 2.0, 3.0, blank=True)
    verdicts = sheet.check(value=[2, 3, 6, 5, None], adjoint=[7, 3], tangent=[1, 0, 3.0001], seed=0).model
    assert [v.outcome for v in verdicts] == [
        *("right", "right", "right", "wrong", "not attempted"),
        *("right", "right", "right"),
        *("right", "wrong"),
    ]
    assert [v.hint for v in verdicts if v.outcome == "wrong"] == ["w4 = w1²", "w̄2 = w̄3·w1"]
    told = sheet.check(value=[0, 0, 0, 0, 0])
    assert " 6" not in told.text and ">10<" not in told.html  # a hint is no answer
    with pytest.raises(ValueError, match="6 answers"):
        sheet.check(value=[0] * 6)
    with pytest.raises(ValueError, match="seed=2"):
        sheet.check(tangent=[0], seed=2)
    with pytest.raises(ValueError, match="no adjoints"):
        trace(f, 2.0, 3.0, reverse=False).check(adjoint=[1])


def test_a_trace_leaves_the_users_gradients_alone():
    w = torch.tensor(3.0, requires_grad=True)
    result = trace(lambda x: x * w, 2.0)
    assert column(result, "adjoint") == ["3", "2", "1"] and w.grad is None


def test_a_matrix_has_one_line_in_the_title_and_its_columns_under_each_other():
    def g(a):
        return (a * a).sum()

    result = trace(g, torch.tensor([[1.0, -2.0], [30.0, 4.0]]))
    assert result.model.call == "g([[ 1, -2], [30, 4]])"
    assert "\N{REPLACEMENT CHARACTER}" not in result.text
    assert re.search(
        r"<span style='[^']*white-space:pre;[^']*monospace[^']*'>\[\[ 1, -2\],<br> \[30,  4\]\]", result.html
    )


def test_verdicts_stand_under_each_other_however_long_the_answers():
    sheet = trace(f, 2.0, 3.0, blank=True)
    lines = sheet.check(value=[2, 3.14159, None], adjoint=[7]).text.split("\n")
    assert len({re.search("right|wrong|not attempted", line).start() for line in lines}) == 1


def test_latex_sets_words_as_one_text_and_greek_names_as_letters():
    def g(θ):
        return torch.clamp(θ * θ, min=0)

    latex = trace(g, 2.0).latex
    assert r"w_{1} = \theta" in latex and r"\text{clamp}(" in latex
    assert r" }\text{ " not in latex
