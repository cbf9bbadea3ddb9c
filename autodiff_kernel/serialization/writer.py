"""The pickle stream of an archive, written by hand: only data gets in, so only data can come out.

The stream is the one PyTorch writes (pickle protocol 2), with references to PyTorch's own names for tensors, storages,
dtypes and devices: a file of ours opens in PyTorch with `weights_only=True`, and the other way round.
"""

import struct
from collections import OrderedDict
from typing import Any

import numpy as np

from ..core import device as devices
from ..core import dtype as dtypes
from ..core.device import device
from ..core.dtype import dtype
from ..core.shape import Size
from ..core.storage import is_array, root_of
from ..core.tensor import Parameter, Tensor, share

# NumPy's dtype name -> the storage class that PyTorch's stream names
STORAGES = {"float16": "HalfStorage", "float32": "FloatStorage", "float64": "DoubleStorage", "uint8": "ByteStorage",
            "int8": "CharStorage", "int16": "ShortStorage", "int32": "IntStorage", "int64": "LongStorage",
            "bool": "BoolStorage", "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
            "bfloat16": "BFloat16Storage"}  # fmt: skip


def numpy_dtype(name: str) -> Any:
    """NumPy's dtype of this name; bfloat16, which is none of NumPy's own, needs ml_dtypes."""
    return dtypes.bfloat16.np if name == "bfloat16" else np.dtype(name)


class Writer:
    """Turns an object into a pickle stream (`stream`) and the memory of its tensors (`storages`: key -> array)."""

    def __init__(self) -> None:
        self.parts: list[bytes] = [b"\x80\x02"]
        self.memo: dict[int, int] = {}  # id of an object in the stream -> its number
        self.alive: list[Any] = []  # ids stay valid as long as the objects live
        self.storages: list[Any] = []
        self.keys: dict[int, int] = {}  # id of the array that owns the memory -> key of its storage
        self.count = 0

    def stream(self, x: Any) -> bytes:
        self.put(x, "the object")
        return b"".join(self.parts) + b"."

    # ---- the machine: opcodes of pickle protocol 2
    def emit(self, *parts: bytes) -> None:
        self.parts += parts

    def remember(self, x: Any) -> None:
        """Number what is on the stack's top, so that it can be referred to again."""
        self.memo[id(x)] = self.count
        self.alive.append(x)
        self.emit(b"q" + bytes([self.count]) if self.count < 256 else b"r" + struct.pack("<I", self.count))
        self.count += 1

    def known(self, x: Any) -> bool:
        number = self.memo.get(id(x))
        if number is None:
            return False
        self.emit(b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number))
        return True

    def name(self, module: str, name: str) -> None:
        self.emit(b"c", f"{module}\n{name}\n".encode())

    # ---- values
    def put(self, x: Any, where: str) -> None:
        """Write x; `where` says how it is reached, for the error about what can't be saved."""
        kind = x.__class__
        if x is None:
            self.emit(b"N")
        elif x is True or x is False:
            self.emit(b"\x88" if x else b"\x89")
        elif kind is int:
            self.number(x)
        elif kind is float:
            self.emit(b"G" + struct.pack(">d", x))
        elif kind is complex:
            self.call("__builtin__", "complex", (x.real, x.imag), where)
        elif isinstance(x, np.generic):
            self.put(x.item(), where)
        elif self.known(x):
            pass
        elif kind is str:
            data = x.encode("utf-8", "surrogatepass")
            self.emit(b"X" + struct.pack("<I", len(data)), data)
            self.remember(x)
        elif kind in (bytes, bytearray):
            self.call("_codecs", "encode", (bytes(x).decode("latin1"), "latin1"), where)
            self.remember(x)
        elif isinstance(x, Tensor):
            self.tensor(x, where)
        elif kind is Size:
            self.call("torch", "Size", (tuple(x),), where)
        elif isinstance(x, tuple):
            self.sequence(tuple(x), where)
            self.remember(x)
        elif kind is list:
            self.emit(b"]")
            self.remember(x)
            if x:
                self.emit(b"(")
                for i, item in enumerate(x):
                    self.put(item, f"{where}[{i}]")
                self.emit(b"e")
        elif isinstance(x, dict):
            self.mapping(x, where)
        elif kind in (set, frozenset):
            self.call("__builtin__", kind.__name__, (list(x),), where)
            self.remember(x)
        elif kind is dtype:
            self.name("torch", x.name)
        elif kind is device:
            self.call("torch", "device", (x.type,) if x.index is None else (x.type, x.index), where)
        elif kind is np.ndarray:
            raise TypeError(
                f"save(): {where} is a NumPy array, which is no part of the file format: save torch.from_numpy(...) of it."
            )
        else:
            raise TypeError(_refusal(x, where))

    def number(self, x: int) -> None:
        if 0 <= x < 256:
            self.emit(b"K" + bytes([x]))
        elif -(2**31) <= x < 2**31:
            self.emit(b"J" + struct.pack("<i", x))
        else:
            data = x.to_bytes((x.bit_length() // 8) + 1, "little", signed=True)
            self.emit(
                b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<i", len(data)),
                data,
            )

    def sequence(self, x: tuple[Any, ...], where: str) -> None:
        self.emit(b"(")
        for i, item in enumerate(x):
            self.put(item, f"{where}[{i}]")
        self.emit(b"t")

    def call(self, module: str, name: str, arguments: tuple[Any, ...], where: str) -> None:
        self.name(module, name)
        self.sequence(arguments, where)
        self.emit(b"R")

    def mapping(self, x: dict[Any, Any], where: str) -> None:
        ordered = isinstance(x, OrderedDict)
        if ordered:
            self.name("collections", "OrderedDict")
            self.emit(b")R")
        else:
            self.emit(b"}")
        self.remember(x)
        if x:
            self.emit(b"(")
            for key, value in x.items():
                self.put(key, f"a key of {where}")
                self.put(value, f"{where}[{key!r}]")
            self.emit(b"u")
        state = getattr(x, "_metadata", None) if ordered else None
        if state is not None:  # what Module.state_dict() leaves there
            self.put({"_metadata": state}, f"{where}._metadata")
            self.emit(b"b")

    def tensor(self, t: Tensor, where: str) -> None:
        if isinstance(t, Parameter):
            self.name("torch._utils", "_rebuild_parameter")
            self.emit(b"(")
            self.plain(t, False, where)
            self.emit(b"\x88" if t.requires_grad else b"\x89")
            self.hooks()
            self.emit(b"tR")
        else:
            self.plain(t, t.requires_grad, where)
        self.remember(t)

    def hooks(self) -> None:
        """PyTorch keeps a place for hooks, which are never saved."""
        self.name("collections", "OrderedDict")
        self.emit(b")R")

    def plain(self, t: Tensor, requires_grad: bool, where: str) -> None:
        raw = share(t)
        key, offset, strides = self.storage(raw)
        size = self.storages[key].size
        self.name("torch._utils", "_rebuild_tensor_v2")
        self.emit(b"((")
        self.put("storage", where)
        self.name("torch", STORAGES[raw.dtype.name])
        for x in (str(key), str(t.device), int(size)):
            self.put(x, where)
        self.emit(b"tQ")
        self.put(offset, where)
        self.sequence(tuple(raw.shape), where)
        self.sequence(strides, where)
        self.emit(b"\x88" if requires_grad else b"\x89")
        self.hooks()
        self.emit(b"tR")

    def storage(self, raw: Any) -> tuple[int, int, tuple[int, ...]]:
        """Where the elements of raw stand in the file: number of the storage, first element, strides.

        Tensors that share memory share a storage in the file too.
        """
        owner = root_of(raw)
        step = raw.dtype.itemsize
        whole = owner.flags.c_contiguous or owner.flags.f_contiguous
        if not whole or owner.dtype != raw.dtype or not is_array(owner):
            owner = raw = np.ascontiguousarray(devices.to_numpy(raw))
        key = self.keys.get(id(owner))
        if key is None:
            key = self.keys[id(owner)] = len(self.storages)
            self.alive.append(owner)
            host = devices.to_numpy(owner)
            self.storages.append(host.ravel(order="K"))
        offset = (devices.data_ptr(raw) - devices.data_ptr(owner)) // step if raw.size else 0
        return key, int(offset), tuple(int(s) // step for s in raw.strides)


def _refusal(x: Any, where: str) -> str:
    kind = type(x).__name__
    if callable(getattr(x, "state_dict", None)):
        return (
            f"save(): {where} is a {kind}. Its class would have to be saved as code, and loading a file never runs code. "
            "Save its state instead:\n"
            "    torch.save(model.state_dict(), 'model.pt')\n"
            f"    model = {kind}(...); model.load_state_dict(torch.load('model.pt'))"
        )
    return (
        f"save(): {where} is a {kind}, which can't be saved: a file holds tensors, numbers, strings, bytes, None, and "
        "lists, tuples, sets and dicts of these, so that loading it never runs code."
    )
