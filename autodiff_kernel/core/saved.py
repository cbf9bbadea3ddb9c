"""What a node saved: as Tensors for rules that are differentiated again, and guarded against later writes."""

from typing import Any

import numpy as np

from . import errors, places
from .dtype import is_floating
from .exchange import follow, written_since
from .graph import Node, new, tick
from .trail import freed_at


def check_writes(n: Node) -> None:
    """Was a value that this node's rules read overwritten after the node was made?"""
    for slot in n.op.counters:
        version = getattr(n, slot, None)
        if version is None:
            continue
        if slot != "vx":
            if version[0] > n.seq:
                if written_since(version, n.seq):
                    raise modified(n, slot[1], 0, version)
                follow(n, slot[1], 0, version)
        else:
            for i, v in enumerate(version):
                if v is not None and v[0] > n.seq:
                    if written_since(v, n.seq):
                        raise modified(n, "x", i, v)
                    follow(n, "x", i, v)


def modified(n: Node, letter: str, i: int, version: list[Any]) -> RuntimeError:
    """The error for a saved value that was overwritten: who saved it, who wrote it, and what to write instead."""
    value = getattr(n, letter)
    value = value[i] if letter == "x" else value
    role = {"y": "its own output", "x": f"its input {i + 1}"}.get(
        letter, f"its {'first second third'.split()['abc'.find(letter)]} input"
    )
    return overwritten(
        n, value, version, called(n.op), role, f"output 0 of {n.title}" if letter == "y" else ""
    )


def overwritten(
    n: Node | None, value: Any, version: list[Any], saver: str, role: str, output: str
) -> RuntimeError:
    """The same in words: `saver` saved `value`, which is `role` to it, and `output` where it is a result."""
    from .tensor import type_name

    kind = f"[{type_name(value)} {list(np.shape(value))}]"
    output = output and f", which is {output},"
    lines: list[tuple[str, Any]] = []
    if n is not None and n.place is not None:
        lines.append((f"saved by {saver} in", n.place))
    place = places.place_of(version[2])
    lines.append(("changed in", place))
    writer = place.text if place is not None else ""
    return errors.explain(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{kind}{output} is at version {version[1]}; an earlier version was saved.",
        f"The gradient rule of {saver} reads {role}, and that value was overwritten after {saver} had saved it.",
        f"make a new tensor instead of changing that one (in {writer!r}, use the form without the underscore and a new "
        f"name), or clone() the value before changing it." if writer else
        "make a new tensor instead of changing that one (the form without the underscore), or clone() it first.",
        tuple(lines),
        node=n,
        topic="saved value changed",
        saver=saver,
        role=role,
    )  # fmt: skip


def called(op: Any) -> str:
    """The operation as users call it: rows that differ in their operands' kinds share a name."""
    return str(op.name.removesuffix("_number").removesuffix("_row"))


def spent_rule(g: Any, n: Any, i: int = 0) -> Any:
    """The rule of a node whose saved values have been freed."""
    raise errors.explain(
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.",
        f"An earlier backward freed what {called(n.op)} had saved.",
        "compute the result anew before the second backward, or call the first one with retain_graph=True.",
        (
            ("saved in", n.place),
            ("freed by the backward of", freed_at(n)),
        ),
        node=n,
        topic="freed graph",
    )


class Saved:
    """A node's values as Tensors: what a rule sees with `create_graph` and in forward mode."""

    __slots__ = ("a", "b", "c", "y", "x", "p", "sa", "sb", "sc", "sx", "sy")

    a: Any
    b: Any
    c: Any
    x: Any
    y: Any
    p: Any
    sa: Any
    sb: Any
    sc: Any
    sx: Any
    sy: Any


class SavedTensors(Saved):
    """The same, of a node, made when a rule reads them: most rules read one or two."""

    __slots__ = ("_node", "_source")
    _node: Node
    _source: Any

    def __getattr__(self, name: str) -> Any:
        value = _as_tensor(self._node, self._source, name)
        setattr(self, name, value)
        return value


def saved_tensors(n: Node, source: Any = None) -> Any:
    """The values of n as Tensors that hang in the graph where the inputs and the output hang.

    source: what has the raw values, if n itself has not (see packing.py).
    """
    if n.op.is_spent:
        spent_rule(None, n)
    s = new(SavedTensors)
    s._node, s._source = n, n if source is None else source
    return s


_later: list[Any] = []  # what is imported after this module: an import at each call would take 1 µs
_PLACES = {"a": (0, "left", "va"), "b": (1, "right", "vb"), "c": (2, "third", "vc")}


def _as_tensor(n: Node, source: Any, name: str) -> Any:
    """One of the values; raises AttributeError if n has none of that name."""
    if name not in ("a", "b", "c", "x", "y"):
        return getattr(n, name)
    if not _later:
        from .op import pick_node
        from .tensor import wrap

        _later.extend((wrap, pick_node))
    wrap, pick_node = _later
    value = getattr(source, name)
    if value is None or value.__class__ in (
        int,
        float,
        bool,
        complex,
    ):  # an input that was left out, or a number
        return value
    if name == "x":
        return [wrap(v, before_cast(n, i, v, e)) for i, (v, e) in enumerate(zip(value, n.edges))]
    if name == "y":
        if n.op.outputs:
            return [wrap(v, pick_node(n, k) if is_floating(v.dtype) else None) for k, v in enumerate(value)]
        return wrap(value, n, getattr(n, "vy", None))
    i, edge, version = _PLACES[name]
    return wrap(value, before_cast(n, i, value, getattr(n, edge, None)), getattr(n, version, None))


def before_cast(n: Node, i: int, value: Any, edge: Node | None) -> Node | None:
    """The node of the saved input i: that of the input itself, behind a cast if the row kept it in another dtype."""
    if edge is None or not n.op.casts or n.op.casts[i] is None:
        return edge
    from .op import TABLE

    cast = Node()
    cast.op, cast.seq, cast.notes, cast.left = TABLE["cast"], tick(), None, edge
    cast.p, cast.sa, cast.sy = (value.dtype, n.op.casts[i]), value.shape, value.shape
    return cast
