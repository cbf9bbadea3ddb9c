"""What must be settled before NumPy is imported, and what a reader of figures must know."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from importlib.util import find_spec

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def limit_threads() -> None:
    """Ask every BLAS and OpenMP for one thread. They read this once, when NumPy or PyTorch is imported."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"


def remarks() -> list[str]:
    """Lines for the head of the report: what in this process makes its figures differ from other people's."""
    lines = []
    core = os.environ.get("OPENBLAS_CORETYPE")
    if core:
        lines.append(
            f"OPENBLAS_CORETYPE={core} picks NumPy's kernels by hand; unset it for comparable figures."
        )
    if "numpy" in sys.modules and any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
        lines.append("NumPy was imported before its threads could be limited to one.")
    if sys.gettrace() is not None or sys.getprofile() is not None:
        lines.append("A tracer or profiler is active; every Python call is slower than it should be.")
    if not find_spec("torch"):
        lines.append("PyTorch is not installed here: its rows are left out.")
    return lines


def describe() -> dict[str, str | int | None]:
    """The machine and the versions, for the head of the report and for the JSON file."""
    return {
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "torch": version("torch"),
        "autodiff-kernel": version("autodiff-kernel"),
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
    }


def version(distribution: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name. Linux tells it only in /proc/cpuinfo; elsewhere platform knows."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
