"""What holds memory: each tensor with its values, its gradient, and the graph behind it, the largest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autodiff_kernel import explain

from .placement_cards import size
from .result import Result
from .style import GREY, INK, LEAF, RULE, card_html, clip, escape_xml, printable, shape_text

MOST, NAME = 40, 60  # rows, characters of a name


@dataclass(frozen=True)
class Held:
    """One tensor: bytes of its values, its gradient and its graph; how many nodes that has, and the line that keeps most."""

    name: str
    shape: str
    own: int
    gradient: int
    graph: int
    nodes: int
    line: str = ""

    @property
    def total(self) -> int:
        return self.own + self.gradient + self.graph


@dataclass(frozen=True)
class MemoryView:
    """All tensors of a namespace that hold memory, the largest first."""

    held: tuple[Held, ...]

    @property
    def total(self) -> int:
        return sum(held.total for held in self.held)

    @property
    def title(self) -> str:
        many = len(self.held)
        return f"Memory: {many} tensor{'s' * (many != 1)}, {size(self.total)}"

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return asdict(self)


def memory(namespace: Mapping[str, Any]) -> Result:
    """Which tensors hold how much memory: their values, their gradients, and the graphs behind them.

    namespace: names and what they stand for; lists, dictionaries and models are looked into. Shared memory counts once.

    >>> import autodiff_kernel as torch
    >>> w = torch.ones(1000, requires_grad=True)
    >>> loss = (w.exp() * 2).sum()
    >>> memory({"w": w, "loss": loss})
    Memory: 2 tensors, 8.0 kB
      tensor  shape   values  gradient  graph
      loss    []      4 B     -         4.0 kB in 3 nodes
      w       [1000]  4.0 kB  -         -
    """
    rows = tuple(
        Held(
            clip(h.name, NAME), shape_text(h.shape), h.own, h.gradient, h.graph, h.nodes,
            "" if h.line is None or not h.graph else clip(str(h.line), 120),
        )
        for h in explain.memory(namespace).holdings
    )  # fmt: skip
    view = MemoryView(rows)
    return Result(view, text=_text, html=_html, alt=view.title)


_HEADS = ("tensor", "shape", "values", "gradient", "graph")


def _cells(held: Held) -> tuple[str, ...]:
    """A row's cells as text."""
    graph = "-"
    if held.nodes:
        graph = f"{size(held.graph)} in {held.nodes:,} node{'s' * (held.nodes != 1)}"
        graph += f", most by {held.line}" if held.line else ""
    gradient = size(held.gradient) if held.gradient else "-"
    return held.name, held.shape, size(held.own), gradient, graph


def _left_out(view: MemoryView) -> str:
    rest = view.held[MOST:]
    return f"… and {len(rest):,} more, which hold {size(sum(held.total for held in rest))}" if rest else ""


def _text(view: MemoryView) -> str:
    rows = [_HEADS, *(_cells(held) for held in view.held[:MOST])] if view.held else []
    widths = [max(len(row[k]) for row in rows) for k in range(4)] if rows else []
    lines = ["  " + "  ".join([*(c.ljust(w) for c, w in zip(row, widths)), row[4]]).rstrip() for row in rows]
    foot = [f"  {_left_out(view)}"] if _left_out(view) else []
    return "\n".join(printable(line) for line in [view.title, *lines, *foot])


def _html(view: MemoryView) -> str:
    most = max((held.total for held in view.held), default=0)
    ground = "style='background:#ffffff'"
    heads = "".join(
        f"<th scope='col' style='text-align:left;padding:2px 14px 2px 0;font-weight:600;color:{GREY};border-bottom:1px "
        f"solid {RULE}'>{head}</th>"
        for head in ("", *_HEADS)
    )
    rows = "".join(f"<tr {ground}>{_row(held, most)}</tr>" for held in view.held[:MOST])
    foot = f"<div style='color:{GREY};padding-top:4px'>{_left_out(view)}</div>" if _left_out(view) else ""
    table = (
        f"<table style='border-collapse:collapse;font-size:13px;color:{INK};margin:0'><thead><tr {ground}>{heads}</tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )
    title = f"<div style='font-weight:600;padding:2px 0 8px'>{escape_xml(view.title)}</div>"
    return card_html(title + (table if view.held else "") + foot)


def _row(held: Held, most: int) -> str:
    """A bar that shows the tensor's share, then the cells."""
    share = round(90 * held.total / most) if most else 0
    bar = (
        f"<td style='padding:2px 10px 2px 0'><div style='width:90px;height:8px;background:#e6eaee;border-radius:4px'>"
        f"<div style='width:{share}px;height:8px;background:{LEAF};border-radius:4px'></div></div></td>"
    )
    return bar + "".join(
        f"<td style='text-align:left;padding:2px 14px 2px 0;color:{INK}{';white-space:nowrap' * (k < 4)}'>"
        f"{escape_xml(cell)}</td>"
        for k, cell in enumerate(_cells(held))
    )
