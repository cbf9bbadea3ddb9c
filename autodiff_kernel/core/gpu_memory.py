"""What the memory of a GPU holds: bytes in use, bytes kept for reuse, and the peaks; real or simulated."""

from typing import Any, NamedTuple

from .memory_pool import OutOfMemoryError, readable


class Usage(NamedTuple):
    """The state of one GPU's memory, in bytes; `cached_blocks` is how many freed blocks are kept for reuse."""

    allocated: int
    reserved: int
    allocated_peak: int
    reserved_peak: int
    cached_blocks: int
    capacity: int


NOTHING = Usage(0, 0, 0, 0, 0, 0)


class Peaks:
    """The peaks of CuPy's pool, which keeps none itself: every allocation passes through `allocate`.

    `module` is CuPy. Its out-of-memory error, a MemoryError, becomes PyTorch's.
    """

    def __init__(self, module: Any) -> None:
        self.module, self.pool = module, module.get_default_memory_pool()
        self.peaks: dict[int, list[int]] = {}
        module.cuda.set_allocator(self.allocate)

    def allocate(self, nbytes: int) -> Any:
        try:
            memory = self.pool.malloc(nbytes)
        except self.module.cuda.memory.OutOfMemoryError as error:
            free, total = self.module.cuda.Device().mem_info
            raise OutOfMemoryError(
                f"CUDA out of memory. Tried to allocate {readable(nbytes)}. The GPU has a total capacity of "
                f"{readable(total)} of which {readable(free)} is free. Delete tensors that are no longer needed, "
                "or use a smaller batch."
            ) from error
        peaks = self.peaks.setdefault(self.module.cuda.runtime.getDevice(), [0, 0])
        peaks[:] = max(peaks[0], self.pool.used_bytes()), max(peaks[1], self.pool.total_bytes())
        return memory

    def usage(self, gpu: Any) -> Usage:
        with gpu:
            used, total, blocks = self.pool.used_bytes(), self.pool.total_bytes(), self.pool.n_free_blocks()
            peaks = self.peaks.get(gpu.id, [0, 0])
            return Usage(used, total, max(peaks[0], used), max(peaks[1], total), blocks, gpu.mem_info[1])

    def reset(self, gpu: Any) -> None:
        with gpu:
            self.peaks[gpu.id] = [self.pool.used_bytes(), self.pool.total_bytes()]


_peaks: Peaks | None = None


def watch(module: Any) -> None:
    """Begin to follow the peaks of CuPy's pool."""
    global _peaks
    if _peaks is None:
        _peaks = Peaks(module)


def usage(gpu: Any) -> Usage:
    """The state of a GPU's memory; `gpu` is a `cuda.Device` of CuPy or of the simulated module."""
    pool = getattr(gpu, "pool", None)
    if pool is None:
        assert _peaks is not None
        return _peaks.usage(gpu)
    used = pool.used_bytes()
    return Usage(
        used, pool.total_bytes(), pool.peak, pool.reserved_peak, len(pool.free_blocks()), pool.capacity
    )


def reset_peaks(gpu: Any) -> None:
    """Let the peaks of a GPU start from the present."""
    pool = getattr(gpu, "pool", None)
    if pool is not None:
        pool.reset_peak()
    elif _peaks is not None:
        _peaks.reset(gpu)
