"""torch.optim.Adam and AdamW: step sizes from running means of the gradient and of its square."""

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


class Adam(ArrayOptimizer):
    r"""Adam (Kingma and Ba, 2015): m ← β1·m + (1 − β1)·g, v ← β2·v + (1 − β2)·g², p ← p − lr·m̂ / (√v̂ + eps).

    m̂ and v̂ are m / (1 − β1ᵗ) and v / (1 − β2ᵗ): both means begin at zero, and t counts the steps.  amsgrad: divide by the
    largest v so far.  weight_decay: adds weight_decay·p to the gradient; with decoupled_weight_decay p shrinks by
    lr·weight_decay instead (AdamW).  maximize: climb.  foreach, fused, capturable: accepted, they change nothing.
    Raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.Adam([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_lr(lr)
        check_at_least_zero(eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        if not (all(isinstance(b, float) for b in betas) or all(isinstance(b, Tensor) for b in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr, "betas": tuple(map(number, betas)), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach, differentiable, fused)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("amsgrad", "maximize", "decoupled_weight_decay"):
                group.setdefault(name, False)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state.update(step=count(), exp_avg=like(p), exp_avg_sq=like(p))
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = like(p)

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "eps", "weight_decay")
        betas = map(number, group["betas"])
        flags = ("decoupled_weight_decay", "amsgrad", "maximize")
        return (*betas, *[number(group[name]) for name in names], *[group[name] for name in flags])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        beta1, beta2, lr, eps, decay, decoupled, amsgrad, maximize = settings
        step = next_step(state)
        size = lr / (1 - beta1**step)
        root = (1 - beta2**step) ** 0.5
        m, v = opened(state["exp_avg"]), opened(state["exp_avg_sq"])
        largest = [opened(state["max_exp_avg_sq"])] if amsgrad else []
        arrays = (p, g, m, v, *largest)
        for p, g, m, v, *peak, w, u in blocks(2, *arrays):
            if decay and decoupled:
                np.multiply(p, 1 - lr * decay, p)
            g = directed(g, p, u, 0 if decoupled else decay, maximize)
            towards(m, g, 1 - beta1, w)
            squares_towards(v, g, beta2, w)
            if peak:
                v = np.maximum(peak[0], v, out=peak[0])
            np.sqrt(v, w)
            np.divide(w, root, w)
            np.add(w, eps, w)
            np.multiply(m, size, u)
            np.divide(u, w, u)
            np.subtract(p, u, p)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019): each step first shrinks p by lr·weight_decay·p.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., -2.], requires_grad=True)
    >>> opt = torch.optim.AdamW([x], lr=0.1, weight_decay=0.5)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([ 0.8500, -1.8000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
