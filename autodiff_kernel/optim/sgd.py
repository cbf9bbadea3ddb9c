"""torch.optim.SGD: gradient descent, with momentum."""

from typing import Any

import numpy as np

from ..core.errors import explain
from ..core.tensor import Tensor, wrap
from .arrays import BLOCK, ArrayOptimizer, add_product, blocks, check, check_lr, check_ways, number, opened


class SGD(ArrayOptimizer):
    r"""Stochastic gradient descent: p ← p − lr·g, or with momentum v ← momentum·v + (1 − dampening)·g, p ← p − lr·v.

    params: tensors, or dicts as groups.  lr: the step size.  nesterov: look one step of momentum ahead (g + momentum·v).
    weight_decay: adds weight_decay·p to the gradient.  maximize: climb instead.  foreach, fused: accepted, they change
    nothing.  Raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> opt = torch.optim.SGD([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> x
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    as_reals = False  # the update is linear: complex numbers need no other one

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: Any = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_lr(lr)
        for name, value in {"momentum": momentum, "weight_decay": weight_decay}.items():
            check(f"{name} value", value, not value < 0.0, "of at least 0")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise explain(
                ValueError,
                "Nesterov momentum requires a momentum and zero dampening",
                cure="momentum=0.9 (and no dampening) with nesterov=True.",
            )
        super().__init__(params, defaults)
        check_ways(foreach, differentiable, fused)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["momentum"] != 0:
            state["momentum_buffer"] = None

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "momentum", "dampening", "weight_decay")
        return (*[number(group[name]) for name in names], group["nesterov"], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        lr, momentum, dampening, decay, nesterov, maximize = settings
        if maximize:
            g = -g
        if decay:
            g = add_product(g, p, decay, np.empty_like(g))
        if momentum:
            g = self.with_momentum(g, state, momentum, dampening, nesterov)
        if p.size <= BLOCK:
            add_product(p, g, -lr, p)
            return
        arrays = (p, g)
        for p, g, w in blocks(1, *arrays):
            add_product(p, g, -lr, p, w)

    def with_momentum(
        self, g: Any, state: dict[str, Any], momentum: float, dampening: float, nesterov: bool
    ) -> Any:
        """The direction of the step: the running sum of gradients; the first gradient begins it undamped."""
        held = state.get("momentum_buffer")
        if held is None:
            v = np.array(g)
            state["momentum_buffer"] = wrap(v)
        else:
            v = opened(held, as_reals=False)
            np.multiply(v, momentum, v)
            if dampening:
                add_product(v, g, 1 - dampening, v)
            else:
                np.add(v, g, v)
        return add_product(g, v, momentum, np.empty_like(v)) if nesterov else v
