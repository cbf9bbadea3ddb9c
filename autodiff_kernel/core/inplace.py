"""Changing a tensor in place, and what that does to the graph.

An in-place operation is the operation itself, computed aside, whose result then takes the old value's place: the
memory is overwritten and the tensor gets the result's node, while older consumers keep the old node.

  x.mul_(2)   x's node is now mul's; a node that had saved x before is older than the write, and refuses in backward.

If the tensor is a view, its base changes too.  The base's new value is a copy of the old one with a part overwritten:
one node `copy_slices` with two inputs, the old base and the new part.  Every live view of that base is then made
anew from the base's new node, so each of them sees the change, values and gradients alike.

The stamp is set before the memory is written: an interrupt in between can only refuse too much.
"""

import weakref
from collections import deque
from collections.abc import Callable
from itertools import chain, starmap
from operator import setitem
from typing import Any

import numpy as np

from . import device as devices
from . import dtype as dtypes
from . import graph, modes, places
from .captured import check as check_captured
from .captured import guarding
from .errors import explain
from .graph import Node, as_edge, tick, written
from .olds import before_write, keepers
from .op import TABLE, Op
from .overlap import BY_INDEX, check_no_overlap, check_overlap, check_partial_overlap
from .sharing import Family, View, links, replay, saved_version_of, share, version_of, written_version
from .storage import root_of
from .tensor import Parameter, Tensor, type_name, wrap

ndarray, generic, float32, float64 = np.ndarray, np.generic, np.float32, np.float64
F32, F64 = np.dtype(float32), np.dtype(float64)


def stamp(t: Tensor) -> None:
    """Note that t's memory is written now, by which line of the user's.

    Memory without a counter was saved by nobody: its writes are numbered, and no walk has to look for them.
    """
    if guarding:
        check_captured(t)
    v = t.version
    if modes.watch[0] is not None:
        modes.watchers["wrote"](t)
        v = version_of(t)
    if v.__class__ is not list:
        t.version = written_version(v)
    else:
        guard(v)


def guard(version: list[Any]) -> None:
    """Number a write in the version counter of memory that a node may have saved.

    The stamp is set before the memory changes, so an interrupt can only make a walk refuse too much.
    """
    if keepers:
        before_write(version)
    version[2] = places.here()
    version[0] = written[0] = tick()
    version[1] += 1


def put(t: Tensor, y: Any) -> None:
    """Overwrite t's memory with the raw array y (a scalar that nobody shares is bound anew)."""
    stamp(t)
    raw = t.raw
    if isinstance(raw, generic):
        t.raw = y if y.__class__ is raw.__class__ else raw.dtype.type(y)
    else:
        raw[...] = y


def in_place(function: Callable[..., Any], row: Op | None = None, alike: bool = False) -> Callable[..., Any]:
    """The in-place form of a function: compute aside, then take the old value's place.

    Where a gradient is recorded and a rule may read the old value (it may not if `row` says so), the function gets a
    copy of it, since the memory is about to change.  alike: all elements get the same value, so it does not matter if
    several of them lie in one place.
    """
    reads_input = row is None or any("a" in r for r in row.reads)
    title = getattr(function, "__name__", "operation")
    by_index, fills = (
        title in BY_INDEX,
        title.endswith("fill"),
    )  # (a single value to fill with is read first)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self.is_dual or any(isinstance(x, Tensor) and x.is_dual for x in (*args, *kwargs.values())):
            from .dual_inplace import change

            return change(function, self, args, kwargs)
        old = self
        if modes.is_grad_enabled() and tracks(self, args, kwargs):
            check_allowed(self)
            noted = self.family.__class__ is View and has_notes(self.node)
            if reads_input or noted:
                raw = self.raw
                node = view_node(self.family.base.node, self) if noted else self.node
                old = wrap(raw if isinstance(raw, generic) or not reads_input else raw.copy(), node)
                if modes.watch[0] is not None:
                    old.record = modes.watchers["record_of"](self)
        if not alike:
            check_overlap(self)
        others = (*args, *kwargs.values()) if kwargs else args
        if not by_index:
            for x in others:
                if isinstance(x, Tensor) and x is not self and (x.raw.ndim or not fills):
                    check_partial_overlap(self.raw, x.raw)
        result = function(old, *args, **kwargs)
        if by_index:
            check_no_overlap(self, [x for x in others if isinstance(x, Tensor) and (x.raw.ndim or not fills)])
        adopt(self, result)
        if modes.watch[0] is not None:
            modes.watchers["rewritten"](self, result)
        return self

    method.__name__ = method.__qualname__ = f"{title}_"
    method.__doc__ = f"In-place form of `{title}`: changes this tensor and returns it."
    return method


def arithmetic_in_place(function: Callable[..., Any], row: Op, ufunc: Any) -> Callable[..., Any]:
    """The in-place form of +, -, *, /: straight into the memory where nothing rare is asked for.

    Direct are arrays of one floating dtype and the target's shape, and numbers, on the CPU, where no graph is
    recorded, or where it is and the row reads nothing (x.sub_(p) in a tracked function).
    """
    general = in_place(function, row)
    _, only_a, _, both, *_ = row.keeps

    def method(self: Tensor, other: Any, *old: Any, **scale: Any) -> Tensor:
        a = self.raw
        left = self.node
        kind = other.__class__
        ka = a.__class__
        scalar = ka is float32 or ka is float64
        if scalar:
            shape: Any = ()
        elif ka is ndarray:
            shape = a.shape
            base = a.base
            dtype = a.dtype
            if dtype is not F32 and dtype is not F64 and dtype.kind != "f":
                return general(self, other, *old, **scale)
        if scale or old or not scalar and ka is not ndarray or self.is_dual or guarding:
            return general(self, other, *old, **scale)
        if kind is Tensor or kind is Parameter:
            b = other.raw
            right = other.node
            if scalar:
                if b.__class__ is not ka or other is self:
                    return general(self, other)
            elif b.__class__ is not ndarray or b.dtype is not dtype or b.shape != shape:
                return general(self, other)
            elif (base is not None or b.base is not None) and b is not a:
                check_partial_overlap(a, b)
        elif kind is float or kind is int:
            b = other
            right = None
        elif kind is float64:  # a NumPy number counts as a Python number
            b = other = other.item()
            right = None
        else:
            return general(self, other)
        family = self.family
        tracked = (left is not None or right is not None) and (
            not modes.special[0] or modes.is_grad_enabled()
        )
        if tracked:
            if modes.departed[0] or left is None or left.op is None or left.notes is not None:
                return general(self, other)
            keep_a, keep_b, _, keep_y = only_a if right is None else both
            if keep_y or keep_a and not scalar:
                return general(self, other)
        if (
            family is not None
            and (tracked or family.__class__ is View)
            or not scalar
            and base is not None
            and 0 in a.strides
        ):
            return general(self, other)
        v = self.version
        watched = modes.watch[0]
        if watched is not None:
            v = version_of(self)
        if v.__class__ is list:
            guard(v)
        else:
            self.version = 1 if v is None else written_version(v)  # stamp(), written out
        if tracked:
            n = Node()
            n.op = row
            n.seq = tick()
            n.left = left
            n.right = right
            n.notes = None
            n.sa = n.sy = shape
            n.sb = shape if right is not None else ()
            if keep_a:
                n.a = a  # an old scalar: nobody can write into it
            if keep_b:
                n.b = b
                if b is not other:
                    n.vb = saved_version_of(other)
        # An interrupt comes after a call, never between two stores: it finds value and node changed, or neither.
        if scalar:
            y = row.fwd(a, b)
            if tracked:
                self.node = n
            self.raw = y
        elif tracked:
            self.node = n
            try:
                ufunc(a, b, a)
            except (ValueError, TypeError):  # the memory is not writable
                self.node = left
                raise
        else:
            ufunc(a, b, a)
        if watched is not None:
            watched(row, None, (self, other), self, "write")
        return self

    method.__name__ = method.__qualname__ = general.__name__
    method.__doc__ = general.__doc__
    return method


def tracks(self: Tensor, args: Any, kwargs: Any) -> bool:
    """Would an operation on these record a node?"""
    if self.node is not None:
        return True
    if self.family.__class__ is View and self.family.base.node is not None:
        return True
    for x in (*args, *kwargs.values()):
        if isinstance(x, Tensor):
            if x.node is not None:
                return True
        elif isinstance(x, (list, tuple)) and any(isinstance(y, Tensor) and y.node is not None for y in x):
            return True
    return False


def adopt(t: Tensor, result: Tensor) -> None:
    """Give t the value and the history of `result`."""
    y = result.raw
    if y.shape != t.raw.shape:
        raise explain(
            RuntimeError,
            f"output with shape {list(t.raw.shape)} doesn't match the broadcast shape {list(y.shape)}",
            "An in-place operation cannot change the shape of its tensor; the other operand would have to be stretched "
            "to it, not the other way round.",
            "use the form without the underscore, which gives a new tensor.",
            tensor=t,
            topic="shape changed in place",
            needed=y.shape,
        )
    if y.dtype is not t.raw.dtype:
        check_cast(y.dtype, t.raw.dtype)
    n = result.node
    if n is None and t.node is None or not modes.is_grad_enabled():
        put(t, y)
        return
    stamp(t)
    value = as_stored(t, y)
    if n is not None and n.op is not None:
        if getattr(n, "vy", None) is not None:
            n.vy = version_of(t)  # the output that the rule reads is t's memory from now on
            n.y = value if isinstance(t.raw, generic) else t.raw
        n.seq = tick()  # made after the write
        for letter in "bc":
            if getattr(n, "v" + letter, None) is t.version and getattr(n, letter, None) is not None:
                getattr(n, "v" + letter)[0] = written[0] = (
                    tick()
                )  # x.mul_(x): the other operand was this memory, and is lost
                break
    store(t, value, n)


def replace(t: Tensor, y: Any, n: Node | None) -> None:
    """Overwrite t's memory with y, which the node n has computed (None: with constants)."""
    stamp(t)
    store(t, as_stored(t, y), n)


def as_stored(t: Tensor, y: Any) -> Any:
    """The raw array y as t keeps it: a scalar in t's dtype."""
    raw = t.raw
    return raw.dtype.type(y) if isinstance(raw, generic) and y.__class__ is not raw.__class__ else y


def store(t: Tensor, value: Any, n: Node | None) -> None:
    """Write t's memory and history in one call into C, so that an interrupt finds both changed, or neither."""
    changes = new_history(t, n)
    raw = t.raw
    if isinstance(raw, generic):
        deque(starmap(setattr, [*changes, (t, "raw", value)]), 0)
    else:
        deque(chain(starmap(setattr, changes), starmap(setitem, [(raw, ..., value)])), 0)


def check_cast(source: Any, target: Any) -> None:
    a, b = dtypes.of(source), dtypes.of(target)
    if not dtypes.can_cast(a, b):
        names = [type_name(np.zeros(0, d)).split(".")[-1].removesuffix("Tensor") for d in (source, target)]
        raise explain(
            RuntimeError,
            f"result type {names[0]} can't be cast to the desired output type {names[1]}",
            f"The result would be {a}, but the tensor that is changed in place holds {b}.",
            f"convert first (x = x.to({a})), or use the form without the underscore.",
            topic="dtype changed in place",
        )


def check_allowed(t: Tensor) -> None:
    """May autograd follow a change of t?"""
    n = t.node
    family = t.family
    if family.__class__ is View:
        if family.made != "grad":
            raise forbidden_view(family, n)
        if n is not None and family.base.is_leaf:
            raise explain(
                RuntimeError,
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                "Its value is needed as it is for its own gradient.",
                "change a copy (y = x.clone(); then y[...] = …), or write `with torch.no_grad():` around a change that "
                "is not part of the function, such as an update.",
                tensor=t,
                topic="view of a leaf changed",
            )
    if n is not None and n.op is None:
        raise explain(
            RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation.",
            "A leaf that requires grad is where gradients are asked for; changing it in place would make it a result.",
            "use the form without the underscore (y = x * 2), or write `with torch.no_grad():` around a change that is "
            "not part of the function, such as an update.",
            tensor=t,
            node=n,
            topic="leaf changed",
        )


def forbidden_view(family: View, n: Node | None, indirect: bool = False) -> RuntimeError:
    """The error for a view that autograd cannot follow, when it is changed itself or (indirect) through its base."""
    how = (
        "its base or another view of its base has been modified inplace"
        if indirect
        else "is being modified inplace"
    )
    title, number = maker_of(family, n)
    if family.made == "custom":
        return explain(
            RuntimeError,
            f"Output {number} of {title} is a view and {how}. This view was created inside a custom Function (or because "
            "an input was returned as-is) and the autograd logic to handle view+inplace would override the custom "
            "backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. "
            "You can fix this by cloning the output of the custom Function.",
            node=n,
            topic="view changed",
            family=family,
        )
    if family.made == "several":
        return explain(
            RuntimeError,
            f"Output {number} of {title} is a view and {how}. This view is the output of a "
            "function that returns multiple views. Such functions do not allow the output views to be modified inplace. "
            "You should replace the inplace operation by an out-of-place one.",
            node=n,
            topic="view changed",
            family=family,
        )
    if family.made == "inference":
        return explain(
            RuntimeError,
            f"A view was created in inference mode and {how} in normal mode. Given that this use case is ambiguous and "
            "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both "
            "inside the inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want "
            "the inplace to be tracked).",
            node=n,
        )
    return explain(
        RuntimeError,
        f"A view was created in no_grad mode and {how} with grad mode enabled. Given that this use case is ambiguous and "
        "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both "
        "inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace "
        "to be tracked).",
        node=n,
        topic="view changed",
        family=family,
    )


def maker_of(family: View, n: Node | None) -> tuple[str, int]:
    """Which operation made a view, and which of its outputs it is, as errors say it."""
    picked = n is not None and n.op is not None and n.op.picks and n.left is not None
    maker: str = getattr(family, "maker", "")
    if maker:
        return maker.removesuffix("Backward"), n.p if picked else 0  # type: ignore[union-attr]
    _, op, p = family.chain
    p, number = p if op.outputs else (p, 0)  # the view itself may be a view of one of several
    title = n.left.title if picked else op.node_name(p)  # type: ignore[union-attr]
    return title.partition("Backward")[0], number


# ------------------------------------------------------------------------------ new history for a base and its views
def rebase(t: Tensor, n: Node | None) -> None:
    """t's memory holds already what node n has computed: give it that history."""
    deque(starmap(setattr, new_history(t, n)), 0)


Change = tuple[Any, str, Any]  # what to set: object, attribute, value


def new_history(t: Tensor, n: Node | None) -> list[Change]:
    """What changes when t's memory is overwritten with what node n computed: its node, or those of its whole family."""
    changes: list[Change] = []
    family = t.family
    if family.__class__ is not View:
        move(t, n, changes)
        if family.__class__ is Family:
            for v in family.alive():
                move(v, view_node(n, v), changes)
        return changes
    base = family.base
    node = slices_node(base, n, family.chain, t.raw.shape)
    move(base, node, changes)
    for v in base.family.alive():
        move(v, view_node(node, v), changes)
    return changes


def move(t: Tensor, n: Node | None, changes: list[Change]) -> None:
    """t gets the node n.  If it retains its gradient it goes on doing so there; its hooks stay where they are."""
    changes.append((t, "node", n))
    old, _ = as_edge(t.node)
    to, number = as_edge(n)
    if old is None or old.notes is None or to is None or old is to:
        return
    if any(r() is t for _, r in old.notes.retain):
        notes = graph.take_notes(to)
        changes.append((old.notes, "retain", [(k, r) for k, r in old.notes.retain if r() is not t]))
        changes.append((notes, "retain", [*notes.retain, (number, weakref.ref(t))]))


def has_notes(n: Node | None) -> bool:
    """Do hooks hang on this node?"""
    n, _ = as_edge(n)
    return (
        n is not None
        and n.notes is not None
        and bool(n.notes.hooks or n.notes.retain or n.notes.before or n.notes.after)
    )


def slices_node(base: Tensor, part: Node | None, chain: Any, part_shape: tuple[int, ...]) -> Node | None:
    """The node of a base of which a part was overwritten."""
    if base.node is None and part is None:
        return None
    n = Node()
    n.op, n.seq, n.notes, n.p = copy_slices, tick(), None, chain
    n.left, n.right = base.node, part
    n.sa = n.sy = base.raw.shape
    n.sb = part_shape
    return n


def view_node(node: Node | None, v: Tensor) -> Node | None:
    """The node of a view of a base that has this node now, made by replaying the view's chain of operations."""
    if node is None:
        return None
    family = v.family
    raw = family.base.raw
    if family.made != "grad":
        n = Node()
        n.op, n.seq, n.notes, n.left, n.p, n.sa = stale, tick(), None, node, family, raw.shape
        n.sy = v.raw.shape
        return n
    steps = links(family.chain)
    last = len(steps) - 1
    for i, (op, p) in enumerate(steps):
        n = Node()
        n.op = restored(op) if i == last else op
        n.seq, n.notes, n.p, n.left, n.sa = tick(), None, p, node, raw.shape
        raw = op.run((raw,), p)
        n.sy = raw.shape
        node = n
    return node


def restored(op: Op) -> Op:
    """The row of a view operation under the name that PyTorch shows for a view made anew."""
    made = op.variants.get("restored")
    if made is None:
        made = op.variants["restored"] = op._like(node_names="AsStridedBackward0")
    return made


def _copy_slices(a: Any, b: Any, chain: Any) -> Any:
    out = np.asarray(a).copy() if isinstance(a, generic) else a.copy()
    part = replay(chain, out)
    if root_of(part) is root_of(out):
        part[...] = b
    else:  # the copy has another layout than the base, in which the chain gives no view: write by position
        places = devices.arange(out.size, dtype=np.dtype(np.int64), like=out).reshape(out.shape)
        out.reshape(-1)[replay(chain, places)] = b
    return out


def _without_part(g: Any, n: Any) -> Any:
    part = replay(n.p, g)
    return copy_slices(g, TABLE["zero"](part), p=n.p)


copy_slices = Op(
    "copy_slices", _copy_slices, a=_without_part, b=lambda g, n: replay(n.p, g), mode="joint", params=True,
    node="CopySlices", symbol="⊂", partials=("1 outside the part", "1 in the part"),
    batch="slices", doc="A tensor of which a part (a view of it) was overwritten.",
)  # fmt: skip


def _stale(g: Any, n: Any) -> Any:
    raise forbidden_view(n.p, None, indirect=True)


stale = Op("stale_view", lambda a, p: a, a=_stale, mode="linear", params=True, node="Invalid",
           doc="A view that autograd cannot follow because its base was changed.")  # fmt: skip

_ = (share, TABLE)
