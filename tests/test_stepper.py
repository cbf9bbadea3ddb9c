"""The live stepper of `%step --live`: its widget, its keys in a real browser, and what stands where it can't be."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels import Kernel, kernel
from test_kernel_extension import terminal

import autodiff_kernel as torch
from autodiff_kernel.jupyter import stepper
from autodiff_kernel.views import steps

SETUP = """
import autodiff_kernel as torch
x = torch.tensor(2., requires_grad=True)
y = x * x + x
"""
WIDGET = "application/vnd.jupyter.widget-view+json"
FRAMES = "Backward from y: 2 operations"


@pytest.fixture(scope="module", params=["autodiff", "python3"])
def shell(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    with kernel(request.param) as running:
        if request.param == "python3":
            running.run("%load_ext autodiff_kernel")
        running.run(SETUP)
        yield running


@pytest.mark.parametrize("code", ["%step --live y", "%%backward --live y\ny = x * x + x"])
def test_a_widget_and_the_frames_that_stay(shell: Kernel, code: str) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    answer = shell.run(code)
    live, frames = [content["data"] for content in answer.of("display_data")]
    assert WIDGET in live and live["text/plain"] == f"{FRAMES} (live: arrow keys step)"
    assert WIDGET not in frames and frames["text/plain"].startswith(FRAMES)
    assert "<details" in frames["text/html"]


def test_without_anywidget_one_line_and_the_frames(shell: Kernel) -> None:
    answer = shell.run(
        "import sys\nkept = sys.modules.get('anywidget')\nsys.modules['anywidget'] = None\n"
        "from autodiff_kernel.jupyter import stepper\nstepper._widget_class.cache_clear()"
    )
    try:
        answer = shell.run("%step --live y")
        [frames] = answer.of("display_data")
        assert answer.text() == stepper.MISSING + "\n" and answer.text("stderr") == ""
        assert frames["data"]["text/plain"].startswith(FRAMES)
    finally:
        shell.run("if kept: sys.modules['anywidget'] = kept\nelse: del sys.modules['anywidget']")


def test_in_a_terminal_one_line_and_the_frames() -> None:
    told = terminal("%load_ext autodiff_kernel", *SETUP.strip().split("\n"), "%step --live y")
    assert stepper.NO_NOTEBOOK in told and FRAMES in told


def model(evil: str = "") -> dict[str, Any]:
    """What the widget is given."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x + x
    return stepper._steps(steps(y, namespace={"x" + evil: x, "y": y}).model)


def test_the_words_are_those_of_the_frames() -> None:
    given = model()
    assert json.loads(json.dumps(given)) == given
    text = steps_text()
    for frame in given["frames"]:
        for line in (frame["heading"], frame["arrived"], *frame["gains"]):
            assert line in text
    assert given["start"] in text and given["result"] in text


def steps_text() -> str:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x + x
    return steps(y, namespace={"x": x, "y": y}).text


PAGE = """<!doctype html><meta charset='utf-8'><style>{css}</style><div id='at'></div><script>
window.alert = () => {{ window.hacked = 1 }};
const state = {{ steps: {steps}, at: 0 }}, heard = [];
window.model = {{
  get: (name) => state[name], set: (name, value) => {{ state[name] = value; heard.forEach((call) => call()); }},
  save_changes: () => {{ window.saved = (window.saved || 0) + 1; }},
  on: (name, call) => heard.push(call), off: (name, call) => heard.splice(heard.indexOf(call), 1) }};
import('data:text/javascript;base64,{js}').then((found) => {{
  window.clean = found.default.render({{ model: window.model, el: document.querySelector('#at') }});
  window.heard = heard; window.ready = 1; }});
</script>"""


@pytest.mark.browser
def test_keys_buttons_and_slider_in_a_browser(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    here = Path(stepper.__file__).parent
    evil = "<img src=z onerror=alert(1)>"
    page = tmp_path / "stepper.html"
    page.write_text(
        PAGE.format(
            css=(here / "stepper.css").read_text(encoding="utf-8"),
            steps=json.dumps(model(evil)).replace("<", "\\u003c"),
            js=base64.b64encode((here / "stepper.js").read_bytes()).decode(),
        ),
        encoding="utf-8",
    )
    browser.get(page.as_uri())
    WebDriverWait(browser, 20).until(lambda page: page.execute_script("return window.ready"))
    root = browser.find_element(By.CLASS_NAME, "autodiff-stepper")
    place = browser.find_element(By.CLASS_NAME, "place")
    shown = browser.find_element(By.CLASS_NAME, "frame")
    assert place.text == "0 of 2" and shown.text.startswith("Start: the adjoint of y is 1")
    root.send_keys(Keys.ARROW_RIGHT)
    assert place.text == "1 of 2" and shown.text.startswith("1. AddBackward0 takes y")
    root.send_keys(Keys.END)
    assert place.text == "2 of 2" and "Result:" in shown.text
    root.send_keys(Keys.ARROW_RIGHT)
    assert place.text == "2 of 2"
    root.send_keys(Keys.HOME)
    assert place.text == "0 of 2"
    reached = []
    for _ in range(6):  # every control is reached by the key that goes from one to the next
        reached.append(browser.switch_to.active_element.get_attribute("aria-label"))
        browser.switch_to.active_element.send_keys(Keys.TAB)
    assert ["first step", "step back", "step forward", "last step", "step"] == reached[1:]
    browser.find_element(By.CSS_SELECTOR, "[aria-label='step forward']").click()
    assert place.text == "1 of 2"
    browser.find_element(By.CSS_SELECTOR, "input").send_keys(Keys.ARROW_RIGHT)
    assert place.text == "2 of 2"
    assert browser.execute_script("return [window.hacked || 0, document.images.length]") == [0, 0]
    assert evil in shown.text
    browser.execute_script("window.clean()")
    assert browser.execute_script("return window.heard.length") == 0
