"""Events: what happened to tensors, made of the records that journal.py keeps, when somebody asks."""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import places

make = tuple.__new__


class Event(NamedTuple):
    """One thing that happened.

    kind: "operation"; "write" (memory changed in place); "made" (a tensor made of data); "met" (an older tensor, first
    seen now); "left" (values taken out of the graph: item, tolist, numpy, detach, data); "asked" (requires_grad
    switched); "backward" (one was started); "gradient" (a leaf's `.grad` received a sum); "cleared" (`.grad` was
    dropped, or replaced by the input).
    op, p: the row of the table and its parameters; for other kinds a word for the function in `op`.  spot: the user's
    instruction.  inputs: the events of the inputs, and what was no tensor as it is.  result: weak reference to the
    tensor (a tuple of them for several).  value, shape, dtype, device: of the result; value is None for more than 64
    elements.  off: where gradients were switched off (True if not known), None where they were on.  depth: how many
    generations the inputs reach back.  names: the open scopes.  tracked: did the result require grad?  kept: what the
    record kept of the value; copies of an event have it in common.
    """

    kind: str
    op: Any
    p: Any
    spot: Any
    inputs: tuple[Any, ...]
    result: Any
    value: Any
    shape: Any
    dtype: Any
    device: Any
    off: Any = None
    depth: int = 0
    names: tuple[str, ...] = ()
    tracked: bool = False
    kept: Any = None

    @property
    def place(self) -> "places.Place | None":
        """The user's line."""
        return places.place_of(self.spot)

    @property
    def name(self) -> str:
        """The operation as users call it."""
        return self.op if isinstance(self.op, str) else self.op.name if self.op is not None else ""

    def given(self) -> tuple[tuple[Any, Any, Any], ...]:
        """Of each input: (weak reference to the tensor, or None for a number; its value if small; its shape)."""
        return tuple(
            (x.result, x.value, x.shape) if x.__class__ is Event else (None, x, np.shape(x))
            for x in self.inputs
        )

    def tensor(self) -> Any:
        """The tensor, while somebody still holds it."""
        return None if self.result is None or self.result.__class__ is tuple else self.result()


# ------------------------------------------------------------------------------------------ records
Record = list[Any]
# What stands where in a record: the user's code object and instruction come first, as in the pairs of places.py.
# `values` of at most 64 elements are bytes where they are arrays on the CPU; freed: the walk that freed the node.
(
    CODE,
    AT,
    EVENT,
    KIND,
    OP,
    P,
    INPUTS,
    RESULT,
    VALUE,
    SHAPE,
    DTYPE,
    DEVICE,
    OFF,
    DEPTH,
    NAMES,
    TRACKED,
    FREED,
) = range(17)


class Plain:
    """A list among the inputs of a record, where it would look like a record."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def event_of(r: Record) -> Event:
    """The event that a record tells of; always the same one."""
    event: Event | None = r[EVENT]
    if event is None:
        value = r[VALUE]
        if value.__class__ is bytes:
            value = np.frombuffer(value, r[DTYPE]).reshape(r[SHAPE]).copy()
        inputs = [
            event_of(x) if x.__class__ is list else x.value if x.__class__ is Plain else x for x in r[INPUTS]
        ]
        spot = None if r[CODE] is None else (r[CODE], r[AT])
        event = r[EVENT] = make(
            Event, (r[KIND], r[OP], r[P], spot, tuple(inputs), r[RESULT], value, *r[SHAPE:FREED], r[VALUE])
        )
    return event


def gradient_events(r: Record) -> list[Event]:
    """The events "gradient" of a deposit, one for each leaf."""
    if r[EVENT] is None:
        r[EVENT] = []
        for g, again in r[OP]:
            known = g[INPUTS][0]
            one = known.copy()
            one[CODE], one[AT], one[EVENT], one[KIND], one[OP], one[P] = (
                r[CODE],
                r[AT],
                None,
                "gradient",
                "grad",
                again,
            )
            one[INPUTS], one[OFF], one[DEPTH], one[NAMES], one[TRACKED], one[FREED] = (
                (),
                None,
                0,
                (),
                True,
                None,
            )
            r[EVENT].append(event_of(one))
    return r[EVENT]  # type: ignore[no-any-return]


class Log:
    """The newest few thousand events in order of time.  Records become events when they are read."""

    def __init__(self, most: int) -> None:
        self.records: deque[Record] = deque(maxlen=most)
        self._read: list[Event] = []
        self._ends: tuple[Any, Any, int] = (
            None,
            None,
            0,
        )  # of what was read: first and last record, how many
        self._positions: dict[int, int] | None = None
        self._uses: dict[int, list[int]] | None = None
        self._kinds: dict[tuple[str, ...], list[Event]] | None = None
        self._given: list[tuple[int, ...]] | None = None

    def events(self) -> list[Event]:
        """All of them, oldest first.  (The list is made once for all questions between two events: leave it as it is.)"""
        records = self.records
        ends = (records[0], records[-1], len(records)) if records else (None, None, 0)
        if ends[0] is not self._ends[0] or ends[1] is not self._ends[1] or ends[2] != self._ends[2]:
            self._read = read = []
            for r in list(records):
                if r[KIND] == "gradients":
                    read += gradient_events(r)
                else:
                    read.append(event_of(r))
            self._ends, self._positions, self._uses = ends, None, None
            self._kinds, self._given = None, None
        return self._read

    def position(self, event: Any) -> int:
        """Where an event stands; -1 if it has dropped out."""
        events = self.events()
        if self._positions is None:
            self._positions = {id(e): i for i, e in enumerate(events)}
        return self._positions.get(id(event), -1)

    def of_kind(self, *kinds: str) -> list[Event]:
        """Those of these kinds, oldest first.  (Leave the list as it is, too.)"""
        events = self.events()
        if self._kinds is None:
            self._kinds = {}
        found = self._kinds.get(kinds)
        if found is None:
            found = self._kinds[kinds] = [e for e in events if e.kind in kinds]
        return found

    def uses(self, result: Any) -> list[int]:
        """Where the events stand that have the tensor `result` (a weak reference) as an input, oldest first."""
        events = self.events()
        if self._uses is None:
            uses: dict[int, list[int]] = {}
            for i, e in enumerate(events):
                for x in e.inputs:
                    if x.__class__ is Event and x.result is not None:
                        at = uses.setdefault(id(x.result), [])
                        if not at or at[-1] != i:
                            at.append(i)
            self._uses = uses
        return self._uses.get(id(result), []) if result is not None else []

    def given(self) -> list[tuple[int, ...]]:
        """For each event the ids of the tensors (of the weak references to them) that it had as inputs."""
        events = self.events()
        if self._given is None:
            self._given = [
                tuple([id(x.result) for x in e.inputs if x.__class__ is Event and x.result is not None])
                for e in events
            ]
        return self._given

    def clear(self) -> None:
        self.records.clear()
        self.events()

    def __len__(self) -> int:
        return len(self.events())

    def __bool__(self) -> bool:
        return not not self.records

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events())

    def __reversed__(self) -> Iterator[Event]:
        return reversed(self.events())

    def __getitem__(self, i: int) -> Event:
        return self.events()[i]


LOG = Log(4096)
