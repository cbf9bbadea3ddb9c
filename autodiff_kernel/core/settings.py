"""Settings of the whole process: threads, determinism, the precision of products, the default device.

Here every operation is deterministic, and products of float32 are computed in float32, so most of these change nothing;
they remember what was asked for, so that code written for PyTorch runs and reads back what it set.
"""

import math
import os
from importlib import import_module
from typing import Any

from . import device as devices
from .api import FUNCTIONS
from .once import warn
from .tensor import Tensor

CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
PRECISIONS = ("highest", "high", "medium")
MODES = ("default", "warn", "error")

_threads: dict[str, int | None] = {"ops": None, "interop": None}
_now: dict[str, Any] = {"determinism": 0, "matmul": "highest"}


def public(f: Any) -> Any:
    FUNCTIONS[f.__name__] = f
    return f


# ------------------------------------------------------------------------------------------------ threads
@public
def get_num_threads() -> int:
    """How many threads an operation may use: what `set_num_threads` said, else the number of processors.

    >>> import autodiff_kernel as torch
    >>> torch.get_num_threads() >= 1
    True
    """
    return _threads["ops"] or os.cpu_count() or 1


@public
def set_num_threads(int: int) -> None:
    """Limit the threads of NumPy's matrix products. (It takes the package `threadpoolctl`; without it, it is only noted.)

    Raises RuntimeError for anything but a positive int.

    >>> import autodiff_kernel as torch
    >>> torch.set_num_threads(torch.get_num_threads())
    """
    _threads["ops"] = _positive("set_num_threads", int)
    try:
        control: Any = import_module("threadpoolctl")
    except ImportError:
        return
    control.threadpool_limits(limits=int)


@public
def get_num_interop_threads() -> int:
    """How many operations may run at once: one runs after the other here, whatever was set.

    >>> import autodiff_kernel as torch
    >>> torch.get_num_interop_threads() >= 1
    True
    """
    return _threads["interop"] or 1


@public
def set_num_interop_threads(int: int) -> None:
    """Note how many operations may run at once; they run one after the other here."""
    _threads["interop"] = _positive("set_num_interop_threads", int)


def _positive(function: str, number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise RuntimeError(f"{function} expects an int, but got {type(number).__name__}")
    if number < 1:
        raise RuntimeError(f"{function} expects a positive integer")
    return number


# ------------------------------------------------------------------------------------------------ determinism
@public
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for operations that give the same result in every run. Here they all do, so nothing changes.

    >>> import autodiff_kernel as torch
    >>> torch.use_deterministic_algorithms(True); torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            + type(mode).__name__
        )
    _now["determinism"] = (1 if warn_only else 2) if mode else 0


@public
def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms(True)` was called."""
    return bool(_now["determinism"])


@public
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether that was with `warn_only=True`."""
    return bool(_now["determinism"] == 1)


@public
def get_deterministic_debug_mode() -> int:
    """0, 1 or 2 for "default", "warn" and "error"; see `set_deterministic_debug_mode`."""
    return int(_now["determinism"])


@public
def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """The same setting as `use_deterministic_algorithms`, as "default", "warn", "error" or 0, 1, 2."""
    if not isinstance(debug_mode, (str, int)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (*MODES, 0, 1, 2):
        kinds = "`default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2"
        raise RuntimeError(f"invalid value of debug_mode, expected one of {kinds}, but got {debug_mode}")
    _now["determinism"] = MODES.index(debug_mode) if isinstance(debug_mode, str) else debug_mode


# ------------------------------------------------------------------------------------------------ precision
@public
def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of float32 matrices must be: "highest", "high" or "medium".

    They are always computed in float32 here, the highest. Another word warns and changes nothing.

    >>> import autodiff_kernel as torch
    >>> torch.set_float32_matmul_precision("high"); torch.get_float32_matmul_precision()
    'high'
    >>> torch.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in PRECISIONS:
        warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has "
             "no effect.")  # fmt: skip
        return
    _now["matmul"] = precision


@public
def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` said; "highest" by default."""
    return str(_now["matmul"])


# ------------------------------------------------------------------------------------------------ the default device
@public
def set_default_device(device: Any) -> None:
    """Where constructors without `device=` make their tensors, on this thread; None means the CPU again.

    >>> import autodiff_kernel as torch
    >>> torch.cuda.simulate(1)
    >>> torch.set_default_device("cuda"); torch.zeros(1).device
    device(type='cuda', index=0)
    >>> torch.set_default_device(None); torch.cuda.simulate(0)
    """
    devices.set_default_device(device)


@public
def get_default_device() -> devices.device:
    """Where constructors without `device=` make their tensors: see `set_default_device` and `with torch.device(…)`.

    >>> import autodiff_kernel as torch
    >>> torch.get_default_device()
    device(type='cpu')
    """
    return devices.default_device()


# ------------------------------------------------------------------------------------------------ names of types
@public
def typename(obj: Any) -> str:
    """The name of an object's type: of a tensor the old one, 'torch.FloatTensor', else module and class.

    >>> import autodiff_kernel as torch
    >>> torch.typename(torch.ones(1)), torch.typename(3)
    ('torch.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())  # type: ignore[operator]
    module = getattr(obj, "__module__", None)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__qualname__
    return name if module in (None, "builtins") else f"{module}.{name}"
