"""A real JupyterLab in Chromium: the launcher's tile, pictures in a notebook nobody trusts, and our kernel at work."""

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from kernels import kernel
from labs import free_port, serving
from nbformat.v4 import new_code_cell, new_notebook, new_output

pytestmark = pytest.mark.browser

GRAPH = """\
x = torch.tensor(3., requires_grad=True)
y = x * x
y.backward()
%graph y"""
ERROR = "h = x.exp()\ns = h.sum()\nh.add_(1)\ns.backward()"
PATIENCE = 60

# What the output area shows: its pictures with the size they were loaded in, and its text.
SHOWN = """
const open = document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea');
const area = [...open].filter(a => a.childElementCount);
const images = area.flatMap(a => [...a.querySelectorAll('img')]);
return {images: images.map(i => [i.alt, i.naturalWidth, i.offsetWidth]), text: area.map(a => a.innerText).join('\\n')};
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A JupyterLab on two notebooks: one with outputs that somebody else computed, one without any."""
    folder = tmp_path_factory.mktemp("notebooks")
    metadata = {"kernelspec": {"name": "autodiff", "display_name": "Autodiff", "language": "python"}}
    cells = []
    with kernel("autodiff") as running:
        for source in (GRAPH, "%trace (lambda a: a * a)(3.)", ERROR):
            outputs = [
                new_output("display_data", data=output["data"], metadata=output["metadata"])
                for output in running.run(source).of("display_data")
            ]
            cells.append(new_code_cell(source, outputs=outputs, execution_count=1))
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "saved.ipynb")
    nbformat.write(new_notebook(cells=[new_code_cell(GRAPH)], metadata=metadata), folder / "empty.ipynb")
    with serving("--port", str(free_port()), str(folder)) as (_, url):
        yield url.split("/lab")[0], url.partition("?")[2]


def wait(browser: Any, condition: Any) -> Any:
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, PATIENCE).until(condition)


def shown(browser: Any, pictures: int) -> dict[str, Any]:
    """What stands in the notebook's outputs once so many pictures are loaded."""

    def loaded(driver: Any) -> Any:
        found = driver.execute_script(SHOWN)
        return len(found["images"]) >= pictures and all(image[1] for image in found["images"]) and found

    found: dict[str, Any] = wait(browser, loaded)
    return found


def open_notebook(browser: Any, address: tuple[str, str], name: str) -> None:
    base, token = address
    browser.get(f"{base}/lab/tree/{name}?{token}&reset")
    wait(browser, lambda driver: driver.find_elements("css selector", ".jp-Notebook .jp-Cell"))


def test_the_launcher_has_our_tile(browser: Any, address: tuple[str, str]) -> None:
    base, token = address
    browser.get(f"{base}/lab?{token}&reset")
    tile = wait(browser, lambda d: d.find_elements("css selector", ".jp-LauncherCard[title^='Autodiff']"))[0]
    icon = tile.find_element("css selector", "img")
    assert "/kernelspecs/autodiff/logo" in icon.get_attribute("src")
    wait(browser, lambda driver: driver.execute_script("return arguments[0].naturalWidth", icon) > 0)


def test_pictures_show_in_a_notebook_nobody_trusts(browser: Any, address: tuple[str, str]) -> None:
    open_notebook(browser, address, "saved.ipynb")
    found = shown(browser, 2)
    alts = [alt for alt, _, _ in found["images"]]
    assert alts[0] == "1 leaf, 1 operation. y is 9; gradient of x is 6."
    assert all(natural > 100 and width > 100 for _, natural, width in found["images"])
    assert "Evaluation trace" in found["text"]
    assert "What to write:" in found["text"]
    assert "backward needed it" in found["text"]
    trust = browser.find_element("css selector", ".jp-StatusItem-trust").get_attribute("title")
    assert trust == "Notebook not trusted: 0 of 3 code cells trusted."


def test_the_kernel_draws_the_graph_of_a_cell_run_in_the_browser(
    browser: Any, address: tuple[str, str]
) -> None:
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.expected_conditions import element_to_be_clickable

    open_notebook(browser, address, "empty.ipynb")
    wait(
        browser,
        lambda driver: driver.execute_script(
            "const s = document.querySelector('.jp-NotebookPanel-toolbar .jp-Notebook-ExecutionIndicator');"
            "return s && s.dataset.status === 'idle'"
        ),
    )
    here = ("css selector", ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .cm-content")
    editor = wait(browser, element_to_be_clickable(here))
    editor.click()
    editor.send_keys(Keys.SHIFT, Keys.ENTER)
    found = shown(browser, 1)
    assert found["images"][0][0] == "1 leaf, 1 operation. y is 9; gradient of x is 6."
    assert "Autodiff" in browser.find_element("css selector", ".jp-KernelName, .jp-Toolbar-kernelName").text
