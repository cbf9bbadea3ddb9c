"""Dual numbers: forward mode from the same table of rules.

A Dual carries a primal and a tangent, each a Tensor or a Dual of another level.  An operation computes the primal
result, and the tangent as the row's `mode` says (see op.py).  Each derivative has a level of its own, numbered upwards
and never again, and an operation serves the newest level among its inputs first: to it what belongs to other levels
is constant.  So perturbations cannot be confused, and a dual number that outlives its level is its primal.

A tangent is memory of its own, laid out as the value: it is a view of another tangent exactly where its value is a
view of another value, so an in-place operation (dual_inplace.py) changes value and tangent alike.
"""

import threading
from operator import attrgetter
from typing import Any

import numpy as np

from . import batched
from . import op as ops
from .batched import Batched
from .dtype import is_floating
from .graph import new
from .levels import is_vmap, live, next_dual
from .modes import watch
from .op import TABLE, Op, size_of
from .outline import no_storage, of_all
from .saved import Saved
from .single import viewing
from .tensor import Parameter, Tensor, wrap

ndarray = np.ndarray

stopped = [0]  # how many threads have switched forward mode off


class _Thread(threading.local):
    stopped = False


_thread = _Thread()


def _of_primal(slot: str) -> Any:
    """An attribute that a dual number shares with its primal."""

    def put(self: "Dual", value: Any) -> None:
        setattr(self.primal, slot, value)

    return property(attrgetter(f"primal.{slot}"), put)


class Dual(Tensor):
    """A Tensor with a tangent: a value, its rate of change, and the level they belong to.

    What a Tensor keeps in slots is the primal's.  `primal`, `tangent` and `level` lie in the instance's dictionary, so
    that a plain Tensor can become a dual number when one is written into it.  shared: there are views of it, or it is
    one.
    """

    __slots__ = ()
    is_dual = True

    primal: Tensor
    tangent: Tensor
    level: int
    shared = False

    raw = _of_primal("raw")
    node = _of_primal("node")
    version = _of_primal("version")
    family = _of_primal("family")

    def detach(self) -> Tensor:
        """The value without its tangent, in the levels that are left."""
        return self.primal.detach() if self.primal.is_dual else Tensor.detach(self)

    def _get_data(self) -> Tensor:
        return self.primal.detach() if self.primal.is_dual else Tensor.data.fget(self)  # type: ignore[attr-defined, no-any-return]

    data = property(_get_data, Tensor.data.fset)  # type: ignore[attr-defined, assignment]

    def _check_memory(self) -> None:
        """A function under a transformation gets no array of it."""
        if self.level in of_functions or self.primal.is_dual:
            no_storage(
                "Inside a derivative a tensor has a rate of change, which an array cannot carry: it would be lost.",
                "compute with tensor operations; x.detach() first for what is to count as constant.",
            )

    def numpy(self, *, force: bool = False) -> Any:
        self._check_memory()
        return Tensor.numpy(self, force=force)

    def data_ptr(self) -> int:
        self._check_memory()
        return Tensor.data_ptr(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.primal.__deepcopy__(memo)

    def __repr__(self) -> str:
        """With its tangent, as forward_ad's tensors are shown; inside func.jvp as PyTorch shows a function's wrapper."""
        if self.level not in live:
            return repr(self.primal)
        if self.level in of_functions or self.primal.is_dual:
            inside = repr(self.primal).replace("\n", "\n    ")
            return f"GradTrackingTensor(lvl={batched.depth(self)}, value=\n    {inside}\n)"
        return self._text(tangent=repr(self.tangent))


def make(primal: Tensor, tangent: Tensor, level: int) -> Dual:
    d = new(Dual)
    d.primal, d.tangent, d.level = primal, tangent, level
    return d


# ------------------------------------------------------------------------------------------------ levels
class level:
    """`with level() as k:` opens a new innermost level of dual numbers."""

    k = 0

    def __init__(self, of_function: bool = False) -> None:
        self.of_function = of_function

    def __enter__(self) -> int:
        self.k = k = next_dual()
        live.add(k)
        if self.of_function:
            of_functions.add(k)
        return k

    def __exit__(self, *_: Any) -> None:
        live.discard(self.k)
        of_functions.discard(self.k)
        if carried:
            from .dual_inplace import restore

            restore(self.k)


of_functions: set[int] = set()  # the open levels of derivatives of functions (func.jvp), not of `forward_ad`
carried: dict[int, list[Any]] = {}  # level -> weak references to Tensors that became dual numbers in it


class still:
    """`with still():` forward mode is off on this thread: dual numbers count as their primals."""

    def __init__(self, flag: bool = True) -> None:
        self.flag = flag

    def __enter__(self) -> None:
        self.before = _thread.stopped
        stop(self.flag)

    def __exit__(self, *_: Any) -> None:
        stop(self.before)


def stop(flag: bool) -> None:
    """Switch forward mode off (or on again) on this thread."""
    stopped[0] += flag - _thread.stopped
    _thread.stopped = flag


def is_stopped() -> bool:
    return bool(stopped[0]) and _thread.stopped


def level_of(x: Any) -> int:
    """The newest open level that x belongs to; 0 if none."""
    if x.__class__ is not Dual:
        return max(x.level, level_of(x.value)) if x.__class__ is Batched else 0
    inner = max(level_of(x.primal), level_of(x.tangent))
    return max(x.level, inner) if x.level in live else inner


def parts(y: Any, k: int) -> tuple[Any, Any]:
    """Value and tangent of y at level k; a zero tangent if y does not depend on that level's inputs."""
    p, t = split(y, k)
    return p, unmoved(p) if t is None else t


def split(y: Any, k: int) -> tuple[Any, Any]:
    """Value and tangent of y at level k, which may lie inside other levels; None for no tangent."""
    if y.__class__ is Batched:
        p, t = split(y.value, k)
        return (y, None) if t is None else (batched.make(p, y.level), batched.make(t, y.level))
    if y.__class__ is not Dual:
        return y, None
    if y.level == k:
        return y.primal, y.tangent
    if y.level not in live:
        return split(y.primal, k)
    (p, dp), (t, dt) = split(y.primal, k), split(y.tangent, k)
    if dp is None and dt is None:
        return y, None
    inner = make(unmoved(p) if dp is None else dp, unmoved(t) if dt is None else dt, y.level)
    return make(p, t, y.level), inner


def plain(x: Any) -> Any:
    """x without its tangents."""
    while x.__class__ is Dual:
        x = x.primal
    if x.__class__ is Batched:
        inner = plain(x.value)
        return x if inner is x.value else batched.make(inner, x.level)
    return x


def unmoved(y: Any) -> Tensor:
    """A zero tangent for y (of float32 for a value that has no derivative)."""
    y = plain(y)
    if y.__class__ is Batched:
        return batched.make(unmoved(y.value), y.level)
    raw = y.raw
    return wrap(TABLE["zero"].fwd(raw) if is_floating(raw.dtype) else np.zeros(raw.shape, np.float32))


# ------------------------------------------------------------------------------------------------ an operation
def push(op: Op, xs: Any, p: Any) -> Any:
    """One operation on dual numbers: the primal result, and the tangent by the rules of the row."""
    if not op.outputs and watch[0] is None:
        if op.view:
            done = on_view(op, xs[0], p)
        else:
            done = on_two(op, xs, p) if len(xs) == 2 and op.each is None and op.jvp is None else None
            if done is None:
                done = on_arrays(op, xs, p)
        if done is not None:
            return done
    top = 0
    for x in xs:
        if x.__class__ is Dual:
            k = x.level
            if k not in live or x.primal.is_dual or x.tangent.is_dual:
                k = level_of(x)
            if k > top:
                top = k
        elif x.__class__ is Batched:
            k = level_of(x)
            if k > top:
                top = k
    if not top or stopped[0] and _thread.stopped:
        xs = [plain(x) for x in xs]
        return batched.push(op, xs, p) if any(x.__class__ is Batched for x in xs) else op(*xs, p=p)
    if is_vmap(top):
        return batched.push(op, xs, p)
    if op.view:
        prepare_views(xs[0], top)
    ps: list[Any] = []
    ts: list[Any] = []
    for x in xs:
        if x.__class__ is Dual and x.level == top:
            ps.append(x.primal)
            ts.append(x.tangent)
        else:
            v, t = split(x, top)  # (anything else than a wrapper is its own value)
            ps.append(v)
            ts.append(t)
    y = op(*ps, p=p)
    if not op.differentiable:
        return y
    t = tangent(op, ps, ts, y, p)
    if isinstance(y, tuple):
        return tuple(v if d is None else result(op, v, d, ts, top) for v, d in zip(y, t))
    return y if t is None or not is_floating(y.raw.dtype) else result(op, y, t, ts, top)


def on_view(op: Op, x: Any, p: Any) -> Any:
    """A view of an ordinary dual number: the same view of its value and of its tangent."""
    if x.__class__ is not Dual or x.level not in live or stopped[0] and _thread.stopped:
        return None
    v, t = x.primal, x.tangent
    if v.__class__ is not Tensor or t.__class__ is not Tensor:
        return None
    a, b = v.raw, t.raw
    if (
        a.__class__ is not ndarray
        or b.__class__ is not ndarray
        or a.dtype is not b.dtype
        or a.dtype.kind != "f"
    ):
        return None
    call = _viewing.get(op)
    if call is None:
        call = _viewing[op] = viewing(op)
    prepare_views(x, x.level)
    try:
        d = make(call(v, p), call(x.tangent, p), x.level)
    except Exception:
        return None  # the ordinary way says what is wrong
    d.shared = True
    return d


_viewing: dict[Op, Any] = {}  # the rows that give views, written out


def on_two(op: Op, xs: Any, p: Any) -> Any:
    """`on_arrays` written out for what is most frequent: two arrays of one dtype, and a row without a jvp of its own."""
    x, y = xs
    top = 0
    da: Any = None
    db: Any = None
    t: Any
    if x.__class__ is Dual:
        top = x.level
        t = x.tangent
        if t.__class__ is not Tensor or t.node is not None:
            return None
        da = t.raw
        x = x.primal
    if y.__class__ is Dual:
        if top and y.level != top:
            return None
        top = y.level
        t = y.tangent
        if t.__class__ is not Tensor or t.node is not None:
            return None
        db = t.raw
        y = y.primal
    if x.__class__ is not Tensor or y.__class__ is not Tensor or x.node is not None or y.node is not None:
        return None
    a, b = x.raw, y.raw
    if a.__class__ is not ndarray or b.__class__ is not ndarray or not a.ndim or not b.ndim:
        return None
    dtype = a.dtype
    if b.dtype is not dtype or dtype.kind != "f" or top not in live or stopped[0] and _thread.stopped:
        return None
    if (
        da is not None
        and (da.__class__ is not ndarray or da.dtype is not dtype)
        or db is not None
        and (db.__class__ is not ndarray or db.dtype is not dtype)
    ):
        return None
    mode = op.mode if op.differentiable else ""
    try:
        value = op.fwd(a, b, p) if op.params else op.fwd(a, b)
        if mode == "linear":
            t = None if da is None else op.fwd(da, b, p) if op.params else op.fwd(da, b)
            u = None if db is None else op.fwd(a, db, p) if op.params else op.fwd(a, db)
        elif mode == "elementwise":
            n = new(Saved)
            n.a, n.b, n.y, n.p = a, b, value, p
            n.sa, n.sb, n.sy = a.shape, b.shape, value.shape
            t = None if da is None else op.a(da, n)  # type: ignore[misc]
            u = None if db is None else op.b(db, n)  # type: ignore[misc]
        else:
            return None
        if u is not None:
            t = u if t is None else t + u  # (both are moving: a new array)
    except Exception:
        return None  # the ordinary way says what is wrong
    if value.__class__ is not ndarray or value.dtype is not dtype or not value.ndim:
        return None
    if t.__class__ is not ndarray or t.dtype is not dtype:
        return None
    if t.shape != value.shape:
        t = np.array(np.broadcast_to(t, value.shape), dtype)
    elif t.base is not None or t is da or t is db:  # the rule handed a tangent on
        t = t.copy()
    d = new(Dual)
    d.primal = x = new(Tensor)
    d.tangent = y = new(Tensor)
    d.level = top
    x.raw, y.raw = value, t
    x.node = x.version = x.family = y.node = y.version = y.family = None
    return d


def on_arrays(op: Op, xs: Any, p: Any) -> Any:
    """The same on raw arrays, at a third of the time; None where anything is out of the ordinary, or wrong.

    Ordinary are dual numbers of one level among plain tensors and numbers, of one floating dtype, on the CPU, without a
    graph.
    """
    top, dtype = 0, None
    raws: list[Any] = []
    moving: list[Any] = []
    for x in xs:
        kind = x.__class__
        if kind is Dual:
            v, t = x.primal, x.tangent
            if v.__class__ is not Tensor or t.__class__ is not Tensor:
                return None
            a, b = v.raw, t.raw
            if (
                a.__class__ is not ndarray
                or b.__class__ is not ndarray
                or a.dtype is not b.dtype
                or not a.ndim
            ):
                return None
            if v.node is not None or t.node is not None:
                return None
            if x.level != top:
                if top:
                    return None
                top = x.level
            moving.append(b)
        elif kind is Tensor or kind is Parameter:
            a = x.raw
            if a.__class__ is not ndarray or not a.ndim or x.node is not None:
                return None
            moving.append(None)
        elif kind is float or kind is int:
            raws.append(x)
            moving.append(None)
            continue
        else:
            return None
        if a.dtype is not dtype:
            if dtype is not None or a.dtype.kind != "f":
                return None
            dtype = a.dtype
        raws.append(a)
    if top not in live or stopped[0] and _thread.stopped or not op.differentiable:
        return None
    n = new(Saved)
    try:
        if op.each is not None:
            y = op.run(raws, p)
            n.x, n.sx = raws, [size_of(x) for x in raws]
        else:
            y = op.fwd(*raws, p) if op.params else op.fwd(*raws)
            n.a = a = raws[0]
            n.sa = size_of(a)
            if len(raws) > 1:
                n.b = a = raws[1]
                n.sb = size_of(a)
                if len(raws) > 2:
                    n.c = a = raws[2]
                    n.sc = size_of(a)
        if y.__class__ is not ndarray:
            y = np.asarray(y)
    except Exception:
        return None
    if y.dtype is not dtype:
        return None
    n.y, n.p, n.sy = y, p, y.shape
    t = op.jvp(moving, n) if op.jvp is not None else tangent(op, raws, moving, y, p, n)
    if t.__class__ is not ndarray or t.dtype is not dtype or t.shape != n.sy:
        if t is None:
            return None
        t = np.array(np.broadcast_to(t, n.sy), dtype)
    elif t.base is not None:
        t = t.copy()
    else:
        for x in moving:
            if x is t:  # the rule handed a tangent on
                t = t.copy()
                break
    if not n.sy:
        return make(wrap(y[()]), wrap(t[()]), top)
    d = new(Dual)  # `make` and `wrap`, written out
    d.primal = v = new(Tensor)
    d.tangent = w = new(Tensor)
    d.level = top
    v.raw, w.raw = y, t
    v.node = v.version = v.family = w.node = w.version = w.family = None
    return d


def result(op: Op, y: Tensor, t: Any, ts: list[Any], top: int) -> Dual:
    """The dual number of a value and the tangent that a rule gave."""
    t = fit(t, y)
    if op.view:
        d = make(y, t, top)
        d.shared = True
        return d
    raw = of_all(t.raw)
    own = getattr(raw, "base", None) is None
    for x in ts:
        if x is not None and of_all(x.raw) is raw:
            own = False
    if not own:  # the rule handed a tangent on, or a view of one
        t = TABLE["clone"](t)
    return make(y, t, top)


def prepare_views(x: Any, top: int) -> None:
    """Lay the tangent out as the value before the first view is taken, so that every view of one is one of the other."""
    if x.__class__ is not Dual or x.level != top or x.shared:
        return
    a, b = x.primal.raw, x.tangent.raw
    if b.shape and a.strides != b.strides:
        x.tangent = laid_out(x.tangent, a.strides)
    x.shared = True


def laid_out(t: Any, strides: tuple[int, ...]) -> Any:
    """A copy of t whose dimensions lie in memory in the order of these strides."""
    order = tuple(sorted(range(len(strides)), key=lambda i: -strides[i]))
    back = tuple(sorted(range(len(order)), key=lambda i: order[i]))
    return t.permute(order).contiguous().clone().permute(back)


def tangent(op: Op, ps: Any, ts: Any, y: Any, p: Any, n: Any = None) -> Any:
    """The tangent of y = op(*ps) for the inputs' tangents ts (None where an input does not move).

    Works on Tensors and on raw arrays alike.  n: what `values` gives, if it is known already.
    """
    if op.jvp is not None:
        return op.jvp(ts, n or values(op, ps, y, p))
    if op.mode == "elementwise":
        n = n or values(op, ps, y, p)
        rules = (op.a, op.b, op.c)
        terms = [rule(t, n) for rule, t in zip(rules, ts) if t is not None]  # type: ignore[misc]
    elif op.mode == "linear":
        terms = [op(*ps[:i], t, *ps[i + 1 :], p=p) for i, t in enumerate(ts) if t is not None]
    elif op.mode == "joint":
        ruled = [True] * len(ps) if op.each is not None else [r is not None for r in (op.a, op.b, op.c)]
        return op(*[t if t is not None else zero_like(x) if r else x for x, t, r in zip(ps, ts, ruled)], p=p)
    else:
        raise RuntimeError(f"the row {op.name} has no forward mode")
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def zero_like(x: Any) -> Any:
    """Zero in the place of a value that does not move: a Tensor, a raw array or a number."""
    if isinstance(x, Tensor):
        return unmoved(x)
    return TABLE["zero"].fwd(x) if hasattr(x, "dtype") else 0 * x


def values(op: Op, ps: Any, y: Any, p: Any) -> Saved:
    """What a rule reads, for values that are Tensors, Duals, numbers or raw arrays."""
    s = Saved()
    s.y, s.p = y, p
    s.sy = [shape_of(v) for v in y] if isinstance(y, tuple) else shape_of(y)
    if op.each is not None:
        s.x, s.sx = list(ps), [shape_of(v) for v in ps]
        return s
    count = len(ps)
    s.a = ps[0]
    s.sa = shape_of(s.a)
    if count > 1:
        s.b = ps[1]
        s.sb = shape_of(s.b)
        if count > 2:
            s.c = ps[2]
            s.sc = shape_of(s.c)
    return s


def shape_of(x: Any) -> tuple[int, ...]:
    return size_of(x.raw if isinstance(x, Tensor) else x)


def fit(t: Any, y: Tensor) -> Any:
    """The tangent in the shape and dtype of the value."""
    if t.raw.dtype != y.raw.dtype:
        t = TABLE["cast"](t, p=(y.raw.dtype, t.raw.dtype))
    return t if t.raw.shape == y.raw.shape else TABLE["expand"](t, p=y.raw.shape)


ops.push = push
