"""The walk: cotangents go from the roots back to the leaves, newest node first."""

from heapq import heappop, heappush
from typing import Any

import numpy as np

from . import anomaly, hooks
from .graph import Node, WideNode, edges_of, float32, float64, ndarray, written
from .modes import recorded
from .packing import unpacked
from .routes import Route
from .running import Task
from .saved import check_writes, saved_tensors, spent_rule
from .tensor import Tensor
from .trail import carry, follows

add = np.add


def walk(
    roots: list[tuple[Node, Any]],
    keep: bool = False,
    create_graph: bool = False,
    route: Route | None = None,
    record: bool | None = None,
) -> dict[Node, Any]:
    """Carry cotangents from the roots to the leaves, newest node first; return the leaves' sums.

    Cotangents are raw arrays, or Tensors with `create_graph`.  The newest pending node waits in a local variable and
    the heap holds only the others (13 % faster on chains).  With a route, only its nodes are visited, and leaves whose
    completion somebody waits for are handed over on the way.  Without hooks of leaves nothing outside is touched before
    the caller stores the sums: a walk that is interrupted leaves every `.grad` as it was.  `record`: are gradients
    recorded on the way (None: as `create_graph`)?
    """
    leaves: dict[Node, Any] = {}
    pending: dict[int, list[Any]] = {}  # stamp -> [node, cotangent so far]
    heap: list[int] = []  # their negated stamps
    nodes, inner = (None, None) if route is None else (route.nodes, route.inner())
    step, hot = contributions, route is None or route.due is None
    trail = follows(roots, keep) if recorded[0] else None
    if anomaly.on[0]:
        step, hot = anomaly.watched(step), False
    for node, g in roots:
        if node.op is None:
            if nodes is None or node in nodes:
                leaves[node] = _own(g) if node not in leaves else leaves[node] + g
        else:
            _wait(pending, heap, node, g)
    plain = hot and trail is None
    n = _NOWHERE
    nxt: Node | None = None
    ng: Any = None
    task: Task | None = None  # what functions of the user's may ask: made for the first node that calls one
    try:
        if create_graph:
            task = Task(roots, route, True, record, trail)
            task.enter()
        while True:
            if nxt is None:
                if not heap:
                    break
                n, g = pending.pop(-heappop(heap))
            elif not heap:
                n, g = nxt, ng
            else:
                if nxt.seq in pending or -heap[0] > nxt.seq:
                    _wait(pending, heap, nxt, ng)
                    n, g = pending.pop(-heappop(heap))
                else:
                    n, g = nxt, ng
            nxt = None
            op = n.op
            inputs = op.direct
            if inputs and plain and n.notes is None and (inner is None or n not in inner):
                # The hot path: one, two or three inputs, nothing noted.  (Everything else: `contributions`, below.)
                if n.seq < written[0] and op.counters:
                    check_writes(n)
                s = saved_tensors(n) if create_graph else n
                shaped = op.spreads and g.__class__ is not float32 and g.__class__ is not float64
                e = n.left
                if e is not None and (nodes is None or e in nodes):
                    have = leaves.get(e) if op.adds is not None and e.op is None else None
                    if have.__class__ is ndarray and g.__class__ is not Tensor and have.dtype is g.dtype:
                        x = op.adds(have, g, n.p)  # a part, added in place
                    else:
                        x = op.a(g, s)
                    if x is not None:  # None: no gradient, the same as zero
                        if shaped and n.sa is not n.sy and x.shape != n.sa:
                            x = unbroadcast(x, n.sa)
                        if e.op is not None:
                            nxt, ng = e, x
                        elif e in leaves:
                            have = leaves[e]
                            if x.__class__ is ndarray and have.__class__ is ndarray and have.dtype is x.dtype:
                                add(have, x, have)  # a leaf's array is nobody else's
                            else:
                                leaves[e] = have + x
                        else:
                            leaves[e] = x if x.__class__ is float32 or x.__class__ is float64 else _own(x, g)
                if inputs > 1:
                    e = n.right
                    if e is not None and (nodes is None or e in nodes):
                        x = op.b(g, s)
                        if x is not None:
                            if shaped and n.sb is not n.sy and x.shape != n.sb:
                                x = unbroadcast(x, n.sb)
                            if e.op is not None:
                                if nxt is None:
                                    nxt, ng = e, x
                                elif e is nxt:
                                    ng = ng + x
                                else:  # the newer of the two goes on, the other one waits
                                    if e.seq > nxt.seq:
                                        e, x, nxt, ng = nxt, ng, e, x
                                    entry = pending.get(e.seq)
                                    if entry is None:
                                        pending[e.seq] = [e, x]
                                        heappush(heap, -e.seq)
                                    elif entry[1] is None:
                                        entry[1] = x
                                    else:
                                        entry[1] = entry[1] + x
                            elif e in leaves:
                                have = leaves[e]
                                if (
                                    x.__class__ is ndarray
                                    and have.__class__ is ndarray
                                    and have.dtype is x.dtype
                                ):
                                    add(have, x, have)
                                else:
                                    leaves[e] = have + x
                            else:
                                leaves[e] = (
                                    x if x.__class__ is float32 or x.__class__ is float64 else _own(x, g)
                                )
                    e = n.third if inputs > 2 else None
                    if e is not None and (nodes is None or e in nodes):
                        x = op.c(g, s)
                        if x is not None:
                            if shaped and n.sc is not n.sy and x.shape != n.sc:
                                x = unbroadcast(x, n.sc)
                            if e.op is not None:
                                _wait(pending, heap, e, x)
                            elif e in leaves:
                                leaves[e] = _plus(leaves[e], x)
                            else:
                                leaves[e] = _own(x, g)
                if not keep:
                    n.op = op.spent
                    n.a = n.b = n.y = None
                    if inputs > 2:
                        n.c = None
                continue
            if trail is not None and inputs and hot and n.notes is None and (inner is None or n not in inner):
                if n.seq < written[0] and op.counters:
                    check_writes(n)
                s = saved_tensors(n) if create_graph else n
                nxt, ng = carry(n, g, s, trail, nodes, leaves, pending, heap, unbroadcast)
                if not keep:
                    n.op = op.spent
                    n.a = n.b = n.y = None
                    if inputs > 2:
                        n.c = None
                continue
            if task is None and (
                n.notes is not None or op.whole is not None or route is not None and route.due
            ):
                task = Task(roots, route, create_graph, record, trail)
            if trail is not None and g.__class__ is list:
                trail.arrived(n, g)
            edges, xs, theirs = step(n, g, route, create_graph, task)
            if trail is not None:
                trail.gave(n, edges, xs)
            for e, x in zip(edges, xs):
                if e is None:
                    continue
                if x is None:  # hooks get to see that, too
                    if (
                        e.op is not None
                        and (e.notes is not None or not hot)
                        and (nodes is None or e in nodes)
                    ):
                        _wait_part(pending, heap, e, n.p, x) if op.picks else _wait(pending, heap, e, x)
                elif e.op is None:
                    leaves[e] = _plus(leaves[e], x) if e in leaves else _own(x, None if theirs else g)
                elif op.picks:
                    _wait_part(pending, heap, e, n.p, x)
                else:
                    _wait(pending, heap, e, x)
            if route is None or route.runs is None or n in route.runs:
                if not keep:
                    spend(n)
                    if trail is not None:
                        trail.freed(n)
                if route is not None and route.due is not None:
                    done, n = n, _NOWHERE  # what goes wrong from here on is none of n's
                    route.arrived(done, leaves, task)
        if route is not None and route.due is not None:
            if task is None:
                task = Task(roots, route, create_graph, record, trail)
            for e in list(leaves):
                route.complete(e, leaves.pop(e), task)
    except (AttributeError, TypeError) as error:
        if n.op is not None and n.op.is_spent:  # another thread has freed what n had saved
            try:
                spent_rule(g, n)
            except RuntimeError as clear:
                raise clear from error
        raise
    finally:
        if task is not None:
            try:
                task.leave()
            except BaseException:  # an interrupt came in between
                task.leave()
                raise
    return leaves


_NOWHERE = Node()
_NOWHERE.op = None


def _own(x: Any, g: Any = None) -> Any:
    """x as something that nobody else holds: rules may pass g on, or give a view of it."""
    if x.__class__ is ndarray:
        return x.copy() if x is g or g is None or x.base is not None else x
    if isinstance(x, (Tensor, np.generic)):
        return x
    return x.copy() if x is g or g is None or x.base is not None else x


def _plus(have: Any, x: Any) -> Any:
    """The sum; in place where `have` is a leaf's array, which nobody else holds."""
    if have.__class__ is ndarray and x.__class__ is ndarray and have.dtype is x.dtype:
        return np.add(have, x, have)
    return have + x


def _wait(pending: dict[int, list[Any]], heap: list[int], n: Node, g: Any) -> None:
    """Put n among the pending nodes, or add g (None: nothing) to what it has."""
    entry = pending.get(n.seq)
    if entry is None:
        pending[n.seq] = [n, g]
        heappush(heap, -n.seq)
    elif g is not None:
        entry[1] = g if entry[1] is None else entry[1] + g


def _wait_part(pending: dict[int, list[Any]], heap: list[int], n: Node, number: int, g: Any) -> None:
    """The same for output `number` of a node with several outputs."""
    entry = pending.get(n.seq)
    if entry is None:
        entry = pending[n.seq] = [n, [None] * len(n.sy)]
        heappush(heap, -n.seq)
    if g is not None:
        entry[1][number] = g if entry[1][number] is None else entry[1][number] + g


def contributions(
    n: Node, g: Any, route: Route | None, create_graph: bool, task: Task | None
) -> tuple[tuple[Node | None, ...], Any, bool]:
    """The general step: what n, whose cotangent is g, gives to its inputs, hooks and captures on the way.

    task: the walk, where n has notes or is the user's.  Returns the edges, a cotangent or None for each, and whether
    functions of the user's may hold those.
    """
    notes = n.notes
    edges = edges_of(n)
    nodes = None if route is None else route.nodes
    if route is not None and route.runs is not None:
        if n not in route.runs:  # it only receives
            route.capture(n, g if notes is None else visit(n, g, task))
            return edges, (None,) * len(edges), False
        route.capture(n, g)  # before any hook, as in PyTorch, if it leads on to other inputs
    if notes is None:
        return edges, gradients(n, g, edges, nodes, create_graph, task), n.op.whole is not None
    assert task is not None
    g = visit(n, g, task)
    if notes.before:
        task.enter()
        g = hooks.seen_before(notes, g)
        if task.trail is not None:
            task.trail.arrived(n, g)
    xs = gradients(n, g, edges, nodes, create_graph, task)
    if notes.after:
        task.enter()
        xs = hooks.seen_after(notes, xs, g)
    return edges, xs, n.op.whole is not None or bool(notes.after)


def gradients(
    n: Node,
    g: Any,
    edges: tuple[Node | None, ...],
    nodes: set[Node] | None,
    create_graph: bool,
    task: Task | None,
    fit: bool = True,
) -> list[Any]:
    """The rules of all inputs among the nodes (None: of all), None for the others.  fit: sum to the inputs' shapes."""
    op = n.op
    if g is None or g.__class__ is list and all(part is None for part in g):
        return [None] * len(edges)
    if n.seq < written[0] and op.counters:
        check_writes(n)
    s: Any = n
    together: Any = None  # the gradients of all inputs, if they come at once
    if op.whole is not None:
        assert task is not None
        task.enter()
        together = op.whole(g, n, create_graph)
    else:
        if n.notes is not None and n.notes.packed is not None:
            assert task is not None
            task.enter()
            s = unpacked(n)
        if create_graph:
            s = saved_tensors(n, s)
    xs: list[Any] = []
    for i, e in enumerate(edges):
        if e is None or nodes is not None and e not in nodes:
            xs.append(None)
            continue
        if together is not None:
            x = together[i]
        elif op.each is not None:
            x = op.each(g, s, i)
        else:
            x = (op.a, op.b, op.c)[i](g, s)
        if fit and op.spreads and x is not None:
            shape = n.sx[i] if op.each is not None else n.sa if i == 0 else n.sb if i == 1 else n.sc
            if x.shape != shape:
                x = unbroadcast(x, shape)
        xs.append(x)
    return xs


def visit(n: Node, g: Any, task: Task | None) -> Any:
    """n's cotangent is complete: tensor hooks see it, tensors retain it."""
    notes = n.notes
    assert notes is not None
    if notes.hooks or notes.retain:
        assert task is not None
        task.enter()
        g = hooks.seen(notes, g)
        if task.trail is not None:
            task.trail.arrived(n, g)
    return g


def spend(n: Node) -> None:
    """Free what the node keeps.  A row that kept nothing can be walked again, as in PyTorch."""
    op = n.op
    n.op = op.spent
    n.a = n.b = n.y = None
    if n.__class__ is WideNode:
        n.c = n.x = None
    if n.notes is not None:
        n.notes.packed = None
    if op.whole is not None and n.p is not None:
        n.p._free_saved()


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum g back to the shape that was stretched to g's shape."""
    lead = len(g.shape) - len(shape)
    if not lead and g.shape == shape:
        return g
    if (
        g.__class__ is ndarray and g.shape[lead:] == shape and g.itemsize > 2
    ):  # the usual case, a bias: straight
        return np.add.reduce(g, 0 if lead == 1 else tuple(range(lead)))
    from .op import TABLE

    axes = tuple(range(lead)) + tuple(
        i + lead for i, size in enumerate(shape) if size == 1 and g.shape[i + lead] != 1
    )
    if axes:
        g = TABLE["sum"](g, p=(axes, True))
    return TABLE["reshape"](g, p=shape) if lead else g
