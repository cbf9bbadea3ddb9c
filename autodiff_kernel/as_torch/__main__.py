"""`python -m autodiff_kernel.as_torch script.py [arguments]`: run a script written for PyTorch, unchanged.

`-m module [arguments]` runs a module, as Python itself does.
"""

import os
import runpy
import sys
from types import ModuleType, TracebackType

from . import install

USAGE = """usage: python -m autodiff_kernel.as_torch SCRIPT.py [arguments]
       python -m autodiff_kernel.as_torch -m MODULE [arguments]

Run a script or a module in which `import torch` and `import torchvision` mean autodiff_kernel."""


def main(argv: list[str]) -> int:
    """Run what the words say; returns the exit code that the caller leaves with."""
    if not argv or argv[0] in ("-h", "--help") or (argv[0] == "-m" and len(argv) == 1):
        print(USAGE, file=sys.stdout if argv[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if argv[:1] in (["-h"], ["--help"]) else 2
    if argv[0] == "-m":
        sys.argv = argv[1:]
        sys.path[0] = os.getcwd()
        install()
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        return 0
    path = argv[0]
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"python -m autodiff_kernel.as_torch: can't open {path!r}: {error.strerror}", file=sys.stderr)
        return 2
    sys.argv = argv
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    install()
    return run(path, source)


def run(path: str, source: bytes) -> int:
    """Run a script as `__main__`; its traceback begins in the script, as if Python had been given it."""
    script = ModuleType("__main__")
    script.__file__ = path
    script.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = script
    try:
        exec(compile(source, path, "exec"), vars(script))
    except SystemExit:
        raise
    except BaseException as error:
        trace = _from(path, error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _from(path: str, trace: TracebackType | None) -> TracebackType | None:
    """A traceback without our own frames at its beginning; all of it where it never came to the script."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename != path:
        first = first.tb_next
    return first


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
