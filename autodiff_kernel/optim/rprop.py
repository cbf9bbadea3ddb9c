"""torch.optim.Rprop: only the signs of the gradients count."""

from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .arrays import (
    ArrayOptimizer,
    blocks,
    check,
    check_lr,
    check_ways,
    count,
    like,
    next_step,
    number,
    opened,
)


class Rprop(ArrayOptimizer):
    """Resilient backpropagation (Riedmiller and Braun, 1993), for whole data sets rather than batches.

    Each element has a step size: it grows by etas[1] while the gradient keeps its sign, shrinks by etas[0] where the
    sign has changed (that element then rests for one step), and stays within step_sizes.  lr: the first step size.
    Raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.Rprop([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: Any = (0.5, 1.2), step_sizes: Any = (1e-6, 50), *,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_lr(lr)
        check(
            "eta values", f"{etas[0]}, {etas[1]}", 0.0 < etas[0] < 1.0 < etas[1], "below 1, and one above 1"
        )
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), prev=like(p), step_size=like(p, number(group["lr"])))

    def settings(self, group: dict[str, Any]) -> Any:
        return (*map(number, group["etas"]), *map(number, group["step_sizes"]), group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        shrink, grow, smallest, largest, maximize = settings
        next_step(state)
        last, size = opened(state["prev"]), opened(state["step_size"])
        arrays = (p, g, last, size)
        for p, g, last, size, w in blocks(1, *arrays):
            if maximize:
                g = -g
            np.multiply(g, last, w)
            turned = w < 0
            factor = np.where(turned, shrink, np.where(w > 0, grow, 1)).astype(w.dtype)
            np.multiply(size, factor, size)
            np.clip(size, smallest, largest, out=size)
            last[...] = np.where(turned, 0, g)
            np.sign(last, w)
            np.multiply(w, size, w)
            np.subtract(p, w, p)
