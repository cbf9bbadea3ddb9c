"""The table of rules, one file per family of operations."""

from . import (
    arithmetic as arithmetic,
    bitwise as bitwise,
    casting as casting,
    comparison as comparison,
    elementwise as elementwise,
    indexing as indexing,
    picking as picking,
    reductions as reductions,
    selection as selection,
    writing as writing,
    orders as orders,
    shapes as shapes,
)
