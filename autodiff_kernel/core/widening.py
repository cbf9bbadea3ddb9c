"""Operations on bfloat16: computed in float32, and rounded once, as PyTorch does.

bfloat16 has the range of float32 with 8 bits of precision; NumPy knows it through the package `ml_dtypes` only, whose
own sums stay in bfloat16: 3000 ones add up to 256 there.  So a row that computes runs as its `widened` variant, which
widens what goes in and narrows what comes out, in the forward and in every rule.  Where an input was
stretched its cotangent is summed in float32, too.  Views, casts and copies need none of this.

No operation pays for that before the first bfloat16 tensor exists: `dtype.BRAIN` is empty until then.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtype as dtypes
from .tensor import Tensor

FLOAT32 = np.dtype(np.float32)
_SHAPES = ("sa", "sb", "sc")
AS_IT_IS = ("cast", "move", "clone", "contiguous")


def is_narrow(x: Any) -> bool:
    """Whether a raw value, a Tensor or a wrapper holds bfloat16."""
    kind = getattr(x.raw if isinstance(x, Tensor) else x, "dtype", None)
    return kind is not None and kind.kind == "V"


def recast(x: Any, to: Any) -> Any:
    if isinstance(x, Tensor):  # recorded: its own gradient is recast, too
        from .op import TABLE

        return TABLE["cast"](x, p=(to, x.raw.dtype))
    return x.astype(to)


def wide(x: Any) -> Any:
    """bfloat16 as float32, in lists too; anything else as it is."""
    if x.__class__ in (tuple, list):
        return [wide(part) for part in x]
    return recast(x, FLOAT32) if is_narrow(x) else x


def narrow(x: Any) -> Any:
    """float32 as bfloat16, in tuples too; anything else (truth values, positions) as it is."""
    if x.__class__ in (tuple, list):
        return tuple([narrow(part) for part in x])
    kind = getattr(x.raw if isinstance(x, Tensor) else x, "dtype", None)
    return recast(x, dtypes.bfloat16.np) if kind == FLOAT32 else x


class Wide:
    """A node as the rules of a widened row see it."""

    __slots__ = ("_n",)

    def __init__(self, n: Any) -> None:
        self._n = n

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._n, name)
        return wide(value) if name in ("a", "b", "c", "x", "y") else value


def widened(op: Any) -> Any:
    """The variant of a row for inputs of bfloat16 (or the row itself, if it computes nothing)."""
    if op.view or op.whole is not None or op.name in AS_IT_IS:
        return op
    if op.casts:
        return widened(op.base).variant(op.casts)
    made = op.variants.get("widened")
    if made is None:
        made = op.variants["widened"] = _widened(op)
    return made


def _widened(op: Any) -> Any:
    from .saved import spent_rule

    fwd = op.fwd

    def forward(*raws: Any) -> Any:
        *xs, p = raws if op.params else (*raws, None)
        xs = wide(xs[0] if op.each is not None else xs)
        given = (xs,) if op.each is not None else tuple(xs)
        return narrow(fwd(*given, p) if op.params else fwd(*given))

    changes = {
        k: _rule(getattr(op, k), i, op.spreads) for i, k in enumerate("abc") if getattr(op, k) is not None
    }
    if op.each is not None:
        each = op.each
        changes["each"] = lambda g, n, i: _rule(lambda g, n: each(g, n, i), i, False)(g, n)
    made = op._like(fwd=forward, **changes)
    made.variants = {}  # its own
    if op.spent is not op:
        made.spent = made._like(**dict.fromkeys(changes, spent_rule), is_spent=True)
    return made


def _rule(rule: Callable[..., Any], i: int, spreads: bool) -> Callable[..., Any]:
    """The rule of input i, in float32."""
    from .walk import unbroadcast

    def around(g: Any, n: Any) -> Any:
        x = narrow(rule(wide(g), Wide(n)))
        if spreads and x is not None and x.shape != getattr(n, _SHAPES[i]):
            x = narrow(unbroadcast(wide(x), getattr(n, _SHAPES[i])))
        return x

    return around
