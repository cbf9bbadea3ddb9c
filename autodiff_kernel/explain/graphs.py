"""The graph behind a tensor: which backward freed it, and which line overwrote what it saved."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from autodiff_kernel.core import trail
from autodiff_kernel.core.facts import event_at
from autodiff_kernel.core.graph import Node, as_edge, edges_of
from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.places import Place, place_of
from autodiff_kernel.core.saved import called as row_name
from autodiff_kernel.core.tensor import Tensor

from . import rewrite
from .answer import LESSONS, Answer, lines
from .history import nodes
from .names import Names, at, called, called_node, expression, in_line

GRAPH, LOOPS, IN_PLACE = LESSONS["graph"], LESSONS["loops"], LESSONS["in-place"]
MOST = 20_000  # nodes that are looked at


# ------------------------------------------------------------------------------------------------ freed
def is_spent(n: Node) -> bool:
    return n.op is not None and n.op.is_spent


def freed_at(n: Node) -> Place | None:
    """The line of the backward that freed what a node had saved."""
    return trail.freed_at(n)


class Border(NamedTuple):
    """Where the living part of a graph ends.

    spent: the node whose saved values are gone.  first: the node nearest to the root through which that backward came
    (often spent itself).  above: the node that leads to it and is not freed yet; None if first is the root.
    """

    spent: Node
    first: Node
    above: Node | None


def walked(n: Node) -> bool:
    """Has a backward come through here and freed what there was?"""
    return is_spent(n) or trail.freed_by(n) is not None


def newest_spent(root: Node) -> Node | None:
    """The newest freed node to which a graph leads."""
    return max((n for n in nodes(root, MOST) if is_spent(n)), key=lambda n: n.seq, default=None)


def border(root: Node, spent: Node) -> Border:
    """How a walk from the root comes upon a freed node."""
    chain = _chain(root, spent)
    when = freed_when(spent)
    for above, n in zip([None, *chain], chain):
        if n is spent or 0 < freed_when(n) <= when:  # what the walk that fails now has passed is newer
            return Border(spent, n, above)
    return Border(spent, spent, None)


def freed_when(n: Node) -> int:
    walk = trail.freed_by(n)
    return 0 if walk is None else walk.number


def _chain(root: Node, to: Node) -> list[Node]:
    """A way through the graph, from the root to a node, both included; [] if there is none."""
    came: dict[Node, Node | None] = {root: None}
    waiting = [root]
    while waiting and len(came) < MOST and to not in came:
        n = waiting.pop()
        for e in edges_of(n):
            if e is not None and e not in came:
                came[e] = n
                waiting.append(e)
    step: Node | None = to if to in came else None
    chain: list[Node] = []
    while step is not None:
        chain.append(step)
        step = came[step]
    return chain[::-1]


class Again(NamedTuple):
    """Why a graph is walked a second time.

    kind: "state" (a value is carried from one round of a loop into the next), "outside" (a part was computed before the
    loop), "shared" (two results share a part), "twice" (backward was called twice).
    """

    kind: str
    node: Node
    made: Place | None
    freed: Place | None
    fails: Place | None
    carried: str


def again(found: Border, fails: Place | None, names: Names) -> Again:
    """Why the freed part is needed again: told by the lines that made it, that freed it, and that fail now."""
    n = whole(found.spent)
    made, freed = whole(found.first).place, freed_at(n)
    loops = freed is not None and fails is not None and same_line(freed, fails)
    if found.above is None:
        kind = "twice"
    elif not loops:
        kind = "shared"
    else:
        newer = {m.place for m in _newer(found.above, found.first) if m.place is not None}
        kind = "state" if made is not None and any(same_line(made, p) for p in newer) else "outside"
    return Again(kind, n, made, freed, fails, called_node(found.first, names))


def same_line(a: Place, b: Place) -> bool:
    """Do two places lie in one line?  (A cell that is run again is compiled again.)"""
    return a.filename == b.filename and a.line == b.line


def _newer(n: Node, than: Node) -> list[Node]:
    """The nodes of a graph that are newer than one of them."""
    seen = {n}
    waiting = [n]
    while waiting and len(seen) < MOST:
        for e in edges_of(waiting.pop()):
            if e is not None and e not in seen and e.seq > than.seq:
                seen.add(e)
                waiting.append(e)
    return list(seen)


def whole(n: Node) -> Node:
    """The operation itself, for the pick of one of its outputs."""
    made = as_edge(n)[0]
    return n if made is None else made


def second_time(found: Again, root: str, names: Names) -> Answer:
    """The answer to a backward that needs what an earlier one freed; `root` is where it started."""
    n = found.node
    name = row_name(n.op)
    value = found.carried or f"the result of {name}"
    made = f" ({at(found.made)})" if found.made is not None else ""
    marks = lines(
        (f"{name} saved values for backward in", found.made),
        ("they were freed by the backward of", found.freed),
        ("they are needed again in", found.fails),
    )
    what = value.strip("`")
    freed = at(found.freed) or "an earlier backward"
    if found.kind == "state":
        return Answer(
            "state carried over",
            f"{value} of one round of the loop goes on into the next{made}, so this backward walks back into the graph of "
            f"the round before, which {freed} has freed.",
            marks,
            f"{what} = {what}.detach()   # after each backward: the next round starts from the value alone",
            LOOPS,
            about=(n,),
        )
    if found.kind == "outside":
        return Answer(
            "computed before the loop",
            f"{value}{in_line(found.made, ' of ')} was computed before the loop: the first backward freed its graph, and "
            "every further one needs it again.",
            marks,
            f"{found.made.text}   # inside the loop" if found.made is not None and found.made.text else "",
            LOOPS,
            about=(n,),
        )
    if found.kind == "shared":
        return Answer(
            "shared part freed",
            f"{root} and an earlier result share {value}{in_line(found.made, ' of ')}, and the backward of {freed} freed "
            "that part of the graph.",
            marks,
            f"{_first_with_retain(found) or 'loss1.backward(retain_graph=True)'}   # in {freed}; or one backward of the sum",
            GRAPH,
            about=(n,),
        )
    again_here = found.freed is not None and found.fails is not None and same_line(found.freed, found.fails)
    when = "an earlier run of " if again_here else "the backward of "
    anew = found.made.text if found.made is not None else ""
    kept = "" if again_here else _first_with_retain(found)
    return Answer(
        "backward twice",
        f"The graph of {root} was freed by {when}{freed}: what {name} had saved{made} is gone.",
        marks,
        (f"{anew}   # compute it anew before each backward" if anew else "")
        + (f"\n# or, if both are meant, in {freed}:  {kept}" if kept else ""),
        LOOPS if again_here else GRAPH,
        about=(n,),
    )


def _first_with_retain(found: Again) -> str:
    return "" if found.freed is None else rewrite.with_keyword(found.freed, "retain_graph=True")


def hangs_on_freed(x: Any, names: Names) -> Iterator[Answer]:
    """A backward from x would fail: a part of its graph is freed already, while x's own part is not."""
    if not isinstance(x, Tensor) or x.node is None or x.node.op is None or walked(whole(x.node)):
        return
    spent = newest_spent(x.node)
    if spent is None:
        return
    found = border(x.node, spent)
    n = whole(spent)
    freed, made = freed_at(n), whole(found.first).place
    if freed is None:
        return
    name = called(x, names, "this tensor")
    value = called_node(found.first, names) or f"the result of {row_name(n.op)}"
    earlier = f"the earlier {value}" if value == name else value
    yield Answer(
        "hangs on a freed graph",
        f"A backward from {name} would fail: it was computed from {earlier}{in_line(made, ' of ')}, whose graph the "
        f"backward of {at(freed)} has freed.",
        lines((f"{earlier} was made in", made), ("its graph was freed by the backward of", freed)),
        f"{value} = {value}.detach()   # before it is used again, if only the value is meant to go on"
        if value.isidentifier()
        else "",
        LOOPS,
        about=(x, n),
    )


# ------------------------------------------------------------------------------------------------ overwritten
class Overwritten(NamedTuple):
    """A saved value that was changed: the node, which value, its version counter."""

    node: Node
    letter: str
    number: int
    version: list[Any]

    @property
    def event(self) -> Event | None:
        """The event of the saved value, where it is an input or the output that is known."""
        e = event_at(self.node)
        if e is None or self.letter == "y":
            return e
        i = self.number if self.letter == "x" else "abc".find(self.letter)
        x = e.inputs[i] if i < len(e.inputs) else None
        return x if x.__class__ is Event else None

    @property
    def changed(self) -> Place | None:
        return place_of(self.version[2])


def overwritten(n: Node) -> Overwritten | None:
    """Which value that a node's rules read was written after it was saved?"""
    if n.op is None:
        return None
    for slot in n.op.counters:
        version = getattr(n, slot, None)
        if slot == "vx":
            for i, v in enumerate(version or ()):
                if v is not None and v[0] > n.seq:
                    return Overwritten(n, "x", i, v)
        elif version is not None and version[0] > n.seq:
            return Overwritten(n, slot[1], 0, version)
    return None


def saved_value_changed(found: Overwritten, names: Names, start: str, fails: Place | None = None) -> Answer:
    """The answer for a saved value that was overwritten: who saved it, who wrote it, and what to write instead."""
    n, e = found.node, found.event
    name = row_name(n.op)
    value = called(e, names) if e is not None else ""
    role = "its own result" if found.letter == "y" else "its input"
    what = f"{role} {value}" if value else role
    writer = found.changed
    changed = f"{at(writer)} changed it in place" if writer is not None else "it was changed in place"
    shown = expression(n.place)
    if e is not None and is_leaf(e):  # an update, before backward had read the old value
        backward = fails.text if fails is not None else "loss.backward()"
        fix = f"{backward}   # before {at(writer) or 'the line that'} changes {value}"
    else:
        fix = rewrite.without_in_place(writer, names)
    return Answer(
        "saved value changed",
        f"{start}{name}{in_line(n.place)} saved {what} for its derivative, and {changed} afterwards.",
        lines(
            (f"saved by {shown if shown and len(shown) < 30 else name} in", n.place), ("changed in", writer)
        ),
        fix or (f"{value.strip('`')} = {value.strip('`')}.clone()   # before it is changed" if value else ""),
        IN_PLACE,
        about=(n,),
    )


def is_leaf(e: Event) -> bool:
    """Is it a leaf that requires grad?"""
    t = e.tensor()
    return t is not None and t.is_leaf and t.requires_grad


def will_fail(x: Any, names: Names) -> Iterator[Answer]:
    """A backward from x would refuse, because a saved value was overwritten."""
    if not isinstance(x, Tensor) or x.node is None or x.node.op is None or walked(whole(x.node)):
        return
    for n in nodes(x.node, MOST):
        found = None if is_spent(n) else overwritten(n)
        if found is not None:
            name = called(x, names, "this tensor")
            yield saved_value_changed(found, names, f"A backward from {name} would fail: ")
            return
