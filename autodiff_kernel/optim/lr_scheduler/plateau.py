"""ReduceLROnPlateau: a smaller rate where a measured number stops getting better."""

import warnings
from typing import Any

from ..arrays import number
from ..optimizer import Optimizer
from .schedule import EPOCH_WARNING, LRScheduler, checked, values, write


class ReduceLROnPlateau(LRScheduler):
    """Times factor after more than `patience` steps without a better metric; `step(metric)` is told it.

    mode: "min" if smaller is better, "max" if larger.  threshold: by how much it must be better, relative to the best
    (threshold_mode "rel") or absolutely ("abs").  cooldown: steps to wait after a reduction.  min_lr: the smallest rate,
    one number or one for each group.  eps: smaller changes are not made.  Raises ValueError for settings out of range.

    >>> import autodiff_kernel as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
    >>> for loss in [3., 2., 2., 2.]:
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.1]
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer = checked(optimizer)
        count = len(optimizer.param_groups)
        if not isinstance(min_lr, (list, tuple)):
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count
        elif len(min_lr) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
        else:
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = values(optimizer, "lr")
        self._measure(mode, threshold, threshold_mode)
        self._reset()

    def _measure(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = float("inf") if mode == "min" else -float("inf")

    def _reset(self) -> None:
        """Forget what was measured."""
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take note of the metric (a number, or a tensor of one element), and reduce the rates if it is time."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group being "
                    "added to the optimizer. Please modify the `min_lrs` field to match the length of the `optimizer` "
                    "param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            old = float(number(group["lr"]))
            new = max(old * self.factor, least)
            if old - new > self.eps:
                write(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Is it waiting after a reduction?"""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        margin = self.threshold if self.mode == "max" else -self.threshold
        bound = best * (1.0 + margin) if self.threshold_mode == "rel" else best + margin
        return a > bound if self.mode == "max" else a < bound

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue with a state that `state_dict` gave."""
        self.__dict__.update(state_dict)
        self._measure(self.mode, self.threshold, self.threshold_mode)
