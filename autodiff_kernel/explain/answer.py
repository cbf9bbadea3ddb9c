"""What an explanation says: the finding, the lines it speaks of, the cure as code, and the lesson to read."""

from dataclasses import dataclass, field
from typing import Any

from autodiff_kernel.core.places import Place

# Which lesson of the series treats a topic.
LESSONS = {
    "devices": "02_devices",
    "derivatives": "03_three_ways",
    "forward mode": "04_dual_numbers",
    "gradients": "05_reverse_by_hand",
    "graph": "07_the_graph",
    "loops": "09_dynamic_graphs",
    "in-place": "10_inplace_and_views",
    "numbers": "11_debugging",
    "training": "12_optimisers",
    "higher order": "16_higher_order",
    "tensors": "01_tensors",
}


@dataclass(frozen=True)
class Line:
    """A line of the user's that an answer speaks of: what happened there, and where."""

    what: str
    place: Place

    def __str__(self) -> str:
        return f"{self.what} {self.place}"


@dataclass(frozen=True)
class Answer:
    """One finding.

    topic: a short word for the kind of finding, such as "grad is None", by which tests and views know it.
    finding: one sentence.  lines: the lines it speaks of, in order of time.  fix: what to write instead, as code, or
    "" where nothing is wrong.  lesson: the name of the lesson that treats it.  about: the tensors and nodes that a
    picture should mark.  trail: further sentences, step by step.  certain: False where the recorded facts only suggest
    it.
    """

    topic: str
    finding: str
    lines: tuple[Line, ...] = ()
    fix: str = ""
    lesson: str = ""
    trail: tuple[str, ...] = ()
    about: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    certain: bool = True

    def __str__(self) -> str:
        parts = [self.finding if self.certain else f"Perhaps: {self.finding}"]
        parts += [f"  {step}" for step in self.trail]
        parts += [f"  {line}" for line in self.lines]
        if self.fix:
            parts.append("What to write: " + self.fix.replace("\n", "\n    "))
        if self.lesson:
            parts.append(f"Read: lesson {self.lesson}")
        return "\n".join(parts)

    __repr__ = __str__


def lines(*pairs: tuple[str, Any]) -> tuple[Line, ...]:
    """Lines of (what happened, event, Place, spot or None) pairs; those without a known place are left out."""
    found = []
    for what, where in pairs:
        place = where if isinstance(where, Place) else getattr(where, "place", None)
        if place is None and where.__class__ is tuple and len(where) == 2:
            place = Place(*where)
        if place is not None:
            found.append(Line(what, place))
    return tuple(found)
