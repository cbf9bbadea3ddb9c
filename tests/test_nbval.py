"""What nbval, the judge of the lessons, makes of our kernel: a right notebook passes, a broken one does not."""

import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
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


def executed(path: Path, kernel: str, *sources: str) -> Path:
    """Write a notebook with the outputs its cells have."""
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookClient(book, kernel_name=kernel).execute()
    nbformat.write(book, path)
    return path


def test_a_right_notebook_passes_with_pictures_and_a_semicolon(tmp_path: Path) -> None:
    done = judge(executed(tmp_path / "lesson.ipynb", "autodiff", PICTURE, "y;", "y"))
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_what_our_kernel_stored_passes_in_a_plain_kernel_with_the_extension(tmp_path: Path) -> None:
    start = "%load_ext autodiff_kernel\nimport autodiff_kernel as torch"
    path = executed(tmp_path / "lesson.ipynb", "autodiff", "import autodiff_kernel as torch", PICTURE, "y")
    book = nbformat.read(path, as_version=4)
    book.cells[0].source = start
    nbformat.write(book, path)
    done = judge(path, "python3")
    assert done.returncode == 0, done.stdout


def test_each_broken_cell_fails(tmp_path: Path) -> None:
    path = executed(tmp_path / "lesson.ipynb", "autodiff", PICTURE)
    book = nbformat.read(path, as_version=4)
    html = book.cells[0].outputs[0]["data"]["text/html"]
    book.cells[0].outputs[0]["data"]["text/html"] = html.replace("data:image", "data:other", 1)
    broken = ["%grahp y", "%graph", "%%graph\nz = 1", "%place nosuch", "%%grahp\nz = 1"]
    book.cells += [new_code_cell(source) for source in broken]
    other = new_code_cell("x.add_(1)", metadata={"tags": ["raises-exception"]})
    other.outputs = [new_output("error", ename="RuntimeError", evalue="another text", traceback=[])]
    book.cells.append(other)
    nbformat.write(book, path)
    done = judge(path)
    assert done.returncode == 1
    assert "7 failed" in done.stdout
    assert "passed" not in done.stdout


def test_the_lessons_pass_in_a_plain_kernel_too() -> None:
    """They load the extension themselves, so they run wherever IPython does."""
    done = judge(Path(__file__).parents[1] / "lessons", "python3")
    assert done.returncode == 0, done.stdout
