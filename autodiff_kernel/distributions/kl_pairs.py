"""The formulas of Kullback-Leibler divergences, pair by pair."""

import math
from typing import Any

from ..autograd import grad
from ..core.rules.activations import softplus
from ..linalg import solve_triangular
from . import functions
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, batch_mahalanobis, half_log_det
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost

_INF = math.inf

# p gives values that q never gives
for _p, _parameter, _qs in (
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
):
    for _q in _qs:
        register_kl(_p, _q)(lambda p, q, name=_parameter: functions.full_like(getattr(p, name), _INF))


def _x_log_x(x: Any) -> Any:
    return x.xlogy(x)


def _log_scale_of(q: Normal) -> Any:
    """log √(2π) + log scale: what a normal density is divided by."""
    return 0.5 * (q.variance * 2 * math.pi).log()


def _against_normal(p: Any, q: Normal) -> Any:
    """For any p with known entropy, mean and variance."""
    return -p.entropy() + _log_scale_of(q) + (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.variance)


def _mean_log(p: Uniform) -> Any:
    """The mean of log x for uniform x."""
    width = p.high - p.low
    return (_x_log_x(p.high) - _x_log_x(p.low) - width) / width


# ------------------------------------------------------------------------------------------------ of one class
@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones = ones.masked_fill(q.probs == 0, _INF).masked_fill(p.probs == 0, 0)
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return ones + zeros.masked_fill(q.probs == 1, _INF).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    sizes = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    sizes = sizes - (p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma())
    first = (p.concentration1 - q.concentration1) * p.concentration1.digamma()
    second = (p.concentration0 - q.concentration0) * p.concentration0.digamma()
    return sizes + first + second + (total_q - total_p) * total_p.digamma()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, _INF)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, _INF).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    norm_p, norm_q = (d._log_norm() + (-d.probs).log1p() for d in (p, q))
    return p.mean * (p.logits - q.logits) + norm_p - norm_q


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    sizes = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return sizes + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """What the log normalizer of q lies above its tangent at p."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    theta = [x.detach().requires_grad_() for x in p._natural_params]
    normalizer = p._log_normalizer(*theta)
    slopes = grad(normalizer.sum(), theta, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for a, b, slope in zip(theta, q._natural_params, slopes, strict=True):
        result = result - sum_rightmost((b - a) * slope, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    sizes = b * (p.rate / q.rate).log() + (b.lgamma() - a.lgamma())
    return sizes + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    tail = (-shift + (1 + ratio).lgamma()).exp()
    return -ratio.log() + shift + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two have different numbers of reinterpreted dimensions")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    """½ (log |Σq|/|Σp| + trace Σq⁻¹Σp + the distance of the means − n)."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed"
        )
    factor = _factor(p)
    if isinstance(q, MultivariateNormal):
        b = q._unbroadcasted_scale_tril
        shape = functions.broadcast_shapes(factor.shape[:-2], b.shape[:-2])
        b, factor = (x.expand(*shape, *x.shape[-2:]) for x in (b, factor))
        spread = solve_triangular(b, factor, upper=False).pow(2).sum((-2, -1))
        distance = batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    else:
        spread = (factor.pow(2) / q._unbroadcasted[1].unsqueeze(-1)).sum((-2, -1))
        spread = spread - (q._whitened_factor() @ factor).pow(2).sum((-2, -1))
        distance = q._distance(q.loc - p.loc)
    return _half_log_det(q) - _half_log_det(p) + 0.5 * (spread + distance - p.event_shape[0])


def _factor(p: Any) -> Any:
    """F with covariance FFᵀ."""
    if isinstance(p, MultivariateNormal):
        return p._unbroadcasted_scale_tril
    return functions.cat([p.cov_factor, functions.diag_embed(p.cov_diag.sqrt())], -1)


def _half_log_det(p: Any) -> Any:
    return (
        half_log_det(p._unbroadcasted_scale_tril) if isinstance(p, MultivariateNormal) else p._half_log_det()
    )


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, _INF)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    """What both do alike changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the two are transformed in different ways")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), _INF)


# ------------------------------------------------------------------------------------------------ of different classes
for _spread in (Beta, ContinuousBernoulli, Exponential, Gamma, Laplace, Uniform):
    register_kl(_spread, Normal)(_against_normal)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _any_continuous_bernoulli(p: Any, q: Any) -> Any:
    result = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_norm()
    return _where_possible(p, result)


def _where_possible(p: Any, result: Any) -> Any:
    """inf where a uniform p reaches the ends of [0, 1] or beyond them."""
    if not isinstance(p, Uniform):
        return result
    return functions.where((p.high >= 1) | (p.low <= 0), _INF, result)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _any_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    size = q.concentration.lgamma() - q.concentration * q.rate.log()
    return -p.entropy() + size - (q.concentration - 1) * mean_log + q.rate * p.mean


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low > 0) | (q.high < 1), _INF)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low >= 0) | (q.high <= 1), _INF)  # PyTorch asks for more room than [0, 1]


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio, a = q.rate / p.rate, q.concentration
    return -a * ratio.log() + ratio + a.lgamma() + a * euler_constant - (1 + euler_constant)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product, shift = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - shift + shift.exp() * product / (product + 1) + product.reciprocal()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    product, shift, a = p.rate * q.scale, q.loc / q.scale, p.concentration
    size = (a - 1) * a.digamma() - a.lgamma() - a
    return size + product.log() + a / product + shift.exp() * (1 + product.reciprocal()).pow(-a) - shift


@register_kl(Gumbel, Normal)
def _gumbel_normal(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    spread = (math.pi * ratio * 0.5).pow(2) / 3
    distance = ((p.loc + p.scale * euler_constant - q.loc) / q.scale).pow(2) * 0.5
    return -(ratio / math.sqrt(2 * math.pi)).log() + spread + distance - (euler_constant + 1)


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    shift, spread = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    return -0.5 * spread.log() + shift + (-shift + 0.5 * spread).exp() - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    shift = p.loc - q.loc
    z = shift / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * z.pow(2)).exp() + shift * (math.sqrt(0.5) * z).erf()
    return -(p.scale / q.scale).log() + distance / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    product = p.scale * q.rate
    result = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    return result.masked_fill(p.alpha <= 1, _INF)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    mean_log, a = p.scale.log() + p.alpha.reciprocal(), q.concentration
    result = p.alpha.log() - mean_log + a.lgamma() - a * q.rate.log() + (1 - a) * mean_log
    result = result + q.rate * p.alpha * p.scale / (p.alpha - 1) - 1
    return result.masked_fill(p.alpha <= 1, _INF)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    return _against_normal(p, q).masked_fill(p.alpha <= 2, _INF)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    size = a.lgamma() + b.lgamma() - (a + b).lgamma()
    result = size - (p.high - p.low).log() - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(mirrored)
    return result.masked_fill((p.high > 1) | (p.low < 0), _INF)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return result.masked_fill(p.low < 0, _INF)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    size = a.lgamma() - a * q.rate.log() - (p.high - p.low).log()
    return (size + (1 - a) * _mean_log(p) + q.rate * p.mean).masked_fill(p.low < 0, _INF)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    ratio = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + 0.5 * (high + low) - ratio * ((-high).exp() - (-low).exp())


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    size = (q.alpha * q.scale.pow(q.alpha) * (p.high - p.low)).log()
    return (_mean_log(p) * (q.alpha + 1) - size).masked_fill(p.low < q.scale, _INF)
