"""torch.optim.Adafactor: the mean square of a matrix kept as one row and one column."""

from typing import Any

import numpy as np

from ..core import device as devices
from ..core import dtype as dtypes
from ..core.errors import explain
from ..core.tensor import Tensor, wrap
from .arrays import ArrayOptimizer, add_product, check_ways, count, like, next_step, number, opened, towards


class Adafactor(ArrayOptimizer):
    """Adafactor (Shazeer and Stern, 2018): V ≈ row means · column means / mean of the rows, p ← p − α·U.

    U = g / √V, at most d in root mean square; α = min(lr, 1 / √t) times the root mean square of p (at least eps[1]).
    Vectors keep V itself.  beta2_decay: the running means keep 1 − t^beta2_decay.  eps[0]: the smallest V is its square
    (None: that of the dtype).  weight_decay shrinks p by lr·weight_decay.  Raises ValueError for settings out of range,
    RuntimeError for complex parameters.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([[1., -2.], [3., 4.]], requires_grad=True)
    >>> opt = torch.optim.Adafactor([x], lr=0.1)
    >>> (x ** 2).sum().backward()
    >>> opt.step()
    >>> [name for name in opt.state[x]]
    ['step', 'row_var', 'col_var']
    """

    as_reals = False

    def __init__(
        self, params: Any, lr: Any = 1e-2, beta2_decay: float = -0.8, eps: Any = (None, 1e-3), d: float = 1.0,
        weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        _need(0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}")
        _need(beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        _need(eps[0] is None or 0.0 <= eps[0], f"epsilon1 should be >= 0 but is: {eps[0]}")
        _need(0.0 <= eps[1], f"epsilon2 should be >= 0 but is: {eps[1]}")
        _need(1.0 <= d, f"Clipping threshold d should be >= 1 but is: {d}")
        _need(0.0 <= weight_decay, f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_ways(foreach)

    def start(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if p.is_complex():
            raise explain(
                RuntimeError, "Adafactor does not support complex parameters", cure="use Adam.", tensor=p
            )
        state["step"] = count()
        raw = p.raw
        if raw.ndim > 1:
            state["row_var"] = wrap(devices.zeros((*raw.shape[:-1], 1), raw.dtype, like=raw))
            state["col_var"] = wrap(devices.zeros((*raw.shape[:-2], 1, raw.shape[-1]), raw.dtype, like=raw))
        else:
            state["variance"] = like(p)

    def settings(self, group: dict[str, Any]) -> Any:
        names = ("lr", "beta2_decay", "d", "weight_decay")
        return (*[number(group[name]) for name in names], *group["eps"], group["maximize"])

    def update(self, p: Any, g: Any, state: dict[str, Any], settings: Any) -> None:
        lr, beta2_decay, d, decay, least, smallest, maximize = settings
        if maximize:
            g = -g
        if least is None:
            least = dtypes.finfo(dtypes.of(p.dtype)).eps
        step = next_step(state)
        weight = step**beta2_decay
        size = max(smallest, root_mean_square(p)) * min(lr, 1 / step**0.5)
        if decay:
            np.multiply(p, 1 - lr * decay, p)
        squares = g * g
        if p.ndim > 1:
            rows, columns = opened(state["row_var"]), opened(state["col_var"])
            towards(rows, squares.mean(-1, keepdims=True), weight, np.empty_like(rows))
            towards(columns, squares.mean(-2, keepdims=True), weight, np.empty_like(columns))
            variance = rows * columns / np.maximum(rows.mean(-2, keepdims=True), least)
        else:
            variance = opened(state["variance"])
            towards(variance, squares, weight, squares.copy() if squares.ndim else np.empty_like(variance))
        step_along = g / np.sqrt(np.maximum(variance, least * least))
        shrunk = max(1.0, root_mean_square(step_along) / d)
        add_product(p, step_along, -size / shrunk, p)


def root_mean_square(a: Any) -> float:
    return float(devices.item((a * a).sum()) / a.size) ** 0.5


def _need(condition: bool, phrase: str) -> None:
    if not condition:
        raise ValueError(phrase)
