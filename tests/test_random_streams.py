"""Random numbers: the streams that record_streams.py recorded from PyTorch, generators and states, and the errors."""

import copy
import hashlib
import json
import math
import pathlib
import pickle
import random as python_random
import sys
from fractions import Fraction

import numpy as np
import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import distributions, rounding
from autodiff_kernel.core.random import Engine

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "streams.json").read_text())


LARGE = (
    "5b2db74a962f68daf4b59cf93851e3cd19d6f34a1c1efd8fe8254fd08d9ff604"  # of PyTorch's torch.randn(200_000)
)


def wanted(out):
    values = [float.fromhex(v) if isinstance(v, str) else v for v in out["values"]]
    if out["dtype"].startswith("complex"):
        values = np.array(values).view(complex)
    return np.array(values).astype(out["dtype"]).reshape(out["shape"])


def same(got, want):
    """Bit for bit with the C library that PyTorch was recorded with; elsewhere its last digits may differ."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if sys.platform == "linux" or want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=8 * np.finfo(want.dtype).eps)


# --- streams -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", DATA["draws"], ids=lambda case: case["call"])
def test_draws_are_pytorchs(case):
    torch.manual_seed(case["seed"])
    out = eval(case["call"])
    outs = out if isinstance(out, list) else [out]
    for got, want in zip(outs, case["out"], strict=True):
        same(got.numpy(), wanted(want))
    assert torch.rand(1).item() == float.fromhex(case["next"]), "the stream stands at another place"


@pytest.mark.parametrize("case", DATA["states"], ids=lambda case: case["call"])
def test_states_are_pytorchs(case):
    torch.manual_seed(77)
    eval(case["call"])
    state = torch.get_rng_state()
    assert state.dtype is torch.uint8 and state.shape == (5056,)
    if sys.platform == "linux" or "randn" not in case["call"]:
        assert hashlib.sha256(state.numpy().tobytes()).hexdigest() == case["sha256"]


def test_large_normal_draws():
    """What no small recorded case reaches: many blocks, hence all branches of the polynomials."""
    torch.manual_seed(3)
    x = torch.randn(200_000).numpy()
    u = Engine(3)
    unit = distributions.unit24(u, 200_000).reshape(-1, 2, 8).astype(np.float64)
    radius, angle = np.sqrt(-2 * np.log(1 - unit[:, 0])), 2 * math.pi * unit[:, 1]
    exact = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()
    np.testing.assert_allclose(x, exact, rtol=1e-5, atol=1e-6)
    assert hashlib.sha256(x.astype("<f4").tobytes()).hexdigest() == LARGE


def test_integer_draws_may_have_any_end():
    numbers = torch.empty(1000, dtype=torch.int64).random_(-(2**63), 2**63 - 1).numpy()
    assert numbers.min() < -(2**61) and numbers.max() > 2**61
    assert set(torch.randint(2, (50,), dtype=torch.bool).tolist()) == {False, True}


# --- fused multiply-add ------------------------------------------------------------------------------------


def fused_by_fractions(x, scale, offset, kind):
    exact = Fraction(float(x)) * Fraction(float(scale)) + Fraction(float(offset))
    if kind is np.float64:
        return float(exact)  # Python rounds a Fraction once
    near = np.float32(float(exact))
    candidates = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    distance = [abs(Fraction(float(c)) - exact) for c in candidates]
    best = [c for c, d in zip(candidates, distance, strict=True) if d == min(distance)]
    return best[0] if len(best) == 1 else next(c for c in best if not c.view(np.uint32) & 1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_affine_rounds_once(kind):
    rng = np.random.default_rng(0)
    for size in (1.0, 1e-30, 1e20):
        for _ in range(20):
            x = rng.random(50).astype(kind)
            scale, offset = (kind(v * size) for v in rng.normal(size=2))
            want = [fused_by_fractions(v, scale, offset, kind) for v in x]
            assert rounding.affine(x, scale, offset).tolist() == want


def test_affine_looks_past_float64():
    """Products that lie a hair beside a tie between two float32, too near for a float64 sum to show it."""
    below = np.float32(1 + 2.0**-20), np.float32(2.0**-24 * (1 - 2.0**-20))  # 2^-24 (1 - 2^-40)
    above = np.float32(1 + 2.0**-12), np.float32(2.0**-24 * (1 - 2.0**-12 + 2.0**-24))  # 2^-24 (1 + 2^-36)
    ulp = 2.0**-23
    for (x, scale), offset, want in [(below, 1 + ulp, 1 + ulp), (above, 1.0, 1 + ulp), (below, 1.0, 1.0)]:
        assert float(x) * float(scale) + offset in (1 + ulp / 2, 1 + 1.5 * ulp), "a tie in float64"
        assert rounding.affine(np.array([x]), scale, offset)[0] == want


# --- generators and states ---------------------------------------------------------------------------------


def test_generators_are_independent():
    g = torch.Generator().manual_seed(5)
    torch.manual_seed(5)
    first = torch.rand(4)
    assert torch.rand(4, generator=g).tolist() == first.tolist()
    assert torch.rand(4, generator=g).tolist() == torch.rand(4).tolist()
    assert torch.Generator().initial_seed() == 67280421310721
    assert g.initial_seed() == 5 and str(g.device) == "cpu" and repr(g) == "<torch.Generator of cpu, seed 5>"


def test_only_the_low_half_of_a_seed_matters():
    torch.manual_seed(2**32 + 9)
    assert torch.initial_seed() == 2**32 + 9
    assert torch.rand(2).tolist() == torch.rand(2, generator=torch.Generator().manual_seed(9)).tolist()
    torch.manual_seed(-1)
    assert torch.initial_seed() == 2**64 - 1


def test_seed_is_new_each_time():
    a, b = torch.seed(), torch.seed()
    assert a != b and torch.initial_seed() == b
    g = torch.Generator()
    assert g.seed() == g.initial_seed()


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), torch.Generator.clone_state]
)
def test_copies_continue_where_the_original_stands(copied):
    g = torch.Generator().manual_seed(1)
    torch.randn(3, generator=g)  # leaves a spare normal number
    twin = copied(g)
    assert twin is not g and twin.initial_seed() == 1
    assert torch.randn(5, generator=twin).tolist() == torch.randn(5, generator=g).tolist()


def test_states_restore_the_middle_of_a_block():
    rng = python_random.Random(0)
    for _ in range(10):
        torch.manual_seed(rng.getrandbits(40))
        torch.rand(rng.randrange(2000))
        torch.randn(rng.randrange(15))
        state = torch.get_rng_state()
        expected = torch.randn(7).tolist() + torch.rand(700).tolist()
        torch.set_rng_state(state)
        assert torch.get_rng_state().tolist() == state.tolist()
        assert torch.randn(7).tolist() + torch.rand(700).tolist() == expected


def test_fork_rng_puts_the_stream_back():
    torch.manual_seed(0)
    with torch.random.fork_rng():
        inside = torch.rand(3).tolist()
    assert torch.rand(3).tolist() == inside
    with torch.random.fork_rng(enabled=False):
        moved = torch.rand(1).item()
    torch.manual_seed(0)
    assert torch.rand(4)[3].item() == moved


def test_gpus_draw_the_numbers_of_the_cpu():
    torch.cuda.simulate(2)
    try:
        torch.manual_seed(4)
        on_cpu = torch.randn(20)
        with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
            torch.rand(2, device="cuda", generator=torch.Generator())
        for number in (0, 1):
            x = torch.randn(20, device=f"cuda:{number}")
            assert x.is_cuda and x.cpu().tolist() == on_cpu.tolist()
        g = torch.Generator("cuda:1").manual_seed(4)
        x = torch.empty(4, 5, device="cuda:1").normal_(generator=g)
        assert x.cpu().tolist() == on_cpu.reshape(4, 5).tolist()
        with torch.random.fork_rng():
            inside = torch.rand(2, device="cuda:1").tolist()
        assert torch.rand(2, device="cuda:1").tolist() == inside
    finally:
        torch.cuda.simulate(0)


# --- tensors -----------------------------------------------------------------------------------------------


def test_draws_in_place_are_operations():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        x.uniform_()
    before = torch.get_rng_state().tolist()
    y = x * 2
    z = y * 1
    assert y.normal_() is y and y.grad_fn.name() == "NormalBackward0"
    (y + z).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]  # through z only
    assert torch.get_rng_state().tolist() != before


def test_no_gradient_reaches_the_parameters_of_a_draw():
    mean, p = torch.zeros(2, 1, requires_grad=True), torch.tensor([0.5, 0.5], requires_grad=True)
    x = torch.normal(mean, torch.ones(3))
    assert x.shape == (2, 3) and x.requires_grad
    (x.sum() + torch.bernoulli(p).sum()).backward()
    assert mean.grad.tolist() == [[0.0], [0.0]] and p.grad.tolist() == [0.0, 0.0]


def test_a_draw_changes_views_and_version():
    x = torch.zeros(4)
    view, version = x[1:3], x._version
    view.uniform_(1, 2)
    assert [v > 0 for v in x.tolist()] == [False, True, True, False] and x._version == version + 1


def test_like_keeps_dtype_layout_and_grad():
    x = torch.empty(3, 4, dtype=torch.float64).t()
    assert torch.rand_like(x).stride() == x.stride() == (1, 4)
    assert torch.randn_like(x, dtype=torch.float32).dtype is torch.float32
    assert torch.rand_like(x, requires_grad=True).requires_grad
    assert torch.randint_like(x, 5).dtype is torch.float64


def test_sizes_and_out():
    assert torch.rand(2, 3).shape == torch.rand((2, 3)).shape == torch.rand(size=[2, 3]).shape == (2, 3)
    assert (
        torch.randint(low=1, high=2, size=(2,)).tolist() == torch.randint(high=1, size=(2,)).add(1).tolist()
    )
    out = torch.empty(2)
    assert torch.rand(2, out=out) is out
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.randn(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_probability_zero_and_one():
    assert (
        torch.empty(20).bernoulli_(0).sum().item() == 0 and torch.empty(20).bernoulli_(1).sum().item() == 20
    )
    assert torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 5, replacement=True).tolist() == [1] * 5
    assert sorted(torch.multinomial(torch.tensor([1.0, 2.0, 3.0]), 3).tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    "call, error, text",
    [
        ("torch.manual_seed(2**64)", ValueError, "Overflow when unpacking long long"),
        ("torch.Generator().manual_seed('1')", RuntimeError, "manual_seed expected a long, but got str"),
        ("torch.Generator().manual_seed(1.5)", RuntimeError, "but got float"),
        (
            "torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))",
            RuntimeError,
            "Expected a CPUGeneratorImplState",
        ),
        ("torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))", RuntimeError, "Invalid mt19937 state"),
        ("torch.set_rng_state(torch.zeros(5056))", TypeError, "RNG state must be a torch.ByteTensor"),
        ("torch.set_rng_state([1])", TypeError, "expected a torch.ByteTensor, but got list"),
        ("torch.rand(2, generator=5)", TypeError, "must be torch.Generator, not int"),
        ("torch.rand()", TypeError, "rand"),
        ("torch.rand(-1)", RuntimeError, "negative dimension -1"),
        ("torch.rand(2, dtype=torch.int64)", NotImplementedError, "not implemented for 'Long'"),
        (
            "torch.randn(2, dtype=torch.bool)",
            NotImplementedError,
            "\"normal_kernel_cpu\" not implemented for 'Bool'",
        ),
        ("torch.rand(2).uniform_(3, 1)", RuntimeError, "found from=3 > to=1"),
        ("torch.rand(2).uniform_(0, math.inf)", RuntimeError, "to is out of bounds"),
        ("torch.rand(2).normal_(0, -1)", RuntimeError, "normal expects std >= 0.0, but found std -1"),
        ("torch.rand(2).normal_('a')", TypeError, "must be float, not str"),
        ("torch.rand(2).exponential_(0)", RuntimeError, "expects lambda > 0.0"),
        (
            "torch.empty(2, dtype=torch.int64).exponential_()",
            RuntimeError,
            "continuous probability distribution",
        ),
        ("torch.rand(2).geometric_(1)", RuntimeError, "expects p to be in .0, 1., but got p=1"),
        ("torch.rand(2).cauchy_(0, -1)", RuntimeError, "expects sigma > 0.0"),
        ("torch.rand(2).log_normal_(0, 0)", RuntimeError, "expects std > 0.0"),
        ("torch.rand(2).bernoulli_(2)", RuntimeError, "expects p to be in .0, 1., but got p=2"),
        ("torch.bernoulli(torch.tensor([2.0]))", RuntimeError, "Expected p_in >= 0 && p_in <= 1"),
        ("torch.bernoulli(torch.tensor([1]))", NotImplementedError, "not implemented for 'Long'"),
        ("torch.rand(2).bernoulli_(torch.rand(3))", RuntimeError, "must match the existing size"),
        ("torch.rand(2).random_(5, 5)", RuntimeError, "'from' to be less than 'to', but got from=5 >= to=5"),
        ("torch.randint(0, 300, (2,), dtype=torch.uint8)", RuntimeError, "to - 1 is out of bounds"),
        ("torch.randint(3)", TypeError, "expected .high, size."),
        ("torch.randint(3, 2)", TypeError, "'size' must be tuple of ints, not int"),
        ("torch.randint(1.5, (2,))", TypeError, "must be int, not float"),
        ("torch.randperm(-1)", RuntimeError, "negative dimension"),
        ("torch.randperm(300, dtype=torch.uint8)", RuntimeError, "without overflow"),
        ("torch.normal(0.0, 1.0)", TypeError, "needs a size"),
        ("torch.normal(torch.zeros(2), -torch.ones(2))", RuntimeError, "all elements of std >= 0.0"),
        ("torch.normal(torch.zeros(2), torch.ones(3))", RuntimeError, "size of tensor a .2. must match"),
        ("torch.multinomial(torch.ones(3), 4)", RuntimeError, "cannot sample n_sample > prob_dist.size"),
        ("torch.multinomial(torch.ones(3), 0)", RuntimeError, "cannot sample n_sample <= 0"),
        ("torch.multinomial(torch.zeros(3), 2)", RuntimeError, "sum of probabilities <= 0"),
        ("torch.multinomial(torch.tensor([1.0, -1.0]), 2)", RuntimeError, "element < 0"),
        ("torch.multinomial(torch.tensor([1.0, -1.0]), 2, True)", RuntimeError, "probability entry < 0"),
        ("torch.multinomial(torch.ones(2, 2, 2), 1)", RuntimeError, "prob_dist must be 1 or 2 dim"),
    ],
)
def test_errors_are_pytorchs(call, error, text):
    with pytest.raises(error, match=text):
        eval(call)


def test_floats_that_skip_whole_numbers_warn():
    with pytest.warns(UserWarning, match="skips whole numbers"):
        torch.empty(2).random_(0, 2**30)


def test_what_only_cuda_generators_have():
    g = torch.Generator()
    for name, arguments in (("get_offset", ()), ("set_offset", (3,))):
        with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
            getattr(g, name)(*arguments)
    for name, arguments in (("graphsafe_get_state", ()), ("graphsafe_set_state", (g,))):
        with pytest.raises(NotImplementedError, match=f"{name} is not supported in this Generator"):
            getattr(g, name)(*arguments)


def test_integers_that_a_dtype_does_not_have():
    with pytest.raises(RuntimeError, match="to - 1 is out of bounds for unsigned char"):
        torch.randint(300, (2,), dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="from is out of bounds for short int"):
        torch.empty(2, dtype=torch.int16).random_(-(2**20), 5)
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.randperm(300, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="multinomial expects Long tensor out, got: Float"):
        torch.multinomial(torch.ones(2), 1, out=torch.empty(1))
