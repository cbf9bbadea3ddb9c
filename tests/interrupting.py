"""Ctrl-C at a random moment (python -m tests.interrupting [rounds] [seed]), and at every moment where it can come.

After each interrupt we ask whether everything is as if it had come before some step or after it: values and gradients
belong together, modes are as they were, and the next computation is right.
"""

import _thread
import dis
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import autodiff_kernel as torch
from autodiff_kernel.core import modes, running

Check = Callable[[], None]


def leaf(values: Any) -> Any:
    return torch.tensor(values, requires_grad=True)


# Each piece of work gives (step, check): step is called again and again until it is interrupted.
def forward() -> tuple[Callable[[], None], Check]:
    x, made = leaf([1.0, 2.0]), []

    def step() -> None:
        y = x * 3
        made.append((y.sin() * y.exp()).sum())

    def check() -> None:
        for y in made[-1:]:
            x.grad = None
            y.backward()
            z = x.detach() * 3
            close(x.grad, 3 * (z.cos() * z.exp() + z.sin() * z.exp()))

    return step, check


def backward() -> tuple[Callable[[], None], Check]:
    """Gradients are added to all leaves or to none."""
    x, w, s = leaf([1.0, 2.0]), leaf([3.0, 4.0]), leaf(2.0)

    def step() -> None:
        ((x * w).tanh() * 0 + x * w * s).sum().backward()

    def check() -> None:
        if x.grad is None:
            assert w.grad is None and s.grad is None
            return
        times = x.grad[0].item() / 6
        assert times == round(times)
        assert x.grad.tolist() == [6 * times, 8 * times]
        assert w.grad.tolist() == [2 * times, 4 * times]
        assert s.grad.item() == 11 * times

    return step, check


def kept_graph() -> tuple[Callable[[], None], Check]:
    x = leaf([1.0, 2.0])
    y = (x * x * x).sum()

    def step() -> None:
        y.backward(retain_graph=True)

    def check() -> None:
        if x.grad is not None:
            times = x.grad[0].item() / 3
            assert times == round(times) and x.grad[1].item() == 12 * times
        x.grad = None
        y.backward()
        assert x.grad.tolist() == [3, 12]

    return step, check


def higher_order() -> tuple[Callable[[], None], Check]:
    x = leaf([1.0, 2.0])

    def step() -> None:
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
        assert h.tolist() == [6, 12]

    def check() -> None:
        step()
        assert x.grad is None

    return step, check


def in_place() -> tuple[Callable[[], None], Check]:
    """Value and history belong together: y is always a multiple of x, and its gradient that multiple."""
    x, half = leaf([1.0, 2.0]), torch.tensor([0.5, 0.5])
    y = x * 2

    def step() -> None:
        y.mul_(2)
        y.mul_(half)
        y.sub_(y * 0)

    return step, lambda: belongs(x, y)


def in_place_scalar() -> tuple[Callable[[], None], Check]:
    x, half = leaf(3.0), torch.tensor(0.5)
    y = x * 2

    def step() -> None:
        y.mul_(2)
        y.mul_(half)

    return step, lambda: belongs(x, y)


def in_place_views() -> tuple[Callable[[], None], Check]:
    """The same for a base and its views, whichever is written."""
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 2
    left, middle = y[:2], y[1:3]

    def step() -> None:
        left.mul_(2)
        y.clamp_(-1e3, 1e3)
        y[0] = x[0] * 4

    def check() -> None:
        if float(y.detach().max()) < 1e3:
            belongs(x, y)
            belongs(x, left, [0, 1])
            belongs(x, middle, [1, 2])

    return step, check


def hooks() -> tuple[Callable[[], None], Check]:
    x, count = leaf([1.0, 2.0]), [0]

    def hook(g: Any) -> Any:
        count[0] += 1
        assert not torch.is_grad_enabled()
        return g * 2

    def step() -> None:
        h = x * 3
        h.register_hook(hook)
        h.retain_grad()
        with x.register_hook(lambda g: g + 1):
            h.sum().backward()

    def check() -> None:
        if x.grad is not None:
            times = x.grad[0].item() / 7
            assert times == round(times) <= count[0] and x.grad[1].item() == x.grad[0].item()
        x.grad = None
        step()
        assert x.grad[0].item() in (7, 8)  # (a handle whose block was just entered may have been left)

    return step, check


def functions() -> tuple[Callable[[], None], Check]:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: Any) -> Any:
            ctx.save_for_backward(t)
            return t * t

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (t,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = t.detach().requires_grad_()
                (inner * inner).sum().backward()  # a walk inside the walk
            return g * inner.grad

    x = leaf([1.0, 2.0])

    def step() -> None:
        Square.apply(x).sum().backward()

    def check() -> None:
        if x.grad is not None:
            times = x.grad[0].item() / 2
            assert times == round(times) and x.grad[1].item() == 4 * times

    return step, check


def training() -> tuple[Callable[[], None], Check]:
    """Weights never hold a gradient of other data, and a step is whole for each of them."""
    w, b = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([0.5, 0.5])
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])

    def step() -> None:
        w.grad = b.grad = None
        ((x @ w + b) * 1.0).sum().backward()
        torch.set_grad_enabled(False)
        w.sub_(w.grad)
        w.add_(w.grad)
        torch.set_grad_enabled(True)

    def check() -> None:
        torch.set_grad_enabled(True)
        w.grad = b.grad = None
        ((x @ w + b) * 1.0).sum().backward()
        assert w.grad.tolist() == [[1, 1], [1, 1]] and b.grad.tolist() == [2, 2]
        assert w.detach()[0, 0].item() in (0, 1) and w.is_leaf

    return step, check


def blocks() -> tuple[Callable[[], None], Check]:
    """No block leaves its mode behind."""
    x = leaf([1.0, 2.0])

    def step() -> None:
        with torch.no_grad():
            assert not (x * 2).requires_grad
            with torch.enable_grad():
                assert (x * 2).requires_grad
        with torch.set_grad_enabled(False):
            assert not (x * 2).requires_grad

    def check() -> None:
        assert torch.is_grad_enabled() and (x * 2).requires_grad
        step()

    return step, check


WORK = (
    forward,
    backward,
    kept_graph,
    higher_order,
    in_place,
    in_place_scalar,
    in_place_views,
    hooks,
    functions,
    training,
)


def close(a: Any, b: Any) -> None:
    assert torch.allclose(a, b), (a, b)


def belongs(x: Any, y: Any, part: Any = None) -> None:
    """y = c x element by element: is c the gradient?"""
    (g,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    xs = x.detach() if part is None else x.detach()[part]
    close((g if part is None else g[part]) * xs, y.detach())


def assert_clean(work: Any, check: Check) -> None:
    """What must hold after an interrupt."""
    if work is not training:  # (it switches gradients off by hand)
        assert torch.is_grad_enabled(), "gradients are off"
        modes.put_grad(True)
        assert not modes.departed[0], "somebody counts as having gradients off"
    assert running.current() is None, "a walk counts as under way"
    check()


def interrupted(work: Callable[[], tuple[Callable[[], None], Check]], wait: float) -> None:
    """One round: an interrupt comes `wait` seconds after the start."""
    step, check = work()
    timer = threading.Thread(target=lambda: (time.sleep(wait), _thread.interrupt_main()))
    old = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        while True:
            step()
    except KeyboardInterrupt:
        pass
    finally:
        timer.join()
        signal.signal(signal.SIGINT, old)
    assert_clean(work, check)


# ------------------------------------------------------------------------------------------------ every moment
MOMENTS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD")  # Python looks for signals after these


def interrupt_at(step: Callable[[], None], number: int) -> str:
    """Run step with an interrupt at the given one of its moments; in which function that was, '' if there are fewer.

    Python delivers signals where a function begins, after calls, and at the end of a loop's body.  Counted are the
    moments inside of the package.
    """
    last: dict[int, str] = {}
    came = 0
    where = ""

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal came, where
        if event == "call":
            if "__autodiff_kernel__" not in frame.f_globals:
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            last.pop(id(frame), None)
        elif event == "opcode":
            before = last.get(id(frame))
            last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if before is None or before in MOMENTS:
                came += 1
                if came > number:
                    sys.settrace(None)
                    where = frame.f_code.co_name
                    raise KeyboardInterrupt
        return trace

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(old)
    return where


def unclean_moments(work: Any) -> tuple[int, list[tuple[str, str]]]:
    """How many moments there are, and after which of them something was wrong: (function, what)."""
    found = []
    number = 0
    while True:
        step, check = work()
        step()
        where = interrupt_at(step, number)
        if not where:
            return number, found
        try:
            assert_clean(work, check)
        except AssertionError as error:
            found.append((where, str(error)))
            torch.set_grad_enabled(True)
        number += 1


# ------------------------------------------------------------------------------------------------ random moments
def rounds(number: int, seed: int = 0) -> dict[str, int]:
    """`number` rounds, with each piece of work in turn; how many each has had."""
    chance = random.Random(seed)
    had: dict[str, int] = {}
    for k in range(number):
        work = WORK[k % len(WORK)]
        interrupted(work, chance.uniform(0, 0.004))
        had[work.__name__] = had.get(work.__name__, 0) + 1
    return had


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(rounds(number, seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0))
