"""Code as it runs in a notebook's cell, with recording on: for the tests of explanations."""

import linecache
import warnings
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

import autodiff_kernel as torch
from autodiff_kernel import explain
from autodiff_kernel.core import journal
from autodiff_kernel.core.trail import TRAIL

_number = count(1).__next__


class Cell(dict[str, Any]):
    """The names of a cell that has run, and questions about them."""

    def answers(self, name: str) -> list[explain.Answer]:
        """All answers about what an expression gives."""
        return explain.answers(eval(name, self), self)

    def why(self, name: str) -> explain.Answer:
        return explain.why(eval(name, self), self)

    def topics(self, name: str) -> list[str]:
        return [a.topic for a in self.answers(name)]

    def answer(self, name: str, topic: str) -> explain.Answer:
        """The first answer of a topic."""
        found = [a for a in self.answers(name) if a.topic == topic]
        assert found, f"no answer {topic!r} about {name}, but {self.topics(name)}"
        return found[0]


def cell(source: str, names: dict[str, Any] | None = None, raises: type[BaseException] | None = None) -> Cell:
    """Run a cell's code with recording on; its lines count from 1."""
    filename = f"<ipython-input-{_number()}-test>"
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    found = Cell({"torch": torch} if names is None else names)
    journal.LOG.clear()
    TRAIL.clear()
    explain.watch()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(source, filename, "exec")
            if raises is None:
                exec(code, found)
            else:
                with pytest.raises(raises) as caught:
                    exec(code, found)
                found["error"] = caught.value
    finally:
        explain.watch(False)
    return found


def line_numbers(answer: explain.Answer) -> list[int]:
    """The numbers of the lines of which an answer speaks."""
    return [line.place.line for line in answer.lines]


def codes(sources: str) -> Iterator[str]:
    """Pieces of code that are parted by lines of dashes."""
    for part in sources.strip("\n").split("\n---\n"):
        yield part.strip("\n") + "\n"
