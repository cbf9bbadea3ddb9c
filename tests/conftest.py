"""What all tests share: the kernel is visible uninstalled, nobody's IPython settings count, GPU tests skip."""

import os
import tempfile
from contextlib import ExitStack

import pytest

from autodiff_kernel.jupyter import kernelspec

collect_ignore_glob = ["record_*.py"]  # scripts; some need PyTorch

_session = ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    """nbval and the kernel tests find the kernel of this Python by JUPYTER_PATH, whatever is installed elsewhere."""
    _session.enter_context(kernelspec.available())
    folder = tempfile.TemporaryDirectory(prefix="autodiff-tests-", ignore_cleanup_errors=True)
    os.environ["IPYTHONDIR"] = _session.enter_context(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    _session.close()


def _no_gpu() -> str:
    """Why there is no real GPU to test on, or ''."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy finds no GPU: {error}"
    return "" if count else "CuPy finds no GPU"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    reason = _no_gpu() if marked else ""
    for item in marked if reason else ():
        item.add_marker(pytest.mark.skip(reason=f"needs a real GPU: {reason}"))
