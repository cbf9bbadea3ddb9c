"""`%tensor`: what a tensor is made of — shape, strides, memory, values — and with whom it shares its memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from autodiff_kernel.core import device as devices
from autodiff_kernel.core.storage import root_of
from autodiff_kernel.core.tensor import Tensor

from .broadcasting import Broadcast, broadcast_blocks, broadcast_of, broadcast_scene
from .build import peek
from .names import named_tensors
from .page import Page, Table, Words, clip, counted, page_result, sparkline, stacked
from .placement_cards import size
from .quiet import quietly
from .result import Result
from .style import number, shape_text
from .tensor_pictures import histograms, ribbon_scene

BINS, MOST_TENSORS, MOST_SLOTS, MOST_ELEMENTS, MOST_SHARING = 12, 8, 32, 4096, 20


@dataclass(frozen=True)
class TensorPart:
    """One tensor. strides in elements; offset: of its first element in its memory, in elements; memory: bytes
    of the whole memory in which it lies.

    low, mean, high: of the finite values, '' where there are none. counts: of the finite values, in equal steps from
    low to high.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    strides: tuple[int, ...]
    offset: int
    nbytes: int
    memory: int
    contiguous: bool
    requires_grad: bool
    low: str
    mean: str
    high: str
    nan: int
    inf: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Slot:
    """One place of a memory: its first byte, its value, and per tensor the indices that read it."""

    byte: int
    value: str
    indices: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Ribbon:
    """The beginning of a memory, slot by slot, and the bytes that each tensor reads in the order of its indices."""

    names: tuple[str, ...]
    itemsize: int
    slots: tuple[Slot, ...]
    order: tuple[tuple[int, ...], ...]
    more: bool


@dataclass(frozen=True)
class TensorsView:
    """Some tensors side by side. shares: pairs of names that mean the same memory."""

    title: str
    parts: tuple[TensorPart, ...]
    shares: tuple[tuple[str, str], ...]
    ribbons: tuple[Ribbon, ...]
    broadcast: Broadcast | None


@quietly
def tensors(
    *what: Tensor | Mapping[str, Tensor], namespace: Mapping[str, Any] | None = None, broadcast: bool = False
) -> Result:
    """Show what tensors are made of: shape, dtype, device, strides, memory, values, and who shares memory with whom.

    what: tensors of any shape and dtype, at most 8; a mapping calls its tensors by its keys.  namespace: the
    user's names.  broadcast: show how the shapes of two tensors go together, with the repeated elements as ghosts.
    Raises TypeError for what is no tensor, ValueError for no or too many tensors or for a broadcast of other than two.

    >>> import autodiff_kernel as torch
    >>> x = torch.arange(6.0).reshape(2, 3)
    >>> result = tensors(x, x.t(), namespace={"x": x})
    >>> result.model.parts[1].strides, result.model.ribbons[0].order[1]
    ((1, 3), (0, 12, 4, 16, 8, 20))
    """
    given = [pair for x in what for pair in (x.items() if isinstance(x, Mapping) else [("", x)])]
    xs = tuple(x for _, x in given)
    if not xs or len(xs) > MOST_TENSORS:
        raise ValueError(f"give between 1 and {MOST_TENSORS} tensors; these are {len(xs)}")
    for x in xs:
        if not isinstance(x, Tensor):
            raise TypeError(f"a tensor is wanted, and this is {type(x).__name__}")
    if broadcast and len(xs) != 2:
        raise ValueError(f"a broadcast is shown of two tensors; these are {len(xs)}")
    named = named_tensors(namespace or {})
    names = [name or _name_of(x, named) or f"tensor {i + 1}" for i, (name, x) in enumerate(given)]
    parts = tuple(_part(name, x) for name, x in zip(names, xs, strict=True))
    together = broadcast_of(names, [(x, peek(x)) for x in xs]) if broadcast else None
    model = TensorsView(
        f"Tensor{'s' * (len(names) > 1)}: {', '.join(clip(n) for n in names)}",
        parts,
        _shares(names, xs, named, namespace or {}),
        () if broadcast else tuple(_ribbons(names, xs)),
        together,
    )
    return page_result(model, page)


def _name_of(x: Tensor, named: list[tuple[str, Tensor]]) -> str:
    return next((name for name, t in named if t is x), "")


def _part(name: str, x: Tensor) -> TensorPart:
    values = np.asarray(peek(x))
    real = np.abs(values) if values.dtype.kind == "c" else values
    numbers = real.astype(np.float64).ravel() if real.dtype.kind in "biuf" else np.zeros(0)
    finite = numbers[np.isfinite(numbers)]
    low, mean, high = (
        (number(float(finite.min())), number(float(finite.mean())), number(float(finite.max())))
        if finite.size
        else ("", "", "")
    )
    return TensorPart(
        name, tuple(x.shape), x.dtype.name, str(x.device), tuple(x.stride()), _offset(x), int(x.nbytes),
        int(x.nbytes if isinstance(x.raw, np.generic) else root_of(x.raw).nbytes), bool(x.is_contiguous()),
        bool(x.requires_grad), low, mean, high, int(np.isnan(numbers).sum()),
        int(np.isinf(numbers).sum()), value_counts(finite),
    )  # fmt: skip


def value_counts(finite: np.ndarray) -> tuple[int, ...]:
    """How many values lie in each of equal steps from the lowest to the highest."""
    if not finite.size:
        return ()
    low, high = float(finite.min()), float(finite.max())
    if not high - low < float("inf"):  # the width itself overflows
        finite, low, high = finite / 4, low / 4, high / 4
    if low == high:
        return (int(finite.size),)
    place = ((finite - low) / (high - low) * BINS).astype(int).clip(0, BINS - 1)
    return tuple(int(n) for n in np.bincount(place, minlength=BINS))


def _offset(x: Tensor) -> int:
    return 0 if isinstance(x.raw, np.generic) else int(x.storage_offset())


# ------------------------------------------------------------------------------------------------ who shares memory
def _shares(
    names: list[str], what: tuple[Tensor, ...], named: list[tuple[str, Tensor]], space: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    """(shown, other) for every other tensor or NumPy array that lies in the same memory."""
    others = [(name, t, t.raw) for name, t in named] + [
        (f"{name} (NumPy)", value, value) for name, value in space.items() if isinstance(value, np.ndarray)
    ]
    others += [(name, t, t.raw) for name, t in zip(names, what, strict=True)]
    found: dict[tuple[str, str], None] = {}
    for name, x in zip(names, what, strict=True):
        for other, thing, raw in others:
            if thing is not x and other != name and same_memory(x.raw, raw):
                found[name, other] = None
    return tuple(found)


def same_memory(a: Any, b: Any) -> bool:
    """Whether two raw arrays lie in one memory. A 0-d scalar has a memory of its own."""
    if isinstance(a, np.generic) or isinstance(b, np.generic) or not a.size or not b.size:
        return False
    return root_of(a) is root_of(b) or (
        isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)
    )


# ------------------------------------------------------------------------------------------------------- the ribbon
def _ribbons(names: list[str], what: tuple[Tensor, ...]) -> Iterator[Ribbon]:
    """A ribbon for each memory that the tensors lie in."""
    groups: list[list[int]] = []
    for i, x in enumerate(what):
        if x.raw.size:
            home = next((g for g in groups if same_memory(what[g[0]].raw, x.raw)), None)
            groups.append([i]) if home is None else home.append(i)
    for group in groups:
        yield _ribbon([names[i] for i in group], [what[i].raw for i in group])


def _ribbon(names: list[str], raws: list[Any]) -> Ribbon:
    first = raws[0]
    if isinstance(first, np.generic):
        slot = Slot(0, number(first), (("[]",),))
        return Ribbon(tuple(names), first.dtype.itemsize, (slot,), ((0,),), False)
    root, step = root_of(first), min(raw.dtype.itemsize for raw in raws)
    origin = min(devices.data_ptr(raw) for raw in (root, *raws))
    reads = [dict(islice(_elements(raw, devices.data_ptr(raw) - origin), MOST_ELEMENTS)) for raw in raws]
    start = min(byte for table in reads for byte in table.values())
    end = min(start + MOST_SLOTS * step, max(byte for table in reads for byte in table.values()) + step)
    start = max(0, start - 2 * step) if end - start < MOST_SLOTS * step // 2 else start
    last = origin - devices.data_ptr(root) + int(root.nbytes)
    end = min(end + 2 * step, last, start + MOST_SLOTS * step)
    holders: list[dict[int, list[str]]] = []
    for table in reads:
        at: dict[int, list[str]] = {}
        for index, byte in table.items():
            at.setdefault(byte, []).append(f"[{', '.join(map(str, index))}]")
        holders.append(at)
    values = {
        byte: number(np.asarray(peek(raw))[index])
        for raw, table in zip(raws, reads, strict=True)
        for index, byte in table.items()
        if start <= byte < end
    }
    if root.flags.c_contiguous and root.dtype.itemsize == step and origin == devices.data_ptr(root):
        flat = np.asarray(peek(root)).reshape(-1)[start // step : end // step]
        values = {start + i * step: number(v) for i, v in enumerate(flat)}
    slots = tuple(
        Slot(byte, values.get(byte, ""), tuple(tuple(at.get(byte, ())) for at in holders))
        for byte in range(start, end, step)
    )
    order = tuple(tuple(islice(table.values(), MOST_SLOTS)) for table in reads)
    more = any(raw.size > len(o) for raw, o in zip(raws, order, strict=True)) or end < last
    return Ribbon(tuple(names), step, slots, order, more)


def _elements(raw: Any, start: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """(index, byte) of every element, in the order of the indices."""
    for index in np.ndindex(*raw.shape):
        yield index, start + sum(i * s for i, s in zip(index, raw.strides, strict=True))


# ------------------------------------------------------------------------------------------------------------- page
def page(m: TensorsView) -> Page:
    """The view in blocks: what each tensor is, who shares with whom, the ribbon, the broadcast."""
    blocks: list[Words | Table] = []
    if m.broadcast is not None:
        return Page(m.title, tuple(broadcast_blocks(m.broadcast)), _alt(m), broadcast_scene(m.broadcast))
    blocks.append(_facts(m.parts))
    if m.shares:
        blocks.append(Words(tuple(_sharing(m))))
    elif len(m.parts) > 1:
        blocks.append(Words(("None of them shares memory with another.",)))
    for ribbon in m.ribbons:
        blocks += _ribbon_blocks(ribbon)
    scenes = [ribbon_scene(ribbon) for ribbon in m.ribbons]
    pictures = histograms(m.parts)
    scenes += [pictures] if pictures is not None else []
    return Page(m.title, tuple(blocks), _alt(m), stacked(scenes) if scenes else None)


def _sharing(m: TensorsView) -> Iterator[str]:
    """For each tensor, with whom it shares its memory."""
    for part in m.parts:
        others = [clip(b) for a, b in m.shares if a == part.name]
        more = f" and {len(others) - MOST_SHARING} more" if len(others) > MOST_SHARING else ""
        if others:
            yield f"{clip(part.name)} shares its memory with {', '.join(others[:MOST_SHARING])}{more}"


def _facts(parts: tuple[TensorPart, ...]) -> Table:
    """Properties downwards, tensors side by side."""
    rows = [
        ("shape", *(shape_text(p.shape) for p in parts)),
        ("dtype", *(p.dtype for p in parts)),
        ("device", *(p.device for p in parts)),
        ("strides", *(str(p.strides) for p in parts)),
        ("begins at element", *(str(p.offset) for p in parts)),
        ("memory read in order", *("yes (contiguous)" if p.contiguous else "no" for p in parts)),
        ("bytes of its elements", *(size(p.nbytes) for p in parts)),
        ("bytes of its memory", *(size(p.memory) for p in parts)),
        ("requires grad", *("yes" if p.requires_grad else "no" for p in parts)),
        ("min", *(p.low or "none" for p in parts)),
        ("mean", *(p.mean or "none" for p in parts)),
        ("max", *(p.high or "none" for p in parts)),
        ("nan", *(str(p.nan) for p in parts)),
        ("inf", *(str(p.inf) for p in parts)),
        ("histogram", *(sparkline(p.counts) or "none" for p in parts)),
    ]
    at = {row[0]: r for r, row in enumerate(rows)}
    alarm = {(at["nan"], i + 1) for i, p in enumerate(parts) if p.nan}
    alarm |= {(at["inf"], i + 1) for i, p in enumerate(parts) if p.inf}
    heads = ("", *(clip(p.name) for p in parts))
    return Table(heads, tuple(rows), alarm=frozenset(alarm))


def _ribbon_blocks(ribbon: Ribbon) -> list[Words | Table]:
    rows = []
    for slot in ribbon.slots:
        readers = [" ".join(some) if len(some) < 4 else f"{some[0]} … {some[-1]}" for some in slot.indices]
        rows.append((f"{slot.byte}–{slot.byte + ribbon.itemsize - 1}", slot.value, *readers))
    heads = ("bytes", "value", *(clip(n) for n in ribbon.names))
    caption = f"The memory, {counted(ribbon.itemsize, 'byte')} a slot"
    orders = tuple(
        f"{clip(name)} in the order of its indices: byte {', '.join(map(str, order))}"
        + (", …" if len(order) == MOST_SLOTS else "")
        for name, order in zip(ribbon.names, ribbon.order, strict=True)
    )
    more = (f"(the first {len(ribbon.slots)} slots of a larger memory)",) if ribbon.more else ()
    return [Table(heads, tuple(rows), frozenset({1}), caption, twin=True), Words((*orders, *more), "quiet")]


def _alt(m: TensorsView) -> str:
    parts = [f"{clip(p.name)} has shape {shape_text(p.shape)} and strides {p.strides}" for p in m.parts]
    parts += [f"{clip(a)} and {clip(b)} share memory" for a, b in m.shares[:3]]
    return m.broadcast.verdict if m.broadcast is not None else "; ".join(parts)
