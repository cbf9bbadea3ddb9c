"""`%gradcheck`: the same slopes three ways (differences, reverse, forward), and how the error depends on the step h."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.autograd import functional
from autodiff_kernel.core import modes
from autodiff_kernel.core.tensor import Tensor

from .build import peek
from .charts import Curve, Mark, chart
from .jacobian import element, own_copy
from .page import Page, Table, Words, clip, page_result
from .quiet import quietly
from .result import Result
from .style import number

MOST = 24  # entries that the table lists
LONGEST, LARGEST = 10_000, 1_000_000  # elements of x, derivatives that are compared
STEPS = tuple(10 ** (-k / 2) for k in range(2, 27))  # h from 0.1 to 1e-13


@dataclass(frozen=True)
class Slope:
    """One entry of the Jacobian, each way; forward is None where there is no forward mode. off: it does not agree."""

    name: str
    differences: float
    reverse: float
    forward: float | None
    off: bool


@dataclass(frozen=True)
class GradcheckView:
    """All entries, and the errors against the step: (h, of one-sided, of central differences). best: the best h."""

    title: str
    verdict: str
    agrees: bool
    slopes: tuple[Slope, ...]
    missing: str
    note: str
    curve: tuple[tuple[float, float, float], ...]
    best: tuple[float, float] | None


@quietly
def gradcheck(
    f: Callable[[Tensor], Tensor], x: Tensor, *, plot: bool = True, eps: float | None = None,
    rtol: float | None = None, name: str = "f",
) -> Result:  # fmt: skip
    """Compute the derivatives of f at x three ways and compare: central differences, reverse mode, forward mode.

    f: from one tensor to one real tensor.  x: a tensor of floats; float64 unless you want to see rounding errors.
    plot: also compute the error of differences against the step h, along one fixed direction.  eps: the step of the
    table (1e-6 in float64).  rtol: up to which relative difference two ways agree.  name: what to call f.  Raises
    TypeError where x or f(x) is no tensor of floats, ValueError for another eps or rtol, and for too many derivatives.

    >>> import autodiff_kernel as torch
    >>> result = gradcheck(lambda x: x**3, torch.tensor(2.0, dtype=torch.float64), plot=False)
    >>> result.model.agrees, result.model.slopes[0].reverse, result.model.slopes[0].forward
    (True, 12.0, 12.0)
    """
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = x.dtype.name if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"x is a tensor of floats; this is {kind}")
    for what, given in (("eps", eps), ("rtol", rtol)):
        if given is not None and not 0 < given < np.inf:
            raise ValueError(f"{what} is a number above 0; this is {given}")
    with modes.recording(False):
        x = x.detach()
    y = own_copy(f)(x)
    if not isinstance(y, Tensor):
        raise TypeError(f"{clip(name)} gives a tensor; this gave {type(y).__name__}")
    if y.is_complex():
        raise TypeError(
            f"{clip(name)}(x) is complex; the check is of real values, for example of its real part"
        )
    if x.numel() > LONGEST or x.numel() * y.numel() > LARGEST:
        raise ValueError(
            f"{y.numel():,} × {x.numel():,} derivatives are too many to compare one by one (at most {LONGEST:,} elements of "
            f"x, {LARGEST:,} derivatives): take fewer, for example the first elements"
        )
    double = x.dtype.name == "float64"
    eps = eps or (1e-6 if double else 1e-3)
    rtol = rtol or (1e-5 if double else 1e-2)
    values = np.asarray(peek(x))
    apply = _on_arrays(f, x)
    measured = np.stack([_central(apply, values, step, eps) for step in _units(values)], axis=-1)
    m, n = measured.shape
    reverse = _reverse(f, x, m, n)
    forward, missing = _forward(f, x, m, n)
    slopes = tuple(_slopes(measured, reverse, forward, x, y, rtol, name))
    agrees = not any(s.off for s in slopes)
    direction = np.cos(np.arange(values.size)).reshape(values.shape)  # fixed, along no axis, never zero
    curve = tuple(_errors(apply, values, direction, reverse)) if plot else ()
    model = GradcheckView(
        f"Gradient check of {clip(name)}: {m} × {n} derivatives",
        _verdict(agrees, slopes, forward is not None),
        agrees,
        slopes,
        missing,
        ""
        if double
        else f"x is {x.dtype.name}: differences are only good to a few digits; x.double() shows more",
        curve,
        _best(curve),
    )
    return page_result(model, page)


def _on_arrays(f: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[np.ndarray], np.ndarray]:
    """f from arrays to flat arrays of float64, without a graph."""
    from autodiff_kernel.core.create import tensor

    def apply(values: np.ndarray) -> np.ndarray:
        with modes.no_grad(), modes.recording(False):
            moved = tensor(values.astype(np.asarray(peek(x)).dtype)).to(x.device)  # type: ignore[attr-defined]
            return np.asarray(peek(f(moved)), dtype=np.float64).ravel()

    return apply


def _units(values: np.ndarray) -> list[np.ndarray]:
    out = []
    for k in range(values.size):
        step = np.zeros(values.size)
        step[k] = 1
        out.append(step.reshape(values.shape))
    return out


def _central(apply: Any, values: np.ndarray, step: np.ndarray, h: float) -> np.ndarray:
    return np.asarray((apply(values + h * step) - apply(values - h * step)) / (2 * h))


def _reverse(f: Any, x: Tensor, m: int, n: int) -> np.ndarray:
    """The Jacobian by reverse mode.

    Not by `func.jacrev`: that refuses a Function of the user's whose forward fills ctx itself, and such a Function is what
    most wants checking.
    """
    whole = functional.jacobian(own_copy(f), x)
    return np.asarray(peek(whole), dtype=np.float64).reshape(m, n)


def _forward(f: Any, x: Tensor, m: int, n: int) -> tuple[np.ndarray | None, str]:
    """The Jacobian by forward mode, or why there is none."""
    try:
        whole = functional.jacobian(own_copy(f), x, strategy="forward-mode")
        return np.asarray(peek(whole), dtype=np.float64).reshape(m, n), ""
    except (RuntimeError, NotImplementedError) as error:  # a Function of the user's without jvp
        return (
            None,
            f"no forward mode here: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
        )


def _slopes(
    measured: np.ndarray, reverse: np.ndarray, forward: np.ndarray | None, x: Tensor, y: Tensor, rtol: float, name: str
) -> list[Slope]:  # fmt: skip
    scale = max(float(np.nanmax(np.abs(measured), initial=0.0)), 1e-12)
    out = []
    for i, j in np.ndindex(*measured.shape):
        ways = [float(measured[i, j]), float(reverse[i, j])]
        ways += [float(forward[i, j])] if forward is not None else []
        off = not all(math.isfinite(w) for w in ways) or max(ways) - min(ways) > rtol * scale
        title = f"∂{element(clip(name), tuple(y.shape), i)}/∂{element('x', tuple(x.shape), j)}"
        out.append(Slope(title, ways[0], ways[1], ways[2] if forward is not None else None, off))
    return out


def _verdict(agrees: bool, slopes: Sequence[Slope], all_three: bool) -> str:
    if agrees:
        return f"All {'three' if all_three else 'two'} ways agree."
    off = [s for s in slopes if s.off]
    told = f"{len(off)} of {len(slopes)} derivatives don't agree"
    same = all(
        s.forward is None or math.isclose(s.reverse, s.forward, rel_tol=1e-6, abs_tol=1e-12) for s in off
    )
    if same and all_three:
        return f"{told}: both modes say the same, and differences another thing. A kink here, or a wrong derivative."
    if all_three and all(
        math.isclose(s.differences, s.forward or 0.0, rel_tol=1e-4, abs_tol=1e-8) for s in off
    ):
        return f"{told}: reverse mode is alone with its number. Look at backward."
    if all_three and all(math.isclose(s.differences, s.reverse, rel_tol=1e-4, abs_tol=1e-8) for s in off):
        return f"{told}: forward mode is alone with its number. Look at jvp."
    return f"{told}. Look at the marked rows."


def _errors(
    apply: Any, values: np.ndarray, direction: np.ndarray, reverse: np.ndarray
) -> list[tuple[float, float, float]]:
    """(h, error of one-sided, error of central differences) along a direction, against reverse mode."""
    exact, here = reverse @ direction.ravel(), apply(values)
    out = []
    for h in STEPS:
        one_sided = (apply(values + h * direction) - here) / h
        both = _central(apply, values, direction, h)
        errors = (float(np.max(np.abs(way - exact), initial=0.0)) for way in (one_sided, both))
        out.append((h, *(_rounded(e) for e in errors)))
    return [(h, a, b) for h, a, b in out]


def _rounded(error: float) -> float:
    """One digit: the others are rounding noise, and differ between machines."""
    return float(f"{error:.0e}") if math.isfinite(error) else float("nan")


def _best(curve: Sequence[tuple[float, float, float]]) -> tuple[float, float] | None:
    """The step with the smallest error of central differences; the largest such step."""
    found = [(both, -h) for h, _, both in curve if math.isfinite(both)]
    return (-min(found)[1], min(found)[0]) if found else None


# ------------------------------------------------------------------------------------------------------------- page
def page(m: GradcheckView) -> Page:
    """The verdict, the table of three ways, the curve and its table."""
    order = sorted(range(len(m.slopes)), key=lambda i: not m.slopes[i].off)  # what is wrong comes first
    shown = [m.slopes[i] for i in order[:MOST]]
    rows = tuple(
        (
            s.name, number(_same(s.differences, s.reverse)), number(s.reverse),
            "none" if s.forward is None else number(s.forward), "no" if s.off else "yes",
        )
        for s in shown
    )  # fmt: skip
    heads = ("derivative", "central differences", "reverse mode", "forward mode", "agree")
    alarm = frozenset((r, 4) for r, s in enumerate(shown) if s.off)
    blocks: list[Words | Table] = [
        Words((m.verdict,), "plain" if m.agrees else "alarm"),
        Table(heads, rows, frozenset({1, 2, 3}), alarm=alarm),
    ]
    if len(m.slopes) > len(shown):
        blocks.append(
            Words(
                (
                    f"… and {len(m.slopes) - len(shown)} more that {'agree' if m.agrees else 'are not listed'}",
                ),
                "quiet",
            )
        )
    notes = tuple(note for note in (m.missing, m.note, _kink(m)) if note)
    blocks += [Words(notes, "quiet")] if notes else []
    if not m.curve:
        return Page(m.title, tuple(blocks), f"{m.title}. {m.verdict}")
    curve = tuple((_power(h), _power(a), _power(b)) for h, a, b in m.curve)
    caption = "Error against the step h, along one direction"
    told = _told(m)
    blocks += [
        Table(("h", "one-sided", "central"), curve, frozenset({0, 1, 2}), caption, twin=True),
        Words((told,)),
    ]
    return Page(m.title, tuple(blocks), f"{m.title}. {m.verdict} {told}", _scene(m))


def _same(measured: float, exact: float) -> float:
    """What differences give, to the digits that count: the last ones differ between machines."""
    if exact and abs(measured - exact) < 5e-5 * abs(exact):
        return exact
    return 0.0 if abs(measured) <= 1e-9 else float(f"{measured:.3g}")


def _power(value: float) -> str:
    return (
        "nan"
        if value != value
        else "0"
        if value == 0
        else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    )


def _kink(m: GradcheckView) -> str:
    """Central differences straddle a kink without a trace; one-sided ones do not."""
    if not m.agrees or m.best is None or min(a for _, a, _ in m.curve) < max(1e-3, 1e3 * m.best[1]):
        return ""
    return "one-sided differences disagree at every step: x stands on a kink, where there is no derivative"


def _told(m: GradcheckView) -> str:
    if m.best is None:
        return "No step gives a finite difference."
    h, error = m.best
    if m.agrees and not any(both for _, _, both in m.curve):
        return "Central differences are exact here at every step."
    if not m.agrees:
        return f"No step h helps: along this direction the difference is still {_power(error)} at the best of them."
    return (
        f"The best h is about {_power(h)}, with an error of {_power(error)}: a larger step is too coarse, "
        "a smaller one drowns in rounding. Reverse and forward mode need no step at all."
    )


def _scene(m: GradcheckView) -> Any:
    least = min((e for _, a, b in m.curve for e in (a, b) if e > 0), default=1e-16)
    floor = 10.0 ** math.floor(math.log10(least))  # an error of exactly 0 lies on the lowest line
    one = Curve("one-sided", [(h, a or floor) for h, a, _ in m.curve])
    two = Curve("central", [(h, b or floor) for h, _, b in m.curve])
    marks = (
        [Mark(m.best[0], m.best[1] or floor, f"best h ≈ {_power(m.best[0])}")] if m.best and m.agrees else []
    )
    return chart([one, two], across="step h", up="error", log_x=True, log_y=True, marks=marks)
