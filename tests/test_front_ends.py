"""The same content wherever it is read: a terminal, `jupyter console`, a kernel's plain text, a saved page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kernels import kernel
from markup import html_is_plain
from test_kernel_extension import terminal

CODE = (
    "x1 = torch.tensor(2., requires_grad=True)",
    "x2 = torch.tensor(3., requires_grad=True)",
    "y = x1 * x2 + x1**2",
    "f = lambda a, b: a * b + a**2",
    "w = torch.tensor([1., 2.], requires_grad=True)",
    "h = w.exp()",
    "s = h.sum()",
    "_ = h.add_(1)",
)
ASKED = ("%graph y", "%trace f(2., 3.)", "y?", "s.backward()", "%why", "torch.ones(2, 3) @ torch.ones(4, 5)")
WORDS = (
    "├─●  #3 = x1 × x2   6       not yet   mul · line 1",
    "w5 = w3 + w4     10           7           2  seed                     1",
    "y: a tensor, made by AddBackward0",
    "  computed in line 1: y = x1 * x2 + x1**2",
    "●  #2 = exp(w)   [2]     [2.718, 7.389]   not yet",
    "exp · line 1 ← error here",
    "exp in line 1 saved its own result h for its derivative, and line 1 changed it in place afterwards.",
    "→   1  h = w.exp()  # saved by w.exp()",
    "→   1  _ = h.add_(1)  # changed",
    "What to write: _ = h.add(1)",
    "How s came about",
    "add, in place · line 1 ← changed here",
    "[2, 3] has 3 columns, and `torch.ones(4, 5)` [4, 5] has 4 rows: a product needs as many of the one as of the other.",
    "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
)


def missing(told: str) -> list[str]:
    return [words for words in WORDS if words not in told]


def test_in_a_terminal() -> None:
    told = terminal("import autodiff_kernel as torch", "%load_ext autodiff_kernel", *CODE, *ASKED)
    # where every cell is one line, which cell is told too
    assert (
        "exp in In[8], line 1 saved its own result h for its derivative, and In[10], line 1 changed it"
        in told
    )
    assert "add, in place · In[10], line 1 ← changed here" in told and "in In[8]:\n→   1  h = w.exp()" in told
    told = re.sub(r"In\[\d+\], line", "line", told)
    assert missing(told) == []
    assert "<" not in told.replace("<lambda>", "") and "Traceback" in told


def test_in_jupyter_console() -> None:
    pytest.importorskip("jupyter_console", reason="jupyter_console is not installed")
    command = [sys.executable, "-m", "jupyter_console", "--simple-prompt", "--kernel", "autodiff"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # where it prints tracebacks
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    told, _ = process.communicate("".join(line + "\n" for line in (*CODE, *ASKED, "None")), timeout=120)
    assert missing(told) == []


@pytest.mark.parametrize("name", ["autodiff", "python3"])
def test_in_the_plain_text_of_a_kernel(name: str) -> None:
    with kernel(name) as running:
        if name == "python3":
            running.run("import autodiff_kernel as torch\n%load_ext autodiff_kernel")
        told = []
        for line in (*CODE, *ASKED):
            answer = running.run(line)
            for content in answer.of("display_data"):
                told.append(content["data"]["text/plain"])
                # what shows no HTML (qtconsole) has the picture as SVG, and words for all else
                assert list(content["data"])[:2] == ["text/plain", "text/html"]
                html_is_plain(content["data"]["text/html"])
            told += [content["evalue"] for content in answer.of("error")]
            told += [page["data"]["text/plain"] for page in answer.reply["payload"]]
    assert missing("\n".join(told)) == []


def test_a_page_from_nbconvert_needs_no_script(tmp_path: Path) -> None:
    pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    from nbconvert import HTMLExporter
    from nbformat.v4 import new_code_cell, new_notebook, output_from_msg

    cells = []
    with kernel("autodiff") as running:
        for source in ("\n".join(CODE[:4]), "%graph y", "%trace f(2., 3.)", "%step y", "%place x1 x2"):
            answer = running.run(source)
            shown = [output_from_msg(m) for m in answer.outputs]
            cells.append(new_code_cell(source, outputs=shown, execution_count=1))
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(new_notebook(cells=cells))
    assert page.count("data:image/svg+xml;base64,") >= 1 and "<details open" in page
    assert "1. AddBackward0 takes y" in page and "Evaluation trace of" in page
