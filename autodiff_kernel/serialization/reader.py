"""Reading an archive: an unpickler that knows tensors, containers, numbers and strings, and refuses everything else."""

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtype as dtypes
from ..core import modes
from ..core.device import device
from ..core.shape import Size
from ..core.storage import as_strided
from ..core.tensor import Parameter, Tensor, wrap
from .writer import STORAGES, numpy_dtype

KINDS = {name: kind for kind, name in STORAGES.items()}


class Storage:
    """The elements of one storage of the file, and where it lay when it was saved."""

    def __init__(self, array: Any, location: str) -> None:
        self.array, self.location = array, location


class Reader(pickle.Unpickler):
    """An unpickler with a closed list of names.

    records: gives the bytes of a storage by its key.  place: (array, location) -> the array where it is to live.
    """

    def __init__(
        self, stream: bytes, records: Callable[[str], bytes], place: Callable[[Any, str], Any]
    ) -> None:
        super().__init__(io.BytesIO(stream), encoding="utf-8")
        self.records, self.place = records, place
        self.storages: dict[str, Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in KINDS:
            return KINDS[name]
        if module == "torch" and isinstance(getattr(dtypes, name, None), dtypes.dtype):
            return getattr(dtypes, name)
        if module in ("torch.storage", "torch") and name in (
            "UntypedStorage",
            "_UntypedStorage",
            "TypedStorage",
        ):
            return "uint8"
        found = NAMES.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(refusal(module, name))
        return found

    def persistent_load(self, pid: Any) -> Storage:
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise pickle.UnpicklingError(
                f"the file refers to something that is no storage: {str(pid)[:80]!r}"
            )
        _, kind, key, location, count = pid
        if key not in self.storages:
            dtype = numpy_dtype(kind)
            data = self.records(str(key))
            if len(data) < int(count) * dtype.itemsize:
                raise RuntimeError(
                    f"PytorchStreamReader failed reading file data/{key}: {len(data)} bytes, but {count} elements of "
                    f"{kind} take {int(count) * dtype.itemsize}. The file was cut off or changed."
                )
            array = np.frombuffer(bytearray(data), dtype, int(count))
            self.storages[key] = Storage(self.place(array, str(location)), str(location))
        return self.storages[key]


def rebuild_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False, *_: Any
) -> Tensor:
    """A tensor of a storage's elements; tensors of one storage share memory, as they did."""
    if not isinstance(storage, Storage):
        raise pickle.UnpicklingError("a tensor in the file has no storage")
    array = storage.array
    size, stride = tuple(int(n) for n in size), tuple(int(n) for n in stride)
    last = int(offset) + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else int(offset) - 1
    if (
        len(size) != len(stride)
        or min((*size, *stride, int(offset)), default=0) < 0
        or last >= max(array.size, 1)
    ):
        raise RuntimeError(
            f"a tensor in the file reaches beyond its storage: shape {list(size)}, strides {list(stride)}, offset {offset}, "
            f"but the storage has {array.size} elements"
        )
    if 0 in size:
        t = wrap(array[:0].reshape(size))
    else:
        step = array.dtype.itemsize
        t = wrap(as_strided(array[int(offset) :], size, tuple(s * step for s in stride)))
    t._grad = None
    if modes.inferring[0]:
        modes.watchers["born"](t)
    return t.requires_grad_() if requires_grad is True else t


def rebuild_parameter(data: Any, requires_grad: Any = True, *_: Any) -> Parameter:
    if not isinstance(data, Tensor):
        raise pickle.UnpicklingError("a parameter in the file holds no tensor")
    made: Parameter = Parameter(data, requires_grad=requires_grad is True)
    return made


def size_of(x: Any) -> Size:
    return Size(int(n) for n in x)


def device_of(kind: Any, index: Any = None) -> device:
    return device(str(kind) if index is None else f"{kind}:{int(index)}")


def encode(text: Any, encoding: Any) -> bytes:
    """How protocol 2 writes bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"unknown encoding {encoding!r}")
    return str(text).encode("latin1")


def bytearray_of(data: Any = b"", encoding: Any = None) -> bytearray:
    """A bytearray of bytes that are in the file (of a number it would be as many zeros)."""
    if isinstance(data, str):
        return bytearray(encode(data, encoding))
    if not isinstance(data, bytes):
        raise pickle.UnpicklingError(f"a bytearray of {type(data).__name__} is no data")
    return bytearray(data)


NAMES: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch", "Size"): size_of,
    ("torch", "device"): device_of,
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): encode,
    **{
        (module, kind.__name__): kind
        for module in ("__builtin__", "builtins")
        for kind in (set, frozenset, complex)
    },
    **{(module, "bytearray"): bytearray_of for module in ("__builtin__", "builtins")},
}


def refusal(module: str, name: str) -> str:
    """Why a name in the file is not followed, and what to do."""
    text = (
        f"Weights only load failed: the file asks for {module}.{name}. Files are data: only tensors, containers, numbers "
        "and strings are loaded, and nothing is run."
    )
    if module.startswith(("torch.nn", "torchvision", "__main__", "autodiff_kernel.nn")) or name[:1].isupper():
        text += (
            f" It seems to hold a whole {name} object. Where that class is at hand (in PyTorch: "
            "torch.load(file, weights_only=False)), save its state instead:\n"
            "    torch.save(model.state_dict(), 'model.pt')\n"
            f"    model = {name}(...); model.load_state_dict(torch.load('model.pt'))"
        )
    return text
