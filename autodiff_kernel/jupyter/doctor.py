"""A look at the installation: versions, the kernel Jupyter finds, `dot`, and what a GPU would need."""

import ctypes
import ctypes.util
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from autodiff_kernel.version import __version__

from . import kernelspec

_PACKAGES = (
    "numpy",
    "ipykernel",
    "ipython",
    "jupyter_client",
    "matplotlib",
    "graphviz",
    "jupyterlab",
    "nbconvert",
    "anywidget",
)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def kernel_line(name: str = kernelspec.NAME) -> str:
    """Which kernel Jupyter finds under this name, and the Python it starts."""
    folder = kernelspec.installed(name)
    if folder is None:
        return "none installed; `autodiff-kernel install` makes it appear in Jupyter (`autodiff-kernel lab` needs none)"
    python = kernelspec.python_of(folder)
    if shutil.which(python) is None:
        return f"{folder} starts {python}, which does not exist; `autodiff-kernel install` writes it anew"
    other = "" if Path(python) == Path(sys.executable) else ", another Python than this one"
    return f"{folder} starts {python}{other}"


def dot_line() -> str:
    """Whether Graphviz's `dot` is there, and what is missing where it is not."""
    dot = shutil.which("dot")
    if dot is None:
        return "not found; pictures are drawn without it, PDF and PNG need it (apt, brew or choco: graphviz)"
    try:
        told = subprocess.run([dot, "-V"], capture_output=True, text=True, timeout=10).stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{dot} does not answer: {error}"
    return f"{dot}: {told}"


def cuda_version() -> tuple[int, int] | None:
    """The newest CUDA version that the installed NVIDIA driver can serve, or None where there is no driver."""
    name = "nvcuda.dll" if sys.platform == "win32" else ctypes.util.find_library("cuda") or "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        return None
    found = ctypes.c_int()
    if driver.cuDriverGetVersion(ctypes.byref(found)) != 0 or not found.value:
        return None
    return found.value // 1000, found.value % 1000 // 10


def wheel_for(version: tuple[int, int] | None) -> str | None:
    """The extra of this package whose CuPy wheel goes with a driver.

    >>> wheel_for((12, 4)), wheel_for((13, 0)), wheel_for((11, 8))
    ('cuda12', 'cuda13', None)
    """
    if version is None or version[0] < 12:
        return None
    return "cuda12" if version[0] == 12 else "cuda13"


def gpu_lines() -> list[str]:
    """The driver, the CuPy that is there, and the one to take."""
    version = cuda_version()
    wheels = [w for w in ("cupy-cuda12x", "cupy-cuda13x", "cupy") if _version(w) != "not installed"]
    cupy = ", ".join(f"{wheel} {_version(wheel)}" for wheel in wheels) or "not installed"
    extra = wheel_for(version)
    if version is None:
        return ["no NVIDIA driver; `%simulate_gpu 2` simulates two", f"CuPy {cupy}"]
    driver = f"driver for CUDA {version[0]}.{version[1]}"
    if extra is None:
        return [f"{driver}: too old, CUDA 12 is needed", f"CuPy {cupy}"]
    return [driver, f"CuPy {cupy}" + ("" if wheels else f'; pip install "autodiff-kernel[{extra}]"')]


def report() -> str:
    """All findings as text, one line each."""
    lines = [
        ("autodiff-kernel", __version__),
        ("python", f"{platform.python_version()} on {platform.platform()}: {sys.executable}"),
        *((package, _version(package)) for package in _PACKAGES),
        ("kernel", kernel_line()),
        ("dot", dot_line()),
        *(("gpu", line) for line in gpu_lines()),
    ]
    return "\n".join(f"{name:15} {told}" for name, told in lines)
