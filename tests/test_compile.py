"""torch.compile: recorded programs do what the functions do, or say why they can't."""

import sys

import numpy as np
import pytest
from compiling import parameter, same, story

import autodiff_kernel as torch

F = torch.nn.functional


# ------------------------------------------------------------------------------------------------ results and gradients
BODIES = {
    "chain": lambda x, w: ((x * w).tanh() + 1).sum(),
    "product": lambda x, w: ((x @ w).relu() ** 2).mean(),
    "norm": lambda x, w: (x * w).norm(),
    "greatest": lambda x, w: (x * w).max() + (x * w).max(1).values.sum(),
    "joined": lambda x, w: torch.cat([x, w[None]]).pow(2).sum() + torch.stack([x, x * w]).sum(),
    "parts": lambda x, w: (lambda a, b, c: (a * b * c).sum())(*(x * w).split(1)),
    "rows": lambda x, w: sum(row.sum() * i for i, row in enumerate(x * w)),
    "where": lambda x, w: torch.where(x > 0, x * w, w * 0.1).sum(),
    "index": lambda x, w: (x * w)[[0, 2], 1:].exp().sum() + w[torch.tensor([0, 0, 3])].sum(),
    "views": lambda x, w: (x * w).flatten().view(2, 6).t().reshape(-1).square().sum(),
    "casts": lambda x, w: (x.int() * w).sum() + (x.double() * w).sum(),
    "cross entropy": lambda x, w: F.cross_entropy(x * w, torch.tensor([0, 1, 2])),
    "layer norm": lambda x, w: F.layer_norm(x * w, (4,)).pow(3).sum(),
    "einsum": lambda x, w: torch.einsum("ij,j->i", x, w).logsumexp(0),
    "sorted": lambda x, w: (x * w).sort()[0][:, 1].sum() + (x * w).topk(2)[0].sum(),
    "detached": lambda x, w: ((x * w).detach() * w).sum(),
    "autograd.grad": lambda x, w: torch.autograd.grad((x * w * w).sum(), w)[0],
    "several": lambda x, w: {"sum": (x * w).sum(), "both": [x.argmax(1), (w * w).sum(), 5]},
    "nothing": lambda x, w: None,
    "the input": lambda x, w: x,
    "twice": lambda x, w: (lambda y: (y, y))((x * w).sum()),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_results_and_gradients(name):
    def make():
        w = parameter(4)
        return (lambda x: BODIES[name](x, w)), [w]

    same(make)


def test_a_chain_of_many_operations():
    def make():
        w = parameter(4)

        def f(x):
            for _ in range(400):
                x = x * 0.999 + w
            return x.sum()

        return f, [w]

    assert same(make, 3).source.count("\n") > 1600


def test_gradients_flow_on_to_what_the_inputs_were_computed_from():
    def gradients(f):
        a = torch.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(3):
            b = a * 3
            f(a, b).backward()
        return a.grad.tolist()

    def f(a, b):
        return (a * b * b).sum()

    compiled = torch.compile(f)
    assert gradients(compiled) == gradients(f) == [81.0, 324.0]
    assert compiled.reason == ""


def test_each_choice_among_the_results_has_its_gradients():
    u, v = parameter(2), parameter(2)

    @torch.compile
    def f():
        return (u * 2).sum(), (u * v).sum()

    for _ in range(3):
        a, b = f()
    a.backward()
    assert u.grad.tolist() == [2.0, 2.0]
    assert v.grad is None
    a, b = f()
    (a + b).backward()
    assert v.grad.tolist() == u.detach().tolist()


def test_a_result_is_differentiated_once():
    w = torch.tensor(2.0, requires_grad=True)
    f = torch.compile(lambda: w * w * w)
    for _ in range(3):
        y = f()
    (g,) = torch.autograd.grad(y, w, create_graph=True)
    assert g.item() == 12
    with pytest.raises(RuntimeError, match="differentiate twice"):
        g.backward()


# ------------------------------------------------------------------------------------------------ writes and draws
def test_writes():
    def make():
        w, mean = parameter(4), torch.zeros(4)

        def f(x):
            mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            h = x * w
            h.add_(1)
            h[0] = 0
            h[:, 1:].mul_(2)
            h[1, 2:] = x[0, :2]
            h.clamp_(-3, 3)
            out = torch.zeros(3, 4)
            out[1] = w
            out.copy_(out + h)
            return (out * mean).sum()

        return f, [w, mean]

    same(make)


def test_a_number_that_is_overwritten():
    def make():
        w = parameter(4)

        def f(x):
            s = (x * w).sum()
            double = s * 2
            s.add_(1)
            return double * s

        return f, [w]

    same(make)


def test_an_argument_that_is_overwritten():
    def f(x):
        x.mul_(2)
        return x + 1

    compiled, x = torch.compile(f), torch.ones(2)
    for _ in range(3):
        y = compiled(x)
    assert (x.tolist(), y.tolist(), x._version) == ([8.0, 8.0], [9.0, 9.0], 3)


def test_random_numbers():
    def make():
        w, own = parameter(4), torch.Generator().manual_seed(5)

        def f(x):
            noise = torch.rand(4) + torch.randn_like(x) + torch.rand(4, generator=own)
            return (x * w * noise).sum() + F.dropout(x * w, 0.5).sum() + torch.empty(4).normal_().sum()

        return f, [w]

    assert same(make).source.count("draw(") >= 1


# ------------------------------------------------------------------------------------------------ whole steps
def test_a_step_with_backward_and_update():
    def make():
        w, b = parameter(4, 2), parameter(2)

        def f(x):
            w.grad = b.grad = None
            loss = ((x @ w + b - 1) ** 2).mean()
            loss.backward()
            with torch.no_grad():
                for p in (w, b):
                    p -= 0.1 * p.grad
            return loss.detach()

        return f, [w, b]

    same(make, 6)


def test_gradients_that_accumulate():
    def make():
        w = parameter(4)

        def f(x):
            (x * w).sum().backward()
            (x * w * w).sum().backward(inputs=[w])
            if w.grad is not None:
                w.grad.mul_(0.5)
            return None

        return f, [w]

    same(make, 5)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_a_step_with_an_optimizer(kind):
    def make():
        w = parameter(4, 2)
        settings = {"momentum": 0.9} if kind == "SGD" else {}
        optimizer = getattr(torch.optim, kind)([w], lr=0.1, **settings)

        def f(x):
            optimizer.zero_grad()
            loss = F.mse_loss(torch.tanh(x @ w), torch.ones(3, 2))
            loss.backward()
            optimizer.step()
            return loss.detach()

        return f, [w]

    assert f"{kind.lower()}.step()" in same(make, 6, backward=False).source


def test_a_spent_graph_says_so():
    def make():
        w = parameter(4)

        def f(x):
            loss = (x * w).exp().sum()
            loss.backward()
            return loss

        return f, [w]

    expected, _ = story(make, 4, False, backward=False)
    found, run = story(make, 4, True, backward=False)
    np.testing.assert_equal(found, expected)
    with pytest.raises(RuntimeError, match="a second time"):
        run(torch.ones(3, 4)).backward()


# ------------------------------------------------------------------------------------------------ guards
def test_other_forms_are_recorded_anew():
    calls = []

    def f(x, scale=2.0, *, flag=True):
        return (x * scale).sum() if flag else x.sum()

    f = torch.compile(f)
    for x in (
        torch.ones(2),
        torch.ones(3),
        torch.ones(2, dtype=torch.float64),
        torch.ones(2).requires_grad_(),
    ):
        for _ in range(3):
            y = f(x)
            calls.append((y.item(), y.dtype, y.requires_grad))
    assert [c[0] for c in calls] == [4] * 3 + [6] * 3 + [4] * 6
    assert calls[8][1] is torch.float64
    assert calls[11][2]
    with torch.no_grad():
        assert not f(torch.ones(2).requires_grad_()).requires_grad
    assert f(torch.ones(2), 5).item() == 10
    assert f(torch.ones(2), flag=False).item() == 2
    assert f.reason == ""


def test_numbers_of_closures_globals_and_attributes_are_compared():
    class Settings:
        rate = 0.5

    settings, box = Settings(), [2.0]

    @torch.compile
    def f(x):
        return x * settings.rate * box[0]

    x = torch.ones(1)
    assert [f(x).item() for _ in range(3)] == [1.0] * 3
    box[0] = 4.0
    assert f(x).item() == 2.0
    Settings.rate = 1.0
    assert f(x).item() == 4.0
    settings.rate = 3.0
    assert f(x).item() == 12.0
    assert f.reason == ""


def test_a_captured_tensor_that_is_replaced_is_used():
    box = {"w": torch.tensor([2.0])}
    f = torch.compile(lambda x: x * box["w"])
    for _ in range(3):
        assert f(torch.ones(1)).item() == 2
    box["w"] = torch.tensor([5.0])
    assert f(torch.ones(1)).item() == 5
    box["w"] = torch.tensor([5, 6])
    assert f(torch.ones(1)).tolist() == [5, 6]


def test_a_gradient_that_is_there_already_is_another_form_only_to_who_looks():
    w = torch.tensor(2.0, requires_grad=True)
    plain = torch.compile(lambda: w * 3)
    for _ in range(3):
        plain().backward()
    assert w.grad.item() == 9
    assert plain().grad_fn.name() == "CompiledFunctionBackward"
    looks = torch.compile(lambda: w * 3 if w.grad is None else w * 5)
    assert [looks().item() for _ in range(3)] == [10] * 3
    w.grad = None
    assert looks().item() == 6


def test_the_same_tensor_twice_is_another_form():
    f = torch.compile(lambda a, b: a.add_(1) * b)
    x = torch.ones(2)
    for _ in range(3):
        assert f(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
    assert f(x, x).tolist() == [4, 4]
    assert f(x, x[:]).tolist() == [9, 9]


def test_too_many_forms():
    f = torch.compile(lambda x: x + 1)
    with pytest.warns(UserWarning, match="8 forms"):
        for n in range(1, 11):
            assert f(torch.zeros(n)).sum().item() == n
    assert "8 forms" in f.reason


# ------------------------------------------------------------------------------------------------ errors
def test_errors_are_eagers():
    def f(x, i):
        return (x @ torch.ones(3)) + x[i].sum()

    compiled = torch.compile(f)
    for _ in range(2):
        with pytest.raises(RuntimeError) as expected:
            f(torch.ones(2, 4), torch.tensor([0]))
        with pytest.raises(RuntimeError) as found:
            compiled(torch.ones(2, 4), torch.tensor([0]))
        assert str(found.value) == str(expected.value)
    for _ in range(3):
        compiled(torch.ones(2, 3), torch.tensor([1]))
    with pytest.raises(IndexError) as found:
        compiled(torch.ones(2, 3), torch.tensor([7]))
    with pytest.raises(IndexError) as expected:
        f(torch.ones(2, 3), torch.tensor([7]))
    assert str(found.value) == str(expected.value)
    assert compiled.reason == ""


def test_no_function():
    with pytest.raises(TypeError, match="takes a function or a module, not int"):
        torch.compile(3)


# ------------------------------------------------------------------------------------------------ ways to call it
def test_decorators_and_arguments():
    @torch.compile(mode="reduce-overhead", dynamic=False, backend="eager", options={})
    def f(x, *more, scale=1):
        """Doc."""
        return {"y": [x * scale, sum(more)]}

    assert (f.__name__, f.__doc__) == ("f", "Doc.")
    for k in range(3):
        out = f(torch.full((2,), float(k)), torch.ones(1), torch.ones(1), scale=3)
        assert out["y"][0].tolist() == [3.0 * k] * 2
        assert out["y"][1].tolist() == [2.0]
    assert f.reason == ""
    assert torch.compile(len, disable=True) is len


def test_nested_arguments():
    f = torch.compile(lambda batch: batch["x"] * batch["pair"][0] + batch["pair"][1])
    for k in range(3):
        batch = {"x": torch.tensor([1.0 + k]), "pair": (torch.tensor([2.0]), 3)}
        assert f(batch).item() == 2 * (1 + k) + 3
    assert f.reason == ""
    assert "batch_x" in f.source


def test_methods():
    class Scale:
        def __init__(self, factor):
            self.w = torch.tensor([factor], requires_grad=True)

        @torch.compile
        def __call__(self, x):
            return (x * self.w).sum()

    a, b = Scale(2.0), Scale(3.0)
    for _ in range(3):
        assert a(torch.ones(2)).item() == 4
        b(torch.ones(2)).backward()
    assert b.w.grad.item() == 6
    assert a.w.grad is None
    bound = torch.compile(a.__call__)
    for _ in range(3):
        assert bound(torch.ones(2)).item() == 4


def test_inside_of_one_another_and_of_transformations():
    inner = torch.compile(lambda x: x * x)
    outer = torch.compile(lambda x: inner(x).sum())
    for k in range(3):
        assert outer(torch.full((2,), float(k))).item() == 2 * k * k
    assert outer.reason == ""
    assert torch.func.grad(outer)(torch.tensor([3.0])).item() == 6
    assert torch.vmap(inner)(torch.tensor([1.0, 2.0])).tolist() == [1, 4]
    with torch.inference_mode():
        assert inner(torch.ones(1)).is_inference()


def test_recording_leaves_graphs_from_before_alone():
    w, x = parameter(3), torch.ones(3)
    y = (x * w).sum()

    @torch.compile
    def f():
        return x.clone().mul_(2) + w.exp()

    for _ in range(3):
        f()
    y.backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_journal_shows_no_trial():
    from autodiff_kernel.core import modes
    from autodiff_kernel.core.events import LOG

    f, w = torch.compile(lambda x, w: (x * w).sum()), torch.ones(2)
    modes.set_recording(True)
    try:
        before = len(LOG.records)
        (w * w).sum()
        plain = len(LOG.records) - before
        f(w, w)
        assert len(LOG.records) - before == 2 * plain
    finally:
        modes.set_recording(False)


# ------------------------------------------------------------------------------------------------ the program
def test_source():
    w = torch.tensor([3.0, 4.0], requires_grad=True)

    def f(x):
        y = x * w
        z = y.tanh()
        return z.sum()

    compiled = torch.compile(f)
    compiled(torch.ones(2))
    first = f.__code__.co_firstlineno
    lines = [line.rstrip() for line in compiled.source.splitlines()]
    assert lines == [
        "def forward(x, w):",
        f"    t1 = mul(x, w)                                # line {first + 1}: y = x * w",
        f"    t2 = tanh(t1)                                 # line {first + 2}: z = y.tanh()",
        f"    t3 = sum(t2, p=(None, False))                 # line {first + 3}: return z.sum()",
        "    return (t3,), (t2, x)",
        "",
        "def backward(t2, x, g):",
        f"    t4 = expand(g, p=(2,))                        # backward of line {first + 3}: return z.sum()",
        f"    t5 = mul(t2, t2)                              # backward of line {first + 2}: z = y.tanh()",
        f"    t6 = rsub(t5, 1)                              # backward of line {first + 2}: z = y.tanh()",
        f"    t7 = mul(t4, t6)                              # backward of line {first + 2}: z = y.tanh()",
        f"    t8 = mul(t7, x)                               # backward of line {first + 1}: y = x * w",
        "    return (t8,)",
    ]


def test_no_python_in_between():
    """From the third call on the function itself does not run any more."""

    def f(x):
        return x.sin() * 2

    compiled, ran = torch.compile(f), []
    for _ in range(2):
        compiled(torch.ones(2))
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: ran.append(frame.f_code) if event == "call" else None)
    try:
        y = compiled(torch.zeros(2))
    finally:
        sys.setprofile(before)
    assert y.tolist() == [0, 0]
    assert f.__code__ not in ran
    assert any(code.co_name == "step" for code in ran)


def test_other_code_is_recorded_anew():
    def f(x):
        return x + 1

    compiled = torch.compile(f)
    for _ in range(3):
        assert compiled(torch.ones(1)).item() == 2
    f.__code__ = (lambda x: x + 2).__code__
    assert compiled(torch.ones(1)).item() == 3
