"""DLPack: one tensor's memory under the names of several libraries, without a copy.

The protocol is Python's way for arrays to meet: the consumer asks the producer for a capsule, `x.__dlpack__()`, that
says where the memory lies and how; NumPy and CuPy read and write such capsules, so here is only what PyTorch adds.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from . import device as devices
from . import modes
from .api import FUNCTIONS, attach
from .data import check_array
from .errors import explain
from .tensor import Tensor, fresh, share

CONSUMED = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have "
    "already constructed a tensor from it once."
)


class DLDeviceType(IntEnum):
    """The protocol's numbers for the kinds of devices that tensors live on here."""

    kDLCPU = 1
    kDLCUDA = 2


# ------------------------------------------------------------------------------------------------ giving
def device_of(self: Tensor) -> tuple[DLDeviceType, int]:
    """Where the memory lies, in the protocol's words: (kind of device, number)."""
    d = self.device
    return (DLDeviceType.kDLCPU, 0) if d.type == "cpu" else (DLDeviceType.kDLCUDA, d.index or 0)


def capsule_of(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """A capsule with this tensor's memory, for the `from_dlpack` of any library.

    Raises BufferError for a tensor that requires grad (its history would be lost silently), for a dtype that the
    protocol does not know, and for a simulated GPU, whose memory no other library can reach.
    """
    if self.requires_grad:
        raise explain(
            BufferError,
            "Can't export tensors that require gradient, use tensor.detach()",
            "The other library would change or read the values without the graph.",
            "x.detach() shares the memory and has no history.",
            tensor=self,
        )
    raw = share(self)
    if not self.is_cuda:
        if stream is not None and stream != -1:
            raise AssertionError("stream should be None on cpu.")
        stream = None
    elif devices.is_simulated():
        raise BufferError(
            "a simulated GPU's memory can't be shared with other libraries: copy it first, x.cpu()"
        )
    words = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    given = {name: value for name, value in words.items() if value is not None}
    return raw.__dlpack__(stream=None if stream == -1 else stream, **given)


# ------------------------------------------------------------------------------------------------ taking
class _Producer:
    """A capsule that was taken out already, as NumPy and CuPy ask for it."""

    def __init__(self, capsule: Any, where: tuple[int, int]) -> None:
        self.capsule, self.where = capsule, where

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.where


class _Memory:
    """An array's memory without its mark as read-only."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.__array_interface__["data"][0], False),
        }


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array: a change of one shows in the other.

    ext_tensor: anything with `__dlpack__` (NumPy, CuPy, PyTorch, JAX …) or a capsule.  device: where it shall live.
    copy: True always copies.  Raises RuntimeError for anything else, BufferError for what can't be shared.

    >>> import numpy, autodiff_kernel as torch
    >>> a = numpy.zeros(2); x = torch.from_dlpack(a); x[0] = 5.; a
    array([5., 0.])
    """
    target = None if device is None else devices.device(device)
    if target is not None and target.type not in ("cpu", "cuda"):
        raise BufferError(f"Cannot pack tensors on {target}")
    capsule, where = _capsule(ext_tensor)
    try:
        if where[0] == DLDeviceType.kDLCPU:
            raw = np.from_dlpack(_Producer(capsule, where))
        else:
            raw = devices.cuda_module().from_dlpack(_Producer(capsule, where))
    except (TypeError, ValueError) as error:
        raise explain(RuntimeError, CONSUMED, f"({error})") from None
    if isinstance(raw, np.ndarray):
        if not raw.flags.writeable:
            raw = np.asarray(_Memory(raw))  # PyTorch's tensors can all be written
        check_array(raw)
    t = fresh(raw)
    if modes.watch[0] is not None:
        modes.watchers["created"]("from_dlpack", t, ext_tensor)
    if copy:
        t = t.clone()  # type: ignore[attr-defined]
    return t if target is None else t.to(target)  # type: ignore[attr-defined, no-any-return]


def _capsule(x: Any) -> tuple[Any, tuple[int, int]]:
    """The capsule of an object, and where its memory lies."""
    if type(x).__name__ == "PyCapsule":
        return x, (DLDeviceType.kDLCPU, 0)
    if not hasattr(x, "__dlpack__") or isinstance(x, np.generic):
        raise explain(
            RuntimeError,
            CONSUMED,
            f"A {type(x).__name__} has no __dlpack__: it is no array that could share its memory.",
            "torch.tensor(data) copies any data.",
        )
    kind, number = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else (1, 0)
    words: dict[str, Any] = {"stream": 1} if int(kind) == DLDeviceType.kDLCUDA else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **words)
    except TypeError:  # a producer from before the protocol had versions
        capsule = x.__dlpack__(**words)
    return capsule, (int(kind), int(number))


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule with the tensor's memory; `from_dlpack(tensor)` asks for it by itself.

    >>> import autodiff_kernel as torch
    >>> torch.from_dlpack(torch.to_dlpack(torch.ones(2)))
    tensor([1., 1.])
    """
    return capsule_of(tensor)


FUNCTIONS["from_dlpack"] = from_dlpack
FUNCTIONS["to_dlpack"] = to_dlpack
attach("__dlpack__", capsule_of)
attach("__dlpack_device__", device_of)
