"""The README tells the truth (its examples in `>>>` form run as doctests besides)."""

import re
import tomllib
from pathlib import Path

from record_picture import PICTURE, picture

from autodiff_kernel.cli import _parser
from autodiff_kernel.jupyter.magics import LISTING
from autodiff_kernel.views.trace import trace

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_trace_is_what_it_prints() -> None:
    def f(x1, x2):  # type: ignore[no-untyped-def]
        return x1 * x2 + x1**2

    [shown] = re.findall(r"```text\n(.*?)\n```", README, re.S)
    assert shown == str(trace(f, 2.0, 3.0))


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert pictures and all((ROOT / picture).is_file() for picture in pictures)


def test_the_picture_is_what_its_code_draws() -> None:
    """After a change of how graphs are drawn: python tests/record_picture.py."""
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_the_extras_of_its_commands_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra for group in re.findall(r"\[([a-z0-9,]+)\]['\"]", README) for extra in group.split(",")}
    assert {"lab", "lessons", "test"} <= named
    assert named <= set(project["optional-dependencies"])


def test_its_commands_parse() -> None:
    commands = re.findall(r"`autodiff-kernel ([^`]+)`", README)
    assert {"lab", "run", "handout", "student", "install", "doctor"} == {
        command.split()[0] for command in commands
    }
    for command in commands:
        _parser().parse_args(command.split())


def test_every_listed_magic_is_in_it() -> None:
    for example, _ in LISTING:
        assert f"`{example.split()[0]}" in README


def test_what_it_names_under_derivatives_is_there() -> None:
    import autodiff_kernel as torch
    from autodiff_kernel import explain

    table = README.partition("### Derivatives and answers")[2].partition("###")[0]
    x = torch.tensor([1.0], requires_grad=True)
    names = {"torch": torch, "autodiff_kernel": torch, "explain": explain, "x": x, "y": x * 2}
    paths = re.findall(r"`((?:torch|autodiff_kernel|explain|x|y)(?:\.\w+)+)", table)
    assert len(paths) > 12
    for path in paths:
        eval(path, dict(names))
    listed = re.search(r"`torch\.func`: (.*?) \|", table)
    assert listed and all(hasattr(torch.func, word) for word in re.findall(r"`(\w+)`", listed[1]))
