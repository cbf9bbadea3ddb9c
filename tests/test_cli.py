"""The command `autodiff-kernel` as a user calls it: exit codes, what is written, what is said."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from labs import free_port, serving

from autodiff_kernel import __version__, cli
from autodiff_kernel.jupyter import doctor, lab

COMMAND = [sys.executable, "-m", "autodiff_kernel"]


def call(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
        timeout=120,
    )


def notebook(path: Path, *cells: str) -> Path:
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), *code]), path)
    return path


def test_version() -> None:
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n")


def test_an_unknown_command_is_told_the_known_ones() -> None:
    done = call("laboratory")
    assert done.returncode == 2
    for command in ("lab", "run", "handout", "install", "doctor"):
        assert f"'{command}'" in done.stderr


# ---------------------------------------------------------------------- run


def test_run_writes_the_executed_notebook_and_a_page(tmp_path: Path) -> None:
    lesson = notebook(tmp_path / "lesson.ipynb", "x = 6", "print(__import__('os').getcwd())\nx * 7")
    done = call("run", str(lesson), "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[:2] == [
        "cell 1 of 2: x = 6",
        "cell 2 of 2: print(__import__('os').getcwd())",
    ]
    executed = nbformat.read(tmp_path / "out" / "lesson.executed.ipynb", as_version=4)
    told, value = executed.cells[2].outputs
    assert told["text"] == f"{tmp_path.resolve()}\n"
    assert value["data"]["text/plain"] == "42"
    page = (tmp_path / "out" / "lesson.html").read_text(encoding="utf-8")
    assert "<title>lesson</title>" in page
    assert "42" in page


def test_run_uses_our_kernel_whatever_the_notebook_names(tmp_path: Path) -> None:
    lesson = notebook(tmp_path / "lesson.ipynb", "assert torch.__name__ == 'autodiff_kernel'\n%autodiff")
    book = nbformat.read(lesson, as_version=4)
    book.metadata["kernelspec"] = {"name": "nosuchkernel", "display_name": "No such kernel"}
    nbformat.write(book, lesson)
    assert cli.main(["run", str(lesson), "-o", str(tmp_path)]) == 0
    assert (tmp_path / "lesson.executed.ipynb").exists()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("y = 1\n1 / 0", "ZeroDivisionError: division by zero"),
        ("%grahp y", "UsageError: Line magic function `%grahp` not found."),
        ("x = int(input())", "StdinNotImplementedError"),
        ("import os; os._exit(1)", "the kernel died"),
        ("while True: pass", "it took more than 2 seconds"),
    ],
)
def test_run_fails_with_the_cell_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bad: str, said: str
) -> None:
    lesson = notebook(tmp_path / "lesson.ipynb", "x = 1", bad, "print('not reached')")
    assert cli.main(["run", str(lesson), "-o", str(tmp_path), "--timeout", "2"]) == 1
    told = capsys.readouterr().err
    assert f"cell 2 of 3 failed: {said}" in told
    assert f"\n    {bad.splitlines()[-1]}" in told
    executed = nbformat.read(tmp_path / "lesson.executed.ipynb", as_version=4)
    assert executed.cells[3].outputs == []
    assert (tmp_path / "lesson.html").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "can't read {}: No such file or directory"),
        ("no notebook", "{} is not a notebook"),
        ('{"cells": 3}', "{} is not a notebook"),
    ],
)
def test_run_of_something_else_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    lesson = tmp_path / "lesson.ipynb"
    if content is not None:
        lesson.write_text(content)
    assert cli.main(["run", str(lesson)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("autodiff-kernel run: " + said.format(lesson))


@pytest.mark.parametrize(
    ("words", "missing"),
    [(["lab"], "jupyterlab"), (["run", "x.ipynb"], "nbclient"), (["run", "x.ipynb"], "nbconvert")],
)
def test_a_missing_extra_is_one_line_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], missing: str
) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    assert cli.main(words) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"autodiff-kernel {words[0]} needs {missing}")
    assert line.endswith('-m pip install "autodiff-kernel[lab]"')


# ---------------------------------------------------------------------- lab


def status(url: str) -> int:
    """The HTTP status of a page; a server that only just started is asked again."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(url, timeout=30) as page:
                return int(page.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(url)


def test_lab_serves_the_notebook_on_this_machine_with_a_token(tmp_path: Path) -> None:
    lesson = notebook(tmp_path / "a lesson.ipynb", "1")
    port = free_port()
    with serving("--port", str(port), str(lesson)) as (process, url):
        start, _, token = url.partition("?token=")
        assert start == f"http://127.0.0.1:{port}/lab/tree/a%20lesson.ipynb"
        assert len(token) >= 32
        assert status(url) == 200
        assert status(f"http://127.0.0.1:{port}/api/kernelspecs") == 403
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/kernelspecs?token={token}") as page:
            assert '"display_name": "Autodiff"' in page.read().decode()
    assert process.returncode == 0


def test_lab_names_a_taken_port() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        done = call("lab", "--no-browser", "--port", str(port))
    assert done.returncode == 1
    assert done.stderr.startswith(f"autodiff-kernel lab: port {port} is taken.")
    assert len(done.stderr.splitlines()) == 1


def test_lab_of_nothing_is_one_clear_line(tmp_path: Path) -> None:
    done = call("lab", "--no-browser", str(tmp_path / "none.ipynb"))
    assert done.returncode == 1
    assert (
        done.stderr
        == f"autodiff-kernel lab: there is no notebook or folder {(tmp_path / 'none.ipynb').resolve()}\n"
    )


def test_lab_opens_the_first_notebook_of_a_folder(tmp_path: Path) -> None:
    notebook(tmp_path / "02_second.ipynb", "2")
    notebook(tmp_path / "01_first.ipynb", "1")
    assert lab.start_page(str(tmp_path)) == (tmp_path.resolve(), "01_first.ipynb")


def test_lab_leaves_the_token_alone_and_binds_to_this_machine() -> None:
    words = lab.options(Path("/lessons"), "a.ipynb", None, True)
    assert not [word for word in words if "token" in word or "password" in word]
    assert "--ServerApp.ip=127.0.0.1" in words


# ---------------------------------------------------------------------- doctor


def test_doctor_looks_at_everything() -> None:
    done = call("doctor")
    assert done.returncode == 0
    names = [line.split(" ", 1)[0] for line in done.stdout.splitlines()]
    assert [
        name for name in names if name in ("autodiff-kernel", "python", "numpy", "kernel", "dot", "gpu")
    ] == [
        "autodiff-kernel",
        "python",
        "numpy",
        "kernel",
        "dot",
        "gpu",
        "gpu",
    ]
    assert sys.executable in done.stdout


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (None, "no NVIDIA driver; `%simulate_gpu 2` simulates two"),
        ((11, 8), "driver for CUDA 11.8: too old, CUDA 12 is needed"),
        ((12, 4), 'CuPy not installed; pip install "autodiff-kernel[cuda12]"'),
        ((13, 0), 'CuPy not installed; pip install "autodiff-kernel[cuda13]"'),
    ],
)
def test_doctor_names_the_wheel_for_the_driver(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int] | None, told: str
) -> None:
    monkeypatch.setattr(doctor, "cuda_version", lambda: version)
    monkeypatch.setattr(doctor, "_version", lambda package: "not installed")
    assert told in doctor.gpu_lines()


def test_doctor_sees_a_kernel_whose_python_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "kernels" / "autodiff"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["/no/python"], "display_name": "x", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path) + os.pathsep + os.environ["JUPYTER_PATH"])
    assert doctor.kernel_line() == (
        f"{spec} starts /no/python, which does not exist; `autodiff-kernel install` writes it anew"
    )
