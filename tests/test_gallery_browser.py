"""The gallery in a real JupyterLab that trusts nobody: in both themes, wide and narrow, by keyboard, text on its ground."""

import base64
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from galleries import PATH, bundles, gallery
from labs import free_port, serving
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.browser

VIEWS = list(bundles(gallery()))
PICTURES = [
    base64.b64decode(data).decode()
    for _, view, _ in VIEWS
    for data in re.findall(r"base64,([\w+/=]+)", view["text/html"])
]
READABLE = 4.5  # the least contrast of a text with its ground (WCAG 2.1, level AA)

CONTRAST = """
const light = s => { const p = s.match(/[\\d.]+/g).map(Number);
  const [r, g, b] = p.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const seen = s => s !== 'none' && !/, 0\\)$/.test(s);
const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
"""

# Each text of the views with its contrast, all that is folded unfolded.
TEXTS = (
    CONTRAST
    + """
document.querySelectorAll('.jp-OutputArea-output details').forEach(d => { d.open = true; });
const found = [];
for (const card of document.querySelectorAll('.jp-OutputArea-output .mathjax_ignore')) {
  const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  for (let t = walker.nextNode(); t; t = walker.nextNode()) {
    if (!t.data.trim()) continue;
    let e = t.parentElement;
    const colour = getComputedStyle(e).color;
    while (!seen(getComputedStyle(e).backgroundColor)) e = e.parentElement;
    found.push([t.data.trim().slice(0, 40), contrast(colour, getComputedStyle(e).backgroundColor)]);
  }
}
return found;
"""
)

# Each text of an inline picture with its contrast to the shape that lies under its middle.
LABELS = (
    CONTRAST
    + """
document.body.innerHTML = arguments[0];
const svg = document.querySelector('svg');
svg.setAttribute('width', Math.min(svg.viewBox.baseVal.width, innerWidth - 20)); svg.removeAttribute('height');
const found = [];
for (const t of svg.querySelectorAll('text')) {
  scrollTo(0, 0);
  let b = t.getBoundingClientRect();
  scrollTo(0, b.top); b = t.getBoundingClientRect();
  const under = document.elementsFromPoint((b.left + b.right) / 2, (b.top + b.bottom) / 2);
  const ground = under.filter(e => e.tagName !== 'text' && e !== svg).map(e => getComputedStyle(e).fill).find(seen);
  const halo = t.hasAttribute('paint-order');
  found.push([t.textContent, contrast(getComputedStyle(t).fill, halo || !ground ? 'rgb(255, 255, 255)' : ground)]);
}
return found;
"""
)

SIZES = """
return [...document.querySelectorAll('.jp-OutputArea-output')].map(o => [
  o.closest('.jp-Cell').querySelector('.cm-content')?.innerText.slice(0, 40), o.scrollWidth - o.clientWidth,
  Math.max(0, ...[...o.querySelectorAll('.mathjax_ignore')].map(c => c.offsetWidth - o.clientWidth))]);
"""

SCROLLED = "return document.activeElement.closest('.mathjax_ignore').scrollLeft"

IMAGES = """
return [...document.querySelectorAll('.jp-OutputArea-output img')].map(
  i => [i.complete ? i.naturalWidth : 0, i.offsetWidth, i.alt]);
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A JupyterLab with a copy of the gallery, which it does not trust: its settings, and its address."""
    home = tmp_path_factory.mktemp("lab")
    folder, settings = home / "notebooks", home / "settings"
    folder.mkdir()
    shutil.copy(PATH, folder)
    places = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA")}
    places |= {
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    _set(settings, "notebook-extension/tracker", windowingMode="none", autoStartDefaultKernel=False)
    with serving("--port", str(free_port()), str(folder), **places) as (_, url):
        yield settings, url.split("/lab")[0] + "/lab/tree/gallery.ipynb?" + url.partition("?")[2]


def _set(settings: Path, plugin: str, **values: Any) -> None:
    file = settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values), encoding="utf-8")


def opened(browser: Any, lab: tuple[Path, str], theme: str = "Light") -> None:
    """Open the gallery in a theme and wait until its last picture is there."""
    settings, address = lab
    _set(settings, "apputils-extension/themes", theme=f"JupyterLab {theme}")
    browser.get(f"{address}&reset")

    def loaded(driver: Any) -> bool:
        images = driver.execute_script(IMAGES)
        dark = driver.execute_script("return document.body.dataset.jpThemeLight") == "false"
        return (
            len(images) >= len(PICTURES) and all(image[0] for image in images) and dark == (theme == "Dark")
        )

    WebDriverWait(browser, 60).until(loaded)


def test_every_picture_shows_in_a_notebook_nobody_trusts(browser: Any, lab: tuple[Path, str]) -> None:
    opened(browser, lab)
    trust = browser.find_element("css selector", ".jp-StatusItem-trust").get_attribute("title")
    assert trust.startswith("Notebook not trusted")
    images = browser.execute_script(IMAGES)
    assert len(images) == len(PICTURES) >= 25
    assert all(natural > 80 and shown > 80 and len(alt) >= 10 for natural, shown, alt in images)
    count = "return document.querySelectorAll('.jp-OutputArea-output details > summary').length"
    assert browser.execute_script(count) == sum(view["text/html"].count("<summary") for _, view, _ in VIEWS)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_text_can_be_read_in_both_themes(browser: Any, lab: tuple[Path, str], theme: str) -> None:
    opened(browser, lab, theme)
    texts = browser.execute_script(TEXTS)
    assert len(texts) > 500
    assert not [pair for pair in texts if pair[1] < READABLE]


@pytest.mark.parametrize("width", [1400, 700])
def test_no_view_is_wider_than_its_place(browser: Any, lab: tuple[Path, str], width: int) -> None:
    """What doesn't fit scrolls inside its own card."""
    opened(browser, lab)
    browser.set_window_size(width, 1000)
    try:
        WebDriverWait(browser, 20).until(lambda d: d.execute_script("return innerWidth") <= width)
        sizes = browser.execute_script(SIZES)
        assert len(sizes) >= len(VIEWS)
        assert not [size for size in sizes if size[1] > 1 or size[2] > 0]
    finally:
        browser.set_window_size(1400, 1000)


def test_every_text_of_a_picture_can_be_read_on_its_ground(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><meta charset='utf-8'><body>", encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    for picture in PICTURES:
        texts = browser.execute_script(LABELS, picture)
        assert texts and not [pair for pair in texts if pair[1] < READABLE], picture[:200]


def test_the_keyboard_reaches_and_works_every_control(browser: Any, tmp_path: Path) -> None:
    page = "".join(view["text/html"] for _, view, _ in VIEWS)
    head = "<!doctype html><meta charset='utf-8'><title>views</title><body style='width:640px'>"
    (tmp_path / "page.html").write_text(head + page, encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    controls = browser.execute_script(
        "const all = [...document.querySelectorAll('summary')];"
        "all.forEach((s, i) => { s.dataset.n = i; }); return all.length;"
    )
    reached: dict[str, bool] = {}
    moved = set()  # cards that don't fit: there the arrow keys scroll
    for _ in range(2 * controls):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        number, was, hidden = browser.execute_script(
            "const e = document.activeElement, c = e.closest('.mathjax_ignore');"
            "return [e.dataset.n, e.parentElement?.open, c ? c.scrollWidth - c.clientWidth : 0];"
        )
        if number is None or number in reached:
            continue
        ActionChains(browser).send_keys(Keys.ENTER).perform()
        now = browser.execute_script("return document.activeElement.parentElement.open")
        reached[number] = now != was
        ActionChains(browser).send_keys(Keys.ENTER).perform()
        if hidden > 1:
            ActionChains(browser).send_keys(*[Keys.ARROW_RIGHT] * 3).perform()
            WebDriverWait(browser, 5).until(lambda d: d.execute_script(SCROLLED) > 0)
            moved.add(number)
    assert controls > 30 and len(reached) == controls and all(reached.values())
    assert len(moved) >= 4
