"""What misused magics say: one clear line, or the user's own error without a frame of ours."""

import re

import pytest
from kernels import Kernel, complaint, kernel


@pytest.fixture(scope="module")
def running():
    with kernel("autodiff") as running:
        running.run("x = torch.tensor([1., 2.], requires_grad=True)\ny = x * 3\nbig = torch.ones(10_000_000)")
        yield running


@pytest.mark.parametrize(
    "line, words",
    [
        ("%graph y -o /nonexistent/y.svg", "can't write /nonexistent/y.svg: No such file or directory"),
        ("%graph y -o", "argument -o/--output: expected one argument"),
        ("%graph --depth", "argument --depth: expected one argument"),
        ("%graph y -o .", "can't write '.': the suffix chooses the format, one of .txt"),
        ("%graph await y", "a magic can't await: give the result a name in a plain cell"),
        ("%%graph\nawait y", "a magic can't await"),
        ("%%backward\nawait y", "a magic can't await"),
        ("%jacobian torch.sin x --v '[1.,'", "(%jacobian? lists the options)"),
        ("%jacobian torch.sin big", "a Jacobian of 10,000,000 × 10,000,000 numbers is no picture"),
        ("%gradcheck torch.sin big", "are too many to compare one by one"),
        ("%gradcheck torch.sin x --eps nan", "eps is a number above 0; this is nan"),
        ("%gradcheck torch.sin x --rtol -1", "rtol is a number above 0; this is -1.0"),
        ("%descent (lambda x: (x * x).sum()) [1.,2.] --lr inf", "lr is a finite number; this is inf"),
        ("%timegrad y.sum() --seconds nan", "seconds is 0 or more; this is nan"),
        ("%trace torch.sin(2.) --seed x", "a tangent of an input of shape [] is a number or has that shape"),
        ("%trace torch.sin(2.) --seed '\"s\"'", "this is 's'"),
    ],
)
def test_misuse_is_told_in_a_line(running: Kernel, line: str, words: str) -> None:
    said = complaint(running.run(line))
    assert words in said and "\n" not in said


@pytest.mark.parametrize(
    "cell",
    [
        "%trace g(2.)",
        "%jacobian g x",
        "%gradcheck g x",
        "%grad g(x)",
        "%graph g(x)",
        "%%graph\ng(x)",
        "%step g(x)",
        "%descent g [1.,2.]",
        "%timegrad g(x)",
        "z = x * 1\nz.register_hook(g)\nz.sum().backward()",
    ],
)
def test_an_error_of_the_users_own_function_shows_no_frame_of_ours(running: Kernel, cell: str) -> None:
    running.run("def g(x):\n    raise KeyError('mine')")
    answer = running.run(cell)
    [error] = answer.of("error")
    told = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert error["ename"] == "KeyError" and "raise KeyError('mine')" in told
    assert "autodiff_kernel" not in told and "numpy" not in told and not answer.of("display_data")


@pytest.mark.parametrize("cell", ["%%graph\n1 +", "%%shapes\n1 +", "%%backward\n1 +"])
def test_a_syntax_error_looks_as_in_a_plain_cell(running: Kernel, cell: str) -> None:
    [error] = running.run(cell).of("error")
    told = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert error["ename"] == "SyntaxError" and "line 2" in told and "1 +" in told
    assert "File" not in told and "run_cell_magic" not in told


def test_an_error_in_a_line_that_went_well_before_shows_no_older_graph(running: Kernel) -> None:
    running.run("def f(a, b):\n    return torch.sin(a) * b\n_ = f(x, x)")
    [view] = running.run("f(2., 3.)").of("display_data")
    assert "sin takes tensors, and `a` is a float." in view["data"]["text/plain"]
    assert "How it came about" not in view["data"]["text/plain"]
    [view] = running.run("%why").of("display_data")
    assert "How it came about" not in view["data"]["text/plain"]


def test_no_line_of_ours_is_told_as_the_users(running: Kernel) -> None:
    [view] = running.run("%jacobian (lambda v: v @ torch.ones(4)) x").of("display_data")
    told = view["data"]["text/plain"]
    assert "→   1  (lambda v: v @ torch.ones(4))  # multiplied" in told and ".py" not in told


def test_a_cure_for_a_magic_is_code_and_its_line_is_as_typed(running: Kernel) -> None:
    [view] = running.run("%step x * 2").of("display_data")
    told = view["data"]["text/plain"]
    assert "What to write: (x * 2).sum().backward()   # or .mean()" in told
    assert "→   1  %step x * 2  # backward was asked for" in told and "earlier cell" not in told
    assert "get_ipython" not in told


def test_a_limit_that_merges_nothing_says_nothing(running: Kernel) -> None:
    [view] = running.run("%graph --limit 0 y").of("display_data")
    assert "groups" not in view["data"]["text/plain"]


def test_a_cure_calls_the_loss_by_its_name(running: Kernel) -> None:
    answer = running.run(
        "w = torch.ones(2, requires_grad=True)\nmse = (w * w).sum()\nmse.backward()\n"
        "with torch.no_grad():\n    w -= 0.1 * w.grad\nw.grad = None\n%why w"
    )
    [view] = answer.of("display_data")
    assert "What to write: mse.backward()   # before w.grad is read" in view["data"]["text/plain"]


def test_blocks_without_gradients_say_nothing_about_them(running: Kernel) -> None:
    running.run(
        "class M:\n    def __init__(self):\n        self.w = torch.ones(2, requires_grad=True)\n"
        "    def __call__(self, x):\n        with torch.scope('m'):\n            return x * self.w\n"
        "    def named_parameters(self):\n        yield 'w', self.w\n"
        "m = M()\nm(x).sum().backward()"
    )
    [view] = running.run("%graph m(x)").of("display_data")
    assert "▣" in view["data"]["text/plain"] and "last backward" not in view["data"]["text/plain"]
