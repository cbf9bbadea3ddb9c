"""torch.optim.Adagrad: step sizes from the sum of all squared gradients."""

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .arrays import (
    ArrayOptimizer,
    add_product,
    blocks,
    check_at_least_zero,
    check_lr,
    check_ways,
    count,
    directed,
    like,
    next_step,
    number,
    opened,
)  # fmt: skip


class Adagrad(ArrayOptimizer):
    """Adagrad (Duchi and others, 2011): s ← s + g², p ← p − lr / (1 + (t − 1)·lr_decay) · g / (√s + eps).

    s begins with initial_accumulator_value.  The other settings are those of SGD and Adam; raises ValueError for
    settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.Adagrad([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check_at_least_zero(lr_decay=lr_decay, weight_decay=weight_decay)
        check_at_least_zero(initial_accumulator_value=initial_accumulator_value, eps=eps)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable, fused)
        for group in self.param_groups:
            for p in group["params"]:
                self.start(p, self.state[p], group)

    def share_memory(self) -> None:
        """Nothing to do: threads share memory anyway."""

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), sum=like(p, self.defaults["initial_accumulator_value"]))

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "lr_decay", "weight_decay", "eps")
        return (*[number(group[name]) for name in names], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        lr, lr_decay, decay, eps, maximize = settings
        size = lr / (1 + (next_step(state) - 1) * lr_decay)
        arrays = (p, g, opened(state["sum"]))
        for p, g, s, w, u in blocks(2, *arrays):
            g = directed(g, p, u, decay, maximize)
            add_product(s, g, g, s, w)
            np.sqrt(s, w)
            np.add(w, eps, w)
            np.multiply(g, size, u)
            np.divide(u, w, u)
            np.subtract(p, u, p)
