"""Each magic wraps a public function thinly: the same options by the same names; and a list of all, with examples."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels import Kernel, kernel

from autodiff_kernel import as_torch, cuda, set_dialect, views
from autodiff_kernel.jupyter.doctor import report
from autodiff_kernel.jupyter.magics import GROUPS, LISTING

# Which public function does a magic's work.
FUNCTIONS: dict[str, Any] = {
    "graph": views.graph,
    "trace": views.trace,
    "place": views.place,
    "simulate_gpu": cuda.simulate,
    "autodiff": report,
    "why": views.why,
    "nan": views.nan,
    "memory": views.memory,
    "dialect": set_dialect,
    "step": views.steps,
    "backward": views.steps,
    "tensor": views.tensors,
    "grad": views.gradients,
    "jacobian": views.jacobian,
    "gradcheck": views.gradcheck,
    "shapes": views.shapes,
    "watch": views.watch,
    "descent": views.descent,
    "timegrad": views.timegrad,
    "predict": views.prediction,
    "check": views.check,
    "compiled": views.compiled,
    "as_torch": as_torch.install,
}
# What a magic knows by itself: the notebook's names, what stands on its line, when the cell began.
OF_THE_LINE = {
    "namespace",
    "name",
    "since",
    "mark",
    "kwargs",
    "args",
    "answers",
    "what",
    "run",
    "x",
    "y",
    "f",
}
# Options that say the same in other words, and those of a notebook only.
OTHER_WORDS = {"all": "everything", "forward": "reverse", "seed": "seeds"}
NOTEBOOKS_OWN = {"result", "output", "help", "forget", "live"}


def magics() -> Iterator[tuple[str, str, Any]]:
    for group in GROUPS:
        for kind, names in group.magics.items():
            for name, method in names.items():
                yield kind, name, getattr(group, str(method))


def options(magic: Any) -> set[str]:
    return {action.dest for action in magic.parser._actions if action.option_strings} - NOTEBOOKS_OWN


@pytest.mark.parametrize(("kind", "name", "magic"), list(magics()), ids=lambda x: str(x)[:20])
def test_a_magic_has_the_options_of_its_function(kind: str, name: str, magic: Any) -> None:
    known = inspect.signature(FUNCTIONS[name]).parameters
    given = {OTHER_WORDS.get(option, option) for option in options(magic)}
    assert given <= set(known)
    keywords = {p.name for p in known.values() if p.kind is inspect.Parameter.KEYWORD_ONLY} - OF_THE_LINE
    assert keywords <= given, f"%{name} lacks {keywords - given}"


@pytest.mark.parametrize(("kind", "name", "magic"), list(magics()), ids=lambda x: str(x)[:20])
def test_the_help_of_a_magic_has_an_example_and_says_what_each_option_does(
    kind: str, name: str, magic: Any
) -> None:
    sign = "%%" if kind == "cell" else "%"
    example = re.search(r"Examples?::\n\n(.*)", inspect.getdoc(magic) or "", re.S)
    assert example and f"{sign}{name}" in example[1]
    assert all(action.help for action in magic.parser._actions if action.dest != "help")


def test_the_list_has_every_magic_with_one_line() -> None:
    listed = {example.split()[0] for example, _ in LISTING}
    # what a cell magic shares with the line magic of its name is told there
    wanted = {"%" + name for kind, name, _ in magics() if kind == "line"} | {"%%graph", "%%backward"}
    assert listed == wanted
    for example, meaning in LISTING:
        assert "\n" not in example + meaning and len(example) + len(meaning) < 110 and meaning[0] != " "


SETUP = """
import sys; sys.path.insert(0, {folder!r})
import autodiff_kernel as torch
from modules import Net
model = Net()
x = torch.ones(4, 3, requires_grad=True)
w = torch.tensor(2., requires_grad=True)
y = (x * w).sum()
y.backward()
def f(x, *more):
    return (x * x).sum() + sum(more)
def check_e1(y):
    assert y.ndim == 0
"""
BELOW = {"%%graph": "y = w * w\ny", "%%backward": "y = w * w\ny.backward()"}
AFTER = {
    "%watch on": "%watch off",
    "%dialect 2017": "%dialect modern",
    "%simulate_gpu 2": "%simulate_gpu 0",
    "%as_torch": "%as_torch off",
}
BEFORE = {"%jacobian f x": "x = torch.ones(3)", "%graph model(x)": "x = torch.ones(4, 3)"}


@pytest.mark.parametrize("name", ["autodiff", "python3"])
def test_every_example_of_the_list_runs(name: str) -> None:
    with kernel(name) as running:
        if name == "python3":
            running.run("%load_ext autodiff_kernel")
        setup = SETUP.format(folder=str(Path(__file__).parent))
        told = running.run("%autodiff").text()
        for example, meaning in LISTING:
            assert re.search(re.escape(example) + " +" + re.escape(meaning) + "\n", told)
            running.run(setup + BEFORE.get(example, ""))
            answer = running.run("\n".join([example, *BELOW.get(example, "").split("\n")]).rstrip())
            assert answer.reply["status"] == "ok", (example, answer.reply)
            if example in AFTER:
                running.run(AFTER[example])


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        running.run(SETUP.format(folder=str(Path(__file__).parent)))
        yield running


def test_options_reach_their_functions(shell: Kernel) -> None:
    def told(code: str) -> str:
        [content] = shell.run(code).of("display_data")
        return str(content["data"]["text/plain"])

    whole = told("z = w * w\n%graph z")
    assert "not yet" not in told("%graph z --no-grads") and "not yet" in whole
    assert " value " in whole and " value " not in told("%graph z --no-values")
    assert told("%graph z --title 'My graph'").startswith("My graph\n")
    assert told("%step --title Backward --first 1 --last 1 z").startswith("Backward\n")
    shell.run("v = torch.tensor(2., dtype=torch.float64)")
    assert told("%gradcheck torch.exp v --eps 0.5 --rtol 1e-9") != told("%gradcheck torch.exp v")
    assert "forward" in told("%timegrad --seconds 0.05 w * w").lower()
    assert told("%why z --everything") == told("%why z --all")
