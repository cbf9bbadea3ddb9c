"""Interrupting a long backward in a real kernel: it comes to the user at once, and every tensor stays usable.

Each backward says on the way, in a hook, that it runs, and does not come to its end: a hook at the first operation
waits. So the interrupt lands inside backward however slow the machine is, and at different places of it.
"""

import re
import time
from collections.abc import Iterator

import pytest
from kernels import PATIENCE, Answer, Kernel, kernel

SETUP = """
import time
from autodiff_kernel.core.modes import recording

def says(g):
    print("backward runs", flush=True)

def waits(g):
    until = time.monotonic() + 300
    while time.monotonic() < until:
        time.sleep(0.01)

def chain(n):
    global x, w, out, hooks
    x, w = torch.tensor(1., requires_grad=True), torch.tensor(3., requires_grad=True)
    y = first = x * 1
    for _ in range(n):
        y = y + x
    out = y * w
    hooks = [y.register_hook(says), first.register_hook(waits)]

def products(n, times):
    global x, w, out, hooks
    x, w = torch.eye(n, requires_grad=True), torch.tensor(3., requires_grad=True)
    y = first = torch.ones(n, n) @ x
    for _ in range(times - 1):
        y = y @ x
    out = y.sum() * w
    hooks = [y.register_hook(says), first.register_hook(waits)]
"""

# how the graph is made; out, and the gradients of x (one of its elements) and w that a whole backward brings
WORKS = {
    "recorded": ("chain(30_000)", 90_003.0, 90_003.0, 30_001.0),
    "not recorded": ("with recording(False): chain(300_000)", 900_003.0, 900_003.0, 300_001.0),
    "products": ("products(500, 30)", 750_000.0, 45_000.0, 250_000.0),
}


@pytest.fixture(scope="module")
def shell() -> Iterator[Kernel]:
    with kernel("autodiff") as running:
        assert running.run(SETUP).reply["status"] == "ok"
        yield running


def interrupted(shell: Kernel, cell: str, delay: float) -> Answer:
    """Run a cell and interrupt it so many seconds after its backward has begun."""
    request = shell.client.execute(cell)
    until = time.monotonic() + PATIENCE
    while True:
        message = shell.client.get_iopub_msg(timeout=max(0.1, until - time.monotonic()))
        if message["parent_header"].get("msg_id") == request and message["msg_type"] == "stream":
            break
    assert message["content"]["text"].startswith("backward runs")
    time.sleep(delay)
    shell.manager.interrupt_kernel()
    return shell.collect(request)


@pytest.mark.parametrize("delay", [0, 0.05, 0.3])
@pytest.mark.parametrize("work", WORKS)
def test_an_interrupt_in_backward_leaves_every_tensor_usable(shell: Kernel, work: str, delay: float) -> None:
    make, value, of_x, of_w = WORKS[work]
    assert shell.run(make).reply["status"] == "ok"

    for _ in range(2):  # the graph may be walked again when it was kept, interrupted or not
        answer = interrupted(shell, "out.backward(retain_graph=True)", delay)
        assert answer.reply["ename"] == "KeyboardInterrupt"
        assert shell.run("x.grad, w.grad").results == ["(None, None)"]
        assert shell.run("out.item(), w.item(), x.max().item()").results == [f"({value}, 3.0, 1.0)"]

    assert shell.run("for hook in hooks: hook.remove()\nout.backward()").reply["status"] == "ok"
    assert shell.run("x.grad.max().item(), w.grad.item()").results == [f"({of_x}, {of_w})"]


def test_what_an_interrupted_backward_has_freed_is_told_and_a_new_graph_works(shell: Kernel) -> None:
    shell.run("chain(1_000)")
    assert interrupted(shell, "out.backward()", 0.05).reply["ename"] == "KeyboardInterrupt"
    again = shell.run("out.backward()").reply
    assert again["ename"] == "RuntimeError"
    assert "backward through the graph a second time" in again["evalue"]
    assert shell.run("x.grad, w.grad").results == ["(None, None)"]
    assert shell.run("(x * w + w * w).backward()\nx.grad, w.grad").results == ["(tensor(3.), tensor(7.))"]


def test_gradients_from_before_the_interrupt_stay_as_they_were(shell: Kernel) -> None:
    shell.run("chain(1_000)\nx.grad, w.grad = torch.tensor(5.), torch.tensor(6.)")
    assert interrupted(shell, "out.backward()", 0.02).reply["ename"] == "KeyboardInterrupt"
    assert shell.run("x.grad, w.grad").results == ["(tensor(5.), tensor(6.))"]


def test_an_interrupt_shows_the_users_line_and_no_frame_of_the_engine(shell: Kernel) -> None:
    shell.run("with recording(False): chain(300_000)\nhooks.pop().remove()\n_ = x.register_hook(waits)")
    for delay in (0, 0.1):
        answer = interrupted(shell, "total = 1\nout.backward(retain_graph=True)", delay)
        [error] = answer.of("error")
        shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
        assert "----> 2 out.backward(retain_graph=True)" in shown
        assert "autodiff_kernel" not in shown
        assert shown.rstrip().endswith("KeyboardInterrupt:")
