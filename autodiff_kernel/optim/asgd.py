"""torch.optim.ASGD: gradient descent that also averages the parameters."""

from typing import Any

import numpy as np

from ..core import device as devices
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
    put_number,
)  # fmt: skip


class ASGD(ArrayOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky, 1992): p ← (1 − lambd·η)·p − η·g.

    η = lr / (1 + lambd·lr·t)^alpha falls with the steps t.  From step t0 on `state[p]["ax"]` is the mean of p since then
    (before, p itself).  The other settings are those of SGD; raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.ASGD([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.8000, -1.6000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check_at_least_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), eta=count(number(group["lr"])), mu=count(1.0), ax=like(p))

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "lambd", "alpha", "t0", "weight_decay")
        return (*[number(group[name]) for name in names], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        lr, lambd, alpha, t0, decay, maximize = settings
        step = next_step(state)
        eta, mu = devices.item(state["eta"].raw), devices.item(state["mu"].raw)
        arrays = (p, g, opened(state["ax"]))
        for p, g, mean, w, u in blocks(2, *arrays):
            g = directed(g, p, u, decay, maximize)
            np.multiply(p, 1 - lambd * eta, p)
            add_product(p, g, -eta, p, w)
            if mu == 1:
                mean[...] = p
            else:
                np.subtract(p, mean, w)
                np.multiply(w, mu, w)
                np.add(mean, w, mean)
        put_number(state["eta"], lr / (1 + lambd * lr * step) ** alpha)
        put_number(state["mu"], 1 / max(1, step - t0))
