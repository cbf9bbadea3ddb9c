"""Pictures of nan and inf without NumPy's warnings about them."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


def quietly(view: Callable[P, R]) -> Callable[P, R]:
    """The view, in which inf and nan are values like all others.

    As `np.errstate` does it as a decorator; but what a user's function raises inside, or records as its line, should not
    come from a file of NumPy's.
    """

    @wraps(view)
    def silent(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        with np.errstate(all="ignore"):
            return view(*args, **kwargs)

    return silent
