"""Whatever a user can name, print or be told stays text: in plain text, HTML, SVG, DOT and LaTeX, in every view.

Each case is a view in which a string of the user's turns up at another place, made as a user would make it.
"""

import linecache
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markup import (
    dot_is_plain,
    html_is_plain,
    latex_is_plain,
    latex_source_is_plain,
    strings,
    svg_is_plain,
    text_is_plain,
)

import autodiff_kernel as torch
from autodiff_kernel import views
from autodiff_kernel.core import modes
from autodiff_kernel.views.lessons import Guess
from autodiff_kernel.views.result import Result

# Script for HTML and SVG, the ends of strings and tags, a formula, commands of LaTeX and DOT, a terminal's colours, and
# a turn of the direction of writing; in a variable's name also half a character (nobody can encode that).
OTHER = "<script>alert(1)</script>'\" onload='x' ]]>--><!-- &lt; `b` $x$ \\href{x}{y} \\N ^_~#% \x1b[31m\x07\u202e"
EVIL = f"{OTHER}\ud800"
SEEN = "<script>alert(1)</script>"  # what a reader must find in the view as text

CASES: dict[str, Callable[[], Result]] = {}


def case(function: Callable[[], Result]) -> Callable[[], Result]:
    CASES[function.__name__] = function
    return function


def made(walked: bool = True) -> tuple[Any, Any, Any]:
    with modes.recording():
        x = torch.tensor(2.0, requires_grad=True)
        c = torch.tensor([1.0, 3.0])
        h = x * c
        y = (h * h).sum()
    if walked:
        y.backward()
    return x, h, y


def graph(**options: Any) -> Result:
    x, h, y = made()
    return views.graph(y, **{"namespace": {EVIL: x, EVIL + "h": h, EVIL + "y": y}, **options})


# ---------------------------------------------------------------------------------------- names in a graph
@case
def variables() -> Result:
    return graph()


@case
def variables_backward_and_downward() -> Result:
    return graph(sense="backward", direction="TB", numbers=True)


@case
def variables_in_what_is_saved() -> Result:
    x, h, y = made(walked=False)
    return views.graph(y, namespace={EVIL: x, EVIL + "h": h}, saved=True)


@case
def a_title() -> Result:
    return graph(title=EVIL)


@case
def keys_of_a_dictionary() -> Result:
    x, h, y = made()
    return views.graph(y, namespace={"w": {EVIL: x}, "hs": {EVIL + ": ": h}})


@case
def parameters_of_a_module() -> Result:
    class Model:
        def named_parameters(self) -> Any:
            return [(EVIL, weight)]

    with modes.recording():
        weight = torch.tensor(2.0, requires_grad=True)
        y = weight * 2
    return views.graph(y, namespace={EVIL: Model(), "y": y})


@case
def the_class_of_a_function() -> Result:
    with modes.recording():
        y = evil_function().apply(torch.tensor(2.0, requires_grad=True))
    return views.graph(y, namespace={})


def evil_function() -> Any:
    rules = {
        "forward": staticmethod(lambda ctx, x: x * 2),
        "backward": staticmethod(lambda ctx, g: g * 2),
    }
    return type(OTHER, (torch.autograd.Function,), rules)


def from_file(name: str, code: str, space: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a user's file of this name, or a cell, leaves behind; its source is at hand as in a notebook."""
    space = {"torch": torch} if space is None else space
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    with modes.recording():
        exec(compile(code, name, "exec"), space)
    return space


FILE = "/home/user/" + OTHER.replace("/", "<b>")
CELL = "<ipython-input-9-" + OTHER.replace("/", "<b>") + ">"
CODE = f"x = torch.tensor(2., requires_grad=True)\ny = x.exp() * 3  # {SEEN} `b` $x$ \\N \x1b[31m\n"
WRONG = (
    f"x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)  # {SEEN} `b` $x$\ny.sum().backward()\n"
)


@case
def the_name_of_a_file() -> Result:
    space = from_file(FILE, CODE)
    return views.graph(space["y"], namespace={"x": space["x"], SEEN: space["y"]})


@case
def the_names_of_two_files() -> Result:
    space = from_file(FILE, CODE)
    with modes.recording():
        y = space["y"] * 2
    return views.graph(y, namespace={SEEN: y})


@case
def layers_drawn_as_blocks() -> Result:
    with modes.recording():
        y = x = torch.ones(2, requires_grad=True)
        for part in range(2):
            with torch.scope(EVIL), torch.scope(f"{EVIL}{part}"):
                y = (y * x).sin()
    return views.graph(y.sum(), namespace={EVIL: x}, blocks=True, title=EVIL)


@case
def modules_of_a_large_graph() -> Result:
    with modes.recording():
        y = torch.tensor(2.0, requires_grad=True)
        for _ in range(6):
            with torch.scope(EVIL):
                y = (y.sin() * y.cos()).exp()
    return views.graph(y, namespace={}, limit=10)


@case
def groups_of_a_large_graph() -> Result:
    with modes.recording():
        x = y = torch.tensor(2.0, requires_grad=True)
        for _ in range(40):
            y = evil_function().apply(y).sin()
    return views.graph(y, namespace={EVIL: x}, limit=10)


@case
def leaves_of_a_huge_graph() -> Result:
    x = y = torch.tensor(2.0, requires_grad=True)
    for _ in range(2100):
        y = y * x
    y = evil_function().apply(y)
    return views.graph(y, namespace={EVIL: x, EVIL + "y": y})


# ---------------------------------------------------------------------------------------- traces
@case
def a_traced_function() -> Result:
    def f(x: Any) -> Any:
        return x * 2

    f.__name__ = EVIL
    return views.trace(f, 2.0)


@case
def an_argument_of_a_traced_function() -> Result:
    class Odd:
        def __repr__(self) -> str:
            return EVIL

    return views.trace(lambda x, odd: x * 2, 2.0, Odd())


@case
def a_callable_object_that_is_traced() -> Result:
    cls = type(OTHER, (), {"__call__": lambda self, x: x * 2})
    return views.trace(cls(), 2.0)


@case
def an_operation_in_a_trace() -> Result:
    function = evil_function()
    return views.trace(lambda x: function.apply(x) * 2, 2.0, seeds=None, reverse=True)


@case
def a_worksheet() -> Result:
    def f(x: Any) -> Any:
        return x * 2

    f.__name__ = EVIL
    return views.trace(f, 2.0, blank=True, seeds=[(0.5,)])


# ---------------------------------------------------------------------------------------- memory and devices
@case
def tensors_in_their_places() -> Result:
    x = torch.zeros(4, 4)
    return views.place({EVIL: x, EVIL + "row": x[0]})


@case
def the_line_that_made_what_holds_memory() -> Result:
    return views.memory({"y": from_file(CELL, CODE)["y"]})


@case
def what_holds_memory() -> Result:
    x, _, y = made(walked=False)
    return views.memory({EVIL: x, EVIL + "y": y})


# ---------------------------------------------------------------------------------------- errors and answers
def raised(action: Callable[[], Any]) -> BaseException:
    try:
        action()
    except Exception as error:
        return error
    raise AssertionError("nothing went wrong")


@case
def an_error_with_the_users_string_in_it() -> Result:
    return views.error(raised(lambda: torch.device(EVIL)))


@case
def an_error_in_a_graph_with_names() -> Result:
    x, h, y = made()
    return views.error(raised(y.backward), namespace={EVIL: x, EVIL + "h": h, EVIL + "y": y})


@case
def a_line_of_source_in_an_error() -> Result:
    space: dict[str, Any] = {"torch": torch}
    error = raised(lambda: from_file(CELL, WRONG, space))
    return views.error(error, namespace={EVIL: space["x"], EVIL + "y": space["y"]})


@case
def a_line_of_a_file_in_an_error() -> Result:
    return views.error(raised(lambda: from_file(FILE, WRONG)), namespace={})


@case
def a_nan_and_its_names() -> Result:
    with modes.recording():
        x = torch.tensor([1.0, 0.0], requires_grad=True)
        y = x.log().sum()
        y.backward()
    return views.nan(namespace={EVIL: x, EVIL + "y": y})


@case
def why_there_is_no_gradient() -> Result:
    with modes.recording():
        w = torch.ones(2, requires_grad=True)
        h = (w * 2).detach()
    return views.why(h, namespace={EVIL: w, EVIL + "h": h}, everything=True)


@case
def why_an_error_came() -> Result:
    x, h, y = made()
    return views.why(raised(y.backward), namespace={EVIL: x, EVIL + "h": h, EVIL + "y": y})


# ---------------------------------------------------------------------------------------- further views
@case
def frames_of_a_backward() -> Result:
    x, h, y = made(walked=False)
    return views.steps(y, namespace={EVIL: x, EVIL + "h": h, EVIL + "y": y}, strip=True, title=EVIL)


@case
def shapes_of_operands() -> Result:
    x, h, y = made(walked=False)
    return views.shapes(y, namespace={EVIL: x, EVIL + "h": h, EVIL + "y": y})


@case
def shapes_that_do_not_fit() -> Result:
    code = f"a, b = torch.ones(2), torch.ones(3)\nc = a + b  # {SEEN} `b` $x$\n"
    return views.shapes(raised(lambda: from_file(CELL, code)), namespace={})


@case
def what_tensors_are_made_of() -> Result:
    a = torch.ones(2, 3)
    return views.tensors({EVIL: a, EVIL + "row": a[0]}, broadcast=True)


@case
def what_a_tensor_is() -> Result:
    x, h, y = made()
    return views.inspect(h, namespace={EVIL: x, EVIL + "h": h, EVIL + "y": y}, full=True)


@case
def what_happened_since() -> Result:
    x, h, y = made(walked=False)
    since = views.mark()
    with modes.recording():
        y.backward()
    return views.watch(since, namespace={EVIL: x, EVIL + "h": h, EVIL + "y": y})


@case
def gradients_of_parameters() -> Result:
    x, h, y = made()
    return views.gradients({EVIL: x, EVIL + "h": h}, history=[{EVIL: 1.0}, {EVIL: 2.0}])


@case
def a_descent() -> Result:
    return views.descent(lambda x: (x * x).sum(), [1.0, 2.0], steps=3, name=EVIL)


@case
def a_surface() -> Result:
    return views.surface(torch.arange(6.0).view(2, 3), name=EVIL)


@case
def a_jacobian() -> Result:
    return views.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]), name=EVIL)


@case
def a_gradcheck() -> Result:
    return views.gradcheck(lambda x: x * x, torch.tensor(2.0, dtype=torch.float64), name=EVIL)


@case
def a_timing() -> Result:
    x = torch.tensor(2.0, requires_grad=True)
    return views.timegrad(lambda: x * x, seconds=0.01, name=EVIL)


@case
def a_prediction() -> Result:
    return views.prediction(EVIL, Guess(EVIL), EVIL)


@case
def a_hint_of_a_check() -> Result:
    def judge(answer: Any) -> None:
        raise AssertionError(EVIL)

    return views.check(judge, 1, name=EVIL)


# ---------------------------------------------------------------------------------------- the checks
@pytest.mark.parametrize("name", CASES)
def test_a_users_string_stays_text(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a detached tensor's .grad, read by a view
        result = CASES[name]()
    bundle, metadata = result._repr_mimebundle_()

    assert SEEN in text_is_plain(bundle["text/plain"])
    assert SEEN in html_is_plain(bundle["text/html"])
    assert "mathjax_ignore" in bundle["text/html"]
    if "image/svg+xml" in bundle:
        assert "<script" in svg_is_plain(bundle["image/svg+xml"])  # long names are cut there
    if hasattr(result, "to_graphviz"):
        assert "<script" in dot_is_plain(result.to_graphviz().source)
    if result.latex:
        latex_source_is_plain(result.latex)
    for text in strings(result.model):
        latex_is_plain(text)
    for told in metadata.values():
        text_is_plain(told["alt"])


@pytest.mark.browser
def test_no_script_runs_in_a_browser(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [make() for make in CASES.values()]
    pieces = [piece for result in results for piece in (result.html, result.svg or "")]
    head = "<!doctype html><meta charset='utf-8'><script>window.alert = () => { window.ran = 1 }</script>"
    page.write_text(head + "\n".join(pieces), encoding="utf-8")
    browser.get(page.as_uri())
    assert browser.execute_script("return document.querySelectorAll('script').length") == 1  # ours
    assert browser.execute_script("return window.ran") is None
    assert SEEN in browser.execute_script("return document.body.innerText")
