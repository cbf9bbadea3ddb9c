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
    topic: a word for the kind of mistake, and facts: what was found there (shapes, an index, a view's family), from which
    `explain.why` makes an answer with the user's names and lines.
    """

    __slots__ = ("summary", "lines", "cure", "node", "tensor", "topic", "facts")

    def __init__(
        self,
        summary: str,
        lines: tuple[tuple[str, Any], ...] = (),
        cure: str = "",
        node: Any = None,
        tensor: Any = None,
        topic: str = "",
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.summary, self.lines, self.cure, self.node, self.tensor = summary, lines, cure, node, tensor
        self.topic, self.facts = topic, facts or {}


def explain(
    kind: type[E],
    phrase: str,
    summary: str = "",
    cure: str = "",
    lines: tuple[tuple[str, Any], ...] = (),
    node: Any = None,
    tensor: Any = None,
    topic: str = "",
    **facts: Any,
) -> E:
    """Make an exception of `kind`: PyTorch's `phrase`, then the finding, the lines and the cure.

    topic, facts: see `Explanation`; they are for `explain.why` and don't stand in the text.
    """
    parts = [phrase]
    if summary:
        parts.append(summary)
    parts += [f"  {what} {place}" for what, place in lines if place is not None]
    if cure:
        parts.append(f"What to do: {cure}")
    error = kind("\n".join(parts))
    told = Explanation(summary or phrase, lines, cure, node, tensor, topic, facts)
    error.explanation = told  # type: ignore[attr-defined]
    return error
