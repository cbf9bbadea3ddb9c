"""Devices and backends: the one place that knows where arrays live, makes them, and carries them across.

A device is `cpu` (NumPy) or `cuda:N` (CuPy, or a simulated GPU). Everything else in the engine works on *raw* arrays
through operators, methods and NumPy's functions, which all backends share; what differs is here. A 0-d value lives as
a NumPy scalar on the CPU and as a 0-d array on a GPU.
"""

import importlib
import os
import threading
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

ndarray, generic = np.ndarray, np.generic
_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, "
    "mtia, privateuseone"
)
_local = threading.local()  # .stack: devices entered with `with`; .default: set_default_device
_known: "dict[tuple[str, int | None], device]" = {}


class device:
    """Where a tensor lives: `type` ('cpu' or 'cuda') and `index`, the number of the GPU, or None.

    As a context manager it is where constructors without `device=` make their tensors, in this thread.

    >>> device("cuda:1")
    device(type='cuda', index=1)
    >>> str(device("cuda", 1)), device("cuda").index
    ('cuda:1', None)
    """

    __slots__ = ("type", "index")
    type: str
    index: int | None

    def __new__(cls, type: "str | int | device", index: int | None = None) -> "device":
        if type.__class__ is device:
            return type  # type: ignore[return-value]
        if isinstance(type, str):
            name, index = _parse(type, index)
        elif isinstance(type, int) and index is None and type.__class__ is not bool:
            if type < 0:
                raise RuntimeError("Device index must not be negative")
            if not cuda_count():
                raise RuntimeError(
                    f"Cannot access accelerator device when none is available: device({type}) means the GPU of that "
                    f"number, and {_missing()}"
                )
            name, index = "cuda", type
        else:
            raise TypeError(
                "device() received an invalid combination of arguments - got "
                f"({type.__class__.__name__}), but expected a string such as 'cuda:1', a string and an int, "
                "the number of a GPU, or a torch.device"
            )
        return _intern(name, index)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable: make another device")

    def __repr__(self) -> str:
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return (device, (self.type,) if self.index is None else (self.type, self.index))

    def __enter__(self) -> "device":
        _stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _stack().pop()


def _intern(name: str, index: int | None) -> device:
    """The one object for this device: equal devices are identical, which makes comparing them fast."""
    made = _known.get((name, index))
    if made is None:
        made = object.__new__(device)
        object.__setattr__(made, "type", name)
        object.__setattr__(made, "index", index)
        made = _known.setdefault((name, index), made)
    return made


def _parse(text: str, index: int | None) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, number = text.partition(":")
    if name not in _TYPES.split(", "):
        raise RuntimeError(f"Expected one of {_TYPES} device type at start of device string: {text}")
    if colon:
        if index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: {text}"
            )
        if not (number.isascii() and number.isdigit()) or (number[0] == "0" and number != "0"):
            raise RuntimeError(f"Invalid device string: '{text}'")
        index = int(number)
    elif index is not None:
        if not isinstance(index, int):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}")
        if index < 0:
            raise RuntimeError("Device index must not be negative")
    return name, index


CPU = _intern("cpu", None)
_cuda: list[device] = []


def cuda(index: int) -> device:
    """The device `cuda:index`, whether it exists or not."""
    while len(_cuda) <= index:
        _cuda.append(_intern("cuda", len(_cuda)))
    return _cuda[index]


# ---------------------------------------------------------------- which device is meant
def _stack() -> list[device]:
    try:
        return _local.stack
    except AttributeError:
        _local.stack = []
        return _local.stack


def default_device() -> device:
    """Where constructors without `device=` make their tensors in this thread: a concrete device."""
    stack = _stack()
    chosen = stack[-1] if stack else getattr(_local, "default", None)
    return CPU if chosen is None or chosen is CPU else parse(chosen)


def set_default_device(where: Any) -> None:
    """Set where constructors without `device=` make their tensors, in this thread. None means the CPU again."""
    _local.default = None if where is None else device(where)


def parse(where: Any) -> device:
    """The concrete device that `where` means: a device, a string, the number of a GPU, or None for the default.

    'cuda' without a number is this thread's current GPU. Raises RuntimeError for a device that is not there.
    """
    if where is None:
        return default_device()
    d = where if where.__class__ is device else device(where)
    if d.type == "cpu":
        if d.index:
            raise RuntimeError(f"CPU device index must be -1 or zero, got {d.index}")
        return CPU
    if d.type != "cuda":
        raise RuntimeError(f"device '{d}' is not offered here: tensors live on 'cpu' or on 'cuda' (real or simulated)")
    module = cuda_module()
    if d.index is None:
        return cuda(module.cuda.runtime.getDevice())
    if d.index >= (n := cuda_count()):
        raise RuntimeError(
            f"CUDA error: invalid device ordinal: {d} was asked for, and there "
            + (f"are {n} GPUs, cuda:0 to cuda:{n - 1}" if n > 1 else "is one GPU, cuda:0")
        )
    return cuda(d.index)


# ---------------------------------------------------------------- the GPUs of this process
class _Gpus(NamedTuple):
    """What was found: the array module (CuPy or the simulated one), how many GPUs, or why there are none."""

    module: Any
    count: int
    simulated: bool
    error: type[Exception]
    missing: str


_gpus: _Gpus | None = None
_modules: dict[type, Any] = {}  # array class -> the module it belongs to


def _found() -> _Gpus:
    global _gpus
    if _gpus is None:
        wanted = os.environ.get("AUTODIFF_SIMULATE_CUDA", "").strip()
        if wanted and not wanted.isdigit():
            raise ValueError(f"AUTODIFF_SIMULATE_CUDA must be a number of simulated GPUs such as 2, got {wanted!r}")
        if wanted and int(wanted):
            simulate(int(wanted))
        else:
            _gpus = _real_gpus()
    assert _gpus is not None
    return _gpus


def _real_gpus() -> _Gpus:
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        why = "CuPy is not installed (pip install cupy-cuda12x; cupy-cuda13x for CUDA 13)"
        return _Gpus(None, 0, False, AssertionError, f"Torch not compiled with CUDA enabled: no CUDA device: {why}")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        why = "the driver reports no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as e:
        count, why = 0, f"the NVIDIA driver is missing or too old ({str(e).partition(':')[0]})"
    if count:
        _modules[cupy.ndarray] = cupy
    return _Gpus(cupy, count, False, RuntimeError, f"no CUDA device: {why}")


def _missing() -> str:
    return _found().missing + "; torch.cuda.simulate(2) gives simulated ones"


def simulate(count: int) -> None:
    """Let `count` simulated GPUs take the place of real ones; 0 goes back to what the machine has."""
    global _gpus
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 64:
        raise ValueError(f"simulate(n) takes the number of simulated GPUs, 0 to 64, got {count!r}")
    simulated = importlib.import_module(".simulated", __package__)
    simulated.set_count(count)
    _modules[simulated.SimulatedArray] = simulated
    _backends.clear()
    _gpus = _Gpus(simulated, count, True, RuntimeError, "no CUDA device") if count else _real_gpus()


def cuda_count() -> int:
    """How many GPUs there are, real or simulated."""
    return _found().count


def is_simulated() -> bool:
    """Whether the GPUs are simulated ones."""
    return _found().simulated


def cuda_module() -> Any:
    """CuPy, or the module that plays its part. Raises the error that names what is missing where there is no GPU."""
    gpus = _found()
    if not gpus.count:
        raise gpus.error(_missing())
    return gpus.module


# ---------------------------------------------------------------- transfers
class Transfer(NamedTuple):
    """One copy between devices: its number, from where to where, and how many bytes."""

    number: int
    source: device
    destination: device
    nbytes: int
    shape: tuple[int, ...]


transfers: deque[Transfer] = deque(maxlen=1000)
_totals: dict[tuple[device, device], list[int]] = {}
_transfer_lock = threading.Lock()
_transfer_count = 0


def count_transfer(source: device, destination: device, nbytes: int, shape: tuple[int, ...] = ()) -> None:
    """Note one copy between devices."""
    global _transfer_count
    with _transfer_lock:
        _transfer_count += 1
        transfers.append(Transfer(_transfer_count, source, destination, nbytes, shape))
        total = _totals.setdefault((source, destination), [0, 0])
        total[0] += 1
        total[1] += nbytes


def transfer_count() -> int:
    """How many copies between devices this process has made."""
    return _transfer_count


def transfer_totals() -> dict[tuple[device, device], tuple[int, int]]:
    """For each pair of devices how many copies there were, and of how many bytes."""
    with _transfer_lock:
        return {pair: (number, nbytes) for pair, (number, nbytes) in _totals.items()}


def transfers_since(number: int) -> list[Transfer]:
    """The copies made after `transfer_count()` was `number`, oldest first; at most the last 1000."""
    return [t for t in list(transfers) if t.number > number]


# ---------------------------------------------------------------- backends
class Backend:
    """One array module at work on one device: NumPy on the CPU, CuPy or the simulated module on a GPU."""

    __slots__ = ("device", "module", "_on_cpu")

    def __init__(self, where: device, module: ModuleType) -> None:
        self.device, self.module, self._on_cpu = where, module, where is CPU

    def scope(self) -> AbstractContextManager[Any]:
        """Make this device the current one of its module, for the time of a `with`."""
        return nullcontext() if self._on_cpu else self.module.cuda.Device(self.device.index)

    def _make(self, name: str, *args: Any, **kwargs: Any) -> Any:
        make = getattr(self.module, name)
        if self._on_cpu:
            made = make(*args, **kwargs)
            return made if made.ndim else made[()]
        with self.module.cuda.Device(self.device.index):
            return make(*args, **kwargs)

    def zeros(self, shape: Any, dtype: Any) -> Any:
        return self._make("zeros", shape, dtype)

    def ones(self, shape: Any, dtype: Any) -> Any:
        return self._make("ones", shape, dtype)

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self._make("empty", shape, dtype)

    def full(self, shape: Any, value: Any, dtype: Any) -> Any:
        return self._make("full", shape, value, dtype)

    def arange(self, *args: Any, dtype: Any) -> Any:
        return self._make("arange", *args, dtype=dtype)

    def eye(self, *args: Any, dtype: Any) -> Any:
        return self._make("eye", *args, dtype=dtype)

    def take(self, raw: Any) -> Any:
        """A copy, on this device, of a raw array of any device. Counted if it crosses."""
        source = device_of(raw)
        if self._on_cpu:
            host = raw.copy() if source is CPU else backend_of(raw).host(raw)
            return host if host.ndim else host[()]
        if source is not self.device:
            count_transfer(source, self.device, raw.nbytes, raw.shape)
        return self._make("array", raw)

    def host(self, raw: Any) -> ndarray:
        """The values as a NumPy array on the CPU; shares memory with a CPU array, else it is a counted copy."""
        if self._on_cpu:
            return np.asarray(raw)
        count_transfer(self.device, CPU, raw.nbytes, raw.shape)
        return self.module.asnumpy(raw)

    def add_at(self, target: Any, index: Any, values: Any) -> None:
        """target[index] += values, adding twice where an index occurs twice."""
        if self._on_cpu:
            np.add.at(target, index, values)
        elif target.dtype == np.int64:  # CuPy adds at no int64; two's complement makes uint64 the same sum
            values = values.astype(np.int64).view(np.uint64) if is_array(values) else np.int64(values).view(np.uint64)
            target.view(np.uint64).scatter_add(index, values)
        else:
            target.scatter_add(index, values)

    def shares_memory(self, a: Any, b: Any) -> bool:
        if self._on_cpu and not (isinstance(a, ndarray) and isinstance(b, ndarray)):
            return False
        return bool(self.module.shares_memory(a, b))

    def data_ptr(self, raw: Any) -> int:
        return raw.__array_interface__["data"][0] if self._on_cpu else raw.data.ptr


_backends: dict[device, Backend] = {}
_cpu_backend = Backend(CPU, np)


def backend(where: device) -> Backend:
    """The backend of a concrete device."""
    if where is CPU:
        return _cpu_backend
    made = _backends.get(where)
    if made is None:
        made = _backends[where] = Backend(where, cuda_module())
    return made


def backend_of(raw: Any) -> Backend:
    """The backend that a raw array belongs to."""
    if raw.__class__ is ndarray or isinstance(raw, generic):
        return _cpu_backend
    module = _modules.get(raw.__class__)
    if module is None:
        return _cpu_backend
    where = cuda(raw.device.id)
    made = _backends.get(where)
    return made if made is not None and made.module is module else Backend(where, module)


# ---------------------------------------------------------------- raw arrays
def device_of(raw: Any) -> device:
    """Where a raw array or NumPy scalar lives."""
    if raw.__class__ is ndarray or raw.__class__ not in _modules:
        return CPU
    return cuda(raw.device.id)


def is_array(x: Any) -> bool:
    """Whether `x` is a raw value: a NumPy array or scalar, or a GPU's array."""
    return x.__class__ is ndarray or x.__class__ in _modules or isinstance(x, (ndarray, generic))


def _choose(like: Any, where: Any) -> Backend:
    if like is not None:
        return backend_of(like)
    return backend(parse(where))


def zeros(shape: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array of zeros; on the device of `like`, else on `device`, else on the default device."""
    return _choose(like, device).zeros(shape, dtype)


def ones(shape: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array of ones; see `zeros`."""
    return _choose(like, device).ones(shape, dtype)


def empty(shape: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array with arbitrary values; see `zeros`."""
    return _choose(like, device).empty(shape, dtype)


def full(shape: Any, value: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array filled with one value; see `zeros`."""
    return _choose(like, device).full(shape, value, dtype)


def arange(*args: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """NumPy's `arange(start, stop, step)` as a raw array; see `zeros`."""
    return _choose(like, device).arange(*args, dtype=dtype)


def eye(*args: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """NumPy's `eye(n, m, k)` as a raw array; see `zeros`."""
    return _choose(like, device).eye(*args, dtype=dtype)


def asarray(data: Any, dtype: Any = None, device: Any = None, like: Any = None, copy: bool = False) -> Any:
    """A raw array of numbers, nested lists, NumPy values or raw arrays. `dtype` is NumPy's.

    On the CPU it shares memory with a NumPy array of that dtype unless `copy`; going to a GPU is a counted copy.
    """
    target = _choose(like, device)
    if data.__class__ in _modules:
        if dtype is not None and data.dtype != dtype:
            data, copy = data.astype(dtype), False
        return data if device_of(data) is target.device and not copy else target.take(data)
    host = np.array(data, dtype) if copy else np.asarray(data, dtype)
    if target is _cpu_backend:
        return host if host.ndim else host[()]
    return target.take(host)


def copy_to(raw: Any, where: Any) -> Any:
    """A copy of a raw array on another device (or on the same one). Counted as a transfer when it crosses."""
    return backend(parse(where)).take(raw)


def to_numpy(raw: Any) -> ndarray:
    """The values as a NumPy array: the array itself on the CPU, a counted copy from a GPU. The only way out."""
    return backend_of(raw).host(raw)


def item(raw: Any) -> Any:
    """The one value as a Python number; counted as a transfer when it comes from a GPU."""
    return raw.item() if raw.__class__ not in _modules else to_numpy(raw).item()


def add_at(target: Any, index: Any, values: Any) -> None:
    """target[index] += values in place, adding twice where an index occurs twice."""
    backend_of(target).add_at(target, index, values)


def shares_memory(a: Any, b: Any) -> bool:
    """Whether two raw arrays have an element in common. A NumPy scalar shares with nothing."""
    where = backend_of(a)
    return where.device is device_of(b) and where.shares_memory(a, b)


def data_ptr(raw: Any) -> int:
    """The address of the first element."""
    return backend_of(raw).data_ptr(raw)


def scope(where: Any) -> AbstractContextManager[Any]:
    """Make the device of a raw array (or a concrete device) current for its module: CuPy computes on the current one."""
    return (backend(where) if where.__class__ is device else backend_of(where)).scope()


def same_device(*raws: Any) -> device:
    """The device that all raw arrays share. A 0-d value of the CPU goes with any device, as in PyTorch.

    Raises RuntimeError if they lie on different devices.
    """
    first = device_of(raws[0])
    if all(device_of(raw) is first for raw in raws):
        return first
    found = _devices(raw for raw in raws if raw.ndim or device_of(raw) is not CPU)
    if len(found) > 1:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {found[0]} and "
            f"{found[1]}!\nCopy one of them first: x.to('{found[0]}') gives a copy on {found[0]}."
        )
    return found[0]


def _devices(raws: Iterable[Any]) -> list[device]:
    return list(dict.fromkeys(device_of(raw) for raw in raws))
