"""`autodiff-kernel handout`: pages that print, hold no script, and give no solution away."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autodiff_kernel import cli, handout

LESSONS = sorted((Path(__file__).parents[1] / "lessons").glob("[0-9]*.ipynb"))
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])

SOLUTION = """\
def double(x):
    ### BEGIN SOLUTION
    secret = x + x
    return secret
    ### END SOLUTION
### BEGIN HIDDEN TESTS
assert double(21) == 42
### END HIDDEN TESTS"""


def tagged(cell: Any, *tags: str, **metadata: Any) -> Any:
    cell.metadata.update(tags=["handout", *tags], **metadata)
    return cell


def shown(source: str, html: str) -> Any:
    data = {"text/plain": "as text", "text/html": html}
    return new_code_cell(source, outputs=[new_output("display_data", data=data)])


def small() -> Any:
    answer = tagged(
        new_code_cell(SOLUTION, outputs=[new_output("stream", text="secret output")]),
        nbgrader={"schema_version": 3, "grade_id": "e1", "solution": True, "grade": False, "locked": False},
    )
    cells = [
        tagged(new_markdown_cell("# A & B\n\n$$\\frac{1}{a} =$$\n\n![two dots](dots.svg) $x_1$")),
        new_markdown_cell("never printed"),
        tagged(new_markdown_cell("for the class"), "handout-blank", "handout-lines-3"),
        tagged(new_markdown_cell("for the teacher"), "handout-solved"),
        tagged(shown("%trace f(1.)", "<table><tr><th>w1</th></tr></table>"), "handout-output"),
        answer,
    ]
    return new_notebook(cells=cells)


def page(tmp_path: Path, book: Any, solved: bool = False) -> str:
    (tmp_path / "dots.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    return handout.page(book, tmp_path, solved=solved)


# ------------------------------------------------------------------ what is on a page


def test_the_blank_page_has_room_where_the_solution_was(tmp_path: Path) -> None:
    html = page(tmp_path, small())
    assert "<title>A &amp; B</title>" in html
    assert "for the class" in html and "for the teacher" not in html and "never printed" not in html
    assert "secret" not in html and "42" not in html and "### " not in html
    assert html.count("class='rule'") == 3 + 2
    assert "def double(x):" in html and "%trace" not in html and "<th>w1</th>" in html
    assert "class='formula todo'><math" in html and "<mfrac>" in html and "<msub>" in html
    assert "alt='two dots' src='data:image/svg+xml;base64," in html


def test_the_solved_page_has_the_solution_and_no_hidden_test(tmp_path: Path) -> None:
    html = page(tmp_path, small(), solved=True)
    assert "for the teacher" in html and "for the class" not in html
    assert "<b>    secret = x + x\n    return secret</b>" in html
    assert "secret output" not in html and "42" not in html and "### " not in html
    assert "class='rule'" not in html and "class='formula'><math" in html


def test_nothing_on_a_page_runs_or_loads(tmp_path: Path) -> None:
    attacks = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<img src='https://example.org/a.png'>",
    ]
    cells = [tagged(shown("x", attack)) for attack in attacks]
    cells += [tagged(new_markdown_cell(f"{attack}\n\n![p](https://example.org/a.png)")) for attack in attacks]
    cells += [tagged(new_markdown_cell("# <script>1</script>\n\n$</math><script>1</script>$"))]
    cells += [tagged(new_markdown_cell("![a'onerror='x](dots.svg) [link](javascript:alert(1))"))]
    html = page(tmp_path, new_notebook(cells=cells))
    assert not re.search(
        r"<script|<img[^>]*(onerror=|https?:)|javascript:", html.replace("a&#x27;onerror=", "")
    )
    assert html.count("as text") == len(attacks)
    assert "default-src 'none'; img-src data:" in html


def test_pictures_come_from_the_notebook_or_beside_it(tmp_path: Path) -> None:
    cell = tagged(new_markdown_cell("![inside](attachment:a.png) ![lost](nowhere.png) ![no](dots.txt)"))
    cell.attachments = {"a.png": {"image/png": "QUJD"}}
    html = page(tmp_path, new_notebook(cells=[cell]))
    assert "src='data:image/png;base64,QUJD'" in html
    assert "[lost]" in html and "[no]" in html


@every_lesson
def test_the_blank_page_of_a_lesson_gives_no_answer_away(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    blank = handout.page(book, path.parent)
    solved = handout.page(book, path.parent, solved=True)
    text = re.sub(r"<[^>]*>", "", blank)
    for cell in book.cells:
        for found in re.finditer(r"### BEGIN SOLUTION\n(.*?)[ ]*### END SOLUTION", cell.source, re.S):
            for line in found[1].splitlines():
                words = line.strip()
                assert len(words) < 12 or words.replace("&", "&amp;").replace("<", "&lt;") not in text, words
    assert "### " not in blank and "judge(" not in blank and "HIDDEN" not in blank
    assert "class='rule'" in blank
    assert "BEGIN" not in solved and "class='rule'" not in solved
    assert not re.search(r"<script|(?:src|href)\s*=\s*[\"']?(?!data:)\w+:", blank + solved)


def test_the_pages_have_their_worksheets() -> None:
    pages = {p.name[:2]: handout.page(nbformat.read(p, as_version=4), p.parent) for p in LESSONS}
    assert pages["04"].count("Evaluation trace of f(") == 2
    assert pages["04"].count("class='formula todo'") == 4
    assert pages["05"].count("Evaluation trace of f(") == 2
    assert "adjoint from" in pages["05"] and "<strong>swaps</strong>" in pages["05"]
    assert "3 leaves, 4 operations" in pages["05"]
    # An empty table: no cell of a worksheet has a number in it.
    sheet = re.search(r"<table.*?</table>", pages["05"], re.S)
    assert sheet is not None
    assert set(re.findall(r"<td[^>]*>([^<]*)</td>", sheet[0])) == {""}


# ------------------------------------------------------------------ the student's notebook


def test_a_students_notebook_keeps_cells_and_loses_answers() -> None:
    book = small()
    book.cells.append(new_markdown_cell("the proof", metadata={"tags": ["solution"]}))
    given = handout.student(book)
    assert [c.id for c in given.cells] == [c.id for c in book.cells]
    assert given.cells[5].source == "def double(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert not any(cell.get("outputs") for cell in given.cells)
    assert given.cells[6].source == "*Your notes.*"
    assert "secret" in book.cells[5].source


# ------------------------------------------------------------------ the command


def test_the_command_writes_html_and_says_where_no_browser_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(handout, "_browser", lambda: None)
    out = tmp_path / "pages"
    assert cli.main(["handout", *map(str, LESSONS), "-o", str(out)]) == 0
    assert cli.main(["handout", str(LESSONS[0]), "-o", str(out), "--solved"]) == 0
    names = sorted(p.name for p in out.iterdir())
    assert names == [
        "04_dual_numbers.handout.html", "04_dual_numbers.solved.html", "05_reverse_by_hand.handout.html",
    ]  # fmt: skip
    told = capsys.readouterr().err
    assert "no PDF: there is no Chromium, Chrome or Edge here" in told
    first = (out / names[0]).read_bytes()
    cli.main(["handout", str(LESSONS[0]), "-o", str(out)])
    assert (out / names[0]).read_bytes() == first


def test_the_command_tells_what_it_cannot_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.ipynb").write_text("no notebook", encoding="utf-8")
    nbformat.write(new_notebook(cells=[new_markdown_cell("# plain")]), tmp_path / "plain.ipynb")
    names = [str(tmp_path / name) for name in ("nosuch.ipynb", "text.ipynb", "plain.ipynb")]
    assert handout.main(names, str(tmp_path)) == 1
    told = capsys.readouterr().err
    assert "can't read" in told and "is not a notebook" in told and 'no cell has the tag "handout"' in told


def test_a_browser_that_fails_is_told(tmp_path: Path) -> None:
    problem = handout._print(str(tmp_path / "nosuch"), "<p>", tmp_path / "a.pdf")
    assert "did not print" in problem
    assert not (tmp_path / "a.pdf").exists()


@pytest.mark.browser
@pytest.mark.parametrize("paper", ["A4", "Letter"])
@every_lesson
def test_a_page_fits_on_two_sheets(path: Path, paper: str, tmp_path: Path) -> None:
    browser = handout._browser()
    if browser is None:
        pytest.skip("there is no Chromium on this machine")
    book = nbformat.read(path, as_version=4)
    for solved in (False, True):
        target = tmp_path / f"{solved}.pdf"
        assert handout._print(browser, handout.page(book, path.parent, solved=solved), target, paper) == ""
        data = target.read_bytes()
        assert data.startswith(b"%PDF")
        assert 1 <= len(re.findall(rb"/Type\s*/Page\b", data)) <= 2


@pytest.mark.browser
@every_lesson
def test_nothing_is_cut_at_the_margin(browser: Any, path: Path, tmp_path: Path) -> None:
    """At the width of the narrower paper nothing is wider than the column, and nothing scrolls."""
    wide = """
        document.body.style.cssText = 'width:184mm;margin:0;padding:0';
        const edge = document.body.getBoundingClientRect().right + 1;
        return [...document.querySelectorAll('main *')]
            .filter(e => e.getBoundingClientRect().right > edge || e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
            .map(e => e.outerHTML.slice(0, 90));
    """
    book = nbformat.read(path, as_version=4)
    for solved in (False, True):
        file = tmp_path / f"{solved}.html"
        file.write_text(handout.page(book, path.parent, solved=solved), encoding="utf-8")
        browser.get(file.as_uri())
        assert browser.execute_script(wide) == []
        assert browser.execute_script(
            "return [...document.images].every(i => i.complete && i.naturalWidth > 0 && i.alt.length > 20)"
        )


def test_text_of_the_pdf_is_all_there(tmp_path: Path) -> None:
    browser, reader = handout._browser(), shutil.which("pdftotext")
    if browser is None or reader is None:
        pytest.skip("needs a Chromium and pdftotext")
    assert handout.main([str(LESSONS[0])], str(tmp_path)) == 0
    pdf = tmp_path / "04_dual_numbers.handout.pdf"
    text = subprocess.run([reader, str(pdf), "-"], capture_output=True, encoding="utf-8", check=True).stdout
    assert "Opening question" in text and "Ticket out" in text and "w5 = w3 + w4" in text


def test_student_copies_hold_no_solution(tmp_path, capsys):
    lesson = str(LESSONS[0])
    assert cli.main(["student", lesson, "-o", str(tmp_path)]) == 0
    text = (tmp_path / LESSONS[0].name).read_text(encoding="utf-8")
    assert "BEGIN SOLUTION" not in text and "HIDDEN TESTS" not in text and "YOUR CODE HERE" in text
    assert (tmp_path / "pictures").is_dir()
    assert cli.main(["student", lesson, "-o", str(LESSONS[0].parent)]) == 1
    assert "choose another folder" in "".join(capsys.readouterr())
