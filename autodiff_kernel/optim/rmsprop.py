"""torch.optim.RMSprop: gradients divided by the root of their running mean square."""

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
    squares_towards,
    towards,
)  # fmt: skip


class RMSprop(ArrayOptimizer):
    """RMSprop (Hinton, 2012): v ← alpha·v + (1 − alpha)·g², p ← p − lr·g / (√v + eps).

    centered: divides by the estimated standard deviation, √(v − m²) with m the running mean of g.  momentum: steps by a
    running sum of those quotients.  The other settings are those of SGD and Adam; raises ValueError for settings out of
    range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.RMSprop([x], lr=0.01)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check_at_least_zero(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), square_avg=like(p))
        if group["momentum"] > 0:
            state["momentum_buffer"] = like(p)
        if group["centered"]:
            state["grad_avg"] = like(p)

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "alpha", "eps", "weight_decay", "momentum")
        return (*[number(group[name]) for name in names], group["centered"], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        lr, alpha, eps, decay, momentum, centered, maximize = settings
        next_step(state)
        more = [opened(state["grad_avg"])] if centered else []
        more += [opened(state["momentum_buffer"])] if momentum > 0 else []
        arrays = (p, g, opened(state["square_avg"]), *more)
        for p, g, v, *others, w, u in blocks(2, *arrays):
            g = directed(g, p, u, decay, maximize)
            squares_towards(v, g, alpha, w)
            if centered:
                m = others[0]
                towards(m, g, 1 - alpha, w)
                np.negative(m, w)
                add_product(v, w, m, w, w)
                np.sqrt(w, w)
            else:
                np.sqrt(v, w)
            np.add(w, eps, w)
            if momentum > 0:
                sums = others[-1]
                np.multiply(sums, momentum, sums)
                np.divide(g, w, w)
                np.add(sums, w, sums)
                add_product(p, sums, -lr, p, w)
            else:
                np.multiply(g, lr, u)
                np.divide(u, w, w)
                np.subtract(p, w, p)
