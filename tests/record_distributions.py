"""Record what PyTorch's distributions answer in data/distributions.json; run it where torch is installed.

A case is an expression of a distribution (d is torch.distributions, t is torch.tensor); with it come its samples as
hexadecimal floats, what its methods answer for them, and its text.  The pairs are divergences KL(p ‖ q).
"""

import json
import pathlib

import torch

CASES = [
    "d.Normal(t([0.5, -1.0]), t([[1.0], [2.0]]))",
    "d.Normal(t(0.3, dtype=torch.float64), 2.0)",
    "d.Bernoulli(t([0.0, 0.2, 0.5, 1.0]))",
    "d.Bernoulli(logits=t([-3.0, 0.0, 2.0]))",
    "d.Categorical(t([0.1, 0.2, 0.7]))",
    "d.Categorical(logits=t([[1.0, 2.0, -1.0], [0.0, 0.0, 3.0]]))",
    "d.OneHotCategorical(t([[1.0, 2.0, 3.0], [5.0, 1.0, 1.0]]))",
    "d.OneHotCategoricalStraightThrough(t([0.1, 0.2, 0.7]))",
    "d.Uniform(t([0.0, 1.0]), t([2.0, 4.0]))",
    "d.Multinomial(5, logits=t([[1.0, 2.0, 3.0], [5.0, 1.0, 1.0]]))",
    "d.Exponential(t([0.5, 4.0]))",
    "d.Gamma(t([0.3, 5.0]), t([1.0, 2.0]))",
    "d.Chi2(t([3.0, 0.5]))",
    "d.Beta(t([0.5, 2.0]), t([0.5, 7.0]))",
    "d.Dirichlet(t([[0.1, 0.2, 0.3], [4.0, 9.0, 1.0]]))",
    "d.Poisson(t([0.5, 20.0]))",
    "d.Binomial(10, t([0.1, 0.5]))",
    "d.Binomial(t([3.0, 50.0]), logits=t([0.3, -1.0]))",
    "d.Geometric(t([0.3, 1.0]))",
    "d.Laplace(t([1.0, 2.0]), t([0.5, 3.0]))",
    "d.LogNormal(t([1.0, 2.0]), 0.5)",
    "d.Cauchy(t([1.0, 2.0]), 0.5)",
    "d.HalfNormal(t([1.0, 3.0]))",
    "d.HalfCauchy(1.0)",
    "d.StudentT(t([0.5, 1.5, 7.0]), 1.0, 2.0)",
    "d.Gumbel(t([1.0, 2.0]), t([0.5, 3.0]))",
    "d.Pareto(t([1.0, 2.0]), t([0.5, 3.0]))",
    "d.Weibull(t([1.0, 2.0]), t([0.5, 3.0]))",
    "d.VonMises(t([1.0, -2.0]), t([0.1, 4.0]))",
    "d.MixtureSameFamily(d.Categorical(t([0.3, 0.7])), d.Normal(t([-1.0, 1.0]), t([0.5, 2.0])))",
    "d.MixtureSameFamily(d.Categorical(torch.ones(2)), d.Independent(d.Normal(torch.arange(4.0).view(2, 2), 1.0), 1))",
    "d.Independent(d.Normal(torch.zeros(3, 2), 1.0), 1)",
    "d.TransformedDistribution(d.Normal(0.0, 1.0), [d.AffineTransform(1.0, 2.0), d.TanhTransform()])",
    "d.TransformedDistribution(d.Uniform(0.0, 1.0), [d.SigmoidTransform().inv, d.AffineTransform(1.0, -2.0)])",
    "d.TransformedDistribution(d.Normal(torch.zeros(6), 1.0), [d.ReshapeTransform((6,), (2, 3)), d.ExpTransform()])",
    "d.MultivariateNormal(t([1.0, 2.0]), covariance_matrix=t([[2.0, 0.5], [0.5, 1.0]]))",
    "d.MultivariateNormal(torch.ones(3, 2), precision_matrix=t([[2.0, 0.5], [0.5, 1.0]]))",
    "d.MultivariateNormal(torch.ones(2), scale_tril=t([[[2.0, 0.0], [0.5, 1.0]], [[1.0, 0.0], [0.5, 3.0]]]))",
    "d.LowRankMultivariateNormal(torch.zeros(3), t([[1.0], [0.0], [2.0]]), t([1.0, 0.5, 2.0]))",
    "d.LowRankMultivariateNormal(torch.ones(2, 3), torch.ones(3, 2), t([[1.0, 0.5, 2.0], [3.0, 1.0, 1.0]]))",
    "d.RelaxedBernoulli(t([2.2]), t([0.1, 0.5, 0.99]))",
    "d.RelaxedOneHotCategorical(t(0.5), logits=t([[0.1, 0.5, 0.99], [1.0, 2.0, 3.0]]))",
    "d.ContinuousBernoulli(t([0.2, 0.5, 0.9]))",
    "d.NegativeBinomial(t([0.0, 3.0]), logits=t([0.2, 0.8]))",
    "d.InverseGamma(t([0.5, 4.0]), 1.0)",
    "d.LogisticNormal(torch.zeros(3), torch.ones(3))",
    "d.Kumaraswamy(t([0.5, 2.0]), t([0.5, 3.0]))",
    "d.FisherSnedecor(t([3.0, 5.0]), t([5.0, 9.0]))",
]
OF_ONE = ["log_prob", "cdf"]
OF_NONE = ["entropy", "perplexity", "enumerate_support"]
FACTS = ["mean", "variance", "stddev", "mode"]
PAIRS = [
    "d.Normal(t([0.5, -1.0]), t([1.0, 2.0]))", "d.Bernoulli(t([0.2, 0.7]))", "d.Categorical(t([[0.1, 0.9], [0.3, 0.7]]))",
    "d.OneHotCategorical(t([0.1, 0.9]))", "d.Uniform(t([0.1, 0.2]), t([0.8, 0.9]))", "d.Uniform(t([0.0, -1.0]), t([2., 4.]))",
    "d.Exponential(t([0.5, 4.0]))", "d.Gamma(t([0.3, 5.0]), t([1.0, 2.0]))", "d.Chi2(t([3.0, 4.0]))",
    "d.Beta(t([0.5, 2.0]), t([0.5, 7.0]))", "d.Dirichlet(t([1.0, 3.0]))", "d.Poisson(t([0.5, 20.0]))",
    "d.Binomial(10, t([0.1, 0.5]))", "d.Geometric(t([0.3, 0.9]))", "d.Laplace(t([1.0, 2.0]), t([0.5, 3.0]))",
    "d.LogNormal(t([1.0, 2.0]), 0.5)", "d.Cauchy(t([1.0, 2.0]), 0.5)", "d.HalfNormal(t([1.0, 3.0]))",
    "d.Gumbel(t([1.0, 2.0]), t([0.5, 3.0]))", "d.Pareto(t([0.05, 2.0]), t([1.5, 3.0]))",
    "d.Independent(d.Normal(torch.zeros(2), 1.0), 1)", "d.MultivariateNormal(torch.zeros(2), torch.eye(2))",
    "d.MultivariateNormal(t([[1.0, 2.0], [3.0, 4.0]]), t([[2.0, 0.5], [0.5, 1.0]]))",
    "d.ContinuousBernoulli(t([0.2, 0.5]))",
    "d.LowRankMultivariateNormal(torch.zeros(2), t([[1.0], [2.0]]), t([1.0, 0.5]))",
    "d.LowRankMultivariateNormal(torch.ones(2, 2), torch.ones(2, 1), t([[1.0, 0.5], [3.0, 1.0]]))",
]  # fmt: skip


def hexadecimal(tensor):
    flat = tensor.detach().reshape(-1).tolist()
    values = [v if isinstance(v, int) else v.hex() for v in flat]
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:], "values": values}


def answer(question):
    try:
        return hexadecimal(question())
    except NotImplementedError:
        return "NotImplementedError"


def space():
    return {"torch": torch, "d": torch.distributions, "t": torch.tensor}


def case(call):
    torch.manual_seed(7)
    made = eval(call, space())
    text = [repr(made), repr(made.support), list(made.batch_shape), list(made.event_shape)]
    sample = made.sample((3,))
    found = {"call": call, "text": text, "sample": hexadecimal(sample), "next": torch.rand(1).item().hex()}
    found |= {name: answer(lambda name=name: getattr(made, name)(sample)) for name in OF_ONE}
    found |= {name: answer(getattr(made, name)) for name in OF_NONE}
    found |= {name: answer(lambda name=name: getattr(made, name)) for name in FACTS}
    return found


def pair(p, q):
    d = torch.distributions
    try:
        value = d.kl_divergence(eval(p, space()), eval(q, space()))
    except (NotImplementedError, ValueError, RuntimeError):  # (PyTorch fails for some batches)
        return None
    return {"p": p, "q": q, "kl": hexadecimal(value)}


def main():
    cases = ",\n".join(json.dumps(case(call)) for call in CASES)
    pairs = [pair(p, q) for p in PAIRS for q in PAIRS]
    pairs = ",\n".join(json.dumps(found) for found in pairs if found)
    path = pathlib.Path(__file__).parent / "data" / "distributions.json"
    path.write_text(f'{{"cases": [\n{cases}\n],\n"pairs": [\n{pairs}\n]}}\n')


if __name__ == "__main__":
    main()
