"""`%shapes`: which operand had which shape, line by line, or in the line that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autodiff_kernel import explain
from autodiff_kernel.core.tensor import Tensor
from autodiff_kernel.explain.raised import Raised
from autodiff_kernel.explain.shapes import shape_steps

from .page import Page, Table, Words, clip, page_result
from .result import Result
from .style import shape_text

MOST = 60


@dataclass(frozen=True)
class ShapesView:
    """steps: (code, shapes before, shape after). operands: (code, shape, dtype) of a failing line, which is `line`."""

    title: str
    steps: tuple[tuple[str, str, str], ...]
    operands: tuple[tuple[str, str, str], ...]
    line: str
    message: str
    left_out: int


def shapes(what: Any, *, namespace: Mapping[str, Any] | None = None, name: str = "") -> Result:
    """Show the shapes on the way to a tensor, or those of the operands of a line that failed.

    what: a tensor computed while recording was on, an exception of ours, or a list of journal events.  namespace: the
    user's names.  name: what to call the tensor.  Raises TypeError for anything else.

    >>> import autodiff_kernel as torch
    >>> from autodiff_kernel.core import modes
    >>> with modes.recording(True):
    ...     y = torch.ones(2, 3).t().sum(0)
    >>> shapes(y, namespace={"y": y}).model.steps[-1]
    ('torch.ones(2, 3).t().sum(0)', '[3, 2]', '[2]')
    """
    names = dict(namespace or {})
    if isinstance(what, BaseException):
        return page_result(_failed(Raised(what, names)), page)
    if isinstance(what, Tensor):
        trail = explain.shapes(what, names).trail
        name = name or next((n for n, x in names.items() if x is what), "it")
        title = f"Shapes on the way to {clip(name)}, which has {shape_text(what.shape)}"
    elif isinstance(what, Sequence) and not isinstance(what, str):
        trail = tuple(shape_steps(what, names))
        title = "Shapes in this cell"
    else:
        raise TypeError(f"shapes are shown of a tensor or of an error; this is {type(what).__name__}")
    steps = tuple(_parted(step) for step in trail)
    model = ShapesView(title, steps[-MOST:], (), "", "", max(0, len(steps) - MOST))
    return page_result(model, page)


def _parted(step: str) -> tuple[str, str, str]:
    """'x.t(): [2, 3] -> [3, 2]' in its three parts."""
    code, _, told = step.rpartition(": ")
    before, arrow, after = told.rpartition(" -> ")
    return (code or step), (before if arrow else ""), (after if code else "")


def _failed(raised: Raised) -> ShapesView:
    """The operands of the failing line."""
    texts = list(raised.texts)
    known = [t for t, _ in texts]
    texts += [
        (t, f"argument {i + 1}") for i, t in enumerate(raised.tensors) if not any(t is k for k in known)
    ]
    operands = tuple(
        (clip(text), shape_text(t.shape), t.dtype.name) for t, text in texts if isinstance(t, Tensor)
    )
    message = (str(raised.error).splitlines() or [""])[0]
    line = str(raised.place) if raised.place is not None else ""
    return ShapesView("Shapes in the line that failed", (), operands, line, message, 0)


def page(m: ShapesView) -> Page:
    """One table: of steps, or of operands under the line that failed."""
    blocks: list[Words | Table] = []
    if m.left_out:
        blocks.append(Words((f"… {m.left_out} earlier steps",), "quiet"))
    if m.line:
        blocks.append(Words((clip(m.line),), "code"))
    if m.message:
        blocks.append(Words((m.message,), "alarm"))
    if m.operands:
        blocks.append(Table(("operand", "shape", "dtype"), m.operands))
    if m.steps:
        blocks.append(
            Table(
                ("code", "shapes before", "shape after"),
                tuple((clip(c), clip(b), clip(a)) for c, b, a in m.steps),
            )
        )
    if not m.steps and not m.operands:
        blocks.append(Words(("No tensor was made: nothing was recorded here.",), "quiet"))
    told = "; ".join(f"{name} has {shape}" for name, shape, _ in m.operands)
    return Page(m.title, tuple(blocks), f"{m.title}: {told}" if told else m.title)
