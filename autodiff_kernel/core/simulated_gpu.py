"""The simulated GPUs themselves: their number, their memory, and which one is current in this thread."""

import threading

from .memory_pool import MemoryPool

MEMORY = 4 << 30  # bytes of each simulated GPU


class Device:
    """One simulated GPU; as a context manager it becomes this thread's current one (`cupy.cuda.Device`)."""

    __slots__ = ("allocate", "id", "pool")

    def __init__(self, id: int) -> None:
        self.id = id
        self.pool = MemoryPool(MEMORY, f"GPU {id} (simulated)")
        self.allocate = self.pool.allocate

    @property
    def name(self) -> str:
        return f"simulated GPU {self.id}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        return self.pool.capacity - self.pool.total_bytes(), self.pool.capacity

    def use(self) -> None:
        """Make this the current device of this thread."""
        _local.current = self.id

    def synchronize(self) -> None:
        """Return at once: a simulated GPU has finished when the call returns."""

    def __enter__(self) -> "Device":
        _local.before.append(_local.current)
        _local.current = self.id
        return self

    def __exit__(self, *_: object) -> None:
        _local.current = _local.before.pop()

    def __repr__(self) -> str:
        return f"<simulated CUDA device {self.id}>"


class _Local(threading.local):
    def __init__(self) -> None:
        self.current = 0
        self.before: list[int] = []


_local = _Local()
_made: list[Device] = []  # every one ever made: arrays that outlive simulate(0) keep theirs
_count = 0


def set_count(count: int) -> None:
    """Let `count` simulated GPUs be visible."""
    global _count
    while len(_made) < count:
        _made.append(Device(len(_made)))
    _count = count


def current() -> int:
    """The number of this thread's current GPU."""
    return _local.current if _local.current < _count else 0


def gpu(index: int | None = None) -> Device:
    """The simulated GPU of that number; this thread's current one without a number."""
    index = current() if index is None else index
    if not 0 <= index < len(_made):
        raise RuntimeError(f"CUDA error: invalid device ordinal: there is no simulated GPU {index}")
    return _made[index]


def count() -> int:
    """How many simulated GPUs are visible."""
    return _count
