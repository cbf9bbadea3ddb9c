"""`%watch`: what a cell has done — operations and nodes made, memory kept, gradients changed, copies between devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autodiff_kernel import explain
from autodiff_kernel.core import journal, transfers
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .names import Names
from .page import Page, Table, clip, counted, page_result
from .placement_cards import size
from .result import Result

MOST = 8


@dataclass(frozen=True)
class Mark:
    """The moment before a cell: the newest event, the number of copies, and what graphs kept."""

    event: Event | None
    copies: int
    kept: int


@dataclass(frozen=True)
class WatchView:
    """What happened between a mark and now. more: the journal is too short to tell all."""

    operations: int
    nodes: int
    most: tuple[tuple[str, int], ...]
    kept: int
    change: int
    gradients: tuple[str, ...]
    copies: tuple[tuple[str, int, int], ...]
    more: bool

    @property
    def idle(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.operations or self.gradients or self.copies or self.change)


def mark(namespace: Mapping[str, Any] | None = None) -> Mark:
    """Remember this moment; `watch` tells what happened after it."""
    log = journal.LOG
    return Mark(log[-1] if log else None, transfers.transfer_count(), _kept(namespace or {}))


def _kept(names: Mapping[str, Any]) -> int:
    """The bytes that graphs keep, beyond the values and gradients that have names."""
    return sum(holding.graph for holding in explain.memory(dict(names)).holdings)


def events_since(event: Event | None) -> tuple[list[Event], bool]:
    """The events after one, oldest first; and whether it is no longer in the journal."""
    found: list[Event] = []
    for e in reversed(journal.LOG):
        if e is event:
            return found[::-1], False
        found.append(e)
    return found[::-1], event is not None


def watch(since: Mark, *, namespace: Mapping[str, Any] | None = None) -> Result:
    """Show what happened since a mark, as far as it was recorded.

    since: what `mark` gave.  namespace: the user's names.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.core import modes
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> before = mark()
    >>> with modes.recording(True):
    ...     (x * x).backward()
    >>> watch(before, namespace={"x": x}).model.gradients
    ('x',)
    """
    names = dict(namespace or {})
    events, more = events_since(since.event)
    made = [e for e in events if e.kind in ("operation", "write")]
    called = Names(names)
    leaves: dict[str, None] = {}
    for e in events:
        t = e.tensor() if e.kind == "gradient" else None
        if isinstance(t, Tensor):
            leaves[clip(called.of_tensor(t) or "a leaf without a name")] = None
    copies: Counter[str] = Counter()
    weights: Counter[str] = Counter()
    for copy in transfers.transfers_since(since.copies):
        way = f"{copy.source} → {copy.destination}"
        copies[way] += 1
        weights[way] += copy.nbytes
    kept = _kept(names)
    model = WatchView(
        len(made), sum(e.tracked for e in made), tuple(Counter(e.name for e in made).most_common(MOST)), kept,
        kept - since.kept, tuple(leaves), tuple((way, n, weights[way]) for way, n in sorted(copies.items())), more,
    )  # fmt: skip
    return page_result(model, page)


def page(m: WatchView) -> Page:
    """A row for each kind of thing that happened."""
    least = "at least " if m.more else ""
    most = ", ".join(f"{name} {n}×" if n > 1 else name for name, n in m.most)
    sign = "+" if m.change >= 0 else "−"
    rows = [
        ("operations", f"{least}{m.operations}" + (f": {most}" if most else "")),
        ("graph nodes made", f"{least}{m.nodes}"),
        ("kept for backward", f"{size(m.kept)} ({sign}{size(abs(m.change))})"),
        (
            "gradients changed",
            ", ".join(m.gradients[:MOST]) + (" …" if len(m.gradients) > MOST else "") or "none",
        ),
    ]
    rows += [(f"copied {way}", f"{counted(n, 'time')}, {size(nbytes)}") for way, n, nbytes in m.copies]
    title = "This cell"
    alt = f"{title}: {'; '.join(f'{name} {told}' for name, told in rows)}"
    return Page(title, (Table(("of what", "how much"), tuple(rows)),), alt)
