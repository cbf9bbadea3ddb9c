"""Values that nobody ever set: torch.empty leaves what was in memory."""

from collections.abc import Iterator
from typing import Any

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .aliases import is_view, writes_to
from .answer import LESSONS, Answer, lines
from .history import fact
from .related import operations_around, tensors_of
from .values import once
from .words import Names, expression, label, name_of_tensor

# Rows that do not read the values: they overwrite them, or only pass them on.
_BLIND = ("fill", "fill_number", "zero", "copy", "redraw", "cast", "move", "clone", "contiguous", "masked_fill",
          "copy_slices", "index_put", "zeros_like")  # fmt: skip


def uninitialised(x: Any, names: Names) -> Iterator[Answer]:
    """A tensor from torch.empty that was read before it was filled."""
    if not isinstance(x, Tensor):
        return
    e = fact(x)
    if e is not None and _is_empty(e) and not writes_to(x):
        yield _told(name_of_tensor(x, names) or label(e, names), e, None)
        return
    for use in once("never set", operations_around(x)):
        if use.op.name in _BLIND or is_view(use):
            continue
        source = next((i for i in tensors_of(use) if _is_empty(i)), None)
        t = source.tensor() if source is not None else None
        if source is not None and (t is None or not [w for w in writes_to(t) if w is not use]):
            yield _told(label(source, names), source, use)
            return


def _is_empty(e: Event) -> bool:
    return e.kind == "made" and e.op == "empty" and e.shape != () and 0 not in e.shape


def _told(name: str, e: Event, use: Event | None) -> Answer:
    source = expression(e.place) or "torch.empty()"
    then = f", and {expression(use.place) or 'the next line'} read them" if use is not None else ""
    return Answer(
        "never set", f"{name} holds whatever was in memory: {source} does not set values{then}.",
        lines(("made in", e), *([("read in", use)] if use is not None else [])),
        source.replace("empty", "zeros", 1) if "empty" in source else "torch.zeros(…)", LESSONS["tensors"],
    )  # fmt: skip
