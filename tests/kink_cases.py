"""First and second derivatives where functions have kinks, poles and limits, to be compared with PyTorch's.

`record_kinks.py` writes PyTorch's answers into data/kinks.json. Where a second derivative does not exist PyTorch mostly
gives nan; a guard that makes the formula finite there must not invent another number.
"""

from typing import Any

POINTS = (
    (0.0, 0.0), (-0.0, 1.0), (1.0, -1.0), (6.0, -6.0), (3.0, -3.0), (0.5, -0.5), (float("inf"), float("-inf")),
    (float("nan"), 1.0), (19.0, 25.0), (-2.0, 2.0),
)  # fmt: skip
FUNCTIONS = """
x.abs(); x.sqrt(); x.rsqrt(); x.reciprocal(); x.log(); x.log1p(); x.sinc(); x.sign(); x.exp(); x.tanh(); x.sigmoid()
x.relu(); F.elu(x); F.elu(x, 0.5); F.selu(x); F.celu(x); F.softplus(x); F.gelu(x); F.silu(x); F.mish(x); F.softsign(x)
F.hardswish(x); F.hardtanh(x); F.relu6(x); F.leaky_relu(x); F.softshrink(x); F.hardshrink(x); F.tanhshrink(x)
F.threshold(x, 0.0, 1.0); F.logsigmoid(x); F.prelu(x, c[:1]); x**2; x**3; x**2.5; x**0; x**1; x**-1; 2**x; x.asin()
x.acos(); x.atanh(); x.acosh(); x.logit(); x.erfinv(); x.clamp(0, 1); x.clamp(min=0); torch.clamp(x, c, 1 + c)
torch.maximum(x, c); torch.minimum(x, c * 0); torch.fmax(x, -x); torch.hypot(x, x * 0); torch.atan2(x * 0, x)
torch.xlogy(x, x); torch.xlogy(x * 0, x); torch.logaddexp(x, x); torch.copysign(x, x); x.prod(); x.std(); x.var()
x.amax(); x.max(); x.median(); x.sort()[0]; x.nan_to_num(); x / x; x * x; torch.fmod(x, 1); torch.remainder(x, 1)
x.frac(); x.angle(); torch.where(x > 0, x.log(), x); x.logsumexp(0); torch.dist(x, c); torch.dist(x, c * 0, 1)
x.norm(); x.norm(1); x.norm(3); torch.linalg.vector_norm(x, 0.5); torch.linalg.vector_norm(x, 1.5)
torch.linalg.vector_norm(x, 2.5); torch.linalg.vector_norm(x, -1); torch.linalg.vector_norm(x, float('inf'))
"""


def functions() -> list[str]:
    return FUNCTIONS.replace("\n", "; ").strip("; ").split("; ")


def derivatives(text: str, point: tuple[float, float], torch: Any) -> Any:
    """The gradient of the sum, and the gradient of the gradient's sum (zeros if that is constant)."""
    x = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    y = eval(text, {"torch": torch, "F": torch.nn.functional, "x": x, "c": x.detach()})
    zeros = torch.zeros(2, dtype=torch.float64)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    second = torch.autograd.grad(first.sum(), x, allow_unused=True)[0] if first.requires_grad else None
    return [(first.detach() + zeros).tolist(), (zeros if second is None else second + zeros).tolist()]
