"""utils.checkpoint: the same gradients from less memory.  Values are those that PyTorch 2.13 gives."""

import contextlib
import gc
import inspect
import sys
import threading
import tracemalloc
import weakref

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import modes, packing, running
from autodiff_kernel.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

BOTH = pytest.mark.parametrize("reentrant", [True, False])


@pytest.fixture
def a():
    return torch.tensor([1.0, 2.0], requires_grad=True)


@pytest.fixture
def b():
    return torch.tensor([3.0, 4.0], requires_grad=True)


class Traced:
    """A function that notes how far it came, each time it runs."""

    def __init__(self):
        self.calls = []

    def __call__(self, x, y, k=1):
        self.calls.append("start")
        h = (x * y).exp()
        self.calls.append("middle")
        z = h.sin() * k
        self.calls.append("end")
        return z


def forget(f):
    """Let f note its next calls only."""
    f.calls.clear()


# ------------------------------------------------------------------------------------------------ gradients
@BOTH
def test_gradients_are_those_of_the_function_itself(a, b, reentrant):
    plain = [g.tolist() for g in torch.autograd.grad(Traced()(a, b).sum(), [a, b])]
    f = Traced()
    y = checkpoint(f, a, b, use_reentrant=reentrant)
    assert f.calls == ["start", "middle", "end"] and a.grad is None
    assert y.grad_fn.name() == ("CheckpointFunctionBackward" if reentrant else "MulBackward0")
    forget(f)
    y.sum().backward()
    assert f.calls == [
        "start",
        "middle",
        *["end"] * reentrant,
    ]  # the other way stops where it has what it needs
    assert [a.grad.tolist(), b.grad.tolist()] == plain
    assert plain[0] == pytest.approx([19.8, -10919.2734], rel=1e-6)


@BOTH
def test_each_backward_computes_anew(a, b, reentrant):
    f = Traced()
    y = checkpoint(f, a, b, use_reentrant=reentrant).sum()
    forget(f)
    y.backward(retain_graph=True)
    first = a.grad.tolist()
    y.backward()
    assert f.calls.count("start") == 2 and a.grad.tolist() == [2 * g for g in first]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_gradients_of_some_inputs(a, b):
    f = Traced()
    plain = [g.tolist() for g in torch.autograd.grad(f(a, b).sum(), [a, b])]
    grads = torch.autograd.grad(checkpoint(f, a, b, use_reentrant=False).sum(), [a, b])
    assert [g.tolist() for g in grads] == plain
    checkpoint(f, a, b, use_reentrant=False).sum().backward(inputs=[a])
    assert a.grad.tolist() == plain[0] and b.grad is None
    y = checkpoint(f, a, b, use_reentrant=True).sum()
    for ask in (lambda: torch.autograd.grad(y, a), lambda: y.backward(inputs=[a])):
        with pytest.raises(
            RuntimeError, match="When use_reentrant=True, torch.utils.checkpoint is incompatible with"
        ):
            ask()


def test_second_derivatives(a, b):
    f = Traced()
    (plain,) = torch.autograd.grad(f(a, b).sum(), a, create_graph=True)
    (g,) = torch.autograd.grad(checkpoint(f, a, b, use_reentrant=False).sum(), a, create_graph=True)
    assert g.tolist() == plain.tolist()
    expected = torch.autograd.grad(plain.sum(), b)[0].tolist()
    assert torch.autograd.grad(g.sum(), b)[0].tolist() == expected


@BOTH
def test_parameters_outside_the_arguments(a, reentrant):
    w = torch.tensor([5.0, 6.0], requires_grad=True)
    checkpoint(lambda x: (x * w).exp(), a, use_reentrant=reentrant).sum().backward()
    expected = (a.detach() * w.detach()).exp()
    assert a.grad.tolist() == pytest.approx((w.detach() * expected).tolist())
    assert w.grad.tolist() == pytest.approx((a.detach() * expected).tolist())


@BOTH
def test_nested(a, reentrant):
    calls = []

    def inner(x):
        calls.append("inner")
        return x.sin().exp()

    def outer(x):
        calls.append("outer")
        y = checkpoint(inner, x.cos(), use_reentrant=reentrant)
        calls.append("after")
        return y.tan()

    y = checkpoint(outer, a, use_reentrant=reentrant).sum()
    assert calls == ["outer", "inner", "after"]
    calls.clear()
    y.backward()
    assert calls == ["outer", "inner", "after", "inner"]
    x = a.detach().requires_grad_()
    x.cos().sin().exp().tan().sum().backward()
    assert a.grad.tolist() == x.grad.tolist()


def test_a_gradient_asked_for_within_the_function(a):
    def f(x):
        y = x.exp() * x
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return (g * y).sin()

    expected = torch.autograd.grad(f(a).sum(), a)[0].tolist()
    for stop in (True, False):
        y = checkpoint(f, a, use_reentrant=False, early_stop=stop)
        assert torch.autograd.grad(y.sum(), a)[0].tolist() == pytest.approx(expected)


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


def test_functions_and_in_place_operations_inside(a, b):
    y = checkpoint(lambda x: Exp.apply(x * 2).sin(), a, use_reentrant=False)
    expected = torch.autograd.grad((a * 2).exp().sin().sum(), a)[0].tolist()
    assert torch.autograd.grad(y.sum(), a)[0].tolist() == expected
    y = checkpoint(lambda x: (x * 2).exp_().mul_(b), a, use_reentrant=False)
    assert torch.autograd.grad(y.sum(), a)[0].tolist() == pytest.approx([44.3343, 436.7852], rel=1e-6)


@BOTH
def test_what_goes_in_and_comes_out(a, b, reentrant):
    def result(f, *args, **kwargs):
        return checkpoint(f, *args, use_reentrant=reentrant, **kwargs)

    assert result(lambda x: None, a) is None
    t, three = result(lambda x: (x * 2, 3), a)
    assert t.requires_grad and three == 3
    listed = result(lambda x: [x * 2, 3], a)
    assert listed[0].requires_grad is not reentrant
    assert result(lambda x, k: x * k, a, 3).tolist() == [3.0, 6.0]
    with torch.no_grad():
        assert not result(Traced(), a, b).requires_grad
    with pytest.raises(ZeroDivisionError):
        result(lambda x: 1 / 0, a)
    if reentrant:
        with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
            result(Traced(), a, b, k=3)
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            result(Traced(), a, b, debug=True)
        with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
            assert not result(lambda x: x * b, a.detach()).requires_grad
        with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
            result(lambda x: x.detach() * 2, a).sum().backward()
    else:
        assert result(Traced(), a, b, k=3).tolist() == pytest.approx((3 * Traced()(a, b)).tolist())
        assert result(lambda x: x * b, a.detach()).requires_grad
        assert torch.autograd.grad(result(lambda x, y: x * y, a, y=b).sum(), b)[0].tolist() == [1.0, 2.0]
        with pytest.raises(TypeError, match="unexpected keyword argument 'zz'"):
            result(Traced(), a, b, zz=1)
        with pytest.raises(ValueError, match="determinism_check should be one of"):
            result(Traced(), a, b, determinism_check="zz")


def test_the_way_has_to_be_chosen(a):
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        assert checkpoint(torch.sin, a).grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(
        UserWarning, match="checkpoint_sequential: the use_reentrant parameter should be passed"
    ):
        checkpoint_sequential([torch.sin, torch.cos], 2, a)


# ------------------------------------------------------------------------------------------------ random numbers
@BOTH
def test_random_numbers_come_again(a, reentrant):
    def noisy(x):
        return x * torch.rand(2)

    torch.manual_seed(0)
    y = checkpoint(noisy, a, use_reentrant=reentrant)
    after = torch.rand(1)
    y.sum().backward()
    assert y.tolist() == pytest.approx([0.4963, 1.5364], abs=1e-4)
    assert a.grad.tolist() == pytest.approx([0.4963, 0.7682], abs=1e-4)
    assert [after.item(), torch.rand(1).item()] == pytest.approx(
        [0.0885, 0.1320], abs=1e-4
    )  # as if nothing had been
    a.grad = None
    torch.manual_seed(0)
    y = checkpoint(noisy, a, use_reentrant=reentrant, preserve_rng_state=False)
    torch.rand(1)
    y.sum().backward()
    assert a.grad.tolist() == pytest.approx([0.1320, 0.3074], abs=1e-4)  # wrong, as was asked for
    assert torch.rand(1).item() == pytest.approx(0.6341, abs=1e-4)


def test_random_numbers_of_a_gpu_come_again():
    from autodiff_kernel.core import device as devices

    devices.simulate(1)
    try:
        x = torch.ones(4, device="cuda", requires_grad=True)
        y = checkpoint(lambda x: x * torch.rand(4, device="cuda"), x, use_reentrant=False)
        y.sum().backward()
        assert x.grad.tolist() == y.tolist()
    finally:
        devices.simulate(0)


# ------------------------------------------------------------------------------------------------ two runs that differ
def differing(first, second):
    """A function that is `first` when it runs for the first time, and `second` afterwards."""
    runs = []

    def f(x):
        runs.append(1)
        return first(x) if len(runs) == 1 else second(x)

    return f


def test_fewer_values_in_the_second_run(a):
    y = checkpoint(differing(lambda x: (x.exp() * x).sin(), lambda x: x.sin()), a, use_reentrant=False).sum()
    with pytest.raises(CheckpointError) as caught:
        y.backward()
    text = str(caught.value)
    assert "A different number of tensors was saved during the original forward and recomputation." in text
    assert (
        "Number of tensors saved during forward: 4\nNumber of tensors saved during recomputation: 1." in text
    )


def test_more_values_in_the_second_run(a):
    f = differing(lambda x: x.sin(), lambda x: (x.exp() * x).sin())
    checkpoint(f, a, use_reentrant=False).sum().backward()  # the second run stops before the difference
    f = differing(lambda x: x.sin(), lambda x: (x.exp() * x).sin())
    y = checkpoint(f, a, use_reentrant=False, early_stop=False).sum()
    with pytest.raises(
        CheckpointError, match="trying to save more tensors during recomputation than during the orig"
    ):
        y.backward()


def test_other_shapes_in_the_second_run(a):
    def make(**kwargs):
        return checkpoint(
            differing(lambda x: x.sin(), lambda x: x[:1].sin()), a, use_reentrant=False, **kwargs
        ).sum()

    with pytest.raises(CheckpointError) as caught:
        make().backward()
    text = str(caught.value)
    assert "have different metadata than during the forward pass" in text and "tensor at position 0:" in text
    assert (
        "saved metadata: {'shape': torch.Size([2]), 'dtype': torch.float32, 'device': device(type='cpu')}"
        in text
    )
    assert "recomputed metadata: {'shape': torch.Size([1])" in text
    make(determinism_check="none").backward()


def test_debug_lists_the_lines_of_both_runs(a):
    def first(x):
        return (x.exp() * x).sin()

    def second(x):
        return x.sin()

    for kwargs, context in (
        ({"debug": True}, contextlib.nullcontext()),
        ({}, set_checkpoint_debug_enabled(True)),
    ):
        with context:
            y = checkpoint(differing(first, second), a, use_reentrant=False, **kwargs).sum()
        with pytest.raises(CheckpointError) as caught:
            y.backward()
        text = str(caught.value)
        assert "first run, value 3, in test_checkpoint.py" in text and "return (x.exp() * x).sin()" in text
        assert "second run, value 0, in test_checkpoint.py" in text and "return x.sin()" in text
        assert len(caught.value.explanation.lines) == 5


@BOTH
def test_an_input_that_was_changed_in_place(a, b, reentrant):
    h = a * 1
    y = checkpoint(Traced(), h, b, use_reentrant=reentrant).sum()
    with torch.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor \[2\]\], which is "
                                           r"output 0 of MulBackward0, is at version 1"):  # fmt: skip
        y.backward()


def test_a_saved_value_is_handed_out_once(a):
    Twice = type("Twice", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1]),
        "backward": staticmethod(lambda ctx, g: g * ctx.saved_tensors[0] + g * ctx.saved_tensors[0]),
    })  # fmt: skip
    with pytest.raises(CheckpointError, match="already unpacked once"):
        checkpoint(Twice.apply, a, use_reentrant=False).sum().backward()
    node = checkpoint(lambda x: x.exp(), a, use_reentrant=False).grad_fn
    assert (
        node._saved_result.tolist() == node._saved_result.tolist() == a.exp().tolist()
    )  # each is a look of its own


# ------------------------------------------------------------------------------------------------ options
def test_early_stop_can_be_switched_off(a, b):
    f = Traced()
    with set_checkpoint_early_stop(False):
        y = checkpoint(f, a, b, use_reentrant=False)
    forget(f)
    y.sum().backward()
    assert f.calls == ["start", "middle", "end"]
    y = checkpoint(f, a, b, use_reentrant=False, early_stop=False)
    forget(f)
    y.sum().backward()
    assert f.calls == ["start", "middle", "end"]


def test_contexts_of_both_runs(a):
    entered = []

    @contextlib.contextmanager
    def note(name):
        entered.append(name)
        yield
        entered.append("end of " + name)

    y = checkpoint(
        lambda x: x.exp() * 2,
        a,
        use_reentrant=False,
        context_fn=lambda: (note("first"), note("second")),
        early_stop=False,
    )
    assert entered == ["first", "end of first"]
    y.sum().backward()
    assert entered[2:] == ["second", "end of second"]


@BOTH
def test_a_sequence_in_segments(a, reentrant):
    steps = [torch.sin, torch.cos, torch.exp, torch.tanh, torch.sin]
    x = a.detach().requires_grad_()
    y = x
    for step in steps:
        y = step(y)
    y.sum().backward()
    for segments in (1, 2, 5):
        a.grad = None
        checkpoint_sequential(steps, segments, a, use_reentrant=reentrant).sum().backward()
        assert a.grad.tolist() == x.grad.tolist()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: zz"):
        checkpoint_sequential(steps, 2, a, use_reentrant=reentrant, zz=3)
    with pytest.raises(ValueError, match="must not be zero"):
        checkpoint_sequential(steps, 6, a, use_reentrant=reentrant)


def test_detach_variable(a):
    x, y, z = detach_variable((a, 5, a.detach()))
    assert x.is_leaf and x.requires_grad and x is not a and y == 5 and not z.requires_grad
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        detach_variable([a])


# ------------------------------------------------------------------------------------------------ memory
def layers(x):
    for _ in range(20):
        x = x.exp().log().sigmoid().exp()
    return x


def kept_by(f, x):
    """Bytes that live after the forward, beyond the result."""
    gc.collect()
    tracemalloc.start()
    y = f(x)
    alive, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return alive - y.raw.nbytes


@BOTH
def test_memory_is_saved(reentrant):
    x = torch.ones(50_000, requires_grad=True)
    plain = kept_by(layers, x)
    assert plain > 50 * x.nbytes
    assert kept_by(lambda x: checkpoint(layers, x, use_reentrant=reentrant), x) < x.nbytes
    parts = kept_by(lambda x: checkpoint_sequential([layers] * 4, 4, x, use_reentrant=reentrant), x)
    assert parts < plain + 4 * x.nbytes  # the last part is no checkpoint


def test_memory_is_given_back_as_the_walk_goes():
    x = torch.ones(50_000, requires_grad=True)
    y = checkpoint(layers, x, use_reentrant=False).sum()
    gc.collect()
    tracemalloc.start()
    y.backward(retain_graph=True)
    alive, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert alive < 3 * x.nbytes  # x.grad, and small things: what was computed anew has gone
    assert peak < 90 * x.nbytes


def test_reference_counting_alone_frees_a_checkpoint(a):
    gc.collect()
    gc.disable()
    try:
        for backward in (False, True):
            y = checkpoint(lambda x: checkpoint(lambda x: x.sin().exp(), x.cos(), use_reentrant=False).tan(), a,
                           use_reentrant=False)  # fmt: skip
            h = weakref.ref(y.node.left)
            if backward:
                y.sum().backward(retain_graph=True)
            del y
            assert h() is None
    finally:
        gc.enable()


# ------------------------------------------------------------------------------------------------ state
def test_an_exception_in_the_second_run_leaves_no_trace(a):
    def f(x):
        h = x.exp()
        if f.breaks:
            raise ValueError("boom")
        return h.sin()

    f.breaks = False
    y = checkpoint(f, a, use_reentrant=False).sum()
    f.breaks = True
    with pytest.raises(ValueError, match="boom"):
        y.backward()
    assert torch.is_grad_enabled() and running.task() == 0 and not modes.special[0] and a.grad is None


def test_an_unused_part_is_not_computed_anew(a, b):
    f, g = Traced(), Traced()
    y = checkpoint(f, a, b, use_reentrant=False)
    z = checkpoint(g, a, b, use_reentrant=False)
    forget(f)
    forget(g)
    (y.sum() + 0 * z.detach().sum()).backward()
    assert f.calls and not g.calls


def test_two_threads_walk_the_same_checkpoint():
    x = torch.linspace(0, 1, 100).requires_grad_()
    y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum()
    (expected,) = torch.autograd.grad(y, x, retain_graph=True)
    found = [None] * 4

    def work(i):
        for _ in range(20):
            (found[i],) = torch.autograd.grad(y, x, retain_graph=True)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(g.tolist() == expected.tolist() for g in found)


def interrupted(work, at):
    """Run work() with a KeyboardInterrupt at its `at`-th call of, or return from, a Python function: did one come?"""
    left = at

    def count(frame, event, arg):
        nonlocal left
        ours = "autodiff_kernel" in frame.f_code.co_filename or frame.f_code.co_filename == __file__
        if ours and event in ("call", "return") and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            left -= 1
            if not left:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(count)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def test_an_interrupt_at_any_call_leaves_no_trace():
    def f(x):
        return Exp.apply((x * 0.1).sin()).cos()

    def gradient():
        x = torch.ones(3, requires_grad=True)
        y = f(x) + checkpoint(f, x, use_reentrant=False) + checkpoint(f, x, use_reentrant=True)
        y.sum().backward()
        return x.grad.tolist()

    right = gradient()
    for at in range(1, 100_000, 3):
        came = interrupted(gradient, at)
        assert torch.is_grad_enabled() and running.task() == 0 and not packing.open_pairs()
        assert not came or at % 10 or gradient() == right
        if not came:
            break
    assert at > 300 and gradient() == right and not modes.special[0]
