"""Where tensors live: one card per device, what lies on it, how full it is, and what was copied between devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autodiff_kernel import cuda
from autodiff_kernel.core import device as devices
from autodiff_kernel.core.sharing import View
from autodiff_kernel.core.tensor import Tensor

from . import paint
from .names import named_tensors
from .placement_cards import copied, html, text
from .placement_scene import placement_scene
from .result import Result
from .style import img_html, shape_text
from .svg import scene_svg

SHAPES = 6  # copies whose shapes are told


@dataclass(frozen=True)
class PlacedTensor:
    """One tensor: its name, dtype, shape, bytes of its own (0 if it shares memory), and whose memory it shares."""

    name: str
    dtype: str
    shape: str
    nbytes: int
    shares: str


@dataclass(frozen=True)
class PlacedDevice:
    """One device with what lies on it. allocated, reserved, peak: bytes as the allocator counts them, None on the CPU."""

    name: str
    simulated: bool
    tensors: tuple[PlacedTensor, ...]
    nbytes: int
    allocated: int | None
    reserved: int | None
    peak: int | None


@dataclass(frozen=True)
class Copies:
    """What was copied from one device to another; shapes: of the last few copies, where they are known."""

    source: str
    target: str
    count: int
    nbytes: int
    shapes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlacementView:
    """All devices that hold something, and the copies between them.

    copies: since the program began. recent: since the moment that was asked for (a cell's beginning), () without one.
    """

    title: str
    devices: tuple[PlacedDevice, ...]
    copies: tuple[Copies, ...]
    recent: tuple[Copies, ...] = ()
    arrows_mean: str = ""

    @property
    def arrows(self) -> tuple[Copies, ...]:
        """The copies that the picture shows as arrows."""
        return self.recent or self.copies


def place(*what: Any, namespace: Mapping[str, Any] | None = None, since: int | None = None) -> Result:
    """Show on which device each tensor lives, with its bytes, and what was copied between devices.

    what: tensors, or mappings from names to objects (containers and modules are looked through); nothing at all
    means `namespace`.  since: the copies made after that many are drawn as arrows with their bytes (`%place` takes the
    beginning of the cell); else all copies so far.  A tensor that shares another's memory is counted once.  Simulated
    GPUs say so.

    >>> import autodiff_kernel as torch
    >>> x = torch.zeros(10, 100)
    >>> place({"x": x, "row": x[0]})  # doctest: +ELLIPSIS
    Placement: 1 device, 2 tensors, 4.0 kB
    <BLANKLINE>
    cpu: 4.0 kB in 2 tensors
      x    float32  [10, 100]  4.0 kB
      row  float32  [100]      shares x's memory...
    """
    names: dict[str, Any] = {}
    for i, thing in enumerate(what or (namespace or {},)):
        if isinstance(thing, Mapping):
            names.update(thing)
        elif isinstance(thing, Tensor):
            names[_name_of(thing, namespace) or f"tensor {i + 1}"] = thing
        else:
            names[type(thing).__name__] = thing
    model = _model(_with_grads(named_tensors(names)), since)
    return Result(
        model, text=text, html=_html, svg=_svg, alt=_alt(model), files={".png": _page, ".pdf": _page}
    )


def _svg(model: PlacementView) -> str:
    return scene_svg(placement_scene(model), title=model.title, description=_alt(model))


def _html(model: PlacementView) -> str:
    """The picture where there is more than one device, and the cards."""
    several = len(model.devices) > 1
    return html(model, img_html(_svg(model), _alt(model)) if several else "")


def _page(model: PlacementView, path: Path) -> None:
    paint.save_scene(placement_scene(model), path, model.title)


def _name_of(t: Tensor, namespace: Mapping[str, Any] | None) -> str:
    return next((name for name, x in (namespace or {}).items() if x is t), "")


def _with_grads(named: list[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    """Each tensor once, under its first name, and its gradient after it."""
    out, seen = [], set()
    for name, t in named:
        if id(t) in seen:
            continue
        seen.add(id(t))
        out.append((name, t))
        g = t._grad_or_none()
        if g is not None and id(g) not in seen:
            seen.add(id(g))
            out.append((f"{name}.grad", g))
    return out


def _owner(t: Tensor) -> Any:
    """What stands for the memory of t: its base, or the array that owns it."""
    if t.family.__class__ is View:
        t = t.family.base
    raw = t.raw
    while getattr(raw, "base", None) is not None and hasattr(raw.base, "dtype"):
        raw = raw.base
    return raw


def _recent(since: int | None) -> tuple[Copies, ...]:
    """The copies after a number, summed up between each two devices."""
    found: dict[tuple[str, str], list[Any]] = {}
    for copy in devices.transfers_since(since) if since is not None else ():
        found.setdefault((str(copy.source), str(copy.destination)), []).append(copy)
    return tuple(
        Copies(
            a, b, len(some), sum(c.nbytes for c in some), tuple(shape_text(c.shape) for c in some[:SHAPES])
        )
        for (a, b), some in found.items()
    )


def _model(named: list[tuple[str, Tensor]], since: int | None) -> PlacementView:
    owners: dict[int, str] = {}
    held: dict[str, list[PlacedTensor]] = {"cpu": []}
    keep = []  # arrays whose id is a key must stay alive
    # the owner of the memory before the tensors that share it, whatever the order of names
    views = {id(t) for _, t in named if t.family.__class__ is View}
    for name, t in sorted(named, key=lambda pair: id(pair[1]) in views):
        owner = _owner(t)
        keep.append(owner)
        shares = owners.setdefault(id(owner), name) if t.raw.ndim or id(owner) in owners else ""
        mine = 0 if shares and shares != name else t.nbytes
        placed = PlacedTensor(name, t.dtype.name, shape_text(t.shape), mine, "" if shares == name else shares)
        held.setdefault(str(t.device), []).append(placed)
    for index in range(cuda.device_count()):
        held.setdefault(f"cuda:{index}", [])
    cards = tuple(_card(name, tuple(tensors)) for name, tensors in held.items())
    copies = tuple(
        Copies(str(a), str(b), count, nbytes) for (a, b), (count, nbytes) in sorted(
            devices.transfer_totals().items(), key=lambda item: (str(item[0][0]), str(item[0][1]))
        )
    )  # fmt: skip
    used = [c for c in cards if c.tensors]
    tensors = sum(len(c.tensors) for c in cards)
    from .placement_cards import size

    title = (
        f"Placement: {len(used)} device{'s' * (len(used) != 1)}, {tensors} tensor{'s' * (tensors != 1)}, "
        f"{size(sum(c.nbytes for c in cards))}"
    )
    recent = _recent(since)
    meaning = "Copied by the cell." if recent else "Copied since the program began."
    return PlacementView(title, cards, copies, recent, meaning)


def _card(name: str, tensors: tuple[PlacedTensor, ...]) -> PlacedDevice:
    total = sum(t.nbytes for t in tensors)
    if name == "cpu":
        return PlacedDevice(name, False, tensors, total, None, None, None)
    return PlacedDevice(
        name, cuda.is_simulated(), tensors, total, cuda.memory_allocated(name), cuda.memory_reserved(name),
        cuda.max_memory_allocated(name),
    )  # fmt: skip


def _alt(model: PlacementView) -> str:
    parts = [
        f"{d.name}{' (simulated)' if d.simulated else ''} holds {len(d.tensors)} tensor{'s' * (len(d.tensors) != 1)}"
        for d in model.devices
    ]
    told = model.title + ": " + "; ".join(parts)
    arrows = [f"{c.source} to {c.target} {copied(c)}" for c in model.arrows]
    return told + (f". {model.arrows_mean} {', '.join(arrows)}" if arrows else "")
