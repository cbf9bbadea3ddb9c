"""The lessons as texts and as exercises: what a check says to every kind of answer, and rules of form.

That each cell gives its stored output is nbval's part: in our kernel among the test paths, in a plain one below.
"""

import ast
import contextlib
import io
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from test_nbval import judge

from autodiff_kernel.handout import student

LESSONS = sorted((Path(__file__).parents[1] / "lessons").glob("[0-9]*.ipynb"))
IDS = [path.stem for path in LESSONS]
UNWANTED = re.compile(r"\b(simply|just|obviously|clearly)\b", re.I)
NUMBER = re.compile(r"\d[\d,_]*(?:\.\d+)?")


@dataclass(frozen=True)
class Answer:
    """Code in place of an exercise's solution. hint: part of the check's complaint; '' for a right answer."""

    exercise: str
    hint: str
    code: str


def _answers() -> Iterator[Answer]:
    for file in sorted((Path(__file__).parent / "data" / "lesson_answers").glob("*.txt")):
        for part in file.read_text(encoding="utf-8").split("\n@ ")[1:]:
            head, _, code = part.partition("\n")
            exercise, _, hint = head.partition(": ")
            yield Answer(exercise, "" if hint == "right" else hint, code)


ANSWERS = tuple(_answers())
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=IDS)


@cache
def lesson(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(book: Any) -> list[Any]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def student_part(source: str) -> str:
    """A check's code without what students don't see."""
    return re.sub(r"### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS", "", source, flags=re.S).rstrip()


def grade(cell: Any) -> dict[str, Any]:
    found: dict[str, Any] = cell.metadata.get("nbgrader", {})
    return found


def plain(source: str) -> str:
    """A cell's code without its magics: what counts here is Python."""
    return "\n".join("" if line.lstrip().startswith("%") else line for line in source.splitlines())


def run_cell(cell: Any, names: dict[str, Any]) -> str:
    """Execute a cell without a kernel; returns what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(plain(cell.source), cell.id, "exec"), names)
    return printed.getvalue()


def story(path: Path, until: str) -> tuple[dict[str, Any], Any]:
    """The namespace right before the check of an exercise, and the check's cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in code_cells(lesson(path)):
        if grade(cell).get("grade_id") == f"{until}-check":
            return names, cell
        run_cell(cell, names)
    raise AssertionError(f"{path.name} has no check of {until}")


def path_of(exercise: str) -> Path:
    return next(path for path in LESSONS if path.name.startswith(exercise[1:3]))


def exercises(path: Path) -> list[str]:
    return [grade(c)["grade_id"] for c in code_cells(lesson(path)) if grade(c).get("solution")]


# ------------------------------------------------------------------ what a check says


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: f"{a.exercise}-{a.hint or 'right'}"[:48])
def test_a_check_knows_right_answers_and_the_usual_wrong_ones(answer: Answer) -> None:
    names, check = story(path_of(answer.exercise), answer.exercise)
    exec(answer.code, names)
    if not answer.hint:
        assert run_cell(check, names).endswith(": right\n")
        return
    with pytest.raises(AssertionError) as complaint:
        run_cell(check, names)
    assert answer.hint in str(complaint.value)


@every_lesson
def test_each_exercise_has_a_check_and_declared_answers(path: Path) -> None:
    ids = exercises(path)
    checks = [grade(c)["grade_id"] for c in code_cells(lesson(path)) if grade(c).get("grade")]
    assert 4 <= len(ids) <= 8
    assert checks == [f"{name}-check" for name in ids]
    for name in ids:
        hints = {a.hint for a in ANSWERS if a.exercise == name}
        assert len(hints - {""}) >= 2, name
        assert "" in hints, name


@every_lesson
def test_a_students_lesson_fails_in_its_checks_only_and_they_say_not_attempted(path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    refused = []
    for cell in code_cells(student(lesson(path))):
        try:
            run_cell(cell, names)
        except AssertionError as error:
            assert str(error).startswith("not attempted"), cell.id
            refused.append(grade(cell).get("grade_id"))
    assert refused == [f"{name}-check" for name in exercises(path)]


@every_lesson
def test_a_students_lesson_holds_no_answer(path: Path) -> None:
    whole, given = lesson(path), student(lesson(path))
    assert [c.id for c in given.cells] == [c.id for c in whole.cells]
    text = nbformat.writes(given)
    assert "### BEGIN" not in text and "### END" not in text
    for cell, bare in zip(whole.cells, given.cells):
        for found in re.finditer(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S):
            secret = {line for line in found[1].splitlines() if line.strip()} - set(_outside(cell.source))
            assert not secret & set(bare.source.splitlines())
        if cell.cell_type == "code":
            assert not bare.outputs and bare.execution_count is None
        if grade(cell):
            assert grade(bare)["schema_version"] == 3
    assert not any("solution" in c.metadata.get("tags", []) and len(c.source) > 20 for c in given.cells)


def _outside(source: str) -> list[str]:
    return re.sub(r"### BEGIN SOLUTION\n.*?### END SOLUTION", "", source, flags=re.S).splitlines()


# ------------------------------------------------------------------ rules of form


@every_lesson
def test_metadata_say_what_the_lesson_is_for(path: Path) -> None:
    metadata = lesson(path).metadata
    assert metadata.kernelspec.name == "autodiff"
    about = metadata.lesson
    assert {"minutes", "version", "date", "after", "goals"} <= set(about)
    trained = {name for ids in about.goals.values() for name in ids}
    assert trained == set(exercises(path))
    assert all(about.goals.values())


@every_lesson
def test_code_cells_are_short_and_end_in_something(path: Path) -> None:
    for cell in code_cells(lesson(path)):
        tags = cell.metadata.get("tags", [])
        lines = student_part(cell.source).splitlines()
        limit = 20 if {"quotation"} & set(tags) or grade(cell).get("solution") else 15
        assert len(lines) <= limit, f"{cell.id}: {len(lines)} lines"
        assert all(len(line) <= 88 for line in lines), cell.id
        printed = sum(o.text.count("\n") for o in cell.outputs if o.output_type == "stream")
        assert printed <= 30
        assert not any(o.output_type == "error" or o.get("name") == "stderr" for o in cell.outputs), cell.id
        shows = bool(cell.outputs) or "assert" in cell.source
        assert shows or {"setup", "quotation", "predict"} & set(tags) or grade(cell).get("solution"), cell.id


@every_lesson
def test_solutions_need_at_most_twelve_lines(path: Path) -> None:
    for cell in code_cells(lesson(path)):
        for found in re.finditer(r"### BEGIN SOLUTION\n(.*?)[ ]*### END SOLUTION", cell.source, re.S):
            assert found[1].count("\n") <= 12, cell.id


def _prose(source: str) -> str:
    """A Markdown cell without code, formulas, tables, pictures and marks."""
    source = re.sub(r"\$\$.*?\$\$|```.*?```", " ", source, flags=re.S)
    source = re.sub(r"!\[[^]]*\]\([^)]*\)|`[^`]*`|\$[^$]*\$", " ", source)
    return "\n".join(line for line in source.splitlines() if not line.startswith("|")).replace("*", "")


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z][A-Za-z'’-]*", text)


def _sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.?!:])\s+|\n\n+|\n(?=#|\d\.)", re.sub(r"^#+ .*$|^\d+\. ", "", text, flags=re.M))
    return [part for part in parts if _words(part)]


def _syllables(word: str) -> int:
    groups = re.findall(r"[aeiouy]+", word.lower())
    silent = word.lower().endswith("e") and not word.lower().endswith("le") and len(groups) > 1
    return max(1, len(groups) - silent)


@every_lesson
def test_prose_is_plain(path: Path) -> None:
    texts = [_prose(cell.source) for cell in lesson(path).cells if cell.cell_type == "markdown"]
    assert not any(UNWANTED.search(text) for text in texts)
    sentences = [sentence for text in texts for sentence in _sentences(text)]
    lengths = [len(_words(sentence)) for sentence in sentences]
    assert statistics.median(lengths) <= 16
    words = [word for sentence in sentences for word in _words(sentence)]
    ease = 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * sum(map(_syllables, words)) / len(words)
    assert ease >= 60


@every_lesson
def test_texts_between_code_cells_have_at_most_ninety_words(path: Path) -> None:
    run: list[str] = []
    for cell in lesson(path).cells:
        if cell.cell_type == "code":
            run = []
            continue
        run += _words(_prose(cell.source))
        assert len(run) <= 90, f"{cell.id}: {len(run)} words"


@every_lesson
def test_headings_nest_and_pictures_and_tables_are_described(path: Path) -> None:
    level, opening = 0, lesson(path).cells[0].source
    assert re.match(r"# \d\d · .+ · \d+ minutes\n", opening)
    assert "Opening question" in "\n".join(opening.splitlines()[:10])
    for cell in lesson(path).cells:
        if cell.cell_type != "markdown":
            continue
        for found in re.finditer(r"^(#+) ", cell.source, re.M):
            assert len(found[1]) <= level + 1, cell.id
            level = len(found[1])
        for alt, url in re.findall(r"!\[([^]]*)\]\(([^)]*)\)", cell.source):
            assert len(alt) >= 40
            assert "<title" in (path.parent / url).read_text(encoding="utf-8")
        assert "](http" not in cell.source
        rows = [line for line in cell.source.splitlines() if line.startswith("|")]
        assert not rows or re.fullmatch(r"[|\-]+", rows[1]), cell.id


def _numbers(text: str) -> set[float]:
    return {float(found.replace(",", "").replace("_", "")) for found in NUMBER.findall(text)}


@every_lesson
def test_every_number_in_a_table_is_asserted(path: Path) -> None:
    asserted: set[float] = set()
    for cell in code_cells(lesson(path)):
        for node in ast.walk(ast.parse(plain(cell.source))):
            if isinstance(node, ast.Assert):
                asserted |= _numbers(ast.unparse(node))
    for cell in lesson(path).cells:
        if cell.cell_type != "markdown":
            continue
        rows = [line for line in cell.source.splitlines() if line.startswith("|")][2:]
        cells = [text for row in rows for text in row.strip("|").split("|")[1:]]
        # The names of variables (w1, x2) and formulas with them carry no results.
        numbers = {n for text in cells if not re.search(r"[a-z]̄|[wx]\d", text) for n in _numbers(text)}
        assert numbers <= asserted, f"{cell.id}: {sorted(numbers - asserted)}"


@every_lesson
def test_names_in_code_spans_exist(path: Path) -> None:
    """Magics and names of the package that a text mentions are there."""
    import autodiff_kernel as torch
    from autodiff_kernel.jupyter.magics import AutodiffMagics

    names = {word for cell in code_cells(lesson(path)) for word in re.findall(r"\w+", cell.source)}
    for cell in lesson(path).cells:
        if cell.cell_type != "markdown":
            continue
        for span in re.findall(r"`([^`]+)`", cell.source):
            if span.startswith("%"):
                assert hasattr(AutodiffMagics, span.lstrip("%").split()[0]), span
            for dotted in re.findall(r"torch((?:\.\w+)+)", span):
                owner: Any = torch
                for part in dotted.strip(".").split("."):
                    assert hasattr(owner, part), span
                    owner = getattr(owner, part)
            mentioned = set(re.findall(r"[A-Za-z_]\w*", span)) - {"torch"}
            assert mentioned <= names | {"grad", "__rmul__", "NotImplementedError"}, span


@every_lesson
def test_a_lesson_starts_with_the_line_that_differs_and_a_seed(path: Path) -> None:
    first = code_cells(lesson(path))[0]
    assert first.source.splitlines()[:2] == ["import autodiff_kernel as torch", "torch.manual_seed(0)"]
    assert TransformerManager().check_complete(first.source + "\n")[0] == "complete"


@every_lesson
def test_no_check_times_or_compares_text(path: Path) -> None:
    for cell in code_cells(lesson(path)):
        if grade(cell).get("grade"):
            assert grade(cell)["locked"] and not grade(cell)["solution"]
            assert "judge(" in cell.source
            assert not re.search(r"\btime\.|perf_counter|repr\(|str\(", cell.source)


def test_the_lessons_give_their_stored_outputs_in_a_plain_kernel_with_the_extension() -> None:
    """In our own kernel they are run as part of the test paths."""
    done = judge(LESSONS[0].parent, "python3")
    assert done.returncode == 0, done.stdout


def test_the_lessons_are_there() -> None:
    assert {"04_dual_numbers", "05_reverse_by_hand"} <= set(IDS)
