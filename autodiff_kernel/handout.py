"""`autodiff-kernel handout`: a printable page of each lesson, blank for the class or solved for the teacher.

The page is made from the notebook's cells that have the tag `handout`, in their order. More tags say more:

- `handout-blank`, `handout-solved`: only on the blank, only on the solved page;
- `handout-output`: of a code cell print the output, not the source;
- `handout-lines-N`: N ruled lines to write on, below the cell, on the blank page.

Between `### BEGIN SOLUTION` and `### END SOLUTION` the blank page has ruled space.
"""

import base64
import mimetypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["main", "page", "student"]

_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION *\n(.*?)^ *### END SOLUTION *\n?", re.M | re.S)
_HIDDEN = re.compile(r"^ *### BEGIN HIDDEN TESTS *\n.*?^ *### END HIDDEN TESTS *\n?", re.M | re.S)
_MARKER = re.compile(r"^ *### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS) *\n?", re.M)
# A guess is the student's to make: `%predict y = 7` loses its 7.
_GUESS = re.compile(r"^(?P<magic> *%%?predict\b)(?P<name>[^=\n]*=(?!=))?[^\n]*", re.M)
# An output that could run or fetch something is shown as text instead.
_ACTIVE = re.compile(
    r"<\s*(?:script|iframe|object|embed|link|meta|form)|\son\w+\s*=|javascript:|(?:src|href)\s*=\s*[\"']?\s*(?:https?:)?//",
    re.I,
)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ------------------------------------------------------------------ what a student gets


def is_answer(cell: Any) -> bool:
    """Whether a cell is one that students fill in: its outputs come from the solution."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution")) or "### BEGIN SOLUTION" in cell.source


def student(notebook: Any) -> Any:
    """A copy of a lesson for students: no solution, no hidden test, no output (they predict, then run).

    Cells and their ids stay. Where a solution was, the code raises NotImplementedError, as nbgrader has it, and a
    check reports that as "not attempted". A Markdown cell with the tag `solution` becomes room for notes.

    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> answer = "def f(x):\\n    ### BEGIN SOLUTION\\n    return 2 * x\\n    ### END SOLUTION"
    >>> print(student(new_notebook(cells=[new_code_cell(answer)])).cells[0].source)
    def f(x):
        # YOUR CODE HERE
        raise NotImplementedError()
    """
    import copy

    book = copy.deepcopy(notebook)
    for cell in book.cells:
        if cell.cell_type == "markdown":
            if "solution" in cell.metadata.get("tags", []):
                cell.source = "*Your notes.*"
            continue
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        cell.source = _SOLUTION.sub(
            lambda found: f"{found[1]}# YOUR CODE HERE\n{found[1]}raise NotImplementedError()\n", cell.source
        )
        cell.source = unguessed(_HIDDEN.sub("", cell.source).rstrip("\n"))
    return book


def unguessed(source: str, room: str = "...") -> str:
    """A cell's code with room for each guess. With `...` the magic says that there is none yet.

    >>> print(unguessed("%predict slope = 12\\nslope = f(2)"))
    %predict slope = ...
    slope = f(2)
    """
    return _GUESS.sub(lambda found: f"{found['magic']}{found['name'] or ''} {room}", source)


# ------------------------------------------------------------------ from cells to HTML


def _markdown(folder: Path, attachments: dict[str, Any], blank: bool) -> Any:
    """A converter from Markdown to HTML, with formulas as MathML and pictures inline."""
    import mistune
    from latex2mathml.converter import convert

    class Renderer(mistune.HTMLRenderer):
        def inline_math(self, text: str) -> str:
            return str(convert(text))

        def block_math(self, text: str) -> str:
            todo = blank and text.rstrip().endswith("=")  # a left-hand side: the rest is to be written
            return f"<div class='formula{' todo' if todo else ''}'>{convert(text.strip(), display='block')}</div>\n"

        def image(self, text: str, url: str, title: str | None = None) -> str:
            source = _inline(url, folder, attachments)
            return f"<img alt='{escape(text)}' src='{source}'>" if source else f"<em>[{escape(text)}]</em>"

    return mistune.create_markdown(renderer=Renderer(escape=True), plugins=["table", "math"])


def _inline(url: str, folder: Path, attachments: dict[str, Any]) -> str:
    """A picture of a Markdown cell as a data address; '' for one that is not in the notebook or beside it."""
    if url.startswith("attachment:"):
        for kind, data in attachments.get(url.removeprefix("attachment:"), {}).items():
            return f"data:{kind};base64,{data}"
        return ""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", url, re.I):
        return url if url.startswith("data:image/") else ""
    path = folder / url
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/") or not path.is_file():
        return ""
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _ruled(lines: int) -> str:
    return "<span class='rule'></span>" * lines


def _code(source: str, blank: bool) -> str:
    """A code cell's source; on the blank page solutions are ruled space, on the other they are in bold."""
    source = _HIDDEN.sub("", source)
    source = unguessed(source, "_" * 20) if blank else source
    out, at = [], 0
    for found in _SOLUTION.finditer(source):
        out.append(escape(source[at : found.start()]))
        lines = found[2].rstrip("\n")
        out.append(_ruled(max(2, lines.count("\n") + 1)) if blank else f"<b>{escape(lines)}</b>\n")
        at = found.end()
    out.append(escape(_MARKER.sub("", source[at:])))
    return "<pre>" + "".join(out).rstrip("\n") + "</pre>\n"


def _output(output: Any) -> str:
    """One output: as HTML where it is inert, as a picture, else as text."""
    if output.output_type == "stream":
        return f"<pre class='out'>{escape(output.text)}</pre>\n"
    if output.output_type == "error":
        return f"<pre class='out'>{escape(output.ename)}: {escape(output.evalue)}</pre>\n"
    data = output.data
    alt = output.metadata.get("image/png", {}).get("alt", "")
    if "text/html" in data and not _ACTIVE.search(data["text/html"]):
        return f"<div class='out'>{data['text/html']}</div>\n"
    if "image/png" in data:
        return f"<img alt='{escape(alt)}' src='data:image/png;base64,{data['image/png'].strip()}'>\n"
    return f"<pre class='out'>{escape(data.get('text/plain', ''))}</pre>\n"


def _cell(cell: Any, following: Any, folder: Path, blank: bool) -> str:
    """One cell of the page, kept together on it; a text also stays with the code or the table that it introduces."""
    tags = cell.metadata.get("tags", [])
    if cell.cell_type == "markdown":
        body = _markdown(folder, cell.get("attachments", {}), blank)(cell.source)
    elif cell.cell_type == "code":
        body = "" if "handout-output" in tags else _code(cell.source, blank)
        if not is_answer(cell) and not (blank and _GUESS.search(cell.source)):
            body += "".join(_output(output) for output in cell.outputs)
    else:
        body = ""
    lines = next((int(tag.rpartition("-")[2]) for tag in tags if re.fullmatch(r"handout-lines-\d+", tag)), 0)
    room = f"<div>{_ruled(lines)}</div>" if blank and lines else ""
    keep = cell.cell_type == "markdown" and following is not None and following.cell_type == "code"
    return f"<section{' class=keep' if keep else ''}>{body}{room}</section>\n"


def page(notebook: Any, folder: Path, *, solved: bool = False) -> str:
    """The printable page of a lesson: one HTML document without script, link or outside file.

    notebook: an executed notebook; folder: where its pictures lie; solved: with the solutions.

    Raises ValueError if no cell has the tag `handout`.

    >>> from nbformat.v4 import new_markdown_cell, new_notebook
    >>> text = new_markdown_cell("# Slopes", metadata={"tags": ["handout"]})
    >>> "<title>Slopes</title>" in page(new_notebook(cells=[text]), Path())
    True
    """
    other = "handout-blank" if solved else "handout-solved"
    chosen = [
        cell for cell in notebook.cells
        if "handout" in cell.metadata.get("tags", []) and other not in cell.metadata.get("tags", [])
    ]  # fmt: skip
    if not chosen:
        raise ValueError('no cell has the tag "handout"')
    headings = (re.search(r"^# +(.+)", cell.source, re.M) for cell in chosen if cell.cell_type == "markdown")
    title = next((found[1] for found in headings if found), "Hand-out")
    name = (
        "<p class='name'>With solutions</p>"
        if solved
        else "<p class='name'>Name<span></span>Date<span></span></p>"
    )
    body = "".join(
        _cell(cell, following, folder, not solved) for cell, following in zip(chosen, [*chosen[1:], None])
    )
    return _PAGE.format(
        title=escape(title), name=name, body=body, style=_STYLE, kind="solved" if solved else "blank"
    )


# Nothing may be loaded or run, whatever an output holds: the policy says so to the browser.
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style></head>
<body class="{kind}">
{name}
<main>
{body}</main>
</body></html>
"""

# The measures fit A4 and Letter alike. All is black on white: it must survive a grey copy.
_STYLE = """
@page { margin: 12mm 13mm; }
* { box-sizing: border-box; }
body { font: 10.5pt/1.35 "DejaVu Sans", Verdana, Arial, sans-serif; color: #000; background: #fff;
  max-width: 184mm; margin: 8mm auto; padding: 0 2mm; }
h1 { font-size: 15pt; margin: 0 0 2mm; } h2 { font-size: 12.5pt; margin: 3.5mm 0 1.5mm; }
h3 { font-size: 11pt; margin: 3mm 0 1mm; } h1, h2, h3 { break-after: avoid; }
p, ol, ul { margin: 1mm 0 1.5mm; } ol, ul { padding-left: 6mm; }
section { break-inside: avoid; } section.keep { break-after: avoid; }
.name { display: flex; gap: 3mm; margin: 0 0 3mm; font-size: 9.5pt; }
.name span { flex: 1; border-bottom: .3mm solid #555; }
table { border-collapse: collapse; margin: 1.5mm 0; font-size: 10pt; background: #fff; }
main td, main th { border: .25mm solid #777 !important; padding: .8mm 2.5mm !important;
  text-align: left; color: #000 !important; }
.blank .out table { width: 100%; } .blank .out td { height: 7.5mm !important; min-width: 24mm !important; }
main caption { font-size: 9.5pt; color: #000 !important; }
pre { font: 9pt/1.35 "DejaVu Sans Mono", Consolas, Menlo, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 1mm 0 1.5mm; padding: 1.5mm 2mm; border: .25mm solid #777; }
pre.out { border-style: dashed; }
code { font-family: "DejaVu Sans Mono", Consolas, Menlo, monospace; font-size: 9.5pt; }
.rule { display: block; height: 7.5mm; border-bottom: .25mm solid #888; }
.formula { margin: 2mm 0; font-size: 11.5pt; }
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", math; }
.formula math { display: inline math; math-style: normal; } .todo { display: flex; align-items: baseline; gap: 2mm; }
.todo::after { content: ""; flex: 1; border-bottom: .25mm solid #888; height: 7mm; }
img { max-width: 100% !important; height: auto !important; }
.out > div { display: block !important; overflow: visible !important; padding: 0 !important; }
details { display: none; }
@media print { body { margin: 0; padding: 0; max-width: none; } }
"""


# ------------------------------------------------------------------ PDF


def _browser() -> str | None:
    """A Chromium, Chrome or Edge of this machine, or None."""
    names = (
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
        "microsoft-edge", "microsoft-edge-stable", "msedge",
    )  # fmt: skip
    places = [
        f"/Applications/{name}.app/Contents/MacOS/{name}"
        for name in ("Google Chrome", "Chromium", "Microsoft Edge")
    ]
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        root = os.environ.get(variable)
        if root:
            places += [
                rf"{root}\Google\Chrome\Application\chrome.exe",
                rf"{root}\Microsoft\Edge\Application\msedge.exe",
            ]
    found = (shutil.which(name) for name in (*names, *places))
    return next((path for path in found if path), None)


def _print(browser: str, html: str, target: Path, paper: str = "A4") -> str:
    """Print a page to PDF; returns what went wrong, or ''."""
    sized = html.replace("@page {", f"@page {{ size: {paper};", 1)
    with tempfile.TemporaryDirectory(prefix="autodiff-handout-", ignore_cleanup_errors=True) as folder:
        source, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(sized, encoding="utf-8", newline="\n")
        command = [
            browser, "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-quic", "--no-pdf-header-footer",
            f"--user-data-dir={Path(folder) / 'profile'}", f"--print-to-pdf={made}", source.as_uri(),
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # a container's only user: Chromium refuses its sandbox to root
        try:
            subprocess.run(command, capture_output=True, timeout=90, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{browser} did not print ({type(error).__name__})"
        if not made.is_file():
            return f"{browser} made no PDF"
        shutil.copyfile(made, target)
    return ""


# ------------------------------------------------------------------ the command


def _read(lesson: str) -> Any:
    """The notebook at a path, or the reason why there is none, as text."""
    import nbformat

    try:
        return nbformat.read(lesson, as_version=4)
    except OSError as error:
        return f"can't read {lesson}: {error.strerror}"
    except Exception as error:  # nbformat meets what is no notebook with whatever its upgrade stumbles over
        return f"{lesson} is not a notebook ({type(error).__name__})"


def main(paths: Sequence[str], out: str, solved: bool = False) -> int:
    """Write a page for each lesson into the folder `out`: HTML, and PDF where a browser can print; the exit code.

    `NAME.handout.html` is the blank page, `NAME.solved.html` the one with solutions. A lesson that can't be read,
    or has no cell for a page, is told and makes the exit code 1; the others are still written.
    """
    import latex2mathml.converter  # noqa: F401  (told at once where the extra is missing)
    import mistune  # noqa: F401

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    browser = _browser()
    failed = False
    for lesson in paths:
        notebook = _read(lesson)
        try:
            if isinstance(notebook, str):
                raise ValueError(notebook)
            html = page(notebook, Path(lesson).resolve().parent, solved=solved)
        except ValueError as error:
            reason = str(error) if isinstance(notebook, str) else f"{lesson}: {error}"
            _say(f"autodiff-kernel handout: {reason}")
            failed = True
            continue
        target = folder / f"{Path(lesson).stem}.{'solved' if solved else 'handout'}.html"
        target.write_text(html, encoding="utf-8", newline="\n")
        _say(f"wrote {target}")
        if browser:
            problem = _print(browser, html, target.with_suffix(".pdf"))
            _say(f"no PDF: {problem}" if problem else f"wrote {target.with_suffix('.pdf')}")
    if not browser:
        _say("no PDF: there is no Chromium, Chrome or Edge here; open the HTML in a browser and print it")
    return 1 if failed else 0


def copies(paths: Sequence[str], out: str) -> int:
    """Write a student's copy of each lesson into the folder `out`; the exit code.

    Pictures that a lesson keeps beside itself are copied too.  A folder that holds the lesson itself is refused.
    """
    import nbformat

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for lesson in map(Path, paths):
        notebook = _read(str(lesson))
        if isinstance(notebook, str) or lesson.resolve().parent == folder.resolve():
            told = (
                notebook if isinstance(notebook, str) else f"{lesson} lies in {folder}: choose another folder"
            )
            _say(f"autodiff-kernel student: {told}")
            failed = True
            continue
        nbformat.write(student(notebook), folder / lesson.name)
        pictures = lesson.parent / "pictures"
        if pictures.is_dir():
            shutil.copytree(pictures, folder / "pictures", dirs_exist_ok=True)
        _say(f"wrote {folder / lesson.name}")
    return int(failed)
