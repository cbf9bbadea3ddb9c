"""How long a kernel takes from its start to its first answer, beside a plain ipykernel."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.harness import Case, Contestant, Goal, Sample

PLAIN = ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
PATIENCE = 60.0


def our_command() -> list[str]:
    """The command in the kernelspec that the package carries."""
    specs = sorted(Path(str(files("autodiff_kernel"))).rglob("kernel.json"))
    assert specs, "the package carries no kernel.json"
    command: list[str] = json.loads(specs[0].read_text(encoding="utf-8"))["argv"]
    return command


def start(command: Sequence[str], loops: int) -> Sample:
    """Start kernels one after the other; CPU time is the kernel's own, from its start to its answer."""
    cpu = wall = 0.0
    for _ in range(loops):
        spent = ready(command)
        cpu, wall = cpu + spent.cpu, wall + spent.wall
    return Sample(cpu / loops, wall / loops)


def ready(command: Sequence[str]) -> Sample:
    """Start one kernel and wait for its answer to `kernel_info`, then shut it down."""
    import psutil
    from jupyter_client.blocking.client import BlockingKernelClient
    from jupyter_client.connect import write_connection_file

    with tempfile.TemporaryDirectory() as folder:
        path, connection = write_connection_file(os.path.join(folder, "kernel.json"))
        argv = [sys.executable if part == "python" else part.format(connection_file=path) for part in command]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        begun = time.perf_counter()
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(argv, env=environment, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet)
        client: Any = BlockingKernelClient(connection_file=path)
        try:
            listen(process, connection["ip"], connection["shell_port"])
            client.load_connection_file()
            client.start_channels(iopub=False, stdin=False, hb=False, control=False)
            client.kernel_info()
            client.get_shell_msg(timeout=PATIENCE)
            wall = time.perf_counter() - begun
            times = psutil.Process(process.pid).cpu_times()
        finally:
            client.stop_channels()
            process.kill()
            process.wait()
    return Sample(times.user + times.system, wall)


def listen(process: subprocess.Popen[bytes], host: str, port: int) -> None:
    """Wait until the kernel accepts connections: ZeroMQ's retries, 100 ms apart, would blur the figure."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the kernel ended with exit code {process.returncode}"
        try:
            socket.create_connection((host, port), timeout=1).close()
        except OSError:
            time.sleep(0.002)
        else:
            return
    raise TimeoutError(f"the kernel did not listen within {PATIENCE:.0f} s")


def contestants() -> Sequence[Contestant]:
    """One start of each is thrown away: it compiles bytecode and fills the machine's file cache."""
    commands = {"ours": our_command(), "ipykernel": PLAIN}
    for command in commands.values():
        ready(command)
    return [Contestant(name, partial(start, command), loops=1) for name, command in commands.items()]


def cases() -> Iterator[Case]:
    """Ready for the first cell."""
    yield Case(
        "kernel_start",
        "a kernel from its start to its first answer",
        contestants,
        goals=[Goal("extra", 0.200, "ipykernel", clock) for clock in ("cpu", "wall")],
        repeats=10,
    )
