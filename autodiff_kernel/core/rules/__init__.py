"""The table of rules, one file per family of operations."""

from . import (
    arithmetic as arithmetic,
    casting as casting,
    elementwise as elementwise,
    reductions as reductions,
    shapes as shapes,
)
