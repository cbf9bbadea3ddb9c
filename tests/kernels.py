"""A kernel process to talk to over ZeroMQ, for the kernel tests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.manager import KernelManager

PATIENCE = 60  # seconds until a silent kernel counts as broken


@dataclass
class Answer:
    """What came back for one cell: the reply on the shell channel, and the outputs on the IOPub channel."""

    reply: dict[str, Any]
    outputs: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The contents of all outputs of one kind: stream, display_data, execute_result, error."""
        return [output["content"] for output in self.outputs if output["msg_type"] == kind]

    def text(self, stream: str = "stdout") -> str:
        return "".join(content["text"] for content in self.of("stream") if content["name"] == stream)

    @property
    def results(self) -> list[str]:
        """The text of each value shown at the end of the cell."""
        return [content["data"]["text/plain"] for content in self.of("execute_result")]


class Kernel:
    """A running kernel with its client."""

    def __init__(self, manager: KernelManager) -> None:
        self.manager = manager
        self.client = manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def run(self, code: str, *, history: bool = True, typed: str | None = None) -> Answer:
        """Run one cell. `typed`: what the user answers to `input()`; without it the cell may not ask."""
        ask = typed is not None
        request = self.client.execute(code, store_history=history, allow_stdin=ask, stop_on_error=False)
        if typed is not None:
            self.client.get_stdin_msg(timeout=PATIENCE)
            self.client.input(typed)
        return self.collect(request)

    def collect(self, request: str) -> Answer:
        """Everything that belongs to a request, until the kernel is idle again."""
        outputs = []
        until = time.monotonic() + PATIENCE
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.1, until - time.monotonic()))
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            if message["msg_type"] not in ("status", "execute_input"):
                outputs.append(message)
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request:
                return Answer(reply["content"], outputs)

    def complete(self, code: str) -> list[str]:
        request = self.client.complete(code)
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request:
                matches: list[str] = reply["content"]["matches"]
                return matches

    def inspect(self, code: str, detail: int = 0) -> dict[str, str]:
        """What Shift-Tab at the end of the code shows, by MIME type."""
        request = self.client.inspect(code, detail_level=detail)
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request:
                data: dict[str, str] = reply["content"]["data"]
                return data

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def shown(answer: Answer) -> str:
    """The text of the one view that a magic showed; it has words for those who can't see the picture."""
    assert answer.reply["status"] == "ok", answer.reply
    [content] = answer.of("display_data")
    assert content["metadata"]["text/html"]["alt"]
    return str(content["data"]["text/plain"])


def complaint(answer: Answer, kind: str = "UsageError") -> str:
    """What a misused magic says."""
    assert answer.reply["status"] == "error" and answer.reply["ename"] == kind, answer.reply
    return str(answer.reply["evalue"])


@contextmanager
def kernel(name: str, **options: Any) -> Iterator[Kernel]:
    """Start the named kernel (`autodiff`, or `python3` for a plain ipykernel) and stop it at the end."""
    manager = KernelManager(kernel_name=name)
    manager.start_kernel(**options)
    running = Kernel(manager)
    try:
        yield running
    finally:
        running.close()
