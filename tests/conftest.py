"""What all tests share: the kernel is visible uninstalled, nobody's IPython settings count, GPU tests skip."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from autodiff_kernel.jupyter import kernelspec

collect_ignore_glob = ["record_*.py", "unchanged/*", "data/*"]  # scripts; some need PyTorch

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


_CHROMIUM = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,1000"
).split()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium driven by selenium, with a profile of its own."""
    from selenium import webdriver

    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    binary = next((path for name in names if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with a chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*_CHROMIUM, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()
