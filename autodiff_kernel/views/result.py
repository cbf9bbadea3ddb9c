"""What a view gives back: a view model with its renderings, which any Jupyter front end shows by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .style import clip, escape_xml, printable

Render = Callable[[Any], str]
_KINDS = {".txt": "text", ".html": "html", ".svg": "svg", ".tex": "latex"}

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title></head>
<body style="margin:24px;background:#ffffff">
{body}
</body></html>
"""


class Result:
    """A view model and how to render it. Rendering happens when somebody looks, once.

    `text`, `html`, `svg`: functions from the model to a string (`svg` only for pictures, `latex` only for formulas;
    shown_latex: Jupyter is given it, too).
    `alt`: one line that says what is shown, for those who don't see it. `files`: what `save` can write besides
    `.txt .html .svg .tex`: functions (model, path) by suffix.

    >>> r = Result({"n": 1}, text=lambda m: f"n is {m['n']}", html=lambda m: f"<b>{m['n']}</b>", alt="n is 1")
    >>> r
    n is 1
    >>> r._repr_mimebundle_()[0]["text/html"]
    '<b>1</b>'
    """

    def __init__(
        self,
        model: Any,
        *,
        text: Render,
        html: Render,
        svg: Render | None = None,
        latex: Render | None = None,
        shown_latex: bool = False,
        alt: str = "",
        files: Mapping[str, Callable[[Any, Path], None]] | None = None,
    ) -> None:
        self.model = model
        self.alt = printable(clip(alt, 2000))
        self._shown_latex = shown_latex
        self._renderers = {"text": text, "html": html}
        self._renderers |= {kind: render for kind, render in (("svg", svg), ("latex", latex)) if render}
        self._files = dict(files or {})
        self._cache: dict[str, str] = {}

    def _render(self, kind: str) -> str:
        if kind not in self._cache:
            self._cache[kind] = self._renderers[kind](self.model)
        return self._cache[kind]

    @property
    def text(self) -> str:
        """The view as plain text, complete: what a terminal shows and a screen reader reads."""
        return self._render("text")

    @property
    def html(self) -> str:
        """The view as an HTML fragment without script."""
        return self._render("html")

    @property
    def svg(self) -> str | None:
        """The picture as SVG source, or None where the view is not a picture."""
        return self._render("svg") if "svg" in self._renderers else None

    @property
    def latex(self) -> str | None:
        """The view as LaTeX source, or None where it has no formulas."""
        return self._render("latex") if "latex" in self._renderers else None

    def __repr__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """What Jupyter shows: text always, HTML, the picture; and the alternative text in the metadata."""
        kinds = {"text/html": "html", "image/svg+xml": "svg"} | (
            {"text/latex": "latex"} if self._shown_latex else {}
        )
        data = {"text/plain": self.text}
        for mime, kind in kinds.items():
            if kind in self._renderers and (not include or mime in include) and mime not in (exclude or ()):
                data[mime] = self._render(kind)
        return data, {mime: {"alt": self.alt} for mime in data if self.alt and mime != "text/plain"}

    def save(self, path: str | Path) -> Path:
        """Write the view to a file, in the format its suffix names, and return the path.

        Raises ValueError for a suffix this view can't be written as.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        kind = _KINDS.get(suffix)
        if suffix in self._files:
            self._files[suffix](self.model, path)
        elif kind in self._renderers:
            body = self._render(kind)
            if kind == "html":
                body = _PAGE.format(title=escape_xml(self.alt or path.stem), body=body)
            path.write_text(body.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
        else:
            able = [s for s, k in _KINDS.items() if k in self._renderers] + sorted(self._files)
            raise ValueError(
                f"can't write {str(path)!r}: the suffix chooses the format, one of {' '.join(able)}"
            )
        return path
