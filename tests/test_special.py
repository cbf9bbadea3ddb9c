"""torch.special: values (computed to 30 digits with mpmath), edges as in PyTorch, forms, refusals."""

import doctest
from math import inf, nan

import pytest

import autodiff_kernel as torch

POINTS = [-9.5, -2.25, -0.5, 0.25, 1.75, 6.5, 23.0]
VALUES = {
    "i0": (
        1753.4809905273228, 2.7270783071907956, 1.0634833707413236, 1.015686141223608, 1.9252521538585023,
        106.2928582439956, 815142122.5128922,
    ),
    "i0e": (
        0.13125126081426788, 0.2874319388973915, 0.6450352704491501, 0.7910171621397194, 0.33455865891245506,
        0.15980484901763226, 0.08364890343957296,
    ),
    "i1": (
        -1658.4530777821342, -2.003967456929593, -0.2578943053908963, 0.12597910894546793, 1.255537512240173,
        97.73501077403152, 797220026.0896503,
    ),
    "i1e": (
        -0.12413824765488178, -0.21121661600759037, -0.1564208031848717, 0.09811262869736824, 0.21817970465193637,
        0.1469386457237643, 0.08180975947714232,
    ),
    "bessel_j0": (
        -0.19392874768742235, 0.08274985128873404, 0.9384698072408129, 0.9844359292958527, 0.36903253018515075,
        0.2600946055816064, -0.16241278131348655,
    ),
    "bessel_j1": (
        -0.16126443075752986, -0.5483783566469601, -0.2422684576748739, 0.12402597732272692, 0.5801561976389925,
        -0.15384130140997185, -0.03951932188370151,
    ),
    "bessel_y0": (
        nan, nan, nan, -0.9315730249300587, 0.46549262864690605, -0.17324243491898234, -0.03598179027370283,
    ),
    "bessel_y1": (
        nan, nan, nan, -2.7041052293152825, -0.2539729859462457, -0.27409127395927546, 0.16166920099263313,
    ),
    "modified_bessel_i0": (
        1753.4809905273228, 2.7270783071907956, 1.0634833707413236, 1.015686141223608, 1.9252521538585023,
        106.2928582439956, 815142122.5128922,
    ),
    "modified_bessel_i1": (
        -1658.4530777821342, -2.003967456929593, -0.2578943053908963, 0.12597910894546793, 1.255537512240173,
        97.73501077403152, 797220026.0896503,
    ),
    "modified_bessel_k0": (
        nan, nan, nan, 1.5415067512483027, 0.1553798123866036, 0.0007259317676293354, 2.66754511035191e-11,
    ),
    "modified_bessel_k1": (
        nan, nan, nan, 3.7470259744407115, 0.19547745347439302, 0.0007798943982238037, 2.724930589574976e-11,
    ),
    "scaled_modified_bessel_k0": (
        nan, nan, nan, 1.9793338485985688, 0.8941490841572174, 0.4828474413997563, 0.259947027843817,
    ),
    "scaled_modified_bessel_k1": (
        nan, nan, nan, 4.811276588171025, 1.1248950768625277, 0.5187402336367306, 0.2655391300007928,
    ),
    "spherical_bessel_j0": (
        -0.007910644259137822, 0.345810309727965, 0.958851077208406, 0.9896158370180917, 0.562277683927964,
        0.03309538278274085, -0.036792191485876986,
    ),
    "airy_ai": (
        0.3191032477191282, 0.06159865877700528, 0.4757280916105396, 0.2911639543485452, 0.05056988080579487,
        2.7958823432049136e-06, 1.4901860957672062e-33,
    ),
    "erfcx": (
        3.134057697027116e+39, 315.73888373164453, 1.952360489182557, 0.7703465477309968, 0.2849722347374364,
        0.08580567010489461, 0.024506862089282606,
    ),
    "ndtr": (
        1.0494515075362608e-21, 0.012224472655044703, 0.3085375387259869, 0.5987063256829237, 0.9599408431361829,
        0.99999999995984, 1.0,
    ),
    "log_ndtr": (
        -48.30601929896523, -4.404315381153271, -1.1759117615936185, -0.5129840754094305, -0.04088361815209493,
        -4.016000583939759e-11, -2.3306370062206488e-117,
    ),
}  # fmt: skip
x = torch.tensor(POINTS, dtype=torch.float64)


def close(a, b, tolerance=1e-12):
    assert torch.allclose(a, torch.tensor(b, dtype=a.dtype), rtol=tolerance, atol=1e-15, equal_nan=True), a


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    close(getattr(torch.special, name)(x), VALUES[name])
    single = getattr(torch.special, name)(x.float())
    assert single.dtype is torch.float32
    close(single, VALUES[name], 3e-6)


def test_every_name_is_there():
    assert len(torch.special.__all__) == 56
    assert all(callable(getattr(torch.special, name)) for name in torch.special.__all__)
    assert torch.special.expit is torch.sigmoid and torch.special.psi is torch.digamma
    assert not hasattr(torch, "erfcx") and torch.i0(x).equal(x.i0())


@pytest.mark.parametrize("name", torch.special.__all__)
def test_examples(name):
    f = getattr(torch.special, name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    tests = doctest.DocTestFinder(recurse=False).find(f, name, globs={})
    assert tests and all(runner.run(t).failed == 0 for t in tests)


def test_quantiles_invert_the_distribution():
    p = torch.tensor([1e-300, 1e-9, 0.02, 0.4, 0.5, 0.75, 0.999], dtype=torch.float64)
    assert torch.allclose(torch.special.log_ndtr(torch.special.ndtri(p)), p.log(), rtol=1e-13)
    close(torch.special.ndtri(torch.tensor([0.0, 1.0, -0.1, 1.1])), [-inf, inf, nan, nan])


def test_edges_are_those_of_pytorch():
    close(torch.special.entr(torch.tensor([-1.0, 0.0, 0.5, nan])), [-inf, 0.0, 0.34657359, nan], 1e-6)
    zero = torch.tensor([0.0, -0.0])
    for name, value in (
        ("bessel_y0", -inf),
        ("bessel_y1", -inf),
        ("modified_bessel_k0", inf),
        ("modified_bessel_k1", inf),
    ):
        close(getattr(torch.special, name)(zero), [value, value])
    close(
        torch.special.xlog1py(torch.tensor([0.0, 0.0, 1.0]), torch.tensor([-1.0, nan, -1.0])),
        [0.0, nan, -inf],
    )


def test_incomplete_gamma_functions():
    # ten digits of each way: series, continued fraction, quadrature
    a = torch.tensor([0.5, 3.0, 2.0, 40.0, 150.0, 150.0, 1e6], dtype=torch.float64)
    b = torch.tensor([0.1, 2.0, 9.0, 55.0, 140.0, 165.0, 998000.0], dtype=torch.float64)
    lower = [
        0.345279153981423, 0.32332358381693654, 0.9987659019591332, 0.9853028204736023,
        0.20954362391860706, 0.8874634904019885, 0.0226961140067368,
    ]  # fmt: skip
    close(torch.igamma(a, b), lower, 1e-10)
    assert torch.allclose(torch.igamma(a, b) + a.igammac(b), torch.ones_like(a), rtol=1e-14)
    a = torch.tensor([0.0, 1, 0, -1, inf, 1, inf])
    b = torch.tensor([1.0, 0, 0, 1, 1, inf, inf])
    close(torch.igamma(a, b), [1, 0, nan, nan, 0, 1, nan])
    close(torch.igammac(a, b), [0, 1, nan, nan, 1, 0, nan])


def test_incomplete_gamma_has_no_derivative_for_its_first_argument():
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.igamma(a.detach(), b).sum().backward()
    close(b.grad, [0.36787945, 0.36787945], 1e-6)
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented."):
        torch.igamma(a, b).sum().backward()
    with pytest.raises(NotImplementedError, match="\"igamma_cpu\" not implemented for 'Int'"):
        torch.igamma(torch.ones(2, dtype=torch.int32), torch.ones(2, dtype=torch.int32))


def test_zeta():
    s = torch.tensor([2.0, 2, 2.5, 3, 1, 0.5, 3], dtype=torch.float64)
    q = torch.tensor([-0.5, -3, -0.5, -2.5, 2, 2, -20.3], dtype=torch.float64)
    close(
        torch.special.zeta(s, q),
        [8.934802200544679, inf, nan, 0.0541020258208641, inf, nan, -34.417616828918646],
    )
    q = torch.tensor([2.0], requires_grad=True)
    torch.special.zeta(2, q).sum().backward()
    close(q.grad, [-2 * 0.2020569], 1e-6)


AT = torch.tensor([0.5, 2.0, -1.0, -3.0])
POLYNOMIALS = {
    "chebyshev_polynomial_t": [0.5, 5042, -1, -114243], "chebyshev_polynomial_u": [1, 10864, -8, -235416],
    "chebyshev_polynomial_v": [0, 7953, -15, -275807], "chebyshev_polynomial_w": [2, 13775, -1, -195025],
    "shifted_chebyshev_polynomial_t": [0, 114243, -114243, -50843527],
    "shifted_chebyshev_polynomial_u": [0, 235416, -235416, -102213944],
    "shifted_chebyshev_polynomial_v": [1, 195025, -275807, -109552575],
    "shifted_chebyshev_polynomial_w": [-1, 275807, -195025, -94875313],
    "hermite_polynomial_h": [-461, -3104, -464, -39024], "hermite_polynomial_he": [-40.0234375, 86, 20, 396],
    "laguerre_polynomial_l": [-0.5183392237103176, 0.6634920634920636, 25.9765873015873, 442.17142857142863],
    "legendre_polynomial_p": [0.22314453125, 2199.125, -1, -48639],
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    f = getattr(torch.special, name)
    close(f(AT.double(), 7), POLYNOMIALS[name])
    close(f(AT, torch.tensor([0, -1, 7, 1]))[:3], [1.0, 0.0, POLYNOMIALS[name][2]], 1e-6)
    assert not f(AT.clone().requires_grad_(), 3).requires_grad
    with pytest.raises(TypeError, match="received an invalid combination of arguments - got \\(int, int\\)"):
        f(2, 2)
