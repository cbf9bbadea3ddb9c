"""The log of copies between devices: how many, from where to where, and of how many bytes."""

import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .device import device


class Transfer(NamedTuple):
    """One copy between devices; `number` counts them in this process, from 1."""

    number: int
    source: "device"
    destination: "device"
    nbytes: int
    shape: tuple[int, ...]


transfers: deque[Transfer] = deque(maxlen=1000)  # the last ones, oldest first
_totals: dict[tuple["device", "device"], list[int]] = {}
_lock = threading.Lock()
_count = 0


def count_transfer(source: "device", destination: "device", nbytes: int, shape: tuple[int, ...] = ()) -> None:
    """Note one copy between devices."""
    global _count
    with _lock:
        _count += 1
        transfers.append(Transfer(_count, source, destination, nbytes, shape))
        total = _totals.setdefault((source, destination), [0, 0])
        total[0] += 1
        total[1] += nbytes


def transfer_count() -> int:
    """How many copies between devices this process has made."""
    return _count


def transfer_totals() -> dict[tuple["device", "device"], tuple[int, int]]:
    """For each (source, destination): how many copies, and how many bytes in all."""
    with _lock:
        return {pair: (number, nbytes) for pair, (number, nbytes) in _totals.items()}


def transfers_since(number: int) -> list[Transfer]:
    """The copies made after `transfer_count()` gave `number`, oldest first; at most the last 1000."""
    with _lock:
        return [t for t in transfers if t.number > number]
