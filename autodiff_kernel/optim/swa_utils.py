"""torch.optim.swa_utils: a model of averaged weights, and the schedule that goes with it.

Weights that a rate which stays high moves around a minimum have a mean that lies nearer to it (Izmailov and others,
2018); an exponential mean (EMA) forgets the early ones.
"""

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from .. import nn
from ..core import modes
from ..core.create import tensor
from ..core.dtype import int64
from ..nn.modules.normalization import _BatchNorm
from .lr_scheduler.schedule import LRScheduler, each_group
from .optimizer import Optimizer


class AveragedModel(nn.Module):
    """A copy of a model whose parameters are the mean of those that `update_parameters` was given.

    device: where it lies.  avg_fn(averaged, current, count): another mean than the plain one, see `get_ema_avg_fn`;
    multi_avg_fn gets lists of parameters.  use_buffers: buffers are averaged too (otherwise taken over).  Raises
    AssertionError for both functions at once.

    >>> import autodiff_kernel as torch
    >>> model = torch.nn.Linear(1, 1)
    >>> mean = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1., 3.):
    ...     _ = torch.nn.init.constant_(model.weight, value)
    ...     mean.update_parameters(model)
    >>> mean.module.weight.item(), mean.n_averaged
    (2.0, tensor(2))
    """

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model makes of an input."""
        return self.module(*args, **kwargs)

    @modes.no_grad()
    def update_parameters(self, model: Any) -> None:
        """Take the model's parameters of now into the mean."""
        mine = [t.detach() for t in self._averaged(self.module)]
        theirs = [t.detach().to(m.device) for t, m in zip(self._averaged(model), mine)]
        count = self.n_averaged
        if not int(count):
            for old, new in zip(mine, theirs):
                old.copy_(new)
        elif self.multi_avg_fn is not None:
            for kind in dict.fromkeys((t.device, t.dtype) for t in mine):
                pairs = [(a, b) for a, b in zip(mine, theirs) if (a.device, a.dtype) == kind]
                self.multi_avg_fn([a for a, _ in pairs], [b for _, b in pairs], count.to(kind[0]))
        else:
            mean = self.avg_fn or get_swa_avg_fn()
            for old, new in zip(mine, theirs):
                old.copy_(mean(old, new, count.to(old.device)))
        if not self.use_buffers:
            for old, new in zip(self.module.buffers(), model.buffers()):
                old.detach().copy_(new.detach().to(old.device))
        self.n_averaged += 1

    def _averaged(self, model: Any) -> Iterable[Any]:
        return chain(model.parameters(), model.buffers() if self.use_buffers else ())


def get_swa_avg_fn() -> Callable[..., Any]:
    """The plain mean: averaged + (current − averaged) / (count + 1)."""

    @modes.no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """The same for lists of parameters, in place."""

    @modes.no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for old, new in zip(averaged_param_list, current_param_list):
            old.lerp_(new, float(1 / (num_averaged + 1)))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """The exponential mean: decay·averaged + (1 − decay)·current.  ValueError for a decay outside 0 to 1."""
    _check_decay(decay)

    @modes.no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """The same for lists of parameters, in place.  ValueError for a decay outside 0 to 1."""
    _check_decay(decay)

    @modes.no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for old, new in zip(ema_param_list, current_param_list):
            old.lerp_(new, 1 - decay)

    return ema_update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


@modes.no_grad()
def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Measure the means and variances of a model's batch norms anew, on all batches of a loader.

    Averaged weights have other ones than those that were measured in training.  Batches that are lists or tuples stand
    for their first element; device: where they go first.
    """
    kept = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not kept:
        return
    training = model.training
    model.train()
    for norm in kept:
        norm.reset_running_stats()
        norm.momentum = None  # the plain mean over all batches
    for batch in loader:
        first = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(first if device is None else first.to(device))
    for norm, momentum in kept.items():
        norm.momentum = momentum
    model.train(training)


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


__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip
