"""The caching memory pool of one simulated GPU: what is in use, what is kept for reuse, and the peaks.

The sizes are those of PyTorch's CUDA allocator, so `memory_allocated()` and `memory_reserved()` show a student
the numbers of a real GPU: blocks are rounded up to 512 bytes; up to 1 MiB they are cut from segments of 2 MiB,
up to 10 MiB from segments of 20 MiB, beyond that a segment is the size rounded up to 2 MiB. A freed block stays
reserved and serves the next request that fits; `free_all_blocks` hands back segments of which nothing is in use.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable

ROUNDING = 512
SMALL, SMALL_SEGMENT = 1 << 20, 2 << 20
LARGE, LARGE_SEGMENT = 10 << 20, 20 << 20


class OutOfMemoryError(RuntimeError):
    """A GPU has too little free memory for a request (PyTorch's `torch.OutOfMemoryError`)."""


class Chunk:
    """A block of a segment; `before` and `after` are its neighbours there.

    It is free exactly while it is on its pool's list of free blocks of its size; `free` puts it there.
    """

    __slots__ = ("after", "before", "free", "pool", "size", "small")

    def __init__(self, pool: "MemoryPool", size: int, small: bool) -> None:
        self.pool, self.small = pool, small
        self.before: Chunk | None = None
        self.after: Chunk | None = None
        self.size = 0
        self.free: Callable[[Chunk], None] = pool._adapt(self, size)

    def give_back(self) -> None:
        """Return the block to the pool. Safe in a finaliser: no lock, one atomic append."""
        self.pool.allocated -= self.size
        self.free(self)


class MemoryPool:
    """Counts the bytes of one simulated GPU. `capacity` is the size of its memory in bytes.

    >>> pool = MemoryPool(capacity=1 << 30)
    >>> chunk = pool.allocate(1000)
    >>> pool.used_bytes(), pool.total_bytes()
    (1024, 2097152)
    >>> chunk.give_back()
    >>> pool.used_bytes(), pool.total_bytes()
    (0, 2097152)
    """

    def __init__(self, capacity: int, name: str = "the simulated GPU") -> None:
        self.capacity, self.name = capacity, name
        self.peak = self.reserved_peak = 0
        # A running count, for the peak. It is exact while one thread works; every reading puts it right.
        self.allocated = 0
        self._reserved = self._chunks = 0
        # size -> free blocks, the last freed last; the list lives while there are blocks of its size, used or free
        self._free: dict[int, list[Chunk]] = {}
        self._members: dict[int, int] = {}  # size -> how many blocks, used or free
        self._lock = threading.RLock()

    def allocate(self, nbytes: int) -> Chunk | None:
        """Take a block of at least `nbytes` (None for no bytes). Raises OutOfMemoryError."""
        size = (nbytes + 511) & -512
        try:
            chunk = self._free[size].pop()  # the hot path: a block of just this size was freed before
        except (KeyError, IndexError):
            if not size:
                return None
            chunk = self._find(size)
        total = self.allocated = self.allocated + chunk.size
        if total > self.peak:
            self.peak = total
        return chunk

    def used_bytes(self) -> int:
        """Bytes in blocks that are in use."""
        with self._lock:
            self.allocated = self._reserved - self.free_bytes()
            return self.allocated

    def total_bytes(self) -> int:
        """Bytes held from the GPU, in use or kept for reuse."""
        return self._reserved

    def free_bytes(self) -> int:
        """Bytes kept for reuse."""
        return sum(size * len(chunks) for size, chunks in list(self._free.items()))

    def free_blocks(self) -> list[int]:
        """Sizes of the blocks that are kept for reuse, smallest first, neighbours joined."""
        with self._lock:
            chunks = self._joined()
            for chunk in chunks:
                chunk.free(chunk)
            return [chunk.size for chunk in chunks]

    def used_blocks(self) -> int:
        """How many blocks are in use."""
        with self._lock:
            return self._chunks - sum(map(len, self._free.values()))

    def free_all_blocks(self) -> None:
        """Hand back every segment of which nothing is in use."""
        with self._lock:
            for chunk in self._joined():
                if chunk.before is None and chunk.after is None:
                    self._reserved -= chunk.size
                    self._chunks -= 1
                    self._leave(chunk)
                else:
                    chunk.free(chunk)

    def reset_peak(self) -> None:
        """Let the peaks start from the present."""
        with self._lock:
            self.peak, self.reserved_peak = self.used_bytes(), self._reserved

    # ------------------------------------------------------------ under the lock
    def _adapt(self, chunk: Chunk, size: int) -> Callable[[Chunk], None]:
        """Give a block its size, and with it the list that it goes to when it is freed."""
        self._leave(chunk)
        chunk.size = size
        self._members[size] = self._members.get(size, 0) + 1
        chunk.free = self._free.setdefault(size, []).append
        return chunk.free

    def _leave(self, chunk: Chunk) -> None:
        """A block stops having its size: it gets another, is joined to a neighbour, or goes back to the GPU."""
        if chunk.size:
            left = self._members[chunk.size] = self._members[chunk.size] - 1
            if not left:
                del self._members[chunk.size], self._free[chunk.size]

    def _joined(self) -> list[Chunk]:
        """Take all free blocks off their lists, join neighbours, and give them smallest first."""
        taken: dict[Chunk, None] = {}
        for chunks in list(self._free.values()):
            while chunks:
                try:
                    taken[chunks.pop()] = None
                except IndexError:  # another thread took the last one
                    break
        for chunk in list(taken):
            if chunk not in taken:
                continue
            size = chunk.size
            while (after := chunk.after) in taken:
                assert after is not None
                del taken[after]
                self._leave(after)
                self._chunks -= 1
                size += after.size
                chunk.after = after.after
                if chunk.after is not None:
                    chunk.after.before = chunk
            if size != chunk.size:
                self._adapt(chunk, size)
        return sorted(taken, key=lambda chunk: chunk.size)

    def _find(self, size: int) -> Chunk:
        """The smallest free block that is large enough, what is over cut off; or a new segment."""
        with self._lock:
            small, chunk = size <= SMALL, None
            free = self._joined()
            for i in range(bisect_left(free, size, key=lambda c: c.size), len(free)):
                if free[i].small == small:
                    chunk = free.pop(i)
                    break
            for other in free:
                other.free(other)
            if chunk is None:
                chunk = self._new_segment(size, small)
            over = chunk.size - size
            if over >= ROUNDING if small else over > SMALL:
                rest = Chunk(self, over, small)
                self._chunks += 1
                rest.before, rest.after = chunk, chunk.after
                if rest.after is not None:
                    rest.after.before = rest
                chunk.after = rest
                self._adapt(chunk, size)
                rest.free(rest)
            return chunk

    def _new_segment(self, size: int, small: bool) -> Chunk:
        if small:
            segment = SMALL_SEGMENT
        elif size < LARGE:
            segment = LARGE_SEGMENT
        else:
            segment = -(-size // SMALL_SEGMENT) * SMALL_SEGMENT
        if self._reserved + segment > self.capacity:
            self.free_all_blocks()
            if self._reserved + segment > self.capacity:
                raise OutOfMemoryError(
                    f"CUDA out of memory. Tried to allocate {readable(size)}. {self.name} has a total capacity "
                    f"of {readable(self.capacity)} of which {readable(self.capacity - self._reserved)} is free. "
                    "Delete tensors that are no longer needed, or use a smaller batch."
                )
        self._reserved += segment
        self._chunks += 1
        self.reserved_peak = max(self.reserved_peak, self._reserved)
        return Chunk(self, segment, small)


def readable(nbytes: int) -> str:
    """A number of bytes as PyTorch's error writes it: '20.00 MiB'."""
    value = float(nbytes)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.2f} {unit}" if unit != "bytes" else f"{nbytes} bytes"
        value /= 1024
    return f"{value:.2f} GiB"
