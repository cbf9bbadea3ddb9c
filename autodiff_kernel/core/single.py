"""Rows with one input and parameters, written out: reductions (`plain`, `plural`) and views (`viewing`).

The same as `Op.__call__` on one Tensor whose array is on the CPU, at a third of its cost; what is rare (a scalar, a
GPU, a dual number, recording, an error) goes there.
"""

from typing import Any

import numpy as np

from .dtype import BRAIN, FLOATING
from .graph import Node, new, tick
from .modes import departed, special, watch
from .op import Op, pick_node, remember
from .sharing import Family, View, saved_counter, version_of
from .tensor import Tensor

ndarray, float32, float64 = np.ndarray, np.float32, np.float64


def plain(op: Op, scalars: bool = False) -> Any:
    """`call(x, p)`: the row on one Tensor; the result shares no memory with it.

    scalars: the row works element by element on floating values, so 0-d values come this way too.
    """
    fwd, (_, (keep_a, _, _, keep_y), *_) = op.fwd, op.keeps
    only_floats, recorded = scalars or op.types == "float", op.differentiable

    def call(x: Any, p: Any) -> Any:
        a = x.raw
        if a.__class__ is ndarray and not a.ndim and scalars:
            a = a[()]
        kind = a.__class__
        if kind is ndarray and a.ndim:
            if (only_floats or BRAIN) and a.dtype.kind != "f":
                return op(x, p=p)
        elif not scalars or kind is not float32 and kind is not float64:
            return op(x, p=p)
        if x.is_dual:
            return op(x, p=p)
        try:
            y = fwd(a, p)
        except Exception:
            return op(x, p=p)  # says what is wrong
        out = new(Tensor)
        out.raw = y[()] if y.__class__ is ndarray and not y.ndim else y
        out.version = out.family = None
        left = x.node
        if left is None or not recorded:
            out.node = None
        elif departed[0]:
            out.node = None
            remember(op, (x,), (a,), out, p)
        else:
            out.node = n = Node()
            n.op, n.seq, n.left, n.p, n.notes = op, tick(), left, p, None
            n.sa, n.sy = a.shape, y.shape
            if keep_a:
                n.a = a
                v = x.version
                if v.__class__ is not list:
                    v = x.version = [0, 0, None] if v is None else saved_counter(v)
                n.va = v
            if keep_y:
                n.y = out.raw
                n.vy = out.version = [0, 0, None]
        watched = watch[0]
        if watched is not None:
            watched(op, p, (x,), out)
        return out

    return call


def elementwise(op: Op) -> Any:
    """`plain` for a row that works on each element by itself."""
    return plain(op, scalars=True)


def viewing(op: Op) -> Any:
    """`call(x, p)`: the row on one Tensor; the result is a view of it (the caller has checked the parameters)."""
    fwd = op.fwd

    def call(x: Any, p: Any = None) -> Any:
        a = x.raw
        if a.__class__ is not ndarray or departed[0] or x.is_dual:
            return op(x, p=p)
        out = new(Tensor)
        out.raw = y = fwd(a, p)
        v = x.version
        if v.__class__ is not list:
            v = version_of(x)
        out.version = v
        left = x.node
        if left is None:
            out.node = None
        else:
            out.node = n = Node()
            n.op = op
            n.seq = tick()
            n.left = left
            n.p = p
            n.notes = None
            n.sa = a.shape
            n.sy = y.shape
        out.family = view = new(View)  # what join_family does
        family = x.family
        if family.__class__ is View:
            view.base = family.base
            view.chain = (family.chain, op, p)
            view.made = family.made
            family = family.base.family
        else:
            view.base = x
            view.chain = (None, op, p)
            view.made = "grad"
            if family is None:
                family = x.family = Family()
        family.add(out)
        watched = watch[0]
        if watched is not None:
            watched(op, p, (x,), out)
        return out

    return call


def plural(op: Op) -> Any:
    """`call(x, p)`: the row on one Tensor, for rows of one input that give several results of their own memory."""
    fwd, (_, (keep_a, _, _, keep_y), *_) = op.fwd, op.keeps

    def call(x: Any, p: Any) -> Any:
        a = x.raw
        if a.__class__ is not ndarray or not a.ndim or special[0] or x.is_dual:
            return op(x, p=p)
        ys = fwd(a, p)
        outs = []
        for y in ys:
            out = new(Tensor)
            out.raw = y[()] if y.__class__ is ndarray and not y.ndim else y
            out.node = out.version = out.family = None
            outs.append(out)
        left = x.node
        if left is not None:
            n = Node()
            n.op, n.seq, n.left, n.p, n.notes = op, tick(), left, p, None
            n.sa, n.sy = a.shape, [y.shape for y in ys]
            if keep_a:
                n.a = a
                v = x.version
                if v.__class__ is not list:
                    v = x.version = [0, 0, None] if v is None else saved_counter(v)
                n.va = v
            if keep_y:
                n.y = ys
            for k, out in enumerate(outs):
                if out.raw.dtype.kind in FLOATING:
                    out.node = pick_node(n, k)
        return outs

    return call
