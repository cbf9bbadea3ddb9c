"""torch.optim.Adadelta: steps of the size of the last steps."""

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .arrays import (
    ArrayOptimizer,
    add_product,
    blocks,
    check,
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
)  # fmt: skip


class Adadelta(ArrayOptimizer):
    """Adadelta (Zeiler, 2012): v is a running mean of g², d of the squared steps; step = √(d + eps) / √(v + eps) · g.

    rho: how much of the means is kept.  p ← p − lr·step.  The other settings are those of SGD and Adam; raises
    ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.Adadelta([x])
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.9968, -1.9968], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check("rho value", rho, 0.0 <= rho <= 1.0, "from 0 to 1")
        check_at_least_zero(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), square_avg=like(p), acc_delta=like(p))

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "rho", "eps", "weight_decay")
        return (*[number(group[name]) for name in names], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        lr, rho, eps, decay, maximize = settings
        next_step(state)
        v, d = opened(state["square_avg"]), opened(state["acc_delta"])
        arrays = (p, g, v, d)
        for p, g, v, d, w, u, x in blocks(3, *arrays):
            g = directed(g, p, u, decay, maximize)
            squares_towards(v, g, rho, w)
            np.add(v, eps, w)
            np.sqrt(w, w)
            np.add(d, eps, x)
            np.sqrt(x, x)
            np.divide(x, w, x)
            np.multiply(x, g, x)  # the step
            squares_towards(d, x, rho, w)
            add_product(p, x, -lr, p, w)
