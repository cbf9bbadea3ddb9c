"""The live stepper: a widget that shows one frame of `steps(y)` at a time, by button, slider or key.

It is an extra: it needs `anywidget` and a running kernel. Whoever opens a saved notebook sees the frames that
`%step --live` shows below it, which need neither.
"""

from functools import cache
from pathlib import Path
from typing import Any

from autodiff_kernel.views import steps_show as words

_HERE = Path(__file__).parent
MISSING = "The live stepper needs anywidget (pip install anywidget); here are the same steps as frames."
NO_NOTEBOOK = "The live stepper needs a notebook; here are the same steps as frames."


def live(result: Any, at: int = 0) -> Any:
    """A widget over the frames that `views.steps(y)` gave; its `.at` is the frame that is shown, 0 the start.

    Raises ImportError where anywidget is not installed.
    """
    return _widget_class()(steps=_steps(result.model), at=at)


@cache
def _widget_class() -> Any:
    import anywidget
    import traitlets

    class Stepper(anywidget.AnyWidget):  # type: ignore[misc]
        """One frame at a time."""

        _esm = (_HERE / "stepper.js").read_text(encoding="utf-8")
        _css = (_HERE / "stepper.css").read_text(encoding="utf-8")
        steps = traitlets.Dict().tag(sync=True)
        at = traitlets.Int(0).tag(sync=True)

        @traitlets.validate("at")  # type: ignore[untyped-decorator]
        def _inside(self, proposal: Any) -> int:
            return min(max(proposal["value"], 0), len(self.steps.get("frames", ())))

        def __repr__(self) -> str:
            return f"{self.steps['title']} (live: arrow keys step)"

    return Stepper


def _steps(view: Any) -> dict[str, Any]:
    """The frames as the text view words them."""
    return {
        "title": view.title,
        "start": view.start,
        "result": words.result(view),
        "notes": [line for line in (view.left_out, *view.notes) if line],
        "frames": [_frame(frame) for frame in view.frames],
    }


def _frame(frame: Any) -> dict[str, Any]:
    new = {gain.to for gain in frame.gains}
    return {
        "heading": words.heading(frame),
        "arrived": words.arrived(frame),
        "words": frame.words,
        "gains": [words.gained(gain) for gain in frame.gains],
        "rows": [{"cells": [s.name, s.adjoint, s.state], "isNew": s.name in new} for s in frame.standings],
        "more": [line for line in (words.others(frame), words.more(frame)) if line],
    }
