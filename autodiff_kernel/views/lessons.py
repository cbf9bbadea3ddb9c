"""`%predict` and `%check`: a guess beside what came out, and a check with three outcomes: right, wrong, not attempted."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_kernel.core.tensor import Tensor

from .build import peek
from .page import Page, Table, Words, clip, page_result
from .quiet import quietly
from .result import Result
from .style import array_text

RIGHT, WRONG, NOT_ATTEMPTED, COMPARE = "right", "wrong", "not attempted", "compare"
SIGNS = {RIGHT: "✓", WRONG: "✗", NOT_ATTEMPTED: "○", COMPARE: "?"}
BLANKS = ("", "...", "…", "?", "___")
FAILURES = ("error", "an error", "it fails", "fails", "exception")


@dataclass(frozen=True)
class Guess:
    """What a student expects: the text as typed, and its value if it is one (else None)."""

    text: str
    value: Any = None
    is_value: bool = False

    @property
    def blank(self) -> bool:
        """Whether nothing was typed yet."""
        return self.text.strip() in BLANKS


@dataclass(frozen=True)
class PredictionView:
    """A guess and a result. outcome: right, wrong, compare (a guess in words), or not attempted."""

    name: str
    guess: str
    result: str
    outcome: str
    remark: str


@dataclass(frozen=True)
class CheckView:
    """An exercise with its outcome, and a hint where it is wrong; never the solution."""

    name: str
    outcome: str
    hint: str


# --------------------------------------------------------------------------------------------------------- predict
@quietly
def prediction(name: str, guess: Guess, result: Any) -> Result:
    """Show a guess beside what came out.

    name: what was guessed.  guess: a `Guess`.  result: the value, or the exception that came instead.  Numbers are
    right if they agree to the digits that were guessed; a guess in words is left to the student to compare.

    >>> prediction("slope", Guess("0.33", 0.33, True), 1 / 3).model.outcome
    'right'
    >>> prediction("slope", Guess("it grows"), 1 / 3).model.outcome
    'compare'
    """
    outcome, remark = (NOT_ATTEMPTED, "no guess yet") if guess.blank else _judged(guess, result)
    shown = "not shown: guess first" if guess.blank else _written(result)
    model = PredictionView(clip(name), clip(guess.text) if not guess.blank else "—", shown, outcome, remark)
    return page_result(model, _prediction_page)


def _judged(guess: Guess, result: Any) -> tuple[str, str]:
    """The outcome and a remark."""
    text = guess.text.strip().strip("'\"").lower()
    if isinstance(result, BaseException):
        kinds = {kind.__name__.lower() for kind in type(result).__mro__[:-2]}
        hit = text in FAILURES or text in kinds
        return (RIGHT if hit else WRONG), ("" if hit else "it raised an error")
    if text in FAILURES:
        return WRONG, "it raised no error"
    if isinstance(result, (str, bool)) or result is None or not _is_number(result):
        if guess.is_value and _plain(guess.value) == _plain(result):
            return RIGHT, ""
        spoken = str(_plain(result)).lower()
        if text == spoken or f"torch.{text}" == spoken:
            return RIGHT, ""
        known = guess.is_value or isinstance(result, (str, bool)) or not isinstance(result, (list, tuple))
        return (WRONG, "") if known else (COMPARE, "")
    if not guess.is_value or not _is_number(guess.value):
        return COMPARE, "compare them yourself"
    return _numbers(guess.value, result)


def _plain(value: Any) -> Any:
    """Sizes as tuples and tensors as lists."""
    if isinstance(value, Tensor):
        return np.asarray(peek(value)).tolist()
    return tuple(value) if isinstance(value, tuple) else value


def _array(value: Any) -> np.ndarray:
    return np.asarray(peek(value)) if isinstance(value, Tensor) else np.asarray(value)


def _is_number(value: Any) -> bool:
    """A number or numbers in lists: what can be compared digit by digit."""
    if isinstance(value, (str, bytes, Mapping)) or value is None:
        return False
    try:
        return bool(_array(value).dtype.kind in "biufc")
    except ValueError:  # lists of different lengths
        return False


def _numbers(guess: Any, result: Any) -> tuple[str, str]:
    mine, theirs = _array(guess), _array(result)
    if mine.shape != theirs.shape:
        return WRONG, f"another shape: {list(mine.shape)} was guessed, {list(theirs.shape)} came"
    pairs = zip(mine.ravel().tolist(), theirs.ravel().tolist(), strict=True)
    hits = [_near(a, b) for a, b in pairs]
    if all(hits):
        return RIGHT, ""
    return WRONG, "" if len(hits) == 1 else f"{sum(hits)} of {len(hits)} elements are right"


def _near(guess: Any, result: Any) -> bool:
    """Equal to the digits of the guess; a whole number must be met."""
    if guess != guess or result != result:
        return bool(guess != guess and result != result)
    if guess == result:
        return True
    if isinstance(guess, complex) or isinstance(result, complex):
        return abs(guess - result) <= 1e-5 * max(1.0, abs(result))
    if math.isinf(guess) or math.isinf(result):
        return False
    digits = repr(float(guess)).partition("e")[0].partition(".")[2].rstrip("0")
    slack = 0.5001 * 10 ** -len(digits) if digits and "e" not in repr(float(guess)) else 0.0
    return abs(guess - result) <= max(slack, 1e-5 * abs(result), 1e-12)


def _written(result: Any) -> str:
    if isinstance(result, BaseException):
        first = (str(result).splitlines() or [""])[0]
        return clip(f"{type(result).__name__}: {first}")
    if isinstance(result, Tensor):
        values = np.asarray(peek(result))
        if 0 < values.size <= 16:
            return " ".join(array_text(values, room=200, rows=16).split())
        return array_text(values)
    if isinstance(result, float):
        return array_text(result)
    return clip(repr(result))


def _prediction_page(m: PredictionView) -> Page:
    rows = (("your guess (stored in the cell)", m.guess), ("what came out", m.result))
    told = f"{SIGNS[m.outcome]} {m.outcome}" + (f": {m.remark}" if m.remark else "")
    tone = "alarm" if m.outcome == WRONG else "plain"
    title = f"Prediction of {m.name}"
    alt = f"{title}: guess {m.guess}, result {m.result}, {m.outcome}"
    return Page(title, (Table(("", m.name), rows), Words((told,), tone)), alt)


# ----------------------------------------------------------------------------------------------------------- check
def check(judge: Callable[..., Any], *answers: Any, name: str = "") -> Result:
    """Let a check judge answers: right, wrong with the check's hint, or not attempted.

    judge: a function that asserts, with its hints as messages; it may also return False.  answers: what it is given.
    An answer that is `...`, or a NotImplementedError, means that the exercise has not been touched.  Nothing of the
    check but its hint is shown.

    >>> def check_e1(double):
    ...     assert double(2) == 4, "twice as much"
    >>> check(check_e1, lambda x: x * x + 1).model
    CheckView(name='e1', outcome='wrong', hint='twice as much')
    >>> check(check_e1, ...).model.outcome, check(check_e1, lambda x: x + x).model.outcome
    ('not attempted', 'right')
    """
    title = name or str(getattr(judge, "__name__", "check")).removeprefix("check_")
    if any(answer is Ellipsis for answer in answers):
        outcome, hint = NOT_ATTEMPTED, "fill in the cell above, then run it and this one"
    else:
        outcome, hint = outcome_of(lambda: judge(*answers))
    return page_result(CheckView(clip(title), outcome, hint), _check_page)


def outcome_of(run: Callable[[], Any], known: Sequence[str] | None = None) -> tuple[str, str]:
    """Run a check: its outcome and its hint. known: the names there are; a check of another one was not attempted."""
    try:
        found = run()
    except NotImplementedError:
        return NOT_ATTEMPTED, "fill in the cell above, then run it and this one"
    except AssertionError as error:
        return WRONG, str(error.args[0]) if error.args else ""
    except NameError as error:
        missing = getattr(error, "name", None) or ""
        if known is not None and missing not in known:
            return NOT_ATTEMPTED, f"there is no {missing} yet: run the cell above"
        return WRONG, f"your code raised NameError: {error}"
    except Exception as error:  # whatever a student's code may raise
        first = (str(error).splitlines() or [""])[0]
        return WRONG, f"your code raised {type(error).__name__}" + (f": {first}" if first else "")
    return (WRONG, "") if found is False else (RIGHT, "")


def parameters_of(judge: Callable[..., Any]) -> list[str]:
    """The names of the answers that a check takes, those with a default left out."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(judge).parameters.values()
    return [p.name for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]


def check_result(name: str, outcome: str, hint: str) -> Result:
    """The view of a check that has been run elsewhere."""
    return page_result(CheckView(clip(name), outcome, hint), _check_page)


def sentence(m: CheckView) -> str:
    """The outcome in one line.

    >>> sentence(CheckView("e1", "wrong", "the inner derivative is missing"))
    'e1: wrong. Hint: the inner derivative is missing'
    """
    hint = {WRONG: ". Hint: ", NOT_ATTEMPTED: ": "}.get(m.outcome, "") + m.hint if m.hint else ""
    return f"{m.name}: {m.outcome}{hint}"


def _check_page(m: CheckView) -> Page:
    tone = "alarm" if m.outcome == WRONG else "plain"
    blocks = (Words((m.hint,), tone),) if m.hint else ()
    return Page(f"{SIGNS[m.outcome]} {m.name}: {m.outcome}", blocks, sentence(m))
