"""Answers to a worksheet, row by row: right, wrong with a hint, or not there yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .result import Result
from .style import ERROR, GREY, INK, RULE, array_text, card_html, escape_xml, printable
from .trace_table import width


@dataclass(frozen=True)
class Verdict:
    """One answer. outcome: 'right', 'wrong' or 'not attempted'. hint: what to look at, never the number itself."""

    row: str
    column: str
    given: str
    outcome: str
    hint: str


class TraceResult(Result):
    """An evaluation trace with its renderings, which checks answers as well."""

    def check(
        self,
        value: Sequence[Any] = (),
        adjoint: Sequence[Any] = (),
        tangent: Sequence[Any] = (),
        seed: int = 0,
    ) -> Result:
        """Compare answers with the trace, row by row.

        value, adjoint, tangent: the answers of a column from the first row on; None for a row not attempted. Numbers
        count as right to four significant digits, as the table writes them. seed: which tangent column (from 0).

        Raises ValueError for more answers than rows, or for a column that the trace doesn't have.

        >>> from autodiff_kernel.views import trace
        >>> sheet = trace(lambda x: x * x, 3.0, blank=True)
        >>> sheet.check(value=[3, 8])
        w1 value    3   right
        w2 value    8   wrong: w2 = w1·w1
        """
        columns = {"value": value, "tangent": tangent, "adjoint": adjoint}
        verdicts = [
            verdict
            for column, answers in columns.items()
            for verdict in _checked(self.model, column, list(answers), seed)
        ]
        right = sum(v.outcome == "right" for v in verdicts)
        return Result(
            tuple(verdicts), text=_text, html=_html, alt=f"{right} of {len(verdicts)} answers are right"
        )


def _checked(model: Any, column: str, answers: list[Any], seed: int) -> list[Verdict]:
    rows = model.rows
    if len(answers) > len(rows):
        raise ValueError(f"{column}: {len(answers)} answers, but the trace has {len(rows)} rows")
    if answers and column == "tangent" and not 0 <= seed < len(model.seeds):
        raise ValueError(f"seed={seed}: the trace has {len(model.seeds)} columns of tangents")
    if answers and column == "adjoint" and not model.reverse:
        raise ValueError("this trace has no adjoints; make it with reverse=True")
    found = []
    for row, answer in zip(rows, answers, strict=False):
        known = {"value": row.value, "adjoint": row.adjoint}.get(column) or row.tangents[seed]
        text = "" if answer is None else array_text(np.asarray(getattr(answer, "raw", answer)))
        outcome = "not attempted" if answer is None else "right" if _same(text, known) else "wrong"
        found.append(
            Verdict(row.name, column, text, outcome, _hint(row, column) if outcome == "wrong" else "")
        )
    return found


def _same(given: str, known: str) -> bool:
    """The same numbers, as far as the table writes them."""
    if given == known:
        return True
    try:
        return bool(np.isclose(float(given), float(known), rtol=1e-3, atol=1e-12))
    except ValueError:
        return False


def _hint(row: Any, column: str) -> str:
    """The formula, without its numbers."""
    if column == "adjoint":
        return f"w̄{row.name[1:]} = {row.adjoint_from.split(' = ')[0]}"
    if column == "tangent" and row.partials:
        return "ẇ = " + " + ".join(f"{words or '∂'}·ẇ{to[1:]}" for to, words, _ in row.partials)
    return f"{row.name} = {row.formula}"


def _line(verdict: Verdict) -> tuple[str, str, str]:
    told = verdict.outcome + (f": {verdict.hint}" if verdict.hint else "")
    return f"{verdict.row} {verdict.column}", verdict.given or "–", told


def _text(verdicts: Sequence[Verdict]) -> str:
    lines = [[printable(cell) for cell in _line(v)] for v in verdicts]
    sizes = [max((width(line[k]) for line in lines), default=0) + 2 for k in range(2)]

    def padded(cell: str, size: int) -> str:
        return cell + " " * (size - width(cell))

    return (
        "\n".join(padded(name, sizes[0]) + padded(given, sizes[1]) + told for name, given, told in lines)
        or "nothing to check"
    )


def _html(verdicts: Sequence[Verdict]) -> str:
    colours = {"right": INK, "wrong": ERROR, "not attempted": GREY}
    cell = f"text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid {RULE}"
    rows = []
    for v in verdicts:
        name, given, told = map(escape_xml, _line(v))
        rows.append(
            f"<tr style='background:#ffffff'><th scope='row' style='{cell};font-weight:400'>{name}</th>"
            f"<td style='{cell}'>{given}</td><td style='{cell};color:{colours[v.outcome]}'>{told}</td></tr>"
        )
    return card_html(
        f"<table style='border-collapse:collapse;background:#ffffff;color:{INK};font-size:13px'>{''.join(rows)}</table>"
    )
