"""The magics that ask, %why, %nan, %memory and %dialect, in a real kernel."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import Kernel, kernel
from test_magics import SETUP, complaint, lines, view


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(SETUP)
        yield running


CUT = "w = torch.tensor(2., requires_grad=True)\nh = (w * w).detach()"
NAN = "z = torch.tensor([800., 0.])\np = z.exp() / z.exp().sum()"


def test_why_explains_a_tensor(shell: Kernel) -> None:
    shell.run(CUT)
    answer = shell.run("%why h")
    data = view(answer)
    assert sorted(data) == ["text/html", "text/plain"]
    assert data["text/plain"].startswith("h does not require grad: `(w * w).detach()` in line 2")
    assert "← cut off here" in data["text/plain"]
    assert "<img src='data:image/svg+xml;base64," in data["text/html"]
    assert "h does not require grad" in answer.of("display_data")[0]["metadata"]["text/html"]["alt"]


def test_why_of_a_gradient_that_is_not_there_is_about_its_tensor(shell: Kernel) -> None:
    shell.run(CUT)
    answer = shell.run("%why w.grad")
    assert view(answer)["text/plain"] == view(shell.run("%why w"))["text/plain"]
    assert view(answer)["text/plain"].startswith("w.grad is None")
    shell.run("v = w * 2")
    asked = shell.run("%why v.grad")  # no leaf: reading its .grad would warn
    assert view(asked)["text/plain"].startswith("v is the result of `w * 2`") and asked.text("stderr") == ""


def test_why_of_an_expression(shell: Kernel) -> None:
    shell.run(CUT)
    assert "takes the values of w out of the graph" in view(shell.run("%why w.detach() * 2"))["text/plain"]
    assert "line 1: w.detach() * 2" in view(shell.run("%why w.detach() * 2"))["text/plain"]


def test_why_inside_a_function_sees_its_names(shell: Kernel) -> None:
    told = lines(shell.run("def g():\n    inner = (x1 * 5).detach()\n    %why inner\ng()"))
    assert told[0].startswith("inner does not require grad")


def test_why_with_all_answers(shell: Kernel) -> None:
    shell.run(NAN)
    short, full = lines(shell.run("%why p")), lines(shell.run("%why --all p"))
    assert not any(line.startswith("Also: p does not require grad") for line in short)
    assert any(line.startswith("Also: p does not require grad") for line in full)


def test_nan_follows_the_steps(shell: Kernel) -> None:
    shell.run(NAN)
    for line in ("%nan p", "%nan"):
        told = lines(shell.run(line))
        assert "p has nan because exp(800) = inf, and inf / inf = nan." in told
        assert "  1. line 2, z.exp(): exp(800) = inf (float32 holds exp only up to 88.7)" in told
    assert lines(shell.run("%nan x1")) == ["No nan and no inf is among the values of x1."]
    shell.run("del z, p")


def test_memory_is_a_table(shell: Kernel) -> None:
    shell.run("large = torch.ones(100, 10)\nlarge.requires_grad_()\nkept = (large * large).sum()")
    told = lines(shell.run("%memory large kept"))
    assert told[0] == "Memory: 2 tensors, 4.0 kB"
    assert told[1].split() == ["tensor", "shape", "values", "gradient", "graph"]
    everything = lines(shell.run("%memory"))
    assert everything[2].split()[:3] == ["large", "[100,", "10]"] and len(everything) > 4
    shell.run("del large, kept")


def test_dialect_is_switched_and_shown(shell: Kernel) -> None:
    assert lines(shell.run("%dialect"))[0] == "Dialect: modern"
    try:
        assert shell.run("%dialect 2017\nprint(torch.FloatTensor([1, 2]))").text().split()[-1] == "2]"
        told = lines(shell.run("%dialect"))
        assert told[0] == "Dialect: 2017" and "division of integers: IntTensor([7]) / 2" in told
        shell.run("old = torch.FloatTensor([0, 1]).log()")
        assert lines(shell.run("%why old"))[0].startswith("old has inf because log(0) = -inf")
    finally:
        shell.run("%dialect modern")
    assert shell.run("torch.get_dialect()").results == ["'modern'"]


@pytest.mark.parametrize("magic", ["why h", "nan h", "memory h", "dialect"])
def test_results_are_given_back_or_written(shell: Kernel, tmp_path: Path, magic: str) -> None:
    shell.run(CUT)
    answer = shell.run(f"shown = %{magic} -r\ntype(shown).__name__")
    assert (answer.results, answer.of("display_data")) == (["'Result'"], [])
    for suffix in ("html", "txt"):
        file = tmp_path / f"the answer.{suffix}"
        assert shell.run(f"%{magic} -o '{file}'").text() == f"wrote {file}\n"
        assert len(file.read_text(encoding="utf-8")) > 20
    assert ".html .txt" in complaint(shell.run(f"%{magic} -o nothing.xyz")).replace(
        ".txt .html", ".html .txt"
    )


@pytest.mark.parametrize(
    "line, told",
    [
        ("%why 3", "got int; for example: %why w"),
        ("%why (", "'(' is neither an option nor a Python expression. An example: %why w"),
        ("%why --al h", "'--al h' is neither an option nor a Python expression"),
        ("%nan 3", "got int; for example: %nan y"),
        ("%nan x1.grad_fn.nothing(", "An example: %nan"),
        ("%nan None", "None is None; for example: %nan y"),
        ("%memory weigts", "there is no variable 'weigts'"),
        ("%memory --deep", "unrecognized arguments: --deep"),
        ("%dialect 2016", "invalid choice: '2016'"),
        ("%whi h", "Did you mean %why?"),
    ],
)  # fmt: skip
def test_misuse_is_an_error_that_says_how(shell: Kernel, line: str, told: str) -> None:
    answer = shell.run(line)
    [error] = answer.of("error")
    assert error["ename"] == "UsageError"
    assert told in error["evalue"] + "".join(error["traceback"])


def test_a_wrong_name_is_pythons_own_error(shell: Kernel) -> None:
    for line in ("%why nothere", "%nan nothere", "%why nothere.grad"):
        [error] = shell.run(line).of("error")
        assert error["ename"] == "NameError" and "asking.py" not in "".join(error["traceback"])


def test_they_are_listed_completed_and_explained(shell: Kernel) -> None:
    listed = shell.run("%autodiff").text()
    for example in ("%why", "%why w", "%nan y", "%memory", "%dialect 2017"):
        assert f"\n{example} " in listed
    shell.run("weight_of_all = torch.ones(1)")
    assert shell.complete("%why --a") == ["--all"]
    assert "weight_of_all" in shell.complete("%why weight_of")
    assert "weight_of_all" in shell.complete("%nan weight_of")
    assert "weight_of_all" in shell.complete("%memory weight_of")
    assert shell.complete("%dialect 20") == ["2017"]
    for name in ("why", "nan", "memory", "dialect"):
        [page] = shell.run(f"%{name}?").reply["payload"]
        text = page["data"]["text/plain"]
        assert "Example::" in text and f"%{name}" in text.split("Example::")[1]
