"""Rare families of rows come with the first question for one of their names, and the list of those names is true."""

import subprocess
import sys

import pytest

from autodiff_kernel.core.late import FAMILIES

CHECK = """
import autodiff_kernel as torch
torch.Tensor
from autodiff_kernel.core import api, late
for family in late.FAMILIES:
    functions, methods = set(api.FUNCTIONS), set(api.METHODS)
    late.load(family)
    functions, methods = set(api.FUNCTIONS) - functions, set(api.METHODS) - methods
    print(*[" ".join(sorted(x)) for x in (functions & methods, functions - methods, methods - functions)], sep="|")
"""


def run(code: str, *args: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout.strip("\n")


def test_the_names_listed_are_the_names_made() -> None:
    made = [tuple(line.split("|")) for line in run(CHECK).splitlines()]
    listed = [tuple(" ".join(sorted(x.split())) for x in names) for names in FAMILIES.values()]
    assert dict(zip(FAMILIES, made, strict=True)) == dict(zip(FAMILIES, listed, strict=True))


def test_an_import_loads_no_late_family() -> None:
    code = (
        "import sys, autodiff_kernel as torch\n"
        "torch.tensor\n"
        "from autodiff_kernel.core.late import FAMILIES\n"
        "print([f for f in FAMILIES if f'autodiff_kernel.core.rules.{f}' in sys.modules])"
    )
    assert run(code) == "[]"


@pytest.mark.parametrize(
    "code, answer",
    [
        ("print(torch.det(torch.eye(2)).item())", "1.0"),
        ("print(torch.eye(2).det().item())", "1.0"),
        ("print(torch.Tensor.det(torch.eye(2)).item())", "1.0"),
        ("print(torch.linalg.det(torch.eye(2)).item(), 'det' in vars(torch))", "1.0 False"),
        ("print('det' in dir(torch), 'fft' in dir(torch), 'det' in dir(torch.Tensor))", "True True True"),
        ("print(hasattr(torch, 'no_such_name'), hasattr(torch.Tensor, 'no_such_name'))", "False False"),
        ("x = torch.ones(2, 1)\nprint(x.renorm_(2, 0, 0.5) is x, round(x[0].item(), 4))", "True 0.5"),
        ("from autodiff_kernel import *\nprint(det(eye(2)).item(), fft.fftfreq(2).tolist())", "1.0 [0.0, -0.5]"),
        (
            "torch.set_dialect('2017')\nprint(torch.eye(2).det(), torch.det(torch.eye(2)))\n"
            "torch.set_dialect('modern')\nprint(torch.eye(2).det(), torch.det(torch.eye(2)))",
            "1.0 1.0\ntensor(1.) tensor(1.)",
        ),
    ],
)  # fmt: skip
def test_a_late_name_answers_as_any_other(code: str, answer: str) -> None:
    assert run("import autodiff_kernel as torch\n" + code) == answer
