"""`%grad`: how large each parameter's gradient is, which are missing, zero or nan, and how that went over the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core.tensor import Tensor

from .build import peek
from .charts import Bar, Curve, bars, chart
from .names import named_tensors
from .page import Page, Table, Words, clip, counted, page_result, sparkline, stacked
from .quiet import quietly
from .result import Result
from .style import number, shape_text
from .tensors import value_counts

MOST, MOST_CURVES, MOST_DEAD, LONGEST_HISTORY = 60, 6, 6, 10_000


@dataclass(frozen=True)
class ParameterGradient:
    """One parameter. norm and relative (norm over the parameter's own) are None where there is no gradient.

    zeros, nan, inf: how many elements of the gradient are that. rows, columns: of a matrix, which are all zero.
    """

    name: str
    shape: tuple[int, ...]
    norm: float | None
    relative: float | None
    size: int
    zeros: int
    nan: int
    inf: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    counts: tuple[int, ...]
    frozen: bool

    @property
    def state(self) -> str:
        """What is to be said of it, '' where all is well."""
        if self.frozen:
            return "frozen: requires_grad is False"
        if self.norm is None:
            return "None: backward has not reached it"
        bad = [counted_of(n, self.size, w) for n, w in ((self.nan, "nan"), (self.inf, "inf")) if n]
        if bad:
            return ", ".join(bad)
        if self.size and self.zeros == self.size:
            return "all zero"
        told = [f"dead {word}{'s' * (len(some) > 1)}: {_listed(some)}" for word, some in self._dead if some]
        if not told and self.zeros:
            told = [counted_of(self.zeros, self.size, "zero")]
        return "; ".join(told)

    @property
    def _dead(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return ("row", self.rows), ("column", self.columns)

    @property
    def alarming(self) -> bool:
        """Not merely some zeros: nothing comes, or nothing of use."""
        nothing = self.norm is None or self.nan or self.inf or (self.size and self.zeros == self.size)
        return not self.frozen and bool(nothing or self.rows or self.columns)


@dataclass(frozen=True)
class GradientsView:
    """All parameters, and the norms of each over the steps (one of them if no history is kept)."""

    title: str
    parameters: tuple[ParameterGradient, ...]
    steps: tuple[tuple[str, tuple[float | None, ...]], ...]


def counted_of(n: int, size: int, word: str) -> str:
    return f"{n} of {size} {word}"


def _listed(some: tuple[int, ...]) -> str:
    more = f", … ({len(some)} in all)" if len(some) > MOST_DEAD else ""
    return ", ".join(map(str, some[:MOST_DEAD])) + more


@quietly
def gradients(
    what: Any = None,
    *,
    namespace: Mapping[str, Any] | None = None,
    history: list[dict[str, float | None]] | None = None,
) -> Result:
    """Show the size of each parameter's gradient, absolute and relative to the parameter, and what is odd about it.

    what: anything with `named_parameters()`, a tensor, a list or a dict of tensors; None means all leaf tensors of
    `namespace` that require grad.  history: a list that this call adds the norms to; what is in it is shown as steps.
    Raises TypeError for anything else, ValueError where there is no parameter at all.

    >>> import autodiff_kernel as torch
    >>> w, b = torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor(1.0, requires_grad=True)
    >>> (w * w).sum().backward()
    >>> for p in gradients({"w": w, "b": b}).model.parameters:
    ...     print(p.name, p.norm, p.relative, p.state)
    w 10.0 2.0
    b None None None: backward has not reached it
    """
    named = _parameters(what, namespace or {})
    if not named:
        raise ValueError("there is no parameter: nothing here is a leaf tensor that requires grad")
    rows = tuple(_measure(name, t) for name, t in named)
    past = history if history is not None else []
    past.append({row.name: row.norm for row in rows})
    del past[:-LONGEST_HISTORY]
    steps = tuple((row.name, tuple(step.get(row.name) for step in past)) for row in rows)
    missing = sum(row.norm is None and not row.frozen for row in rows)
    title = f"Gradients of {counted(len(rows), 'parameter')}"
    title += f", {missing} without one" if missing else ""
    title += f", step {len(past)}" if len(past) > 1 else ""
    return page_result(GradientsView(title, rows, steps), page)


def _parameters(what: Any, space: Mapping[str, Any]) -> list[tuple[str, Tensor]]:
    """The named parameters of whatever it is."""
    if what is None:
        found = [(n, t) for n, t in named_tensors(space) if t.is_leaf and t.requires_grad]
        return list({id(t): (n, t) for n, t in reversed(found)}.values())[::-1]
    if callable(getattr(type(what), "named_parameters", None)):
        return list(what.named_parameters())
    known = {id(t): n for n, t in reversed(named_tensors(space))}
    if isinstance(what, Tensor):
        return [(known.get(id(what), "tensor"), what)]
    if isinstance(what, Mapping):
        items = [(str(k), t) for k, t in what.items()]
    elif isinstance(what, (list, tuple)):
        items = [(known.get(id(t), f"[{i}]"), t) for i, t in enumerate(what)]
    else:
        raise TypeError(
            f"parameters are wanted (a model, a dict or a list of tensors); this is {type(what).__name__}"
        )
    for name, t in items:
        if not isinstance(t, Tensor):
            raise TypeError(f"{clip(name)} is {type(t).__name__}, not a tensor")
    return items


def _measure(name: str, t: Tensor) -> ParameterGradient:
    grad = t._grad_or_none()
    if grad is None:
        return ParameterGradient(
            name, tuple(t.shape), None, None, 0, 0, 0, 0, (), (), (), t.is_leaf and not t.requires_grad
        )
    g, p = np.asarray(peek(grad)), np.asarray(peek(t))
    size = np.abs(g).astype(np.float64)
    norm, own = float(np.sqrt(np.sum(size**2))), float(np.sqrt(np.sum(np.abs(p).astype(np.float64) ** 2)))
    rows, columns = _dead(g)
    signed = size if g.dtype.kind == "c" else g.astype(np.float64)
    return ParameterGradient(
        name, tuple(t.shape), norm, norm / own if own else None, int(g.size), int((g == 0).sum()),
        int(np.isnan(g).sum()), int(np.isinf(g).sum()), rows, columns,
        value_counts(signed[np.isfinite(signed)]), False,
    )  # fmt: skip


def _dead(g: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows and columns of a gradient that are all zero, unless everything is."""
    if g.ndim < 2 or not g.size or not g.any():
        return (), ()
    matrix = g.reshape(g.shape[0], g.shape[1], -1) != 0
    rows = np.flatnonzero(~matrix.any(axis=(1, 2)))
    columns = np.flatnonzero(~matrix.any(axis=(0, 2)))
    return tuple(map(int, rows)), tuple(map(int, columns))


# ------------------------------------------------------------------------------------------------------------- page
def page(m: GradientsView) -> Page:
    """A table with a row for each parameter, bars, and the curves over the steps."""
    shown = m.parameters[:MOST]
    several = len(m.steps[0][1]) > 1
    heads = ["parameter", "shape", "|gradient|", "|gradient| / |parameter|", "values", "remarks"]
    rows = []
    for p, (_, norms) in zip(shown, m.steps, strict=False):
        row = [clip(p.name), shape_text(p.shape), _number(p.norm), _number(p.relative), sparkline(p.counts)]
        rows.append((*row, p.state, sparkline([float("nan") if n is None else n for n in norms[-40:]])))
    table = Table(
        (*heads, "over the steps") if several else tuple(heads),
        tuple(row if several else row[:-1] for row in rows),
        frozenset({2, 3}),
        alarm=frozenset((r, 5) for r, p in enumerate(shown) if p.alarming),
    )
    blocks: list[Words | Table] = [table]
    if len(m.parameters) > MOST:
        blocks.append(Words((f"… and {len(m.parameters) - MOST} more parameters",), "quiet"))
    if any(p.rows or p.columns for p in shown):
        told = "A row of zeros: that unit gets no gradient. A column of zeros: that input passes none on."
        blocks.append(Words((told,), "quiet"))
    scenes = [bars([_bar(p) for p in shown], across="size of the gradient, logarithmic")]
    if several:
        scenes.append(_curves(m))
    return Page(m.title, tuple(blocks), _alt(m), stacked(scenes))


def _number(value: float | None) -> str:
    return "none" if value is None else number(value)


def _bar(p: ParameterGradient) -> Bar:
    told = "; ".join(part for part in ("" if p.norm is None else number(p.norm), p.state) if part)
    return Bar(clip(p.name), p.norm or 0.0, told, p.alarming)


def _curves(m: GradientsView) -> Any:
    """The norms of the first parameters over the steps."""
    curves = [
        Curve(clip(name), [(i + 1, float("nan") if n is None else n) for i, n in enumerate(norms)])
        for name, norms in m.steps[:MOST_CURVES]
    ]
    left_out = len(m.steps) - len(curves)
    more = f" (the first {MOST_CURVES} parameters)" if left_out > 0 else ""
    return chart(curves, across="step", up=f"|gradient|, logarithmic{more}", log_y=True)


def _alt(m: GradientsView) -> str:
    parts = [f"{clip(p.name)} {p.state or _number(p.norm)}" for p in m.parameters[:8]]
    more = f"; and {len(m.parameters) - 8} more" if len(m.parameters) > 8 else ""
    return f"{m.title}: {'; '.join(parts)}{more}"
