"""What an error of ours carries besides its text: the finding, the lines it speaks of, and the cure.

The exception itself is of PyTorch's type; `explain()` hangs an `Explanation` on it as `.explanation`, which the
error view shows with the graph.  The text starts with PyTorch's key phrase (so that searching the web works) and
goes on in our words.
"""

from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


class Explanation:
    """The parts of an error's text, for views.

    summary: the finding in one sentence.  lines: (what happened there, place) pairs; a place is an
    `autodiff_kernel.core.places.Place` or None.  cure: what to write instead.  node: the graph's node at fault.
    """

    __slots__ = ("summary", "lines", "cure", "node", "tensor")

    def __init__(
        self,
        summary: str,
        lines: tuple[tuple[str, Any], ...] = (),
        cure: str = "",
        node: Any = None,
        tensor: Any = None,
    ) -> None:
        self.summary, self.lines, self.cure, self.node, self.tensor = summary, lines, cure, node, tensor


def explain(
    kind: type[E],
    phrase: str,
    summary: str = "",
    cure: str = "",
    lines: tuple[tuple[str, Any], ...] = (),
    node: Any = None,
    tensor: Any = None,
) -> E:
    """Make an exception of `kind`: PyTorch's `phrase`, then the finding, the lines and the cure."""
    parts = [phrase]
    if summary:
        parts.append(summary)
    parts += [f"  {what} {place}" for what, place in lines if place is not None]
    if cure:
        parts.append(f"What to do: {cure}")
    error = kind("\n".join(parts))
    error.explanation = Explanation(summary or phrase, lines, cure, node, tensor)  # type: ignore[attr-defined]
    return error
