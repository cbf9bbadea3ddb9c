"""What gradcheck says of a mismatch: PyTorch's sentence and numbers, then which entry is off, and how."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..core import device as devices
from ..core.errors import explain
from ..core.tensor import Tensor

E = TypeVar("E", bound=BaseException)


class Found:
    """One comparison: the analytical and the numerical Jacobian (or product) of output y for input x.

    output, number: their numbers, counting only what requires grad, as PyTorch does.  place: x's number among func's
    arguments.  part: "real" or "imag" where complex numbers are checked by parts.  weight: how much larger the
    absolute tolerance is for a product.
    """

    def __init__(self, analytical: Tensor, numerical: Tensor, x: Tensor, y: Tensor, output: int, number: int,
                 place: int, atol: float, rtol: float, part: str, forward: bool, weight: float) -> None:  # fmt: skip
        self.analytical, self.numerical, self.x, self.y = analytical, numerical, x, y
        self.output, self.number, self.place, self.part = output, number, place, part
        self.atol, self.rtol, self.forward, self.weight = atol, rtol, forward, weight

    def agree(self) -> bool:
        return not off(
            array(self.analytical), array(self.numerical), self.atol * self.weight, self.rtol
        ).any()


def off(a: Any, n: Any, atol: float, rtol: float) -> Any:
    """Which entries differ by too much; a nan does."""
    return np.asarray(~((a == n) | (np.abs(a - n) <= atol + rtol * np.abs(n))))


def array(t: Tensor) -> Any:
    return np.asarray(devices.to_numpy(t.raw))


def mismatch(kind: type[E], found: Found, slow: Callable[[], tuple[Tensor, Tensor]] | None) -> E:
    """The error for a Jacobian that is not what the differences say."""
    phrase = ""
    if found.part:
        which = ("imaginary" if found.part == "imag" else "real") + " part of complex "
        phrase = f"While considering the {which}{'inputs' if found.forward else 'outputs'} only, "
    computed = "Jacobian computed with forward mode mismatch" if found.forward else "Jacobian mismatch"
    phrase += f"{computed} for output {found.output} with respect to input {found.number},"
    phrase += f"\nnumerical:{found.numerical}\nanalytical:{found.analytical}\n"
    analytical, numerical = found.analytical, found.numerical
    if slow is not None:
        analytical, numerical = slow()
        gaps = np.abs(array(analytical) - array(numerical))
        phrase += (
            "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode: a random "
            f"projection of each. All entries:\n\nNumerical:\n {numerical}\nAnalytical:\n{analytical}\n"
            f"\nThe max per-element difference (slow mode) is: {gaps.max() if gaps.size else 0.0}.\n"
        )
    summary, cure = diagnosis(found, array(analytical), array(numerical))
    return explain(kind, phrase, summary, cure, tensor=found.x, topic="gradcheck")


def diagnosis(found: Found, a: Any, n: Any) -> tuple[str, str]:
    """Which entry of the whole Jacobian is off by how much, what the pattern of all says, and what to do."""
    wrong = off(a, n, found.atol, found.rtol)
    if not wrong.any():
        return (
            "Every entry by itself agrees; only the projection is off.",
            "allow a little more: a larger atol.",
        )
    gaps = np.where(wrong, np.nan_to_num(np.abs(a - n), nan=np.inf), -1)
    first = int((gaps >= 0.999 * gaps.max()).argmax())  # of those that are equal but for rounding
    i, o = (int(k) for k in np.unravel_index(first, gaps.shape))
    by, gap = "forward mode" if found.forward else "backward", abs(a[i, o] - n[i, o])
    allowed = found.atol + found.rtol * abs(n[i, o])
    apart = "" if np.isnan(gap) else f", {gap:.4g} apart (allowed: {allowed:.2g})"
    lines = [
        f"{wrong.sum()} of {wrong.size} entries {'is' if wrong.sum() == 1 else 'are'} off. The worst: how "
        f"{element('output', found.output, o, found.y)} changes with {element('argument', found.place, i, found.x)} is "
        f"{number(n[i, o])} by differences and {number(a[i, o])} by {by}{apart}.",
        pattern(a, n, found.atol, found.rtol),
    ]
    cure = ""
    if np.finfo(found.x.raw.dtype).bits < 64:
        lines.append(f"Differences of {found.x.dtype} numbers are coarse: at this step their rounding shows.")
        cure = "check with float64 inputs (x.double()), or with a larger eps and atol."
    return " ".join(line for line in lines if line), cure


def element(what: str, count: int, k: int, t: Tensor) -> str:
    """One element in words: 'argument 0[2, 1]'."""
    at = ", ".join(str(int(i)) for i in np.unravel_index(k, tuple(t.shape)))
    return f"{what} {count}" + (f"[{at}]" if at else "")


def pattern(a: Any, n: Any, atol: float, rtol: float) -> str:
    """What all entries have in common: the usual mistakes leave one of these traces."""

    def same(x: Any, y: Any) -> bool:
        return x.shape == y.shape and not off(x, y, 10 * atol, 10 * rtol).any()

    if not a.any():
        return (
            "Every analytical entry is 0: the graph is cut between this input and this output, backward gives None, or "
            "the function has a kink here."
        )
    if np.isnan(a).any() or np.isnan(n).any():
        return "There are nan among them: the function has no derivative here, or a rule divides by zero."
    if same(a, -n):
        return "The sign is wrong everywhere."
    if same(a.T, n) and not same(a.T, a):
        return "The analytical Jacobian is the transpose of the numerical one."
    large = np.abs(n) > 1e-3 * np.abs(n).max()
    ratio = (a[large] / n[large]).mean() if large.any() else 0
    if ratio and same(a, ratio * n):
        return f"Every entry is {number(ratio)} times what it should be."
    if (np.abs(a) < atol).any() and not off(a, n, atol, rtol)[np.abs(a) >= atol].any():
        return "Where it is wrong the analytical entry is 0: a part of the dependence is left out."
    return ""


def number(x: Any) -> str:
    x = complex(x)
    return f"{x.real:.4g}" if not x.imag else f"{x.real:.4g}{x.imag:+.4g}j"
