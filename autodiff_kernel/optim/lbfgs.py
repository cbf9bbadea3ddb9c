"""torch.optim.LBFGS: a quasi-Newton method that asks for the loss several times a step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import modes
from ..core.inplace import stamp
from ..core.tensor import wrap
from .arrays import check_lr, number, reals
from .optimizer import Optimizer
from .wolfe import strong_wolfe

Array = Any


class LBFGS(Optimizer):
    """L-BFGS: steps along −H·g, where H estimates the inverse Hessian from the last history_size steps.

    `step(closure)` makes up to max_iter iterations; closure clears the gradients, computes the loss, calls backward and
    returns the loss.  max_eval: how often it may be called (max_iter·5/4 if left out).  It stops early where the
    gradient is at most tolerance_grad, or a change at most tolerance_change.  line_search_fn: None for steps of length
    lr, or "strong_wolfe".  All parameters form one group.  Raises ValueError for more groups, RuntimeError for another
    line search.

    >>> import autodiff_kernel as torch
    >>> x = torch.tensor([3., -2.], requires_grad=True)
    >>> opt = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     opt.zero_grad()
    ...     loss = ((x - torch.tensor([1., 1.])) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> opt.step(closure)
    tensor(13., grad_fn=<SumBackward0>)
    >>> x
    tensor([1.0000, 1.0000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_lr(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @modes.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimize along a few directions; returns the loss at the start.

        closure: clears the gradients, computes the loss, calls backward, and returns the loss.
        """
        group = self.param_groups[0]
        lr, max_iter, max_eval = number(group["lr"]), group["max_iter"], group["max_eval"]
        tolerance_grad, tolerance_change = group["tolerance_grad"], group["tolerance_change"]

        def evaluate() -> Any:
            with modes.enable_grad():
                return closure()

        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss = float(first)
        calls = 1
        state["func_evals"] += 1
        gradient = self._gradient()
        if largest(gradient) <= tolerance_grad:
            return first
        memory = _Memory(state, group["history_size"])
        for iteration in range(1, max_iter + 1):
            state["n_iter"] += 1
            start = state["n_iter"] == 1
            direction = memory.direction(gradient, start)
            memory.last, previous_loss = gradient.copy(), loss
            memory.length = min(1.0, 1.0 / np.abs(gradient).sum()) * lr if start else lr
            slope = dot(gradient, direction)
            if slope > -tolerance_change:
                break
            done = False
            more = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                here = [p.raw.copy() for p in self._params]

                def along(t: float, d: Array = direction, x: list[Array] = here) -> tuple[float, Array]:
                    self._move(t, d)
                    value = float(evaluate())
                    found = self._gradient()
                    self._put(x)
                    return value, found

                loss, gradient, memory.length, more = strong_wolfe(
                    along, memory.length, direction, loss, gradient, slope, max_calls=max_eval - calls
                )
                self._move(memory.length, direction)
                done = largest(gradient) <= tolerance_grad
            else:
                self._move(memory.length, direction)
                if iteration != max_iter:
                    loss = float(evaluate())
                    gradient = self._gradient()
                    done = largest(gradient) <= tolerance_grad
                    more = 1
            calls += more
            state["func_evals"] += more
            if done or iteration == max_iter or calls >= max_eval:
                break
            if largest(direction * memory.length) <= tolerance_change:
                break
            if abs(loss - previous_loss) < tolerance_change:
                break
        memory.save(state, previous_loss)
        return first

    # ---- all parameters as one vector
    def _gradient(self) -> Array:
        parts = []
        for p in self._params:
            g = p._grad_or_none()
            raw = np.zeros_like(p.raw) if g is None else g.raw
            parts.append(reals(np.asarray(raw) if isinstance(raw, np.generic) else raw).reshape(-1))
        return np.concatenate(parts)

    def _move(self, length: float, direction: Array) -> None:
        """Add length·direction to the parameters."""
        at = 0
        for p in self._params:
            stamp(p)
            raw = np.asarray(p.raw) if isinstance(p.raw, np.generic) else p.raw
            flat = reals(raw)
            step = direction[at : at + flat.size].reshape(flat.shape)
            np.add(flat, step * length, flat)
            if raw is not p.raw:
                p.raw = raw[()]
            at += flat.size

    def _put(self, arrays: list[Array]) -> None:
        for p, x in zip(self._params, arrays):
            stamp(p)
            if isinstance(p.raw, np.generic):
                p.raw = x
            else:
                p.raw[...] = x


class _Memory:
    """The last steps and changes of the gradient, from which the next direction is made.

    dirs: changes of the gradient y; steps: s; ro: 1 / (y·s).  scale: the first estimate of H is scale times the identity.
    """

    def __init__(self, state: dict[str, Any], size: int) -> None:
        self.size = size
        self.d = _raw(state.get("d"))
        self.length = state.get("t")
        self.dirs, self.steps = [[_raw(x) for x in state.get(key) or []] for key in ("old_dirs", "old_stps")]
        self.ro = [_raw(x) for x in state.get("ro") or []]
        self.scale = _raw(state.get("H_diag", 1))
        self.last = _raw(state.get("prev_flat_grad"))

    def direction(self, gradient: Array, start: bool) -> Array:
        """−H·gradient, by the two loops of Nocedal (1980)."""
        if start:
            self.dirs, self.steps, self.ro, self.scale = [], [], [], 1
            self.d = -gradient
            return self.d
        y, s = gradient - self.last, self.d * self.length
        ys = y.dot(s)
        if ys > 1e-10:
            if len(self.dirs) == self.size:
                for held in (self.dirs, self.steps, self.ro):
                    held.pop(0)
            self.dirs.append(y)
            self.steps.append(s)
            self.ro.append(1.0 / ys)
            self.scale = ys / y.dot(y)
        q = -gradient
        alphas = []
        for y, s, ro in zip(reversed(self.dirs), reversed(self.steps), reversed(self.ro)):
            alphas.append(s.dot(q) * ro)
            q -= y * alphas[-1]
        self.d = q * self.scale
        for y, s, ro, alpha in zip(self.dirs, self.steps, self.ro, reversed(alphas)):
            self.d += s * (alpha - y.dot(self.d) * ro)
        return self.d

    def save(self, state: dict[str, Any], loss: float) -> None:
        state.update(
            d=wrap(self.d), t=self.length, old_dirs=[wrap(x) for x in self.dirs],
            old_stps=[wrap(x) for x in self.steps], ro=[wrap(x) for x in self.ro],
            H_diag=self.scale if isinstance(self.scale, int) else wrap(self.scale), prev_flat_grad=wrap(self.last),
            prev_loss=loss,
        )  # fmt: skip


def _raw(x: Any) -> Any:
    return getattr(x, "raw", x)


def dot(a: Array, b: Array) -> Any:
    """The product as a number of the arrays' own precision: what is computed from it is rounded as in PyTorch."""
    return a.dot(b)


def largest(a: Array) -> Any:
    return np.abs(a).max()
