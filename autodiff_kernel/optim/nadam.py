"""torch.optim.NAdam: Adam with Nesterov's look ahead."""

from typing import Any

import numpy as np

from ..core import device as devices
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
    put_number,
    squares_towards,
    towards,
)  # fmt: skip


class NAdam(ArrayOptimizer):
    """NAdam (Dozat, 2016): Adam whose first mean already holds a part of the next step's momentum.

    With μ(t) = β1·(1 − 0.5·0.96^(t·momentum_decay)) and Π their product up to t, p moves by
    −lr·(1 − μ(t)) / (1 − Π) · g / (√v̂ + eps) and by −lr·μ(t+1) / (1 − Π·μ(t+1)) · m / (√v̂ + eps).  The other settings are
    those of Adam; raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.NAdam([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.8944, -1.8944], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check_at_least_zero(eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), mu_product=count(1.0), exp_avg=like(p), exp_avg_sq=like(p))

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "eps", "weight_decay", "momentum_decay")
        flags = (group["decoupled_weight_decay"], group["maximize"])
        return (*map(number, group["betas"]), *[number(group[name]) for name in names], *flags)

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        beta1, beta2, lr, eps, decay, momentum_decay, decoupled, maximize = settings
        step = next_step(state)
        correction = 1 - beta2**step
        now, soon = [beta1 * (1.0 - 0.5 * 0.96 ** (t * momentum_decay)) for t in (step, step + 1)]
        held = state["mu_product"]
        put_number(held, held.raw * held.raw.dtype.type(now))
        product = devices.item(held.raw)
        of_gradient = lr * (1.0 - now) / (1.0 - product)
        of_mean = (lr * soon) / (1.0 - product * soon)
        m, v = opened(state["exp_avg"]), opened(state["exp_avg_sq"])
        arrays = (p, g, m, v)
        for p, g, m, v, w, u in blocks(2, *arrays):
            if decay and decoupled:
                np.multiply(p, 1 - lr * decay, p)
            g = directed(g, p, u, 0 if decoupled else decay, maximize)
            towards(m, g, 1 - beta1, w)
            squares_towards(v, g, beta2, w)
            np.divide(v, correction, w)
            np.sqrt(w, w)
            np.add(w, eps, w)
            for direction, size in ((g, of_gradient), (m, of_mean)):
                np.multiply(direction, size, u)
                np.divide(u, w, u)
                np.subtract(p, u, p)
