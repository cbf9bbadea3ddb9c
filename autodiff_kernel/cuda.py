"""GPUs as in `torch.cuda`: how many, which is current, what their memory holds; real ones or simulated ones.

Real GPUs work through CuPy. Without one, `simulate(2)` (or the environment variable AUTODIFF_SIMULATE_CUDA=2) gives
simulated ones: everything that a lesson on devices needs happens on them, copies, errors and memory, but no faster.
"""

import time
import warnings
from collections import OrderedDict
from typing import Any

from .core import device as devices
from .core import gpu_memory
from .core.device import is_simulated as is_simulated
from .core.device import simulate as simulate
from .core.memory_pool import OutOfMemoryError as OutOfMemoryError
from .core.memory_pool import readable
from .core.typed import TYPES, typed_constructor


# ---------------------------------------------------------------- which GPUs there are
def is_available() -> bool:
    """Whether there is a GPU, real or simulated."""
    return devices.cuda_count() > 0


def device_count() -> int:
    """How many GPUs there are."""
    return devices.cuda_count()


def is_initialized() -> bool:
    """Whether the GPUs are ready for use: here as soon as there are any."""
    return devices.cuda_count() > 0


def init() -> None:
    """Make the GPUs ready; raises the error that says what is missing if there are none."""
    devices.cuda_module()


def current_device() -> int:
    """The number of this thread's current GPU: what 'cuda' without a number means."""
    return devices.cuda_module().cuda.runtime.getDevice()


def set_device(device: Any) -> None:
    """Make a GPU this thread's current one, until the next call. A negative number changes nothing."""
    index = _index(device)
    if index is None:
        raise ValueError(
            f"Expected a torch.device with a specified index or an integer, but got:{device}; write 'cuda:0'"
        )
    if index >= 0:
        _gpu(index).use()


def _index(where: Any) -> int | None:
    """The number that `where` names (an int, 'cuda:1' or a torch.device), or None where it names none."""
    if where is None or isinstance(where, int) and not isinstance(where, bool):
        return where
    if isinstance(where, str):
        where = devices.device(where)
    if not isinstance(where, devices.device):
        raise TypeError(
            f"Expected the number of a GPU, 'cuda:1' or a torch.device, but got {type(where).__name__}"
        )
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    return where.index


def _gpu(where: Any = None) -> Any:
    """The module's own object for a GPU that exists (`cupy.cuda.Device`); the current one by default."""
    index = _index(where)
    module = devices.cuda_module()
    d = devices.parse("cuda" if index is None else devices.device("cuda", index))
    return module.cuda.Device(d.index)


class device:
    """Make a GPU the current one for the time of a `with`; existing tensors stay where they are.

    `with cuda.device(1):` the calls `x.cuda()` and `torch.zeros(2, device="cuda")` mean cuda:1; an explicit device,
    `x.cuda(2)`, wins. None or a negative number changes nothing.

    >>> import autodiff_kernel as torch
    >>> torch.cuda.simulate(2)
    >>> with torch.cuda.device(1):
    ...     x = torch.ones(3).cuda()
    >>> x.get_device(), torch.ones(3).cuda().get_device()
    (1, 0)
    >>> torch.cuda.simulate(0)
    """

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        if self.idx is None or self.idx < 0:
            self._entered.append(None)
            return
        before = current_device()
        _gpu(self.idx).use()
        self._entered.append(before)

    def __exit__(self, *_: object) -> None:
        before = self._entered.pop()
        if before is not None:
            devices.cuda_module().cuda.Device(before).use()


class device_of(device):
    """Make the GPU of a tensor the current one for the time of a `with`; a CPU tensor changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


# ---------------------------------------------------------------- what a GPU is
class Properties:
    """What `get_device_properties` tells. A simulated GPU has no processors and no compute capability: zeros."""

    def __init__(
        self, name: str, major: int, minor: int, total_memory: int, multi_processor_count: int
    ) -> None:
        self.name, self.major, self.minor = name, major, minor
        self.total_memory, self.multi_processor_count = total_memory, multi_processor_count

    def __repr__(self) -> str:
        return f"Properties({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Properties) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def get_device_properties(device: Any = None) -> Properties:
    """Name, compute capability, memory in bytes and number of processors of a GPU."""
    gpu = _gpu(device)
    if devices.is_simulated():
        return Properties(gpu.name, 0, 0, gpu.pool.capacity, 0)
    found = devices.cuda_module().cuda.runtime.getDeviceProperties(gpu.id)
    return Properties(
        found["name"].decode(),
        found["major"],
        found["minor"],
        found["totalGlobalMem"],
        found["multiProcessorCount"],
    )


def get_device_name(device: Any = None) -> str:
    """The name of a GPU; 'simulated GPU 0' for a simulated one."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability (major, minor) of a GPU; (0, 0) for a simulated one."""
    found = get_device_properties(device)
    return found.major, found.minor


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 tensors can be made on the GPU: there is no such dtype in NumPy or CuPy."""
    return False


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has finished. A simulated GPU has finished when an operation returns."""
    _gpu(device).synchronize()


# ---------------------------------------------------------------- memory
def _usage(device: Any) -> gpu_memory.Usage:
    return gpu_memory.usage(_gpu(device)) if is_available() else gpu_memory.NOTHING


def memory_allocated(device: Any = None) -> int:
    """Bytes of a GPU's memory that tensors take, each rounded up to 512; 0 where there is no GPU.

    >>> import autodiff_kernel as torch
    >>> torch.cuda.simulate(1)
    >>> before = torch.cuda.memory_allocated()
    >>> x = torch.zeros(100, device="cuda")
    >>> torch.cuda.memory_allocated() - before
    512
    >>> del x
    >>> torch.cuda.memory_allocated() - before
    0
    >>> torch.cuda.simulate(0)
    """
    return _usage(device).allocated


def memory_reserved(device: Any = None) -> int:
    """Bytes that this process holds of a GPU: what tensors take, and freed blocks kept for reuse."""
    return _usage(device).reserved


def max_memory_allocated(device: Any = None) -> int:
    """The most `memory_allocated` has been since the start or `reset_peak_memory_stats`."""
    return _usage(device).allocated_peak


def max_memory_reserved(device: Any = None) -> int:
    """The most `memory_reserved` has been since the start or `reset_peak_memory_stats`."""
    return _usage(device).reserved_peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks start from the present."""
    gpu_memory.reset_peaks(_gpu(device))


def empty_cache() -> None:
    """Give back the memory that is kept for reuse, on all GPUs. Tensors keep theirs."""
    for index in range(devices.cuda_count()):
        with _gpu(index):
            devices.cuda_module().get_default_memory_pool().free_all_blocks()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of a GPU."""
    return _gpu(device).mem_info


def memory_stats(device: Any = None) -> "OrderedDict[str, int]":
    """The figures of a GPU's memory under PyTorch's names, 'allocated_bytes.all.peak' and so on.

    Empty where there is no GPU.
    """
    if not is_available():
        return OrderedDict()
    now = _usage(device)
    return OrderedDict(
        {
            "allocated_bytes.all.current": now.allocated,
            "allocated_bytes.all.peak": now.allocated_peak,
            "reserved_bytes.all.current": now.reserved,
            "reserved_bytes.all.peak": now.reserved_peak,
        }
    )


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The figures of a GPU's memory as a small table."""
    now, name = _usage(device), get_device_name(device)
    rows = [
        ("allocated", now.allocated, now.allocated_peak),
        ("reserved", now.reserved, now.reserved_peak),
        ("kept for reuse", now.reserved - now.allocated, None),
    ]
    lines = [f"Memory of {name}: {readable(now.capacity)}", f"{'':16}{'now':>12}{'peak':>12}"]
    for what, current, peak in rows:
        lines.append(f"{what:16}{readable(current):>12}{'' if peak is None else readable(peak):>12}".rstrip())
    return "\n".join(lines)


def _renamed(old: str, new: Any) -> Any:
    def function(device: Any = None) -> Any:
        warnings.warn(f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new.__name__}`", FutureWarning, 2)
        return new(device)

    function.__name__ = function.__qualname__ = old
    function.__doc__ = f"The old name of `{new.__name__}`."
    return function


memory_cached = _renamed("memory_cached", memory_reserved)
max_memory_cached = _renamed("max_memory_cached", max_memory_reserved)
reset_max_memory_allocated = _renamed("reset_max_memory_allocated", reset_peak_memory_stats)
reset_max_memory_cached = _renamed("reset_max_memory_cached", reset_peak_memory_stats)


# ---------------------------------------------------------------- streams and events
class Event:
    """A moment in a GPU's work: `start.record(); …; end.record(); start.elapsed_time(end)` in milliseconds.

    `record` waits until the GPU has finished, so that the time is that of the work. On a simulated GPU it is the
    time that the CPU took.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        init()
        self.enable_timing = enable_timing
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """Wait for the current GPU, and note the time."""
        synchronize()
        self._at = time.perf_counter()

    def synchronize(self) -> None:
        """The recorded work has finished already."""

    def wait(self, stream: Any = None) -> None:
        """The recorded work has finished already."""

    def query(self) -> bool:
        """Whether the recorded work has finished: always."""
        return True

    def elapsed_time(self, end_event: "Event") -> float:
        """Milliseconds from this event to a later one. Raises ValueError if one was not recorded for timing."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1000


class Stream:
    """A queue of a GPU's work. There is one here: operations run in the order of the program on every stream."""

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self.device = devices.cuda(_gpu(device).id)

    def synchronize(self) -> None:
        """Wait until the GPU has finished."""
        synchronize(self.device)

    def wait_stream(self, stream: "Stream") -> None:
        """The other stream's work comes first already."""

    def wait_event(self, event: Event) -> None:
        """The event's work comes first already."""

    def record_event(self, event: Event | None = None) -> Event:
        """Note the time in an event, and return it."""
        event = Event() if event is None else event
        event.record()
        return event

    def query(self) -> bool:
        """Whether all work has finished: always, after waiting for it."""
        self.synchronize()
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device is self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device}>"


def current_stream(device: Any = None) -> Stream:
    """The stream of a GPU: there is one."""
    return Stream(device)


default_stream = current_stream


def set_stream(stream: Stream | None) -> None:
    """Make a stream's GPU the current one, until the next call; None changes nothing."""
    if stream is not None:
        set_device(stream.device)


class stream(device):
    """Make a stream's GPU the current one for the time of a `with`; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        super().__init__(None if stream is None else stream.device)


# ---------------------------------------------------------------- random numbers
def _generators(all_gpus: bool) -> list[Any]:
    """The default generators of all GPUs, or of the current one; none where there is no GPU."""
    from .core.generator import generator_of

    if not is_available():
        return []
    return [
        generator_of(devices.cuda(i)) for i in (range(device_count()) if all_gpus else [current_device()])
    ]


def manual_seed(seed: int) -> None:
    """Restart the random numbers of the current GPU with a seed; without a GPU it does nothing.

    A GPU draws the numbers that the CPU draws for the same seed (PyTorch's GPUs draw others).
    """
    for generator in _generators(False):
        generator.manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Restart the random numbers of every GPU with a seed; without a GPU it does nothing."""
    for generator in _generators(True):
        generator.manual_seed(int(seed))


def seed() -> None:
    """Restart the random numbers of the current GPU with a seed from the operating system."""
    for generator in _generators(False):
        generator.seed()


def seed_all() -> None:
    """Restart the random numbers of every GPU with one seed from the operating system."""
    generators = _generators(True)
    if generators:
        chosen = generators[0].seed()
        for generator in generators:
            generator.manual_seed(chosen)


def initial_seed() -> int:
    """The seed that the random numbers of the current GPU were started with."""
    init()
    return _generators(False)[0].initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of a GPU's random numbers, as a uint8 tensor."""
    from .core.generator import generator_of

    return generator_of(devices.cuda(_gpu(device).id)).get_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Let a GPU's random numbers continue where `get_rng_state` was called."""
    from .core.generator import generator_of

    generator_of(devices.cuda(_gpu(device).id)).set_state(new_state)


def get_rng_state_all() -> list[Any]:
    """The states of all GPUs' random numbers, uint8 tensors; none where there is no GPU."""
    return [generator.get_state() for generator in _generators(True)]


def set_rng_state_all(new_states: Any) -> None:
    """Let the random numbers of all GPUs continue where `get_rng_state_all` was called."""
    for generator, state in zip(_generators(True), new_states):
        generator.set_state(state)


# ---------------------------------------------------------------- one GPU and another
def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether a GPU can copy from another without the CPU. Simulated ones can, as GPUs in one machine mostly do."""
    here, there = (_gpu(d).id for d in (device, peer_device))
    if here == there:
        return False
    return devices.is_simulated() or bool(devices.cuda_module().cuda.runtime.deviceCanAccessPeer(here, there))


def ipc_collect() -> None:
    """Free the memory that other processes gave back: there is none, since tensors are not shared with processes."""
    init()


def get_arch_list() -> list[str]:
    """The kinds of processors that the library was compiled for: none, CuPy compiles when it is asked."""
    return []


# ---------------------------------------------------------------- the old constructors
globals().update(
    {name: typed_constructor(name, "cuda") for name in TYPES}
)  # torch.cuda.FloatTensor(…) and its like
