"""Rows with one input and parameters, written out: reductions (`plain`) and views (`viewing`).

The same as `Op.__call__` on one Tensor whose array is on the CPU, at a third of its cost; what is rare (a scalar, a
GPU, a dual number, recording, an error) goes there.
"""

from typing import Any

import numpy as np

from .graph import Node, new, tick
from .modes import special
from .op import Op, remember
from .sharing import Family, View
from .tensor import Tensor

ndarray = np.ndarray


def plain(op: Op) -> Any:
    """`call(x, p)`: the row on one Tensor; the result shares no memory with it."""
    fwd, (_, (keep_a, _, _, keep_y), *_) = op.fwd, op.keeps
    only_floats = op.types == "float"

    def call(x: Any, p: Any) -> Any:
        a = x.raw
        if a.__class__ is not ndarray or not a.ndim or x.is_dual or only_floats and a.dtype.kind != "f":
            return op(x, p=p)
        try:
            y = fwd(a, p)
        except Exception:
            return op(x, p=p)  # says what is wrong
        out = new(Tensor)
        out.raw = y[()] if y.__class__ is ndarray and not y.ndim else y
        out.version = out.family = None
        left = x.node
        if left is None:
            out.node = None
        elif special[0]:
            out.node = None
            remember(op, (x,), (a,), out, p)
        else:
            out.node = n = new(Node)
            n.op, n.seq, n.left, n.p, n.notes = op, tick(), left, p, None
            n.sa, n.sy = a.shape, y.shape
            if keep_a:
                n.a = a
                v = x.version
                if v is None:
                    v = x.version = [0, 0, None]
                n.va = v
            if keep_y:
                n.y = out.raw
                n.vy = out.version = [0, 0, None]
        return out

    return call


def viewing(op: Op) -> Any:
    """`call(x, p)`: the row on one Tensor; the result is a view of it (the caller has checked the parameters)."""
    fwd = op.fwd

    def call(x: Any, p: Any = None) -> Any:
        a = x.raw
        if a.__class__ is not ndarray or special[0] or x.is_dual:
            return op(x, p=p)
        out = new(Tensor)
        out.raw = y = fwd(a, p)
        v = x.version
        if v is None:
            v = x.version = [0, 0, None]
        out.version = v
        left = x.node
        if left is None:
            out.node = None
        else:
            out.node = n = new(Node)
            n.op, n.seq, n.left, n.p, n.notes = op, tick(), left, p, None
            n.sa, n.sy = a.shape, y.shape
        family = x.family
        if family.__class__ is View:
            base = family.base
            out.family = View(base, (*family.chain, (op, p)), family.made)
            family = base.family
        else:
            out.family = View(x, ((op, p),), "grad")
            if family is None:
                family = x.family = Family()
        family.add(out)
        return out

    return call
