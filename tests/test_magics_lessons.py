"""`%predict` and `%check` in a real kernel, with no one at the keyboard."""

from collections.abc import Iterator

import pytest
from kernels import Kernel, complaint, kernel, shown

SETUP = """
def f(x):
    return x ** 3
def check_e1(double):
    assert double(2) == 4, "twice as much"
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(SETUP)
        yield running


def test_a_guess_in_the_same_cell_is_compared_after_it(shell: Kernel) -> None:
    told = shown(
        shell.run(
            "%predict slope = 12\nx = torch.tensor(2., requires_grad=True)\nf(x).backward()\nslope = x.grad"
        )
    )
    assert "✓ right" in told and told.startswith("Prediction of slope")
    assert shell.run("slope = 3").of("display_data") == []  # told once


def test_a_guess_in_a_cell_of_its_own_waits_for_the_name(shell: Kernel) -> None:
    assert shell.run("%predict later = 5").outputs == []
    assert shell.run("unrelated = 1").outputs == []
    assert "✗ wrong" in shown(shell.run("later = 6"))


def test_a_guess_of_an_attribute_and_of_an_error(shell: Kernel) -> None:
    told = shown(shell.run("%predict v.shape = (2, 3)\nv = torch.ones(2, 3)"))
    assert "✓ right" in told
    answer = shell.run("%predict bad = error\nbad = torch.ones(2) + torch.ones(3)")
    assert answer.reply["ename"] == "RuntimeError"
    assert any("✓ right" in c["data"]["text/plain"] for c in answer.of("display_data"))


def test_without_a_guess_nothing_is_given_away(shell: Kernel) -> None:
    answer = shell.run("%predict blank = ...\nblank = 41 + 1")
    assert answer.text() == "blank: no guess yet. Write it after the = and run this cell again.\n"
    assert answer.of("display_data") == []
    answer = shell.run("%%predict ...\nran = 1\nran")
    assert "It has not been run yet" in answer.text() and answer.results == []
    assert shell.run("'ran' in globals()").results == ["False"]


def test_a_cell_of_its_own_is_run_after_the_guess(shell: Kernel) -> None:
    assert "✓ right" in shown(shell.run("%%predict 8\nf(2)"))
    answer = shell.run("%%predict cube = 9\ncube = f(2)\ncube + 1")
    assert "✗ wrong" in answer.of("display_data")[0]["data"]["text/plain"] and answer.results == ["9"]
    answer = shell.run("%%predict error\n1 / 0")
    assert answer.reply["ename"] == "ZeroDivisionError"
    assert "✓ right" in answer.of("display_data")[0]["data"]["text/plain"]


def test_the_same_bytes_with_and_without_history(shell: Kernel) -> None:
    code = "%predict n = 4\nn = 2 + 2"
    assert shown(shell.run(code)) == shown(shell.run(code, history=False))


def test_three_outcomes(shell: Kernel) -> None:
    assert (
        complaint(shell.run("%check e1"), "NotAttempted")
        == "e1: not attempted: there is no double yet: run the cell above"
    )
    shell.run("def double(x):\n    raise NotImplementedError()")
    assert complaint(shell.run("%check e1"), "NotAttempted").startswith("e1: not attempted")
    shell.run("def double(x):\n    return x ** 3")
    answer = shell.run("%check e1")
    assert complaint(answer, "Wrong") == "e1: wrong. Hint: twice as much"
    assert answer.of("error")[0]["traceback"] == ["Wrong: e1: wrong. Hint: twice as much"]
    shell.run("def double(x):\n    return x + x")
    assert shown(shell.run("%check e1")) == "✓ e1: right"
    assert shown(shell.run("%check check_e1 (lambda x: 2 * x)")) == "✓ e1: right"


def test_a_check_in_a_cell(shell: Kernel) -> None:
    shell.run("half = lambda x: x / 2")
    assert shown(shell.run("%%check e2\nmine = half(4)\nassert mine == 2, 'divide'")) == "✓ e2: right"
    assert shell.run("'mine' in globals()").results == ["False"]
    assert (
        complaint(shell.run("%%check e2\nassert half(4) == 1, 'divide'"), "Wrong")
        == "e2: wrong. Hint: divide"
    )
    told = complaint(shell.run("%%check e2\nassert missing(4) == 1"), "NotAttempted")
    assert told == "e2: not attempted: there is no missing yet: run the cell above"
    kept = shell.run("kept = %check -r e1 (lambda x: 0)\nkept.model.outcome")
    assert kept.results == ["'wrong'"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%predict", "a guess looks like this"),
        ("%predict 12", "a guess looks like this"),
        ("%predict 3 + 4 = 7", "is no name"),
        ("%check", "needs the name of a check"),
        ("%check e9", "there are: e1"),
        ("%%check\nassert True", "needs the name of the exercise"),
    ],
)
def test_misuse_is_an_error(shell: Kernel, code: str, expected: str) -> None:
    assert expected in complaint(shell.run(code), "UsageError")


@pytest.mark.parametrize("name", ["predict", "check"])
def test_each_has_help_and_stands_in_the_list(shell: Kernel, name: str) -> None:
    [page] = shell.run(f"%{name}?").reply["payload"]
    assert "Example" in page["data"]["text/plain"]
    assert f"%{name}" in shell.run("%autodiff").text()


def test_the_same_in_a_plain_kernel_with_the_extension(shell: Kernel) -> None:
    code = "%predict m = [1, 2]\nm = torch.tensor([1., 2.])"
    with kernel("python3") as plain:
        plain.run("%load_ext autodiff_kernel\nimport autodiff_kernel as torch\n" + SETUP)
        assert shown(plain.run(code)) == shown(shell.run(code))
        assert complaint(plain.run("%check e1 (lambda x: 0)"), "Wrong").endswith("twice as much")
