"""Dual numbers: forward mode from the same table of rules.

A Dual carries a primal p and a tangent t, each a Tensor or a Dual of an outer level.  An operation computes the primal
result, and the tangent as the row's `mode` says (see op.py).  Levels keep nested derivatives apart: the innermost
one is served first, and to it the outer ones are constants, so perturbations cannot be confused.
"""

from typing import Any

import numpy as np

from .graph import new
from .op import TABLE, Op
from .saved import Saved
from .tensor import Tensor, wrap


class Dual(Tensor):
    """A Tensor with a tangent: value p, rate of change t, at a level."""

    __slots__ = ("p", "t", "level")
    is_dual = True

    p: Tensor
    t: Tensor
    level: int


def make(p: Tensor, t: Tensor, level: int) -> Dual:
    d = new(Dual)
    d.p, d.t, d.level = p, t, level
    d.raw, d.node, d.version, d.family = p.raw, p.node, None, None
    return d


def push(op: Op, xs: Any, p: Any) -> Any:
    """One operation on dual numbers: the primal result, and the tangent by the rules of the row."""
    top = max(x.level for x in xs if isinstance(x, Dual))
    mine = [isinstance(x, Dual) and x.level == top for x in xs]
    ps = [x.p if m else x for x, m in zip(xs, mine)]
    y = op(*ps, p=p)
    if not op.differentiable:
        return y
    ts = [x.t if m else None for x, m in zip(xs, mine)]
    t = tangent(op, ps, ts, y, p)
    if isinstance(y, tuple):
        return tuple(v if d is None else make(v, fit(d, v), top) for v, d in zip(y, t))
    return y if t is None or y.raw.dtype.kind not in "fc" else make(y, fit(t, y), top)


def tangent(op: Op, ps: Any, ts: Any, y: Any, p: Any) -> Any:
    """The tangent of y = op(*ps) for the inputs' tangents ts (None where an input does not move).

    Works on Tensors and on raw arrays alike.
    """
    if op.jvp is not None:
        return op.jvp(ts, values(op, ps, y, p))
    if op.mode == "elementwise":
        n = values(op, ps, y, p)
        rules = (op.a, op.b, op.c)
        terms = [rule(t, n) for rule, t in zip(rules, ts) if t is not None]  # type: ignore[misc]
    elif op.mode == "linear":
        terms = [op(*ps[:i], t, *ps[i + 1 :], p=p) for i, t in enumerate(ts) if t is not None]
    elif op.mode == "joint":
        ruled = [True] * len(ps) if op.each is not None else [r is not None for r in (op.a, op.b, op.c)]
        return op(*[t if t is not None else x * 0 if r else x for x, t, r in zip(ps, ts, ruled)], p=p)
    else:
        raise RuntimeError(f"the row {op.name} has no forward mode")
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def values(op: Op, ps: Any, y: Any, p: Any) -> Saved:
    """What a rule reads, for values that are Tensors, Duals, numbers or raw arrays."""
    s = Saved()
    s.y, s.p = y, p
    s.sy = [np.shape(raw_of(v)) for v in y] if isinstance(y, tuple) else np.shape(raw_of(y))
    if op.each is not None:
        s.x, s.sx = list(ps), [np.shape(raw_of(v)) for v in ps]
    else:
        for letter, v in zip("abc", ps):
            setattr(s, letter, v)
            setattr(s, "s" + letter, np.shape(raw_of(v)))
    return s


def raw_of(x: Any) -> Any:
    return x.raw if isinstance(x, Tensor) else x


def fit(t: Any, y: Tensor) -> Any:
    """The tangent in the shape and dtype of the value."""
    if t.raw.dtype != y.raw.dtype:
        t = TABLE["cast"](t, p=y.raw.dtype)
    return t if t.raw.shape == y.raw.shape else TABLE["expand"](t, p=y.raw.shape)


def change(function: Any, x: Dual, args: Any, kwargs: Any) -> Dual:
    """An in-place operation on a dual number: value and tangent are overwritten, each in its memory."""
    from .inplace import adopt

    result = function(x, *args, **kwargs)
    p, t = (
        (result.p, result.t) if isinstance(result, Dual) and result.level == x.level else (result, result * 0)
    )
    if isinstance(p, Tensor) and not p.is_dual and not x.p.is_dual:
        adopt(x.p, p)
    else:
        x.p = p
    owned = t.clone() if not t.is_dual else t
    if not x.t.is_dual and not owned.is_dual and x.t.raw.shape == owned.raw.shape and writable(x.t):
        adopt(x.t, owned)
    else:
        x.t = owned
    x.raw, x.node = x.p.raw, x.p.node
    return x


def writable(t: Tensor) -> bool:
    raw = t.raw
    return not raw.ndim or all(s or n < 2 for s, n in zip(raw.strides, raw.shape))


_depth = [0]


class level:
    """`with level() as k:` opens a new innermost level of dual numbers."""

    def __enter__(self) -> int:
        _depth[0] += 1
        return _depth[0]

    def __exit__(self, *_: Any) -> None:
        _depth[0] -= 1


def parts(y: Any, k: int) -> tuple[Any, Any]:
    """Value and tangent of y at level k; a zero tangent if y does not depend on that level's inputs."""
    if isinstance(y, Dual) and y.level == k:
        return y.p, y.t
    return y, y * 0 if y.raw.dtype.kind in "fc" else wrap(np.zeros(y.raw.shape, np.float32))
