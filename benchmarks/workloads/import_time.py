"""What a user waits for before the first gradient: a fresh process, the import, and one small graph."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec

from benchmarks.contestants import pytorch_installed
from benchmarks.harness import Case, Contestant, Goal, Sample

FIRST_GRADIENT = "import {} as torch; x = torch.ones(2, requires_grad=True); (x*x).sum().backward()"
PROGRAMS = {
    "ours": FIRST_GRADIENT.format("autodiff_kernel"),
    "torch": FIRST_GRADIENT.format("torch"),
    "numpy": "import numpy",
}
UNWANTED = ("IPython", "ipykernel", "matplotlib", "graphviz", "cupy", "torch")


def environment() -> dict[str, str]:
    """This process's environment, but with bytecode caches allowed: without them the figure means nothing."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def run(program: str) -> str:
    """Run a program in a fresh interpreter and return what it printed."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, f"the program failed:\n{program}\n{done.stderr}"
    return done.stdout


def fresh(program: str, loops: int) -> Sample:
    """Time fresh processes, the interpreter's own start included: wall time from outside, CPU from inside."""
    cpu, wall = 0.0, time.perf_counter()
    for _ in range(loops):
        cpu += float(run(program + "\nimport time; print(time.process_time())"))
    return Sample(cpu / loops, (time.perf_counter() - wall) / loops)


def contestants() -> Sequence[Contestant]:
    """Each program compiled and run once, so that every file is in the machine's cache."""
    spec = find_spec("autodiff_kernel")
    assert spec is not None and spec.submodule_search_locations, "autodiff_kernel is not installed"
    for folder in spec.submodule_search_locations:
        compileall.compile_dir(folder, quiet=1)
    programs = {name: text for name, text in PROGRAMS.items() if name != "torch" or pytorch_installed()}
    for text in programs.values():
        run(text)
    return [Contestant(name, partial(fresh, text), loops=1) for name, text in programs.items()]


def light() -> None:
    """Raise AssertionError where the import has brought in what only the kernel, a picture or a GPU needs."""
    program = f"{PROGRAMS['ours']}\nimport sys; print([name for name in {UNWANTED!r} if name in sys.modules])"
    loaded = run(program).strip()
    assert loaded == "[]", f"importing autodiff_kernel loads {loaded}"


def cases() -> Iterator[Case]:
    """Beside `import numpy`, which this package cannot do without."""
    yield Case(
        "import",
        "a fresh process: import, one graph, one gradient (numpy: import only)",
        contestants,
        goals=[Goal("extra", 0.080, "numpy", clock) for clock in ("cpu", "wall")],
        check=light,
        repeats=20,
        slow=60,
    )
