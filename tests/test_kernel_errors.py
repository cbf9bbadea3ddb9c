"""What an exception looks like: ours with its view and a short traceback, all others as in a plain kernel."""

import re
from collections.abc import Iterator

import pytest
from kernels import Answer, Kernel, kernel

OURS = """
from autodiff_kernel.core.errors import explain
import sys
from autodiff_kernel.core.places import Place
def place():
    frame = sys._getframe(1)
    return Place(frame.f_code, frame.f_lasti)
"""

RAISE = """\
h = 1
saved = place()
s = h
changed = place()
raise explain(RuntimeError, "the key phrase", "The finding <b>.", "write it so.",
              (("saved by exp in", saved), ("changed in", changed)))
"""


@pytest.fixture(scope="module")
def ours() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(OURS)
        yield running


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Kernel, Kernel]]:
    with kernel("autodiff") as ours, kernel("python3") as plain:
        yield ours, plain


def shown(answer: Answer) -> dict[str, str]:
    [view] = answer.of("display_data")
    data: dict[str, str] = view["data"]
    return data


def test_the_view_stands_above_the_error(ours: Kernel) -> None:
    answer = ours.run(RAISE)
    assert [output["msg_type"] for output in answer.outputs] == ["display_data", "error"]
    html = shown(answer)["text/html"]
    assert "RuntimeError: the key phrase" in html
    assert "The finding &lt;b&gt;." in html
    assert "What to do:</b> write it so." in html


def test_the_view_points_at_the_lines(ours: Kernel) -> None:
    assert shown(ours.run(RAISE))["text/plain"].splitlines() == [
        "    1  h = 1",
        "→   2  saved = place()    # saved by exp",
        "    3  s = h",
        "→   4  changed = place()  # changed",
        '    5  raise explain(RuntimeError, "the key phrase", "The finding <b>.", "write it so.",',
    ]


def test_the_error_message_has_all_the_words(ours: Kernel) -> None:
    [error] = ours.run(RAISE).of("error")
    assert error["ename"] == "RuntimeError"
    assert error["evalue"].splitlines() == [
        "the key phrase",
        "The finding <b>.",
        "  saved by exp in line 2: saved = place()",
        "  changed in line 4: changed = place()",
        "What to do: write it so.",
    ]


def test_the_traceback_leaves_our_frames_out(ours: Kernel) -> None:
    answer = ours.run(
        "import autodiff_kernel.core.errors as errors\n"
        "namespace = {'explain': explain}\n"
        "code = compile('def inner():\\n    raise explain(RuntimeError, \"phrase\")', errors.__file__, 'exec')\n"
        "exec(code, namespace)\n"
        "namespace['inner']()"
    )
    [error] = answer.of("error")
    text = "\n".join(error["traceback"])
    assert "errors.py" not in text
    assert "inner" in text
    full = ours.run("%tb")
    assert "errors.py" in full.text() + "".join(line for e in full.of("error") for line in e["traceback"])


@pytest.mark.parametrize(
    "code",
    [
        "1 / 0",
        "def f():\n    return undefined\nf()",
        "if True\n    pass",
        "x = (",
        "  indented = 1\n unindented = 2",
        "import nosuchmodule",
        "raise ValueError('two\\nlines') from KeyError('k')",
        "exec('1 +')",
        "raise SystemExit(3)",
        "assert 1 == 2, 'text'",
        "raise KeyboardInterrupt",
        "raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])",
        "class R:\n    def __repr__(self): raise TypeError('no repr')\nR()",
        "[1, 2][5]",
        "print(1, file=3)",
    ],
)
def test_other_exceptions_look_as_in_a_plain_kernel(pair: tuple[Kernel, Kernel], code: str) -> None:
    """Byte by byte. Both kernels have run the same cells; only their process numbers differ."""
    told = []
    for running in pair:
        pid = running.run("import os; os.getpid()").results[0]
        answer = running.run(code)
        contents = [(output["msg_type"], output["content"]) for output in answer.outputs]
        told.append((repr(contents).replace(pid, "PID"), repr(answer.reply).replace(pid, "PID")))
    ours, plain = told
    assert ours[0] == plain[0]
    assert without_engine_id(ours[1]) == without_engine_id(plain[1])


def without_engine_id(reply: str) -> str:
    return re.sub(r"'engine_uuid': '[^']*'", "", reply)


def test_an_error_of_ours_inside_time_has_its_view_too(ours: Kernel) -> None:
    answer = ours.run("%%time\nraise explain(ValueError, 'phrase', 'finding')")
    assert "finding" in shown(answer)["text/html"]


def test_an_error_of_the_engine_shows_the_graph_and_the_line_to_change(ours: Kernel) -> None:
    answer = ours.run(
        "w = torch.tensor([1., 2.], requires_grad=True)\nh = w.exp()\ns = h.sum()\nh.add_(1)\ns.backward()"
    )
    text = shown(answer)["text/plain"]
    assert text.startswith("Graph of s\n")
    [marked] = [line for line in text.splitlines() if "error here" in line]
    assert "exp(w)" in marked
    assert re.search(r"^→   4  h\.add_\(1\) +# changed$", text, re.M)
    assert "What to write: h = h.add(1)\n" in text
    html = shown(answer)["text/html"]
    assert html.count("<img src='data:image/svg+xml;base64,") == 1
    assert re.search(r"What to write:</b></div><pre [^>]*>h = h\.add\(1\)</pre>", html)


@pytest.mark.parametrize(
    "code, told",
    [
        ("t = torch.ones(2, 3)\nt.view(-1, -1)", "t is [2, 3] float32"),
        ("t = torch.ones(2, 3)\ntorch.where(t, t, t)", "t is [2, 3] float32"),
        ("t = torch.ones(2, 3)\nt.chunk(0)", "t is [2, 3] float32"),
    ],
)
def test_an_error_of_ours_without_an_explanation_tells_the_operands(
    ours: Kernel, code: str, told: str
) -> None:
    answer = ours.run(code)
    assert told in shown(answer)["text/plain"] and told in shown(answer)["text/html"]
    assert "autodiff_kernel/" not in "".join(answer.of("error")[0]["traceback"])


@pytest.mark.parametrize(
    "code",
    [
        "torch.nothing_of_that_name",
        "torch.ones(2).nothing",
        "torch.load('/nowhere/file.pt')",
        "torch.ones(2) + 'a'",
        "def hook(g): raise ValueError('mine')\nw = torch.ones(1, requires_grad=True)\nh = w * 2\n"
        "_ = h.register_hook(hook)\nh.backward()",
    ],
)
def test_what_python_or_the_users_own_code_raises_has_no_view(ours: Kernel, code: str) -> None:
    answer = ours.run(code)
    assert answer.of("display_data") == [] and len(answer.of("error")) == 1


PROPERTY = "class E(Exception):\n    @property\n    def explanation(self): raise {}\nraise E('text')"
HOSTILE = {
    "an explanation of somebody else's": "class E(Exception):\n    explanation = 'text'\nraise E('text')",
    "an explanation that raises": PROPERTY.format("OSError('no')"),
    "an explanation that ends the program": PROPERTY.format("SystemExit"),
    "an explanation with nothing right in it": (
        "e = RuntimeError('text')\nx = e.explanation = explain(RuntimeError, 'x').explanation\n"
        "x.lines, x.node, x.tensor, x.facts, x.topic = 5, 'node', 3, None, 'freed graph'\nraise e"
    ),
    "a namespace with hostile names": (
        "class Odd:\n    def __getattr__(self, name): raise ZeroDivisionError\n    def __eq__(self, other): raise OSError\n"
        "    __hash__ = None\nodd = Odd()\ntorch.ones(2) + torch.ones(3)"
    ),
    "a model whose parameters fail": (
        "class Model:\n    def named_parameters(self): raise RuntimeError('not ready')\nmodel = Model()\n"
        "torch.ones(2) + torch.ones(3)"
    ),
    "a deep recursion": "def f(x): return f(x + torch.ones(1))\nf(torch.ones(1))",
}  # fmt: skip


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_the_users_error_is_shown_whatever_the_view_stumbles_over(ours: Kernel, code: str) -> None:
    answer = ours.run(code)
    assert answer.reply["status"] == "error"
    assert len(answer.of("error")) == 1
    assert answer.reply["ename"] in ("E", "RuntimeError", "RecursionError")
    assert ours.run("1 + 1").results == ["2"]
    ours.run("odd = model = None")


def test_an_error_without_a_text_looks_as_in_a_plain_kernel(pair: tuple[Kernel, Kernel]) -> None:
    code = "class E(Exception):\n    def __str__(self): raise ValueError('no text')\nraise E"
    ours, plain = [[error["ename"] for error in running.run(code).of("error")] for running in pair]
    assert ours == plain


def test_where_why_fails_what_the_exception_knows_is_shown(ours: Kernel) -> None:
    ours.run("import autodiff_kernel.explain as e_\nkept_ = e_.why\ndef broken(*a, **k): raise KeyError('k')")
    ours.run("e_.why = broken")
    try:
        data = shown(ours.run("t = torch.ones(2, 3)\nt + torch.ones(2)"))
        assert "do not broadcast" in data["text/html"] and "What to do" in data["text/html"]
    finally:
        ours.run("e_.why = kept_")


def test_where_the_view_fails_it_says_so_and_the_error_follows(ours: Kernel) -> None:
    ours.run(
        "import sys\nv_ = sys.modules['autodiff_kernel.views.error']\nkept_ = v_.view_model\nv_.view_model = None"
    )
    try:
        answer = ours.run("torch.ones(2, 3) + torch.ones(2)")
        assert (
            answer.text()
            == "(the error view could not be drawn: TypeError: 'NoneType' object is not callable)\n"
        )
        assert answer.of("error")[0]["ename"] == "RuntimeError"
    finally:
        ours.run("v_.view_model = kept_")


def test_an_exception_of_others_is_not_held_up(ours: Kernel) -> None:
    """The error view is asked about every exception: of others' it must see at once that there is nothing to do."""
    ours.run("import sys\nbefore = set(sys.modules)")
    ours.run("[][0]")
    assert ours.run("sorted(set(sys.modules) - before)").results == ["[]"]


def test_a_failed_import_of_pytorch_says_what_to_write(ours: Kernel) -> None:
    ours.run("import sys; sys.modules['torch'] = None")
    answer = ours.run("from torch.func import vmap")
    ours.run("del sys.modules['torch']")
    [error] = answer.of("error")
    assert "What to write: from autodiff_kernel.func import vmap" in "\n".join(error["traceback"])
    assert answer.of("display_data") == []
