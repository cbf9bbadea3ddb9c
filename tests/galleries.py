"""The gallery (lessons/gallery.ipynb), read and run: what its tests and the script that records it share."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

PATH = Path(__file__).parents[1] / "lessons" / "gallery.ipynb"
VOLATILE = {"execution_count", "traceback"}


def gallery() -> Any:
    """The notebook as it is stored."""
    return nbformat.read(PATH, as_version=4)


def run(kernel: str = "autodiff", **environment: str) -> Any:
    """The notebook, run anew in a kernel of its own."""
    book = gallery()
    for cell in code_cells(book):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(book, kernel_name=kernel, record_timing=False, store_widget_state=False)
    client.execute(cwd=str(PATH.parent), env={**os.environ, **environment})
    book.metadata = gallery().metadata  # without the version of this Python
    return book


def code_cells(book: Any) -> list[Any]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def shown(book: Any) -> dict[str, list[dict[str, Any]]]:
    """The outputs of each cell by its id, without what changes from run to run."""
    return {
        cell.id: [{k: v for k, v in output.items() if k not in VOLATILE} for output in cell.outputs]
        for cell in code_cells(book)
    }


def bundles(book: Any) -> Iterator[tuple[str, dict[str, str], dict[str, Any]]]:
    """The cell, the data and the metadata of each view that the notebook shows."""
    for cell in code_cells(book):
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                yield cell.id, output["data"], output["metadata"]


def said(book: Any) -> str:
    """All code, and what stands as code in the texts: the magics and options that the notebook speaks of."""
    parts = [
        cell.source if cell.cell_type == "code" else "\n".join(re.findall(r"`([^`]+)`", cell.source))
        for cell in book.cells
    ]
    return "\n".join(parts)
