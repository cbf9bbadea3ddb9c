"""Pictures in a real Chromium: no text sticks out of its box, and no script gets out of a label."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import modes
from autodiff_kernel.views.graph import graph
from autodiff_kernel.views.html import graph_html
from autodiff_kernel.views.model import GraphEdge, GraphNode, GraphView
from autodiff_kernel.views.style import MONO, SANS, text_width
from autodiff_kernel.views.svg import graph_svg
from autodiff_kernel.views.trace import trace

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1400,900"
).split()
EVIL = "<script>window.hacked=1</script><img src=x onerror='window.hacked=2'>\"'>&lt;"
LONG = "a_variable_name_of_thirty_let3"

# Every text of an inline SVG with its box in pixels, and every filled shape's box: what the browser really draws.
MEASURE = """
const svg = document.querySelector('svg');
const box = e => { const b = e.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; };
return {
  texts: [...svg.querySelectorAll('text')].map(e => [e.textContent, box(e), e.getAttribute('paint-order')]),
  shapes: [...svg.querySelectorAll('path[fill][stroke], circle, rect:not(:first-of-type)')].map(box),
  size: [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height],
};
"""


def chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    path, driver = chromium(), shutil.which("chromedriver")
    if path is None or driver is None:
        pytest.skip("there is no Chromium with a chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = path
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture
def show(browser, tmp_path):
    """Load a page with this body and give the browser back."""

    def load(body):
        page = tmp_path / "page.html"
        page.write_text(
            f"<!doctype html><meta charset='utf-8'><body style='margin:0'>{body}", encoding="utf-8"
        )
        browser.get(page.as_uri())
        return browser

    return load


def seed_view(**options):
    with modes.recording():
        x1 = torch.tensor(2.0, requires_grad=True)
        x2 = torch.tensor(3.0, requires_grad=True)
        y = x1 * x2 + x1**2
        y.backward()
    return graph(y, namespace={"x1": x1, "x2": x2, "y": y}, numbers=True, **options).model


def odd_view(direction="LR"):
    """A long name, wide characters, negative numbers, a long shape, a matrix, an error, a group."""

    def node(i, role, name, op="", sign="", shape=(), value="", **more):
        return GraphNode(
            i, role, name, op, sign, "", shape, more.pop("dtype", "float32"), "cpu", value, **more
        )

    nodes = (
        node(
            0,
            "leaf",
            LONG,
            shape=(2, 2),
            value="[[ 1, -2],\n [30,  4]]",
            grad="[[-1, -2],\n [-3, -4]]",
            grad_state="here",
        ),
        node(
            1,
            "leaf",
            "変数名と値",
            shape=(1, 22, 333, 4444, 5, 6, 7, 8),
            value="min -1.235e-7, max 1",
            grad_state="not yet",
        ),
        node(2, "data", "Ünïcödé_ß", shape=(3,), value="[-1.5, -2.5, -3.5]", dtype="int64"),
        node(
            3,
            "op",
            "",
            "exp",
            "exp",
            (3,),
            None,
            grad_state="not recorded",
            line="a_rather_long_file_name.py:1234",
        ),
        node(
            4,
            "op",
            "WWWWWWWWWW",
            "softmax",
            "log_softmax",
            (3,),
            "[-1.235e-7, nan, inf]",
            line="line 3",
            mark="error",
        ),
        node(
            5,
            "group",
            "net.0",
            "mul → add → tanh",
            "",
            (3,),
            "[1, 2, 3]",
            count=128,
            members=("mul", "add", "tanh"),
        ),
        node(
            6,
            "output",
            "y",
            "sum",
            "Σ",
            (),
            "-12345678",
            grad="-3",
            grad_state="here",
            terms=("-1", "-2"),
            stored="-14",
        ),
        node(7, "leaf", LONG * 3, shape=(3,), value="[" + "-1.234e-10, " * 5 + "…]", grad_state="not yet"),
    )
    edges = (
        GraphEdge(0, 3, "· −exp(a_variable_name) = −2.718e−10"),
        GraphEdge(1, 4),
        GraphEdge(2, 4, "", 1),
        GraphEdge(3, 4, "· 1 − tanh²", 2),
        GraphEdge(4, 5),
        GraphEdge(0, 5),
        GraphEdge(5, 6, "· 1"),
        GraphEdge(7, 6, "· −1", 1),
    )
    return GraphView(
        nodes,
        edges,
        direction=direction,
        wrt="y",
        caption="cpu · " + "a long caption " * 30,
        notes=("A note.",),
        alt="odd",
    )


def deep_view(n):
    with modes.recording():
        x = torch.tensor([0.5, -0.25], requires_grad=True)
        w = torch.tensor([1.5, 2.5], requires_grad=True)
        h = x
        for _ in range(n // 3):
            h = (h * w + x).tanh()
        y = h.sum()
        y.backward()
    return graph(y, namespace={"x": x, "w": w, "y": y}).model


def marked_view():
    """Red boxes with more on them than they are wide, in the first column and in the last."""

    def node(i, role, name, op, sign, line, **more):
        facts = {"shape": (1,), "dtype": "float32", "device": "cpu", "value": "[1]", "line": f"line {line}"}
        return GraphNode(i, role, name, op, sign, **(facts | more))

    nodes = (
        node(0, "leaf", "b", "", "", 2, mark="not in this graph"),
        node(1, "leaf", "a", "", "", 1, grad="[2]", grad_state="here"),
        node(2, "free", "", "t", "", 3, mark="turned round here"),
        node(3, "free", "c", "mul", "×", 3),
        node(4, "output", "y", "sum", "Σ", 4, shape=(), value="2", mark="a leaf of its own"),
    )
    edges = (GraphEdge(1, 2), GraphEdge(2, 3), GraphEdge(1, 3), GraphEdge(1, 4), GraphEdge(3, 4))
    return GraphView(nodes, edges, caption="float32 · cpu")


VIEWS = {
    "marked": marked_view,
    "seed": seed_view,
    "seed_down": lambda: seed_view(direction="TB"),
    "seed_backward": lambda: seed_view(sense="backward"),
    "odd": odd_view,
    "odd_down": lambda: odd_view("TB"),
    "thirty": lambda: deep_view(30),
    "a_hundred_and_fifty": lambda: deep_view(144),
}


@pytest.mark.parametrize("font", [SANS, "DejaVu Sans"])
@pytest.mark.parametrize("name", VIEWS)
def test_no_text_sticks_out(show, name, font):
    """A text on a shape lies inside it; a label on a line (with a halo) touches no box; all lies in the picture.

    DejaVu Sans is what a bare Linux falls back on, and is wider than the fonts the picture asks for.
    """
    found = show(graph_svg(VIEWS[name]()).replace(f"'{SANS}'", f"'{font}'")).execute_script(MEASURE)
    width, height = found["size"]
    assert len(found["texts"]) >= 15
    for text, (left, top, right, bottom), halo in found["texts"]:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, text
        middle = ((left + right) / 2, (top + bottom) / 2)
        around = [s for s in found["shapes"] if s[0] < middle[0] < s[2] and s[1] < middle[1] < s[3]]
        if halo:
            touched = [
                s
                for s in found["shapes"]
                if s[0] < right and left < s[2] and s[1] < bottom - 2 and top + 2 < s[3]
            ]
            assert not touched, f"{text} lies on a box"
        elif around:
            tightest = min(around, key=lambda s: (s[2] - s[0]) * (s[3] - s[1]))
            assert tightest[0] <= left and right <= tightest[2], f"{text} sticks out of its box"
            assert tightest[1] - 2 <= top and bottom <= tightest[3] + 2, f"{text} sticks out of its box"


@pytest.mark.parametrize("name", VIEWS)
def test_texts_do_not_cover_each_other(show, name):
    texts = show(graph_svg(VIEWS[name]())).execute_script(MEASURE)["texts"]
    for k, (first, a, _) in enumerate(texts):
        for second, b, _ in texts[:k]:
            overlap = min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 3
            assert not overlap, f"{first!r} covers {second!r}"


@pytest.mark.parametrize(("bold", "mono"), [(False, False), (True, False), (False, True)])
def test_the_width_table_is_never_too_small(show, bold, mono):
    """Every printable ASCII character and those that views use, against the fonts of this machine."""
    chars = [chr(i) for i in range(33, 127)] + list("∂·×÷−²³√Σ→…⁴αβγδεθλμπστφωÄÖÜäöüßéñ変数値ШжЯ")
    family, weight = (MONO if mono else SANS), 600 if bold else 400
    font = f"font-size='13' font-family='{family}' font-weight='{weight}'"
    lines = "".join(f"<text y='{20 * i}' {font}>&#{ord(c)};&#{ord(c)};</text>" for i, c in enumerate(chars))
    script = "return [...document.querySelectorAll('text')].map(e => e.getComputedTextLength())"
    measured = show(f"<svg xmlns='http://www.w3.org/2000/svg'>{lines}</svg>").execute_script(script)
    small = {
        c: (m, text_width(c * 2, 13, bold=bold, mono=mono)) for c, m in zip(chars, measured, strict=True)
    }
    assert not {c: pair for c, pair in small.items() if pair[0] > pair[1]}


def test_the_picture_shows_as_an_image_in_its_natural_size(show):
    view = seed_view()
    page = show(graph_html(view))
    image = (
        "const i = document.images[0]; return [i.complete, i.naturalWidth, i.naturalHeight, i.alt, i.width]"
    )
    complete, width, height, alt, shown = page.execute_script(image)
    assert complete and (width, height) == tuple(float(n) for n in graph_svg(view).split("'")[3:6:2])
    assert shown == width
    assert alt == "2 leaves, 3 operations. y is 10; gradient of x1 is 7, of x2 2."


def test_a_wide_picture_shrinks_to_seventy_percent_and_then_scrolls(show):
    page = show(f"<div style='width:700px'>{graph_html(deep_view(30))}</div>")
    shown, natural, card, inner = page.execute_script(
        "const i = document.images[0], c = i.parentElement;"
        "return [i.width, i.naturalWidth, c.offsetWidth, c.scrollWidth]"
    )
    assert abs(shown - 0.7 * natural) <= 1
    assert card <= 700 < inner


def test_a_picture_a_little_wider_than_the_window_shrinks_into_it(show):
    page = show(f"<div style='width:480px'>{graph_html(seed_view())}</div>")
    shown, natural, card, inner = page.execute_script(
        "const i = document.images[0], c = i.parentElement;"
        "return [i.width, i.naturalWidth, c.clientWidth, c.scrollWidth]"
    )
    assert 0.7 * natural < shown < natural
    assert inner == card <= 480


@pytest.mark.parametrize("options", [{}, {"blank": True}], ids=["filled", "blank"])
@pytest.mark.parametrize("columns", [{"seeds": []}, {"reverse": False}], ids=["reverse", "forward"])
def test_a_trace_fits_a_narrow_window(show, options, columns):
    def f(x1, x2):
        return x1 * x2 + x1**2

    html = trace(f, 2.0, 3.0, **options, **columns).html
    page = show(f"<div style='width:300px'>{html}</div><div style='width:900px'>{html}</div>")
    narrow, wide = page.execute_script(
        "return [...document.querySelectorAll('body > div > div')].map(c => [c.scrollWidth - c.clientWidth, c.offsetWidth])"
    )
    assert narrow[0] == wide[0] == 0  # nothing to scroll
    assert narrow[1] <= 300
    lines = "return [...document.querySelectorAll('body > div:last-child tr')].map(r => r.offsetHeight)"
    assert max(page.execute_script(lines)) < 45  # where there is room nothing is broken into lines


def test_labels_run_no_script(show):
    node = GraphNode(0, "leaf", EVIL, dtype=EVIL, value=EVIL, grad=EVIL, grad_state="here", line=EVIL)
    view = GraphView(
        (node, GraphNode(1, "output", EVIL, op=EVIL, symbol=EVIL, value=EVIL, line=EVIL)),
        (GraphEdge(0, 1, EVIL),),
        title=EVIL,
        caption=EVIL,
        left_out=EVIL,
        alt=EVIL,
    )
    page = show(graph_svg(view) + graph_html(view))
    hacked, images, scripts, shown = page.execute_script(
        "return [window.hacked, document.images.length, document.scripts.length,"
        "document.querySelector('text').textContent]"
    )
    assert (hacked, images, scripts) == (None, 1, 0)
    assert shown.startswith("<script>window.hacked=1</script>"[: len(shown) - 1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab in a folder of its own that knows nobody's settings and trusts no notebook: (folder, address)."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    home = tmp_path_factory.mktemp("home")
    folder = home / "work"
    folder.mkdir()
    places = {f"JUPYTER_{name}": str(home / name) for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0"]
    command += [f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=secret"]
    log = (home / "log").open("w+", encoding="utf-8")
    server = subprocess.Popen(command, env={**os.environ, **places}, stdout=log, stderr=log)
    try:
        address = None
        for _ in range(240):
            found = re.search(
                r"http://(?:localhost|127\.0\.0\.1):\d+/", (home / "log").read_text(encoding="utf-8")
            )
            address = found.group() if found else None
            if address or server.poll() is not None:
                break
            time.sleep(0.25)
        assert address, (home / "log").read_text(encoding="utf-8")
        yield folder, address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
        log.close()


def test_the_picture_shows_in_a_notebook_that_is_not_trusted(browser, lab):
    """A downloaded hand-out: its saved outputs are sanitized, and the picture, its alt text and its twin survive."""
    folder, address = lab
    with modes.recording():
        x = torch.tensor(2.0, requires_grad=True)
        y = x * x
        y.backward()
    data, metadata = graph(y, namespace={"x": x, "y": y})._repr_mimebundle_()
    evil = "<script>window.hacked=1</script><p id='reached'>sanitized</p>"
    cells = [
        {
            "cell_type": "code",
            "id": f"c{i}",
            "source": "",
            "execution_count": 1,
            "metadata": {},
            "outputs": [output],
        }
        for i, output in enumerate(
            [
                {"output_type": "display_data", "data": data, "metadata": metadata},
                {"output_type": "display_data", "data": {"text/html": evil}, "metadata": {}},
            ]
        )
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "handout.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    browser.get(f"{address}lab/tree/handout.ipynb?token=secret&reset")
    look = """
        const image = document.querySelector('.jp-OutputArea img[alt]');
        return image && image.complete && document.querySelector('#reached, .jp-OutputArea p') && [
            image.naturalWidth, image.alt, image.getBoundingClientRect().width,
            document.querySelector('.jp-OutputArea details pre').textContent,
            getComputedStyle(image.closest('div[style]')).backgroundColor, window.hacked || 0];
    """
    found = None
    for _ in range(240):
        found = browser.execute_script(look)
        if found:
            break
        time.sleep(0.25)
    assert found, "JupyterLab did not show the output"
    natural, alt, shown, twin, ground, hacked = found
    assert natural > 100 and shown == natural
    assert alt == "1 leaf, 1 operation. y is 4; gradient of x is 4."
    assert "2 + 2 = 4" in twin
    assert ground == "rgb(255, 255, 255)"
    assert hacked == 0
