"""The static graph beside the dynamic one: a function as the flat program that `torch.compile` records, and its graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autodiff_kernel.autograd.compiled import Compiled, compile
from autodiff_kernel.core import modes
from autodiff_kernel.core.pytree import leaves_of
from autodiff_kernel.core.tensor import Tensor

from .graph import graph
from .result import Result
from .style import CARD, GREY, INK, MONO, card_html, escape_xml, printable

_NONE = "No graph to draw: no result requires grad, or the function has walked it itself."


@dataclass(frozen=True)
class ProgramView:
    """name: the function's; source: the program, or reason: why there is none; graph: the call's graph."""

    name: str
    source: str
    reason: str
    graph: Any
    title: str

    def to_dict(self) -> dict[str, Any]:
        """The model as dictionaries, lists, strings and numbers."""
        return {**asdict(self), "graph": None if self.graph is None else self.graph.model.to_dict()}


def compiled(f: Callable[..., Any], *args: Any, namespace: Mapping[str, Any] | None = None, title: str = "",
             **kwargs: Any) -> Result:  # fmt: skip
    """The program that `torch.compile` makes of `f(*args, **kwargs)`, beside the graph that the call records.

    f: a function or module, compiled already or not; it is called once. namespace: variables that give the graph's boxes
    their names; the caller's own if None. title: a heading.

    Raises TypeError for what cannot be called, and what the function itself raises.

    >>> import autodiff_kernel as torch
    >>> def product(x, y):
    ...     return x * y
    >>> for line in compiled(product, torch.ones(2), torch.ones(2)).model.source.splitlines():
    ...     print(line.partition("  #")[0].rstrip())
    def step(x, y):
        t1 = mul(x, y)
        return (t1,), ()
    """
    if namespace is None:
        caller = sys._getframe(1)
        namespace = {**caller.f_globals, **caller.f_locals}
    function = f._replays if type(f) is Compiled else f
    recorded = compile(function)
    if type(recorded) is not Compiled:
        raise TypeError(f"{f!r} cannot be compiled")
    recorded.__dict__["_told"] = True  # the reason stands in the view
    with modes.recording(True):
        result = recorded(*args, **kwargs)
    roots = [t for t in leaves_of(result) if isinstance(t, Tensor) and t.grad_fn is not None]
    drawn = graph(roots if len(roots) > 1 else roots[0], namespace=namespace) if roots else None
    name = getattr(function, "__name__", type(function).__name__)
    view = ProgramView(name, recorded.source, recorded.reason, drawn, title or f"{name} as one program")
    alt = (
        f"{view.title}: {len(view.source.splitlines())} lines"
        if view.source
        else f"{name} runs eagerly: {view.reason}"
    )
    svg = None if drawn is None or drawn.svg is None else lambda view: str(view.graph.svg)
    return Result(view, text=_text, html=_html, svg=svg, alt=alt)


def _program(view: ProgramView) -> str:
    if not view.source:
        return printable(f"{view.name} runs eagerly, since {view.reason}")
    return "\n".join(printable(line.rstrip()) for line in view.source.rstrip("\n").splitlines())


def _text(view: ProgramView) -> str:
    picture = _NONE if view.graph is None else view.graph.text
    return f"{printable(view.title)}\n\n{_program(view)}\n\n{picture}"


def _html(view: ProgramView) -> str:
    program = escape_xml(_program(view))
    picture = f"<div style='color:{GREY}'>{_NONE}</div>" if view.graph is None else view.graph.html
    return card_html(
        f"<div style='font-weight:600'>{escape_xml(printable(view.title))}</div>"
        "<div style='display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start'>"
        f"<pre style='font-family:{MONO};font-size:12px;line-height:1.4;background:{CARD};color:{INK};margin:6px 0;"
        f"max-width:100%;overflow:auto'>{program}</pre><div style='max-width:100%'>{picture}</div></div>"
    )
