"""Guesses and checks as functions: which outcome, which hint, and nothing of the solution."""

from pathlib import Path

import pytest

import autodiff_kernel as torch
from autodiff_kernel.handout import page, student, unguessed
from autodiff_kernel.views import check, prediction
from autodiff_kernel.views.lessons import Guess

EVIL = "<script>alert(1)</script>\x1b[31m"


def value(v):
    return Guess(repr(v), v, True)


@pytest.mark.parametrize(
    ("guess", "result", "outcome"),
    [
        (value(12), torch.tensor(12.0), "right"),
        (value(12), torch.tensor(12.001), "wrong"),
        (value(0.33), 1 / 3, "right"),
        (value(0.34), 1 / 3, "wrong"),
        (value(0.333), torch.tensor(1 / 3), "right"),
        (value(1e-8), 2e-8, "wrong"),
        (value([1.0, 2.0]), torch.tensor([1.0, 2.0]), "right"),
        (value([1.0, 3.0]), torch.tensor([1.0, 2.0]), "wrong"),
        (value([1.0]), torch.tensor([1.0, 2.0]), "wrong"),
        (value(float("nan")), torch.tensor(float("nan")), "right"),
        (value(float("inf")), torch.tensor(float("inf")), "right"),
        (value(1), torch.tensor(float("inf")), "wrong"),
        (value((2, 3)), torch.ones(2, 3).shape, "right"),
        (value((3, 2)), torch.ones(2, 3).shape, "wrong"),
        (value(True), True, "right"),
        (value(True), False, "wrong"),
        (value(None), None, "right"),
        (Guess("None", None, True), torch.ones(1), "compare"),
        (Guess("float32"), torch.float32, "right"),
        (Guess("int64"), torch.float32, "wrong"),
        (Guess("cpu"), torch.ones(1).device, "right"),
        (Guess("error"), ValueError("no"), "right"),
        (Guess("RuntimeError"), NotImplementedError("no"), "right"),
        (Guess("TypeError"), ValueError("no"), "wrong"),
        (value(3), ValueError("no"), "wrong"),
        (Guess("an error"), 3.0, "wrong"),
        (Guess("it gets larger"), 3.0, "compare"),
        (Guess("..."), 3.0, "not attempted"),
        (Guess(""), 3.0, "not attempted"),
    ],
    ids=lambda x: str(getattr(x, "text", x)).replace("\n", " ")[:30],
)
def test_a_guess_is_judged(guess, result, outcome):
    model = prediction("y", guess, result).model
    assert model.outcome == outcome
    if outcome == "not attempted":
        assert "3" not in model.result  # first guess, then see


def test_a_prediction_shows_both_and_says_where_the_guess_comes_from():
    view = prediction("slope", value([1.0, 3.0]), torch.tensor([1.0, 2.0]))
    assert "your guess (stored in the cell)  [1.0, 3.0]" in view.text
    assert "what came out                    [1, 2]" in view.text
    assert "✗ wrong: 1 of 2 elements are right" in view.text
    assert "guess [1.0, 3.0], result [1, 2], wrong" in view.alt


# Compiled here, because pytest writes the values into the messages of a test's own assertions.
_names: dict = {}
exec(
    """
def check_double(double):
    secret = 4
    assert double(2) == secret, "twice as much"
    assert double(0.5) == 1
""",
    _names,
)
check_double = _names["check_double"]


def boom(x):
    raise ValueError("mine")


def untouched(x):
    raise NotImplementedError()


@pytest.mark.parametrize(
    ("answer", "outcome", "hint"),
    [
        (lambda x: x + x, "right", ""),
        (lambda x: x * x + 1, "wrong", "twice as much"),
        (lambda x: x * x, "wrong", ""),
        (boom, "wrong", "your code raised ValueError: mine"),
        (lambda x: nowhere, "wrong", "your code raised NameError: name 'nowhere' is not defined"),  # noqa: F821
        (untouched, "not attempted", "fill in the cell above, then run it and this one"),
        (..., "not attempted", "fill in the cell above, then run it and this one"),
    ],
)
def test_a_check_has_three_outcomes(answer, outcome, hint):
    view = check(check_double, answer)
    assert (view.model.name, view.model.outcome, view.model.hint) == ("double", outcome, hint)
    assert "secret" not in view.text + view.html and "== 4" not in view.text + view.html


def test_false_is_wrong_and_names_are_escaped():
    assert check(lambda: False, name="e").model.outcome == "wrong"
    view = check(check_double, lambda x: 0, name=EVIL)
    assert "<script" not in view.html and "\x1b" not in view.text + view.html
    view = prediction(EVIL, Guess(EVIL), EVIL)
    assert "<script" not in view.html and "\x1b" not in view.text + view.html


def test_handouts_and_students_have_no_guess():
    v4 = pytest.importorskip("nbformat").v4
    source = "%predict slope = 12\n%predict x.grad==1\nslope = f(2)\n%%predict 7"
    assert unguessed("a = 1\n%predict y = 7 == 7") == "a = 1\n%predict y = ..."
    output = v4.new_output("stream", text="slope: 12 came out\n")
    cell = v4.new_code_cell(source, outputs=[output], metadata={"tags": ["handout"]})
    book = v4.new_notebook(cells=[cell])
    blank, solved = page(book, Path()), page(book, Path(), solved=True)
    assert (
        "slope = 12" not in blank and "12 came" not in blank and "_____" in blank and "slope = f(2)" in blank
    )
    assert "%predict slope = 12" in solved and "12 came out" in solved
    assert "12" not in student(book).cells[0].source and "7" not in student(book).cells[0].source
