"""Write autodiff_kernel/core/bessel_series.py: python tests/make_bessel_series.py (needs mpmath).

Each smooth part of a Bessel or Airy function (what is left when its singular or oscillating factors are taken out, see
M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, chapters 9 and 10) is sampled to 50 digits at
Chebyshev's nodes; the coefficients of its series follow by a cosine sum, and those below double precision are left out.
"""

import pathlib
from collections.abc import Callable

from mpmath import (
    airyai,
    airybi,
    besseli,
    besselj,
    besselk,
    bessely,
    cos,
    exp,
    log,
    mp,
    mpf,
    pi,
    sin,
    sqrt,
)

mp.dps = 50
TARGET = pathlib.Path(__file__).parents[1] / "autodiff_kernel" / "core" / "bessel_series.py"
NODES = 96
HEAD = '''"""Chebyshev coefficients of the smooth parts of Bessel and Airy functions, made by tests/make_bessel_series.py."""

'''


def modulus(order: int, x: mpf) -> tuple[mpf, mpf]:
    """P and Q of J = √(2/πx)·(P cos χ − Q sin χ), Y = √(2/πx)·(P sin χ + Q cos χ), χ = x − (order/2 + 1/4)π."""
    j, y, chi = besselj(order, x), bessely(order, x), x - (mpf(order) / 2 + mpf(1) / 4) * pi
    size = sqrt(pi * x / 2)
    return size * (j * cos(chi) + y * sin(chi)), size * (y * cos(chi) - j * sin(chi))


def airy_modulus(zeta: mpf) -> tuple[mpf, mpf]:
    """The same of Ai(−x) = x^(−1/4)/√π·(P cos χ + Q sin χ), Bi(−x) = x^(−1/4)/√π·(Q cos χ − P sin χ), χ = ζ − π/4."""
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    a, b, chi = airyai(-x), airybi(-x), zeta - pi / 4
    size = sqrt(pi) * x ** (mpf(1) / 4)
    return size * (a * cos(chi) - b * sin(chi)), size * (a * sin(chi) + b * cos(chi))


def decaying_airy(zeta: mpf) -> mpf:
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    return exp(zeta) * x ** (mpf(1) / 4) * airyai(x)


EDGE, FAR_EDGE = 2 * sqrt(mpf(8)) / 3, 2 * mpf(6) ** (mpf(3) / 2) / 3  # ζ of x = 2 and of x = −6
far = lambda t, edge: 2 * edge / (1 + t)  # noqa: E731  (t from −1, which is ∞, to 1, which is the edge)
square = lambda t, edge: edge * sqrt((1 + t) / 2)  # noqa: E731
PARTS: dict[str, Callable[[mpf], mpf]] = {
    "I0_NEAR": lambda t: (lambda x: exp(-x) * besseli(0, x))(4 * (1 + t)),
    "I0_FAR": lambda t: (lambda x: sqrt(x) * exp(-x) * besseli(0, x))(far(t, 8)),
    "I1_NEAR": lambda t: (lambda x: exp(-x) * besseli(1, x) / x)(4 * (1 + t)),
    "I1_FAR": lambda t: (lambda x: sqrt(x) * exp(-x) * besseli(1, x))(far(t, 8)),
    "K0_NEAR": lambda t: (lambda x: besselk(0, x) + log(x / 2) * besseli(0, x))(square(t, 2)),
    "K0_FAR": lambda t: (lambda x: sqrt(x) * exp(x) * besselk(0, x))(far(t, 2)),
    "K1_NEAR": lambda t: (lambda x: x * (besselk(1, x) - log(x / 2) * besseli(1, x)))(square(t, 2)),
    "K1_FAR": lambda t: (lambda x: sqrt(x) * exp(x) * besselk(1, x))(far(t, 2)),
    "J0_NEAR": lambda t: besselj(0, square(t, 8)),
    "Y0_NEAR": lambda t: (lambda x: bessely(0, x) - 2 / pi * log(x) * besselj(0, x))(square(t, 8)),
    "J1_NEAR": lambda t: (lambda x: besselj(1, x) / x)(square(t, 8)),
    "Y1_NEAR": lambda t: (lambda x: (bessely(1, x) - 2 / pi * (log(x) * besselj(1, x) - 1 / x)) / x)(square(t, 8)),
    "P0": lambda t: modulus(0, 8 / sqrt((1 + t) / 2))[0],
    "Q0": lambda t: (lambda x: x * modulus(0, x)[1])(8 / sqrt((1 + t) / 2)),
    "P1": lambda t: modulus(1, 8 / sqrt((1 + t) / 2))[0],
    "Q1": lambda t: (lambda x: x * modulus(1, x)[1])(8 / sqrt((1 + t) / 2)),
    "AIRY_MIDDLE": lambda t: airyai(4 * t - 2),
    "AIRY_FAR": lambda t: decaying_airy(far(t, EDGE)),
    "AIRY_P": lambda t: airy_modulus(FAR_EDGE / sqrt((1 + t) / 2))[0],
    "AIRY_Q": lambda t: (lambda z: z * airy_modulus(z)[1])(FAR_EDGE / sqrt((1 + t) / 2)),
}  # fmt: skip


def coefficients(f: Callable[[mpf], mpf]) -> list[float]:
    """The Chebyshev coefficients of f on [−1, 1], the first one halved."""
    angles = [pi * (k + mpf(1) / 2) / NODES for k in range(NODES)]
    values = [f(cos(a)) for a in angles]
    out = [2 * sum(v * cos(n * a) for v, a in zip(values, angles, strict=True)) / NODES for n in range(NODES)]
    out[0] /= 2
    least = max(abs(c) for c in out) * mpf("2e-17")
    count = max(n for n, c in enumerate(out) if abs(c) > least) + 1
    return [float(c) for c in out[:count]]


def render() -> str:
    text = HEAD
    for name, f in PARTS.items():
        numbers = [repr(c) for c in coefficients(f)]
        lines, line = [], "   "
        for number in numbers:
            if len(line) + len(number) > 118:
                lines.append(line)
                line = "   "
            line += f" {number},"
        text += f"{name} = (\n" + "\n".join([*lines, line]) + "\n)  # fmt: skip\n"
    return text


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
