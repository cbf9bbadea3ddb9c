"""Schedules made of schedules: one after another, or all at once."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler, values, write


class _Combined(LRScheduler):
    _unsaved = ("optimizer", "_schedulers")
    _schedulers: Any

    def state_dict(self) -> dict[str, Any]:
        """The state, with those of the parts."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue with a state that `state_dict` gave."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for schedule, saved in zip(self._schedulers, state_dict["_schedulers"]):
            schedule.load_state_dict(saved)

    def _check_parts(self, schedulers: Sequence[Any], optimizer: Optimizer) -> None:
        name = type(self).__name__
        for i, schedule in enumerate(schedulers):
            if not hasattr(schedule, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(schedule, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer is not schedule.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(schedule).__name__} at index {i} has {schedule.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )


class SequentialLR(_Combined):
    """One schedule after another: the next one begins (at its step 0) at each of the milestones.

    schedulers: one more than milestones.  Raises ValueError for other numbers of them, for schedules of another
    optimizer and for ReduceLROnPlateau.

    >>> import autodiff_kernel as torch
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> s = torch.optim.lr_scheduler
    >>> schedule = s.SequentialLR(opt, [s.ConstantLR(opt, 0.1), s.ExponentialLR(opt, 0.5)], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     opt.step()
    ...     schedule.step()
    >>> rates
    [0.1, 0.1, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check_parts(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            write(group, "lr", group["initial_lr"])
        self.recursive_undo()  # each part has made its first step, on its own
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first step of all parts."""
        one = self if sched is None else sched
        if hasattr(one, "_schedulers"):
            for part in one._schedulers:
                self.recursive_undo(part)
        elif hasattr(one, "last_epoch"):
            one.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Go one step on, in the schedule whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[turn]
        if turn and self._milestones[turn - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules at once: each step makes one of all of them, in their order."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        chosen = optimizer or schedulers[0].optimizer
        self._check_parts(schedulers, chosen)
        self._schedulers, self.optimizer = schedulers, chosen
        self._last_lr = values(chosen, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Go one step on, in every schedule."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = values(self.optimizer, "lr")
