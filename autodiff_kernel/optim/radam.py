"""torch.optim.RAdam: Adam that waits with its adaptive step sizes until their variance is known."""

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .arrays import (
    ArrayOptimizer,
    blocks,
    check_at_least_zero,
    check_betas,
    check_lr,
    check_ways,
    count,
    directed,
    like,
    next_step,
    number,
    opened,
    squares_towards,
    towards,
)  # fmt: skip


class RAdam(ArrayOptimizer):
    """Rectified Adam (Liu and others, 2020).

    ρ(t) = ρ∞ − 2t·β2ᵗ / (1 − β2ᵗ), ρ∞ = 2 / (1 − β2) − 1, says how many gradients the mean square stands for.  Up to 5 the
    step is lr·m̂ (as momentum); from then on lr·m̂·r·√(1 − β2ᵗ) / (√v + eps) with the rectifying factor
    r = √((ρ − 4)(ρ − 2)ρ∞ / ((ρ∞ − 4)(ρ∞ − 2)ρ)).  The settings are those of Adam; raises ValueError for settings out of
    range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.RAdam([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.8000, -1.6000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check_at_least_zero(eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), exp_avg=like(p), exp_avg_sq=like(p))

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "eps", "weight_decay")
        flags = (group["decoupled_weight_decay"], group["maximize"])
        return (*map(number, group["betas"]), *[number(group[name]) for name in names], *flags)

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        beta1, beta2, lr, eps, decay, decoupled, maximize = settings
        step = next_step(state)
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * beta2**step / correction2
        m, v = opened(state["exp_avg"]), opened(state["exp_avg_sq"])
        arrays = (p, g, m, v)
        for p, g, m, v, w, u in blocks(2, *arrays):
            if decay and decoupled:
                np.multiply(p, 1 - lr * decay, p)
            g = directed(g, p, u, 0 if decoupled else decay, maximize)
            towards(m, g, 1 - beta1, w)
            squares_towards(v, g, beta2, w)
            np.divide(m, correction1, u)
            np.multiply(u, lr, u)
            if length > 5.0:
                np.sqrt(v, w)
                np.add(w, eps, w)
                np.divide(correction2**0.5, w, w)
                np.multiply(u, w, u)
                np.multiply(u, rectifier(length, limit), u)
            np.subtract(p, u, p)


def rectifier(length: float, limit: float) -> float:
    """The factor that gives the adaptive step the variance that it has in the long run."""
    return ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
