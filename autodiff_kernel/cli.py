"""The command `autodiff-kernel`: lab, run, handout, student, install, doctor."""

import argparse
import sys
from collections.abc import Sequence

from autodiff_kernel.version import __version__


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autodiff-kernel",
        description="PyTorch's tensor and autograd API in readable Python, with a Jupyter kernel that shows it at work.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    lab = commands.add_parser("lab", help="open JupyterLab on the first lesson, with the Autodiff kernel")
    lab.add_argument("path", nargs="?", help="a notebook or a folder; the lessons where there is none")
    lab.add_argument(
        "--port", type=int, help="the port to serve on; the next free one from 8888 where there is none"
    )
    lab.add_argument("--no-browser", action="store_true", help="open no browser, print the URL only")

    run = commands.add_parser("run", help="run a notebook without a browser; write it executed, and as HTML")
    run.add_argument("lesson", metavar="LESSON.ipynb")
    run.add_argument(
        "-o", "--output", metavar="DIR", default=".", help="folder for both files (default: here)"
    )
    run.add_argument("--timeout", type=int, default=600, help="seconds a cell may take (default: 600)")

    handout = commands.add_parser(
        "handout", help="make printable pages of lessons: HTML, and PDF with a Chromium"
    )
    handout.add_argument("lessons", nargs="+", metavar="LESSON.ipynb")
    handout.add_argument("-o", "--output", metavar="DIR", required=True, help="folder for the pages")
    handout.add_argument("--solved", action="store_true", help="with the solutions of the exercises")

    student = commands.add_parser("student", help="copy lessons for students: exercises empty, no outputs")
    student.add_argument("lessons", nargs="+", metavar="LESSON.ipynb")
    student.add_argument("-o", "--output", metavar="DIR", required=True, help="folder for the copies")

    install = commands.add_parser("install", help="make the kernel known to Jupyter")
    where = install.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user, in every Jupyter")
    where.add_argument("--sys-prefix", action="store_true", help="in this Python's environment (the default)")
    where.add_argument("--prefix", metavar="P", help="in P/share/jupyter/kernels")
    install.add_argument(
        "--name", default="autodiff", metavar="N", help="the kernel's name (default: autodiff)"
    )

    commands.add_parser("doctor", help="look at the installation: versions, kernel, dot, GPU")
    return parser


def _lab(args: argparse.Namespace) -> int:
    from autodiff_kernel.jupyter import lab

    return lab.main(args.path, port=args.port, browser=not args.no_browser)


def _run(args: argparse.Namespace) -> int:
    from autodiff_kernel.jupyter import run

    return run.main(args.lesson, args.output, timeout=args.timeout)


def _handout(args: argparse.Namespace) -> int:
    from autodiff_kernel import handout

    return handout.main(args.lessons, args.output, args.solved)


def _student(args: argparse.Namespace) -> int:
    from autodiff_kernel import handout

    return handout.copies(args.lessons, args.output)


def _install(args: argparse.Namespace) -> int:
    from autodiff_kernel.jupyter import kernelspec

    try:
        written = kernelspec.install(args.name, user=args.user, prefix=args.prefix)
    except (OSError, ValueError) as error:
        print(f"autodiff-kernel install: {error}", file=sys.stderr)
        return 1
    print(f"installed kernel {args.name!r} in {written}")
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from autodiff_kernel.jupyter import doctor

    print(doctor.report())
    return 0


_COMMANDS = {
    "lab": _lab,
    "run": _run,
    "handout": _handout,
    "student": _student,
    "install": _install,
    "doctor": _doctor,
}
_NEED_LAB = {"jupyterlab", "jupyter_server", "nbconvert", "nbclient", "nbformat", "mistune", "latex2mathml"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    `argv`: the words behind the program's name; those of the process where there are none.
    """
    args = _parser().parse_args(argv)
    try:
        return _COMMANDS[args.command](args)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in _NEED_LAB:
            raise
        print(
            f"autodiff-kernel {args.command} needs {error.name}, which is not installed: "
            f'"{sys.executable}" -m pip install "autodiff-kernel[lab]"',
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
