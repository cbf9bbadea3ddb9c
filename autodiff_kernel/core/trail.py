"""The trail of a walk: what passed where in the newest backwards, if recording was on.

While it goes, a walk notes only what each rule gave; what came to a node is the sum of that, and is found out when
somebody asks.  Nothing here holds a node or a tensor: a node is known by its record (see journal.py), a leaf by the
weak reference to its tensor, and arrays are kept if they have at most 64 elements.
"""

import weakref
from collections import deque
from heapq import heappush
from typing import Any, NamedTuple

import numpy as np

from . import modes, places
from .dtype import is_floating
from .graph import Node, float32, float64, ndarray, small, tick

add = np.add
ZERO = False  # stands for a large array that is zero everywhere; None for any other


class Walk:
    """One walk.  number: its stamp.  spot: the user's instruction that started it.  keep: it frees nothing.

    roots: what it started with, see `Told`.
    """

    __slots__ = ("number", "spot", "keep", "roots")

    def __init__(self, roots: list[tuple[Node, Any]], keep: bool) -> None:
        self.number, self.spot, self.keep = tick(), modes.watchers["start"]() or places.here(), keep
        self.roots = [(key_of(n), brief(g)) for n, g in roots]

    def arrived(self, n: Node, g: Any) -> None:
        """n's complete cotangent is g, whatever the sum of its parts was: hooks have changed it."""
        TRAIL.append((self, key_of(n), brief(g)))

    def gave(self, n: Node, edges: Any, xs: Any) -> None:
        """n's rules gave the xs to its edges."""
        entry = [self, key_of(n)]
        for i, (e, x) in enumerate(zip(edges, xs)):
            if e is not None and x is not None:
                entry += (i + 1, key_of(e), brief(x))
        TRAIL.append(entry)

    def freed(self, n: Node) -> None:
        """The walk has freed what n had saved."""
        r = getattr(n, "spot", None)
        if r.__class__ is list and r[-1] is None:
            r[-1] = self


TRAIL: deque[Any] = deque(maxlen=8192)
on_trail = TRAIL.append


def follows(roots: list[tuple[Node, Any]], keep: bool) -> Walk | None:
    """The trail of a walk from these roots, if it is wanted: if one of them was recorded."""
    for n, _ in roots:
        if key_of(n) is not None:
            return Walk(roots, keep)
    return None


def key_of(n: Node) -> Any:
    """What a node is known by here; None if it was not recorded."""
    spot = getattr(n, "spot", None)
    if spot.__class__ is not list:
        return None
    return n.leaf if n.op is None else spot


def brief(x: Any) -> Any:
    """What is kept of a gradient: a copy if it is small; else whether it is zero."""
    kind = x.__class__
    if kind is float32 or kind is float64:
        return x
    if kind is list:
        return [None if part is None else brief(part) for part in x]
    if kind is ndarray:
        if x.size <= 64:
            return x.copy()
        return None if x.item(0) or x.item(17) or x.item(-18) or not all_zero(x) else ZERO
    known = small(x)
    return ZERO if known is None and all_zero(x) else known


def all_zero(x: Any) -> bool:
    """Is a cotangent zero everywhere?"""
    if x is ZERO:
        return True
    if x.__class__ is list:
        return all(part is None or all_zero(part) for part in x)
    x = getattr(x, "raw", x)
    if x.__class__ is ndarray:
        return is_floating(x.dtype) and not x.any()
    return isinstance(x, np.generic) and not x


def newest_walk() -> int:
    """The number of the newest walk; 0 if there was none."""
    return TRAIL[-1][0].number if TRAIL else 0  # type: ignore[no-any-return]


def freed_by(n: Node) -> Walk | None:
    """The walk that freed what a recorded node had saved."""
    spot = getattr(n, "spot", None)
    return spot[-1] if spot.__class__ is list else None


def freed_at(n: Node) -> "places.Place | None":
    """The line of the user's that started it."""
    walk = freed_by(n)
    return None if walk is None else places.place_of(walk.spot)


# ------------------------------------------------------------------------------------------------ the recorded step
def carry(
    n: Node,
    g: Any,
    s: Any,
    walk: Walk,
    nodes: Any,
    leaves: dict[Node, Any],
    pending: dict[int, list[Any]],
    heap: list[int],
    unbroadcast: Any,
) -> tuple[Any, Any]:
    """The hot path of walk.py once more, with a note of what each rule gave.  Returns the newest node and its part."""
    op = n.op
    inputs = op.direct
    spreads = op.spreads and g.__class__ is not float32 and g.__class__ is not float64
    nxt: Any = None
    ng: Any = None
    if g.__class__ is list:  # of several outputs
        walk.arrived(n, g)
    try:
        spot = n.spot
    except AttributeError:
        spot = None
    entry = [walk, spot]
    i = 0
    while i < inputs:
        if i == 0:
            e = n.left
            rule = op.a
        elif i == 1:
            e = n.right
            rule = op.b
        else:
            e = n.third
            rule = op.c
        i += 1
        if e is None or nodes is not None and e not in nodes:
            continue
        x = rule(g, s)
        if x is None:  # no gradient, the same as zero
            continue
        if spreads:
            shape = n.sa if i == 1 else n.sb if i == 2 else n.sc
            if x.shape != shape:
                x = unbroadcast(x, shape)
        kind = x.__class__
        if kind is float32 or kind is float64:
            known = x
        elif kind is ndarray and x.size > 64 and (x.item(0) or x.item(-1) or x.item(9) or x.item(-10)):
            known = None  # large, and not zero: most are told from a few elements
        else:
            known = brief(x)
        if e.op is None:
            entry += (i, e.leaf, known)
            if e in leaves:
                have = leaves[e]
                if kind is ndarray and have.__class__ is ndarray and have.dtype is x.dtype:
                    add(have, x, have)
                else:
                    leaves[e] = have + x
            elif kind is ndarray:
                leaves[e] = x.copy() if x is g or x.base is not None else x
            else:
                leaves[e] = x if kind is not ndarray and known is x else own(x, g)
            continue
        try:
            entry += (i, e.spot, known)
        except AttributeError:
            pass
        if nxt is None:
            nxt = e
            ng = x
        elif e is nxt:
            ng = ng + x
        else:  # the newer of the two goes on, the other one waits
            if e.seq > nxt.seq:
                e, x, nxt, ng = nxt, ng, e, x
            waiting = pending.get(e.seq)
            if waiting is None:
                pending[e.seq] = [e, x]
                heappush(heap, -e.seq)
            else:
                waiting[1] = x if waiting[1] is None else waiting[1] + x
    on_trail(entry)
    if not walk.keep and spot.__class__ is list and spot[-1] is None:
        spot[-1] = walk
    return nxt, ng


def own(x: Any, g: Any) -> Any:
    """x as something that nobody else holds (it is no array of NumPy's)."""
    from .walk import _own

    return _own(x, g)


# ------------------------------------------------------------------------------------------------ reading it
class Passed(NamedTuple):
    """What one rule gave in a backward, if recording was on: it outlives the graph.

    walk: the number of the walk.  event: the operation (see journal.py).  cotangent: what came to its output, None for
    more than 64 elements.  number: which of its inputs.  gradient: what the rule gave for that.  target: what is
    known of the input.  zeros: are cotangent and gradient zero everywhere?
    """

    walk: int
    event: Any
    cotangent: Any
    number: int
    gradient: Any
    target: Any
    zeros: tuple[bool, bool] = (False, False)


class Told:
    """What the trail tells.

    passed: all steps in order of time.  grads: of each node or leaf (by the id of its key, see `key_of`) the gradient
    that came to it in the newest walk that reached it.  received: the parts of that: (record of the giver, which
    input of it, the part).
    """

    def __init__(self) -> None:
        self.passed: list[Passed] = []
        self.grads: dict[int, Any] = {}
        self.received: dict[int, list[tuple[Any, int, Any]]] = {}
        entries = list(TRAIL)
        self.held = entries  # ids are good as long as their owners live
        walks: dict[int, list[Any]] = {}
        for entry in entries:
            walks.setdefault(entry[0].number, []).append(entry)
        torn = len(entries) == TRAIL.maxlen  # the oldest walk may have lost its beginning
        for own in walks.values():
            self._read(own[0][0], own, torn)
            torn = False

    def _read(self, walk: Walk, entries: list[Any], torn: bool) -> None:
        parts: dict[int, list[tuple[Any, int, Any]]] = {}
        first: dict[int, list[Any]] = {}  # a root may be given several times
        for key, g in walk.roots:
            first.setdefault(id(key), []).append(g)
        given: dict[int, Any] = {}
        event_of = modes.watchers["event_of"]
        for entry in entries:
            key = entry[1]
            if entry.__class__ is tuple:
                given[id(key)] = entry[2]
                continue
            g = self._arrived(key, parts, first, given, torn)
            for at in range(2, len(entry), 3):
                number, target, x = entry[at : at + 3]
                number -= 1
                if target.__class__ not in (list, weakref.ref):
                    continue
                parts.setdefault(id(target), []).append((key, number, x))
                if key.__class__ is list:
                    aim = target if target.__class__ is list else _input(key, number)
                    self.passed.append(
                        Passed(
                            walk.number, event_of(key), None if g is ZERO else g, number, None if x is ZERO else x,
                            event_of(aim) if aim.__class__ is list else None, (_zero(g), _zero(x)),
                        )
                    )  # fmt: skip
        leaves: dict[int, Any] = {}  # each once: all of a long chain may give to one leaf
        for entry in entries:
            for at in range(3, len(entry) if entry.__class__ is list else 0, 3):
                if entry[at].__class__ is weakref.ref:
                    leaves[id(entry[at])] = entry[at]
        for key, _ in walk.roots:
            if key.__class__ is weakref.ref:
                leaves[id(key)] = key
        for key in leaves.values():
            self._arrived(key, parts, first, given, torn)

    def _arrived(self, key: Any, parts: Any, first: Any, given: Any, torn: bool) -> Any:
        """What came to a node or a leaf in a walk: what hooks made of it, or the sum of its parts."""
        if key is None:
            return None
        mine = parts.get(id(key), [])
        if id(key) in given:
            g = given[id(key)]
        else:
            g = total([*first.get(id(key), ()), *[x for _, _, x in mine]])
        self.grads[id(key)] = None if torn or g is ZERO else g
        self.received[id(key)] = [(r, i, None if x is ZERO else x) for r, i, x in mine]
        return g


def _zero(x: Any) -> bool:
    return x is not None and all_zero(x)


def _input(r: Any, number: int) -> Any:
    """The record of an operation's input."""
    return r[6][number] if number < len(r[6]) else None


def total(parts: list[Any]) -> Any:
    """The sum of what arrived, in order."""
    if len(parts) == 1:
        return parts[0]
    if not parts or any(x is None or x.__class__ is list for x in parts):
        return None
    if any(x is ZERO for x in parts):
        return ZERO if all(x is ZERO for x in parts) else None
    g = parts[0]
    for x in parts[1:]:
        g = g + x
    return g


_told: list[Any] = [None, None, None]  # the newest entry, how many, what they tell


def told() -> Told:
    """What the trail tells now."""
    newest = TRAIL[-1] if TRAIL else None
    if _told[0] is not newest or _told[1] != len(TRAIL) or _told[2] is None:
        _told[:] = newest, len(TRAIL), Told()
    return _told[2]  # type: ignore[no-any-return]
