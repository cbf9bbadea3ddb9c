"""torch.optim.Muon: momentum whose matrix is made nearly orthogonal before each step."""

import math
from typing import Any

import numpy as np

from ..core.errors import explain
from ..core.tensor import Tensor
from .arrays import ArrayOptimizer, add_product, like, number, opened, towards

Array = Any


class Muon(ArrayOptimizer):
    """Muon (Jordan, 2024), for matrices: p ← (1 − lr·weight_decay)·p − lr'·O.

    O comes from the momentum M (a running mean of g; with nesterov a step ahead) by ns_steps of the Newton–Schulz
    iteration X ← a·X + (b·A + c·A²)·X with A = X·Xᵀ, which drives all singular values towards 1.  It computes in
    bfloat16's precision, as PyTorch does.  lr' is lr·√max(1, rows / columns), or with adjust_lr_fn="match_rms_adamw"
    lr·0.2·√max(rows, columns).  Raises ValueError for settings out of range and for parameters that are no matrices
    (train those by another optimizer).

    >>> import autodiff_kernel as torch
    >>> w = torch.eye(2, requires_grad=True)
    >>> opt = torch.optim.Muon([w], lr=0.1, weight_decay=0.)
    >>> (w * torch.tensor([[3., 1.], [1., 2.]])).sum().backward()
    >>> opt.step()
    >>> list(opt.state[w])
    ['momentum_buffer']
    """

    as_reals = False

    def __init__(
        self, params: Any, lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in {"Learning rate": lr, "momentum": momentum, "weight decay": weight_decay}.items():
            if not 0.0 <= value:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise explain(
                        ValueError,
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}",
                        cure="give Muon the matrices of the hidden layers, and AdamW the other parameters.",
                        tensor=p,
                    )

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state["momentum_buffer"] = like(p)

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "weight_decay", "momentum")
        more = ("nesterov", "ns_coefficients", "eps", "ns_steps", "adjust_lr_fn")
        return (*[number(group[name]) for name in names], *[group[name] for name in more])

    def update(self, p: Array, g: Array, state: dict[str, Any], settings: Any) -> None:
        lr, decay, momentum, nesterov, coefficients, eps, steps, adjust = settings
        m = opened(state["momentum_buffer"])
        towards(m, g, 1 - momentum, np.empty_like(m))
        direction = m
        if nesterov:
            direction = g.copy()
            towards(direction, m, momentum, np.empty_like(m))
        direction = orthogonal(direction, coefficients, steps, eps).astype(p.dtype)
        np.multiply(p, 1 - lr * decay, p)
        add_product(p, direction, -lr * scale_of(p.shape, adjust), p)


def scale_of(shape: tuple[int, ...], adjust: str | None) -> float:
    """The factor of the learning rate for a matrix of this shape."""
    rows, columns = shape
    if adjust == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def orthogonal(g: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """A matrix with g's singular vectors and singular values near 1, by the Newton–Schulz iteration."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = brain(g)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    norm = float(np.sqrt((x * x).sum()))
    x = brain(x / max(float(brain(np.array([norm]))[0]), eps))
    for _ in range(steps):
        gram = brain(x @ x.T)
        x = brain(a * x + brain(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x


def brain(x: Array) -> Array:
    """float32 numbers rounded to the 8 bits of precision that bfloat16 has."""
    bits = x.astype(np.float32).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)  # half-way cases go to the even neighbour
    return ((bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)).view(np.float32)
