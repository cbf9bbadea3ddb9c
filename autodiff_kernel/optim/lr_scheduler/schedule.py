"""What all schedules have in common: when they step, what they write into the optimizer's groups, how they are saved."""

import types
import warnings
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

from ...core.errors import explain
from ...core.tensor import Tensor
from ..arrays import number
from ..optimizer import Optimizer

EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form "
    "is used instead of the new chainable form, where available."
)
MORE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


class LRScheduler:
    """Base of the schedules; one of your own writes `get_lr`, which returns a learning rate for each group.

    optimizer: whose groups get the rates.  last_epoch: -1 to begin anew; to resume, the last step's number (the groups
    then must have "initial_lr").  `step()` comes after `optimizer.step()`: in the other order the first rate of the
    schedule is left out, and a warning says so.

    >>> import autodiff_kernel as torch
    >>> class Halving(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr * 0.5 ** self.last_epoch for lr in self.base_lrs]
    >>> opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.8)
    >>> schedule = Halving(opt)
    >>> for _ in range(2):
    ...     opt.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.2]
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _unsaved: tuple[str, ...] = ("optimizer",)  # attributes that are no part of the saved state

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        groups = optimizer.param_groups
        for i, group in enumerate(groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise explain(
                    KeyError,
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.",
                    cure="load the optimizer's state before you make the schedule, or leave last_epoch out to begin anew.",
                )
        self.base_lrs = values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Step 0: write the first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, as a dict."""
        return {key: value for key, value in self.__dict__.items() if key not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue with a state that `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates that the last step wrote, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates of this step, one for each group; `step` calls it."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go one step on: write the next learning rates into the optimizer's groups."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            text = (
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
                "make sure to call `optimizer.step()` before `lr_scheduler.step()`. "
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            text = (
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should "
                "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
                "will result in PyTorch skipping the first value of the learning rate schedule. "
            )
        else:
            return
        warnings.warn(text + MORE, UserWarning, stacklevel=3)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._write(rates)

    def _write(self, rates: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates):
            write(group, "lr", lr)
        self._last_lr = values(self.optimizer, "lr")

    def _current(self) -> list[Any]:
        return values(self.optimizer, "lr")

    def _scaled(self, factor: float) -> list[Any]:
        """The rates that hold now, times a factor: the chainable form of most schedules."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


class _LRScheduler(LRScheduler):
    """The old name of LRScheduler."""


def checked(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise explain(
            TypeError,
            f"{type(optimizer).__name__} is not an Optimizer",
            cure="give the optimizer itself, for example StepLR(optimizer, step_size=10).",
        )
    return optimizer


def own(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value  # type: ignore[attr-defined]


def values(optimizer: Optimizer, key: str) -> list[Any]:
    """A setting of all groups; tensors are copied, so that nobody changes the groups through the list."""
    return [own(group[key]) for group in optimizer.param_groups]


def write(group: dict[str, Any], key: str, value: Any) -> None:
    """Change a setting of a group; a tensor is filled, not replaced."""
    if isinstance(group[key], Tensor):
        group[key].fill_(number(value))
    else:
        group[key] = value


def each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """One value for each group: a list as it is, a number for all."""
    groups = optimizer.param_groups
    if isinstance(value, (list, tuple)):
        if len(value) != len(groups):
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                f"param_groups has {len(groups)}."
            )
        return [own(v) for v in value]
    return [own(value) for _ in groups]


def note_steps(optimizer: Optimizer) -> None:
    """Let the optimizer remember that its step was called, for the warning about the order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step = optimizer.step.__func__  # type: ignore[attr-defined]
    held = weakref.ref(optimizer)  # no cycle: the optimizer holds this function

    @wraps(step)
    def noted(*args: Any, **kwargs: Any) -> Any:
        opt: Any = held()
        opt._opt_called = True
        return step(opt, *args, **kwargs)

    noted._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = noted  # type: ignore[method-assign]


def state_of(function: Callable[..., Any] | None) -> Any:
    """What is saved of a function that a schedule calls: an object's attributes; plain functions are not saved."""
    return None if function is None or isinstance(function, types.FunctionType) else function.__dict__.copy()
