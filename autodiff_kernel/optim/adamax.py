"""torch.optim.Adamax: Adam with the largest gradient in the place of the mean square."""

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
    towards,
)  # fmt: skip


class Adamax(ArrayOptimizer):
    """Adamax (Kingma and Ba, 2015): u ← max(β2·u, |g| + eps), p ← p − lr / (1 − β1ᵗ) · m / u, with m as in Adam.

    The settings are those of Adam; raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.Adamax([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check_at_least_zero(eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), exp_avg=like(p), exp_inf=like(p))

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "eps", "weight_decay")
        return (*map(number, group["betas"]), *[number(group[name]) for name in names], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        beta1, beta2, lr, eps, decay, maximize = settings
        size = lr / (1 - beta1 ** next_step(state))
        m, largest = opened(state["exp_avg"]), opened(state["exp_inf"])
        arrays = (p, g, m, largest)
        for p, g, m, largest, w, u in blocks(2, *arrays):
            g = directed(g, p, u, decay, maximize)
            towards(m, g, 1 - beta1, w)
            np.multiply(largest, beta2, largest)
            np.abs(g, w)
            np.add(w, eps, w)
            np.maximum(largest, w, out=largest)
            np.multiply(m, size, w)
            np.divide(w, largest, w)
            np.subtract(p, w, p)
