"""`autodiff-kernel lab`: JupyterLab on the lessons, on this machine only, with the kernel of this Python."""

import json
import os
import socket
import sys
import webbrowser
from pathlib import Path
from urllib.parse import quote

from . import kernelspec

HOST = "127.0.0.1"


def lessons() -> Path | None:
    """The lessons of the checkout that this package lies in, or None for a package installed from a wheel."""
    folder = Path(__file__).parents[2] / "lessons"
    return folder if any(folder.glob("*.ipynb")) else None


def start_page(path: str | None) -> tuple[Path, str]:
    """The folder to serve, and the notebook in it to open ('' for none).

    Raises: FileNotFoundError when `path` is neither a notebook nor a folder.
    """
    place = Path(path).resolve() if path else lessons() or Path.cwd()
    if place.is_file():
        return place.parent, place.name
    if not place.is_dir():
        raise FileNotFoundError(f"there is no notebook or folder {place}")
    notebooks = sorted(place.glob("*.ipynb"))
    return place, notebooks[0].name if notebooks else ""


def is_taken(port: int) -> bool:
    """Whether something on this machine serves on the port already."""
    with socket.socket() as probe:
        if sys.platform != "win32":  # there the option would let two servers share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False


def _can_browse() -> bool:
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def options(folder: Path, notebook: str, port: int | None, browser: bool) -> list[str]:
    """The command line for JupyterLab. Its token stays on: nothing here touches it."""
    words = [
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.ip={HOST}",
        f"--LabApp.default_url=/lab/tree/{quote(notebook)}" if notebook else "--LabApp.default_url=/lab",
        "--Application.log_level=WARN",
    ]
    if port is not None:
        words += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        words += ["--ServerApp.open_browser=False"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words += [
            "--ServerApp.allow_root=True"
        ]  # a container's only user; the server is local and has its token
    return words


def _ask_nothing(folder: Path) -> None:
    """Configure this JupyterLab not to ask, over the first lesson, whether it may fetch news from the web."""
    config = folder / "labconfig"
    config.mkdir()
    off = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "page_config.json").write_text(json.dumps(off), encoding="utf-8")
    before = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = str(folder) if before is None else str(folder) + os.pathsep + before


def main(path: str | None = None, *, port: int | None = None, browser: bool = True) -> int:
    """Serve JupyterLab until it is stopped; returns the exit code.

    Arguments:
        path: a notebook or a folder; the checkout's lessons where there is none, else the current folder.
        port: the port; the next free one from 8888 where there is none.
        browser: open a browser, if there is one. The URL is printed in any case.
    """
    try:
        folder, notebook = start_page(path)
    except FileNotFoundError as error:
        print(f"autodiff-kernel lab: {error}", file=sys.stderr)
        return 1
    if port is not None and is_taken(port):
        print(
            f"autodiff-kernel lab: port {port} is taken. Choose another with --port, "
            "or leave --port out to get the next free one.",
            file=sys.stderr,
        )
        return 1
    from jupyterlab.labapp import LabApp

    browser = browser and _can_browse()
    with kernelspec.available() as scratch:
        _ask_nothing(scratch)
        server = LabApp.initialize_server(argv=options(folder, notebook, port, browser))
        print(f"JupyterLab with the Autodiff kernel serves {folder}", file=sys.stderr)
        print(
            "Control-C twice stops it. " + ("Should no browser open, visit:" if browser else "Open:"),
            file=sys.stderr,
        )
        print(server.local_url, flush=True)
        server.start()
    return 0
