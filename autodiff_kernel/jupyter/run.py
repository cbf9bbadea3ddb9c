"""`autodiff-kernel run`: execute a notebook in the kernel without a browser, and write what came out."""

import re
import sys
from pathlib import Path
from typing import Any

from . import kernelspec

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _write(notebook: Any, lesson: Path, folder: Path) -> list[Path]:
    """Write the executed notebook and its HTML page; returns both paths."""
    import nbformat
    from nbconvert import HTMLExporter

    executed = folder / f"{lesson.stem}.executed.ipynb"
    page = folder / f"{lesson.stem}.html"
    nbformat.write(notebook, executed)
    exporter = HTMLExporter(embed_images=True)
    html, _ = exporter.from_notebook_node(
        notebook, {"metadata": {"name": lesson.stem, "path": str(lesson.parent)}}
    )
    page.write_text(html, encoding="utf-8", newline="\n")
    return [executed, page]


def _number(notebook: Any, index: int) -> int:
    """A code cell's number as nbval and the reader count: 1 for the first code cell."""
    return sum(cell.cell_type == "code" for cell in notebook.cells[: index + 1])


def _execute(notebook: Any, lesson: Path, timeout: int) -> str | None:
    """Run all cells, telling each; returns what went wrong, or None."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    total = _number(notebook, len(notebook.cells))
    at = {"index": 0}

    def tell(cell: Any, cell_index: int) -> None:
        at["index"] = cell_index
        if cell.cell_type == "code":
            first = next(iter(cell.source.strip().splitlines()), "")
            _say(f"cell {_number(notebook, cell_index)} of {total}: {first[:60]}")

    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=kernelspec.NAME,
        record_timing=False,
        coalesce_streams=True,  # else what one print writes may be cut in two, by chance
        resources={"metadata": {"path": str(lesson.parent)}},
        on_cell_start=tell,
    )
    try:
        client.execute()
    except CellExecutionError as error:
        problem = f"{error.ename}: {_ANSI.sub('', error.evalue)}"
    except CellTimeoutError:
        problem = f"it took more than {timeout} seconds (--timeout sets another limit)"
    except DeadKernelError:
        problem = "the kernel died"
    else:
        return None
    source = notebook.cells[at["index"]].source
    return f"cell {_number(notebook, at['index'])} of {total} failed: {problem}\n\n" + _indent(source)


def _indent(source: str) -> str:
    return "\n".join(f"    {line}" for line in source.splitlines())


def main(lesson: str, output: str = ".", *, timeout: int = 600) -> int:
    """Execute a notebook in the Autodiff kernel, whatever kernel it names; returns the exit code.

    `lesson.executed.ipynb` and `lesson.html` are written into `output` also when a cell fails, up to that cell;
    the exit code is then 1 and the cell is told. `timeout`: seconds a cell may take.
    """
    import nbclient  # noqa: F401  (told at once where the extra is missing)
    import nbconvert  # noqa: F401
    import nbformat

    path = Path(lesson).resolve()
    try:
        notebook = nbformat.read(path, as_version=4)
    except OSError as error:
        _say(f"autodiff-kernel run: can't read {lesson}: {error.strerror}")
        return 1
    except Exception as error:  # nbformat meets what is no notebook with whatever its upgrade stumbles over
        _say(f"autodiff-kernel run: {lesson} is not a notebook ({type(error).__name__})")
        return 1
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    with kernelspec.available():
        problem = _execute(notebook, path, timeout)
    for written in _write(notebook, path, folder):
        _say(f"wrote {written}")
    if problem:
        _say(f"autodiff-kernel run: {problem}")
        return 1
    return 0
