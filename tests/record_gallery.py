"""Run the gallery and store what its cells show: `python tests/record_gallery.py`."""

import nbformat
from galleries import PATH, code_cells, run

from autodiff_kernel.jupyter import kernelspec


def main() -> None:
    with kernelspec.available():
        book = run()
    for cell in code_cells(book):
        for output in cell.outputs:
            output.pop("transient", None)
    nbformat.write(book, PATH)
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
