"""Threads, walks within walks, and interrupts: nothing is lost, and nothing is left behind."""

import _thread
import ast
import signal
import subprocess
import sys
import threading
import time

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import modes, running

from . import interrupting


@pytest.fixture(autouse=True)
def often():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*works):
    """Run functions on a thread each; what they raised."""
    errors = []

    def run(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return errors


# ------------------------------------------------------------------------------------------------ threads
@pytest.mark.parametrize("shape", [(), (3,), (100_000,)])
def test_two_graphs_add_to_one_leaf(shape):
    x = torch.ones(shape, requires_grad=True)

    def work():
        for _ in range(40):
            (x * 2).sum().backward()

    assert together(work, work, work) == []
    assert x.grad.min().item() == x.grad.max().item() == 240


def test_two_walks_through_one_graph():
    x = torch.ones(1000, requires_grad=True)
    h = x * 2
    h.retain_grad()
    h.register_hook(lambda g: g * 3)
    y = (h * h.detach()).sum()

    def work():
        for _ in range(30):
            y.backward(retain_graph=True)

    assert together(work, work) == []
    assert x.grad[0].item() == 60 * 12 and h.grad[0].item() == 60 * 6


def test_a_graph_that_another_thread_frees_is_a_clear_error():
    errors = []
    for _ in range(50):
        x = torch.ones(100, requires_grad=True)
        y = x
        for _ in range(20):
            y = y.sin() * y
        errors += together(y.sum().backward, y.sum().backward)
    assert errors and all("second time" in str(e) and isinstance(e, RuntimeError) for e in errors)


def test_each_thread_has_its_grad_mode():
    def work(flag):
        for _ in range(300):
            with torch.set_grad_enabled(flag):
                y = torch.ones(2, requires_grad=True) * 2
                assert y.requires_grad is flag is torch.is_grad_enabled()

    works = [lambda flag=flag: work(flag) for flag in (True, False, True, False)]
    with torch.no_grad():
        assert together(*works) == []
        assert not torch.is_grad_enabled()
    assert not modes.departed[0]


def test_a_thread_that_ends_with_gradients_off_is_forgotten():
    assert together(lambda: torch.set_grad_enabled(False)) == []
    modes.put_grad(True)
    assert not modes.departed[0] and (torch.ones(1, requires_grad=True) * 2).requires_grad


def test_backward_on_a_thread_that_did_not_build_the_graph():
    x = torch.ones(3, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append((torch.is_grad_enabled(), threading.current_thread().name)))
    y = (x * x).sum()
    t = threading.Thread(target=y.backward, name="other")
    t.start()
    t.join()
    assert x.grad.tolist() == [2, 2, 2] and seen == [(False, "other")]


def test_hooks_on_several_tensors_count_each_walk_by_itself():
    x = torch.tensor(1.0, requires_grad=True)
    a, b = x * 2, x * 3
    seen = []
    torch.autograd.graph.register_multi_grad_hook([a, b], lambda gs: seen.append([g.item() for g in gs]))
    y = a * b

    def work():
        for _ in range(50):
            y.backward(retain_graph=True)

    assert together(work, work) == []
    assert seen == [[3.0, 2.0]] * 100


# ------------------------------------------------------------------------------------------------ walks within walks
def nested(depth, innermost, seen):
    """A result whose backward calls backward, `depth` times over."""
    x = torch.tensor(1.0, requires_grad=True)
    h = x * 2

    def hook(g):
        seen.append(torch.is_grad_enabled())
        if depth:
            with torch.enable_grad():
                nested(depth - 1, innermost, seen).backward()
        else:
            innermost()

    h.register_hook(hook)
    return h


def test_backward_within_backward_however_deep():
    seen = []
    threads = threading.active_count()
    nested(500, lambda: None, seen).backward()
    assert seen == [False] * 501 and threading.active_count() == threads
    assert torch.is_grad_enabled() and running.current() is None


def test_an_error_comes_through_all_walks():
    def fail():
        raise ValueError("deep")

    with torch.no_grad(), pytest.raises(ValueError, match="deep"):
        with torch.enable_grad():
            y = nested(100, fail, [])
        y.backward()
    assert torch.is_grad_enabled() and running.current() is None and not modes.departed[0]


def test_modes_come_along_to_another_thread():
    seen = []

    def look():
        seen.append((torch.is_grad_enabled(), threading.current_thread() is threading.main_thread()))

    nested(100, look, []).backward()
    assert seen == [(False, False)]


def test_backward_within_a_function_of_the_users():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_()
                (inner**3).sum().backward()
            return g * inner.grad

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Cube.apply(Cube.apply(x)).sum().backward()
    assert x.grad.tolist() == [9, 9 * 2**8]


# ------------------------------------------------------------------------------------------------ interrupts
def test_interrupts_at_random_moments():
    """In a process of its own: an interrupt that comes after its round would end the test run."""
    rounds = 2 * len(interrupting.WORK)
    command = [sys.executable, interrupting.__file__, str(rounds), "1"]
    for _ in range(3):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "KeyboardInterrupt" not in done.stderr[-200:]:  # else one came between two rounds
            break
    assert done.returncode == 0, done.stderr
    assert set(ast.literal_eval(done.stdout.strip()).values()) == {2}


@pytest.mark.parametrize("work", interrupting.WORK, ids=lambda w: w.__name__)
def test_an_interrupt_at_every_moment(work):
    number, unclean = interrupting.unclean_moments(work)
    assert number > 5 and unclean == []


def test_an_interrupt_at_every_moment_of_a_block():
    """PyTorch's blocks, too, keep their mode if the interrupt comes before `__exit__` has begun, or after the call of
    `set_grad_enabled` and before the block."""
    number, unclean = interrupting.unclean_moments(interrupting.blocks)
    assert number > 40 and {where for where, _ in unclean} <= {"__exit__", "__init__", "__enter__"}
    assert len(unclean) <= 4


def test_an_interrupt_ends_walks_on_other_threads():
    """The main thread waits for walks on other threads, and the interrupt comes there."""
    seen = []
    y = nested(3, lambda: None, seen)
    outer = running.Task([], None, False)
    outer.enter()
    outer.stop[0] = KeyboardInterrupt()  # what a waiting thread does when the interrupt comes
    try:
        with pytest.raises(KeyboardInterrupt):
            y.backward()
    finally:
        outer.leave()
    assert seen == [] and torch.is_grad_enabled() and running.current() is None
    nested(3, lambda: None, seen).backward()
    assert len(seen) == 4


def test_an_interrupt_while_the_main_thread_waits():
    """It comes to the main thread, and ends the walk that another thread is in."""
    ended = threading.Event()

    def wait():
        _thread.interrupt_main()
        for _ in range(200):
            if running.current().stop[0] is not None:
                ended.set()
                break
            time.sleep(0.01)
        x = torch.ones(1, requires_grad=True)
        x.register_hook(lambda g: ended.clear())  # is not called any more
        x.sum().backward()

    old = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            nested(100, wait, []).backward()
    finally:
        signal.signal(signal.SIGINT, old)
    assert ended.is_set() and torch.is_grad_enabled() and running.current() is None
