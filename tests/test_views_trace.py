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
