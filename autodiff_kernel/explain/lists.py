"""A list that holds one tensor several times: what is written in place later changes all of its entries."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_kernel.core.journal import Event
from autodiff_kernel.core.tensor import Tensor

from .aliases import overlap, writes_to
from .answer import LESSONS, Answer, lines
from .words import Names, atom, label, name_of_tensor, operation, times

LESSON = LESSONS["in-place"]


def aliased_list(x: Any, names: Names) -> Iterator[Answer]:
    """A list that holds one memory several times, and writes in place that changed all of its entries."""
    if isinstance(x, (list, tuple)):
        yield from _aliased(x, _name_of_list(x, names), names)
    elif isinstance(x, dict):
        yield from _aliased(list(x.values()), _name_of_list(x, names), names)
    elif isinstance(x, Tensor):
        for name, value in list((names or {}).items()):
            if not name.startswith("_") and isinstance(value, (list, tuple)) and _holds(value, x):
                yield from _aliased(value, name, names)


def _holds(sequence: Any, x: Tensor) -> bool:
    return any(isinstance(t, Tensor) and (t is x or overlap(t.raw, x.raw)) for t in sequence[:1000])


def _name_of_list(x: Any, names: Names) -> str:
    for name, value in list((names or {}).items()):
        if value is x:
            return name
        if isinstance(value, dict):
            inner = next((f"{name}[{k!r}]" for k, v in value.items() if v is x), "")
            if inner:
                return inner
    return "the list"


def _aliased(sequence: Any, title: str, names: Names) -> Iterator[Answer]:
    held = [t for t in sequence[:1000] if isinstance(t, (Tensor, np.ndarray))]
    groups: list[list[Any]] = []
    for t in held:
        group = next((g for g in groups if g[0] is t or overlap(_raw(g[0]), _raw(t))), None)
        if group is None:
            groups.append([t])
        else:
            group.append(t)
    for group in groups:
        owner = next((t for t in group if isinstance(t, Tensor)), None)
        if len(group) < 2 or owner is None:
            continue
        writes = _since(owner, [w for w in writes_to(owner) if w.op != "data"])
        if writes:
            yield _told_list(group, owner, writes, title, names)


def _raw(t: Any) -> Any:
    return t.raw if isinstance(t, Tensor) else t


def _since(owner: Tensor, writes: list[Event]) -> list[Event]:
    """The writes of the line that wrote last."""
    return [w for w in writes if w.spot == writes[-1].spot] if writes else []


def _told_list(group: list[Any], owner: Tensor, writes: list[Event], title: str, names: Names) -> Answer:
    what = name_of_tensor(owner, {k: v for k, v in (names or {}).items() if isinstance(v, Tensor)}) or label(
        writes[-1], names
    )
    if "[" in what:
        what = label(writes[-1], names)
    writer = writes[-1].place.text if writes[-1].place is not None else operation(writes[-1])
    if all(t is group[0] for t in group):
        held = f"holds one and the same tensor, {what}, {times(len(group))}"
    else:
        held = f"holds {len(group)} tensors of one memory, that of {what}"
    copy = f"{atom(what)}.detach().clone()"
    keyed = isinstance((names or {}).get(title), dict)
    fix = f"{title}[key] = {copy}" if keyed else f"{title}.append({copy})"
    return Answer(
        "one tensor in a list many times",
        f"{title} {held}: {writer} ran {times(len(writes))} and changed every entry.",
        lines(("changed in", writes[-1])), f"{fix}  # or {atom(what)}.tolist()", LESSON, about=(owner,),
    )  # fmt: skip
