"""Backward as frames, in characters and in HTML. The frames are `<details>`: no script, and they survive saving."""

from __future__ import annotations

from typing import Any

from .style import CARD, GATE, GRADIENT, GREY, INK, LEAF, LINE, RULE, card_html, escape_xml, printable
from .trace_table import width

_STATES = {"taken": GREY, "next": GRADIENT, "complete": INK}


def heading(frame: Any) -> str:
    """'2. MulBackward0 takes w3 = x1·x2 (line 2)'."""
    place = f" ({frame.line})" if frame.line else ""
    return f"{frame.number}. {frame.node} takes {frame.name} = {frame.formula}{place}"


def arrived(frame: Any) -> str:
    """What came to the node: 'g = 1, the adjoint of w3.'"""
    return f"g = {frame.adjoint}, the adjoint of {frame.name}."


def gained(gain: Any) -> str:
    """'x1 gets g · x2 = 3, in all 4 + 3 = 7'."""
    if gain.number == "nothing":
        return f"{gain.to} gets nothing"
    rule = f"{gain.rule} = " if gain.rule else ""
    return f"{gain.to} gets {rule}{gain.number}" + (f", in all {gain.total}" if gain.total else "")


def result(view: Any) -> str:
    """'Result: x1.grad gets 7, x2.grad gets 2'."""
    if not view.results:
        return ""
    return "Result: " + ", ".join(f"{name}.grad gets {' '.join(g.split())}" for name, g in view.results)


def more(frame: Any) -> str:
    return f"and {frame.more:,} more that wait" if frame.more else ""


def others(frame: Any) -> str:
    return f"and {frame.more_gains:,} more inputs get theirs" if frame.more_gains else ""


def steps_text(view: Any) -> str:
    """All frames as text."""
    lines = [view.title, view.start, ""]
    for frame in view.frames:
        lines += [heading(frame), f"   {arrived(frame)} {frame.words}".rstrip()]
        lines += [f"   {gained(gain)}" for gain in frame.gains]
        lines += [f"   {others(frame)}"] * bool(frame.more_gains)
        rows = [[printable(cell) for cell in (s.name, s.adjoint, s.state)] for s in frame.standings]
        sizes = [max(width(row[k]) for row in rows) for k in range(2)]
        for row in rows:
            cells = [cell + " " * (size - width(cell)) for cell, size in zip(row, sizes, strict=False)]
            lines.append("     " + "   ".join([*cells, row[2]]))
        lines += [f"     {more(frame)}"] * bool(frame.more)
        lines.append("")
    lines += [line for line in (result(view), view.left_out, *view.notes) if line]
    return "\n".join(printable(line) for line in lines).rstrip("\n")


def steps_html(view: Any) -> str:
    """The frames as `<details>`; as a strip all of them are open and stand beside each other."""
    out = [
        f"<div style='font-weight:600;padding:2px 0'>{escape_xml(view.title)}</div>"
        f"<div style='padding:0 0 6px'>{escape_xml(view.start)}</div>"
    ]
    out += [_frame(frame, view.strip, frame is view.frames[0]) for frame in view.frames]
    if view.results:
        out.append(
            f"<div style='padding:6px 0 0;color:{GRADIENT};font-weight:600'>{escape_xml(result(view))}</div>"
        )
    out += [
        f"<div style='color:{GREY};padding-top:4px'>{escape_xml(line)}</div>"
        for line in (view.left_out, *view.notes)
        if line
    ]
    return card_html("".join(out))


def _frame(frame: Any, strip: bool, first: bool) -> str:
    """One frame. Beside each other they keep together in print."""
    box = f"border:1px solid {LINE};border-radius:6px;margin:4px 4px 4px 0;background:{CARD};color:{INK};"
    box += (
        "display:inline-block;vertical-align:top;width:330px;max-width:100%;box-sizing:border-box;"
        "break-inside:avoid;page-break-inside:avoid;"
        if strip
        else ""
    )
    gains = "".join(
        f"<div style='color:{GRADIENT};padding:1px 0'>{escape_xml(gained(gain))}</div>"
        for gain in frame.gains
    )
    gains += f"<div style='color:{GREY}'>{escape_xml(others(frame))}</div>" if frame.more_gains else ""
    words = f"<div style='color:{GREY};padding:1px 0'>{escape_xml(frame.words)}</div>" if frame.words else ""
    rest = f"<div style='color:{GREY}'>{escape_xml(more(frame))}</div>" if frame.more else ""
    return (
        f"<details{' open' if strip or first else ''} style='{box}'>"
        f"<summary style='cursor:pointer;padding:5px 10px;background:{GATE};color:{INK};font-weight:600;"
        f"border-radius:6px'>{escape_xml(heading(frame))}</summary>"
        f"<div style='padding:6px 12px 8px;overflow-x:auto'><div>{escape_xml(arrived(frame))}</div>{words}{gains}"
        f"{_table(frame)}{rest}</div></details>"
    )


def _table(frame: Any) -> str:
    """The adjoints so far. What is new stands out by weight, not by colour alone."""
    new = {gain.to for gain in frame.gains}
    head = "".join(
        f"<th scope='col' style='text-align:{align};padding:3px 12px 3px 0;border-bottom:2px solid {LINE};"
        f"color:{LEAF if k == 0 else GRADIENT if k == 1 else INK};background:{CARD}'>{name}</th>"
        for k, (name, align) in enumerate((("value", "left"), ("adjoint so far", "left"), ("", "left")))
    )
    rows = []
    for s in frame.standings:
        weight = ";font-weight:600" if s.name in new else ""
        cell = (
            f"text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid {RULE};background:{CARD}{weight}"
        )
        empty = s.adjoint == "nothing yet"
        rows.append(
            f"<tr style='background:{CARD}'><th scope='row' style='{cell};color:{INK}"
            f"{'' if weight else ';font-weight:400'}'>{escape_xml(s.name)}</th>"
            f"<td style='{cell};white-space:nowrap;color:{GREY if empty else GRADIENT}'>{_rows(s.adjoint)}</td>"
            f"<td style='{cell};white-space:nowrap;color:{_STATES.get(s.state, GREY)}'>{escape_xml(s.state)}</td></tr>"
        )
    return (
        f"<table style='border-collapse:collapse;margin:6px 0 0;max-width:100%;background:{CARD};font-size:13px'>"
        f"<thead><tr style='background:{CARD}'>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _rows(adjoint: str) -> str:
    """A matrix with its rows under each other."""
    return escape_xml(adjoint).replace("], [", "],<br>&#160;[")
