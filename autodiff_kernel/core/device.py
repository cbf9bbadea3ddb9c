"""Devices and backends: the one place that knows where arrays live, makes them, and carries them across.

A device is `cpu` (NumPy) or `cuda:N` (CuPy, or a simulated GPU). Everything else in the engine works on *raw*
arrays through operators, methods and NumPy's functions, which all backends share; what differs is here. A 0-d
value lives as a NumPy scalar on the CPU and as a 0-d array on a GPU.
"""

import importlib
import os
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy import generic, ndarray

from . import gpu_memory
from .errors import Explanation
from .transfers import Transfer as Transfer
from .transfers import count_transfer
from .transfers import transfer_count as transfer_count
from .transfers import transfer_totals as transfer_totals
from .transfers import transfers as transfers
from .transfers import transfers_since as transfers_since

TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, "
    "mtia, privateuseone"
)
_known: "dict[tuple[str, int | None], device]" = {}


class _Here(threading.local):
    """What is this thread's own: the devices entered with `with`, and the default device."""

    def __init__(self) -> None:
        self.entered: list[device] = []
        self.default: device | None = None


_here = _Here()


class device:
    """Where a tensor lives: `type` ('cpu' or 'cuda') and `index`, the number of the GPU, or None.

    `with device('cuda:1'):` is where constructors without `device=` make their tensors, in this thread. Raises
    RuntimeError for a string that names no device.

    >>> device("cuda:1")
    device(type='cuda', index=1)
    >>> str(device("cuda", 1)), device("cuda").index
    ('cuda:1', None)
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, type: Any = None, index: Any = None, *, device: Any = None) -> "device":
        given = device if type is None else type
        if isinstance(given, str):
            name, number = _read(given, index)
        elif isinstance(given, _device) and index is None:
            return given
        elif isinstance(given, int) and not isinstance(given, bool) and index is None:
            name, number = "cuda", _gpu_number(given)
        else:
            raise TypeError(
                "device() received an invalid combination of arguments - got "
                f"({given.__class__.__name__}{'' if index is None else ', ' + index.__class__.__name__}), but "
                "expected a string such as 'cuda:1', a string and an int, the number of a GPU, or a torch.device"
            )
        return _intern(name, number)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"attribute '{name}' of 'torch.device' objects is not writable: make another, torch.device('cuda:1')"
        )

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return device, (str(self),)

    def __enter__(self) -> "device":
        _here.entered.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _here.entered.pop()


_device = device


def _intern(name: str, index: int | None) -> device:
    """The one object for this device: equal devices are identical, which makes comparing and hashing fast."""
    made = _known.get((name, index))
    if made is None:
        made = object.__new__(device)
        object.__setattr__(made, "type", name)
        object.__setattr__(made, "index", index)
        made = _known.setdefault((name, index), made)
    return made


def _read(text: str, index: Any) -> tuple[str, int | None]:
    """The type and the number that a string such as 'cuda:1' names."""
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, number = text.partition(":")
    if name not in TYPES.split(", "):
        raise RuntimeError(f"Expected one of {TYPES} device type at start of device string: {text}")
    if colon:
        if index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: {text}"
            )
        if not (number.isascii() and number.isdigit()) or number[0] == "0" != number:
            raise RuntimeError(f"Invalid device string: '{text}'")
        return name, int(number)
    if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    return name, index


def _gpu_number(number: int) -> int:
    if number < 0:
        raise RuntimeError("Device index must not be negative")
    if not cuda_count():
        raise RuntimeError(f"Cannot access accelerator device when none is available. {_missing()}")
    return number


CPU = _intern("cpu", None)
_cuda = [_intern("cuda", index) for index in range(64)]


def cuda(index: int) -> device:
    """The device `cuda:index`, whether there is such a GPU or not."""
    return _cuda[index] if index < 64 else _intern("cuda", index)


# ---------------------------------------------------------------- which device is meant
def default_device() -> device:
    """Where constructors without `device=` make their tensors in this thread, a concrete device."""
    chosen = _here.entered[-1] if _here.entered else _here.default
    return CPU if chosen is None or chosen is CPU else parse(chosen)


def set_default_device(where: Any) -> None:
    """Set where constructors without `device=` make their tensors in this thread; None means the CPU again."""
    _here.default = None if where is None else device(where)


def parse(where: Any) -> device:
    """The concrete device that is meant by a device, a string, the number of a GPU, or None (the default).

    'cuda' without a number is this thread's current GPU. Raises RuntimeError for a device that is not there, and
    the error of `cuda_module` where there is no GPU at all.
    """
    if where is None:
        return default_device()
    d = where if where.__class__ is device else device(where)
    if d.type == "cpu":
        return CPU
    if d.type != "cuda":
        raise RuntimeError(
            f"There are no tensors on '{d}' here: they live on 'cpu' or on 'cuda', real or simulated."
        )
    module, count = cuda_module(), cuda_count()
    if d.index is None:
        return cuda(module.cuda.runtime.getDevice())
    if d.index >= count:
        there = "is one GPU, cuda:0" if count == 1 else f"are {count} GPUs, cuda:0 to cuda:{count - 1}"
        raise RuntimeError(f"CUDA error: invalid device ordinal. '{d}' was asked for, and there {there}.")
    return cuda(d.index)


# ---------------------------------------------------------------- the GPUs of this process
class _Gpus(NamedTuple):
    """What was found: the array module (CuPy or the simulated one), how many GPUs, or why there are none."""

    module: Any
    number: int
    simulated: bool = False
    error: type[Exception] = RuntimeError
    missing: str = ""


_gpus: _Gpus | None = None
_modules: dict[type, Any] = {}  # array class -> the module it belongs to


def _found() -> _Gpus:
    global _gpus
    if _gpus is None:
        wanted = os.environ.get("AUTODIFF_SIMULATE_CUDA", "").strip() or "0"
        if not wanted.isdigit():
            raise ValueError(
                f"AUTODIFF_SIMULATE_CUDA must be a number of simulated GPUs, such as 2; it is '{wanted}'"
            )
        _gpus = _simulated_gpus(int(wanted)) if int(wanted) else _real_gpus()
    return _gpus


def _real_gpus() -> _Gpus:
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        why = "CuPy is not installed (pip install cupy-cuda12x, or cupy-cuda13x)"
        return _Gpus(None, 0, error=AssertionError, missing=f"Torch not compiled with CUDA enabled: {why}")
    try:
        count, missing = cupy.cuda.runtime.getDeviceCount(), "No CUDA GPUs are available"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        code = str(error).partition(":")[0]
        count, missing = 0, f"Found no NVIDIA driver on your system, or one that is too old ({code})"
    if count:
        _modules[cupy.ndarray] = cupy
        gpu_memory.watch(cupy)
    return _Gpus(cupy, count, missing=missing)


def _simulated_gpus(count: int) -> _Gpus:
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= 64:
        raise ValueError(f"simulate() takes the number of simulated GPUs, 0 to 64, but got {count!r}")
    simulated = importlib.import_module(".simulated", __package__)
    simulated.set_count(count)
    _modules[simulated.SimulatedArray] = simulated
    return _Gpus(simulated, count, simulated=True) if count else _real_gpus()


def _missing() -> str:
    return _found().missing + "; torch.cuda.simulate(2) gives two simulated ones."


def simulate(count: int) -> None:
    """Let `count` simulated GPUs take the place of real ones; 0 goes back to what the machine has."""
    global _gpus
    _gpus = _simulated_gpus(count)


def cuda_count() -> int:
    """How many GPUs there are, real or simulated."""
    return _found().number


def is_simulated() -> bool:
    """Whether the GPUs are simulated ones."""
    return _found().simulated


def cuda_module() -> Any:
    """CuPy, or the module that plays its part.

    Where there is no GPU it raises what PyTorch raises, saying in one line what is missing: AssertionError without
    CuPy (as a PyTorch that was built without CUDA), RuntimeError without a driver or a GPU.
    """
    gpus = _found()
    if not gpus.number:
        error = gpus.error(_missing())
        error.explanation = Explanation(  # type: ignore[attr-defined]
            "This machine has no GPU that could be used.",
            cure="ask first: device = 'cuda' if torch.cuda.is_available() else 'cpu'; or torch.cuda.simulate(1).",
            topic="no GPU",
        )
        raise error
    return gpus.module


# ---------------------------------------------------------------- backends
class Backend:
    """One array module at work on one device: NumPy on the CPU, CuPy or the simulated module on a GPU."""

    __slots__ = ("device", "module", "on_cpu")

    def __init__(self, where: device, module: Any) -> None:
        self.device, self.module, self.on_cpu = where, module, where is CPU

    def scope(self) -> AbstractContextManager[Any]:
        """Make this device the module's current one, for the time of a `with`."""
        return nullcontext() if self.on_cpu else self.module.cuda.Device(self.device.index)

    def make(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What the module's function `name` gives, on this device: zeros, ones, empty, full, arange, eye, …"""
        function = getattr(self.module, name)
        if self.on_cpu:
            made = function(*args, **kwargs)
            return made if made.ndim else made[()]
        with self.module.cuda.Device(self.device.index):
            return function(*args, **kwargs)

    def take(self, raw: Any) -> Any:
        """A copy, on this device, of a raw array of any device; counted if it crosses."""
        source = device_of(raw)
        if self.on_cpu:
            host = raw.copy() if source is CPU else backend_of(raw).host(raw)
            return host if host.ndim else host[()]
        if source is not self.device:
            count_transfer(source, self.device, raw.nbytes, raw.shape)
        return self.make("array", raw)

    def host(self, raw: Any) -> ndarray:
        """The values as a NumPy array: the array itself on the CPU, a counted copy from a GPU."""
        if self.on_cpu:
            return np.asarray(raw)
        count_transfer(self.device, CPU, raw.nbytes, raw.shape)
        return self.module.asnumpy(raw)

    def add_at(self, target: Any, index: Any, values: Any) -> None:
        """target[index] += values, adding twice where an index occurs twice."""
        if self.on_cpu:
            if target.ndim == 1 and isinstance(index, ndarray) and index.ndim > 1:
                values = np.broadcast_to(
                    values, index.shape
                )  # np.add.at reads beyond values that are smaller
            np.add.at(target, index, values)
        elif (
            target.dtype == np.int64
        ):  # CuPy adds at no int64; in two's complement the unsigned sum is the same
            values = values.astype(np.int64) if is_array(values) else np.int64(values)
            target.view(np.uint64).scatter_add(index, values.view(np.uint64))
        else:
            target.scatter_add(index, values)

    def shares_memory(self, a: Any, b: Any) -> bool:
        """Whether two arrays of this device have an element in common."""
        if self.on_cpu and not (isinstance(a, ndarray) and isinstance(b, ndarray)):
            return False
        return bool(self.module.shares_memory(a, b))

    def data_ptr(self, raw: Any) -> int:
        """The address of the first element."""
        return raw.__array_interface__["data"][0] if self.on_cpu else raw.data.ptr


_cpu_backend = Backend(CPU, np)
_backends: dict[tuple[device, Any], Backend] = {}


def backend(where: device) -> Backend:
    """The backend of a concrete device."""
    return _cpu_backend if where is CPU else _backend_on(where, cuda_module())


def backend_of(raw: Any) -> Backend:
    """The backend that a raw array belongs to."""
    module = _modules.get(raw.__class__)
    return _cpu_backend if module is None else _backend_on(cuda(raw.device.id), module)


def _backend_on(where: device, module: Any) -> Backend:
    made = _backends.get((where, module))
    if made is None:
        made = _backends[where, module] = Backend(where, module)
    return made


# ---------------------------------------------------------------- raw arrays
def device_of(raw: Any) -> device:
    """Where a raw array or NumPy scalar lives."""
    kind: Any = raw.__class__
    return CPU if kind is ndarray or kind not in _modules else cuda(raw.device.id)


def empty_pinned(shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised NumPy array in page-locked memory (for simulated GPUs in ordinary memory)."""
    if _found().simulated:
        return np.empty(shape, dtype)
    return importlib.import_module("cupyx").empty_pinned(shape, dtype)


def is_array(x: Any) -> bool:
    """Whether `x` is a raw value: a NumPy array or scalar, or an array of a GPU."""
    return x.__class__ is ndarray or x.__class__ in _modules or isinstance(x, (ndarray, generic))


def _choose(like: Any, where: Any) -> Backend:
    return backend_of(like) if like is not None else backend(parse(where))


def zeros(shape: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array of zeros of NumPy's `dtype`: where `like` is, else on `device`, else on the default device."""
    return _choose(like, device).make("zeros", shape, dtype)


def ones(shape: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array of ones; see `zeros`."""
    return _choose(like, device).make("ones", shape, dtype)


def empty(shape: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array with arbitrary values; see `zeros`."""
    return _choose(like, device).make("empty", shape, dtype)


def full(shape: Any, value: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """A raw array filled with one value; see `zeros`."""
    return _choose(like, device).make("full", shape, value, dtype)


def arange(*args: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """NumPy's `arange(start, stop, step)` as a raw array; see `zeros`."""
    return _choose(like, device).make("arange", *args, dtype=dtype)


def eye(*args: Any, dtype: Any, like: Any = None, device: Any = None) -> Any:
    """NumPy's `eye(n, m, k)` as a raw array; see `zeros`."""
    return _choose(like, device).make("eye", *args, dtype=dtype)


def asarray(data: Any, dtype: Any = None, device: Any = None, like: Any = None, copy: bool = False) -> Any:
    """A raw array of numbers, nested lists, NumPy values or another raw array, in NumPy's `dtype`.

    On the same device it shares memory with an array of that dtype unless `copy`; to another it is a counted copy.
    """
    target = _choose(like, device)
    kind: Any = data.__class__
    if kind in _modules:
        if dtype is not None and data.dtype != dtype:
            data, copy = data.astype(dtype), False
        return data if device_of(data) is target.device and not copy else target.take(data)
    host = np.array(data, dtype) if copy and target.on_cpu else np.asarray(data, dtype)
    if target.on_cpu:
        return host if host.ndim else host[()]
    return target.take(host)


def copy_to(raw: Any, where: Any) -> Any:
    """A copy of a raw array on a device; counted as a transfer when that is another one."""
    return backend(parse(where)).take(raw)


def to_numpy(raw: Any) -> ndarray:
    """The values as a NumPy array: the array itself on the CPU, a counted copy from a GPU. The one way out."""
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
    return where is backend_of(b) and where.shares_memory(a, b)


def data_ptr(raw: Any) -> int:
    """The address of the first element."""
    return backend_of(raw).data_ptr(raw)


def scope(where: Any) -> AbstractContextManager[Any]:
    """Make the device of a raw array, or a concrete device, current: CuPy computes on the current one."""
    return (backend(where) if where.__class__ is device else backend_of(where)).scope()


def same_device(*raws: Any) -> device:
    """The device that all raw arrays share; a 0-d value of the CPU goes with any device, as in PyTorch.

    Raises RuntimeError if they lie on different devices.
    """
    homes = dict.fromkeys(map(device_of, raws))
    if len(homes) > 1:
        homes = dict.fromkeys(d for d, raw in ((device_of(r), r) for r in raws) if raw.ndim or d is not CPU)
    first, *others = homes
    if others:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {first} and "
            f"{others[0]}!\nCopy one of them first: x.to('{first}') gives a copy on {first}."
        )
    return first
