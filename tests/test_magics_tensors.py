"""`%tensor`, `%grad`, `%jacobian`, `%gradcheck` in a real kernel: what they show, and what they say of bad input."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import Kernel, complaint, kernel, shown

SETUP = """
x = torch.arange(6.).reshape(2, 3)
w = torch.tensor([3., 4.], requires_grad=True)
(w * w).sum().backward()
def f(x):
    return torch.stack([x[0] * x[1], x[0] ** 2])
p = torch.tensor([2., 3.], dtype=torch.float64)
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(SETUP)
        yield running


def test_tensor_takes_names_and_expressions(shell: Kernel) -> None:
    told = shown(shell.run("%tensor x x.t()"))
    assert told.startswith("Tensors: x, x.t()\n") and "x shares its memory with x.t()" in told
    assert shown(shell.run("%tensor x[0], x[1]")).startswith("Tensors: x[0], x[1]")
    assert shown(shell.run("%tensor x * 2.")).startswith("Tensor: x * 2.")


def test_a_sum_of_tensors_shows_its_broadcast(shell: Kernel) -> None:
    assert "x [2, 3] and torch.ones(3) [3] give [2, 3]" in shown(shell.run("%tensor x + torch.ones(3)"))
    assert "can't be broadcast" in shown(shell.run("%tensor --broadcast x w"))


def test_earlier_results_have_no_number_in_the_text(shell: Kernel) -> None:
    shell.run("x[1]")
    assert "Out[" not in shown(shell.run("%tensor x")) and "_" not in shown(shell.run("%tensor x"))


def test_grad_of_all_leaves_of_one_and_over_steps(shell: Kernel) -> None:
    assert "w          [2]            10" in shown(shell.run("%grad"))
    assert shown(shell.run("%grad w")).startswith("Gradients of 1 parameter\n")
    shell.run("for k in range(3):\n    kept = %grad --history -r w")
    assert "step 4" in shown(shell.run("%grad --history w"))
    assert "step" not in shown(shell.run("%grad --history --forget w"))


def test_jacobian_with_directions(shell: Kernel) -> None:
    told = shown(shell.run("%jacobian f p --v '[1., 0.]' --u [0,1]"))
    assert told.startswith("Jacobian of f: 2 × 2, f from [2] to [2]")
    assert "J·v = [3, 4]" in told and "uᵀ·J = [4, 0]" in told
    assert "∂ row" in shown(shell.run("%jacobian (lambda x: x * x) p"))


def test_gradcheck_with_and_without_a_plot(shell: Kernel) -> None:
    answer = shell.run("%gradcheck f p")
    assert "All three ways agree." in shown(answer)
    assert "image/svg+xml" not in answer.of("display_data")[0]["data"]
    answer = shell.run("%gradcheck f p --plot")
    assert "The best h is about" in shown(answer) and "image/svg+xml" in answer.of("display_data")[0]["data"]


@pytest.mark.parametrize("line", ["%tensor x", "%grad w", "%jacobian f p", "%gradcheck f p --plot"])
def test_each_gives_its_result_and_writes_files(shell: Kernel, tmp_path: Path, line: str) -> None:
    assert shell.run(f"kept = {line} -r\ntype(kept).__name__").results == ["'Result'"]
    for suffix in ("svg", "html", "txt"):
        file = tmp_path / f"view.{suffix}"
        assert shell.run(f"{line} -o '{file}'").text() == f"wrote {file}\n"
        assert file.stat().st_size > 200


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%tensor", "%tensor needs an expression"),
        ("%tensor 3", "3 is int, not a tensor"),
        ("%tensor x )", "')' is neither an option nor a Python expression"),
        ("%tensor --broadcast x", "of two tensors; these are 1"),
        ("%grad 3", "this is int"),
        ("%jacobian f", "needs a function and a tensor"),
        ("%jacobian p f", "p is Tensor, not a function"),
        ("%jacobian f p --v [1]", "v has the shape of x, [2]"),
        ("%gradcheck f 3", "3 is int, not a tensor"),
        ("%gradcheck f torch.ones(2,dtype=torch.int64)", "this is int64"),
    ],
)
def test_misuse_is_an_error(shell: Kernel, line: str, expected: str) -> None:
    assert expected in complaint(shell.run(line))


def test_an_error_of_the_users_function_is_the_users(shell: Kernel) -> None:
    shell.run("def broken(x):\n    raise ValueError('mine')")
    assert complaint(shell.run("%jacobian broken p"), "ValueError") == "mine"
    assert complaint(shell.run("%gradcheck broken p"), "ValueError") == "mine"


def test_options_and_names_complete(shell: Kernel) -> None:
    assert shell.complete("%tensor --br") == ["--broadcast"]
    assert shell.complete("%grad --hi") == ["--history"]
    assert "w" in shell.complete("%grad ")


@pytest.mark.parametrize("name", ["tensor", "grad", "jacobian", "gradcheck"])
def test_each_has_help_and_stands_in_the_list(shell: Kernel, name: str) -> None:
    [page] = shell.run(f"%{name}?").reply["payload"]
    assert "Example" in page["data"]["text/plain"] and f"%{name}" in page["data"]["text/plain"]
    assert f"%{name}" in shell.run("%autodiff").text()


def test_the_same_in_a_plain_kernel_with_the_extension(shell: Kernel) -> None:
    lines = ["%tensor x x.t()", "%grad w", "%jacobian f p", "%gradcheck f p --plot"]
    with kernel("python3") as plain:
        plain.run("%load_ext autodiff_kernel\nimport autodiff_kernel as torch\n" + SETUP)
        for line in lines:
            here, there = shell.run(line).of("display_data"), plain.run(line).of("display_data")
            assert here[0]["data"] == there[0]["data"]
