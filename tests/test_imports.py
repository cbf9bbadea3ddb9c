"""Who may import whom (jupyter → views → explain → nn, optim, … → autograd → core), and what a bare import loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "autodiff_kernel"
FILES = sorted(PACKAGE.rglob("*.py"))

# A module may import from its own layer and from those below it.  What has no line here is one of PyTorch's modules.
LAYERS = {
    "core": 0,
    "version": 0,
    "dialect": 0,
    "autograd": 1,
    "func": 1,
    "explain": 4,
    "views": 5,
    "jupyter": 6,
}
PYTORCH, NAMESPACE, PROGRAMS = 2, 3, 7
PROGRAM_FILES = ("cli", "__main__", "handout")

# Who may import what of other people's, and whether the import must wait until it is needed.
OUTSIDE = {
    "IPython": ("jupyter",),
    "ipykernel": ("jupyter",),
    "traitlets": ("jupyter",),
    "jupyter_client": ("jupyter",),
    "matplotlib": ("views",),
    "graphviz": ("views",),
    "cupy": ("core.device",),
    "torch": (),
}
ALWAYS_LATE = {"matplotlib", "graphviz", "cupy", "nbconvert", "nbclient", "nbformat", "jupyterlab", "sympy"}


def name_of(file: Path) -> str:
    """A file's module, without the package's name: 'core.tensor', '' for the root."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(module: str) -> int:
    """The layer of a module of ours; '' is the namespace itself."""
    top = module.split(".")[0]
    if module in ("", "namespace"):
        return NAMESPACE
    return PROGRAMS if top in PROGRAM_FILES else LAYERS.get(top, PYTORCH)


def imports(file: Path) -> Iterator[tuple[str, bool, int]]:
    """(absolute module, whether at module level, line) of every import that runs; those for type checkers don't."""

    def walk(node: ast.AST, top: bool) -> Iterator[tuple[ast.stmt, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, top
            yield from walk(
                child, top and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            )

    package = ["autodiff_kernel", *file.relative_to(PACKAGE).parts[:-1]]
    for node, top in walk(ast.parse(file.read_text(encoding="utf-8")), True):
        if isinstance(node, ast.Import):
            yield from ((alias.name, top, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield (inner if _is_module(inner) else module), top, node.lineno


def _is_module(dotted: str) -> bool:
    path = PACKAGE.parent.joinpath(*dotted.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def test_the_walk_sees_every_kind_of_import() -> None:
    seen = {(name, top) for name, top, _ in imports(PACKAGE / "__init__.py")}
    assert ("autodiff_kernel.jupyter.extension", False) in seen
    assert ("autodiff_kernel.version", True) in seen


@pytest.mark.parametrize("file", FILES, ids=lambda file: name_of(file) or "autodiff_kernel")
def test_imports_point_downwards(file: Path) -> None:
    own = name_of(file)
    wrong = []
    for module, top, line in imports(file):
        if module.split(".")[0] != "autodiff_kernel":
            continue
        target = module.partition(".")[2]
        hook = own == "" and not top and target == "jupyter.extension"  # what `%load_ext` calls
        if layer(target) > layer(own) and not hook:
            wrong.append(f"line {line} imports {module}")
    assert not wrong


@pytest.mark.parametrize("file", FILES, ids=lambda file: name_of(file) or "autodiff_kernel")
def test_other_packages_are_imported_where_they_belong(file: Path) -> None:
    own = name_of(file)
    wrong = []
    for module, top, line in imports(file):
        package = module.split(".")[0]
        homes = OUTSIDE.get(package)
        if homes is not None and not any(own == home or own.startswith(f"{home}.") for home in homes):
            wrong.append(f"line {line} imports {package}")
        if top and package in ALWAYS_LATE:
            wrong.append(f"line {line} imports {package} before anybody needs it")
    assert not wrong


def test_a_bare_import_loads_nothing_of_jupyter_or_plotting() -> None:
    heavy = [
        "IPython",
        "ipykernel",
        "jupyter_client",
        "traitlets",
        "matplotlib",
        "graphviz",
        "cupy",
        "torch",
        "sympy",
    ]
    code = (
        "import sys, autodiff_kernel as torch\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "(x * x).sum().backward()\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    "code, answer",
    [
        ("import autodiff_kernel.jupyter.kernel; print('numpy' in sys.modules)", "False"),
        ("import autodiff_kernel as t; print('numpy' in sys.modules, t.ones(2).sum().item())", "False 2.0"),
        ("from autodiff_kernel import *; print(nn.functional.relu(tensor(-1.)).item(), 'Tensor' in globals())", "0.0 True"),
        ("import autodiff_kernel.autograd as a; print(a.Variable.__name__, 'numpy' in sys.modules)", "Variable True"),
        ("from autodiff_kernel.core.tensor import wrap; import numpy as n; print((wrap(n.ones(2)) + 1).sum().item())", "4.0"),
        ("import autodiff_kernel as t; print(hasattr(t, 'no_such_name'), 'manual_seed' in dir(t))", "False True"),
        (
            "import autodiff_kernel as t, threading as h; out = []\n"
            "ts = [h.Thread(target=lambda: out.append((t.ones(2) * 2).sum().item())) for _ in range(8)]\n"
            "[x.start() for x in ts]; [x.join() for x in ts]; print(set(out), len(out))",
            "{4.0} 8",
        ),
    ],
)  # fmt: skip
def test_the_library_comes_with_the_first_question_for_one_of_its_names(code: str, answer: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys\n" + code], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == (answer, "")
