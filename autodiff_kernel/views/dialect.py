"""The two dialects side by side: what was otherwise in 2017."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from autodiff_kernel.dialect import TABLE, Difference, get_dialect

from .result import Result
from .style import GREY, INK, MONO, RULE, card_html, escape_xml


@dataclass(frozen=True)
class DialectView:
    """Which dialect is spoken, and all differences."""

    spoken: str
    differences: tuple[Difference, ...]

    @property
    def title(self) -> str:
        return f"Dialect: {self.spoken}"

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self) | {"differences": [d._asdict() for d in self.differences]}


def dialect() -> Result:
    """Which dialect is spoken, and what differs between the two.

    >>> print(dialect().text.splitlines()[0])
    Dialect: modern
    """
    view = DialectView(get_dialect(), tuple(TABLE.values()))
    return Result(view, text=_text, html=_html, alt=f"{view.title}; {len(view.differences)} differences")


def _text(view: DialectView) -> str:
    lines = [view.title]
    for d in view.differences:
        lines += ["", f"{d.about}: {d.example}", f"  2017    {d.old}", f"  modern  {d.modern}"]
    return "\n".join(lines)


def _html(view: DialectView) -> str:
    cell = f"text-align:left;vertical-align:top;padding:4px 14px 4px 0;border-bottom:1px solid {RULE};color:{INK}"
    code = f"font-family:{MONO};font-size:12px;color:{INK};background:none;white-space:pre-wrap;overflow-wrap:anywhere"
    heads = "".join(
        f"<th scope='col' style='{cell};color:{GREY};font-weight:600'>{head}</th>"
        for head in (
            "",
            *(f"{one}, spoken now" if one == view.spoken else one for one in ("2017", "modern")),
            "example",
        )
    )
    rows = "".join(
        f"<tr style='background:#ffffff'><th scope='row' style='{cell};font-weight:400'>{escape_xml(d.about)}</th>"
        f"<td style='{cell}'>{escape_xml(d.old)}</td><td style='{cell}'>{escape_xml(d.modern)}</td>"
        f"<td style='{cell}'><code style='{code}'>{escape_xml(d.example)}</code></td></tr>"
        for d in view.differences
    )
    return card_html(
        f"<div style='font-weight:600;padding:2px 0 8px'>{escape_xml(view.title)}</div>"
        f"<table style='border-collapse:collapse;font-size:13px;margin:0'><thead><tr style='background:#ffffff'>{heads}</tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )
