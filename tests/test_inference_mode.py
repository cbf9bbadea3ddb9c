"""Inference mode and the modules of the grad switches; flags and phrases are PyTorch's (2.13)."""

import copy
import pickle
import threading

import numpy as np
import pytest
from rule_cases import Draw, all_cases
from rule_trial import Trial, numpy, tensors

import autodiff_kernel as torch
import autodiff_kernel.autograd.forward_ad as fwAD
from autodiff_kernel.core import modes

OUTSIDE = "Inplace update to inference tensor outside InferenceMode is not allowed"
SAVED = "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode"
ASKED = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."


@pytest.fixture(autouse=True)
def plain_afterwards():
    yield
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert not modes.special[0]


@pytest.fixture
def made():
    """An inference tensor, [2, 2]."""
    with torch.inference_mode():
        return torch.ones(2) * 2


# ------------------------------------------------------------------------------------------------ what is marked
def test_what_is_an_inference_tensor():
    x, n = torch.ones(2, requires_grad=True), torch.ones(2)
    with torch.inference_mode():
        i = torch.ones(2)
        new = [i, x * 2, n.clone(), i[0], i.view(2), i.detach(), i.data, i.t(), i.reshape(1, 2), i.unbind()[0], x.sum(),
               torch.ones(2, requires_grad=True), torch.tensor(1), torch.rand(2), torch.nn.Parameter(torch.ones(2)),
               *torch.rand(2, 2).max(0), copy.deepcopy(n), pickle.loads(pickle.dumps(n)),
               torch.from_numpy(np.ones(2))]  # fmt: skip
        old = [x[0], n[0], n.detach(), x.detach(), n.data, n.view(2), n.t(), n.unbind()[0], n.to(torch.float32),
               n.contiguous(), n.reshape(2), n.expand(3, 2), torch.nn.Parameter(n), n.add_(i),
               torch.add(i, i, out=n)]  # fmt: skip
        assert all(t.is_inference() and torch.is_inference(t) for t in new)
        assert not any(t.is_inference() for t in old)
        assert not (x * 2).requires_grad and new[11].requires_grad
        assert i.mul_(2).is_inference() and i.tolist() == [2.0, 2.0]
        n.mul_(1)
        assert n._version == 3
    later = [i * 2, i.clone(), copy.deepcopy(i)], [i[0], i.view(2), i.detach(), i.data, i.reshape(1, 2)]
    assert not any(t.is_inference() for t in later[0]) and all(t.is_inference() for t in later[1])


CREATORS = [
    "torch.zeros(2)", "torch.ones(())", "torch.empty(2)", "torch.full((2,), 1.)", "torch.zeros_like(x)",
    "torch.full_like(x, 2)",
    "x.new_zeros(2)", "x.new_tensor([1.])", "x.new_full((2,), 1.)", "torch.arange(3)", "torch.linspace(0, 1, 3)",
    "torch.logspace(0, 1, 3)", "torch.eye(2)", "torch.rand(2)", "torch.randn(2)", "torch.randint(0, 2, (2,))",
    "torch.randperm(3)", "torch.rand_like(x)", "torch.tensor([1.])", "torch.tensor([[1]])", "torch.as_tensor([1])",
    "torch.asarray([1.])", "torch.frombuffer(bytearray(b'ab'), dtype=torch.uint8)", "torch.tril_indices(2, 2)",
    "torch.normal(0., 1., (2,))", "torch.bernoulli(x)", "torch.multinomial(x, 1)", "torch.FloatTensor([1.])",
    "torch.FloatTensor(2)", "torch.Tensor([1.])", "torch.empty_strided((2,), (1,))", "torch.complex(x, x)",
    "torch.nonzero(x)", "torch.unique(x)", "x[[0]]", "x[x > 0]", "x == 1", "x.long()", "x.argmax()", "x.sort()[1]",
    "torch.nn.functional.linear(x, x)", "torch.repeat_interleave(torch.tensor([1, 2]))", "x.t().contiguous()",
]  # fmt: skip


@pytest.mark.parametrize("expression", CREATORS)
def test_creators(expression):
    x = torch.ones(2, 3)
    with torch.inference_mode():
        assert eval(expression, {"torch": torch, "x": x}).is_inference()
    assert not eval(expression, {"torch": torch, "x": x}).is_inference()


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_row_marks_its_results(case):
    t = Trial(case, Draw("plain", 1))
    with torch.inference_mode():
        xs = tensors(t.xs, t.moving)
        for y in t.call(xs):
            raw = numpy(y)
            if raw.size:
                view = any(isinstance(x, torch.Tensor) and np.shares_memory(numpy(x), raw) for x in xs)
                assert y.is_inference() != view and y.grad_fn is None


# ------------------------------------------------------------------------------------------------ what is refused
def test_saving_for_backward(made):
    x = torch.ones(2, requires_grad=True)
    for action in (
        lambda: x * made,
        lambda: x.clone().mul_(made),
        lambda: x.view(1, 2) @ made.view(2, 1),
        lambda: torch.nn.functional.linear(x.view(1, 2), made.view(1, 2)),
        lambda: torch.where(made > 1, x, x) * made.sum() * made,
        lambda: x[made.detach().long() * 0] * made[0],
        lambda: torch.einsum("i,i->", x, made),
    ):
        with pytest.raises(RuntimeError, match=SAVED) as caught:
            action()
        assert "clone()" in caught.value.explanation.cure
    assert (x + made).grad_fn is not None  # nothing is saved
    (x * made.clone()).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_saving_in_a_function(made):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g, None

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=SAVED):
        Keep.apply(x, made)
    with torch.inference_mode():
        assert Keep.apply(x, made).is_inference()


def test_writing_outside(made):
    n = torch.ones(2)
    for action in (
        lambda: made.mul_(2),
        lambda: torch.no_grad()(lambda: made.add_(1))(),
        lambda: made[0].mul_(2),
        lambda: made.copy_(n),
        lambda: made.zero_(),
        lambda: made.__setitem__(0, 1.0),
        lambda: torch.add(n, n, out=made),
        lambda: made.relu_(),
    ):
        with pytest.raises(RuntimeError, match=OUTSIDE):
            action()
    assert made.tolist() == [2.0, 2.0]  # PyTorch writes first, and raises then
    assert n.add_(made).tolist() == [3.0, 3.0]
    with torch.inference_mode():
        assert made.mul_(2).is_inference()


def test_a_gradient_that_is_one(made):
    x = torch.ones(2, requires_grad=True)
    x.grad = made
    with pytest.raises(RuntimeError, match=OUTSIDE):
        (x * 2).sum().backward()
    x.grad = None
    (x * 2).backward(made)
    assert x.grad.tolist() == [4.0, 4.0] and not x.grad.is_inference()


def test_asking_for_gradients(made):
    for action in (
        lambda: made.requires_grad_(),
        lambda: setattr(made, "requires_grad", True),
        lambda: torch.nn.Parameter(made),
    ):
        with pytest.raises(RuntimeError, match=ASKED):
            action()
    assert made.requires_grad_(False) is made
    assert torch.nn.Parameter(made, requires_grad=False).is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter."):
        _ = made._version
    x = torch.ones(2, requires_grad=True)
    with (
        torch.inference_mode(),
        pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"),
    ):
        (x * 2).sum().backward()


def test_views_of_ordinary_tensors():
    x, n = torch.ones(2, requires_grad=True) * 1, torch.ones(2)
    with torch.inference_mode():
        v, w = x[0], n[0]
    with pytest.raises(
        RuntimeError, match="A view was created in inference mode and is being modified inplace in normal"
    ):
        v.mul_(2)
    assert w.mul_(2).item() == 2.0 and n.tolist() == [2.0, 1.0]
    with pytest.raises(
        RuntimeError, match="A view was created in inference mode and is being modified inplace in normal"
    ):
        w.mul_(x[0])


def test_exchanging_data(made):
    n, m = torch.ones(2), torch.ones(2)
    other = made.detach()
    made.data = n
    m.data = other
    assert not made.is_inference() and m.is_inference()


# ------------------------------------------------------------------------------------------------ switching
def test_nesting():
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        with torch.enable_grad():
            assert not (x * 2).requires_grad and (x * 2).is_inference()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
            assert (x * 2).requires_grad and not (x * 2).is_inference()
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
    with torch.no_grad():
        with torch.inference_mode(mode=False):
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    with pytest.raises(ZeroDivisionError), torch.inference_mode():
        _ = 1 / 0


def test_the_same_object_again():
    mode = torch.inference_mode()
    with mode, mode:
        assert torch.is_inference_mode_enabled()


def test_decorators():
    def state():
        return torch.is_inference_mode_enabled()

    assert torch.inference_mode(state)() and torch.inference_mode()(state)()
    assert not torch.inference_mode(mode=False)(state)()
    assert not state()


def test_other_threads_are_not_in_the_mode():
    seen = []
    with torch.inference_mode():
        work = lambda: seen.append((torch.is_inference_mode_enabled(), torch.ones(2).is_inference()))  # noqa: E731
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert torch.ones(2).is_inference()
    assert seen == [(False, False)]


def test_recording_goes_on():
    with modes.recording(), torch.inference_mode():
        y = torch.ones(2) * 2
    assert y.is_inference() and y.fact.name == "mul"


def test_dual_tensors_lose_their_tangents():
    with fwAD.dual_level():
        d = fwAD.make_dual(torch.ones(2), torch.ones(2))
        with torch.inference_mode():
            y = d * 2
            assert y.is_inference()
        assert fwAD.unpack_dual(y).tangent is None
        assert fwAD.unpack_dual(d * 2).tangent.tolist() == [2.0, 2.0]


# ------------------------------------------------------------------------------------------------ the grad switches
def test_module_paths():
    from autodiff_kernel.autograd import grad_mode

    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
        assert getattr(torch, name) is getattr(torch.autograd, name) is getattr(grad_mode, name)


def test_multithreading_is_remembered():
    with torch.autograd.set_multithreading_enabled(False):
        assert not torch.autograd.is_multithreading_enabled()
    assert torch.autograd.is_multithreading_enabled()


@pytest.mark.parametrize("switch", [torch.no_grad, torch.inference_mode])
def test_generators_run_inside(switch):
    closed = []

    @switch()
    def body():
        try:
            got = yield torch.is_grad_enabled()
            while True:
                got = yield got, torch.is_grad_enabled()
        except ValueError:
            yield "caught", torch.is_grad_enabled()
        finally:
            closed.append(torch.is_grad_enabled())

    g = body()
    assert next(g) is False and torch.is_grad_enabled()
    assert g.send(5) == (5, False) and torch.is_grad_enabled()
    assert g.throw(ValueError()) == ("caught", False) and torch.is_grad_enabled()
    g.close()
    assert closed == [False]

    @switch
    def short():
        yield 1
        return 2

    def outer():
        return (yield from short())

    g = outer()
    assert next(g) == 1
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value == 2


def test_classes_are_warned_of():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class A:
            def __init__(self):
                self.grad = torch.is_grad_enabled()

    assert A().grad is False
