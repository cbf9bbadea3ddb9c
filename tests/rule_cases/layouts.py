"""Where an array's elements lie in memory: the layouts that a row of the table must not notice.

A layout never changes the values. Around the elements lies junk, so that a row that reads beside them is found out.
"""

from typing import Any

import numpy as np

LAYOUTS = ("as it is", "contiguous", "permuted", "stepped", "part", "read-only")
COTANGENT_LAYOUTS = (
    *LAYOUTS,
    "reversed",
)  # no tensor of the user's runs backwards, but a rule may make such an array


def junk(shape: tuple[int, ...], dtype: Any) -> Any:
    """What must not be read."""
    if dtype.kind == "b":
        return np.ones(shape, bool)
    return np.full(shape, np.nan if dtype.kind in "fc" else 77_777, dtype)


def lay(x: Any, layout: str, rng: np.random.Generator) -> Any:
    """The values of x in a layout."""
    if not x.ndim or layout == "as it is":
        return x
    if layout == "read-only":
        x = np.array(x)
        x.flags.writeable = False
        return x
    if layout == "permuted":  # as after permute()
        order = rng.permutation(x.ndim)
        return np.array(x.transpose(order), order="C").transpose(np.argsort(order))
    if layout == "stepped":  # as after x[::2, 1::3]
        steps = [int(n) for n in rng.integers(1, 4, x.ndim)]
        starts = [int(n) for n in rng.integers(0, 2, x.ndim)]
        whole = junk(tuple(a + s * n for a, s, n in zip(starts, steps, x.shape, strict=True)), x.dtype)
        place = whole[tuple(slice(a, a + s * n, s) for a, s, n in zip(starts, steps, x.shape, strict=True))]
    elif layout == "part":  # as after x[1:-1, :-1]: an offset, and rows that are not adjacent
        margins = [(int(a), int(b)) for a, b in rng.integers(0, 2, (x.ndim, 2))]
        whole = junk(tuple(a + n + b for (a, b), n in zip(margins, x.shape, strict=True)), x.dtype)
        place = whole[tuple(slice(a, a + n) for (a, _), n in zip(margins, x.shape, strict=True))]
    elif layout == "reversed":
        ways = [1 if n else -1 for n in rng.integers(0, 2, x.ndim)]
        return np.array(x[tuple(slice(None, None, w) for w in ways)])[
            tuple(slice(None, None, w) for w in ways)
        ]
    else:
        return np.array(x, order="C")
    place[...] = x
    return place
