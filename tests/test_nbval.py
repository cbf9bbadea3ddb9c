"""What nbval, the judge of the lessons, makes of our kernel: a right notebook passes, a broken one does not."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

PICTURE = """\
x = torch.tensor(2., requires_grad=True)
y = x * x
y.backward()
%graph y
%trace (lambda a: a * a)(3.)"""


def judge(path: Path, kernel: str = "autodiff") -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
        "--nbval",
        str(path),
    ]
    done = subprocess.run(
        [*command, f"--nbval-kernel-name={kernel}"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done


def executed(tmp_path: Path, *sources: str) -> Path:
    """A notebook with the outputs that the `run` command stored."""
    from autodiff_kernel import cli

    path = tmp_path / "lesson.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    assert cli.main(["run", str(path), "-o", str(tmp_path)]) == 0
    return tmp_path / "lesson.executed.ipynb"


def test_a_right_notebook_passes_with_pictures_and_a_semicolon(tmp_path: Path) -> None:
    done = judge(executed(tmp_path, PICTURE, "y;", "y"))
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_a_notebook_with_load_ext_passes_in_a_plain_kernel(tmp_path: Path) -> None:
    start = "%load_ext autodiff_kernel\nimport autodiff_kernel as torch"
    plain = executed(tmp_path, "import autodiff_kernel as torch", PICTURE, "y")
    book = nbformat.read(plain, as_version=4)
    book.cells[0].source = start
    nbformat.write(book, plain)
    done = judge(plain, "python3")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("broken", ["%grahp y", "%graph", "%%graph\nz = 1", "%place nosuch"])
def test_a_broken_magic_fails(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "lesson.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(broken)]), path)
    done = judge(path)
    assert done.returncode == 1
    assert "UsageError" in done.stdout


def test_a_changed_picture_fails(tmp_path: Path) -> None:
    path = executed(tmp_path, PICTURE)
    book = nbformat.read(path, as_version=4)
    html = book.cells[0].outputs[0]["data"]["text/html"]
    book.cells[0].outputs[0]["data"]["text/html"] = html.replace("data:image", "data:other", 1)
    nbformat.write(book, path)
    assert judge(path).returncode == 1


def test_the_text_of_an_error_of_ours_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "lesson.ipynb"
    cell = new_code_cell(
        "x = torch.ones(2, requires_grad=True)\nx.add_(1)", metadata={"tags": ["raises-exception"]}
    )
    cell.outputs = [new_output("error", ename="RuntimeError", evalue="another text", traceback=[])]
    nbformat.write(new_notebook(cells=[cell]), path)
    assert judge(path).returncode == 1
