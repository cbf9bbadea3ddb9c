"""Operations for real numbers only refuse complex ones, with PyTorch's types and words."""

import pytest

import autodiff_kernel as torch

Z = torch.tensor([0.5 + 0.2j, -0.3 + 0.1j])
F = torch.nn.functional

CASES = {
    "clamp is not supported for complex types": (
        lambda: Z.clamp(min=0.0), lambda: Z.clamp(0, 1), lambda: torch.clamp(Z, Z.real, Z.real), lambda: Z.relu(),
        lambda: Z.clone().relu_(), lambda: F.relu6(Z), lambda: F.hardtanh(Z), lambda: Z.clamp_min(0),
    ),
    "floor is not supported for complex inputs": (lambda: Z.floor(),),
    "torch.sign is not intended to support complex numbers": (lambda: Z.sign(),),
    "signbit is not implemented for complex tensors": (lambda: Z.signbit(),),
    "not implemented for 'ComplexFloat'": (
        lambda: Z.round(), lambda: Z.frac(), lambda: torch.erf(Z), lambda: torch.lgamma(Z), lambda: torch.logit(Z),
        lambda: F.gelu(Z), lambda: F.softplus(Z), lambda: F.elu(Z), lambda: Z < Z, lambda: Z >= 0, lambda: Z % 2,
        lambda: Z // Z, lambda: torch.hypot(Z, Z), lambda: torch.atan2(Z, Z), lambda: torch.xlogy(Z, Z),
        lambda: Z.kthvalue(1), lambda: F.leaky_relu(Z), lambda: torch.copysign(Z, Z),
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", CASES)
def test_complex_numbers_are_refused(words):
    for f in CASES[words]:
        with pytest.raises(NotImplementedError, match=words):
            f()


def test_some_with_a_plain_runtime_error():
    for name in ("maximum", "minimum", "fmax", "fmin"):
        with pytest.raises(RuntimeError, match=f"{name} not implemented for complex tensors") as info:
            getattr(torch, name)(Z, Z)
        assert type(info.value) is not NotImplementedError
    with pytest.raises(RuntimeError, match="heaviside is not yet implemented for complex tensors"):
        torch.heaviside(Z, Z)


def test_a_complex_power_has_its_derivative():
    a = torch.tensor([2.0 + 1j, 0.0], requires_grad=True)
    b = torch.tensor([1.5 - 1j, 2.0], requires_grad=True)
    ga, gb = torch.autograd.grad((a**b).abs().sum(), (a, b))
    assert ga[1] == 0 and gb[1] == 0 and torch.isfinite(gb.real).all()
