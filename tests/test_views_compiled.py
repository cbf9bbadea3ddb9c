"""`views.compiled` and `%compiled`: the program beside the graph, in a kernel, with load_ext, and in a terminal."""

import subprocess
import sys
from pathlib import Path

import pytest
from kernels import complaint, kernel, shown
from test_views_tensors import sound

import autodiff_kernel as torch
from autodiff_kernel.views import compiled

CELL = """\
w = torch.tensor([3., 4.], requires_grad=True)
def f(x):
    y = x * w
    return y.exp().sum()
"""
PROGRAM = """\
f as one program

def forward(x, w):
    t1 = mul(x, w)                                # line 3: y = x * w
    t2 = exp(t1)                                  # line 4: return y.exp().sum()
    t3 = sum(t2, p=(None, False))                 # line 4: return y.exp().sum()
    return (t3,), (t2, x)

def backward(t2, x, g):
    t4 = expand(g, p=(2,))                        # backward of line 4: return y.exp().sum()
    t5 = mul(t4, t2)                              # backward of line 4: return y.exp().sum()
    t6 = mul(t5, x)                               # backward of line 3: y = x * w
    return (t6,)

Graph of """


def test_program_and_graph() -> None:
    w = torch.tensor([3.0, 4.0], requires_grad=True)

    def f(x):
        return (x * w).sum()

    view = sound(compiled(f, torch.ones(2)))
    assert view.model.name == "f" and "t1 = mul(x, w)" in view.text and "× w" in view.text
    assert view.model.graph.model.title == "Graph of sum" and "<pre" in view.html
    again = compiled(torch.compile(f), torch.ones(2), title="Mine")
    assert again.text.startswith("Mine\n") and again.model.source == view.model.source
    assert view.model.to_dict()["graph"]["nodes"]


def test_where_there_is_no_program_or_no_graph() -> None:
    view = sound(compiled(lambda x: x.sum().item(), torch.ones(2)))
    assert "runs eagerly, since it reads a tensor's value with item()" in view.text
    assert "No graph to draw" in view.text and view.model.graph is None
    with pytest.raises(TypeError, match="takes a function"):
        compiled(3)


@pytest.mark.parametrize("name", ["autodiff", "python3"])
def test_the_magic(name: str) -> None:
    with kernel(name) as running:
        if name == "python3":
            running.run("%load_ext autodiff_kernel\nimport autodiff_kernel as torch")
        running.run(CELL)
        told = shown(running.run("%compiled f(torch.ones(2))"))
        assert told.startswith(PROGRAM), told
        assert "t1 = mul(v, w)" in shown(
            running.run("g = lambda v: v * w\n%compiled --title Mine g(torch.ones(2))")
        )
        assert "needs a call" in complaint(running.run("%compiled f"))
        assert "w is Tensor, not a function" in complaint(running.run("%compiled w(1)"))


def test_the_magic_in_a_terminal(tmp_path: Path) -> None:
    script = tmp_path / "session.ipy"
    script.write_text(
        f"%load_ext autodiff_kernel\nimport autodiff_kernel as torch\n{CELL}%compiled f(torch.ones(2))\n"
    )
    told = subprocess.run(
        [sys.executable, "-m", "IPython", "--quick", str(script)], capture_output=True, text=True, timeout=60
    )
    assert "t1 = mul(x, w)" in told.stdout and "def backward(t2, x, g):" in told.stdout, told
