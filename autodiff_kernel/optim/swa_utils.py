"""torch.optim.swa_utils: the schedule for averaged weights."""

import math
from typing import Any

from .lr_scheduler.schedule import LRScheduler, each_group
from .optimizer import Optimizer


class SWALR(LRScheduler):
    """From the rate that holds now to swa_lr in anneal_epochs steps, along a cosine or a line; then constant.

    Raises ValueError for another anneal_strategy than "cos" and "linear", and for negative anneal_epochs.
    """

    _unsaved = ("optimizer", "anneal_func")

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        for lr, group in zip(each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """How much of the way to swa_lr is gone at a step."""
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            first = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            rates.append(end * now + first * (1 - now))
        return rates


__all__ = ["SWALR"]
