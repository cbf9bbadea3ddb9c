"""`%load_ext autodiff_kernel` in a plain kernel and in a terminal, and what `%unload_ext` leaves."""

import os
import re
import subprocess
import sys

from kernels import kernel


def test_in_a_plain_kernel_it_loads_and_unloads() -> None:
    with kernel("python3") as running:
        assert running.run("%load_ext autodiff_kernel").reply["status"] == "ok"
        assert running.run("%autodiff").text().startswith("%graph y")
        assert running.run("%grahp y").of("error")[0]["ename"] == "UsageError"
        assert running.complete("%graph --res") == ["--result"]
        assert running.run("'torch' in globals()").results == ["False"]
        again = running.run("%load_ext autodiff_kernel")
        assert "already loaded" in again.text()

        assert running.run("%unload_ext autodiff_kernel").reply["status"] == "ok"
        gone = running.run("%autodiff")
        assert (gone.of("error"), gone.text("stderr")) == (
            [],
            "UsageError: Line magic function `%autodiff` not found.\n",
        )
        assert "--result" not in running.complete("%graph --res")
        assert running.run("1 / 0").reply["ename"] == "ZeroDivisionError"

        assert running.run("%load_ext autodiff_kernel\n%autodiff").text().startswith("%graph y")


def terminal(*lines: str) -> str:
    """What a terminal IPython prints for the lines."""
    command = [
        sys.executable,
        "-m",
        "IPython",
        "--simple-prompt",
        "--no-banner",
        "--colors=NoColor",
        "--quick",
    ]
    done = subprocess.run(
        command,
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_in_a_terminal_it_loads() -> None:
    told = terminal("%load_ext autodiff_kernel", "%autodiff", "%autodiff doctor")
    assert re.search("%graph y +the graph that made y", told)
    assert "autodiff-kernel 0.1.0" in told


def test_in_a_terminal_an_error_of_ours_is_told_in_words() -> None:
    told = terminal(
        "%load_ext autodiff_kernel",
        "from autodiff_kernel.core.errors import explain",
        "wrong = explain(RuntimeError, 'phrase', 'The ' + 'finding.', 'the ' + 'cure.')",
        "raise wrong",
    )
    assert told.count("The finding.") == 1
    assert "What to do: the cure." in told
    assert "<div" not in told
