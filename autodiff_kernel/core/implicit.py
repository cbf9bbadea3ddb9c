"""How gamma and Dirichlet numbers move with their parameters: implicit derivatives of samples, on raw arrays.

A sample x of a distribution with cumulative distribution function F(x; α) stays at the same quantile when α changes,
so dx/dα = −(∂F/∂α) / (∂F/∂x): the denominator is the density, the numerator has no closed form.  Here are the
approximations that PyTorch uses (M. Jankowiak and F. Obermeyer, "Pathwise Derivatives Beyond the Reparameterization
Trick", 2018): a Taylor series for small x, a saddle point expansion for large α, and a fitted quotient of polynomials
in between.  They are good to about three digits more than a stochastic gradient needs.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from .special import digamma, where

# a quotient of polynomials in u = log(x/α) (by rows) and v = log α (by columns: numerator, then denominator)
_GAMMA_FIT = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1.0, 0.32668115, 0.10406089, 0.0014179084),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
)  # fmt: skip
# the same in log x, log(α/x) and, innermost, log(total·x/α)
_BETA_NUMERATOR = (
    ((1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
     (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
     (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013)),
    ((0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
     (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
     (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05)),
    ((-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
     (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
     (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05)),
)  # fmt: skip
_BETA_DENOMINATOR = (
    ((1.0, -0.02924021934, -0.04438342661, 0.007285809825),
     (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
     (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149)),
    ((0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
     (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
     (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05)),
    ((0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
     (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
     (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06)),
)  # fmt: skip


def _quietly_in_double(f: Callable[..., Any]) -> Callable[..., Any]:
    """Compute in double precision; every formula is evaluated everywhere, so many of their values mean nothing."""

    @wraps(f)
    def wide(*xs: Any) -> Any:
        with np.errstate(all="ignore"):
            return f(*[x.astype(np.float64) for x in xs]).astype(xs[0].dtype)

    return wide


def _polynomial(coefficients: Any, x: Any) -> Any:
    """The polynomial with these coefficients (numbers or arrays), constant first."""
    y = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = y * x + c
    return y


def _not_nan(x: Any) -> Any:
    return where(np.isnan(x), 0.0, x)


# ------------------------------------------------------------------------------------------------ gamma


@_quietly_in_double
def gamma_slope(alpha: Any, x: Any) -> Any:
    """dx/dα of samples x of the gamma distributions with shapes alpha and scale 1; floating arrays of one shape."""
    near = (0.9 * alpha <= x) & (x <= 1.1 * alpha)
    large = where(near, _gamma_near_mean(alpha, x), _gamma_saddle(alpha, x))
    return where(x < 0.8, _gamma_series(alpha, x), where(alpha > 8, large, _gamma_fit(alpha, x)))


def _gamma_series(alpha: Any, x: Any) -> Any:
    term = 1.0
    series = 1 / alpha
    by_alpha = series * series  # the series' derivative, but for its sign
    for i in range(1, 6):
        term = term * -x / i
        series = series + term / (alpha + i)
        by_alpha = by_alpha + term / (alpha + i) ** 2
    power = x**alpha
    cdf_by_alpha = (np.log(x) - digamma(alpha)) * power * series - power * by_alpha
    return _not_nan(-cdf_by_alpha / (x ** (alpha - 1) * np.exp(-x)))


def _gamma_near_mean(alpha: Any, x: Any) -> Any:
    """The saddle point expansion around x = α, where the one below divides by zero."""
    outer = 1 + 24 * alpha * (1 + 12 * alpha)
    inner = 1440 * alpha * alpha + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    return outer * inner / (1244160 * alpha**4)


def _gamma_saddle(alpha: Any, x: Any) -> Any:
    root = np.sqrt(8 * alpha)
    ratio = np.log(x / alpha)
    tail = (x - alpha - alpha * ratio) ** -1.5
    term = root / (alpha - x) + where(x < alpha, -tail, tail)
    term = ratio * term - np.sqrt(2 / alpha) * (alpha + x) / (alpha - x) ** 2
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * x * term / root


def _gamma_fit(alpha: Any, x: Any) -> Any:
    u, v = np.log(x / alpha), np.log(alpha)
    columns = [_polynomial(column, u) for column in zip(*_GAMMA_FIT, strict=True)]
    return np.exp(_polynomial(columns[:4], v) / _polynomial(columns[4:], v))


# ------------------------------------------------------------------------------------------------ beta, Dirichlet


@_quietly_in_double
def dirichlet_slope(x: Any, alpha: Any, total: Any) -> Any:
    """dx/dα / (1 − x) of a share x with parameter alpha, where all parameters sum to `total`; arrays of one shape.

    Each share of a Dirichlet sample is a beta number with the parameters alpha and total − alpha.
    """
    beta = total - alpha
    width = total * x * (1 - x)
    fitted = _beta_fit(x, alpha, total)
    other = where((alpha > 6) & (beta > 6), _beta_large(x, alpha, beta), fitted)
    other = where((x >= 0.5) & (width < 0.75), -_beta_by_beta(1 - x, beta, alpha), other)
    return where((x <= 0.5) & (width < 2.5), _beta_by_alpha(x, alpha, beta), other)


def _beta_by_alpha(x: Any, alpha: Any, beta: Any) -> Any:
    """For x near 0, by the first parameter."""
    factor = digamma(alpha) - digamma(alpha + beta) - np.log(x)
    term = 1.0
    series = 1 / alpha * (factor + 1 / alpha)
    for i in range(1, 11):
        term = term * (i - beta) * x / i
        series = series + term / (alpha + i) * (factor + 1 / (alpha + i))
    return _not_nan(x * (1 - x) ** -beta * series)


def _beta_by_beta(x: Any, alpha: Any, beta: Any) -> Any:
    """For x near 0, by the second parameter."""
    factor = digamma(alpha + beta) - digamma(beta)
    term, product, by_beta = 1.0, 1.0, 0.0
    series = factor / alpha
    for i in range(1, 9):
        term = term * -x / i
        by_beta = by_beta * (beta - i) + product
        product = product * (beta - i)
        series = series + term / (alpha + i) * (by_beta + factor * product)
    return _not_nan(-((1 - x) ** (1 - beta)) * series)


def _beta_large(x: Any, alpha: Any, beta: Any) -> Any:
    """For two large parameters: a saddle point expansion, and another one around the mean."""
    total = alpha + beta
    mean = alpha / total
    deviation = np.sqrt(alpha * beta / (total + 1)) / total
    near = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return where(near, _beta_near_mean(x, alpha, beta), _beta_saddle(x, alpha, beta))


def _beta_near_mean(x: Any, alpha: Any, beta: Any) -> Any:
    total = alpha + beta
    polynomial = _polynomial(
        (
            47 * x * beta**4,
            (43 + 20 * (16 + 27 * beta) * x) * beta**3,
            3 * (59 + 180 * beta - 90 * x) * beta**2,
            (453 + 1620 * beta * (1 - x) - 455 * x) * beta,
            8 * (1 - x) * (135 * beta - 11),
        ),
        alpha,
    )
    scale = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
    return scale / (1 - x) * polynomial / (12960 * alpha**3 * beta**2 * (1 + 12 * total))


def _beta_saddle(x: Any, alpha: Any, beta: Any) -> Any:
    total = alpha + beta
    stirling = _stirling(alpha) * _stirling(beta) / _stirling(total)
    lean = alpha * (x - 1) + beta * x  # 0 at the mean
    first = 2 * alpha**2 * (x - 1) + alpha * beta * (x - 1) - x * beta**2
    first = first / (np.sqrt(2 * alpha / beta) * total**1.5 * lean * lean)
    surprise = np.log(alpha / (total * x))
    tail = (beta * np.log(beta / (total * (1 - x))) + alpha * surprise) ** -1.5
    second = np.sqrt(8 * alpha * beta / total) / lean + where(x < alpha / total, tail, -tail)
    return -stirling * x / np.sqrt(2 * alpha * beta / total) * (first + 0.5 * surprise * second)


def _stirling(a: Any) -> Any:
    return 1 + 1 / (12 * a) + 1 / (288 * a * a)


def _beta_fit(x: Any, alpha: Any, total: Any) -> Any:
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a

    def fitted(table: Any) -> Any:
        rows = [_polynomial([_polynomial(inner, b) for inner in row], a) for row in table]
        return _polynomial(rows, u)

    rough = x * (digamma(total) - digamma(alpha)) / (total - alpha)
    return fitted(_BETA_NUMERATOR) / fitted(_BETA_DENOMINATOR) * rough
