"""The kernelspec: where its files are, how it is installed, and how a process sees it without installing."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAME = "autodiff"
FILES = Path(__file__).parent / "spec"


def spec(python: str = "python", name: str = NAME) -> dict[str, Any]:
    """The contents of `kernel.json`, with `python` as the interpreter.

    >>> spec("/usr/bin/python3")["argv"][0]
    '/usr/bin/python3'
    """
    content: dict[str, Any] = json.loads((FILES / "kernel.json").read_text(encoding="utf-8"))
    content["argv"][0] = python
    if name != NAME:
        content["display_name"] += f" ({name})"
    return content


def write(folder: Path, name: str = NAME) -> Path:
    """Write the kernelspec for the running Python as `folder/name` and return that path."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    for logo in FILES.glob("logo-*"):
        shutil.copyfile(logo, target / logo.name)
    text = json.dumps(spec(sys.executable, name), indent=1) + "\n"
    (target / "kernel.json").write_text(text, encoding="utf-8")
    return target


def install(name: str = NAME, *, user: bool = False, prefix: str | None = None) -> Path:
    """Install the kernelspec for the running Python, so that every Jupyter that looks there lists it.

    Arguments:
        name: the kernelspec's name, as in `jupyter kernelspec list`; letters, digits, `-`, `.` and `_`.
        user: into the user's own Jupyter folder.
        prefix: into `prefix/share/jupyter/kernels`. Without both: into the running Python's own prefix.

    Returns: the folder that was written.
    Raises: ValueError for a name that Jupyter doesn't take; OSError where the folder can't be written.
    """
    from jupyter_client.kernelspec import KernelSpecManager

    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder), name)
        target = prefix if prefix or user else sys.prefix
        written = KernelSpecManager().install_kernel_spec(str(source), name, user=user, prefix=target)
    return Path(written)


def installed(name: str = NAME) -> Path | None:
    """The folder of the kernelspec that Jupyter finds under this name, or None."""
    from jupyter_client.kernelspec import KernelSpecManager

    found = KernelSpecManager().find_kernel_specs().get(name)
    return Path(found) if found else None


def python_of(folder: Path) -> str:
    """The Python that a kernelspec starts; a bare `python` stands for the one that runs Jupyter."""
    argv = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))["argv"]
    return sys.executable if argv[0] in ("python", "python3") else str(argv[0])


@contextmanager
def available() -> Iterator[Path]:
    """Make the kernel of the running Python visible to this process and its children, and only to them.

    A checkout that is only on the path carries no data files, and another environment's kernel may be installed
    under the same name; Jupyter looks into JUPYTER_PATH first.
    """
    before = os.environ.get("JUPYTER_PATH")
    with tempfile.TemporaryDirectory(prefix="autodiff-kernelspec-", ignore_cleanup_errors=True) as folder:
        write(Path(folder) / "kernels")
        os.environ["JUPYTER_PATH"] = folder if before is None else folder + os.pathsep + before
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before
