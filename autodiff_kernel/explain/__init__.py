"""Diagnosis: why a gradient is None, what cut the graph, where a nan came from, what an error means.

Answers are derived from recorded facts (nodes, stamps, the journal of core/journal.py), so recording must have been on
while the code ran: the kernel switches it on, elsewhere `explain.watch()` does.
"""

from .answer import Answer, Line
from .dtypes import dtypes
from .exceptions import newest_error
from .memory import Holding, Memory, memory
from .shapes import shapes
from .training import untrained
from .why import NEWEST, answers, answers_to, watch, why

__all__ = [
    "NEWEST",
    "Answer",
    "Holding",
    "Line",
    "Memory",
    "answers",
    "answers_to",
    "dtypes",
    "memory",
    "newest_error",
    "shapes",
    "untrained",
    "watch",
    "why",
]
