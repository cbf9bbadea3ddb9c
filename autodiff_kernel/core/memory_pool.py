"""The caching memory pool of one simulated GPU: what is in use, what is kept for reuse, and the peaks.

It behaves as CuPy's pool does, and as PyTorch's in everything a lesson shows: sizes are rounded up to 512 bytes, a
freed block stays reserved and serves the next request that fits, blocks are split on the way out and joined on the
way back, and `empty_cache` hands whole free segments back.
"""

import threading
from bisect import bisect_left, insort
from collections import deque

ROUNDING = 512


class OutOfMemoryError(RuntimeError):
    """A GPU has too little free memory for a request (PyTorch's `torch.OutOfMemoryError`)."""


class Chunk:
    """A piece of a segment; `before` and `after` are its neighbours in the same segment."""

    __slots__ = ("size", "before", "after", "in_use", "returned")

    def __init__(self, size: int, returned: "deque[Chunk]") -> None:
        self.size, self.returned = size, returned
        self.before: Chunk | None = None
        self.after: Chunk | None = None
        self.in_use = True


class MemoryPool:
    """Counts the bytes of one simulated GPU. `capacity` is the size of its memory in bytes.

    >>> pool = MemoryPool(capacity=1 << 20)
    >>> chunk = pool.allocate(1000)
    >>> pool.allocated, pool.reserved
    (1024, 1024)
    >>> pool.give_back(chunk)
    >>> pool.allocated, pool.reserved
    (0, 1024)
    """

    def __init__(self, capacity: int, name: str = "simulated GPU") -> None:
        self.capacity, self.name = capacity, name
        # A finaliser may run anywhere, also inside `allocate`: it only appends here, and the next call settles.
        self.returned: deque[Chunk] = deque()
        self._lock = threading.RLock()
        self._free: dict[int, dict[Chunk, None]] = {}  # size -> chunks of that size, newest last
        self._sizes: list[int] = []  # the sizes that have chunks, sorted
        self._allocated = self._reserved = self._peak = self._reserved_peak = 0
        self._requests = self._live = 0

    def allocate(self, nbytes: int) -> Chunk | None:
        """Take a block of at least `nbytes`; None for no bytes. Raises OutOfMemoryError."""
        if not nbytes:
            return None
        size = (nbytes + ROUNDING - 1) // ROUNDING * ROUNDING
        with self._lock:
            if self.returned:
                self._settle()
            same = self._free.get(size)
            if same and len(same) > 1:  # one stays: the list of sizes need not change
                chunk = same.popitem()[0]
            else:
                chunk = self._fit(size) or self._new_segment(size)
            chunk.in_use = True
            self._requests += 1
            self._live += 1
            self._allocated = total = self._allocated + size
            if total > self._peak:
                self._peak = total
        return chunk

    @staticmethod
    def give_back(chunk: Chunk | None) -> None:
        """Return a block to its pool. Safe in a finaliser: it takes no lock."""
        if chunk is not None:
            chunk.returned.append(chunk)

    def empty_cache(self) -> None:
        """Hand back every segment of which no byte is in use."""
        with self._lock:
            self._settle()
            for size in list(self._sizes):
                for chunk in list(self._free[size]):
                    if chunk.before is None and chunk.after is None:
                        self._take(chunk)
                        self._reserved -= chunk.size

    def reset_peak(self) -> None:
        """Start the peaks anew from the present state."""
        with self._lock:
            self._settle()
            self._peak, self._reserved_peak = self._allocated, self._reserved

    def _get(self, name: str) -> int:
        with self._lock:
            self._settle()
            return getattr(self, name)

    allocated = property(lambda self: self._get("_allocated"), doc="Bytes in blocks that are in use.")
    reserved = property(lambda self: self._get("_reserved"), doc="Bytes held from the GPU, in use or cached.")
    peak = property(lambda self: self._get("_peak"), doc="The most `allocated` has been since the last reset.")
    reserved_peak = property(lambda self: self._get("_reserved_peak"), doc="The most `reserved` has been.")
    requests = property(lambda self: self._get("_requests"), doc="How many blocks were ever asked for.")
    live_blocks = property(lambda self: self._get("_live"), doc="How many blocks are in use.")

    @property
    def cached_blocks(self) -> list[int]:
        """Sizes of the freed blocks that are kept for reuse, smallest first."""
        with self._lock:
            self._settle()
            return [size for size in self._sizes for _ in self._free[size]]

    def _settle(self) -> None:
        """Put returned blocks on the free list, joined with free neighbours."""
        returned = self.returned
        while returned:
            chunk = returned.popleft()
            self._allocated -= chunk.size
            self._live -= 1
            chunk.in_use = False
            after, before = chunk.after, chunk.before
            if after is not None and not after.in_use:
                self._take(after)
                self._join(chunk, after)
            if before is not None and not before.in_use:
                self._take(before)
                self._join(before, chunk)
                chunk = before
            self._keep(chunk)

    @staticmethod
    def _join(chunk: Chunk, after: Chunk) -> None:
        chunk.size += after.size
        chunk.after = after.after
        if chunk.after is not None:
            chunk.after.before = chunk

    def _keep(self, chunk: Chunk) -> None:
        same = self._free.get(chunk.size)
        if same is None:
            self._free[chunk.size] = {chunk: None}
            insort(self._sizes, chunk.size)
        else:
            same[chunk] = None

    def _take(self, chunk: Chunk) -> None:
        same = self._free[chunk.size]
        del same[chunk]
        if not same:
            del self._free[chunk.size]
            del self._sizes[bisect_left(self._sizes, chunk.size)]

    def _fit(self, size: int) -> Chunk | None:
        """The smallest free block of at least `size`; what is over stays free."""
        at = bisect_left(self._sizes, size)
        if at == len(self._sizes):
            return None
        chunk = next(reversed(self._free[self._sizes[at]]))
        self._take(chunk)
        over = chunk.size - size
        if over:
            rest = Chunk(over, self.returned)
            rest.in_use, rest.before, rest.after = False, chunk, chunk.after
            if rest.after is not None:
                rest.after.before = rest
            chunk.size, chunk.after = size, rest
            self._keep(rest)
        return chunk

    def _new_segment(self, size: int) -> Chunk:
        if self._reserved + size > self.capacity:
            self.empty_cache()
            if self._reserved + size > self.capacity:
                free = self.capacity - self._reserved
                raise OutOfMemoryError(
                    f"CUDA out of memory. Tried to allocate {_readable(size)}. {self.name} has a total capacity of "
                    f"{_readable(self.capacity)} of which {_readable(free)} is free. Free tensors that are no longer "
                    "needed (del), or use a smaller batch."
                )
        self._reserved += size
        self._reserved_peak = max(self._reserved_peak, self._reserved)
        return Chunk(size, self.returned)


def _readable(nbytes: int) -> str:
    value, units = float(nbytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.0f} {units[0]}" if units[0] == "bytes" else f"{value:.2f} {units[0]}"
