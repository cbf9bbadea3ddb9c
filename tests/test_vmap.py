"""torch.func: vmap and its mixtures with derivatives, against PyTorch's answers; the table; what only we say.

The answers are in data/vmap.json, written by record_vmap.py for the lines of vmap_cases.py.
"""

import json
import pathlib
import warnings

import numpy as np
import pytest
import vmap_cases

import autodiff_kernel as torch
from autodiff_kernel import explain, func
from autodiff_kernel.core import batched, levels
from autodiff_kernel.core.op import TABLE
from autodiff_kernel.func import grad, jacfwd, jacrev, jvp, vjp, vmap

ANSWERS = json.loads((pathlib.Path(__file__).parent / "data" / "vmap.json").read_text(encoding="utf-8"))
X = torch.tensor([[0.5, -1.0, 2.0], [1.5, 3.0, -0.25]])


# ------------------------------------------------------------------------------------------------ PyTorch's answers
def test_every_line_has_an_answer():
    assert list(ANSWERS) == vmap_cases.lines()
    assert len(ANSWERS) > 290


@pytest.mark.parametrize("recording", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("line", vmap_cases.lines())
def test_answers(line, recording):
    """Recording what happens, as the kernel does, changes no answer and reads no sample's value."""
    explain.watch(recording)
    try:
        want, got = ANSWERS[line], vmap_cases.answer(line, torch)
    finally:
        explain.watch(False)
    if isinstance(want, dict):
        assert isinstance(got, dict), f"no error, but {got}"
        assert got["type"] == want["type"]
        phrase = want["message"].split("TreeSpec")[0].split("\n")[0][:75]
        assert phrase in got["message"]
        return
    assert isinstance(got, list), got["message"]
    assert [g[:2] for g in got] == [w[:2] for w in want]
    for (_, _, values), (_, _, wanted) in zip(got, want, strict=True):
        np.testing.assert_allclose(values, wanted, rtol=2e-5, atol=2e-6)
    assert not levels.open_vmaps()


# ------------------------------------------------------------------------------------------------ every mixture
def base(x):
    return torch.sin(x) * x.sum() + x * x


def looped(f):
    return lambda x: torch.stack([f(r) for r in x.unbind()])


STEPS = {
    "v": vmap,
    "g": lambda f: grad(lambda x: f(x).sum()),
    "j": lambda f: lambda x: jvp(f, (x,), (torch.ones_like(x) * 0.5,))[1],
    "r": lambda f: lambda x: jacrev(lambda y: f(y).sum())(x),
    "p": lambda f: lambda x: vjp(f, x)[1](torch.ones_like(x))[0],
}


@pytest.mark.parametrize(
    "word", ["".join(w) for n in (1, 2, 3) for w in __import__("itertools").product("vgjrp", repeat=n)]
)
def test_mixtures_are_those_of_a_loop(word):
    x = torch.tensor([0.5, -1.0, 0.75], dtype=torch.float64)
    for k in range(word.count("v")):
        x = torch.stack([x, x * 0.5 + 0.1 * (k + 1)])
    got, want = base, base
    for letter in reversed(word):
        got = STEPS[letter](got)
        want = looped(want) if letter == "v" else STEPS[letter](want)
    answer = got(x)
    np.testing.assert_allclose(answer.numpy(), want(x).numpy(), rtol=1e-12, atol=1e-13)
    assert not answer.requires_grad


@pytest.mark.parametrize("outer, inner", [(a, b) for a in (jacrev, jacfwd) for b in (jacrev, jacfwd)])
def test_second_derivatives_in_every_order(outer, inner):
    x = torch.tensor([0.5, -1.0, 0.75], dtype=torch.float64)
    f = lambda x: base(x).sum()  # noqa: E731
    want = torch.autograd.functional.hessian(f, x)
    np.testing.assert_allclose(outer(inner(f))(x).numpy(), want.numpy(), rtol=1e-12)
    both = vmap(outer(inner(f)))(torch.stack([x, x * 2]))
    np.testing.assert_allclose(both[0].numpy(), want.numpy(), rtol=1e-12)


def test_backward_through_vmap_reaches_what_the_function_captured():
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    vmap(lambda x: (x * w).sum())(X).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0, 1.75]
    each = vmap(grad(lambda x: (x * w).sum() ** 2))(X)
    assert each.requires_grad
    (g,) = torch.autograd.grad(each.sum(), w)
    loop = torch.stack([grad(lambda x: (x * w).sum() ** 2)(x) for x in X])
    assert torch.equal(g, torch.autograd.grad(loop.sum(), w)[0])


def test_a_gradient_has_history_only_where_somebody_asks_for_it():
    x = X.clone().requires_grad_()
    assert vmap(grad(lambda x: x.prod()))(x).requires_grad
    with torch.no_grad():
        assert not vmap(grad(lambda x: x.prod()))(x).requires_grad
    assert not vmap(grad(lambda x: x.prod()))(X).requires_grad


# ------------------------------------------------------------------------------------------------ the loop
def test_rows_without_a_word_run_sample_by_sample_and_say_so_once():
    batched.warned.discard("histc")
    f = vmap(lambda x: torch.histc(x, 4, -1, 3))
    with pytest.warns(UserWarning, match="performance drop because we have not yet implemented the batching rule for "
                                         "aten::histc"):  # fmt: skip
        got = f(X)
    assert torch.equal(got, torch.stack([torch.histc(x, 4, -1, 3) for x in X]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(X)


def test_the_loop_is_differentiable_and_knows_no_samples():
    f = vmap(lambda x: x.median())
    assert func.grad(lambda x: f(x).sum())(X).tolist() == [[1, 0, 0], [1, 0, 0]]
    assert f(torch.zeros(0, 3)).shape == (0,)


def test_results_of_different_shapes_make_no_tensor():
    with pytest.raises(
        RuntimeError, match="stack expects each tensor to be equal size, but got .* at entry 0 and"
    ):
        vmap(torch.bincount)(torch.tensor([[0, 1], [0, 5]]))


# ------------------------------------------------------------------------------------------------ nests of arguments
def test_named_tuples_and_other_containers():
    from collections import OrderedDict, defaultdict, deque, namedtuple

    Pair = namedtuple("Pair", "a b")
    out = vmap(lambda p: Pair(p.b, p.a.sum()))(Pair(X, X * 2))
    assert isinstance(out, Pair) and torch.equal(out.a, X * 2) and torch.equal(out.b, X.sum(1))
    out = vmap(lambda d: OrderedDict(z=d["k"], a=d["k"] + 1))(defaultdict(list, k=X))
    assert list(out) == ["z", "a"] and torch.equal(out["a"], X + 1)
    out = vmap(lambda q: deque([q[0] * q[1]]))(deque([X, X]))
    assert isinstance(out, deque) and torch.equal(out[0], X * X)
    top = vmap(lambda x: x.max(0))(X)
    assert top.values.tolist() == [2.0, 3.0] and top.indices.tolist() == [2, 1]


# ------------------------------------------------------------------------------------------------ what is left behind
def test_errors_inside_leave_no_vmap_open():
    def broken(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vmap(vmap(broken))(X)
    assert not levels.open_vmaps() and not levels.mapping
    torch.randn(3)  # allowed again


def test_a_vmap_belongs_to_its_thread():
    import threading

    found = []

    def inside(x):
        thread = threading.Thread(target=lambda: found.append(torch.rand(2).shape))
        thread.start()
        thread.join()
        return x

    vmap(inside)(X)
    assert found == [(2,)]


def test_printing_shows_all_samples():
    shown = []
    vmap(lambda x: (shown.append(repr(x)), x)[1])(torch.ones(2, 1))
    assert shown == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1.],\n            [1.]])\n)"]
    vmap(lambda x: jvp(lambda y: (shown.append(repr(y)), y)[1], (x,), (x,))[1])(torch.ones(2, 1))
    assert shown[1].startswith("GradTrackingTensor(lvl=2, value=\n    BatchedTensor(lvl=1, bdim=0, value=")


def test_a_sample_has_a_form():
    def form(x):
        assert x.shape == (3,) and x.dim() == 1 and x.numel() == len(x) == 3 and x.size(0) == 3
        assert x.dtype == torch.float32 and x.device.type == "cpu" and x.element_size() == 4
        assert x.stride() == (1,) and x.is_contiguous() and not x.is_complex() and x.nbytes == 12
        return x

    vmap(form)(X)
    vmap(lambda x: [pytest.fail() if x.is_contiguous() else x][0], 1)(torch.ones(2, 3, 4).transpose(0, 2))


def test_in_place_changes_reach_the_tensor_that_was_mapped():
    x = X.clone()
    vmap(lambda r: r[0].mul_(10))(x)
    assert x[:, 0].tolist() == [5.0, 15.0]


def test_gpu_tensors_stay_where_they_are():
    torch.cuda.simulate(1)
    try:
        x, w = X.cuda(), torch.tensor([1.0, 2.0, 3.0]).cuda()
        f = lambda w, x: torch.tanh(x * w).sum() ** 2  # noqa: E731
        for g in (f, grad(f), jacrev(f), jacfwd(f)):
            got = vmap(g, (None, 0))(w, x)
            assert got.is_cuda
            np.testing.assert_allclose(got.cpu().numpy(), vmap(g, (None, 0))(w.cpu(), X).numpy(), rtol=1e-5)
    finally:
        torch.cuda.simulate(0)


# ------------------------------------------------------------------------------------------------ jacobians, cotangents
def test_batches_of_cotangents():
    x, z = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.ones(2, requires_grad=True)
    y = x**3
    (g,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    assert g.tolist() == [[3, 0, 0], [0, 12, 0], [0, 0, 27]]
    g, unused = torch.autograd.grad(
        y, (x, z), torch.eye(3)[:2], True, allow_unused=True, is_grads_batched=True
    )
    assert g.shape == (2, 3) and unused is None
    _, unused = torch.autograd.grad(
        y, (x, z), torch.eye(3)[:2], True, is_grads_batched=True, materialize_grads=True
    )
    assert unused.tolist() == [0, 0]
    (g,) = torch.autograd.grad(y, x, torch.eye(3), create_graph=True, is_grads_batched=True)
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [6, 12, 18]


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_vectorized_jacobians_equal_the_loop(strategy):
    f = lambda x, z: (x * z.sum(), (x**2).sum())  # noqa: E731
    x, z = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 5.0])
    want = torch.autograd.functional.jacobian(f, (x, z))
    got = torch.autograd.functional.jacobian(f, (x, z), vectorize=True, strategy=strategy)
    for g, w in zip(got, want, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(g, w, strict=True))


def test_jacrev_falls_back_to_a_loop():
    class Clipped(torch.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2 if g.abs().sum().item() > 0 else g

    x = torch.tensor([1.0, 2.0])
    assert jacrev(Clipped.apply)(x).tolist() == [[2, 0], [0, 2]]


def test_rows_of_a_jacobian_share_one_run_of_the_function():
    runs = []

    def f(x):
        runs.append(1)
        return x**2

    for derive in (jacrev, jacfwd, lambda f: func.linearize(f, torch.ones(3))[1]):
        runs.clear()
        derive(f)(torch.ones(3))
        assert len(runs) == 1


def test_writing_samples_into_a_constant():
    def g(x):
        out = torch.zeros(3)
        out[0] = x[1] * 2
        out[1:] += x[1:] ** 2
        return out

    x = torch.tensor([0.5, 1.25, 2.0])
    want = [[0, 2, 0], [0, 2.5, 0], [0, 0, 4]]
    assert jacfwd(g)(x).tolist() == want and jacrev(g)(x).tolist() == want
    assert func.hessian(lambda x: g(x).sum())(x).tolist() == [[0, 0, 0], [0, 2, 0], [0, 0, 2]]
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(g)(torch.stack([x, x]))


@pytest.mark.parametrize(
    "mode",
    [
        torch.inference_mode,
        torch.no_grad,
        torch.autograd.detect_anomaly,
        lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ],
    ids=["inference", "no_grad", "anomaly", "saved tensors' hooks"],
)
def test_transforms_work_in_every_mode(mode):
    def g(x):
        return x**2 * x.sum()

    def transforms():
        return [
            vmap(grad(lambda x: g(x).sum()))(X),
            jvp(g, (X[0],), (X[1],))[1],
            jacfwd(g)(X[0]),
            jacrev(g)(X[0]),
            func.hessian(lambda x: g(x).sum())(X[0]),
        ]

    want = [y.tolist() for y in transforms()]
    with mode(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [y.tolist() for y in transforms()] == want


@pytest.mark.filterwarnings("ignore")
def test_anomaly_mode_finds_the_nan_of_a_sample():
    def g(x):
        return x.sqrt() * 0 + x

    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    with torch.autograd.detect_anomaly():
        for derived in (lambda: vmap(grad(lambda x: g(x).sum()))(x), lambda: jacrev(g)(x[0])):
            with pytest.raises(
                RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"
            ):
                derived()


def test_jacobians_of_nothing():
    for derive in (jacrev, jacfwd):
        assert derive(lambda x: x * 2)(torch.zeros(0)).shape == (0, 0)
        assert derive(lambda x: x[:0])(torch.ones(3)).shape == (0, 3)


def test_rows_are_batched_by_a_word():
    assert (
        TABLE["mul"].batch == "elementwise"
        and TABLE["mm"].batch == "ij,jk->ik"
        and TABLE["sum"].batch == "reduction"
    )
