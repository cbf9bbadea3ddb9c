"""`%why` and the error view in a real kernel: each confusion is told with its cause, its lines and its cure."""

import os
import re
from collections.abc import Iterator

import pytest
from confusion_cases import CONFUSIONS, Confusion
from kernels import Answer, Kernel, kernel
from test_kernel_extension import terminal

# Of each kind one: an error with a graph, one without, a cut, a nan, an array, a list.
SOME = [
    "backward a second time",
    "shapes that do not fit",
    "a detour through NumPy",
    "softmax by hand",
    "an array that is the parameter's memory",
    "gradients that add up",
]
CASES = {case.name: case for case in CONFUSIONS}


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    """One kernel for all confusions, in which each finds what the others have left."""
    with kernel("autodiff") as running:
        running.run("import numpy as np")
        yield running


def view(answer: Answer) -> dict[str, str]:
    shown = answer.of("display_data")
    assert len(shown) == 1, (shown, answer.of("error"))
    data: dict[str, str] = shown[0]["data"]
    return data


def words(html: str) -> str:
    """What a reader of the HTML sees, in one line."""
    text = re.sub(r"<[^>]+>", "", html.replace("`", ""))
    for name, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        text = text.replace(name, char)
    return re.sub(r"\s+", " ", text)


def test_there_are_the_43_kinds_that_need_no_modules() -> None:
    assert len(CASES) == len(CONFUSIONS) == 43


@pytest.mark.parametrize("case", CONFUSIONS, ids=lambda case: case.name)
def test_why_names_the_cause_the_lines_and_the_cure(shell: Kernel, case: Confusion) -> None:
    ran = shell.run(case.code)
    assert [error["ename"] for error in ran.of("error")] == ([case.raises] if case.raises else [])
    seen = view(shell.run("%why"))
    text, html = seen["text/plain"], words(seen["text/html"])
    for part in case.says:
        assert part in text
        assert part.replace("`", "") in html
    assert case.fix in text
    assert re.sub(r"\s+", " ", case.fix) in html
    for number in case.lines:
        code = case.code.splitlines()[number - 1].strip()
        assert f"line {number}: {code}" in text
        assert f"→ {number} {code}" in html


@pytest.mark.parametrize("case", [c for c in CONFUSIONS if c.raises], ids=lambda case: case.name)
def test_the_error_view_names_them_too(shell: Kernel, case: Confusion) -> None:
    ran = shell.run(case.code)
    kinds = [output["msg_type"] for output in ran.outputs]  # gradcheck warns of single precision before
    assert [kind for kind in kinds if kind != "stream"] == ["display_data", "error"]
    seen = view(ran)
    for text in (re.sub(r"\s+", " ", seen["text/plain"].replace("`", "")), words(seen["text/html"])):
        for part in (*case.says, case.fix):
            assert re.sub(r"\s+", " ", part.replace("`", "")) in text
        for number in case.lines:
            assert f"→ {number} {case.code.splitlines()[number - 1].strip()}" in text
    frames = "".join(ran.of("error")[0]["traceback"])
    assert f"autodiff_kernel{os.sep}" not in frames  # the traceback is the user's


def test_the_bytes_are_the_same_in_every_kernel() -> None:
    told = []
    for seed in ("1", "2"):
        with kernel("autodiff", env={**os.environ, "PYTHONHASHSEED": seed}) as running:
            running.run("import numpy as np")
            if seed == "2":
                running.run("pass")  # other execution counts
            told.append([[view(a) for a in outputs(running, CASES[name])] for name in SOME])
    assert told[0] == told[1]


def outputs(running: Kernel, case: Confusion) -> list[Answer]:
    """What a cell shows (if it raises), and `%why` after it."""
    ran = running.run(case.code)
    return ([ran] if case.raises else []) + [running.run("%why")]


def test_a_plain_kernel_with_the_extension_says_the_same(shell: Kernel) -> None:
    with kernel("python3") as plain:
        plain.run("%load_ext autodiff_kernel\nimport numpy as np\nimport autodiff_kernel as torch")
        for name in SOME:
            for ours, theirs in zip(outputs(shell, CASES[name]), outputs(plain, CASES[name]), strict=True):
                assert view(ours) == view(theirs)


def test_a_terminal_says_the_same(shell: Kernel) -> None:
    # Each case is one cell, as in the notebook: what is typed in a terminal is a cell a line.
    cells = [f"_ = [get_ipython().run_cell(cell) for cell in ({CASES[n].code!r}, '%why')]" for n in SOME]
    told = terminal("%load_ext autodiff_kernel", "import numpy as np, autodiff_kernel as torch", *cells)
    told = re.sub(r"In\[\d+\], line", "line", told)  # there it says which cell, too
    for name in SOME:
        for answer in outputs(shell, CASES[name]):
            assert view(answer)["text/plain"] in told


# ------------------------------------------------------------------------------------------ what `%why` alone is about
def test_why_alone_is_about_the_last_cell_that_did_something(shell: Kernel) -> None:
    shell.run(CASES["shapes that do not fit"].code)
    for look in ("print(first.shape)", "%graph torch.ones(2, requires_grad=True) * 2", "first", "%why first"):
        shell.run(look)
        assert "first [3, 4] and second [3] do not fit" in view(shell.run("%why"))["text/plain"]
    shell.run(CASES["softmax by hand"].code)
    assert view(shell.run("%why"))["text/plain"].startswith("share has nan")


def test_why_alone_is_about_its_own_cell_where_that_has_code(shell: Kernel) -> None:
    told = view(shell.run(CASES["a detour through NumPy"].code + "\n%why"))["text/plain"]
    assert told.startswith("height does not require grad")


def test_a_cell_that_went_well_has_nothing_to_answer_for(shell: Kernel) -> None:
    shell.run(CASES["shapes that do not fit"].code)
    shell.run("good = torch.ones(2, requires_grad=True)\nsum_ = (good * 2).sum()\nsum_.backward()")
    told = view(shell.run("%why"))["text/plain"]
    assert "do not fit" not in told and "good" in told


def test_an_error_of_others_is_not_explained(shell: Kernel) -> None:
    shell.run("def f(x):\n    return unknown_name\nf(1)")
    told = view(shell.run("%why"))["text/plain"]
    assert told.startswith("NameError: name 'unknown_name' is not defined\n")
    assert "does not come from this package" in told


def test_an_array_that_a_later_cell_writes(shell: Kernel) -> None:
    shell.run("wave = torch.zeros(3, requires_grad=True)\nwith torch.no_grad():\n    samples = wave.numpy()")
    shell.run("volume = 2.0\nsamples[2] = volume")
    told = view(shell.run("%why wave"))
    assert "written by NumPy in line 2: samples[2] = volume" in told["text/plain"]
    assert "in an earlier cell" in told["text/html"]


def test_two_names_of_one_tensor(shell: Kernel) -> None:
    shell.run("mine = torch.zeros(2)\nyours = mine\nyours += 1")
    told = view(shell.run("%why"))["text/plain"]
    assert "mine and yours are one and the same tensor" in told
    assert "line 2: yours = mine" in told and "line 3: yours += 1" in told
