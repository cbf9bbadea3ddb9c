"""torch.distributions: what record_distributions.py recorded from PyTorch, and checks, gradients, transforms, errors."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import autodiff_kernel as torch

d, t = torch.distributions, torch.tensor
DATA = json.loads((pathlib.Path(__file__).parent / "data" / "distributions.json").read_text())
# Their samples pass through exp, log or tanh in single precision, whose last bit is the library's.
LAST_BIT = (
    "Transformed", "LogNormal", "Gumbel", "Pareto", "Weibull", "Relaxed", "ContinuousB", "InverseGamma", "LogisticN",
    "Kumaraswamy", "Laplace",
)  # fmt: skip


def wanted(recorded):
    values = [float.fromhex(v) if isinstance(v, str) else v for v in recorded["values"]]
    return np.array(values).astype(recorded["dtype"]).reshape(recorded["shape"])


def close(got, recorded, rtol=2e-6):
    want = wanted(recorded)
    got = got.detach().numpy()
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-6)


def made(call):
    return eval(call, {"torch": torch, "d": d, "t": t})


each = pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["call"])


@each
def test_samples_are_pytorchs(case):
    torch.manual_seed(7)
    sample = made(case["call"]).sample((3,))
    assert not sample.requires_grad
    if sys.platform == "linux" and not any(name in case["call"] for name in LAST_BIT):
        np.testing.assert_array_equal(sample.numpy(), wanted(case["sample"]))
    close(sample, case["sample"])
    assert torch.rand(1).item() == float.fromhex(case["next"]), "the stream stands at another place"


@each
def test_texts_and_shapes_are_pytorchs(case):
    one = made(case["call"])
    assert [repr(one), repr(one.support), list(one.batch_shape), list(one.event_shape)] == case["text"]


@each
@pytest.mark.parametrize("name", ["log_prob", "cdf", "entropy", "perplexity", "enumerate_support"])
def test_answers_are_pytorchs(case, name):
    one = made(case["call"])
    arguments = [torch.from_numpy(wanted(case["sample"]))] if name in ("log_prob", "cdf") else []
    if case[name] == "NotImplementedError":
        with pytest.raises(NotImplementedError):
            getattr(one, name)(*arguments)
    else:
        close(getattr(one, name)(*arguments), case[name], 2e-5 if "ContinuousB" in case["call"] else 4e-6)


@each
@pytest.mark.parametrize("name", ["mean", "variance", "stddev", "mode"])
def test_moments_are_pytorchs(case, name):
    one = made(case["call"])
    if case[name] == "NotImplementedError":
        with pytest.raises(NotImplementedError):
            getattr(one, name)
    else:
        close(getattr(one, name), case[name], 2e-5 if "ContinuousB" in case["call"] else 2e-6)


@each
def test_expanding_repeats_the_batch(case):
    one = made(case["call"])
    value = torch.from_numpy(wanted(case["sample"]))
    larger = one.expand((3, *one.batch_shape))
    assert larger.batch_shape == (3, *one.batch_shape) and larger.event_shape == one.event_shape
    assert type(larger) is type(one) and larger.sample((2,)).shape == (
        2,
        3,
        *one.batch_shape,
        *one.event_shape,
    )
    np.testing.assert_array_equal(larger.log_prob(value).detach(), one.log_prob(value).detach())


@pytest.mark.parametrize("case", DATA["pairs"], ids=lambda case: f"{case['p']} {case['q']}")
def test_divergences_are_pytorchs(case):
    close(d.kl_divergence(made(case["p"]), made(case["q"])), case["kl"], 1e-5)


# --- gradients ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "family",
    [d.Normal, d.Laplace, d.Cauchy, d.Gumbel, d.LogNormal, d.Gamma, d.Beta, d.Weibull, d.Pareto, d.Uniform],
)
def test_samples_move_with_their_parameters(family):
    """Where F(x; a, b) is known: dx/da = −(∂F/∂a)/(∂F/∂x), the sample stays at its quantile."""
    first = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    second = torch.tensor(1.9, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(1)
    x = family(first, second).rsample()
    assert x.requires_grad
    slopes = torch.autograd.grad(x, (first, second))
    if family is d.Beta:
        assert slopes[0] > 0 > slopes[1]
        return
    value = x.detach().requires_grad_()
    a, b = (p.detach().requires_grad_() for p in (first, second))
    if (
        family is d.Gamma
    ):  # the derivative of igamma for its first argument has no formula: a difference quotient
        step = 1e-6
        by_a = (family(a + step, b).cdf(value) - family(a - step, b).cdf(value)) / (2 * step)
        wanted_slope = -by_a / family(a, b).log_prob(value).exp()
        assert slopes[0].item() == pytest.approx(wanted_slope.item(), rel=1e-3)
        return
    by_a, by_b, by_x = torch.autograd.grad(family(a, b).cdf(value), (a, b, value))
    assert slopes[0].item() == pytest.approx((-by_a / by_x).item())
    assert slopes[1].item() == pytest.approx((-by_b / by_x).item())


def test_the_score_function_learns():
    """REINFORCE, the lesson of the manual: the probability of the rewarded action rises."""
    torch.manual_seed(0)
    logits = torch.zeros(3, requires_grad=True)
    for _ in range(100):
        m = d.Categorical(logits=logits)
        action = m.sample()
        loss = -m.log_prob(action) * (action == 2).float()
        (g,) = torch.autograd.grad(loss, logits)
        with torch.no_grad():
            logits -= 0.3 * g
    assert d.Categorical(logits=logits).probs[2] > 0.9


def test_straight_through():
    probs = t([0.2, 0.8], requires_grad=True)
    y = d.OneHotCategoricalStraightThrough(probs).rsample()
    assert y.detach().tolist() in ([0.0, 1.0], [1.0, 0.0])
    (y * t([1.0, 3.0])).sum().backward()
    np.testing.assert_allclose(probs.grad, [-1.6, 0.4], rtol=1e-6)


# --- transforms and constraints ----------------------------------------------------------------------------

NUMBERS = ["ExpTransform()", "SigmoidTransform()", "TanhTransform()", "SoftplusTransform()",
           "AffineTransform(1., -2.)", "ComposeTransform([d.AffineTransform(1., 2.), d.ExpTransform()])",
           "CumulativeDistributionTransform(d.Normal(0., 1.))", "SigmoidTransform().inv.inv"]  # fmt: skip


@pytest.mark.parametrize("call", NUMBERS)
def test_transforms_know_their_slope_and_inverse(call):
    transform = made("d." + call)
    x = torch.linspace(-2, 2, 9, dtype=torch.float64).requires_grad_()
    y = transform(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(transform.log_abs_det_jacobian(x, y).detach(), slope.abs().log(), atol=1e-9)
    np.testing.assert_allclose(transform.inv(y).detach(), x.detach(), atol=1e-9)
    assert (slope.sign() == transform.sign).all() and transform.inv.inv is transform and transform.bijective


@pytest.mark.parametrize("call", ["StickBreakingTransform()", "CorrCholeskyTransform()"])
def test_transforms_of_vectors_know_their_determinant(call):
    transform = made("d." + call)
    x = t([0.3, -1.0, 0.8], dtype=torch.float64)

    def free(x):  # the coordinates that the last shares follow from are no part of the determinant
        y = transform(x)
        return y[:-1] if y.dim() == 1 else torch.stack([y[1, 0], y[2, 0], y[2, 1]])

    jacobian = torch.autograd.functional.jacobian(free, x)
    y = transform(x)
    assert transform.log_abs_det_jacobian(x, y).item() == pytest.approx(jacobian.det().abs().log().item())
    np.testing.assert_allclose(transform.inv(y), x, atol=1e-9)
    assert transform.codomain.check(y.float()) and transform.inverse_shape(transform.forward_shape((3,))) == (
        3,
    )


CONSTRAINTS = ["real", "positive", "nonnegative", "unit_interval", "interval(-1., 4.)", "greater_than(3.)",
               "less_than(-1.)", "simplex", "corr_cholesky", "lower_cholesky", "positive_definite",
               "independent(d.constraints.positive, 1)", "cat([d.constraints.positive, d.constraints.real], -1, [1, 2])",
               "stack([d.constraints.positive, d.constraints.real, d.constraints.unit_interval], 0)"]  # fmt: skip


@pytest.mark.parametrize("call", CONSTRAINTS)
@pytest.mark.parametrize("registry", ["transform_to", "biject_to"])
def test_registries_lead_into_the_constraint(call, registry):
    constraint = made("d.constraints." + call)
    if registry == "biject_to" and call in ("lower_cholesky", "positive_definite"):
        with pytest.raises(NotImplementedError, match="Cannot transform _.* constraints"):
            d.biject_to(constraint)
        return
    transform = getattr(d, registry)(constraint)
    y = transform(t([[0.3, -2.0, 1.0], [1.0, 0.5, 0.0], [-0.4, 0.7, 0.2]]))
    assert constraint.check(y).all()
    np.testing.assert_allclose(transform(transform.inv(y)), y, atol=1e-5)


def test_transforms_remember_and_compare():
    cached = d.TanhTransform(cache_size=1)
    x = t([30.0])
    assert cached.inv(cached(x)) is x, "atanh(1) would be inf"
    assert d.ExpTransform() == d.ExpTransform() != d.TanhTransform()
    assert d.AffineTransform(1, t([2.0])) == d.AffineTransform(1, t([2.0])) != d.AffineTransform(1, 3)
    assert repr(d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0, 1).inv])) == (
        "ComposeTransform(\n    ExpTransform(),\n    _InverseTransform(AffineTransform())\n)"
    )
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        d.ExpTransform(cache_size=2)


# --- errors ------------------------------------------------------------------------------------------------

ERRORS = [
    ("d.Normal(0., -1.)", ValueError,
     r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal\(loc: 0.0, scale: -1.0\) to satisfy "
     r"the constraint GreaterThan\(lower_bound=0.0\), but found invalid values:\n-1.0"),
    ("d.Normal('a', 1.)", ValueError, "Input arguments must all be instances of Number"),
    ("d.Bernoulli()", ValueError, "Either `probs` or `logits` must be specified, but not both."),
    ("d.Bernoulli(1.5)", ValueError, r"to satisfy the constraint Interval\(lower_bound=0.0, upper_bound=1.0\)"),
    ("d.Categorical(t(.5))", ValueError, "`probs` parameter must be at least one-dimensional."),
    ("d.Categorical(t([.5, .5])).log_prob(t(2))", ValueError,
     r"to be within the support \(IntegerInterval\(lower_bound=0, upper_bound=1\)\) of the distribution "
     r"Categorical\(probs: torch.Size\(\[2\]\)\), but found invalid values:\n2"),
    ("d.Uniform(2., 1.)", ValueError, "Expected parameter low"),
    ("d.Normal(torch.zeros(2), 1.).log_prob(torch.zeros(3))", ValueError,
     "Value is not broadcastable with batch_shape"),
    ("d.Dirichlet(torch.ones(2)).log_prob(torch.ones(3))", ValueError,
     "The right-most size of value must match event_shape"),
    ("d.Normal(0., 1.).log_prob(.5)", ValueError, "The value argument to log_prob must be a Tensor"),
    ("d.MultivariateNormal(torch.zeros(2))", ValueError, "Exactly one of covariance_matrix or"),
    ("d.MultivariateNormal(torch.zeros(2), t([[1., 2.], [2., 1.]]))", ValueError, r"PositiveDefinite\(\)"),
    ("d.Geometric(t([0., .5]))", ValueError, "to be positive but found invalid values"),
    ("d.Multinomial(t(3), torch.ones(2))", NotImplementedError, "inhomogeneous total_count is not supported"),
    ("d.Poisson(2.).rsample()", NotImplementedError, "^$"),
    ("d.Independent(d.Normal(0., 1.), 1)", ValueError, "Expected reinterpreted_batch_ndims <= "),
    ("d.kl_divergence(d.Cauchy(0., 1.), d.Normal(0., 1.))", NotImplementedError,
     r"No KL\(p \|\| q\) is implemented for p type Cauchy and q type Normal"),
    ("d.TransformedDistribution(d.Normal(0., 1.), 3)", ValueError, "transforms must be a Transform or list, but was 3"),
    ("d.MixtureSameFamily(3, 4)", ValueError, "The Mixture distribution needs to be"),
    ("d.Binomial(t([1., 2.]), t([.5])).entropy()", NotImplementedError, "Inhomogeneous total count not supported by"),
    ("d.register_kl(int, d.Normal)", TypeError, "Expected type_p to be a Distribution subclass"),
    ("d.utils.vec_to_tril_matrix(torch.ones(4))", ValueError, "cannot be expressed as the lower triangular part"),
]  # fmt: skip


@pytest.mark.parametrize("call, kind, words", ERRORS, ids=lambda x: x if isinstance(x, str) else "")
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        made(call)


def test_checks_can_be_switched_off():
    assert torch.isnan(d.Normal(0.0, 1.0, validate_args=False).log_prob(t(float("nan"))))
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale.item() == -1
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        d.Distribution.set_default_validate_args(3)


def test_a_distribution_of_ones_own():
    class Shifted(d.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    class Bare(d.Distribution):
        pass

    assert d.kl_divergence(Shifted(0.0), d.Normal(1.0, 1.0)).item() == 0.5
    with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
        Shifted(0.0).expand((2,))
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        Bare()

    class Wide(d.Normal):
        pass

    d.register_kl(Wide, d.Normal)(lambda p, q: t(7.0))
    assert type(Wide(0.0, 1.0).expand((2,))) is Wide
    assert d.kl_divergence(Wide(0.0, 1.0), d.Normal(0.0, 1.0)).item() == 7


def test_old_names():
    with pytest.warns(FutureWarning, match="sample_n"):
        assert d.Normal(0.0, 1.0).sample_n(3).shape == (3,)
    from autodiff_kernel.distributions.categorical import Categorical
    from autodiff_kernel.distributions.normal import Normal

    assert d.normal.Normal is Normal is d.Normal and Categorical is d.Categorical


def test_on_a_gpu():
    torch.cuda.simulate(1)
    try:
        loc = torch.zeros(3, device="cuda", requires_grad=True)
        for one in (
            d.Normal(loc, 1.0),
            d.Gumbel(loc, 1.0),
            d.Gamma(loc + 2, 1.0),
            d.Independent(d.Laplace(loc, 1.0), 1),
        ):
            x = one.rsample((2,))
            one.log_prob(x).sum().backward()
            assert x.is_cuda and loc.grad.is_cuda
    finally:
        torch.cuda.simulate(0)


def test_nobody_loads_them_unasked():
    code = (
        "import sys, autodiff_kernel as torch\ntorch.ones(2)\n"
        "print('autodiff_kernel.distributions' in sys.modules, 'distributions' in dir(torch))\n"
        "print(torch.distributions.Normal(0., 1.))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["False True", "Normal(loc: 0.0, scale: 1.0)"], "")
