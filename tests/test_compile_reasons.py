"""torch.compile: functions that cannot be one program run eagerly, and say why."""

import random
import time

import numpy as np
import pytest
from compiling import eager, parameter, same

import autodiff_kernel as torch


def of(body):
    def make():
        random.seed(0)
        w = parameter(4)
        return (lambda x: body(x, w)), [w]

    return make


REASONS = {
    "item()": lambda x, w: (x * w).sum().item(),
    "an operation reads a tensor's value": lambda x, w: (x * w).sum() * torch.allclose(x, w),
    "tolist()": lambda x, w: (x * w.detach()).tolist(),
    "numpy()": lambda x, w: (x * w).sum() + torch.tensor(x.numpy().sum()),
    "reads a tensor's value": lambda x, w: (x * w).sum() if x.sum() > 0 else (x - w).sum(),
    "prints": lambda x, w: print("loss", end="") or (x * w).sum(),
    "as text": lambda x, w: (x * w).sum() * len(repr(x)),
    "differs from call to call": lambda x, w: (x * w).sum() * (time.time() > 0),
    "calls random()": lambda x, w: (x * w).sum() * random.random(),
    "depends on values": lambda x, w: (x * w)[x > 0].sum(),
    "a view of one of its inputs": lambda x, w: w.view(2, 2),
    "gets a tensor that was made outside": lambda x, w: (x * w).sum() * torch.arange(5)[torch.tensor(2) + 1],
    "create_graph": lambda x, w: torch.autograd.grad((x * w * w).sum(), w, create_graph=True)[0],
    "bernoulli": lambda x, w: (torch.bernoulli(x.sigmoid()) * w).sum(),
    "data": lambda x, w: (x * w.data).sum(),
}  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_reasons(reason):
    eager(of(REASONS[reason]), reason)


def test_numpy_random_numbers():
    def make():
        np.random.seed(0)
        w = parameter(4)
        return (lambda x: (x * w).sum() * float(np.random.rand())), [w]

    eager(make, "NumPy")


def test_python_state_that_changes():
    def make():
        w, seen = parameter(4), []

        def f(x):
            seen.append(1)
            return (x * w).sum() * len(seen)

        return f, [w]

    eager(make, "changes Python's state")


def test_a_raw_write_is_caught():
    def make():
        w, total = parameter(4), torch.zeros(4)

        def f(x):
            total.raw[...] += 1
            return (x * w * total).sum()

        return f, [w, total]

    eager(make, "its program gives another result")


def test_a_value_that_slips_in_is_caught_at_the_second_call():
    def make():
        w = parameter(4)
        return (lambda x: (w * float(x.raw.sum())).sum()), [w]

    eager(make, "something else at its second call")


def test_a_function_of_the_users():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    eager(of(lambda x, w: Double.apply(x * w).sum()), "autograd.Function")


def test_a_gpu():
    torch.cuda.simulate(1)
    try:
        w = torch.ones(2).cuda()
        f = torch.compile(lambda x: x * w)
        with pytest.warns(UserWarning, match="a tensor on a GPU"):
            assert f(w).tolist() == [1, 1]
    finally:
        torch.cuda.simulate(0)


def test_an_iterator():
    numbers = iter([torch.ones(2), torch.zeros(2)])
    f = torch.compile(lambda: next(numbers) + 1)
    with pytest.warns(UserWarning, match="an iterator, numbers"):
        assert f().tolist() == [2, 2]
    assert f().tolist() == [1, 1]


def test_an_object_that_does_not_like_to_be_looked_at():
    class Shy:
        @property
        def __dict__(self):
            raise ValueError("go away")

        def __call__(self, x):
            return x + 1

    shy = Shy()
    f = torch.compile(lambda x: shy(x))
    with pytest.warns(UserWarning, match="go away"):
        assert f(torch.ones(1)).item() == 2


def test_a_dictionary_by_tensors():
    w = torch.ones(2)
    table = {w: torch.full((2,), 3.0)}
    f = torch.compile(lambda x: x * table[w])
    for k in range(4):
        w.fill_(float(k))
        assert f(torch.ones(2)).tolist() == [3, 3]
    assert f.reason == ""


def test_no_grad_and_detached_parts():
    def make():
        w = parameter(4)

        def f(x):
            with torch.no_grad():
                fixed = x * w
            return (fixed * w).sum(), fixed

        return f, [w]

    same(make)


def test_a_global_that_is_bound_anew():
    def make():
        w = parameter(4)
        total = torch.zeros(4)

        def f(x):
            nonlocal total
            total = total + x.mean(0)
            return (total * w).sum()

        return f, [w]

    eager(make, "changes Python's state: total")


def test_hooks():
    def body(x, w):
        y = x * w
        y.register_hook(lambda g: g * 2)
        return y.sum()

    eager(of(body), "hooks")


def test_fullgraph_is_an_error():
    f = torch.compile(lambda x: x.sum().item(), fullgraph=True)
    with pytest.raises(RuntimeError, match=r"fullgraph=True.*item\(\)"):
        f(torch.ones(2))


def test_what_older_garbage_does_when_it_is_collected_is_no_reason():
    import gc

    compiled = torch.compile(lambda x: x * (1 + gc.isenabled()))
    assert gc.isenabled()
    assert compiled(torch.ones(2)).tolist() == [1.0, 1.0]  # no collection while the call is watched
    assert gc.isenabled()
